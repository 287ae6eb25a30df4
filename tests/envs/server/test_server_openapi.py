"""A round's OpenAPI document fuzzed by schemathesis, in this process: no fault of ours, and every reply as documented.

Each request meets the round as it stood before any answer, so that one that ends a turn does not make refusals of those
after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from wardround.envs import Episode
from wardround.envs.server import LiveEpisode, access_of, roles
from wardround.envs.server.app import Plan, Server
from wardround.envs.server.audit import AuditLog
from wardround.envs.server.journal import Journal, Lines
from wardround.envs.server.playing import Playing
from wardround.patients import ChartStore
from wardround.sessions import load_sessions

schemathesis = pytest.importorskip("schemathesis", reason="needs the extra dev as it is now: schemathesis")

BEARER = {"Authorization": "Bearer token"}
HOST = "testserver"
"""What schemathesis calls an application in this process."""
EXAMPLES = 10
"""Requests of each sort that a route gets: some as documented, some that break the schema of the body."""
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    "unsupported_method", "ignored_auth",
)  # fmt: skip


@pytest.fixture(scope="module")
def live(store: ChartStore) -> LiveEpisode:
    session = load_sessions("ward").sessions[0]
    return LiveEpisode(Episode(session, store.chart(session.chart.patient)), Journal(None), "one")


@pytest.fixture(scope="module")
def document(live: LiveEpisode) -> Iterator[Any]:
    """The document as schemathesis reads it from the application."""
    known = {sha256(b"token").digest(): access_of("agent", roles()["agent"], None)}
    audit = AuditLog(Lines(None, sync=False), lambda: "2024-05-16T10:00:00Z", "test")
    server = Server({}, audit, Plan(frozenset({HOST}), known, ""), {"sessions/one": Playing(live, "1")})
    yield schemathesis.openapi.from_asgi("/sessions/one/openapi.json", server, headers=BEARER)
    server.close()


def test_no_request_of_the_document_meets_a_fault(live: LiveEpisode, document: Any):
    from schemathesis import checks as known

    known.load_all_checks()
    checks, before = known.CHECKS.get_by_names([*CHECKS]), live.episode
    seen: Counter[tuple[str, int]] = Counter()
    operations = [found.ok() for found in document.get_all_operations()]
    assert len(operations) == len(live.episode.tools) + 2  # the state and the answer

    for operation in operations:
        modes = schemathesis.GenerationMode
        sorts = [modes.POSITIVE] + ([modes.NEGATIVE] if operation.body else [])
        cases = st.one_of(*(operation.as_strategy(generation_mode=sort) for sort in sorts))

        @settings(
            max_examples=EXAMPLES * len(sorts),
            derandomize=True,
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(case=cases)
        def send(case: Any) -> None:
            live.episode = before.fork()
            reply = case.call(headers=BEARER)
            case.validate_response(reply, checks=checks, headers=BEARER)
            seen[case.operation.label, reply.status_code] += 1

        send()
    assert {label for label, status in seen if status == 200} == {operation.label for operation in operations}
    assert {status for _, status in seen} <= {200, 400, 401}  # 401: a token that the fuzzer made up

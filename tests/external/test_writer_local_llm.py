"""A small real model as the writer of eight sessions: all complete, pass every gate and report their fallbacks.

Plumbing only: what so small a model says is nobody's business. One reply a stage and the roles with short prompts, so
that it ends in minutes on two cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from local_llm import local_llm

from wardround.agents import JudgePlan
from wardround.agents.writer_client import LiveWriter, RecordedWriter
from wardround.patients import load_charts
from wardround.sessions import check_session, load_sessions
from wardround.sessions.writers import WriterReport, write_session

pytestmark = pytest.mark.external
ROLES = ("user", "user_implicit", "answer", "patient")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with local_llm(tmp_path_factory.mktemp("model")) as found:
        yield found


def test_eight_sessions_complete_and_can_be_made_again(address: str, tmp_path: Path) -> None:
    plan = JudgePlan(
        "litellm:openai/local", base=f"{address}/v1", attempts=1, concurrency=1, deadline=300.0, max_tokens=120
    )
    kept = tmp_path / "replies.jsonl"
    report, again = WriterReport(), WriterReport()
    drafts = list(load_sessions("ward"))[:8]
    with load_charts("ward") as store:
        charts = [store.chart(draft.chart.patient) for draft in drafts]
        with LiveWriter(plan, kept) as live:
            made = [
                write_session(draft, chart, live, report, "local", only=ROLES, retries=0)
                for draft, chart in zip(drafts, charts, strict=True)
            ]
        assert len(made) == 8
        for session, chart in zip(made, charts, strict=True):
            assert check_session(session, chart) == []
            assert int(session.labels["writer_fallbacks"]) >= 0
        recorded = RecordedWriter(kept)
        remade = [
            write_session(draft, chart, recorded, again, "local", only=ROLES, retries=0)
            for draft, chart in zip(drafts, charts, strict=True)
        ]
    assert remade == made
    told = report.as_json()
    print(told)
    asked = sum(sum(told[name].values()) for name in ("kept", "fallbacks"))
    assert asked >= 8 * 4 * 2 and told == again.as_json() and recorded.missing == 0

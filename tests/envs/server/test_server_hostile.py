"""Requests that mean harm get 4xx, and the server lives (docs/serve.md, Limits)."""

from __future__ import annotations

import http.client
import json
import re
import socket
import time
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served import Asking

from wardround.envs.server import ChartRecords, Running
from wardround.envs.server.journal import Journal
from wardround.patients import ChartStore, validate


def _raw(running: Running, head: str, body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
    """Send bytes as they are; return status, headers and body."""
    with socket.create_connection(("127.0.0.1", running.port), timeout=60) as line:
        line.sendall(head.encode("latin-1") + body)
        answer = http.client.HTTPResponse(line)
        answer.begin()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


def _get(running: Running, target: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    told = {"Host": f"127.0.0.1:{running.port}", "Connection": "close", **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
    return _raw(running, f"GET {target} HTTP/1.1\r\n{lines}\r\n")


@pytest.fixture
def bearer(tokens: dict[str, str]) -> dict[str, str]:
    return {"Authorization": f"Bearer {tokens['scopes']}"}


@pytest.mark.parametrize(
    "target",
    ["/", "/fhir/../etc/passwd", "/fhir/%2e%2e/%2e%2e/etc/passwd", "/../../etc/passwd", "/fhir//etc/passwd",
     "/fhir/Patient/..%2f..%2ftokens.json", "/tokens.json", "/audit.ndjson", "/fhir/tokens.json", "/static/",
     "/fhir/Patient/%00", "/fhir/Patient/\\\\host\\share", "/openapi.json/..", "/fhir/$reindex",
     "/fhir/Patient/ward-01/../ward-02", "/fhir/metadata/../tokens.json"],
)  # fmt: skip
def test_no_path_leads_to_a_file(running: Running, bearer: dict[str, str], target: str):
    status, headers, body = _get(running, target, **bearer)
    assert status in (400, 404) and b"root:" not in body and b"wardround." not in body
    if headers.get("content-type", "").startswith("application/fhir+json"):
        assert json.loads(body)["resourceType"] == "OperationOutcome"


def test_hosts_and_origins_of_others_are_turned_away(running: Running, bearer: dict[str, str]):
    for host in ("evil.example", f"evil.example:{running.port}", "127.0.0.1", "127.0.0.1:1", "", "localhost"):
        assert _get(running, "/fhir/Patient", Host=host, **bearer)[0] == 421
    assert _get(running, "/fhir/Patient?_count=0", Host=f"localhost:{running.port}", **bearer)[0] == 200
    assert _get(running, "/fhir/Patient", Origin="http://evil.example", **bearer)[0] == 403
    status, headers, _ = _get(running, "/fhir/Patient?_count=0", Origin=f"http://127.0.0.1:{running.port}", **bearer)
    assert status == 200 and not [name for name in headers if name.startswith("access-control")]
    options = f"OPTIONS /fhir/Patient HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nConnection: close\r\n\r\n"
    assert _raw(running, options)[0] == 401


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Basic dXNlcjpwYXNz",
        "Bearer \xff\xfe",
        "bearer null",
        "Bearer " + "a" * 5000,
    ],
)
def test_without_a_known_token_nothing_is_served(running: Running, header: str):
    told = {"Authorization": header} if header else {}
    for path in ("Patient", "Patient/ward-01", "Patient/ward-01/$everything", "Nonsense", ""):
        status, headers, body = _get(running, f"/fhir/{path}", **told)
        assert (status, headers["www-authenticate"]) == (401, 'Bearer realm="wardround"')
        assert json.loads(body)["resourceType"] == "OperationOutcome"
    for path in ("metadata", ".well-known/smart-configuration"):
        assert _get(running, f"/fhir/{path}", **told)[0] == 200


def test_head_is_get_without_a_body(running: Running, bearer: dict[str, str]):
    host = f"Host: 127.0.0.1:{running.port}\r\nAuthorization: {bearer['Authorization']}\r\nConnection: close\r\n"
    with socket.create_connection(("127.0.0.1", running.port), timeout=60) as line:
        line.sendall(f"HEAD /fhir/Patient/ward-01 HTTP/1.1\r\n{host}\r\n".encode())
        text = b"".join(iter(lambda: line.recv(65536), b""))
    head, _, body = text.partition(b"\r\n\r\n")
    length = len(_get(running, "/fhir/Patient/ward-01", **bearer)[2])
    assert head.startswith(b"HTTP/1.1 200") and f"content-length: {length}".encode() in head.lower() and body == b""


def test_a_token_that_is_nearly_right_is_wrong(running: Running, tokens: dict[str, str]):
    token = tokens["scopes"]
    for wrong in (token[:-1], token + "x", token.swapcase(), token[1:]):
        assert _get(running, "/fhir/Patient", Authorization=f"Bearer {wrong}")[0] == 401
    assert _get(running, "/fhir/Patient?_count=0", Authorization=f"bearer   {token} ")[0] == 200


def test_long_bodies_and_urls_are_refused(running: Running, bearer: dict[str, str]):
    host = f"Host: 127.0.0.1:{running.port}\r\nAuthorization: {bearer['Authorization']}\r\nConnection: close\r\n"
    head = f"POST /fhir/Patient HTTP/1.1\r\n{host}Content-Type: application/json\r\n"
    for length in ("10485760", "4194305", "-1", "1e3", "99999999999999999999"):
        assert _raw(running, f"{head}Content-Length: {length}\r\n\r\n")[0] in (400, 413)
    chunk = b"%x\r\n%s\r\n" % (1 << 20, b" " * (1 << 20))
    assert _raw(running, f"{head}Transfer-Encoding: chunked\r\n\r\n", chunk * 5)[0] == 413
    assert _get(running, "/fhir/Patient?name=" + "a" * 40_000, **bearer)[0] == 414
    deep = b'{"resourceType":"Patient","extension":' + b"[" * 100_000
    assert _raw(running, f"{head}Content-Length: {len(deep)}\r\n\r\n", deep)[0] == 400


def test_a_slow_client_does_not_hold_up_others(running: Running, bearer: dict[str, str]):
    head = f"POST /fhir/Patient HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nContent-Length: 100\r\n\r\n"
    with closing(socket.create_connection(("127.0.0.1", running.port))) as slow:
        slow.sendall(head.encode() + b"{")
        start = time.monotonic()
        assert _get(running, "/fhir/Patient?_count=0", **bearer)[0] == 200
        assert time.monotonic() - start < 25  # less than the 30 s that the slow one may take


PIECES = st.sampled_from([
    "Patient", "Observation", "Condition", "ward-01", "ward-02", "new-1", "_history", "_search", "$everything",
    "$validate", "1", "*", "..", ".", "%2e", "\x00", "é", "肺", "a" * 65, "$", "_", "'", '"', "<script>", "[object]",
    "{}", "metadata", "Bundle", "",
])  # fmt: skip
NAMES = st.sampled_from([
    "_id", "_count", "_page", "_sort", "_include", "_revinclude", "_has:Observation:patient:code", "patient", "subject",
    "subject:Patient.name", "code", "code:in", "date", "value-quantity", "_elements", "_summary", "_type", "start",
    "end", "_since", "_lastUpdated", "name:contains", "_format", "_total", "identifier", "_has:A:b:c",
    "a.b.c.d.e.f.g.h", ":", ".", "",
])  # fmt: skip
VALUES = st.one_of(
    st.sampled_from([
        "", "1", "-1", "0", "99999999999", "1e400", "(a+)+$", "a" * 3000, "|", "$", ",,,", "\\", "%", "%00",
        "\ud7ff", "ge2024", "2024-99", "ward-01", "Patient/ward-01", "Observation:subject", "*", "Patient:*", "xml",
        "NaN", "AAAAAAAAAAAQvnF8JosueC4X4Xmo", "0.0.0", "http://127.0.0.1:1/fhir/Patient/ward-01", "urn:uuid:1",
        "true", "0001-01-01",
        "9999-12-31T23:59:60Z", "2024-05-16T10:00:00 00:00",
    ]),
    st.text(max_size=30),
)  # fmt: skip
_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from(["Patient", "Bundle", "Patient/ward-01", "transaction", "batch", "POST", "GET"]),
)  # fmt: skip
_KEYS = st.sampled_from([
    "resourceType", "id", "meta", "subject", "reference", "entry", "request", "resource", "type", "method", "url",
    "fullUrl", "op", "path", "value", "from", "status", "code", "extension",
])  # fmt: skip
BODIES = st.one_of(
    st.binary(max_size=60),
    st.recursive(
        _LEAVES,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=5)),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode()),
)
HEADERS = st.dictionaries(
    st.sampled_from(["accept", "content-type", "if-match", "if-none-match", "if-none-exist", "prefer"]),
    st.one_of(st.text(max_size=20), st.sampled_from([
        "application/json-patch+json", "application/merge-patch+json", "application/x-www-form-urlencoded",
        "application/json", "*/*;q=0", 'W/"1"', "identifier=x", "Patient?", "?", "return=minimal", "handling=strict",
        ",;,;=",
    ])),
    max_size=3,
)  # fmt: skip


@pytest.fixture(scope="module")
def fuzzed(store: ChartStore) -> Asking:
    return Asking(ChartRecords(store, {}, Journal(None)))


@settings(max_examples=400, deadline=None)
@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW", ""]),
    steps=st.lists(PIECES, max_size=5),
    pairs=st.lists(st.tuples(NAMES, VALUES), max_size=4),
    body=BODIES,
    headers=HEADERS,
)
def test_no_request_makes_the_server_raise(
    fuzzed: Asking, method: str, steps: list[str], pairs: list[tuple[str, str]], body: bytes, headers: dict[str, Any]
):
    query = "&".join(f"{name}={value}" for name, value in pairs)
    answer = fuzzed(method, "/".join(steps).replace("?", "") + (f"?{query}" if query else ""), body, **headers)
    assert answer.status in {200, 201, 304, 400, 403, 404, 405, 406, 410, 412, 413, 415, 422}, answer
    if answer.text:
        told = answer.json
        assert told["resourceType"] == "OperationOutcome" if answer.status >= 400 else True
    assert fuzzed.get("Patient/ward-01").status == 200


def test_bundles_cannot_be_nested_or_multiplied(fuzzed: Asking):
    entry = {
        "request": {"method": "POST", "url": "/"},
        "resource": {"resourceType": "Bundle", "type": "batch", "entry": []},
    }
    told = fuzzed.post("", {"resourceType": "Bundle", "type": "batch", "entry": [entry] * 3}).json
    assert [one["response"]["status"] for one in told["entry"]] == ["400"] * 3


def test_a_request_that_takes_too_long_is_given_up(store: ChartStore):
    from wardround.envs.server import access_of
    from wardround.envs.server.door import SECONDS, Door
    from wardround.envs.server.messages import Request

    times = iter(range(0, 10_000, int(SECONDS) // 5))
    door = Door(ChartRecords(store, {}, Journal(None)), clock=lambda: float(next(times)))
    access = access_of("x", "user/*.crus", None)
    reply, _ = door.handle(Request("GET", "Observation", "_count=0"), access)
    assert reply.status == 503 and re.search("name a patient", reply.body.decode())
    entry = {"resource": ORDER, "request": {"method": "POST", "url": "MedicationRequest"}}
    for kind, statuses, stored in (("batch", {"201", "503"}, True), ("transaction", set(), False)):
        before = door.records.pool(None, lambda: None).version
        bundle = json.dumps({"resourceType": "Bundle", "type": kind, "entry": [entry] * 20}).encode()
        reply, _ = door.handle(Request("POST", "", body=bundle), access)
        told = json.loads(reply.body)
        assert {one["response"]["status"][:3] for one in told.get("entry", ())} == statuses
        assert reply.status == (200 if stored else 503)
        assert (door.records.pool(None, lambda: None).version > before) == stored


ORDER = {
    "resourceType": "MedicationRequest", "status": "active", "intent": "order",
    "medicationCodeableConcept": {"text": "aspirin", "coding": [{"system": "http://x", "code": "1"}]},
    "subject": {"reference": "Patient/ward-01"}, "meta": {"tag": [{"system": "http://x", "code": "y"}]},
    "dosageInstruction": [{"doseAndRate": [{"doseQuantity": {"value": 0.5, "unit": "g"}}]}],
}  # fmt: skip
JUNK = st.one_of(
    _LEAVES,
    st.sampled_from([
        {}, [], [None], [[]], {"reference": 7}, {"reference": "Patient/ward-02"}, {"reference": "Patient/" + "x" * 70},
        {"coding": "x"}, {"tag": 1}, "2024-13-01", "\ud800", 1e308, -0.0, 10**40, {"extension": [{"url": "x"}]}, "#x",
    ]),
)  # fmt: skip


def _paths(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    return [path, *(found for key in keys for found in _paths(node[key], (*path, key)))]


@settings(max_examples=250, deadline=None)
@given(path=st.sampled_from(_paths(ORDER)[1:]), junk=JUNK, verb=st.sampled_from(["POST", "PUT", "PATCH", "bundle"]))
def test_a_damaged_resource_is_stored_valid_or_not_at_all(fuzzed: Asking, path: tuple[Any, ...], junk: Any, verb: str):
    key = f"MedicationRequest/{fuzzed.post('MedicationRequest', ORDER).json['id']}"
    body = json.loads(json.dumps({**ORDER, "id": key.partition("/")[2]}))
    node = body
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = junk
    before = fuzzed.records.pool(None, lambda: None).version
    if verb == "POST":
        answer = fuzzed.post("MedicationRequest", body)
    elif verb == "bundle":
        entry = {"resource": body, "request": {"method": "POST", "url": "MedicationRequest"}}
        answer = fuzzed.post("", {"resourceType": "Bundle", "type": "transaction", "entry": [entry]})
    else:
        answer = fuzzed(verb, key, body)
    assert answer.status in {200, 201, 400, 415, 422}, answer
    stored = fuzzed.records.pool(None, lambda: None).version - before
    assert stored == (1 if answer.status < 400 else 0)
    if stored:
        resource = answer.json["entry"][0]["resource"] if verb == "bundle" else answer.json
        again = fuzzed.get(f"MedicationRequest/{resource['id']}")
        assert validate(again.text) == [] and again.json == resource

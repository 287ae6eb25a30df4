"""What a breaker tried: connections that stall, bytes that are no HTTP, scopes, clocks, logs and files."""

from __future__ import annotations

import json
import os
import socket
import time
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import Asking, Listening, listening

from wardround.envs import Episode
from wardround.envs.server import ChartRecords, LiveEpisode, Running, access_of, roles, serve_charts, serve_episodes
from wardround.envs.server.app import Plan
from wardround.envs.server.audit import AuditLog
from wardround.envs.server.exporting import JOBS
from wardround.envs.server.journal import Journal, Lines
from wardround.envs.server.messages import Reply, Request
from wardround.envs.server.playing import Playing
from wardround.envs.server.running import secure_of
from wardround.patients import ChartStore, DataError, UsageError, parse_instant
from wardround.sessions import Session, load_sessions

STALL = 0.6
"""Seconds a connection may stall in these tests."""


@pytest.fixture(scope="module")
def hasty(store: ChartStore) -> Iterator[Running]:
    """A server that soon gives up what stalls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wardround.envs.server.listener.STALL", STALL)
        patch.setattr("wardround.envs.server.listener.LOOK", 0.1)
        yield from _served(store)


def _served(store: ChartStore) -> Iterator[Running]:
    with listening(serve_charts(store, {}, Listening(port=0, open=True))) as server:
        yield server


def _open(server: Running, text: str = "") -> socket.socket:
    line = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    line.sendall(text.replace("HOST", f"Host: 127.0.0.1:{server.port}").encode("latin-1"))
    return line


def _ends(line: socket.socket, drip: bytes = b"") -> bool:
    """Tell whether the server ends a connection, a client that drips bytes notwithstanding."""
    stop = time.monotonic() + 20
    line.settimeout(0.1)
    while time.monotonic() < stop:
        try:
            if drip:
                line.sendall(drip)
            if not line.recv(65536):
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def test_connections_that_stall_shut_nobody_out(hasty: Running):
    idle = [_open(hasty) for _ in range(64)]
    assert httpx.get(f"{hasty.base}/metadata").status_code == 503  # this one is too many
    assert all(_ends(line) for line in idle)
    with httpx.Client(base_url=hasty.base) as client:
        begun = time.monotonic()
        while time.monotonic() - begun < 3 * STALL:  # one that gets on stays, however long
            assert client.get("/Patient/ward-01").status_code == 200
            time.sleep(0.05)
        ports = {line.client[1] for line in hasty.uvicorn.server_state.connections}
        assert len(ports) == 1
    for line in idle:
        line.close()


@pytest.mark.parametrize(
    ("text", "drip"),
    [
        ("GET /fhir/Patient HTTP/1.1\r\nHOST\r\nX: ", b"x"),  # a head without end
        ("POST /fhir/Patient HTTP/1.1\r\nHost: evil.example\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    ],
)
def test_what_never_ends_is_ended(hasty: Running, text: str, drip: bytes):
    with _open(hasty, text) as line:
        assert _ends(line, drip)


def test_a_client_that_does_not_read_is_let_go(hasty: Running):
    with _open(hasty, "GET /fhir/Observation?_count=1000 HTTP/1.1\r\nHOST\r\n\r\n" * 60):
        stop = time.monotonic() + 20
        connections = hasty.uvicorn.server_state.connections
        while not connections and time.monotonic() < stop:
            time.sleep(0.01)
        while connections and time.monotonic() < stop:
            time.sleep(0.05)
        assert not connections
    assert httpx.get(f"{hasty.base}/Patient/ward-01").status_code == 200


@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        ("GET /fhir/Patient/ward-01 HTTP/1.1\r\nHOST\r\nHost: evil.example\r\n\r\n", {400}),
        ("GET /fhir/Patient/ward-01 HTTP/1.1\r\nHost: evil.example\r\nHOST\r\n\r\n", {400}),
        ("GET /fhir/Patient/ward-01 HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: x\r\n\r\n", {421}),
        ("GET http://evil.example/fhir/Patient HTTP/1.1\r\nHOST\r\n\r\n", {404}),
        ("GET /fhir/Patient HTTP/1.0\r\n\r\n", {421}),
        ("GET /fhir/Patient\r\n\r\n", {400}),
        ("POST /fhir/Patient HTTP/1.1\r\nHOST\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", {400}),
        ("POST /fhir/Patient HTTP/1.1\r\nHOST\r\nContent-Length: +5\r\n\r\nhello", {400, 413}),
        ("POST /fhir/Patient HTTP/1.1\r\nHOST\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", {400, 501}),
        ("POST /fhir/Patient HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello", {400}),
        ("POST /fhir/Patient HTTP/1.1\r\nHOST\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", {400}),
        ("GET /fhir/Patient HTTP/1.1\r\nHOST\r\nX: a\r\n b\r\nX\0: y\r\n\r\n", {400}),
        ("GET /fhir/Patient HTTP/1.1\r\nHOST\r\n" + "X: y\r\n" * 200_000 + "\r\n", {400}),
        ("GET /fhir/%2e%2e/%252e%252e/%00 HTTP/1.1\r\nHOST\r\n\r\n", {404}),
        ("GET /fhir/Patient?" + "_id=%00&" * 1100 + " HTTP/1.1\r\nHOST\r\n\r\n", {400}),
        ("GET /fhir/Patient?_count=" + "9" * 400 + " HTTP/1.1\r\nHOST\r\n\r\n", {400}),
        ("GET /fhir/Patient?_count=1&_count=2 HTTP/1.1\r\nHOST\r\n\r\n", {200, 400}),
        ("GET /fhir/Patient HTTP/1.1\r\nHOST\r\nSec-Fetch-Site: cross-site\r\n\r\n", {403}),
        ("GET /fhir/Patient HTTP/1.1\r\nHOST\r\nOrigin: null\r\n\r\n", {403}),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 421}),
        ("TRACE /fhir/Patient HTTP/1.1\r\nHOST\r\n\r\n", {405}),
        ("CONNECT evil.example:80 HTTP/1.1\r\nHOST\r\n\r\n", {404}),
        ("GET /fhir/Patient HTTP/1.1\r\nHOST\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", {200}),
    ],
)
def test_bytes_that_are_not_plain_http_meet_no_fault(hasty: Running, text: str, statuses: set[int]):
    with _open(hasty, text) as line:
        answer = line.recv(65536)
    assert answer.startswith(b"HTTP/1.1 ") and int(answer[9:12]) in statuses, answer[:200]
    assert httpx.get(f"{hasty.base}/Patient/ward-01").status_code == 200


def test_a_request_within_the_body_of_another_is_no_request(hasty: Running):
    inner = "GET /fhir/Patient/ward-02 HTTP/1.1\r\nHOST\r\n\r\n"
    both = "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"  # R: the length is not what counts
    text = f"POST /fhir/Patient/_search HTTP/1.1\r\nHOST\r\n{both}Connection: close\r\n\r\n0\r\n\r\n{inner}"
    with _open(hasty, text) as line:
        told = b"".join(iter(lambda: line.recv(65536), b""))
    assert told.count(b"HTTP/1.1 ") == 1


# -- scopes --------------------------------------------------------------------------------------------------------


ORDER = {"medication": "metformin", "dose": "250 mg", "route": "oral", "frequency": "once daily"}


def _call(playing: Playing, role: str, tool: str, patient: str, **arguments: Any) -> tuple[int, Any]:
    body = json.dumps({"subject_id": patient, **arguments}).encode()
    request = Request("POST", f"tools/{tool}", "", {}, body, "http://h/s")
    reply = playing.handle(request, access_of(role, roles()[role], patient))
    return reply.status, json.loads(reply.body)


def test_a_tool_writes_no_form_that_the_scope_does_not_allow(session: Session, chart: Any):
    tools = ("MedicationRequest.create", "MedicationRequest.update_status", "prepare_to_answer")
    session = session.model_copy(update={"tools": tools})
    live = LiveEpisode(Episode(session, chart, plan="off"), Journal(None), "one")
    playing, door = Playing(live, "1"), Asking(live)
    assert _call(playing, "resident", "MedicationRequest_create", "p-1", **ORDER)[0] == 403
    assert live.episode.write_log == [] and len(live.episode.trajectory["events"]) == 1
    status, told = _call(playing, "physician", "MedicationRequest_create", "p-1", **ORDER)
    assert (status, told["ok"]) == (200, True)
    made = door.get("MedicationRequest?_sort=-_lastUpdated&_count=1").json["entry"][0]["resource"]
    assert made["status"] == "active"
    stop = {"id": made["id"], "action": "stop", "reason": "x"}
    assert _call(playing, "resident", "MedicationRequest_update_status", "p-1", **stop)[0] == 403
    status, told = _call(playing, "physician", "MedicationRequest_update_status", "p-1", **stop)
    assert (status, told["ok"]) == (200, True), told


def test_a_write_does_not_tell_who_is_here(ask: Asking):
    asked = ask.as_role("patient", "ward-01")

    def appointment(patient: str) -> dict[str, Any]:
        actor = {"actor": {"reference": f"Patient/{patient}"}, "status": "accepted"}
        return {"resourceType": "Appointment", "status": "proposed", "participant": [actor]}

    here, nobody = (asked.post("Appointment", appointment(one)) for one in ("ward-02", "nobody"))
    assert here.status == nobody.status == 403 and here.text == nobody.text
    assert asked.post("Appointment", appointment("ward-01")).status == 201


def test_everything_and_elements_stay_within_the_scope(ask: Asking):
    asked = ask.as_role("pharmacist")
    assert asked.get("Patient/ward-01/$everything?_type=DocumentReference,Procedure").json["total"] == 0
    assert asked.get("Patient/ward-01/$everything?_type=Condition&_count=0").json["total"] > 0
    for extra in ("_elements=id,note", "_summary=text", "_summary=data", "_total=accurate", "_summary=count"):
        found = asked.get(f"Patient/ward-01/$everything?{extra}&_count=1000").json
        kinds = {one["resource"]["resourceType"] for one in found.get("entry", ())}
        assert kinds.isdisjoint({"DocumentReference", "Procedure", "Flag", "CarePlan"}), extra
        assert found["total"] == asked.get("Patient/ward-01/$everything?_count=0").json["total"], extra


def test_one_tokens_exports_do_not_end_anothers(ask: Asking):
    first = ask.as_role("physician").get("$export", prefer="respond-async").headers["Content-Location"]
    other = ask.as_role("researcher")
    theirs = [other.get("$export", prefer="respond-async").headers["Content-Location"] for _ in range(JOBS + 1)]
    assert ask.as_role("physician").get(first).status == 200
    assert [other.get(one).status for one in theirs[:2]] == [404, 200]


def test_conditions_that_name_any_version(ask: Asking):
    made = ask.post("Flag", FLAG).json
    key = f"Flag/{made['id']}"
    assert ask("PUT", key, made, if_none_match="*").status == 412  # there must be none
    assert ask("PUT", key, made, if_none_match='W/"1"').status == 412
    assert ask("PUT", key, made, if_match="*").status == 200
    assert ask.get(key, if_none_match="*").status == 304
    parameters = {"resourceType": "Parameters", "parameter": [{"name": "operation"}]}
    assert ask("PATCH", key, parameters, content_type="application/fhir+json").status == 415  # a FHIRPath Patch


FLAG = {
    "resourceType": "Flag", "status": "active", "code": {"text": "fall risk"},
    "subject": {"reference": "Patient/ward-01"},
}  # fmt: skip


# -- clocks --------------------------------------------------------------------------------------------------------


def test_nothing_tells_what_comes_after_the_rounds_now(store: ChartStore):
    """Neither a stamp, nor a version, nor a total: over a session of each patient."""
    chosen = {one.chart.patient: one for one in load_sessions("ward").sessions}
    assert len(chosen) > 5
    for patient, session in chosen.items():
        door = Asking(LiveEpisode(Episode(session, store.chart(patient)), Journal(None), "one"))
        now = parse_instant(session.anchor)
        found = door.get(f"Patient/{patient}/$everything?_count=1000").json
        assert found["total"] == len(found["entry"])
        for entry in found["entry"]:
            resource = entry["resource"]
            stamp = resource.get("meta", {}).get("lastUpdated")
            assert stamp is None or parse_instant(stamp) <= now, resource
        assert door.get(f"?_lastUpdated=gt{session.anchor}&_summary=count").json["total"] == 0
        key = f"{resource['resourceType']}/{resource['id']}"
        assert door.get(f"{key}/_history").json["total"] == 1 and door.get(f"{key}/_history/2").status == 404


def test_two_rounds_of_one_patient_stay_apart(store: ChartStore):
    sessions = [one for one in load_sessions("ward").sessions if one.chart.patient == "ward-01"][:2]
    one, two = (Asking(LiveEpisode(Episode(each, store.chart("ward-01")), Journal(None), each.id)) for each in sessions)
    page = one.get("Observation?_count=3").link("next")
    before = two.get("?_summary=count").json["total"]
    made = one.post("Flag", FLAG).json["id"]
    assert one.get(f"Flag/{made}").status == 200 and two.get(f"Flag/{made}").status == 404
    assert two.get("?_summary=count").json["total"] == before
    if sessions[0].anchor != sessions[1].anchor:
        assert two.get(page).status == 410
    ordered = one.get("Observation?_count=3").link("next")  # of a state that the other never had
    assert one.get(ordered).status == 200 and two.get(ordered).status == 410


# -- logs and files ------------------------------------------------------------------------------------------------


def test_the_audit_log_takes_no_forged_lines_and_no_tokens(tmp_path: Path):
    lines = Lines(tmp_path / "audit.ndjson", sync=False)
    log = AuditLog(lines, lambda: "2024-05-16T10:00:00Z", "test")
    forged = 'Patient/x\n{"resourceType":"AuditEvent"}\r\x00\u2028'
    secret = "S3cret-token"
    for query in (f"access_token={secret}&code=1", f"code=1&ACCESS_TOKEN={secret}", f"token={secret}"):
        log.tell(Request("GET", forged, query), None, Reply(401), [forged], "127.0.0.1")
    log.tell(Request("POST", "Patient/_search", "", {}, f"access_token={secret}".encode()), None, Reply(401), [], "x")
    lines.close()
    kept = (tmp_path / "audit.ndjson").read_bytes()
    events = [json.loads(line) for line in kept.split(b"\n")[:-1]]
    assert len(events) == 4 and all(one["outcome"] == "4" for one in events)
    queries = [b64decode(one["entity"][0]["query"]).decode() for one in events]
    assert queries[0] == "access_token=…&code=1" and secret not in "".join(queries)


def test_a_journal_has_one_writer_and_is_no_link(tmp_path: Path):
    path = tmp_path / "journal.ndjson"
    with pytest.raises(UsageError, match="another --out"):
        first = Journal(path)
        try:
            Journal(path)
        finally:
            first.close()
    Journal(path).close()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious, without an end of line")
    path.unlink()
    path.symlink_to(elsewhere)
    with pytest.raises(OSError):
        Journal(path)
    assert elsewhere.read_text() == "precious, without an end of line"


def test_files_are_private_whatever_the_umask(store: ChartStore, tmp_path: Path):
    before = os.umask(0)
    try:
        (tmp_path / "audit.ndjson").touch(0o666)
        with serve_charts(store, {}, Listening(port=0, roles=["nurse"], out=tmp_path)):
            modes = {one.name: one.stat().st_mode & 0o777 for one in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("audit.ndjson", "journal.ndjson", "tokens.json"), 0o600)


def test_behind_a_proxy_links_are_https():
    secure = secure_of(["https://Charts.example", "plain.example", "https://other.example:8443"])
    assert secure == {"charts.example", "charts.example:443", "other.example:8443"}
    plan = Plan(secure | {"127.0.0.1:1"}, None, "", secure)
    assert plan.root_of("charts.example") == "https://charts.example"
    assert plan.root_of("127.0.0.1:1") == "http://127.0.0.1:1"
    with pytest.raises(UsageError, match="--name"):
        secure_of(["https://evil.example/x"])


def test_a_journal_of_something_else_is_refused_and_let_go(store: ChartStore, tmp_path: Path):
    session = load_sessions("ward").sessions[0]
    with serve_charts(store, {}, Listening(port=0, open=True, out=tmp_path)):
        pass
    for _ in range(2):  # the second time, too: the refusal holds no lock
        with pytest.raises(DataError, match="another --out"):
            serve_episodes(
                [Episode(session, store.chart(session.chart.patient))], Listening(port=0, open=True, out=tmp_path)
            )
    assert ChartRecords(store, {}, Journal(None)).patients()

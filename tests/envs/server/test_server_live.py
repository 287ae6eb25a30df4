"""A live episode behind the door: its clock, its tools, its journal, and what FHIR requests count for."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import Asking, Listening, listening

from wardround.envs import Episode, replay
from wardround.envs.doors import arguments_of, record_of, take_in
from wardround.envs.server import LiveEpisode, access_of, roles, serve_episodes
from wardround.envs.server.journal import Journal, Lines
from wardround.envs.server.messages import Request
from wardround.envs.server.playing import Playing
from wardround.patients import ALL_TOOLS, TOOLS, Chart, DataError, UsageError, load_charts
from wardround.sessions import Session, load_sessions

ORDER = {
    "resourceType": "MedicationRequest",
    "status": "active",
    "intent": "order",
    "medicationCodeableConcept": {"text": "metformin"},
    "subject": {"reference": "Patient/p-1"},
    "dosageInstruction": [
        {
            "route": {"text": "oral"},
            "timing": {"repeat": {"frequency": 1, "period": 1, "periodUnit": "d"}},
            "doseAndRate": [{"doseQuantity": {"value": 250, "unit": "mg"}}],
        }
    ],
}


class Round:
    """One episode and both of its doors, in this process."""

    def __init__(self, episode: Episode, journal: Journal) -> None:
        self.live = LiveEpisode(episode, journal, "one")
        self.fhir = Asking(self.live)
        self.playing = Playing(self.live, "1")

    def send(self, method: str, path: str, body: Any = None, role: str = "agent") -> tuple[int, Any]:
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        reply = self.playing.handle(
            Request(method, path, "", {}, data, "http://h/s"), access_of(role, roles()[role], "p-1")
        )
        return reply.status, json.loads(reply.body)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        status, told = self.send("POST", f"tools/{tool}", arguments)
        assert status == 200, told
        return told

    def answer(self, text: str) -> dict[str, Any]:
        status, told = self.send("POST", "answer", {"text": text})
        assert status == 200, told
        return told


@pytest.fixture
def played(session: Session, chart: Chart) -> Round:
    return Round(Episode(session, chart, plan="off"), Journal(None))


def test_reads_obey_the_episodes_clock(played: Round):
    found = played.fhir.get("Observation?code=2160-0")
    assert found.ids == ["Observation/cr-2", "Observation/cr-1"]
    assert played.fhir.get("Observation/cr-3").status == 404
    assert "end" not in played.fhir.get("Encounter/e-1").json["period"]
    assert played.fhir.get("Patient").ids == ["Patient/p-1"]


def test_a_session_played_through_fhir_scores_as_one_played_with_tools(played: Round):
    assert played.fhir.get("Observation?patient=p-1&code=2160-0").status == 200
    played.answer("Creatinine 1.4 mg/dL, high.")
    played.call("patient_get_medication_adherence", subject_id="p-1", session_id="s-1", drug="metformin")
    played.answer("The patient says she stopped metformin because of nausea.")
    played.answer("Creatinine 1.4 mg/dL is high. Recheck creatinine tomorrow.")
    assert played.fhir.post("MedicationRequest", ORDER).status == 201
    told = played.answer("Ordered metformin 250 mg orally once daily.")
    assert told["done"] and told["query"] == ""
    assert [score.reward for score in played.live.episode.scores] == [1.0, 1.0, 1.0, 1.0]


def test_what_was_not_shown_whole_counts_for_nothing(played: Round):
    for query in (
        "Observation?_elements=id",
        "Observation?_summary=count",
        "Observation?_summary=true",
        "Observation?_count=0",
    ):
        assert played.fhir.get(query).status == 200
    assert played.fhir.get("Observation/cr-3").status == 404
    played.answer("Creatinine 1.4 mg/dL, high.")
    assert played.live.episode.scores[0].reward == 0.0


def test_a_wrong_order_through_fhir_is_a_wrong_order(session: Session, chart: Chart):
    played = Round(Episode(session, chart, plan="off"), Journal(None))
    for _ in range(3):
        played.answer("I do not know.")
    dosage = {"route": {"text": "oral"}, "doseAndRate": [{"doseQuantity": {"value": 500, "unit": "mg"}}]}
    assert played.fhir.post("MedicationRequest", {**ORDER, "dosageInstruction": [dosage]}).status == 201
    played.answer("Ordered.")
    passed = dict(
        zip(("drug", "dose", "route", "frequency", "not-500", "only"), _passed(played.live.episode), strict=True)
    )
    assert passed == {"drug": True, "dose": False, "route": True, "frequency": False, "not-500": False, "only": True}


def _passed(episode: Episode) -> list[bool | None]:
    return [verdict.passed for verdict in episode.scores[3].verdicts]


def test_both_doors_see_what_either_wrote(played: Round):
    made = played.fhir.post("MedicationRequest", ORDER).json
    assert made["id"] in played.call("MedicationRequest.search", subject_id="p-1")["text"]
    ordered = played.call("Flag_create", subject_id="p-1", category="safety", code="fall risk", detail="walks alone")
    assert ordered["ok"]
    assert played.fhir.get("Flag?patient=p-1").json["total"] == 1
    assert played.fhir("PATCH", f"MedicationRequest/{made['id']}", {"status": "stopped"}).status == 200
    assert played.fhir.get(f"MedicationRequest/{made['id']}/_history").json["total"] == 2
    first = {"fullUrl": "urn:uuid:1", "resource": ORDER, "request": _POST}
    second = {"resource": {**ORDER, "basedOn": [{"reference": "urn:uuid:1"}]}, "request": _POST}
    bundle = {"resourceType": "Bundle", "type": "transaction", "entry": [first, second]}
    done = played.fhir.post("", bundle)
    assert done.status == 200
    one, two = (entry["resource"] for entry in done.json["entry"])
    assert two["basedOn"] == [{"reference": f"MedicationRequest/{one['id']}"}]
    assert len(played.live.episode.write_log) == 5
    wrong = {"resource": {**ORDER, "status": "x"}, "request": _POST}
    assert played.fhir.post("", {**bundle, "entry": [first, second, wrong]}).status == 422
    assert len(played.live.episode.write_log) == 5
    assert played.fhir.post("Patient", {"resourceType": "Patient"}).status == 422


_POST = {"method": "POST", "url": "MedicationRequest"}


def test_a_trajectory_with_another_door_in_it_replays(played: Round, session: Session, chart: Chart):
    test_both_doors_see_what_either_wrote(played)
    played.fhir.get("Observation?code=2160-0")
    played.answer("Creatinine 1.4 mg/dL, high.")
    trajectory = json.loads(json.dumps(played.live.episode.trajectory))
    assert {event["event"] for event in trajectory["events"]} == {"query", "call", "door", "answer"}
    assert replay(session, chart, trajectory).trajectory_hash == played.live.episode.trajectory_hash


def test_the_journal_makes_the_episode_again(session: Session, chart: Chart, tmp_path: Path):
    path = tmp_path / "journal.ndjson"
    journal = Journal(path)
    journal.begin({"sessions": []})
    played = Round(Episode(session, chart, plan="off"), journal)
    test_both_doors_see_what_either_wrote(played)
    played.answer("Creatinine 1.4 mg/dL, high.")
    journal.close()
    again = Journal(path)
    found = LiveEpisode(Episode(session, chart, plan="off"), again, "one")
    again.close()
    assert found.episode.trajectory_hash == played.live.episode.trajectory_hash
    assert found.episode.turn == 1


def test_a_write_that_cannot_be_kept_is_not_done(played: Round, monkeypatch: pytest.MonkeyPatch):
    def full(self: Lines, lines: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Lines, "write", full)
    assert played.fhir.post("MedicationRequest", ORDER).status == 503
    assert played.send("POST", "tools/Observation.search", {"subject_id": "p-1"})[0] == 503
    assert played.send("POST", "answer", {"text": "x"})[0] == 503
    assert played.live.episode.write_log == [] and len(played.live.episode.trajectory["events"]) == 1


def test_state_shows_what_an_agent_may_see(played: Round):
    status, state = played.send("GET", "state")
    assert status == 200
    assert state["query"] == "What is the latest creatinine?" and len(state["tools"]) == len(TOOLS) == 18
    text = json.dumps(state)
    for hidden in ("rubric", "gold", "reward", "verdict", "score"):
        assert f'"{hidden}"' not in text


def test_mistakes_are_results_and_bad_requests_are_refused(played: Round):
    assert played.call("Observation.search", subject_id="nobody")["ok"] is False
    assert played.call("Observation_search", wrong=1)["ok"] is False
    left = played.send("GET", "state")[1]["calls_left"]
    for method, path, body, status in (
        ("POST", "tools/Nonsense", {}, 404),
        ("POST", "tools/files.write", {}, 404),
        ("POST", "tools/Observation.search", [], 400),
        ("POST", "tools/Observation.search", b"{", 400),
        ("POST", "tools/Observation.search", b'{"a":1,"a":2}', 400),
        ("POST", "answer", {"text": 1}, 400),
        ("POST", "answer", {"text": "x", "more": 1}, 400),
        ("POST", "answer", {"text": "x" * (256 * 1024)}, 413),
        ("GET", "answer", None, 405),
        ("DELETE", "state", None, 405),
        ("POST", "fork", {}, 404),
        ("GET", "fork", None, 404),
        ("GET", "", None, 404),
        ("POST", "state", {}, 405),
        ("GET", "tools/Observation.search", None, 405),
    ):
        assert played.send(method, path, body)[0] == status, (method, path)
    assert played.send("GET", "state")[1]["calls_left"] == left


def test_tools_are_for_those_who_may_see_the_whole_record(played: Round):
    assert played.send("GET", "state", role="pharmacist")[0] == 403
    assert played.send("POST", "tools/Observation.search", {"subject_id": "p-1"}, role="patient")[0] == 403
    assert played.send("POST", "tools/Observation.search", {"subject_id": "p-1"}, role="nurse")[0] == 200
    assert played.send("POST", "tools/MedicationRequest.create", {"subject_id": "p-1"}, role="nurse")[0] == 403


def test_after_the_last_answer_nothing_is_written(played: Round):
    while not played.answer("I do not know.")["done"]:
        pass
    assert played.send("POST", "tools/Observation.search", {"subject_id": "p-1"})[0] == 409
    assert played.send("POST", "answer", {"text": "more"})[0] == 409
    assert played.fhir.post("MedicationRequest", ORDER).status == 409
    assert played.fhir.get("Observation?code=2160-0").status == 200
    assert played.send("GET", "state")[1]["done"] is True


def test_the_openapi_document_has_the_tools_own_schemas(played: Round):
    status, told = played.send("GET", "openapi.json")
    assert status == 200 and told["openapi"] == "3.1.0"
    tools = {
        path.removeprefix("/tools/"): one["post"] for path, one in told["paths"].items() if path.startswith("/tools/")
    }
    assert set(tools) == {spec.alias for spec in TOOLS.values()}
    for spec in TOOLS.values():
        schema = tools[spec.alias]["requestBody"]["content"]["application/json"]["schema"]
        assert {**spec.schema, "additionalProperties": True} == schema
        assert tools[spec.alias]["description"] == spec.description
    assert set(told["paths"]) - {f"/tools/{name}" for name in tools} == {"/state", "/answer"}
    assert ALL_TOOLS.keys() >= TOOLS.keys()


def _gold(session: Session) -> list[tuple[str, Any]]:
    """Return the actions of the gold: calls, the plan, the answers."""
    actions: list[tuple[str, Any]] = []
    for turn in session.turns:
        assert turn.gold is not None
        actions += [(call.tool, dict(call.arguments)) for call in turn.gold.calls]
        actions += [("prepare_to_answer", {"answer_type": "tool"}), ("answer", turn.gold.answers[0].en)]
    return actions


def test_agents_at_a_time_over_http_play_as_in_process(tmp_path: Path):
    sessions = load_sessions("ward").sessions[:4]
    with load_charts("ward") as store:
        alone = []
        for session in sessions:
            episode = Episode(session, store.chart(session.chart.patient))
            for tool, arguments in _gold(session):
                _ = episode.answer(arguments) if tool == "answer" else episode.call(tool, arguments)
            alone.append(episode.trajectory_hash)
        episodes = [Episode(session, store.chart(session.chart.patient)) for session in sessions]
        faults: list[BaseException] = []
        with listening(serve_episodes(episodes, Listening(port=0, roles=["agent"], out=tmp_path))) as server:
            bearer = {"Authorization": f"Bearer {server.tokens[0].token}"}

            def play(session: Session) -> None:
                try:
                    with httpx.Client(
                        base_url=f"{server.root}/sessions/{session.id}", headers=bearer, timeout=60
                    ) as client:
                        for tool, arguments in _gold(session):
                            body = {"text": arguments} if tool == "answer" else arguments
                            path = "/answer" if tool == "answer" else f"/tools/{tool}"
                            assert client.post(path, json=body).status_code == 200
                        found = client.get("/fhir/Patient").json()
                        assert [one["resource"]["id"] for one in found["entry"]] == [session.chart.patient]
                except BaseException as fault:
                    faults.append(fault)

            threads = [threading.Thread(target=play, args=(session,)) for session in sessions]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(120)
            assert faults == []
            lives = list(server.places.rounds.values())
            assert [live.episode.trajectory_hash for live in lives] == alone
            assert all(live.episode.done and live.episode.score == 1.0 for live in lives)
            kept = [json.loads(path.read_bytes()) for path in server.keep_trajectories()]
            assert [one["session"] for one in kept] == [session.id for session in sessions]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (
            "MedicationRequest.create",
            {"medication": "metformin", "dose": "250 mg", "route": "oral", "frequency": "twice daily",
             "indication": "diabetes", "duration_days": 5},
        ),
        ("ServiceRequest.create", {"service_type": "echo", "priority": "urgent", "target_date": "2150-03-07"}),
        ("Flag.create", {"category": "safety", "code": "fall risk", "detail": "walks alone"}),
    ],
)  # fmt: skip
def test_an_order_is_read_from_its_resource_as_the_tool_was_told(played: Round, tool: str, arguments: dict[str, Any]):
    told = played.call(tool, subject_id="p-1", **arguments)
    assert told["ok"], told
    (entry,) = record_of(played.live.episode).writes
    found = arguments_of(entry.resource())
    if tool == "Flag.create":  # a Flag has no room for detail but its code's text
        assert found["category"] == "safety" and found["detail"] == "fall risk: walks alone"
    else:
        assert found == {name: str(value) for name, value in arguments.items()}


@pytest.mark.parametrize(
    ("repeat", "said"),
    [({"frequency": 2, "period": 1, "periodUnit": "d"}, "2 times daily"),
     ({"period": 6, "periodUnit": "h"}, "every 6 hours"),
     ({"frequency": 3, "period": 2, "periodUnit": "wk"}, "3 times every 2 weeks"), ({}, "")],
)  # fmt: skip
def test_a_frequency_without_words_is_put_into_some(repeat: dict[str, Any], said: str):
    dosage = {"timing": {"repeat": repeat}}
    assert (
        arguments_of({"resourceType": "MedicationRequest", "dosageInstruction": [dosage]}).get("frequency", "") == said
    )


def test_what_no_record_allows_is_not_taken_in(played: Round):
    episode = played.live.episode
    for step in (
        {"op": "update", "key": "Flag/x", "body": "{}"},
        {"op": "create", "key": "Flag/x", "body": "["},
        {"op": "create"},
    ):
        with pytest.raises(DataError):
            take_in(episode, [], [step])
    assert episode.write_log == [] and episode.trajectory["events"][-1]["event"] == "query"
    while not played.answer("I do not know.")["done"]:
        pass
    with pytest.raises(UsageError, match="over"):
        take_in(played.live.episode, ["Patient/p-1"], [])

"""Writes in an episode: changes of status and files are scored soundly, recorded, replayed and forked."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wardround.envs import Episode, WardEnv, replay
from wardround.patients import ALL_TOOLS, TOOLS, Chart, ChartBuilder, ChartStore, Overlay, StoreWriter, UsageError
from wardround.sessions import Session, SessionSet, check_session

IDS = {"subject_id": "p-1"}
SEARCH = ("Observation.search", {**IDS, "code": "creatinine"})
HOLD = ("MedicationRequest.update_status", {**IDS, "id": "rx-metformin", "action": "hold", "reason": "creatinine 1.4"})
NOTE = ("files.write", {"path": "notes.md", "text": "creatinine 1.4, recheck"})
READY = ("prepare_to_answer", {"answer_type": "tool"})


def _item(name: str, **check: Any) -> dict[str, Any]:
    return {"id": name, "text": {"en": name, "zh": name}, "check": check, "requires": [], "safety": False}


def _turns(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a turn that asks for a value, and one that asks for a hold."""
    value, write = data["turns"][0], data["turns"][3]
    order = {"kind": "order", "tool": HOLD[0]}
    fields = (
        {"medication": "metformin"},
        {"action": "hold"},
        {"status": "on-hold"},
        {"id": "MedicationRequest/rx-metformin"},
    )
    rubric = [_item(f"hold-{number}", **order, fields=field) for number, field in enumerate(fields)]
    rubric.append(_item("not-stopped", **order, fields={}, forbid={"text_mentions": "cancelled"}))
    rubric.append(_item("only", kind="only_write"))
    ready = {"tool": READY[0], "arguments": READY[1]}
    gold = {"calls": [{"tool": HOLD[0], "arguments": HOLD[1]}, ready], "answers": write["gold"]["answers"]}
    value = {**value, "gold": {**value["gold"], "calls": [*value["gold"]["calls"], ready]}}
    return [value, {**write, "antecedents": [], "gold": gold, "rubric": rubric}]


@pytest.fixture(scope="module")
def wide(session: Session) -> Session:
    data = session.model_dump(by_alias=True)
    return Session.model_validate(
        data | {"id": "s-2", "family": "open", "tools": list(ALL_TOOLS), "turns": _turns(data)}
    )


def test_the_family_keeps_its_18_tools(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart)
    assert [tool["function"]["name"] for tool in episode.tools] == [spec.alias for spec in TOOLS.values()]
    refused = episode.call(*HOLD)
    assert refused.error == "unknown_tool" and episode.write_log == []


def test_a_session_names_its_tools(wide: Session, chart: Chart) -> None:
    few = wide.model_copy(update={"tools": ("Observation.search", "files.write", "prepare_to_answer")})
    episode = Episode(few, chart)
    assert [tool["function"]["name"] for tool in episode.tools] == [
        "Observation_search",
        "files_write",
        "prepare_to_answer",
    ]
    assert episode.call("files_write", NOTE[1]).ok and episode.call(*HOLD).error == "unknown_tool"
    first = next(one["tool_calls"][0] for one in episode.messages if "tool_calls" in one)
    assert first["function"]["name"] == "files_write"
    bad = wide.model_copy(update={"tools": ("Observation.delete",)})
    with pytest.raises(UsageError, match=r"Observation\.delete"):
        Episode(bad, chart)
    assert "tools" in {failure.rule for failure in check_session(bad, chart)}
    assert check_session(wide, chart) == []


def play(episode: Episode, *calls: tuple[str, dict[str, Any]], answer: str = "Creatinine 1.4 mg/dL, high.") -> float:
    for name, arguments in calls:
        assert episode.call(name, arguments).ok
    score = episode.answer(answer)
    assert score is not None
    return score.reward


def test_a_hold_that_was_asked_for_earns_the_turn(wide: Session, chart: Chart) -> None:
    episode = Episode(wide, chart)
    assert play(episode, SEARCH, READY) == 1.0
    assert play(episode, HOLD, READY, answer="Metformin is on hold.") == 1.0


def test_a_change_nobody_asked_for_scores_the_turn_nothing(wide: Session, chart: Chart) -> None:
    episode = Episode(wide, chart)
    assert play(episode, SEARCH, HOLD, READY) == 0.0
    assert any("asked for none" in note for note in episode.scores[0].notes)
    told = {**IDS, "recipient": "nurse", "message": "Metformin is on hold."}
    assert (
        play(
            episode,
            ("MedicationRequest.update_status", {**HOLD[1], "action": "resume"}),
            ("Communication.create", told),
            READY,
        )
        < 0.5
    )
    failed = {verdict.item: verdict for verdict in episode.scores[1].verdicts if not verdict.passed}
    assert "hold-0" in failed and "Communication.create" in failed["only"].reason


@pytest.mark.parametrize(
    ("wrong", "failed"),
    [
        ({"action": "stop"}, {"hold-1", "hold-2"}),
        ({"action": "cancel"}, {"hold-1", "hold-2", "not-stopped"}),
        ({"id": "new-1"}, {"hold-0", "hold-3"}),
    ],
)
def test_another_change_fails_its_items(wide: Session, chart: Chart, wrong: dict[str, str], failed: set[str]) -> None:
    episode = Episode(wide, chart)
    order = {**IDS, "medication": "aspirin", "dose": "100 mg", "route": "oral", "frequency": "daily"}
    play(episode, ("MedicationRequest.create", order), READY)
    play(episode, (HOLD[0], {**HOLD[1], **wrong}), READY, answer="Done.")
    assert {verdict.item for verdict in episode.scores[1].verdicts if not verdict.passed} == failed


def test_own_files_are_no_unrequested_write(wide: Session, chart: Chart) -> None:
    assert play(Episode(wide, chart), SEARCH, NOTE, READY) == 1.0


def test_what_the_episode_wrote_is_no_evidence(wide: Session, chart: Chart) -> None:
    episode = Episode(wide, chart)
    made = {**IDS, "category": "laboratory", "code": "creatinine", "value": "1.4", "unit": "mg/dL"}
    episode.call("Observation.create", made)
    episode.call("files.write", NOTE[1])
    episode.call("files.read", {"path": "notes.md"})
    episode.call("Observation.search", {**IDS, "code": "creatinine", "_count": 1})
    assert dict(episode.evidence.resources) == {}
    episode.call(*HOLD)
    episode.call("MedicationRequest.search", IDS)
    assert "MedicationRequest/rx-metformin" not in episode.evidence.resources
    early = Episode(wide, chart)
    early.call("MedicationRequest.search", IDS)
    early.call(*HOLD)
    body = early.evidence.resources["MedicationRequest/rx-metformin"]  # as it was shown, not as it became
    assert orjson.loads(body)["status"] == "active"


def test_events_name_what_was_written(wide: Session, chart: Chart) -> None:
    episode = Episode(wide, chart)
    for name, arguments in (HOLD, NOTE, SEARCH):
        episode.call(name, arguments)
    events = orjson.loads(orjson.dumps(episode.trajectory))["events"][1:]
    assert [(event.get("updated"), event.get("file")) for event in events] == [
        ("MedicationRequest/rx-metformin", None), (None, "notes.md"), (None, None),
    ]  # fmt: skip


def test_a_gym_environment_offers_them(wide: Session, builder: ChartBuilder, tmp_path: Path) -> None:
    path = tmp_path / "charts.sqlite"
    with StoreWriter(path, licence="CC0-1.0") as writer:
        writer.add_packed(builder.packed())
    env = WardEnv(SessionSet([wide], "wide"), charts=ChartStore.open(path))
    env.reset(seed=0)
    assert len(env.tools) == len(ALL_TOOLS) and "MedicationRequest_update_status" in env.system_prompt
    observation, reward, *_ = env.step(orjson.dumps({"tool": HOLD[0], "arguments": HOLD[1]}).decode())
    assert env.observation_space.contains(observation) and reward == 0.0
    assert '"updated":"MedicationRequest/rx-metformin"' in observation["text"]


_CALLS = st.sampled_from(
    [
        HOLD, NOTE, SEARCH, READY,
        (HOLD[0], {**HOLD[1], "action": "resume"}),
        (HOLD[0], {**HOLD[1], "action": "stop"}),
        (HOLD[0], {**HOLD[1], "id": "nope"}),
        ("files.write", {"path": "../x", "text": "x"}),
        ("files.write", {"path": "a/b.md", "text": "血钾"}),
        ("files.delete", {"path": "notes.md"}),
        ("Flag.create", {**IDS, "category": "safety", "code": "falls", "detail": "fell"}),
        ("Flag.update_status", {**IDS, "id": "new-1", "action": "close"}),
        ("Observation.create", {**IDS, "category": "exam", "code": "lungs", "value": "clear"}),
        ("MedicationRequest.create", {**IDS, "medication": "aspirin"}),
        ("no.such.tool", {}),
    ]
)  # fmt: skip
_STEPS = st.lists(st.one_of(_CALLS, st.sampled_from(["answer", "", "fork"])), max_size=14)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_STEPS)
def test_trajectory_and_log_replay_to_the_same_state(wide: Session, chart: Chart, steps: list[Any]) -> None:
    episode = Episode(wide, chart)
    for step in steps:
        if episode.done:
            break
        if step == "fork":
            twin = episode.fork()
            twin.call(*NOTE)
            twin.call(*HOLD)
        elif isinstance(step, str):
            episode.answer(step)
        else:
            episode.call(*step)
    stored = orjson.loads(orjson.dumps(episode.trajectory))
    again = replay(wide, chart, stored)
    assert (again.trajectory_hash, again.state_hash) == (episode.trajectory_hash, episode.state_hash)
    record = Overlay.replay(
        chart.at(episode._context.record.anchor, episode._context.record.snapshot.view), episode.write_log
    )
    assert record.state_hash == episode._context.record.state_hash
    assert pickle.loads(pickle.dumps(episode)).trajectory_hash == episode.trajectory_hash

"""The episode: budgets, mistakes, writes, history, forks, hashes, pickling."""

from __future__ import annotations

import pickle
from typing import Any

import orjson
import pytest

from wardround.envs import Episode, EpisodeView, replay
from wardround.patients import Chart, ToolResult, UsageError
from wardround.sessions import Session

IDS = {"subject_id": "p-1"}
TALK = {"subject_id": "p-1", "session_id": "s-1"}
SEARCH = ("Observation.search", {**IDS, "code": "creatinine"})


def _prepare(episode: Episode) -> None:
    episode.call("prepare_to_answer", {"answer_type": "chat"})


def play_gold(episode: Episode) -> Episode:
    while not episode.done:
        turn = episode.session.turns[episode.turn]
        assert turn.gold is not None
        for call in turn.gold.calls:
            assert episode.call(call.tool, call.arguments).ok
        _prepare(episode)
        episode.answer(turn.gold.answers[0].get(episode.settings.language))
    return episode


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("phrasing", ["explicit", "implicit", ("explicit", "implicit", "explicit", "implicit")])
def test_gold_scores_one(session: Session, chart: Chart, language: Any, phrasing: Any) -> None:
    episode = play_gold(Episode(session, chart, language=language, phrasing=phrasing))
    assert episode.score == 1.0, [(v.item, v.reason) for s in episode.scores for v in s.verdicts if not v.passed]
    assert episode.done
    assert not episode.truncated


def test_the_first_message_says_who_when_and_the_query_follows(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart, phrasing="explicit")
    first = episode.messages[-1]["content"]
    for part in ("p-1", "e-1", "s-1", "2150-03-05T08:00:00Z", "64 years old", "female", "latest creatinine"):
        assert part in first
    assert [message["role"] for message in episode.messages] == ["system", "user"]
    assert "16 tool calls" in episode.system_prompt


def test_nothing_later_than_now_is_shown(session: Session, chart: Chart) -> None:
    text = Episode(session, chart).call(*SEARCH).text
    assert "1.4" in text
    assert "2.9" not in text


def test_a_missing_plan_is_one_failed_item(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart)
    episode.call(*SEARCH)
    score = episode.answer("Creatinine 1.4 mg/dL, high.")
    assert score is not None
    assert 0.5 < score.reward < 1.0
    assert [v.passed for v in score.verdicts if "plan" in v.item] == [False]
    free = Episode(session, chart, plan="off")
    free.call(*SEARCH)
    assert free.answer("Creatinine 1.4 mg/dL, high.").reward == 1.0  # type: ignore[union-attr]
    strict = Episode(session, chart, plan="zero")
    strict.call(*SEARCH)
    assert strict.answer("Creatinine 1.4 mg/dL, high.").reward == 0.0  # type: ignore[union-attr]


def test_a_call_after_prepare_undoes_the_plan(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart)
    _prepare(episode)
    episode.call(*SEARCH)
    score = episode.answer("Creatinine 1.4 mg/dL, high.")
    assert score is not None
    assert score.reward < 1.0


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("Observation.delete", IDS, "unknown_tool"),
        ("Observation.search", {**IDS, "surprise": 1}, "bad_arguments"),
        ("Observation.search", {}, "bad_arguments"),
        ("Observation.search", {"subject_id": "p-2"}, "wrong_patient"),
        ("Observation.search", "{broken", "bad_json"),
        ("Observation.search", [1, 2], "bad_json"),
        ("Observation.search", {**IDS, "_count": "many"}, "bad_arguments"),
    ],
)
def test_mistakes_are_observations_that_cost_one_call(
    session: Session, chart: Chart, name: str, arguments: Any, error: str
) -> None:
    episode = Episode(session, chart)
    result = episode.call(name, arguments)
    assert not result.ok
    assert result.error == error
    assert result.text
    assert episode.calls_left == 15
    assert episode.turn == 0


@pytest.mark.parametrize(
    "arguments", [{"subject_id": "\ud800"}, {"subject_id": float("nan")}, {1: 2}, object(), "\ud800"]
)
def test_unserialisable_arguments_are_mistakes_too(session: Session, chart: Chart, arguments: Any) -> None:
    episode = Episode(session, chart)
    assert not episode.call("Patient.read", arguments).ok
    assert len(episode.trajectory_hash) == 64


def test_prepare_is_free_and_the_seventeenth_call_is_told_to_answer(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart)
    for _ in range(16):
        assert episode.call(*SEARCH).ok
    _prepare(episode)
    assert episode.calls_left == 0
    late = episode.call(*SEARCH)
    assert late.error == "over_budget"
    assert "Answer the physician now" in late.text
    assert episode.turn == 0
    score = episode.answer("Creatinine 1.4 mg/dL, high.")
    assert score is not None
    assert score.reward > 0.5


def test_twenty_actions_close_the_turn_with_an_empty_answer(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart)
    for _ in range(20):
        episode.call(*SEARCH)
    assert episode.turn == 1
    assert episode.scores[0].reward == 0.0
    assert episode.calls_left == 16
    assert not episode.truncated


def test_only_the_last_turn_closing_so_truncates(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart)
    for _ in range(20 * 4):
        episode.call("Flag.search", {})
    assert episode.done
    assert episode.truncated
    assert episode.score == 0.0
    answered = Episode(session, chart)
    for _ in range(20 * 3):
        answered.call(*SEARCH)
    answered.answer("Nothing.")
    assert answered.done
    assert not answered.truncated


def test_writes_of_a_turn_cut_short_are_graded(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart, plan="off")
    for _ in range(3):
        episode.answer("I do not know.")
    order = {**IDS, "medication": "metformin", "dose": "250 mg", "route": "oral", "frequency": "once daily"}
    episode.call("MedicationRequest.create", order)
    while not episode.done:
        episode.call("Patient.read", IDS)
    assert episode.truncated
    assert episode.scores[3].reward > 0.5


def test_on_exhaust_end_truncates_at_once(session: Session, chart: Chart) -> None:
    budget = {"unit": "calls", "scope": "episode", "n": 3, "on_exhaust": "end"}
    short = session.model_copy(update={"budget": type(session.budget).model_validate(budget)})
    episode = Episode(short, chart)
    for _ in range(3):
        episode.call(*SEARCH)
    assert episode.done
    assert episode.truncated
    assert len(episode.scores) == 1


@pytest.mark.parametrize("scope", ["turn", "episode"])
@pytest.mark.parametrize("on_exhaust", ["answer_only", "final_turn", "end"])
def test_an_agent_that_only_takes_free_actions_comes_to_an_end(
    session: Session, chart: Chart, scope: str, on_exhaust: str
) -> None:
    budget = {"unit": "calls", "scope": scope, "n": 3, "on_exhaust": on_exhaust}
    short = session.model_copy(update={"budget": type(session.budget).model_validate(budget)})
    episode = Episode(short, chart)
    for _ in range(4 * 7):  # three and four over, in each of four turns
        assert not episode.done
        _prepare(episode)
    assert episode.done
    assert episode.truncated
    assert episode.score == 0.0


def test_an_empty_answer_is_a_mistake(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart)
    assert episode.answer("  \n") is None
    assert episode.turn == 0
    assert episode.calls_left == 15


def test_two_writes_and_unasked_writes(session: Session, chart: Chart) -> None:
    order = {**IDS, "medication": "metformin", "dose": "250 mg", "route": "oral", "frequency": "once daily"}
    unasked = Episode(session, chart)
    unasked.call(*SEARCH)
    unasked.call("MedicationRequest.create", order)
    _prepare(unasked)
    score = unasked.answer("Creatinine 1.4 mg/dL, high.")
    assert score is not None
    assert score.reward == 0.0
    twice = Episode(session, chart)
    for _ in range(3):
        twice.answer("I do not know.")
    twice.call("MedicationRequest.create", order)
    twice.call("MedicationRequest.create", order)
    _prepare(twice)
    twice.answer("Ordered metformin 250 mg orally once daily.")
    assert twice.scores[3].reward == 0.0


def test_writes_are_read_back_and_stay_in_their_episode(session: Session, chart: Chart) -> None:
    one, other = Episode(session, chart), Episode(session, chart)
    flag = {**IDS, "category": "safety", "code": "fall risk", "detail": "unsteady"}
    order = {**IDS, "medication": "losartan", "dose": "50 mg", "route": "oral", "frequency": "daily"}
    assert one.call("Flag.create", flag).ok
    assert one.call("MedicationRequest.create", order).ok
    assert "losartan" in one.call("MedicationRequest.search", IDS).text
    assert "losartan" not in other.call("MedicationRequest.search", IDS).text
    assert one.state_hash != other.state_hash
    assert one.evidence.resources.keys() == {"MedicationRequest/rx-metformin"}


def test_forks_are_independent(session: Session, chart: Chart) -> None:
    trunk = Episode(session, chart)
    trunk.call(*SEARCH)
    before = trunk.trajectory_hash
    branch = trunk.fork()
    branch.call("patient.get_medication_adherence", {**TALK, "drug": "metformin"})
    branch.answer("Creatinine 1.4 mg/dL, high.")
    assert trunk.trajectory_hash == before
    assert trunk.turn == 0
    assert play_gold(trunk).score > 0.9


def test_pickle_and_replay_give_the_same_bytes(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart)
    episode.call(*SEARCH)
    copy = pickle.loads(pickle.dumps(episode))
    assert copy.trajectory_hash == episode.trajectory_hash
    assert play_gold(copy).trajectory_hash == play_gold(episode).trajectory_hash
    again = replay(session, chart, orjson.loads(orjson.dumps(episode.trajectory)))
    assert again.trajectory_hash == episode.trajectory_hash


def test_replay_of_mistakes_and_forced_turns(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart)
    episode.mistake("{bad", "send JSON")
    episode.answer("")
    episode.call("nonsense", "{")
    for _ in range(30):
        episode.call("Patient.read", IDS)
    episode.answer("done")
    again = replay(session, chart, episode.trajectory)
    assert again.trajectory_hash == episode.trajectory_hash


def test_interleaved_is_serial(session: Session, chart: Chart) -> None:
    serial = [play_gold(Episode(session, chart)).trajectory_hash for _ in range(4)]
    woven = [Episode(session, chart) for _ in range(64)]
    plans = [[*((c.tool, c.arguments) for c in t.gold.calls), None] for t in session.turns if t.gold]
    for number, plan in enumerate(plans):
        for step in plan:
            for episode in woven:
                if step is None:
                    _prepare(episode)
                    episode.answer(session.turns[number].gold.answers[0].get("en"))  # type: ignore[union-attr]
                else:
                    episode.call(*step)
    assert {episode.trajectory_hash for episode in woven} == set(serial)
    assert len(set(serial)) == 1


def test_gold_history_goes_on_from_gold(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart, history="gold")
    episode.answer("It is 99.")
    assert episode.scores[0].reward == 0.0
    contents = [message["content"] for message in episode.messages]
    assert "Creatinine 1.4 mg/dL, high." in contents
    assert "It is 99." not in contents
    assert set(episode.evidence.resources) >= {"Observation/cr-2"}
    assert episode.turn == 1


def test_a_trajectory_under_gold_history_keeps_what_the_agent_did(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart, history="gold")
    while not episode.done:
        if episode.turn == 1:
            episode.call("Patient.read", {"subject_id": session.chart.patient})
        episode.answer(f"An answer of my own to question {episode.turn}.")
    events = episode.trajectory["events"]
    assert [one["text"] for one in events if one["event"] == "answer"] == [
        f"An answer of my own to question {turn}." for turn in range(len(session.turns))
    ]
    assert [one["turn"] for one in events if one["event"] == "call"] == [1]
    again = replay(session, chart, episode.trajectory)
    assert again.scores == episode.scores and again.trajectory_hash == episode.trajectory_hash


def test_gold_history_is_refused_for_evaluation_sessions(session: Session, chart: Chart) -> None:
    held = session.model_copy(update={"use": "evaluation"})
    with pytest.raises(UsageError, match="evaluation"):
        Episode(held, chart, history="gold")


def test_the_wrong_chart_and_bad_settings_are_refused(session: Session, chart: Chart) -> None:
    other = session.model_copy(update={"chart": session.chart.model_copy(update={"hash": "0" * 64})})
    with pytest.raises(UsageError, match="hash"):
        Episode(other, chart)
    with pytest.raises(UsageError, match="phrasing"):
        Episode(session, chart, phrasing="loud")
    with pytest.raises(UsageError, match="2 entries for 4 turns"):
        Episode(session, chart, phrasing=["implicit", "explicit"])
    with pytest.raises(UsageError, match="language"):
        Episode(session, chart, language="fr")  # type: ignore[arg-type]


def test_after_the_end(session: Session, chart: Chart) -> None:
    episode = play_gold(Episode(session, chart))
    assert episode.query == ""
    assert episode.call(*SEARCH).error == "session_over"
    with pytest.raises(UsageError, match="over"):
        episode.answer("more")


def test_a_view_shows_no_gold_no_score_and_no_fork(session: Session, chart: Chart) -> None:
    view = Episode(session, chart).view()
    assert isinstance(view, EpisodeView)
    for hidden in ("fork", "scores", "score", "session", "chart", "trajectory", "evidence", "episode", "state_hash"):
        assert not hasattr(view, hidden)
    result = view.call(*SEARCH)
    assert isinstance(result, ToolResult)
    assert (result.resources, result.facts, result.created, dict(result.arguments)) == ((), (), None, {})
    assert view.answer("Creatinine 1.4 mg/dL, high.") is None  # type: ignore[func-returns-value]
    assert view.turn == 1


def test_messages_are_the_callers_copy_and_openai_shaped(session: Session, chart: Chart) -> None:
    episode = Episode(session, chart)
    episode.call("Observation_search", SEARCH[1], note="I look.")
    messages = episode.messages
    call = messages[-2]
    assert call["content"] == "I look."
    assert call["tool_calls"][0]["function"]["name"] == "Observation_search"
    assert orjson.loads(call["tool_calls"][0]["function"]["arguments"]) == SEARCH[1]
    assert messages[-1]["tool_call_id"] == call["tool_calls"][0]["id"]
    messages[-1]["content"] = "changed"
    assert episode.messages[-1]["content"] != "changed"

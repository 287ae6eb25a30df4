"""Trainer doors that need no trainer: a round and TRL's environment class do what `Episode` does, and show no more."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from door_actions import POLICIES, Action, as_text, mistaken, oracle, reference

from wardround.envs import Episode, WardEnv
from wardround.envs.adapters import Round, RoundConfig, dataset
from wardround.envs.adapters.trl import SESSION_END, WardEnvironment, round_of, ward_environment
from wardround.patients import TOOLS, UsageError
from wardround.sessions import Session, load_sessions, save_sessions

Door = Callable[[Session, list[Action]], tuple[float, str]]


@pytest.fixture(scope="module")
def sessions() -> tuple[Session, ...]:
    return load_sessions("ward").sessions


def _by_text(session: Session, actions: list[Action]) -> tuple[float, str]:
    played = Round(session.id)
    rewards = [played.send(as_text(action)).reward for action in actions]
    assert played.done
    assert sum(rewards) == pytest.approx(played.reward)
    return played.reward, played.trajectory_hash


def _by_calls(session: Session, actions: list[Action]) -> tuple[float, str]:
    played = Round(session.id)
    for kind, name, arguments in actions:
        step = played.call(name, arguments) if kind == "call" else played.answer(name)
    assert step.done
    return played.reward, played.trajectory_hash


def _by_trl(session: Session, actions: list[Action]) -> tuple[float, str]:
    environment = WardEnvironment()
    environment.reset(session_id=session.id, seed=0)
    for kind, name, arguments in actions:
        tool = getattr(environment, name if kind == "call" else "reply_to_physician")
        tool(**(arguments if kind == "call" else {"message": name}))
    reward = environment.get_reward()
    assert reward is not None
    return reward, round_of(environment).trajectory_hash


def _by_gymnasium(session: Session, actions: list[Action]) -> tuple[float, str]:
    env = WardEnv("ward", session=session.id)
    env.reset()
    for action in actions:
        *_, info = env.step(as_text(action))
    return info["return"], env.episode.trajectory_hash


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("door", [_by_text, _by_calls, _by_trl, _by_gymnasium])
def test_every_door_gives_the_reward_and_hash_of_the_episode(
    door: Door, policy: str, sessions: tuple[Session, ...]
) -> None:
    for session in sessions[:3]:
        actions = POLICIES[policy](session)
        episode = reference(session, actions)
        assert door(session, actions) == (episode.score, episode.trajectory_hash)


def test_the_two_policies_are_a_whole_and_a_part(sessions: tuple[Session, ...]) -> None:
    assert reference(sessions[0], oracle(sessions[0])).score == 1.0
    episode = reference(sessions[0], mistaken(sessions[0]))
    assert 0.0 < episode.score < 1.0
    events = episode.trajectory["events"]
    assert [event["forced"] for event in events if event["event"] == "answer"] == [False, False, True, False]
    assert {event.get("error") for event in events} > {"wrong_patient", "bad_arguments"}
    assert any(event["event"] == "mistake" for event in events)


def test_equal_rows_start_equal_and_one_more_call_moves_nothing(sessions: tuple[Session, ...]) -> None:
    group = [Round(sessions[4].id, seed=7) for _ in range(4)]
    assert len({str(one.prompt("text")) for one in group}) == 1
    drawn = {Round(seed=seed).session_id for seed in range(12)}
    assert len(drawn) > 4
    assert Round(seed=3).session_id == Round(seed=3).session_id


def test_rounds_in_threads_play_as_alone(sessions: tuple[Session, ...]) -> None:
    chosen = sessions[:12]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda session: _by_calls(session, mistaken(session)), chosen))
    assert together == [_by_calls(session, mistaken(session)) for session in chosen]


# -- nothing of the gold is shown ----


@pytest.fixture(scope="module")
def marked(sessions: tuple[Session, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a set whose one session carries a mark in everything that only graders may see."""
    session = sessions[0].model_dump(mode="json", by_alias=True)
    session["labels"] = {"pair": "zqx-label"}
    for turn in session["turns"]:
        turn["topic"] = "zqx-topic"
        names = {item["id"]: f"zqx-{item['id']}" for item in turn["rubric"]}
        for item in turn["rubric"]:
            item["id"], item["text"] = names[item["id"]], {"en": "zqx-text", "zh": "zqx-text"}
            item["requires"] = [names[name] for name in item["requires"]]
    path = tmp_path_factory.mktemp("marked") / "marked.jsonl"
    save_sessions(path, [Session.model_validate(session)])
    return path


def test_no_verdict_no_rubric_and_no_gold_reaches_a_policy(marked: Path) -> None:
    session = load_sessions(marked).sessions[0]
    config = RoundConfig(sessions=str(marked), charts="ward")
    environment = ward_environment(sessions=str(marked), charts="ward")()
    shown: list[str] = []
    for actions in (mistaken(session), oracle(session)):
        played = Round(session.id, config=config)
        shown += [str(played.prompt(form)) for form in ("text", "tools", "reply")] + [str(played.tools)]
        shown.append(str(environment.reset(session_id=session.id)))
        for action in actions:
            shown.append(str(played.send(as_text(action))))
            kind, name, arguments = action
            tool = getattr(environment, name if kind == "call" else "reply_to_physician")
            shown.append(str(tool(**(arguments if kind == "call" else {"message": name}))))
        assert played.done
        assert str(environment.reset(session_id=session.id)) == played.first
    text = "\n".join(shown)
    assert "zqx" not in text
    assert "verdict" not in text
    for turn in session.turns:  # what the policy of this test did not say itself is what only the gold says
        assert turn.gold is not None
        assert not any(answer.get("en") in text for answer in turn.gold.answers)


def test_sessions_for_evaluation_are_refused_by_every_door(sessions: tuple[Session, ...], tmp_path: Path) -> None:
    path = tmp_path / "held.jsonl"
    save_sessions(path, [sessions[0].model_copy(update={"use": "evaluation"})])
    config = RoundConfig(sessions=str(path), charts="ward")
    environment = ward_environment(sessions=str(path), charts="ward")()
    doors: list[Callable[[], Any]] = [
        lambda: Round(sessions[0].id, config=config),
        lambda: Round(seed=1, config=config),
        lambda: environment.reset(session_id=sessions[0].id),
        lambda: dataset(str(path), charts="ward"),
    ]
    for door in doors:
        with pytest.raises(UsageError, match="for evaluation only"):
            door()


# -- settings and rows ----


def test_a_callers_mistakes_name_the_setting_and_the_remedy(sessions: tuple[Session, ...], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown setting `langauge`.*language"):
        RoundConfig.of({"langauge": "zh"})
    with pytest.raises(UsageError, match="`language` is `fr`"):
        Round(seed=0, config=RoundConfig.of({"language": "fr"}))
    own = tmp_path / "own.jsonl"
    save_sessions(own, sessions[:1])
    with pytest.raises(UsageError, match="`charts` is not given"):
        Round(sessions[0].id, config=RoundConfig(sessions=str(own)))
    with pytest.raises(UsageError, match="`form` is `chat`"):
        Round(seed=0).prompt("chat")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="reset"):
        WardEnvironment().get_reward()


def test_a_rows_prompt_is_kept_completed_or_refused(sessions: tuple[Session, ...]) -> None:
    played = Round(sessions[1].id)
    own = played.prompt("text")
    assert played.opening(own, "text") == own
    assert played.opening(None, "text") == own
    mine = [{"role": "system", "content": "Be brief."}]
    assert played.opening(mine, "text") == [*mine, {"role": "user", "content": played.first}]
    other = Round(sessions[1].id, config=RoundConfig(language="zh")).prompt("text")
    with pytest.raises(UsageError, match="language `en` and phrasing `implicit`"):
        played.opening(other, "text")


# -- TRL's environment class ----


def _public(environment: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(environment) if not name.startswith("_")}


def test_only_tools_and_what_trl_asks_for_are_public() -> None:
    assert _public(WardEnvironment) == {
        "reset", "get_reward", "reply_to_physician", *(spec.alias for spec in TOOLS.values()),
    }  # fmt: skip
    # as TRL 1.16 finds tools: functions of the class, called by keyword under their own names
    found = dict(inspect.getmembers(WardEnvironment, inspect.isfunction))
    for spec in TOOLS.values():
        tool = found[spec.alias]
        assert tool.__name__ == spec.alias
        parameters = inspect.signature(tool).parameters
        assert list(parameters)[1:] == list(spec.schema["properties"])
        needed = [name for name, one in parameters.items() if one.default is inspect.Parameter.empty][1:]
        assert needed == spec.schema["required"]
        for name, argument in spec.schema["properties"].items():
            assert f"{name}: {argument['description']}" in (tool.__doc__ or "")


def test_the_class_offers_what_sessions_of_its_set_offer(sessions: tuple[Session, ...], tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    more = (*TOOLS, "files.write")
    save_sessions(path, [sessions[0].model_copy(update={"tools": more}), sessions[1]])
    made = ward_environment("Mine", sessions=str(path), charts="ward", language="zh")
    assert made.__name__ == "Mine"
    assert _public(made) - _public(WardEnvironment) == {"files_write"}
    environment: Any = made()
    assert "患者" in environment.reset(session_id=sessions[1].id)
    assert "files" in environment.files_write(path="a.txt", content="x")  # not offered in this session
    assert round_of(environment).calls_left == 15


def test_an_instance_plays_one_round_after_another_and_the_reward_is_idempotent(sessions: tuple[Session, ...]) -> None:
    environment: Any = WardEnvironment()
    first = environment.reset(session_id=sessions[0].id, seed=1, prompt=[{"role": "user", "content": ""}])
    assert environment.get_reward() == 0.0
    for kind, name, arguments in oracle(sessions[0]):
        said = (
            getattr(environment, name)(**arguments) if kind == "call" else environment.reply_to_physician(message=name)
        )
        assert environment.get_reward() == environment.get_reward()
    assert said == SESSION_END
    assert environment.get_reward() == 1.0
    assert environment.Patient_read(subject_id="x") == SESSION_END
    assert environment.reply_to_physician(message="more") == SESSION_END
    assert environment.get_reward() == 1.0
    assert environment.reset(session_id=sessions[0].id, seed=1) == first
    assert environment.get_reward() == 0.0


def test_rewards_grow_only_when_a_question_is_closed(sessions: tuple[Session, ...]) -> None:
    environment: Any = WardEnvironment()
    environment.reset(session_id=sessions[2].id)
    seen = [0.0]
    for kind, name, arguments in oracle(sessions[2]):
        getattr(environment, name)(**arguments) if kind == "call" else environment.reply_to_physician(message=name)
        assert (environment.get_reward() > seen[-1]) == (kind == "answer")
        seen.append(environment.get_reward())
    assert all(later >= earlier for earlier, later in pairwise(seen))


def test_what_is_no_answer_costs_a_call_and_says_what_to_send(sessions: tuple[Session, ...]) -> None:
    environment: Any = WardEnvironment()
    environment.reset(session_id=sessions[0].id)
    for sent in ({}, {"message": 3}, {"message": "yes", "to": "physician"}, {"text": "yes"}):
        assert "reply_to_physician takes one argument" in environment.reply_to_physician(**sent)
    assert "empty" in environment.reply_to_physician(message=" ")
    assert round_of(environment).calls_left == 11
    assert round_of(environment).turn == 0


def test_a_round_that_ends_by_itself_says_so_at_once(sessions: tuple[Session, ...]) -> None:
    environment: Any = WardEnvironment()
    environment.reset(session_id=sessions[0].id)
    shown = [environment.Patient_read(subject_id="nobody") for _ in range(80)]
    assert shown[79].endswith(SESSION_END)
    assert not any(SESSION_END in text for text in shown[:79])
    assert sum("closed without an answer" in text for text in shown) == 4
    assert round_of(environment).truncated
    assert environment.get_reward() == 0.0


def test_rows_for_trl_ask_the_first_question_once(sessions: tuple[Session, ...]) -> None:
    row = next(iter(dataset(form="reply")))
    environment: Any = WardEnvironment()
    assert environment.reset(**row, licence="CC0-1.0") is None
    assert "reply_to_physician" in row["prompt"][0]["content"]
    assert "Patient_read" not in row["prompt"][0]["content"]  # TRL shows the tools itself


def test_a_round_is_an_episode_and_no_more(sessions: tuple[Session, ...]) -> None:
    public = {name for name in dir(Round) if not name.startswith("_")}
    assert not public & {"episode", "session", "scores", "score", "verdicts", "info", "trajectory", "gold", "fork"}
    assert isinstance(Round(sessions[0].id)._episode, Episode)

"""The Gymnasium environment: the checker, vectors, seeds, options, hostile actions, copies."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import orjson
import pytest
from gymnasium.utils.env_checker import check_env

import wardround
from wardround.envs import SPEAKERS, WardEnv
from wardround.patients import ChartBuilder, ChartStore, StoreWriter, UsageError
from wardround.sessions import SessionSet, load_sessions

ID = "wardround/PhysAssist-v0"


def _make(**kwargs: Any) -> WardEnv:
    env = wardround.make(ID, **kwargs).unwrapped
    assert isinstance(env, WardEnv)
    return env


def _gold_actions(env: WardEnv) -> list[str]:
    episode = env.episode
    gold = episode.session.turns[episode.turn].gold
    assert gold is not None
    calls = [orjson.dumps({"tool": call.tool, "arguments": call.arguments}).decode() for call in gold.calls]
    prepare = '{"tool": "prepare_to_answer", "arguments": {"answer_type": "chat"}}'
    return [*calls, prepare, gold.answers[0].get(episode.settings.language)]


@pytest.mark.parametrize("phrasing", ["explicit", "implicit"])
def test_check_env_has_nothing_to_say(phrasing: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(_make(phrasing=phrasing))


def test_gold_returns_one_and_terminates() -> None:
    env = _make()
    env.reset(seed=1)
    total, terminated, truncated, info = 0.0, False, False, {}
    while not terminated:
        for action in _gold_actions(env):
            observation, reward, terminated, truncated, info = env.step(action)
            total += float(reward)
            assert observation in env.observation_space
    assert total == pytest.approx(1.0)
    assert not truncated
    assert info["return"] == pytest.approx(1.0)
    with pytest.raises(gym.error.ResetNeeded):
        env.step("more")


def test_rewards_come_only_when_a_turn_closes() -> None:
    env = _make()
    _, info = env.reset(seed=2)
    keys = set(info)
    first, *_, last = _gold_actions(env)
    observation, reward, terminated, _, info = env.step(first)
    assert (reward, terminated, info["turn_closed"], info["verdicts"]) == (0.0, False, 0.0, "")
    assert SPEAKERS[observation["speaker"]] == "tool"
    observation, reward, _, _, info = env.step(last)
    assert set(info) == keys
    assert info["turn_closed"] == 1.0
    assert reward == pytest.approx(info["turn_reward"] / 4)
    assert {verdict["item"] for verdict in orjson.loads(info["verdicts"])}
    assert SPEAKERS[observation["speaker"]] == "physician"
    assert "episode" not in keys


@pytest.mark.parametrize("vector", ["sync", "async"])
def test_vector_environments(vector: str) -> None:
    extra = {"vector_kwargs": {"shared_memory": False}} if vector == "async" else {}
    envs = gym.make_vec(ID, num_envs=2, vectorization_mode=vector, phrasing="explicit", **extra)
    try:
        observations, _ = envs.reset(seed=[1, 2])
        single = [_make(phrasing="explicit") for _ in range(2)]
        for number, env in enumerate(single):
            assert env.reset(seed=number + 1)[0]["text"] == observations["text"][number]
        for action in ("血钾多少？", '{"tool": "Patient.read", "arguments": {}}', "K is 4.2 mmol/L, normal."):
            observations, rewards, *_ = envs.step((action, action))
            for number, env in enumerate(single):
                observation, reward, *_ = env.step(action)
                assert observation["text"] == observations["text"][number]
                assert reward == rewards[number]
    finally:
        envs.close()


def test_seeds_and_options() -> None:
    env = _make()
    names = [session.id for session in load_sessions("ward")]
    assert env.reset(seed=3)[1]["session"] == _make().reset(seed=3)[1]["session"]
    assert {env.reset(seed=seed)[1]["session"] for seed in range(40)} > {names[0]}
    assert env.reset(seed=3, options={"session": names[-1]})[1]["session"] == names[-1]
    assert env.reset(options={"sessions": names[:2]})[1]["session"] in names[:2]
    split = load_sessions("ward").get(names[0]).split
    assert load_sessions("ward").get(env.reset(options={"split": split})[1]["session"]).split == split
    fixed = _make(session=names[1])
    assert fixed.reset()[1]["session"] == names[1]
    assert fixed.reset(options={"session": names[2]})[1]["session"] == names[2]


def test_bad_options_name_themselves() -> None:
    env = _make()
    with pytest.raises(ValueError, match="`sesion`"):
        env.reset(options={"sesion": "x"})
    with pytest.raises(ValueError, match="one of the options"):
        env.reset(options={"session": "x", "split": "y"})
    with pytest.raises(UsageError, match="no session `x`"):
        env.reset(options={"session": "x"})
    with pytest.raises(UsageError, match="no session to draw from"):
        _make(split="nowhere")
    with pytest.raises(UsageError, match="render_mode"):
        WardEnv(render_mode="human")


HOSTILE = [
    "",
    " \n",
    "患者血钾 4.2 mmol/L，正常。",
    "a\x00b",
    "a\ud800b",
    '{"tool": "Patient.read", "arguments": {"subject_id": "\ud800"}}',
    "[" * 500_000,
    '{"tool": "Patient.read", "arguments": {"subject_id": ' + "9" * 5000 + "}}",
    '{"tool": "Patient.read", "arguments": {"subject_id": ' + "[" * 900 + "]" * 900 + "}}",
    "creatinine 1.2 " * 70_000,
    "9" * 5000 + " mg/dL",
    '<tool_call>{"name": "Patient.read", "arguments": {"subject_id": "nobody"}}</tool_call>',
    'I will look.\n```json\n{"tool": "Patient.read", "arguments": {"subject_id": "nobody"}}\n```',
    '{"tool": "Patient.read", "answer": "x"}',
    '{"tool": "a", "tool": "b"}',
    '{"tool": "Patient.read", "arguments": {"x": NaN}}',
    "{not json",
    "[]",
    "{}",
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_actions_are_observations_or_answers(number: int) -> None:
    env = _make()
    env.reset(seed=0)
    observation, reward, terminated, truncated, _ = env.step(HOSTILE[number])
    assert observation in env.observation_space
    assert observation["text"]
    assert reward == 0.0
    assert not terminated
    assert not truncated
    assert orjson.dumps(env.episode.trajectory)


def test_a_refused_action_costs_one_call_and_an_answer_closes_the_turn() -> None:
    env = _make()
    env.reset(seed=0)
    observation, *_, info = env.step("{not json")
    assert (observation["turn"], observation["calls_left"], info["mistake"]) == (0, 15, "bad_action")
    observation, *_, info = env.step("It is fine.")
    assert (observation["turn"], info["mistake"], info["turn_closed"]) == (1, "", 1.0)


def test_several_calls_in_one_message_each_cost_one() -> None:
    env = _make()
    env.reset(seed=0)
    subject = env.episode.subject["subject_id"]
    call = f'<tool_call>{{"name": "Patient_read", "arguments": {{"subject_id": "{subject}"}}}}</tool_call>'
    observation, *_ = env.step("Two reads. " + call * 2)
    assert observation["calls_left"] == 14
    assert len(observation["text"].split("\n")) == 2


def test_a_policy_that_only_calls_is_truncated() -> None:
    env = _make()
    env.reset(seed=0)
    steps, terminated, truncated = 0, False, False
    while not (terminated or truncated):
        _, _, terminated, truncated, _ = env.step('{"tool": "Nothing.search", "arguments": {}}')
        steps += 1
    assert steps == 80
    assert truncated
    assert not terminated


def test_copies_go_their_own_way() -> None:
    env = _make()
    env.reset(seed=5)
    env.step('{"tool": "prepare_to_answer", "arguments": {}}')
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    env.step("An answer.")
    for twin in twins:
        assert twin.episode.turn == 0
        twin.step("An answer.")
        assert twin.episode.trajectory_hash == env.episode.trajectory_hash


def test_render_and_close() -> None:
    env = _make(render_mode="ansi")
    observation, _ = env.reset(seed=0)
    assert env.render() == observation["text"]
    env.close()
    env.close()
    with pytest.raises(gym.error.ResetNeeded):
        env.step("x")


def test_own_set_and_store(tmp_path: Path) -> None:
    from wardround import load_charts
    from wardround.sessions import save_sessions

    store = load_charts("ward")
    path = tmp_path / "two.jsonl"
    save_sessions(path, load_sessions("ward").sessions[:2])
    env = WardEnv(path, charts=store)
    assert isinstance(store, ChartStore)
    assert env.reset(seed=0)[1]["session"] in {session.id for session in load_sessions(path)}


def test_chinese_rounds_speak_chinese(session_set: SessionSet, builder: ChartBuilder, tmp_path: Path) -> None:
    path = tmp_path / "hand.sqlite"
    with StoreWriter(path, licence="CC0-1.0") as writer:
        writer.add_packed(builder.packed())
    env = WardEnv(session_set, charts=path, language="zh")
    observation, _ = env.reset(seed=0)
    for words in ("患者", "64 岁", "女", "最近的肌酐是多少？"):
        assert words in observation["text"]
    assert "查房" in env.system_prompt
    total, terminated = 0.0, False
    while not terminated:
        for action in _gold_actions(env):
            observation, reward, terminated, _, _ = env.step(action)
            total += float(reward)
    assert total == pytest.approx(1.0)
    assert observation["text"] == "查房结束，谢谢。"

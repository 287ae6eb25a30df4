"""What broke doors: rounds that cannot be opened, calls that no JSON holds, data that need an agreement, damage."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from wardround import load_charts, load_sessions
from wardround.envs import Episode, replay
from wardround.envs.adapters import Round, RoundConfig, dataset
from wardround.envs.adapters.round import opened
from wardround.envs.adapters.trl import WardEnvironment, round_of
from wardround.patients import DataError, UsageError

SESSION = "s-ward-session-a"


def test_a_round_that_cannot_be_opened_leaves_nothing_of_the_one_before() -> None:
    environment: Any = WardEnvironment()
    environment.reset(session_id=SESSION, seed=None)
    environment.reply_to_physician(message="Potassium 4.6 mEq/L")
    with pytest.raises(UsageError, match="no session"):
        environment.reset(session_id=["no-such"])
    for step in (environment.get_reward, lambda: environment.reply_to_physician(message="x")):
        with pytest.raises(UsageError, match="reset"):
            step()


def test_a_reply_that_no_json_holds_is_a_mistake() -> None:
    environment: Any = WardEnvironment()
    deep: Any = {}
    for _ in range(5000):
        deep = {"a": deep}
    environment.reset(session_id=SESSION)
    for number, wrong in enumerate((10**30, deep, {"x": "\ud800"}, float("nan")), start=1):
        assert "message" in environment.reply_to_physician(message=wrong)
        assert round_of(environment).calls_left + number == Round(SESSION).calls_left
    assert "message" in environment.reply_to_physician(message="x", more="\ud800")


def test_no_door_gives_away_data_that_need_an_agreement(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions, store = opened("ward", None)
    chart = store.chart(sessions.get(SESSION).chart.patient)
    monkeypatch.setattr(chart, "licence", "credentialed")
    for start in (lambda: Round(SESSION), lambda: WardEnvironment().reset(session_id=SESSION)):
        with pytest.raises(UsageError, match="data_agreement"):
            start()
    assert Round(SESSION, config=RoundConfig(data_agreement="DUA 12")).turn == 0
    assert next(iter(dataset()))["session_id"] == SESSION  # a file, which says its licence


@pytest.mark.parametrize("values", [{"sessions": ["ward"]}, {"sessions": 5}, {"phrasing": None}, {"view": 1}])
def test_a_setting_that_is_no_text_is_named(values: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"`{next(iter(values))}`"):
        RoundConfig.of(values)


def test_seeds_of_rows_fit_their_files() -> None:
    with pytest.raises(UsageError, match="64 bits"):
        dataset(seed=1 << 63)


def test_a_damaged_trajectory_names_its_field() -> None:
    session = load_sessions("ward").get(SESSION)
    chart = load_charts("ward").chart(session.chart.patient)
    episode = Episode(session, chart)
    episode.call("Patient.read", {"subject_id": session.chart.patient})
    episode.answer("x")
    whole = episode.trajectory
    assert replay(session, chart, whole).trajectory == whole
    damages: list[tuple[tuple[str | int, ...], Any]] = [
        (("events",), None),
        (("events", 1), 5),
        (("events", 1, "tool"), 5),
        (("events", 1, "event"), "guess"),
        (("events", 2, "text"), None),
        (("plan",), None),
        (("phrasing",), 5),
    ]
    for (*way, last), wrong in damages:
        damaged: Any = copy.deepcopy(whole)
        inner = damaged
        for name in way:
            inner = inner[name]
        inner[last] = wrong
        with pytest.raises(DataError, match=r"events|plan|phrasing"):
            replay(session, chart, damaged)

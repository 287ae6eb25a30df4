"""Paired conditions: agents whose differences are known beforehand, and what cannot be varied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.agents import EvaluationPlan, How, ablate, rescore
from wardround.agents.checking import languages_of
from wardround.patients import ChartStore, UsageError
from wardround.sessions import SessionSet

LIMIT = 6
AGENT = "ablation_agents:"


def _plan(*agents: str, **more: Any) -> EvaluationPlan:
    return EvaluationPlan(**{"sessions": "ward", "agents": [AGENT + name for name in agents], "limit": LIMIT, **more})


def _found(report: dict[str, Any], vary: str, label: str, agent: str) -> dict[str, Any]:
    (one,) = [
        one
        for one in report["comparisons"]
        if (one["vary"], one["label"], one["agent"]) == (vary, label, AGENT + agent)
    ]
    return one


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    out = tmp_path_factory.mktemp("ablation")
    plan = _plan("forgetful", "resentful", "gold", "sinologist")
    return ablate(plan, out, ("phrasing", "turn", "history", "interview", "language")), out


def test_each_condition_is_played_once_in_a_folder_of_its_own(whole: tuple[dict[str, Any], Path]) -> None:
    report, out = whole
    names = [run["name"] for run in report["conditions"]]
    assert names == [
        "explicit-en-self-on",
        "implicit-en-self-on",
        "implicit@1-en-self-on",
        "implicit@2-en-self-on",
        "implicit@3-en-self-on",
        "implicit-en-gold-on",
        "implicit-en-self-off",
        "implicit-zh-self-on",
    ]
    assert sorted(path.name for path in out.iterdir()) == sorted([*names, "ablation.json"])
    stored = orjson.loads((out / "ablation.json").read_bytes())
    assert stored == orjson.loads(orjson.dumps({name: value for name, value in report.items() if name != "out"}))


def test_the_implicit_penalty_is_what_the_agent_was_made_to_lose(
    whole: tuple[dict[str, Any], Path], ward_sessions: SessionSet
) -> None:
    report, _ = whole
    implicit = [
        (session.id, turn.implicitness)
        for session in ward_sessions.sessions[:LIMIT]
        for turn in session.turns
        if turn.implicitness
    ]
    for subtype in ("NA", "PE", "AE"):
        turns = [name for name, kind in implicit if kind == subtype]
        for vary, label in (("phrasing", subtype), ("turn", f"{subtype}, implicit alone")):
            one = _found(report, vary, label, "forgetful")
            assert (one["difference"], one["pairs"], one["sessions"]) == (-1.0, len(turns), len(set(turns)))
            # every session moves the same way: 2 of the 2^n assignments of signs are as far from 0
            assert one["p"] == 2 / 2 ** len(set(turns))
            assert one["p"] <= one["q"] <= 1
            assert _found(report, vary, label, "gold")["difference"] == 0.0
    assert _found(report, "phrasing", "not reworded", "forgetful")["difference"] == 0.0


def test_one_implicit_turn_costs_that_turn_alone(whole: tuple[dict[str, Any], Path]) -> None:
    report, _ = whole
    for turn in (1, 2, 3):
        one = _found(report, "turn", f"turn {turn}", "forgetful")
        assert (one["first"], one["second"], one["difference"]) == ("explicit", f"implicit@{turn}", -1.0)
        assert one["interval"] == [-1.0, -1.0] or one["interval"] == (-1.0, -1.0)
    for turn in (1, 2):
        assert _found(report, "turn", f"after turn {turn}", "forgetful")["difference"] == 0.0


def test_gold_history_takes_the_own_mistakes_back(whole: tuple[dict[str, Any], Path]) -> None:
    report, _ = whole
    for turn in (1, 2, 3):
        one = _found(report, "history", f"turn {turn}", "resentful")
        assert (one["first"], one["second"], one["difference"], one["pairs"]) == ("self", "gold", 1.0, LIMIT)
    assert _found(report, "history", "all turns", "resentful")["difference"] == 0.75
    assert _found(report, "history", "all turns", "gold")["difference"] == 0.0


def test_without_the_interview_the_patients_turns_are_lost(
    whole: tuple[dict[str, Any], Path], ward_sessions: SessionSet
) -> None:
    report, out = whole
    asked = sum(
        turn.source in ("patient", "mixed") for session in ward_sessions.sessions[:LIMIT] for turn in session.turns
    )
    one = _found(report, "interview", "interview turns", "gold")
    assert (one["first"], one["second"], one["pairs"]) == ("on", "off", asked)
    assert one["difference"] < -0.3
    assert _found(report, "interview", "other turns", "gold")["difference"] == 0.0
    line = (out / "implicit-en-self-off" / "trajectories.jsonl").read_bytes().splitlines()[0]
    assert orjson.loads(line)["trajectory"]["interview"] is False


def test_what_is_passed_in_one_language_only(whole: tuple[dict[str, Any], Path], ward_sessions: SessionSet) -> None:
    report, _ = whole
    both = sum(len(languages_of(session)) == 2 for session in ward_sessions.sessions[:LIMIT])
    assert both == LIMIT - 1
    assert [(one["vary"], one["sessions"]) for one in report["skipped"]] == [("language", 1)]
    chinese, english = [one for one in report["one_language_only"] if one["agent"] == AGENT + "sinologist"]
    assert (chinese["passed_in"], chinese["failed_in"]) == ("zh", "en")
    assert chinese["turns"] == 2 * both
    assert chinese["failures"]["refusal"] == both  # turn 0
    silent = chinese["failures"]["too_few_calls"] + chinese["failures"]["antecedent_missed"]
    assert silent == both  # turn 1, of which no answer speaks and no call is made
    assert chinese["share"] == {"too_few_calls": 1.0, "refusal": 0.5}
    assert (english["turns"], english["share"]["refusal"]) == (0, None)


def test_the_same_bytes_after_a_kill(tmp_path: Path) -> None:
    plan = EvaluationPlan(sessions="ward", agents=("random",), limit=3)
    ablate(plan, tmp_path / "one", ("phrasing",))
    first = (tmp_path / "one/ablation.json").read_bytes()
    half = tmp_path / "one/implicit-en-self-on/parts/serial.jsonl"
    half.write_bytes(half.read_bytes()[:-20])
    (tmp_path / "one/ablation.json").unlink()
    ablate(plan, tmp_path / "one", ("phrasing",), How(resume=True))
    assert (tmp_path / "one/ablation.json").read_bytes() == first


def test_gold_history_only_where_use_allows_it(ward: ChartStore, ward_sessions: SessionSet, tmp_path: Path) -> None:
    first, second = ward_sessions.sessions[:2]
    closed = first.model_copy(update={"use": "evaluation"})
    mixed = _plan("gold", sessions=SessionSet([closed, second], "ward"), charts=ward)
    report = ablate(mixed, tmp_path / "mixed", ("history",))
    assert [run["sessions"] for run in report["conditions"]] == [1, 1]
    assert report["skipped"][0]["sessions"] == 1
    only = _plan("gold", sessions=SessionSet([closed], "ward"), charts=ward)
    with pytest.raises(UsageError, match="history` cannot be varied on these sessions: gold history"):
        ablate(only, tmp_path / "only", ("history",))
    assert not (tmp_path / "only").exists()


@pytest.mark.parametrize(
    ("change", "vary", "said"),
    [
        ({}, ("wording",), "`wording` cannot be varied; name some of phrasing, turn"),
        ({}, (), "`vary` is empty"),
        ({}, ("turn", "turn"), "names one twice"),
        ({"languages": ("en", "zh")}, ("phrasing",), "one phrasing and one language"),
        ({"history": "gold"}, ("phrasing",), "starts from history=self"),
    ],
)
def test_refusals_name_the_remedy(change: dict[str, Any], vary: tuple[str, ...], said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        ablate(_plan("gold", **change), tmp_path / "none", vary)


def test_rescore_plays_such_runs_again(whole: tuple[dict[str, Any], Path], tmp_path: Path) -> None:
    """Records with `usage`, one implicit turn, no interview, gold history, a model that failed."""
    report, out = whole
    stored = {run["name"]: run["trajectory_hash"] for run in report["conditions"]}
    for name in ("implicit@1-en-self-on", "implicit-en-self-off", "implicit-en-gold-on"):
        again = rescore(out / name)
        assert (again["changed"], again["trajectory_hash"]) == ([], stored[name])
        assert all(row["usage"]["actions"] > 0 for row in again["results"])
    lost = ablate(_plan("broken", limit=2), tmp_path / "broken", ("phrasing",))
    assert [one["outcome"] for one in lost["errors"]] == ["endpoint_error", "endpoint_error"]
    again = rescore(tmp_path / "broken/implicit-en-self-on")
    assert again["changed"] == []
    (row,) = again["results"]
    assert row["outcomes"] == {"endpoint_error": 2}
    assert row["usage"]["requests"] == 4
    assert sum(row["failures"].values()) == 2  # the first turn of each; what was not reached has no category

"""Figures of a run, against values worked out by hand and against brute force."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients import UsageError
from wardround.rubrics import (
    TurnResult,
    bootstrap,
    breakdown,
    breakdowns,
    deltas,
    mean_rubric_score,
    pass_at_k,
    pass_curve,
    pass_hat_k,
    pass_session,
    pass_turn,
    summarise,
)


def session(name, *rewards, **more):
    return [TurnResult(session=name, turn=turn, reward=reward, **more) for turn, reward in enumerate(rewards)]


RUN = [*session("s1", 1.0, 1.0, 0.75, 0.6), *session("s2", 1.0, 0.5, 0.0, 0.5)]


def test_scores_and_passes():
    assert mean_rubric_score(RUN) == pytest.approx((0.8375 + 0.5) / 2)
    assert pass_turn(RUN, "0.60") == 5 / 8
    assert pass_turn(RUN, "0.75") == 4 / 8
    assert pass_session(RUN, "0.60") == 1 / 2
    assert pass_session(RUN, "0.75") == 0.0


def test_three_fifths_pass_the_threshold():
    assert pass_turn(session("s", 3 / 5, (3 * (5 + 2)) / (5 * (5 + 2))), "0.60") == 1.0


def test_summary_has_the_keys_of_the_report():
    found = summarise(RUN)
    assert {"mrs", "r_plain", "pass_turn", "pass_session", "ungraded", "unreadable", "calls_per_turn"} <= set(found)
    assert set(found["pass_turn"]) == set(found["pass_session"]) == {"0.60", "0.75"}
    low, high = found["mrs_interval"]
    assert low <= found["mrs"] <= high


def test_order_plays_no_part():
    assert summarise(RUN) == summarise(RUN[::-1])


def test_nothing_gives_none_and_never_0():
    found = summarise([])
    assert found["mrs"] is None
    assert found["pass_turn"] == {"0.60": None, "0.75": None}
    assert found["mrs_interval"] is None
    assert deltas(RUN) == {"NA": None, "PE": None, "AE": None}


def test_ungraded_turns_are_left_out_and_counted_apart():
    lost = TurnResult(session="s1", turn=4, reward=0.0, valid=False, ungraded=1, unreadable=2)
    found = summarise([*RUN, lost])
    assert found["mrs"] == summarise(RUN)["mrs"]
    assert found["ungraded"] == 1
    assert found["unreadable"] == 2
    assert found["pass_session"]["0.60"] == 0.0, "s1 is open, s2 failed whatever the lost turn was"


def test_the_curve_falls():
    curve = pass_curve(RUN)
    for values in curve.values():
        shares = list(values.values())
        assert shares[0] == 1.0
        assert shares == sorted(shares, reverse=True)


def test_deltas_pair_the_very_same_turns():
    explicit = session("s1", 1.0, 0.8, 0.6, 1.0, phrasing="explicit")
    kinds = [None, "PE", "PE", "AE"]
    implicit = [
        TurnResult(session="s1", turn=turn, reward=reward, implicitness=kind)
        for turn, (reward, kind) in enumerate(zip([1.0, 0.6, 0.6, 0.5], kinds, strict=True))
    ]
    alone = TurnResult(session="s2", turn=1, reward=0.0, implicitness="PE")
    assert deltas([*explicit, *implicit, alone]) == {"NA": None, "PE": -0.1, "AE": -0.5}


def trials(passes):
    return [TurnResult(session="s", turn=0, reward=float(ok), trial=trial) for trial, ok in enumerate(passes)]


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.data())
def test_pass_at_k_is_the_mean_over_all_choices_of_k_trials(passes, data):
    k = data.draw(st.integers(1, len(passes)))
    picks = list(combinations(passes, k))
    assert pass_at_k(trials(passes), k) == pytest.approx(sum(any(pick) for pick in picks) / len(picks))
    assert pass_hat_k(trials(passes), k) == pytest.approx(sum(all(pick) for pick in picks) / len(picks))


def test_pass_at_k_needs_k_trials():
    assert pass_at_k(trials([True]), 2) is None
    with pytest.raises(UsageError, match="at least 1"):
        pass_at_k(trials([True]), 0)


def test_breakdowns():
    turns = [
        TurnResult(session="s", turn=0, reward=1.0, task="IL", source="ehr", tier="rich"),
        TurnResult(session="s", turn=1, reward=0.5, task="DG", source="mixed", tier="rich", implicitness="AE"),
        TurnResult(session="s", turn=2, reward=0.0, task="DG", source="patient", tier="rich", implicitness="AE"),
    ]
    found = breakdowns(turns)
    assert found["source"]["interview"]["reward"] == 0.25
    assert found["source"]["ehr"]["turns"] == 1
    assert found["implicitness_task"]["AE × DG"]["turns"] == 2
    assert set(found["implicitness_task"]) == {"none × IL", "AE × DG"}
    with pytest.raises(UsageError, match="no field"):
        breakdown(turns, "colour")


def test_the_interval_is_the_same_every_time_and_narrows_with_sessions():
    few = [turn for n in range(5) for turn in session(f"s{n}", n / 4)]
    many = [turn for n in range(200) for turn in session(f"s{n}", (n % 5) / 4)]
    assert bootstrap(few, seed=3) == bootstrap(few[::-1], seed=3)
    uneven = [turn for n in range(97) for turn in session(f"s{n}", n * n % 89 / 89)]
    assert bootstrap(uneven, seed=3) != bootstrap(uneven, seed=4)
    (a, b), (c, d) = bootstrap(few), bootstrap(many)
    assert a < c <= 0.5 <= d < b


def test_the_interval_resamples_whole_sessions():
    twice = [turn for trial in range(8) for turn in session("s1", 0.0, trial=trial) + session("s2", 1.0, trial=trial)]
    assert bootstrap(twice) == (0.0, 1.0), "16 episodes of 2 sessions are 2 independent cases"


def test_too_few_replicates_are_refused():
    with pytest.raises(UsageError, match="at least 40"):
        bootstrap(RUN, replicates=10)


def test_another_agents_turns_are_another_episode():
    both = [*session("s1", 1.0, 1.0, agent="a"), *session("s1", 0.0, 0.0, agent="b")]
    assert mean_rubric_score(both) == 0.5
    assert pass_session(both, "0.60") == 0.5

"""Paired comparisons against published worked examples and against brute force."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients import Stream, UsageError
from wardround.rubrics import TurnResult, benjamini_hochberg, compare, comparisons, passes, sign_flip

DARWIN = (49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48)
"""Darwin's maize, crossed minus self-fertilised, in eighths of an inch (Fisher, The Design of Experiments, §17)."""


def test_fishers_exact_permutation_of_darwins_maize():
    # §21: in 863 of the 32,768 assignments the sum is as great as 314; two-sided twice that.
    assert sum(DARWIN) == 314
    assert sign_flip(DARWIN, Stream("unused")) == 2 * 863 / 32768


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=9))
def test_signs_are_counted_as_by_hand(sums):
    choices = product((1, -1), repeat=len(sums))
    totals = [sum(sign * abs(value) for sign, value in zip(signs, sums, strict=True)) for signs in choices]
    expected = sum(abs(total) >= abs(sum(sums)) for total in totals) / len(totals)
    assert sign_flip(sums, Stream("unused")) == expected


def test_drawn_signs_come_close_to_the_exact_figure():
    # 17 units are drawn; with a 0 beside 16 others they are counted: the two figures must agree.
    values = [*range(1, 17), -40]
    moved = sum(
        abs(sum(sign * abs(value) for sign, value in zip(signs, values, strict=True))) >= abs(sum(values))
        for signs in product((1, -1), repeat=len(values))
    )
    assert sign_flip(values, Stream("test", 1)) == pytest.approx(moved / 2 ** len(values), abs=0.02)


def test_benjamini_and_hochbergs_own_example():
    # Benjamini & Hochberg 1995, section 3.1: of these 15 the four smallest are rejected at 0.05 (Bonferroni: three).
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
    q = benjamini_hochberg(p)
    assert [value <= 0.05 for value in q] == [True] * 4 + [False] * 11
    assert q == sorted(q) and q[-1] == 1.0


def test_adjustment_ignores_the_order_and_what_was_not_tested():
    assert benjamini_hochberg([0.04, 0.01, None, 0.03]) == [0.04, 0.03, None, 0.04]
    assert benjamini_hochberg([None]) == [None] and benjamini_hochberg([]) == []


def turns(phrasing, *rewards, agent="a", subtype="NA", **more):
    return [
        TurnResult(session=f"s{n}", turn=0, reward=value, phrasing=phrasing, agent=agent, implicitness=subtype, **more)
        for n, value in enumerate(rewards)
    ]


def test_the_same_turns_are_compared():
    found = compare(
        [*turns("explicit", 1.0, 1.0, 0.5, 1.0), *turns("implicit", 0.5, 1.0, 0.0)], "phrasing", "explicit", "implicit"
    )
    assert (found.sessions, found.pairs) == (3, 3)  # the fourth was never played implicitly
    assert found.difference == pytest.approx(-1 / 3)
    assert found.interval is not None and found.interval[0] <= found.difference <= found.interval[1]
    assert found.p == 0.5  # two sessions moved, both the same way: 2 of 4 assignments


def test_turns_of_one_session_move_together():
    first = [TurnResult(session="s", turn=turn, reward=1.0, agent="a") for turn in range(20)]
    second = [TurnResult(session="s", turn=turn, reward=0.0, agent="b") for turn in range(20)]
    found = compare([*first, *second], "agent", "a", "b")
    assert (found.sessions, found.pairs, found.difference, found.p) == (1, 20, -1.0, 1.0)
    assert found.interval is None


def test_an_ungraded_turn_is_no_pair():
    found = compare(
        [*turns("explicit", 1.0, 1.0), *turns("implicit", 0.0, 0.0, valid=False)], "phrasing", "explicit", "implicit"
    )
    assert (found.pairs, found.difference, found.p) == (0, None, None)


def test_passing_can_be_compared():
    found = compare(
        [*turns("explicit", 0.6, 0.7), *turns("implicit", 0.59, 0.9)],
        "phrasing", "explicit", "implicit", measure=passes("0.60"),
    )  # fmt: skip
    assert found.difference == -0.5


def test_a_run_reports_phrasing_and_agents_together():
    run = [
        *turns("explicit", *[1.0] * 12), *turns("implicit", *[0.5] * 12),
        *turns("explicit", *[1.0] * 12, agent="b"), *turns("implicit", *[1.0] * 12, agent="b"),
    ]  # fmt: skip
    found = {(one.label, one.first, one.second): one for one in comparisons(run)}
    assert set(found) == {
        ("a: all turns", "explicit", "implicit"), ("a: NA", "explicit", "implicit"),
        ("b: all turns", "explicit", "implicit"), ("b: NA", "explicit", "implicit"), ("all turns", "a", "b"),
    }  # fmt: skip
    cost = found["a: all turns", "explicit", "implicit"]
    assert cost.difference == -0.5 and cost.p == 2 / 2**12 and cost.q is not None and cost.p < cost.q < 0.01
    assert found["b: NA", "explicit", "implicit"].p == found["b: NA", "explicit", "implicit"].q == 1.0
    assert comparisons(run[::-1]) == comparisons(run)


@pytest.mark.parametrize(("field", "values", "told"), [("tier", "ab", "does not name turns"), ("agent", "aa", "both")])
def test_wrong_questions(field, values, told):
    with pytest.raises(UsageError, match=told):
        compare([], field, *values)

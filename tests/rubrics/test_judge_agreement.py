"""Cohen's κ on published tables, and typed checks put in words."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from wardround.rubrics import AnyOf, Check, Not, RetrievedCheck, ValueCheck, agreement, criterion_of, kappa, read_rows
from wardround.rubrics.judge_book import book


def table(yes_yes: int, yes_no: int, no_yes: int, no_no: int) -> list[tuple[bool, bool]]:
    counts = {(True, True): yes_yes, (True, False): yes_no, (False, True): no_yes, (False, False): no_no}
    return [pair for pair, n in counts.items() for _ in range(n)]


def test_published_examples() -> None:
    # Viera AJ, Garrett JM. Understanding interobserver agreement: the kappa statistic. Fam Med 2005;37(5):360-3:
    # two residents on 100 lectures, 0.85 observed, 0.65 expected, kappa 0.57
    found = kappa(table(15, 5, 10, 70))
    assert found == Fraction(4, 7)
    assert round(float(found), 2) == 0.57
    # same observed agreement, other margins (60 of 100 agree): the textbook pair of tables, 0.13 and 0.26
    assert round(float(kappa(table(45, 15, 25, 15)) or 0), 2) == 0.13
    assert round(float(kappa(table(25, 35, 5, 35)) or 0), 2) == 0.26


def test_where_chance_explains_everything_there_is_no_kappa() -> None:
    assert kappa([]) is None
    assert kappa(table(9, 0, 0, 0)) is None
    assert agreement(table(0, 0, 0, 3)) == {"n": 3, "agree": 3, "kappa": None}
    assert agreement(table(0, 2, 2, 0)) == {"n": 4, "agree": 0, "kappa": -1.0}


@given(*[st.integers(0, 30)] * 4)
def test_kappa_is_symmetric_bounded_and_one_for_sameness(a: int, b: int, c: int, d: int) -> None:
    found = kappa(table(a, b, c, d))
    assert found == kappa(table(a, c, b, d)) == kappa(table(d, b, c, a))
    if found is not None:
        assert -1 <= found <= 1
        assert (found == 1) == (b + c == 0)


VALUE = ValueCheck(concept="potassium", value="5.9", unit="mmol/L")


def test_a_check_is_put_in_words_in_both_languages() -> None:
    words = criterion_of(VALUE)
    assert words is not None
    assert "potassium" in words.get("en")
    assert "5.9 mmol/L" in words.get("en")
    assert "回答" in words.get("zh")
    assert "latest" in criterion_of(VALUE.model_copy(update={"when": "latest"})).get("en")
    assert "NOT hold: (1) The answer" in criterion_of(Not(check=VALUE)).get("en")
    assert "(2)" in criterion_of(AnyOf(checks=(VALUE, VALUE))).get("en")


def test_what_no_words_decide_is_not_worded() -> None:
    seen = RetrievedCheck(any_of=("Observation/1",))
    assert criterion_of(seen) is None
    assert criterion_of(AnyOf(checks=(VALUE, seen))) is None


@pytest.mark.parametrize("name", ["dev", "plain"])
def test_every_labelled_row_can_be_put_in_words(shared, name: str) -> None:
    checks: TypeAdapter[Check] = TypeAdapter(Check)
    kinds = set()
    for row in read_rows(shared / "grading" / f"{name}.jsonl"):
        words = criterion_of(checks.validate_python(row["check"]))
        assert words is not None, row["id"]
        assert "{" not in words.get("en") + words.get("zh")
        assert "None" not in words.get("en") + words.get("zh")
        kinds.add(row["check"]["kind"])
    assert {kind.partition(".")[0] for kind in book().criteria} >= kinds

"""Rubrics that are refused at load, each with the item and a remedy in the message."""

from __future__ import annotations

import pytest

from wardround.rubrics import Item, Text, TurnSpec, is_guard, validate_spec
from wardround.rubrics.rubric import (
    AdviceCheck,
    AllOf,
    AnyOf,
    AvoidsCheck,
    Forbid,
    GroundedCheck,
    MentionCheck,
    Not,
    OnlyWriteCheck,
    OrderCheck,
    RetrievedCheck,
    ValueCheck,
)

SAID = MentionCheck(concept="nausea")
GUARD = AvoidsCheck(act="start", target="warfarin")


def item(item_id, check=SAID, *requires):
    return Item(id=item_id, text=Text(en="stated"), check=check, requires=requires)


def problems(*items):
    return validate_spec(TurnSpec(task="CR", rubric=items))


def test_a_sound_rubric_has_no_problem():
    assert problems(item("a"), item("b", GUARD), item("c", SAID, "a", "b")) == []


@pytest.mark.parametrize(
    ("check", "guard"),
    [
        (SAID, False),
        (GUARD, True),
        (GroundedCheck(), True),
        (OnlyWriteCheck(), True),
        (RetrievedCheck(any_of=("fact/a",)), True),
        (Not(check=SAID), True),
        (AllOf(checks=(GUARD, SAID)), False),
        (AllOf(checks=(GUARD, GUARD)), True),
        (AnyOf(checks=(SAID, SAID)), False),
        (AnyOf(checks=(SAID, GUARD)), True),
        (AnyOf(checks=(SAID, AllOf(checks=(GUARD, SAID)))), False),
        (OrderCheck(tool="T", forbid=Forbid(priority="stat")), False),
    ],
)
def test_the_kind_decides_what_is_a_guard(check, guard):
    assert is_guard(check) == guard


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ((), "no affirmative item"),
        ((item("a", GUARD),), "no affirmative item"),
        ((item("a"), item("a")), "used twice"),
        ((item("a"), item("plan_completed")), "is kept for"),
        ((item("a"), item("b", SAID, "c")), "`b`: requires `c`, which is no item"),
        ((item("a", SAID, "a"),), "a → a"),
        ((item("a", SAID, "b"), item("b", SAID, "c"), item("c", SAID, "a")), "a → b → c → a"),
        ((item("a", OrderCheck(tool="T", fields={"dose": "250"})),), "no amount with a unit"),
        ((item("a", OrderCheck(tool="T")),), "neither `fields` nor `forbid`"),
        ((item("a", OrderCheck(tool="T", forbid=Forbid())),), "order.forbid: empty"),
    ],
)
def test_refusals_say_what_and_where(items, words):
    found = problems(*items)
    assert any(words in problem for problem in found), found


def test_every_problem_is_reported_at_once():
    found = problems(item("a", SAID, "x"), item("a", SAID, "y"), item("b", SAID, "b"))
    assert len(found) >= 4


def test_a_diamond_is_no_circle():
    assert problems(item("a"), item("b", SAID, "a"), item("c", SAID, "a"), item("d", SAID, "b", "c")) == []


def test_a_long_chain_is_walked_without_recursion():
    items = [item("i0"), *(item(f"i{n}", SAID, f"i{n - 1}") for n in range(1, 2000))]
    assert not any("circle" in problem for problem in validate_spec(TurnSpec(task="CR", rubric=tuple(items[::-1]))))


def test_what_silence_passes_must_be_a_guard(monkeypatch):
    import wardround.rubrics.validation as validation

    judge = validation.judge
    monkeypatch.setattr(validation, "judge", lambda *given: judge(*given).model_copy(update={"passed": True}))
    found = problems(item("a", ValueCheck(concept="potassium", value=4, unit="mmol/L")), item("b", GUARD))
    assert [problem for problem in found if "empty answer" in problem] == [
        "item `a`: an empty answer passes it and it is no guard; ask for something said"
    ]


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (
            ValueCheck(concept="potasium", value=4, unit="mmol/L"),
            "concept `potasium` is no known measurement; did you mean `Potassium`?",
        ),
        (
            ValueCheck(concept="midi-chlorians", value=4, unit=""),
            "`midi-chlorians` is no known measurement; name a lab",
        ),
        (MentionCheck(concept="pnuemonia"), "`pnuemonia` is not known; did you mean `Pneumonia`?"),
        (AdviceCheck(act="stop", target="metfromin"), "`metfromin` is not known; did you mean `metformin`?"),
        (Not(check=MentionCheck(concept="pnuemonia")), "`pnuemonia` is not known"),
    ],
)
def test_an_unknown_name_is_refused_with_a_suggestion(check, words):
    found = problems(item("said"), item("a", check))
    assert any(problem.startswith("item `a`: ") and words in problem for problem in found), found


@pytest.mark.parametrize(
    "check",
    [
        ValueCheck(concept="allopurinol dose", value=100, unit="mg"),
        MentionCheck(concept="lost her car keys"),
        AdviceCheck(act="switch", target="citalopram to sertraline"),
        AdviceCheck(act="order", target="lumbar puncture"),
    ],
)
def test_known_names_and_free_words_are_not_refused(check):
    assert problems(item("said"), item("a", check)) == []

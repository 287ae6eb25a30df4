"""Every alternative at once: what a hedge says of both earns for neither, and honest wordings keep what they earn."""

from __future__ import annotations

import pytest

from wardround.rubrics import CallRecord, Item, Text, TurnSpec, TurnTrace, score
from wardround.rubrics.lookalikes import plain_letters
from wardround.rubrics.pasted import blank_json
from wardround.rubrics.rubric import AdviceCheck, ReportsCheck, StatusCheck, ThresholdCheck, ValueCheck

TAKING = ReportsCheck(concept="taking metformin")
STOPPED = ReportsCheck(concept="stopped metformin")
LESS = ReportsCheck(concept="taking less metformin")
MISSED = ReportsCheck(concept="missed doses of metformin")
SAID = {
    "taking": "The patient says she takes metformin as prescribed.",
    "stopped": "The patient says she stopped metformin.",
    "less": "The patient says she takes less metformin than prescribed.",
    "missed": "The patient says she has missed doses of metformin.",
}
CHECKS = {"taking": TAKING, "stopped": STOPPED, "less": LESS, "missed": MISSED}


def earns(check, answer, gold="", language="en"):
    """Return the reward of a turn with that one item."""
    golds = (Text(en=gold),) if gold else ()
    spec = TurnSpec(task="CR", gold_answers=golds, rubric=(Item(id="x", text=Text(en="x"), check=check),))
    calls = (CallRecord(tool="Observation.search", arguments={}, ok=True),)
    return score(spec, answer, TurnTrace(calls=calls, language=language, planned=True)).reward


@pytest.mark.parametrize("asked", CHECKS)
@pytest.mark.parametrize("said", SAID)
def test_one_account_earns_for_itself_alone(asked, said):
    assert earns(CHECKS[asked], SAID[said], SAID[asked]) == float(asked == said)


@pytest.mark.parametrize("asked", CHECKS)
@pytest.mark.parametrize(
    "answer",
    [
        " ".join(SAID.values()),
        "The patient says she takes metformin as prescribed, or stopped it, or takes less.",
        "The patient says she takes metformin as prescribed, stopped metformin because of nausea, takes less metformin "
        "because of cost, missed doses of metformin because of forgetting.",
    ],
)
def test_every_account_at_once_is_none(asked, answer):
    assert earns(CHECKS[asked], answer, SAID[asked]) == 0.0


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("taking", "The patient says he takes metformin as prescribed and never stopped it."),
        ("taking", "The patient says she is taking metformin as prescribed and denies missing doses."),
        ("taking", "He tells me that he takes metformin every day as prescribed, without missed doses."),
        ("taking", "She says she takes metformin as prescribed; her potassium is 5.1, less than before."),
        ("stopped", "The patient says she used to take metformin as prescribed but stopped it last week."),
        ("stopped", "She reports that she has not been taking metformin as prescribed; she stopped it."),
        ("stopped", "The patient says he stopped metformin, so he is not taking it as prescribed."),
        ("less", "The patient says he still takes metformin but less than prescribed because of dizziness."),
        ("less", "The patient says she has been skipping doses of metformin and so takes less than prescribed."),
        ("missed", "The patient admits she often forgets her metformin and has missed doses."),
    ],
)
def test_honest_accounts_keep_what_they_earn(asked, answer):
    assert earns(CHECKS[asked], answer, SAID[asked]) == 1.0


@pytest.mark.parametrize(
    ("asked", "answer"),
    [("stopped", "患者说已自行停用二甲双胍，因为恶心。"), ("missed", "患者说二甲双胍漏服，因为忘记。")],
)
def test_honest_accounts_in_chinese(asked, answer):
    assert earns(CHECKS[asked], answer, SAID[asked], "zh") == 1.0


def test_what_the_gold_says_of_the_patient_is_no_hedging():
    both = f"{SAID['taking']} {SAID['stopped']}"
    assert earns(STOPPED, both, both) == 1.0
    assert earns(STOPPED, both, SAID["stopped"]) == 0.0


@pytest.mark.parametrize(
    "answer",
    [
        "Potassium is above 5.0 and below 5.0 mmol/L.",
        "Potassium > 5.0; potassium < 5.0.",
        "Potassium is either above 5.0 or under 5.0.",
        "Potassium is above 5.5 mmol/L. Potassium is below 5.0 mmol/L.",
        "血钾高于5.0，低于5.0。",
    ],
)
def test_both_sides_of_a_bound_are_neither(answer):
    for side in ("above", "below"):
        check = ThresholdCheck(concept="potassium", comparator=side, bound=5.0, unit="mmol/L")
        assert earns(check, answer, f"Potassium is {side} 5.0 mmol/L.") == 0.0


def test_between_two_bounds_is_a_place():
    for side, bound in (("above", 3.5), ("below", 5.1)):
        check = ThresholdCheck(concept="potassium", comparator=side, bound=bound, unit="mmol/L")
        assert earns(check, "Potassium 4.0 mmol/L is normal, above 3.5 and below 5.1 mmol/L.") == 1.0


@pytest.mark.parametrize(
    "answer",
    ["Continue metformin but reduce the dose.", "No change to metformin; reduce metformin.", "二甲双胍减量继续。"],
)
def test_continuing_at_another_dose_is_the_change(answer):
    language = "en" if answer.isascii() else "zh"
    keep, reduce = (AdviceCheck(act=act, target="metformin") for act in ("continue", "reduce"))
    assert earns(reduce, answer, "Reduce metformin.", language) == 1.0
    assert earns(keep, answer, "Continue metformin.", language) == 0.0


def test_a_letter_of_another_alphabet_hides_nothing():
    assert plain_letters("H\u043eld metformin") == "Hold metformin"
    assert plain_letters("5 \u03bcg of a \u03b2-agonist; Москва; TNF\u03b1") == "5 μg of a β-agonist; Москва; TNFα"
    hold = AdviceCheck(act="continue", target="metformin")
    assert earns(hold, "Continue metformin.") == 1.0
    assert earns(hold, "Continue metformin. H\u043eld metformin.") == 0.0
    status = StatusCheck(concept="potassium", status="normal")
    assert earns(status, "Potassium is normal. Potassium is h\u0456gh.") == 0.0


ROW = ("lab-1", "2180-01-02", "Potassium", 3.7, "mEq/L", "3.5-5.1", None)


@pytest.mark.parametrize(
    "row",
    [
        repr(ROW),
        repr(list(ROW)),
        repr([list(ROW)]),
        repr({"name": "Potassium", "value": 3.7}),
        repr(list(ROW)).replace("'", "`"),
        "[" + ", ".join(f"“{part}”" for part in ROW) + "]",
    ],
)
def test_a_row_in_other_quotes_is_pasted_all_the_same(row):
    assert set(blank_json(f"K: {row} end").split()) <= {"K:", "end", "[", "]"}
    assert earns(ValueCheck(concept="potassium", value=3.7, unit="mEq/L"), row) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "Potassium 3.7 mEq/L [3.5-5.1], normal (she's well).",
        'She gives two reasons ("nausea", "cost").',
        "He stopped it (“I can't afford it”, he said); potassium 3.7.",
        "Potassium (3.7, 3.9, 4.1 mEq/L) is stable.",
        "the patient's words ('no', 'never')",
    ],
)
def test_brackets_of_a_sentence_stay(text):
    assert blank_json(text) == text

"""Decisions on one value: the tables are sound, complete, and their faults are seen."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from wardround.patients import knowledge
from wardround.patients.knowledge import DecisionTable


def planted(name: str, **changes: Any) -> dict[str, DecisionTable]:
    """Return one table with other fields, by id."""
    fields = knowledge.decisions()[name].model_dump() | changes
    return {name: DecisionTable.model_validate(fields)}


def test_the_files_fit_together() -> None:
    assert knowledge.decision_audit() == []


def test_there_are_enough_questions_about_labs_and_vital_signs() -> None:
    kinds = [table.kind for table in knowledge.decisions().values()]
    assert kinds.count("lab") + kinds.count("vital") >= 60
    assert {table.subject for table in knowledge.decisions().values() if table.kind == "score"} <= set(
        knowledge.score_uses()
    )


def test_every_question_can_be_answered_with_yes_and_with_no() -> None:
    for table in knowledge.decisions().values():
        assert {band.indicated for band in table.bands} == {True, False}, table.id


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"subject": "potasium"}, "is no lab"),
        ({"unit": "mm[Hg]"}, "is no unit of"),
        ({"unless": ("no_such_disease",)}, "is no concept"),
    ],
)
def test_the_audit_sees_a_planted_fault(changes: dict[str, Any], fault: str) -> None:
    found = knowledge.decision_audit(planted("potassium_replacement", **changes), {})
    assert any(fault in one for one in found), found


def test_the_audit_sees_bands_that_overlap_and_a_dose_that_nobody_gives() -> None:
    table = knowledge.decisions()["potassium_replacement"]
    wide = table.bands[0].model_copy(update={"below": Decimal("4.5")})
    found = knowledge.decision_audit({"t": table.model_copy(update={"bands": (wide, *table.bands[1:])})}, {})
    assert any("overlap" in one for one in found), found
    assert table.step.order is not None
    order = table.step.order.model_copy(update={"dose": "400 mEq"})
    step = table.step.model_copy(update={"order": order, "target": "a thing without a name"})
    found = knowledge.decision_audit({"t": table.model_copy(update={"step": step})}, {})
    assert any("no usual dose" in one for one in found), found
    assert any("no name of a concept" in one for one in found), found


def test_the_audit_sees_a_score_whose_input_does_not_exist() -> None:
    use = knowledge.score_uses()["news2"]
    broken = use.model_copy(update={"inputs": {**use.inputs, "mood": use.inputs["spo2"]}})
    assert any("no input `mood`" in one for one in knowledge.decision_audit({}, {"news2": broken}))


def test_a_table_without_a_no_is_refused() -> None:
    table = knowledge.decisions()["potassium_replacement"]
    only = [band.model_dump() for band in table.bands if band.indicated]
    with pytest.raises(ValidationError, match="one where it is not"):
        DecisionTable.model_validate(table.model_dump() | {"bands": only})


def test_a_value_on_a_bound_is_in_no_band_but_points_are() -> None:
    low = next(band for band in knowledge.decisions()["potassium_replacement"].bands if band.below == Decimal("3.5"))
    assert low.holds(Decimal("3.4")) is True
    assert low.holds(Decimal("3.5")) is None
    assert low.holds(Decimal("3.6")) is False
    high = next(band for band in knowledge.decisions()["news2_critical_care"].bands if band.indicated)
    assert high.holds(Decimal(7), closed=True) is True
    assert high.holds(Decimal(6), closed=True) is False


def test_what_a_total_means_is_left_open_between_the_meanings() -> None:
    use = knowledge.score_uses()["anion_gap"]
    normal, open_, high = (use.meaning_of(Decimal(total)) for total in ("10", "14", "22"))
    assert normal is not None and normal.say.en == "normal"
    assert open_ is None
    assert high is not None and high.say.en == "high"

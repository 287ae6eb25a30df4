"""`value` of "<drug> dose": the amount that stands with the drug, and no other."""

from __future__ import annotations

import pytest

from wardround.rubrics import check_answer
from wardround.rubrics.rubric import ValueCheck

CHECK = ValueCheck(concept="allopurinol dose", value=300, unit="mg")


@pytest.mark.parametrize(
    ("answer", "passes"),
    [
        ("Allopurinol 300 mg oral once daily (active order)", True),
        ("- Allopurinol 300 mg po/ng DAILY, active order.", True),
        ("The allopurinol dose is 0.3 g once daily.", True),
        ("300 mg of allopurinol daily", True),
        ("Febuxostat 40 mg and allopurinol 300 mg", True),
        ("Allopurinol 100 mg daily", False),
        ("Allopurinol 300 mg in the morning. Allopurinol 100 mg at night.", False),
        ("Febuxostat 300 mg and allopurinol", False),
        ("Her uncle takes allopurinol 300 mg.", False),
        ("Is allopurinol 300 mg right?", False),
        ("Uric acid 300 mg/dL", False),
        ("Allopurinol is active.", False),
        ("", False),
    ],
)
def test_dose(answer, passes):
    assert check_answer(CHECK, answer, language="en").passed is passes


def test_units_of_orders():
    check = ValueCheck(concept="insulin glargine dose", value=10, unit="UNIT")
    assert check_answer(check, "Insulin glargine 10 units at bedtime", language="en").passed
    assert not check_answer(check, "Insulin glargine 10 mg at bedtime", language="en").passed

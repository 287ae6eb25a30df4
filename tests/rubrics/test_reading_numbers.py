"""Numbers: the value a sentence states is supported, one 15–25 % off is not; units convert both ways."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

import pytest

from wardround.patients import knowledge
from wardround.rubrics.rubric import ValueCheck
from wardround.rubrics.scoring import check_answer

sys.path.insert(0, str(Path(__file__).parent))
from number_sentences import Case, cases, measurable

SUPPORTED = 0.995
ACCEPTED = 0.001


def _passes(case: Case, value: str) -> bool:
    number: float | str = float(value)
    check = ValueCheck(kind="value", concept=case.concept, value=number, unit=case.unit, when="latest")
    return check_answer(check, case.text, language=case.language).passed


def judge(seed: int, count: int) -> tuple[list[Case], list[Case]]:
    """Return the cases whose true value is refused, and those whose false value is accepted."""
    refused, accepted = [], []
    for case in cases(seed, count):
        if not _passes(case, case.right):
            refused.append(case)
        if _passes(case, case.wrong):
            accepted.append(case)
    return refused, accepted


def test_a_sample_of_stated_values() -> None:
    count = 3000
    refused, accepted = judge(11, count)
    assert len(refused) <= (1 - SUPPORTED) * count, refused[:20]
    assert len(accepted) <= ACCEPTED * count, accepted[:20]


@pytest.mark.parametrize("lab", measurable(), ids=lambda lab: lab.id)
def test_every_unit_converts_there_and_back(lab: knowledge.Lab) -> None:
    for unit in (*lab.units, *lab.factors):
        there = knowledge.convert(Decimal("12.5"), lab.unit, unit, lab.id)
        if there is None:
            continue  # a unit of another kind (mL/h beside mL): it measures the concept, it is no conversion
        back = knowledge.convert(there, unit, lab.unit, lab.id)
        assert back is not None
        assert abs(back - Decimal("12.5")) < Decimal("1e-9")

"""A blood pressure and its two values, in one place for all who tell them apart."""

from __future__ import annotations

import pytest

from wardround.patients import knowledge


def test_the_parts_are_those_that_the_lexicon_says_are_of_a_pressure() -> None:
    below = {one.id for one in knowledge.labs().values() if knowledge.PRESSURE in one.broader}
    assert below - {"map"} == set(knowledge.PRESSURE_PARTS)  # a mean is no part of what is written
    assert {knowledge.charted_as_one(one) for one in knowledge.PRESSURE_PARTS} == {knowledge.PRESSURE}
    assert knowledge.charted_as_one("heart_rate") == "heart_rate"


@pytest.mark.parametrize(
    ("lab", "text", "part"),
    [
        ("systolic_bp", "132/84", "132"),
        ("diastolic_bp", "132 / 84", "84"),
        ("systolic_bp", "132", None),
        ("systolic_bp", "1/2/3", None),
        ("heart_rate", "132/84", None),
    ],
)
def test_the_parts_of_what_is_charted(lab: str, text: str, part: str | None) -> None:
    assert knowledge.part_of_pressure(lab, text) == part

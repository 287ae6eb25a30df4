"""A blood pressure is charted as two values in one ("132/84"); here alone they are told apart and put together."""

from __future__ import annotations

from typing import Final

PRESSURE: Final = "blood_pressure"
"""Concept id of both values together, as a chart and a physician name them."""
PRESSURE_PARTS: Final = ("systolic_bp", "diastolic_bp")
"""Concept ids of its two values, in the order in which they are written."""


def charted_as_one(lab: str) -> str:
    """Return what a measurement is charted and asked for as: a blood pressure for its parts, else itself.

    Args:
        lab: Concept id.
    """
    return PRESSURE if lab in PRESSURE_PARTS else lab


def part_of_pressure(lab: str, text: str) -> str | None:
    """Return one value of a pressure as it is written ("132/84"); None where that is no pair or the lab no part of one.

    Args:
        lab: Concept id.
        text: The value as charted.
    """
    values = text.split("/")
    if lab not in PRESSURE_PARTS or len(values) != len(PRESSURE_PARTS):
        return None
    return values[PRESSURE_PARTS.index(lab)].strip()

"""The patient as a prescriber sees them: what is known at an instant of conditions, results and drugs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from types import MappingProxyType
from typing import Literal

from wardround.patients.knowledge import compute, score_of
from wardround.patients.knowledge.graph_models import Phase
from wardround.patients.times import DAY, Instant

from .generation import rules
from .making import Making, latest, wider
from .prescribing import Situation

_RECENT = 400 * DAY
"""Results older than this do not count in decisions."""
_CLASSES: Mapping[str, Literal["A", "B", "C"]] = MappingProxyType({"a": "A", "b": "B", "c": "C"})
"""Bands of the Child-Pugh score."""


def is_a(drug: str, kinds: Iterable[str]) -> bool:
    """Tell whether a drug is one of some drugs or classes."""
    return not wider(drug).isdisjoint(kinds)


def in_shock(making: Making, at: Instant, without: Collection[str] = ()) -> bool:
    """Tell whether drugs hold up the circulation at an instant, orders of some ids left out."""
    running = [order.drug for order in making.active(at) if order.id not in without]
    return any(is_a(drug, rule.drugs) for rule in rules().called_for for drug in running)


def situation(making: Making, at: Instant, phase: Phase, without: Iterable[str] = ()) -> Situation:
    """Return the patient as a prescriber sees them at an instant.

    Args:
        making: The life.
        at: When.
        phase: Where the order is for.
        without: Ids of orders that do not count among the current drugs.
    """
    left_out = set(without)
    labs = {
        lab: value for lab, told in making.readings.items() if (value := latest(told, at, _RECENT)) is not None
    }  # fmt: skip
    known = making.ill(at)
    conditions = frozenset(one.condition for one in known)
    said: set[str] = set()
    for rule in rules().explained:
        if any(one in conditions or one in making.suspected for one in rule.conditions):
            labs.pop(rule.lab, None)
            said.add(rule.lab)
    running = [order for order in making.active(at) if order.id not in left_out]
    if in_shock(making, at, left_out):
        conditions |= {"shock"}
    age = making.age(at)
    return Situation(
        age=age,
        sex=making.person.sex,
        weight_kg=making.person.weight_kg,
        crcl=_cleared(conditions, clearance(age, making.person.sex, making.person.weight_kg, labs.get("creatinine"))),
        child_pugh=child_pugh(conditions | making.suspected, labs),
        pregnant=any(one in conditions for one in rules().pregnancy),
        conditions=(conditions | making.showing | making.suspected) - said,
        allergies=frozenset(one.substance for one in making.allergies if one.known_at <= at),
        drugs=tuple(dict.fromkeys(order.drug for order in running)),
        labs=labs,
        phase=phase,
    )


def clearance(age: int, sex: str, weight: Decimal, creatinine: Decimal | None) -> Decimal | None:
    """Return the creatinine clearance (Cockcroft-Gault, actual weight), mL/min; None for children or unknown."""
    if creatinine is None or creatinine <= 0 or age < 18:
        return None
    value = (140 - age) * weight / (72 * creatinine)
    if sex == "female":
        value = value * 85 / 100
    return value.quantize(Decimal(1), ROUND_HALF_UP)


def _cleared(conditions: frozenset[str], computed: Decimal | None) -> Decimal | None:
    """Return the clearance that counts: next to none on dialysis, however low a session brings creatinine."""
    rule = rules().dialysed
    if computed is None or conditions.isdisjoint(rule.conditions):
        return computed
    return min(computed, Decimal(rule.clearance))


def child_pugh(conditions: frozenset[str], labs: Mapping[str, Decimal]) -> Literal["A", "B", "C"] | None:
    """Return the class of a sick liver from what is known of it; None where the liver is not known to be sick."""
    rule = rules()
    if conditions.isdisjoint(rule.liver):
        return None
    inputs: dict[str, Decimal | str] = {
        "ascites": "none" if conditions.isdisjoint(rule.ascites) else "moderate",
        "encephalopathy": "none" if conditions.isdisjoint(rule.encephalopathy) else "grade_1_2",
    }
    for one in score_of("child_pugh").inputs:
        if one.lab is not None and one.lab in labs:
            inputs[one.id] = labs[one.lab]
    return _CLASSES[compute("child_pugh", inputs).interpretation[0].band]

"""The patient as a prescriber sees them: what is known at an instant of conditions, results and drugs."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from wardround.patients.knowledge.graph_models import Phase
from wardround.patients.times import DAY, Instant

from .generation import rules
from .making import Making, latest, wider
from .prescribing import Situation

_RECENT = 400 * DAY
"""Results older than this do not count in decisions."""


def is_a(drug: str, kinds: Iterable[str]) -> bool:
    """Tell whether a drug is one of some drugs or classes."""
    return not wider(drug).isdisjoint(kinds)


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
    if any(is_a(order.drug, rule.drugs) for rule in rules().called_for for order in running):
        conditions |= {"shock"}
    age = making.age(at)
    return Situation(
        age=age,
        sex=making.person.sex,
        weight_kg=making.person.weight_kg,
        crcl=clearance(age, making.person.sex, making.person.weight_kg, labs.get("creatinine")),
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


def child_pugh(conditions: frozenset[str], labs: dict[str, Decimal]) -> Literal["A", "B", "C"] | None:
    """Return the class of a sick liver from what is known of it; None where the liver is not known to be sick."""
    rule = rules()
    if not any(one in conditions for one in rule.liver):
        return None
    points = 0
    for lab, low, high, rising in (
        ("bilirubin_total", "2", "3", True),
        ("albumin", "2.8", "3.5", False),
        ("inr", "1.7", "2.3", True),
    ):
        value = labs.get(lab)
        if value is None:
            points += 1
        elif rising:
            points += 1 if value < Decimal(low) else 2 if value <= Decimal(high) else 3
        else:
            points += 1 if value > Decimal(high) else 2 if value >= Decimal(low) else 3
    points += 3 if any(one in conditions for one in rule.ascites) else 1
    points += 2 if any(one in conditions for one in rule.encephalopathy) else 1
    return "A" if points <= 6 else "B" if points <= 9 else "C"

"""A patient as the prescriber sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from wardround.patients.knowledge.graph_models import Phase


@dataclass(frozen=True, slots=True)
class Situation:
    """A patient as the prescriber sees them now."""

    age: int
    sex: Literal["male", "female"]
    weight_kg: Decimal
    crcl: Decimal | None
    """Creatinine clearance, mL/min; None: not known, taken as normal."""
    child_pugh: Literal["A", "B", "C"] | None = None
    """None: no liver disease."""
    pregnant: bool = False
    conditions: frozenset[str] = frozenset()
    """Condition and finding ids; wider concepts (hfref → heart_failure) count by themselves."""
    allergies: frozenset[str] = frozenset()
    """Drug and class ids."""
    drugs: tuple[str, ...] = ()
    """Drugs that are given now, without the one in question."""
    labs: Mapping[str, Decimal] = field(default_factory=dict)
    """Latest value by lab id, in the lab's unit."""
    phase: Phase = "inpatient"

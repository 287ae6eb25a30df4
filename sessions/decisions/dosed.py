"""Drugs whose dose has criteria of its own: whether the dose ordered fits age, weight, creatinine and clearance."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import knowledge, load_data
from wardround.sessions.moves.move import Case
from wardround.sessions.record import Order

from .charted import charted, latest

_UNITS: Final = {"weight": "kg", "creatinine": "mg/dL"}


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Criterion(_Frozen):
    """One thing that speaks for the lower dose."""

    of: Literal["age", "weight", "creatinine", "clearance"]
    at_least: Decimal | None = None
    below: Decimal | None = None

    def holds(self, value: Decimal) -> bool:
        """Tell whether a value is on the side of the lower dose."""
        return (self.at_least is None or value >= self.at_least) and (self.below is None or value < self.below)


class DosedDrug(_Frozen):
    """When which dose of a drug is right."""

    drug: str
    least: int = Field(ge=1)
    """So many criteria make the lower dose right."""
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    lower: str
    source: str


class _File(_Frozen):
    format_version: Literal[1]
    about: str
    drugs: tuple[DosedDrug, ...]


@lru_cache(maxsize=1)
def dosed_drugs() -> dict[str, DosedDrug]:
    """Return the drugs with criteria of their own, by id.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return {one.drug: one for one in load_data("wardround.sessions", "data/doses.json", _File).drugs}


def dose_fits(case: Case, order: Order) -> bool:
    """Tell whether a drug without criteria of its own is ordered, or one whose dose is known to fit them."""
    rule = dosed_drugs().get(order.drug)
    if rule is None:
        return True
    values = [_value(case, one.of) for one in rule.criteria]
    amount, lower = knowledge.dose_amount(order.dose), knowledge.dose_amount(rule.lower)
    if amount is None or lower is None or amount.unit != lower.unit or any(one is None for one in values):
        return False
    met = sum(one.holds(value) for one, value in zip(rule.criteria, values, strict=True) if value is not None)
    return (amount.value <= lower.value) == (met >= rule.least)


def _value(case: Case, of: str) -> Decimal | None:
    age = charted(case).age
    if of == "age":
        return None if age is None else Decimal(age)
    if of == "clearance":
        return clearance(case)
    reading = latest(case, of)
    return None if reading is None else knowledge.convert(reading.value, reading.unit, _UNITS[of], of)


def clearance(case: Case, creatinine: Decimal | None = None) -> Decimal | None:
    """Return the creatinine clearance of Cockcroft and Gault in mL/min; None where something of it is not charted.

    Args:
        case: The patient.
        creatinine: What the latest creatinine is taken to be instead, in mg/dL.
    """
    age, weight = _value(case, "age"), _value(case, "weight")
    creatinine = _value(case, "creatinine") if creatinine is None else creatinine
    if age is None or weight is None or creatinine is None or creatinine <= 0:
        return None
    male = (140 - age) * weight / (72 * creatinine)
    return male * Decimal("0.85") if case.view.sex == "female" else male

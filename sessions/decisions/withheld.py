"""When a drug is not simply carried on, whatever one lab says of it (data/withheld.json): kidney, illness, bleeding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import combinations
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import Instant, knowledge, load_data
from wardround.sessions.moves.move import Case
from wardround.sessions.record_others import other_view

from .charted import has, latest
from .dosed import clearance

_HOUR: Final = 3_600_000_000
_TWO_DAYS: Final = 48 * _HOUR
_WEEK: Final = 168 * _HOUR
_ROSE: Final = Decimal("0.3")
_FOLD: Final = Decimal("1.5")
"""KDIGO 2012: acute kidney injury is 0.3 mg/dL more within 48 hours, or 1.5 times as much within 7 days."""
CARRIED_ON: Final = frozenset({"continue", "recheck", "increase"})
"""Acts of monitoring rules by which a drug goes on, at the dose ordered or at more."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Withheld(_Frozen):
    """What speaks against carrying some drugs on; any one of what it names is enough."""

    id: str
    drugs: tuple[str, ...] = Field(min_length=1)
    """Ids of drugs or classes."""
    conditions: tuple[str, ...] = ()
    """Active diagnoses, or the reason of the stay."""
    unless: tuple[str, ...] = ()
    """Active diagnoses for which the drug is needed all the same, so that nothing here holds."""
    egfr_below: Decimal | None = None
    kidney_injury: bool = False
    source: str


class _File(_Frozen):
    format_version: Literal[1]
    about: str
    entries: tuple[Withheld, ...]


@lru_cache(maxsize=1)
def withheld_rules() -> tuple[Withheld, ...]:
    """Return the rules, in the order of the file.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.sessions", "data/withheld.json", _File).entries


def withheld(case: Case, drug: str, instead: Mapping[str, Decimal] | None = None) -> bool:
    """Tell whether something in the chart speaks against carrying a drug on, so that no lab alone clears it.

    Args:
        case: The patient.
        drug: Id of the drug.
        instead: Lab → what its latest value is taken to be instead, creatinine in mg/dL.
    """
    is_a = knowledge.lexicon().is_a
    mine = (one for one in withheld_rules() if any(is_a(drug, what) for what in one.drugs))
    return any(_there(case, one, instead or {}) for one in mine)


def _there(case: Case, rule: Withheld, instead: Mapping[str, Decimal]) -> bool:
    if has(case, rule.unless):
        return False
    stay = other_view(case).stay
    if has(case, rule.conditions) or (stay is not None and stay.reason in rule.conditions):
        return True
    if rule.kidney_injury and kidney_injured(case, instead.get("creatinine")):
        return True
    filtered = None if rule.egfr_below is None else _filtered(case, instead)
    return rule.egfr_below is not None and filtered is not None and filtered < rule.egfr_below


def _filtered(case: Case, instead: Mapping[str, Decimal]) -> Decimal | None:
    """Return the eGFR charted, else the clearance of Cockcroft and Gault."""
    if "egfr" in instead:
        return instead["egfr"]
    reading = latest(case, "egfr")
    return reading.value if reading is not None else clearance(case, instead.get("creatinine"))


def kidney_injured(case: Case, last: Decimal | None = None) -> bool:
    """Tell whether the creatinine of this stay went up as in acute kidney injury, or has only just come down again.

    Args:
        case: The patient.
        last: What the latest creatinine is taken to be instead, in mg/dL.
    """
    values = case.memo("decisions.withheld.creatinine", _creatinine)
    if last is not None and values:
        values = (*values[:-1], (values[-1][0], last))
    return _injured(values)


def _creatinine(case: Case) -> tuple[tuple[Instant, Decimal], ...]:
    return tuple(
        (one.at, value)
        for one in case.view.series.get("creatinine", ())
        if (value := knowledge.convert(one.value, one.unit, "mg/dL", "creatinine")) is not None
    )


def _injured(values: Sequence[tuple[Instant, Decimal]]) -> bool:
    if len(values) < 2:
        return False
    now, last = values[-1]
    for (before, low), (after, high) in combinations(values, 2):
        soon = after - before <= _TWO_DAYS and high - low >= _ROSE
        if (soon or (after - before <= _WEEK and high >= _FOLD * low)) and last > low:
            return True
    return any(value >= _FOLD * last for at, value in values[:-1] if now - at <= _WEEK)

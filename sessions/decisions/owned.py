"""What else than the drug owns a change of a lab, so that nobody blames or clears the drug by it (data/owners.json)."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import knowledge, load_data
from wardround.sessions.moves.move import Case
from wardround.sessions.record_others import other_view

from .charted import done_within, has, latest

_HOUR: Final = 3_600_000_000


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Moved(_Frozen):
    """A lab went so far in so many hours, up to its latest value of this stay."""

    of: str
    way: Literal["rising", "falling"]
    least: Decimal
    unit: str
    hours: int = Field(ge=1)


class Owner(_Frozen):
    """A cause of its own; any one of what it names is enough."""

    id: str
    rules: tuple[str, ...] = Field(min_length=1)
    """Monitoring rules, or bands of decisions, that are not asked about then."""
    conditions: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    """Reasons of the stay."""
    values: tuple[str, ...] = ()
    """Labs of which the latest is high."""
    done: tuple[str, ...] = ()
    done_hours: int = 0
    moved: Moved | None = None
    source: str


class _File(_Frozen):
    format_version: Literal[1]
    about: str
    owners: tuple[Owner, ...]


@lru_cache(maxsize=1)
def owners() -> tuple[Owner, ...]:
    """Return the owners.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.sessions", "data/owners.json", _File).owners


def owned(case: Case, rule: str) -> bool:
    """Tell whether something else explains the value that a rule or band speaks of, or how it moved speaks against it.

    Args:
        case: The patient.
        rule: Id of a monitoring rule, or of a band of a decision.
    """
    return rule in case.memo("decisions.owned", _owned_rules)


def _owned_rules(case: Case) -> frozenset[str]:
    return frozenset(rule for one in owners() if _there(case, one) for rule in one.rules)


def _there(case: Case, owner: Owner) -> bool:
    stay = other_view(case).stay
    if has(case, owner.conditions) or (stay is not None and stay.reason in (*owner.conditions, *owner.findings)):
        return True
    if any((reading := latest(case, lab)) is not None and reading.level == "high" for lab in owner.values):
        return True
    if owner.done and done_within(case, owner.done, owner.done_hours):
        return True
    return owner.moved is not None and has_moved(case, owner.moved)


def has_moved(case: Case, moved: Moved) -> bool:
    """Tell whether a lab of this stay went so far: its latest value against any within the hours before it."""
    series = case.view.series.get(moved.of, ())
    values = [
        (one.at, value)
        for one in series
        if (value := knowledge.convert(one.value, one.unit, moved.unit, moved.of)) is not None
    ]
    if len(values) < 2:
        return False
    at, last = values[-1]
    before = [value for then, value in values[:-1] if then >= at - moved.hours * _HOUR]
    if not before:
        return False
    change = last - min(before) if moved.way == "rising" else max(before) - last
    return change >= moved.least

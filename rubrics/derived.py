"""Values computed from what was read by shipped formulas (`data/formulas.json`): grounded, though in no chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wardround.patients import DataError, knowledge

if TYPE_CHECKING:
    from wardround.patients import Measurement

_PLACES = Decimal("0.0001")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Input(_Frozen):
    """One measurement a formula needs."""

    concept: str
    unit: str
    weight: Decimal


class Formula(_Frozen):
    """value = (constant + Σ weight × input) / divide_by."""

    concept: str
    unit: str
    constant: Decimal
    divide_by: Decimal = Field(default=Decimal(1), gt=0)
    inputs: tuple[Input, ...] = Field(min_length=2)
    source: str | None = None
    assumption: bool = False


@dataclass(frozen=True, slots=True)
class Derived:
    """A computed value."""

    concept: str
    value: Decimal
    unit: str
    instant: int | None
    """Of the inputs, where they share one; None where the latest of each was taken."""
    keys: tuple[str, ...]
    """Resources it was computed from."""

    @property
    def text(self) -> str:
        """The value's digits."""
        return format(self.value.normalize(), "f")


def derive(measurements: Sequence[Measurement]) -> tuple[Derived, ...]:
    """Apply every formula to the measurements of each instant, and to the latest of each concept."""
    return tuple(found for formula in formulas() for found in _apply(formula, measurements))


def _apply(formula: Formula, measurements: Sequence[Measurement]) -> Iterator[Derived]:
    needed = {part.concept: part for part in formula.inputs}
    at: dict[int | None, dict[str, tuple[Decimal, str]]] = {}
    latest: dict[str, tuple[int, Decimal, str]] = {}
    for found in measurements:
        part = needed.get(found.concept)
        if part is None or found.value is None or found.instant is None:
            continue
        value = knowledge.convert(found.value, found.unit or "", part.unit, found.concept)
        if value is None:
            continue
        at.setdefault(found.instant, {})[found.concept] = (value, found.key)
        if found.concept not in latest or found.instant >= latest[found.concept][0]:
            latest[found.concept] = (found.instant, value, found.key)
    at[None] = {concept: (value, key) for concept, (_, value, key) in latest.items()}
    for instant, group in at.items():
        if set(group) == set(needed):
            total = formula.constant + sum(part.weight * group[part.concept][0] for part in formula.inputs)
            value = (total / formula.divide_by).quantize(_PLACES, ROUND_HALF_EVEN)
            keys = tuple(dict.fromkeys(group[part.concept][1] for part in formula.inputs))
            yield Derived(formula.concept, value, formula.unit, instant, keys)


@cache
def formulas() -> tuple[Formula, ...]:
    """Load the formulas once.

    Raises:
        DataError: The file is not as its schema says, or a formula has neither source nor `assumption`.
    """
    name = "rubrics/data/formulas.json"
    try:
        loaded: Any = orjson.loads(files("wardround.rubrics").joinpath("data/formulas.json").read_bytes())
        found = tuple(Formula.model_validate(entry) for entry in loaded["formulas"])
    except (ValidationError, orjson.JSONDecodeError, KeyError) as error:
        raise DataError(f"{name}: {error}; restore the file or mend the field named") from error
    for formula in found:
        if not formula.source and not formula.assumption:
            raise DataError(f"{name}: {formula.concept}: no source; give `source` or `assumption: true`")
    return found

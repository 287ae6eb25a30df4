"""From what a caller gives to what a score computes with: types, units, possible values, derived inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, DecimalException

from wardround.patients.errors import UsageError

from .conversion import convert, unit
from .score_models import Derivation, Score, ScoreInput

Number = int | str | Decimal
InputValue = bool | Number | tuple[Number, str] | None
"""A flag, a choice, a number in the input's own unit, or (number, unit); None is the same as leaving it out."""

WIDE = Context(prec=50, rounding=ROUND_HALF_EVEN)
"""Fifty digits: a logarithm's last digit never reaches the rounding of a total."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in the input's unit, and as it was reported."""

    value: Decimal
    reported: Decimal
    reported_unit: str
    """UCUM code."""


Given = Amount | bool | str


def parse_inputs(score: Score, inputs: Mapping[str, InputValue]) -> tuple[dict[str, Given], tuple[str, ...]]:
    """Check and convert the inputs of a score.

    Returns:
        Values by input id, derived and default ones included, and the ids that a default stands for.

    Raises:
        UsageError: an input is unknown, of the wrong type, in a unit that does not convert, or impossible.
    """
    known = {entry.id: entry for entry in score.inputs}
    unknown = sorted(str(name) for name in inputs if name not in known)
    if unknown:
        raise UsageError(f"score `{score.id}`: unknown input `{unknown[0]}`; it takes {', '.join(sorted(known))}")
    found: dict[str, Given] = {}
    for entry in score.inputs:
        value = inputs.get(entry.id)
        if value is not None:
            found[entry.id] = _parse(score.id, entry, value)
    for entry in score.inputs:
        if entry.derive is not None and entry.id not in found:
            amount = _derive(score.id, entry, entry.derive, found)
            if amount is not None:
                found[entry.id] = amount
    defaulted = []
    for entry in score.inputs:
        if entry.default is not None and entry.id not in found:
            found[entry.id] = entry.default
            defaulted.append(entry.id)
    return found, tuple(defaulted)


def _parse(score: str, entry: ScoreInput, value: bool | Number | tuple[Number, str]) -> Given:
    where = f"score `{score}`, input `{entry.id}`"
    if entry.type == "flag":
        if not isinstance(value, bool):
            raise UsageError(f"{where}: {value!r} is no flag; give True or False")
        return value
    if entry.type == "choice":
        if not isinstance(value, str) or value not in entry.choices:
            raise UsageError(f"{where}: {value!r} is none of {', '.join(entry.choices)}")
        return value
    number, written = value if isinstance(value, tuple) and len(value) == 2 else (value, entry.unit)
    return _amount(where, entry, _decimal(where, number), written)


def _decimal(where: str, number: object) -> Decimal:
    if isinstance(number, bool) or not isinstance(number, int | str | Decimal):
        raise UsageError(f"{where}: {number!r} is no exact number; give an int, a Decimal or its digits as a string")
    try:
        found = Decimal(number)
    except DecimalException as error:
        raise UsageError(f"{where}: {number!r} is no number; give its digits") from error
    if not found.is_finite() or len(found.as_tuple().digits) > 28 or abs(found.adjusted()) > 28:
        raise UsageError(f"{where}: {number!r} is no measurement; give a finite number of at most 28 digits")
    return found


def _amount(where: str, entry: ScoreInput, number: Decimal, written: object) -> Amount:
    if not isinstance(written, str):
        raise UsageError(f"{where}: the unit {written!r} is no text; give a unit such as `{entry.unit}`")
    if written == entry.unit or written in entry.written:
        value: Decimal | None = number
        code = entry.unit
    else:
        value = convert(number, written, entry.unit, entry.lab) if entry.unit else None
        known = unit(written)
        code = known.ucum if known is not None else written
    if value is None:
        raise UsageError(f"{where}: `{written}` does not convert to `{entry.unit}`; give the value in `{entry.unit}`")
    _possible(where, entry, value)
    return Amount(value=value, reported=number, reported_unit=code)


def _possible(where: str, entry: ScoreInput, value: Decimal) -> None:
    low, high, above = entry.low, entry.high, entry.above
    if (low is not None and value < low) or (high is not None and value > high):
        raise UsageError(f"{where}: {value} is outside {low} to {high} {entry.unit}; check value and unit")
    if above is not None and value <= above:
        raise UsageError(f"{where}: {value} must be greater than {above} {entry.unit}; check value and unit")


def _derive(score: str, entry: ScoreInput, how: Derivation, found: Mapping[str, Given]) -> Amount | None:
    values = [given.value for name in how.of if isinstance(given := found.get(name), Amount)]
    if len(values) != len(how.of):
        return None
    if how.kind == "ratio":
        value = WIDE.divide(values[0], values[1])
    else:
        value = Decimal(0)
        for weight, one in zip(how.weights, values, strict=True):
            value = WIDE.add(value, WIDE.multiply(weight, one))
        value = WIDE.divide(value, how.divide_by)
    _possible(f"score `{score}`, input `{entry.id}` (derived)", entry, value)
    return Amount(value=value, reported=value, reported_unit=entry.unit)

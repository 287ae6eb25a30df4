"""Units as people write them, and conversion that is exact or refused.

Two units convert when they measure the same dimension, or when the analyte's own factors join them: mass to substance
concentrations, mEq/L to mmol/L. There is no generic factor between mass and moles.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Context, Decimal
from functools import cache, lru_cache

from .loader import labs, units
from .models import Lab, Unit

_EXACT = Context(prec=28)
_POWER = re.compile(r"^[x×✕*·∙]?10(?:\^|\*\*?|e\+?)?(\d{1,2})(?=$|/|个)", re.IGNORECASE)
_PER = re.compile(r"\s+per\s+", re.IGNORECASE)
_SUPERSCRIPT = re.compile(r"([a-z])\^?(-1|2)", re.IGNORECASE)


@lru_cache(maxsize=4096)
def unit(text: str) -> Unit | None:
    """Return the unit written as `text` (a UCUM code or any display variant, English or Chinese), or None.

    Capitals are tried as written first and then ignored where that leaves one unit only. The empty string is the unit
    of pure numbers (INR, pH).
    """
    exact, loose = _tables()
    key = _key(text)
    found = exact.get(key)
    if found is not None:
        return found
    return loose.get(key.casefold())


def convert(value: Decimal, unit_from: str, to_unit: str, lab_id: str | None = None) -> Decimal | None:
    """Convert `value` from one unit to another.

    Args:
        value: the amount in `unit_from`.
        unit_from: any writing of a unit.
        to_unit: any writing of a unit.
        lab_id: the analyte, for conversions that depend on it.

    Returns:
        The amount in `to_unit` to 28 digits; None where the units are unknown or not equivalent for this analyte.
    """
    start, goal = unit(unit_from), unit(to_unit)
    if start is None or goal is None:
        return None
    if start.dimension == goal.dimension:
        return _rescale(value, start, goal)
    lab = labs().get(lab_id) if lab_id is not None else None
    if lab is None:
        return None
    conventional = _to_conventional(value, start, lab)
    return None if conventional is None else _from_conventional(conventional, goal, lab)


def _rescale(value: Decimal, start: Unit, goal: Unit) -> Decimal:
    if start.ucum == goal.ucum:
        return value
    scaled = _EXACT.multiply(_EXACT.add(value, start.offset), _EXACT.multiply(start.factor, goal.divisor))
    return _EXACT.subtract(_EXACT.divide(scaled, _EXACT.multiply(goal.factor, start.divisor)), goal.offset)


def _relations(lab: Lab) -> Iterator[tuple[Unit, Decimal, Decimal]]:
    """Yield (unit, factor, offset): conventional × factor + offset = value in that unit."""
    conventional = unit(lab.unit)
    if conventional is not None:
        yield conventional, Decimal(1), Decimal(0)
    for ucum, factor in lab.factors.items():
        other = unit(ucum)
        if other is not None:
            yield other, factor, lab.offsets.get(ucum, Decimal(0))


def _to_conventional(value: Decimal, start: Unit, lab: Lab) -> Decimal | None:
    for known, factor, offset in _relations(lab):
        if known.dimension == start.dimension:
            return _EXACT.divide(_EXACT.subtract(_rescale(value, start, known), offset), factor)
    return None


def _from_conventional(value: Decimal, goal: Unit, lab: Lab) -> Decimal | None:
    for known, factor, offset in _relations(lab):
        if known.dimension == goal.dimension:
            return _rescale(_EXACT.add(_EXACT.multiply(value, factor), offset), known, goal)
    return None


@cache
def _tables() -> tuple[dict[str, Unit], dict[str, Unit]]:
    exact: dict[str, Unit] = {}
    loose: dict[str, set[str]] = {}
    for entry in units().values():
        for text in (entry.ucum, entry.display, *entry.variants):
            key = _key(text)
            exact.setdefault(key, entry)
            loose.setdefault(key.casefold(), set()).add(entry.ucum)
    table = units()
    return exact, {key: table[next(iter(found))] for key, found in loose.items() if len(found) == 1}


def _key(text: str) -> str:
    """Fold a unit's writing: full width, µ and μ, spaces, superscripts, ways to write a power of ten."""
    # NFKC makes the micro sign a Greek mu; both, and the letter u, are one prefix.
    key = unicodedata.normalize("NFKC", text).replace("μ", "u").replace("∕", "/").replace("⁄", "/")
    key = "".join(_PER.sub("/", key).split())
    return _SUPERSCRIPT.sub(r"\1\2", _POWER.sub(r"10*\1", key)).rstrip(".")

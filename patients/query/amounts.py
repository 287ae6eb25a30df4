"""What a search for quantities or numbers reads in an element: intervals with a unit.

Nothing here trusts the shape of a resource: what is not what its type says is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Context, Decimal
from typing import Any, NamedTuple

from .definitions import Path

EXACT = Context(prec=400)
"""Arithmetic on numbers of searches and records: no rounding at the lengths they may have."""

CURRENCIES = "urn:iso:std:iso:4217"


class Amount(NamedTuple):
    """A quantity or number: an interval, and its unit. None is an open end.

    `*_side` is 0 for the cut just below the number and 1 for the cut just above it, so that the point 5 is
    (5, 0) to (5, 1), and "<5" is open to (5, 0).
    """

    low: Decimal | None
    low_side: int
    high: Decimal | None
    high_side: int
    system: str | None = None
    code: str | None = None
    unit: str | None = None


def amounts(node: Any, path: Path) -> Iterator[Amount]:
    """Yield the interval of a quantity or number; one without a value has none."""
    kind = path.kind
    found: Amount | None
    if kind == "Range":
        found = _range(node)
    elif kind == "SampledData":
        found = _sampled(node)
    elif kind == "Money":
        found = _point(node.get("value"), CURRENCIES, node.get("currency"), node.get("currency"))
    elif isinstance(node, dict):
        found = _quantity(node)
    else:
        found = _point(node, None, None, None)
    if found is not None:
        yield found


def number(value: Any) -> Decimal | None:
    """Return a JSON number as a Decimal; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    found = Decimal(value)
    return found if found.is_finite() else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _point(value: Any, system: Any, code: Any, unit: Any) -> Amount | None:
    found = number(value)
    if found is None:
        return None
    return Amount(found, 0, found, 1, _text(system), _text(code), _text(unit))


def _quantity(node: dict[str, Any]) -> Amount | None:
    point = _point(node.get("value"), node.get("system"), node.get("code"), node.get("unit"))
    if point is None:
        return None
    match node.get("comparator"):
        case "<":
            return point._replace(low=None, low_side=0, high_side=0)
        case "<=":
            return point._replace(low=None, low_side=0)
        case ">":
            return point._replace(low_side=1, high=None, high_side=0)
        case ">=":
            return point._replace(high=None, high_side=0)
    return point


def _range(node: dict[str, Any]) -> Amount | None:
    low, high = node.get("low"), node.get("high")
    ends = [_quantity({**end, "comparator": None}) if isinstance(end, dict) else None for end in (low, high)]
    told = ends[0] or ends[1]
    if told is None:
        return None
    return told._replace(
        low=ends[0].low if ends[0] else None, low_side=0, high=ends[1].high if ends[1] else None,
        high_side=1 if ends[1] else 0,
    )  # fmt: skip


def _sampled(node: dict[str, Any]) -> Amount | None:
    """Return the bounds of sampled data: the least and the greatest of its values."""
    origin = node.get("origin")
    if not isinstance(origin, dict):
        return None
    zero = number(origin.get("value"))
    factor = number(node.get("factor", 1))
    data = node.get("data")
    if zero is None or factor is None or not isinstance(data, str):
        return None
    found = []
    for word in data.split():
        value: Decimal | None
        if word in ("L", "U"):
            value = number(node.get("lowerLimit" if word == "L" else "upperLimit"))
        else:
            value = _sample(word)
            value = None if value is None else EXACT.add(zero, EXACT.multiply(value, factor))
        if value is not None:
            found.append(value)
    if not found:
        return None
    point = _point(min(found), origin.get("system"), origin.get("code"), origin.get("unit"))
    return None if point is None else point._replace(high=max(found))


_NUMBER = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?")


def _sample(word: str) -> Decimal | None:
    return Decimal(word) if word.isascii() and _NUMBER.fullmatch(word) else None

"""What episodes used up (requests, tokens, cost, …), summed without knowing what an agent counts.

Agents keep `usage` as plain JSON. Sums do not depend on the order of the episodes: whole numbers and `Fraction`s of
floats are added, names are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from typing import Any

_NAMES = frozenset({"seed"})
"""What names an episode rather than being used up by it: not summed."""
_LARGEST = 1 << 63
_DEEPEST = 8
"""Objects within objects that are followed; an agent's usage is its own to write."""


class Usage:
    """A running sum.

    Numbers are added, objects are summed key by key, text and the items of lists are counted by what they say, true
    counts 1. A value that is null, or of another kind than it was before, is unknown: it adds nothing, and `unknown`
    says how many episodes had it.
    """

    __slots__ = ("_sums", "_unknown", "episodes")

    def __init__(self) -> None:
        self.episodes = 0
        self._sums: dict[str, Any] = {}
        self._unknown: Counter[str] = Counter()

    def add(self, usage: Mapping[str, Any]) -> None:
        """Add an episode's usage; an empty one is not counted."""
        if usage:
            self.episodes += 1
            self._add_all(self._sums, usage, "", 0)

    def total(self) -> dict[str, Any] | None:
        """Return the sums with `episodes` (how many told theirs) and `unknown`; None where no episode told any."""
        if not self.episodes:
            return None
        return {**_plain(self._sums), "episodes": self.episodes, "unknown": dict(sorted(self._unknown.items()))}

    def _add_all(self, sums: dict[str, Any], usage: Mapping[str, Any], where: str, depth: int) -> None:
        for key, value in usage.items():
            name = f"{where}{key}"
            if key in _NAMES:
                continue
            if value is None:
                self._unknown[name] += 1
            elif isinstance(value, bool | int | float):
                had = sums.setdefault(key, 0)
                if isinstance(had, int | Fraction) and isfinite(value):
                    sums[key] = had + _exact(value)
                else:
                    self._unknown[name] += 1
            elif isinstance(value, Mapping):
                inner = sums.setdefault(key, {})
                if type(inner) is dict and depth < _DEEPEST:
                    self._add_all(inner, value, f"{name}.", depth + 1)
                else:
                    self._unknown[name] += 1
            else:
                counts = sums.setdefault(key, Counter())
                if isinstance(counts, Counter):
                    counts.update(map(str, [value] if isinstance(value, str) else value))
                else:
                    self._unknown[name] += 1


def _exact(value: float) -> int | Fraction:
    return Fraction(value) if isinstance(value, float) else int(value)


def _plain(sums: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _plain(value) if isinstance(value, Mapping) else _number(value) for key, value in sorted(sums.items())}


def _number(value: int | Fraction) -> float | None:
    """Return a sum as JSON takes it: what 64 bits do not hold as a float, and None where it is none either."""
    if isinstance(value, int) and abs(value) < _LARGEST:
        return value
    try:
        return float(value)
    except OverflowError:
        return None

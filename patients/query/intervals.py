"""Indexes of what is compared: dates, numbers and quantities, as half-open intervals of integers."""

from __future__ import annotations

from bisect import bisect_left
from decimal import Decimal
from typing import Any

import numpy as np

from wardround.patients.times import Instant

from .amounts import EXACT, Amount, amounts
from .definitions import Path
from .extract import TICKS, spans
from .postings import Array, BaseIndex, Rows, extremes
from .values import Number, Span, Value, widened


class _Intervals(BaseIndex):
    """Half-open intervals as two integer arrays."""

    def _fill(self, found: list[tuple[int, int, int]]) -> None:
        table = np.array(found, dtype=np.int64).reshape(-1, 3)
        self.rows = table[:, 0].astype(np.intp)
        self.low, self.high = np.ascontiguousarray(table[:, 1]), np.ascontiguousarray(table[:, 2])
        self._whole = len(found) == self.size and bool((self.rows == np.arange(self.size)).all())

    def _where(self, chosen: Array) -> Array:
        return chosen if self._whole else self._at(self.rows[chosen])

    def _compare(self, prefix: str, low: int, high: int) -> Array:
        """Compare with the search's interval; `low` and `high` are its cuts."""
        match prefix:
            case "eq":
                return (self.low >= low) & (self.high <= high)
            case "ne":
                return (self.low < low) | (self.high > high)
            case "gt":
                return self.high > high
            case "lt":
                return self.low < low
            case "ge":
                return self.high > low
            case "le":
                return self.low < high
            case "sa":
                return self.low >= high
            case "eb":
                return self.high <= low
        return (self.low < high) & (self.high > low)  # ap, of the interval that was widened


class DateIndex(_Intervals):
    """Dates, periods and timings."""

    def __init__(self, rows: Rows, size: int, paths: tuple[Path, ...]) -> None:
        super().__init__(size)
        self._fill([(row, *span) for row, element, path in self._read(rows, paths) for span in spans(element, path)])

    def mask(self, value: Value, now: Instant) -> Array:
        """Return the rows with a date that compares so."""
        assert isinstance(value, Span)
        low, high = value.low, value.high
        if value.prefix == "ap":
            gap = abs(now * TICKS - low) // 10
            low, high = low - gap, high + gap
        return self._where(self._compare(value.prefix, low, high))

    def keys(self, *, descending: bool) -> dict[int, Any]:
        """Sort by start, or by end when descending."""
        ends = self.high if descending else self.low
        return extremes(zip(self.rows.tolist(), ends.tolist(), strict=True), greatest=descending)


_OPEN = 1 << 40


class AmountIndex(_Intervals):
    """Quantities and numbers, compared exactly: by their rank among the distinct numbers of the block."""

    def __init__(self, rows: Rows, size: int, paths: tuple[Path, ...]) -> None:
        super().__init__(size)
        found = [(row, amount) for row, element, path in self._read(rows, paths) for amount in amounts(element, path)]
        ends = {end for _, amount in found for end in (amount.low, amount.high) if end is not None}
        self.numbers = sorted(ends)
        ranks = {number: 4 * rank for rank, number in enumerate(self.numbers)}
        self._fill(
            [
                (
                    row,
                    -_OPEN if amount.low is None else ranks[amount.low] + 2 * amount.low_side,
                    _OPEN if amount.high is None else ranks[amount.high] + 2 * amount.high_side,
                )
                for row, amount in found
            ]
        )
        units: dict[tuple[str | None, str | None, str | None], int] = {}
        self.unit = np.array([units.setdefault(_unit(amount), len(units)) for _, amount in found], dtype=np.intp)
        self.units = tuple(units)

    def _cut(self, number: Decimal, side: int) -> int:
        at = bisect_left(self.numbers, number)
        if at < len(self.numbers) and self.numbers[at] == number:
            return 4 * at + 2 * side
        return 4 * at - 1

    def mask(self, value: Value, now: Instant) -> Array:
        """Return the rows with an amount that compares so and has the unit."""
        assert isinstance(value, Number)
        sides = (0, 1)
        low = high = value.value
        if value.prefix in ("eq", "ne"):
            low, high = EXACT.subtract(low, value.half), EXACT.add(high, value.half)
            sides = (0, 0)
        elif value.prefix == "ap":
            low, high = widened(low)
        chosen = self._compare(value.prefix, self._cut(low, sides[0]), self._cut(high, sides[1]))
        if value.system is not None:
            wanted = np.array([_has_unit(unit, value.system, value.code) for unit in self.units], dtype=bool)
            chosen = chosen & wanted[self.unit] if len(self.units) else chosen
        return self._where(chosen)

    def keys(self, *, descending: bool) -> dict[int, Any]:
        """Sort by the number, whatever the unit."""
        exact = [self._key(end) for end in (self.high if descending else self.low).tolist()]
        return extremes(zip(self.rows.tolist(), exact, strict=True), greatest=descending)

    def _key(self, end: int) -> tuple[int, Decimal, int]:
        if abs(end) == _OPEN:
            return (1 if end > 0 else -1, Decimal(0), 0)
        return (0, self.numbers[end // 4], end % 4)


def _unit(amount: Amount) -> tuple[str | None, str | None, str | None]:
    return amount.system, amount.code, amount.unit


def _has_unit(unit: tuple[str | None, str | None, str | None], system: str, code: str | None) -> bool:
    own_system, own_code, own_unit = unit
    if not system:
        return code in (own_code, own_unit)
    return own_system == system and (code is None or own_code == code)

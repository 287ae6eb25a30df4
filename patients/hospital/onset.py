"""How long ago something began: one count in one unit, for notes and for interviews alike."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from wardround.patients.times import DAY, Instant

HOUR: Instant = DAY // 24
Unit: TypeAlias = Literal["hour", "day", "week", "month", "year"]
_SIZES: tuple[tuple[Unit, int, int], ...] = (
    ("hour", HOUR, 13),
    ("day", DAY, 14),
    ("week", 7 * DAY, 9),
    ("month", 730 * HOUR, 24),
)
"""Units with the counts from which the next is used: nobody counts 21 hours, it has been there for a day."""
_YEAR = 8766 * HOUR


class Elapsed(NamedTuple):
    """A length of time as it is told."""

    number: int
    unit: Unit


def elapsed(begin: Instant, end: Instant) -> Elapsed:
    """Return a length of time rounded to its natural unit, one at least: 5 hours, 3 days, 1 week, 4 months, 6 years."""
    length = max(end - begin, HOUR)
    for unit, size, below in _SIZES:
        count = (length + size // 2) // size
        if count >= below:
            continue
        if (count, unit) == (7, "day"):
            return Elapsed(1, "week")
        return Elapsed(1, "year") if (count, unit) == (12, "month") else Elapsed(max(count, 1), unit)
    return Elapsed(max((length + _YEAR // 2) // _YEAR, 1), "year")

"""Dates as answers write them, compared with the day of a measurement."""

from __future__ import annotations

import re
from datetime import UTC, datetime

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
ISO = re.compile(r"(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})")
DAY_FIRST = re.compile(r"(\d{1,2})\s+([a-z]{3})[a-z]{0,6}(?:\s+(\d{4}))?")
MONTH_FIRST = re.compile(r"([a-z]{3})[a-z]{0,6}\s+(\d{1,2})(?:\s*,?\s*(\d{4}))?")
HAN = re.compile(r"(\d{1,2})月(\d{1,2})")


def day_of(instant: int | None) -> tuple[int, int, int] | None:
    """Return (year, month, day) of an instant in microseconds UTC."""
    if instant is None:
        return None
    at = datetime.fromtimestamp(instant // 1_000_000, UTC)
    return at.year, at.month, at.day


def stated_day(words: str) -> tuple[int | None, int, int] | None:
    """Return (year or None, month, day) that words name, or None."""
    if found := ISO.search(words):
        return int(found[1]), int(found[2]), int(found[3])
    if (found := DAY_FIRST.search(words)) and found[2] in MONTHS:
        return (int(found[3]) if found[3] else None), MONTHS.index(found[2]) + 1, int(found[1])
    if (found := MONTH_FIRST.search(words)) and found[1] in MONTHS:
        return (int(found[3]) if found[3] else None), MONTHS.index(found[1]) + 1, int(found[2])
    if found := HAN.search(words):
        return None, int(found[1]), int(found[2])
    return None


def same_day(words: str, day: tuple[int, int, int] | None) -> bool:
    """Tell whether the words that date a claim agree with a day; words that name no day agree with any."""
    if not words or day is None:
        return True
    stated = stated_day(words.lower())
    if stated is None:
        return True
    year, month, number = stated
    return (month, number) == day[1:] and (year is None or year == day[0])

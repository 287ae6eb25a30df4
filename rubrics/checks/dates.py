"""Dates as answers write them, compared with the day of a measurement."""

from __future__ import annotations

from datetime import UTC, datetime

from wardround.rubrics.reading.moments import stated_day


def day_of(instant: int | None) -> tuple[int, int, int] | None:
    """Return (year, month, day) of an instant in microseconds UTC."""
    if instant is None:
        return None
    at = datetime.fromtimestamp(instant // 1_000_000, UTC)
    return at.year, at.month, at.day


def same_day(words: str, day: tuple[int, int, int] | None) -> bool:
    """Tell whether the words that date a claim agree with a day; words that name no day agree with any."""
    if not words or day is None:
        return True
    stated = stated_day(words.lower())
    if stated is None:
        return True
    year, month, number = stated
    return (month, number) == day[1:] and (year is None or year == day[0])

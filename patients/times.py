"""Instants as integers: microseconds since 1970-01-01T00:00:00Z, parsed and written without a clock or a locale."""

from __future__ import annotations

import re
from calendar import isleap
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

Instant = int
"""Microseconds since the epoch, UTC."""

SECOND = 1_000_000
"""A second as a difference of instants (microseconds)."""
DAY = 86_400 * SECOND
"""A day of 24 hours as a difference of instants (microseconds)."""
NEVER: Instant = 2**62
"""A time that no anchor reaches: facts that are never visible."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_FORM = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?)?)?)?",
    re.ASCII,
)
_FIRST = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)
_LAST = (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)
"""Seconds of the epoch that can be written."""


def parse_period(text: str) -> tuple[Instant, Instant]:
    """Read a FHIR date, dateTime or instant (or `YYYY-MM-DD HH:MM:SS`) as the half-open span it covers.

    Args:
        text: Partial dates cover their whole year, month or day; a time without zone is read as UTC.

    Returns:
        `(start, end)` in microseconds, `end` exclusive.

    Raises:
        ValueError: `text` is no such date, or the day does not exist.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"`{text}` is not a date (expected YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ss)")
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    start = (date(int(year), int(month or 1), int(day or 1)).toordinal() - _EPOCH_DAY) * DAY
    if hour:
        start += _clock(int(hour), int(minute), int(second or 0))
    if fraction:
        start += int(fraction[:6].ljust(6, "0"))
    if zone and zone != "Z":
        sign = 1 if zone[0] == "+" else -1
        start -= sign * (int(zone[1:3]) * 60 + int(zone[4:6])) * 60 * SECOND
    return start, start + _width(int(year), month, day, hour, second, fraction)


def _clock(hour: int, minute: int, second: int) -> int:
    if hour > 23 or minute > 59 or second > 59:
        datetime(2000, 1, 1, hour, minute, second)  # raises, and says which of them is wrong
    return ((hour * 60 + minute) * 60 + second) * SECOND


def _width(
    year: int, month: str | None, day: str | None, hour: str | None, second: str | None, fraction: str | None
) -> int:
    if fraction:
        return 1
    if second:
        return SECOND
    if hour:
        return 60 * SECOND
    if day:
        return DAY
    if month:
        here = datetime(year, int(month), 1, tzinfo=UTC)
        if month == "12":  # of the year 9999, too, which has no next one
            return 31 * DAY
        there = datetime(year, int(month) + 1, 1, tzinfo=UTC)
        return (there - here) // timedelta(microseconds=1)
    return (366 if isleap(year) else 365) * DAY


def parse_instant(text: str) -> Instant:
    """Return the first microsecond of the span `text` covers.

    Examples:
        >>> parse_instant("1970-01-02")
        86400000000
        >>> parse_instant("1970-01-01T01:00:00+01:00")
        0
    """
    return parse_period(text)[0]


def format_instant(instant: Instant) -> str:
    """Write an instant as a FHIR dateTime in UTC, whole seconds; outside the years 1 to 9999 the nearest there is.

    Examples:
        >>> format_instant(parse_instant("2180-05-06 22:23:00")), format_instant(NEVER)
        ('2180-05-06T22:23:00Z', '9999-12-31T23:59:59Z')
    """
    day, seconds = divmod(min(max(instant // SECOND, _FIRST), _LAST), 86_400)
    return f"{_day_text(day)}T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}Z"


@lru_cache(maxsize=1 << 12)
def _day_text(day: int) -> str:
    """Write the date so many days after 1970-01-01, of the years 1 to 9999."""
    return date.fromordinal(_EPOCH_DAY + day).isoformat()

"""Reading single cells of a MIMIC-IV table: times, numbers, codes. Exact, and silent only about what is empty."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from wardround.patients.times import DAY, SECOND, Instant, parse_instant

from .report import Tally

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d):(\d\d):(\d\d)(?:\.\d{1,6})?)?", re.ASCII)
_NUMBER = re.compile(r"([+-]?)(?:(\d{1,40})(?:\.(\d{0,40}))?|\.(\d{1,40}))(?:[eE]([+-]?\d{1,3}))?", re.ASCII)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_COMPARED = re.compile(r"(<=|>=|<|>)\s*(\d[\d,]*(?:\.\d+)?|\.\d+)", re.ASCII)
_FIGURE = re.compile(r"\d{1,3}(?:,\d{3})+|\d+\.0+|\d+(?:[.,]\d+)?[eE]\+?\d+", re.ASCII)
_RANGE = re.compile(r"(\d+(?:\.\d+)?)\s*-\s*(\d+(?:\.\d+)?)", re.ASCII)

_DIGITS = 18
"""Digits before the point, and greatest power of ten, of a number: a 64-bit integer holds them."""

YEARS = range(1900, 2301)
"""Years that a time of MIMIC-IV can lie in: its dates are 2100 to 2215, births reach back by a life."""

MASKED = "___"
"""What MIMIC writes in place of text it de-identified."""


class Moment(NamedTuple):
    """A time of the source: naive wall clock, written with `Z` (docs/mimic.md, "Times")."""

    text: str
    """FHIR dateTime, or date where the source gives only the day."""
    start: Instant
    """First microsecond."""
    known: Instant
    """When a fact that carries only this time is known: the moment itself, or the last second of its day."""


@lru_cache(maxsize=65_536)
def moment(text: str | None) -> Moment | None:
    """Read `YYYY-MM-DD HH:MM:SS` or `YYYY-MM-DD`.

    Args:
        text: The cell; None for an empty one.

    Returns:
        None for an empty cell.

    Raises:
        ValueError: Not such a time (a spreadsheet's `7/31/2142 1:54`), no such day, or a year outside `YEARS`.
    """
    if text is None or not (text := text.strip()):
        return None
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"`{text}` is not a time (expected YYYY-MM-DD HH:MM:SS)")
    day, hour, minute, second = match.groups()
    if int(day[:4]) not in YEARS:
        raise ValueError(f"`{text}` is not a time (a year from {YEARS[0]} to {YEARS[-1]} expected)")
    start = parse_instant(day if hour is None else f"{day}T{hour}:{minute}:{second}Z")
    if hour is None:
        return Moment(day, start, end_of_day(start))
    return Moment(f"{day}T{hour}:{minute}:{second}Z", start, start)


def end_of_day(start: Instant) -> Instant:
    """Return the last second of the day in which `start` lies; whole seconds, so that it survives being written."""
    return start - start % DAY + DAY - SECOND


def clean(text: str | None) -> str | None:
    """Strip outer blanks; an empty or blank cell is None."""
    if text is None:
        return None
    return text.strip() or None


@lru_cache(maxsize=65_536)
def number(text: str | None) -> str | None:
    """Return the cell as a JSON number with the source's own digits (0.20 stays 0.20), or None if it is no number.

    A figure of more than 18 digits before the point is none: it is kept as words.

    Examples:
        >>> number("0.20"), number("5."), number(".5"), number("007"), number("1-2")
        ('0.20', '5', '0.5', '7', None)
    """
    if text is None:
        return None
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    sign, whole, fraction, bare, exponent = match.groups()
    digits = (whole or "0").lstrip("0") or "0"
    if len(digits) > _DIGITS or (exponent and abs(int(exponent)) > _DIGITS):
        return None  # no measurement, and more than JSON readers hold: words
    fraction = fraction or bare
    return (
        ("-" if sign == "-" else "")
        + digits
        + (f".{fraction}" if fraction else "")
        + (f"e{exponent}" if exponent else "")
    )


def note_unread(figure: str | None, tally: Tally) -> None:
    """Count a cell of a column of numbers that holds something else (`7,5`, `NaN`): it is not carried."""
    if figure is not None and (figure := figure.strip()) and figure != MASKED and number(figure) is None:
        tally.note("valuenum is not a number; not read")


def grouped_number(text: str | None) -> str | None:
    """As `number`, and reads thousands commas: `25,000` is 25000."""
    if text is not None and _THOUSANDS.fullmatch(stripped := text.strip()):
        return number(stripped.replace(",", ""))
    return number(text)


def compared(text: str) -> tuple[str, str] | None:
    """Split `>300` into comparator and number; None if the text is nothing of the kind."""
    match = _COMPARED.fullmatch(text)
    if match is None:
        return None
    value = grouped_number(match[2])
    return None if value is None else (match[1], value)


def span(text: str) -> tuple[str, str] | None:
    """Split `325-650` into its two numbers, the lower first; None for anything else."""
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        return None
    low, high = number(match[1]), number(match[2])
    return None if low is None or high is None else (low, high)


def whole(text: str | None) -> int | None:
    """Read a key of MIMIC-IV: a whole number of at most 18 digits, else None."""
    if text is None:
        return None
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        return None
    return int(text)


def year_of(text: str | None) -> int | None:
    """Read a year of `YEARS`, else None."""
    value = whole(text)
    return value if value is not None and value in YEARS else None


NDC_DIGITS = 11
GSN_DIGITS = 6
LOST = "{} has lost its leading zeros; not carried"
"""What the account says then."""


def lost_zeros(code: str, digits: int) -> bool:
    """Tell whether a drug code that has a fixed number of digits in MIMIC-IV is a number with fewer.

    Spreadsheets drop leading zeros, write `93104801.0` or shorten to `9.31E+07`; what is left may be another drug's.
    """
    plain = code.isascii() and code.isdigit()
    return len(code) < digits if plain else _FIGURE.fullmatch(code) is not None

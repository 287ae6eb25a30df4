"""Doses and frequencies as people write them, to the structured parts of an R4 dosage; unread parts stay text only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from .knowledge import frequencies, lexicon, unit
from .resource import decimal

_UCUM = "http://unitsofmeasure.org"
_AMOUNT = re.compile(
    r"(\d{1,9}(?:,\d{3})*(?:\.\d{1,6})?)(?:\s*(?:-|–|to|~|至|到)\s*(\d{1,9}(?:\.\d{1,6})?))?\s*(\S.{0,30})"
)
_EVERY = re.compile(r"(?:q|every )\s*(\d{1,3})\s*(h|hr|hrs|hour|hours|d|day|days|wk|week|weeks)")
_PERIODS = {"h": "h", "d": "d", "w": "wk"}
_AS_NEEDED = re.compile(
    r"(?:^|[\s,;(])(?:prn|p\.r\.n\.|as needed|as required|必要时|需要时)(?:$|[\s,;)])|必要时|需要时"
)


def dose_and_rate(text: str) -> dict[str, Any] | None:
    """Read a dose with its unit ("500 mg", "1-2 tablets", "0.25 mg") as a dosage's `doseAndRate` element.

    Args:
        text: One amount or one range, then the unit.

    Returns:
        `doseQuantity` or `doseRange` with the digits as written and UCUM where the unit is known; None where the text
        is not read as one amount.
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        return None
    low, high, written = match[1].replace(",", ""), match[2], match[3].strip()
    if any(char.isdigit() for char in written):
        return None  # a second number: a concentration or several doses, not one amount
    if high is None:
        return {"doseQuantity": _quantity(low, written)}
    return {"doseRange": {"low": _quantity(low, written), "high": _quantity(high, written)}}


def _quantity(number: str, written: str) -> dict[str, Any]:
    quantity: dict[str, Any] = {"value": decimal(_plain(number)), "unit": written}
    known = unit(written)
    if known is not None and known.ucum:
        quantity |= {"system": _UCUM, "code": known.ucum}
    return quantity


def _plain(number: str) -> str:
    """Return the digits as JSON allows them: no leading zeros."""
    whole, dot, rest = number.partition(".")
    return (whole.lstrip("0") or "0") + dot + rest


def timing(text: str) -> dict[str, Any]:
    """Read a frequency as an R4 Timing: always its text, and `repeat` where the wording is known."""
    out: dict[str, Any] = {"code": {"text": text}}
    repeat = _repeat(_AS_NEEDED.sub(" ", text.casefold()).strip(" ,;()"))
    if repeat is not None:
        out["repeat"] = repeat
    return out


def as_needed(text: str) -> bool:
    """Tell whether a frequency is on demand (PRN)."""
    return _AS_NEEDED.search(text.casefold()) is not None


def _repeat(text: str) -> dict[str, Any] | None:
    known = _frequencies().get(lexicon().fold(text))
    if known is not None:
        return dict(known)
    every = _EVERY.fullmatch(text)
    if every is None:
        return None
    return {"frequency": 1, "period": int(every[1]), "periodUnit": _PERIODS[every[2][0]]}


@cache
def _frequencies() -> dict[str, Mapping[str, Any]]:
    """Return folded wording → `Timing.repeat`."""
    fold = lexicon().fold
    return {fold(wording): repeat for wording, repeat in frequencies().items()}

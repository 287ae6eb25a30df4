"""Reads doses and frequencies as the drug profiles write them, exactly, so that they can be compared and added up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson

_AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,4})?) ([A-Za-z]{1,12})((?:/[A-Za-z]{1,6}){0,2})")
_EVERY = re.compile(r"every (\d{1,3}) (hours|days|weeks)")
_DAYS = {"hours": Fraction(1, 24), "days": Fraction(1), "weeks": Fraction(7)}
_PERIODS = {"h": Fraction(1, 24), "d": Fraction(1), "wk": Fraction(7), "mo": Fraction(30)}
_SCALES = {"mcg": ("mg", -3), "g": ("mg", 3), "L": ("mL", 3), "patches": ("patch", 0)}


class DoseAmount(NamedTuple):
    """An amount of drug in a common unit: masses in mg, volumes in mL, anything else as written, in the singular."""

    value: Decimal
    unit: str
    """With what it is for, where it is a rate ("mg/kg/min")."""


@cache
def dose_amount(text: str) -> DoseAmount | None:
    """Read "500 mg", "2 puffs" or "0.05 mcg/kg/min"; None where it is not one amount with a unit."""
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return None
    unit, shift = _SCALES.get(match[2], (match[2], 0))
    if shift == 0 and len(unit) > 2:
        unit = unit.removesuffix("s")
    per = match[3].replace("/hour", "/h").replace("/hr", "/h")
    return DoseAmount(Decimal(match[1]).scaleb(shift), unit + per)


@cache
def times_a_day(frequency: str) -> Fraction | None:
    """Return how often a day a frequency means; one for "once"; None for "continuous" and what is not known."""
    wording = frequency.casefold()
    known = _wordings().get(wording)
    if known is not None:
        return known
    match = _EVERY.fullmatch(wording)
    return None if match is None else 1 / (int(match[1]) * _DAYS[match[2]])


@cache
def frequencies() -> Mapping[str, Mapping[str, Any]]:
    """Return wording → `Timing.repeat`, from `data/frequencies.json`."""
    data = orjson.loads(resources.files("wardround.patients").joinpath("data", "frequencies.json").read_bytes())
    return MappingProxyType({wording: entry["repeat"] for entry in data["entries"] for wording in entry["wordings"]})


@cache
def _wordings() -> dict[str, Fraction]:
    return {wording.casefold(): _rate(repeat) for wording, repeat in frequencies().items()}


def _rate(repeat: Mapping[str, Any]) -> Fraction:
    if "count" in repeat:
        return Fraction(repeat["count"])
    period: Fraction = repeat["period"] * _PERIODS[repeat["periodUnit"]]
    return Fraction(repeat["frequency"]) / period

"""How often: "BID" = "q12h" = "twice daily" = "每日两次"; once; as needed; with the evening meal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from .vocabulary import Hit, Phrases, normal, table

_Meaning = Mapping[str, Any]
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")
"""Joins words ("twice-daily"); between numbers it is a range."""


@dataclass(frozen=True, slots=True)
class Frequency:
    """What a text says about how often."""

    low: Fraction | None = None
    """Times a day; None where only once, continuous, as needed or an anchor was said."""
    high: Fraction | None = None
    once: bool = False
    continuous: bool = False
    prn: bool = False
    anchors: frozenset[str] = frozenset()
    """When in the day: morning, bedtime, evening_meal …"""
    days: frozenset[str] = frozenset()
    conflict: bool = False
    """Two rates that cannot both be meant."""

    @property
    def stated(self) -> bool:
        """Whether it says how often at all ("as needed" alone does not)."""
        return self.conflict or self.once or self.continuous or self.low is not None


def same_frequency(wanted: Frequency, got: Frequency) -> bool:
    """Tell whether `got` means `wanted`; it may say more exactly when in the day."""
    if wanted.conflict or got.conflict:
        return False
    how = (wanted.low, wanted.high, wanted.once, wanted.continuous, wanted.prn)
    if how != (got.low, got.high, got.once, got.continuous, got.prn):
        return False
    return wanted.anchors <= _widened(got.anchors) and wanted.days <= got.days


def read_frequency(text: str) -> Frequency:
    """Read how often from an argument, as written."""
    hits = _hits(_HYPHEN.sub(" ", normal(text)))
    meanings = [hit.meaning for hit in hits]
    anchors = frozenset(meaning["anchor"] for meaning in meanings if "anchor" in meaning)
    days = frozenset(meaning["day"] for meaning in meanings if "day" in meaning)
    plain = {_rate(meaning) for meaning in meanings if "hours" in meaning and "anchor" not in meaning}
    anchored = {meaning["anchor"]: _rate(meaning) for meaning in meanings if "hours" in meaning and "anchor" in meaning}
    continuous = any(meaning.get("continuous") for meaning in meanings)
    prn = any(meaning.get("prn") for meaning in meanings)
    once = [meaning for meaning in meanings if meaning.get("once")]
    low = high = None
    if plain:
        low, high = sorted(plain)[0]
    elif anchored:  # "every morning and at bedtime" is twice a day
        low = sum((rate[0] for rate in anchored.values()), Fraction(0))
        high = sum((rate[1] for rate in anchored.values()), Fraction(0))
    elif days:
        low = high = Fraction(len(days), 7)
    elif anchors & {"with_meals", "before_meals", "after_meals"} and not once:
        low = high = Fraction(table("frequencies")["meals_a_day"])
    if low == Fraction(1, 7) and days:
        low = high = Fraction(len(days), 7)
    return Frequency(
        low=low,
        high=high,
        once=bool(once) and low is None and not continuous,
        continuous=continuous,
        prn=prn,
        anchors=anchors,
        days=days,
        conflict=len(plain) > 1,
    )


def _rate(meaning: _Meaning) -> tuple[Fraction, Fraction]:
    hours = Fraction(meaning["hours"])
    return Fraction(meaning["times"]) * 24 / hours, Fraction(meaning.get("times_high", meaning["times"])) * 24 / hours


def _widened(anchors: frozenset[str]) -> frozenset[str]:
    wider: Mapping[str, list[str]] = table("frequencies")["wider"]
    return anchors | frozenset(more for anchor in anchors for more in wider.get(anchor, ()))


@cache
def _phrases() -> Phrases[_Meaning]:
    return Phrases((word, entry) for entry in table("frequencies")["phrases"] for word in entry["words"])


@cache
def _templates() -> tuple[tuple[re.Pattern[str], _Meaning], ...]:
    """Compile the templates; every repeat in them is bounded, so matching stays linear."""
    numbers = "|".join(sorted((re.escape(word) for word in _numbers()), key=len, reverse=True))
    number = rf"(?:\d{{1,4}}(?:\.\d{{1,3}})?|{numbers})"
    span = rf"(?P<low>{number})(?: ?(?:-|–|~|to|至|或|or) ?(?P<high>{number}))?"
    compiled = []
    for entry in table("frequencies")["templates"]:
        for pattern in entry["patterns"]:
            body = pattern.replace("{r}", span).replace("{n}", number)
            compiled.append((re.compile(rf"(?<![a-z]){body}(?![a-z])"), entry))
    return tuple(compiled)


@cache
def _numbers() -> dict[str, Fraction]:
    words: Mapping[str, str] = table("doses")["numbers"]
    return {word: Fraction(value) for word, value in words.items() if word not in ("a", "an", "half", "半")}


def _hits(text: str) -> list[Hit[_Meaning]]:
    """Return the phrases and templates found: leftmost, longest, none overlapping."""
    found = _phrases().find(text)
    for pattern, entry in _templates():
        found.extend(Hit(match.start(), match.end(), _timed(match, entry)) for match in pattern.finditer(text))
    found.sort(key=lambda hit: (hit.start, -hit.end))
    kept: list[Hit[_Meaning]] = []
    for hit in found:
        if not kept or hit.start >= kept[-1].end:
            kept.append(hit)
        elif hit.end - hit.start > kept[-1].end - kept[-1].start:
            kept[-1] = hit
    return kept


def _timed(match: re.Match[str], entry: _Meaning) -> _Meaning:
    """Turn a template found into a rate."""
    if "fixed" in entry:
        return {"times": Fraction(1), "hours": entry["hours"]}
    low = _value(match.group("low"))
    high = _value(match.group("high")) if match.group("high") else low
    if not low or not high:
        return {}
    if entry["per"] == "interval":
        hours = Fraction(entry["hours"])
        return {"times": 24 / (high * hours), "times_high": 24 / (low * hours), "hours": 24}
    return {"times": low, "times_high": high, "hours": entry["hours"]}


def _value(text: str) -> Fraction:
    return _numbers().get(text) or Fraction(text)

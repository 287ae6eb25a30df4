"""Dates and clock times as answers write them, put in order: which of several dated numbers is the latest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from .claims import Measured
from .document import Document, Sentence

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
ISO = re.compile(r"(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})")
DAY_FIRST = re.compile(r"(\d{1,2})\s+([a-z]{3})[a-z]{0,6}(?:\s+(\d{4}))?")
MONTH_FIRST = re.compile(r"([a-z]{3})[a-z]{0,6}\s+(\d{1,2})(?:\s*,?\s*(\d{4}))?")
HAN = re.compile(r"(\d{1,2})月(\d{1,2})")
CLOCK = re.compile(r"^(\d{1,2}):(\d{2})$")
HALF_A_YEAR = 183

Day = tuple[int | None, int, int]


def stated_day(words: str) -> Day | None:
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


def order_of(words: Sequence[str]) -> list[int] | None:
    """Return sortable numbers for words that all name a day, or all a clock time, and no two the same; else None.

    Days without a year within half a year of each other are of one year; further apart, the turn of the year lies
    between them ("28 Dec", "2 Jan").
    """
    clocks = [CLOCK.match(text.strip()) for text in words]
    if all(clocks):
        numbers = [int(found[1]) * 60 + int(found[2]) for found in clocks if found is not None]
    else:
        days = [stated_day(text.lower()) for text in words]
        known = [day for day in days if day is not None]
        if len(known) < len(days):
            return None
        dated = all(year is not None for year, _, _ in known)
        numbers = [((year or 0) if dated else 0) * 372 + month * 31 + day for year, month, day in known]
        if not dated and max(numbers) - min(numbers) > HALF_A_YEAR:
            numbers = [number + 372 if number - min(numbers) <= HALF_A_YEAR else number for number in numbers]
    return numbers if len(set(numbers)) == len(numbers) else None


def dated_run(document: Document, sentence: Sentence, run: Sequence[Measured]) -> list[tuple[str, int]] | None:
    """Return (words, order) of the date of each number of a run where each has one of its own, else None."""
    places = [claim.token for claim in run]
    dates = [
        (ann.start, document.text(ann.start, ann.end))
        for ann in sentence.of("time")
        if order_of([document.text(ann.start, ann.end)]) is not None
    ]
    if len(dates) != len(run):
        return None
    marks = sorted([(at, "number") for at in places] + [(at, "date") for at, _ in dates])
    if any(one[1] == other[1] for one, other in pairwise(marks)):
        bounds = [sentence.start, *(_cut(document, one, other) for one, other in pairwise(places)), sentence.end]
        if any(not left <= at < right for (at, _), (left, right) in zip(dates, pairwise(bounds), strict=True)):
            return None
    words = [text for _, text in dates]
    numbers = order_of(words)
    return None if numbers is None else [(text.lower(), number) for text, number in zip(words, numbers, strict=True)]


def _cut(document: Document, one: int, other: int) -> int:
    """Return where the words of one number end and those of the next begin: at the first mark between them."""
    return next((i for i in range(one, other) if document.tokens[i].raw in ",，;；、"), other)


def aged(values: list[Measured]) -> list[Measured]:
    """Mark as old what another, later dated number of the same concept in the answer has overtaken.

    Only numbers in different sentences are compared: within one, `series.ordered` has done so.
    """
    runs: dict[tuple[str, str], list[int]] = {}
    for index, claim in enumerate(values):
        if claim.role == "measured" and claim.concepts and claim.time and order_of([claim.time]) is not None:
            runs.setdefault((claim.concept, claim.shape), []).append(index)
    out = list(values)
    for run in runs.values():
        fresh = [index for index in run if not values[index].old]
        if len({values[index].sentence for index in fresh}) < 2 or len(fresh) != len(
            {values[index].sentence for index in fresh}
        ):
            continue
        numbers = order_of([values[index].time for index in fresh])
        if numbers is None:
            continue
        for index, number in zip(fresh, numbers, strict=True):
            if number < max(numbers):
                out[index] = replace(out[index], old=True)
    return out

"""Movements of measurements over time: words of movement with their end points, series, then-and-now pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from wardround.patients import knowledge
from wardround.rubrics.rubric import Span

from .claims import Measured, StatusClaim, TrendClaim
from .cues import words
from .document import Document
from .status import MOVES

SPANNING = words("status.spanning")
TO_VALUE = 4
"""Tokens from a word of movement to the number it leads to."""
FLAT = 3
"""Percent by which a series may move and still count as stable."""
SLIGHT = 6
"""Percent by which numbers without a word of movement may differ and be called stable as well."""
TIGHT = words("trends.tight")
"""Concepts of which a few percent are much (sodium, pH)."""


def trends_of(document: Document, measured: list[Measured], statuses: list[StatusClaim]) -> list[TrendClaim]:
    """Return the movements: words, then series and then–now pairs of numbers."""
    trends: list[TrendClaim] = []
    levels = {(s.token, s.sentence) for s in statuses if s.status in ("high", "low")}
    for status in statuses:
        if status.status not in MOVES:
            continue
        ends = _ends(measured, status.concepts, status.sentence) or _range_ends(document, measured, status)
        chinese = document.tokens[status.token].kind == "c"
        if ends is None and chinese and (status.token, status.sentence) in levels:
            continue  # "乳酸明显升高": a level, no movement
        if ends is not None and _reached_first(status, *ends):
            continue
        start, end = ends if ends else (None, None)
        trends.append(
            TrendClaim(
                status.concept,
                status.concepts,
                status.status,
                status.flags,
                start,
                end,
                _span(document, status, start, end),
                status.sentence,
            )
        )
    said = {(trend.sentence, trend.concept, trend.direction) for trend in trends}
    trends.extend(t for t in _within(document, measured) if (t.sentence, t.concept, t.direction) not in said)
    trends.extend(_across(document, measured, {t.concept for t in trends}))
    return trends


def _reached_first(status: StatusClaim, start: Measured, end: Measured) -> bool:
    """As in "冲到320后回落，今天150": how the older value came about, not what happened since."""
    moved = direction(start, end)
    against = status.status != moved and moved in ("rising", "falling")
    return against and status.token < start.token <= status.token + TO_VALUE and start.token < end.token


def _within(document: Document, measured: list[Measured]) -> Iterator[TrendClaim]:
    """Yield the movements that the numbers of one sentence give, one for each concept."""
    seen: set[tuple[int, str]] = set()
    for claim in measured:
        key = (claim.sentence, claim.concept)
        if key in seen or not claim.concepts:
            continue
        seen.add(key)
        ends = _turned(measured, _ends(measured, claim.concepts, claim.sentence))
        if ends is not None and (moved := direction(*ends)):
            yield _moved(document, claim, moved, *ends)


def _turned(measured: list[Measured], ends: tuple[Measured, Measured] | None) -> tuple[Measured, Measured] | None:
    """As in "210 on Friday, 96 on Sunday, 188 today": the last move counts where it goes against the whole one."""
    if ends is None:
        return None
    first, last = ends
    between = [m for m in measured if m.concept == first.concept and m.sentence == first.sentence and m.old]
    later = [m for m in between if first.token < m.token < last.token and m.role == "measured" and m.shape == "one"]
    ways = {direction(first, last), direction(later[-1], last)} if later and last.shape == "one" else set()
    return (later[-1], last) if ways == {"rising", "falling"} else ends


def _moved(document: Document, claim: Measured, moved: str, start: Measured, end: Measured) -> TrendClaim:
    """Return the movement of a number's concept from one value to another."""
    span, slight = _cover(document, start, end), _slight(start, end)
    return TrendClaim(claim.concept, claim.concepts, moved, end.flags, start, end, span, claim.sentence, slight=slight)


def _across(document: Document, measured: list[Measured], known: set[str]) -> list[TrendClaim]:
    """Return movements that two neighbouring sentences or list items give as dated values."""
    latest: dict[str, Measured] = {}
    found: list[TrendClaim] = []
    for claim in measured:
        if not claim.concepts or claim.concept in known or claim.role != "measured" or claim.shape == "range":
            continue
        before = latest.get(claim.concept)
        latest[claim.concept] = claim
        if before is None or before.shape != claim.shape or not 0 < claim.sentence - before.sentence <= 2:
            continue
        if found and claim.series >= 0 and found[-1].end is before and before.series == claim.series:
            before = found.pop().start or before
        if not ((before.time or before.old) and (claim.time or claim.old)) or before.time == claim.time:
            continue
        start, end = (claim, before) if claim.old and not before.old else (before, claim)
        if moved := direction(start, end):
            found.append(_moved(document, claim, moved, start, end))
    return found


def _slight(start: Measured, end: Measured) -> bool:
    """Tell whether two values differ so little that they may be called stable."""
    first, last = start.values[0], end.values[0]
    if start.unit != end.unit or end.concept in TIGHT:
        return False
    return abs(last - first) * 100 <= abs(first) * SLIGHT


def direction(start: Measured, end: Measured) -> str:
    """Return which way two values move."""
    first, last = start.values[0], end.values[0]
    if start.unit != end.unit:
        converted = knowledge.convert(first, start.unit, end.unit, end.concept)
        if converted is None:
            return ""
        first = converted
    if abs(last - first) * 100 <= abs(first) * FLAT:
        return "stable"
    return "rising" if last > first else "falling"


def _ends(measured: list[Measured], concepts: tuple[str, ...], sentence: int) -> tuple[Measured, Measured] | None:
    """Return (older, newer) where a sentence gives two values of a concept and says which is older."""
    values = [
        m
        for m in measured
        if m.sentence == sentence
        and set(m.concepts) & set(concepts)
        and m.role in ("measured", "negated")
        and m.shape in ("one", "pair")
    ]
    if len({m.shape for m in values}) > 1:
        values = [m for m in values if m.shape == "one"]
    if len(values) < 2:
        return None
    old = [m for m in values if m.old]
    new = [m for m in values if not m.old]
    if old and new:
        first = old[0] if old[0].token < new[-1].token else old[-1]
        return first, new[-1]
    return None


def _range_ends(document: Document, measured: list[Measured], status: StatusClaim) -> tuple[Measured, Measured] | None:
    """Read "68 to 72" or "between 12.6 and 12.5" beside a word of movement as its end points."""
    mine = [c for c in measured if c.sentence == status.sentence and set(c.concepts) & set(status.concepts)]
    between = [c for c in mine if c.role == "range" and c.shape == "one"]
    if len(between) == 2 and direction(*between) == status.status:
        return replace(between[0], old=True), between[1]
    for claim in mine:
        if (
            claim.shape == "range"
            and claim.role in ("range", "measured")
            and len(claim.values) == 2
            and any(document.tokens[i].key in SPANNING for i in range(max(0, claim.token - 1), claim.token + 3))
        ):
            ends = [replace(claim, shape="one", values=(value,), value=str(value)) for value in claim.values]
            first, last = replace(ends[0], old=True), ends[1]
            if direction(first, last) == status.status:
                return first, last
    return None


def _span(document: Document, status: StatusClaim, start: Measured | None, end: Measured | None) -> Span:
    if start is None or end is None:
        return status.span
    return _cover(document, start, end)


def _cover(document: Document, one: Measured, other: Measured) -> Span:
    start, end = min(one.span.start, other.span.start), max(one.span.end, other.span.end)
    return Span(start=start, end=end, text=document.normal.source[start:end])

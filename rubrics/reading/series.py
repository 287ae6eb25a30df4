"""Several numbers of one concept in one sentence: which is the latest, and which order they were taken in."""

from __future__ import annotations

import itertools
from dataclasses import replace

from .claims import Measured
from .cues import words
from .document import Ann, Document, Sentence
from .moments import dated_run

ARROWS = words("measure.arrows")
WHEN = words("series.when")
LATER = words("series.later")
TOLD = words("series.told")
CHOICE = words("choice")
SINGLY = words("series.singly")
AGAINST = frozenset(("from", "versus", "vs", "against"))
"""The number after such a word is the older one."""
NOW = frozenset(("now",))
MAX_GAP = 14
"""Tokens between two members of a series."""


def ordered(document: Document, sentence: Sentence, claims: list[Measured]) -> list[Measured]:
    """Mark from–to pairs, arrow series and dated lists: all but the latest are old, and they share a series number."""
    out = _arrows(document, sentence, claims)
    groups: dict[tuple[str, str], list[int]] = {}
    for index, claim in enumerate(out):
        if claim.role == "measured" and claim.concepts:
            groups.setdefault((claim.concept, claim.shape), []).append(index)
    for run in groups.values():
        if len(run) > 1 and (dates := dated_run(document, sentence, [out[i] for i in run])) is not None:
            newest = max(zip(dates, run, strict=True), key=lambda one: one[0][1])[1]
            for (text, _), i in zip(dates, run, strict=True):
                out[i] = replace(out[i], old=i != newest, series=out[run[0]].token, time=text)
            continue
        dated_back = all(out[i].old for i in run)  # "1,800 on admission, 640 at discharge": the last is the latest
        if len(run) < 2 or any(out[i].series >= 0 or (out[i].old and not dated_back) for i in run):
            continue
        marks = [_mark(document, sentence, out[i], out, run) for i in run]
        if _singly(document, [out[i] for i in run]) and not all(marks):
            continue
        told = any(document.tokens[i].key in TOLD for i in range(sentence.start, out[run[-1]].token))
        told = told or any(
            True for _ in sentence.within(sentence.start, out[run[0]].token, "time")
        )  # "三天内112、99、84"
        told = (told and len(run) >= 3) or _moving(document, sentence, [out[i] for i in run])
        if sum(bool(mark) for mark in marks) < len(run) - 1 and not told:
            continue
        first = (marks[0] == "now" and marks[-1] != "now") or (len(run) == 2 and marks[0] == "" and marks[-1] == "then")
        newest = run[0] if first else run[-1]
        for position in run:
            out[position] = replace(out[position], old=position != newest, series=out[run[0]].token)
    return out


def _singly(document: Document, run: list[Measured]) -> bool:
    """As in "一次2.8，一次1.1": readings set side by side, in no order."""
    return all(document.text(max(0, claim.token - 2), claim.token) in SINGLY for claim in run)


def _moving(document: Document, sentence: Sentence, run: list[Measured]) -> bool:
    """Tell whether numbers stand in one plain list beside a word of movement ("climbed 2.4, 3.1, 4.0")."""
    marks = ",，、;；"
    plain = all(
        all(
            t.raw in marks or t.key in ("and", "和") or t.kind in "n." or t.raw == "."
            for t in document.tokens[a.token + 1 : b.token]
        )
        or b.token - a.token <= 4
        for a, b in itertools.pairwise(run)
    )
    moves = [a for a in sentence.of("state") if a.kind in ("rising", "falling", "stable")]
    return plain and bool(moves) and run[-1].token - run[0].token <= 5 * len(run)


def _mark(document: Document, sentence: Sentence, claim: Measured, claims: list[Measured], run: list[int]) -> str:
    """Return "now", "then" or "" for what dates a number between its neighbours of the same concept."""
    places = sorted(claims[i].token for i in run)
    at = places.index(claim.token)
    left = places[at - 1] + 1 if at else sentence.start
    right = places[at + 1] if at + 1 < len(places) else sentence.end
    if at + 1 < len(places):  # a date before the next number belongs to it where a comma stands between
        cut = next((i for i in range(claim.token, right) if _parts(document, i, right)), right)
        right = cut
    if at:
        cut = next((i for i in range(claim.token - 1, left, -1) if _parts(document, i, claim.token)), left)
        left = cut
    found = ""
    for ann in sentence.within(left, right):
        if ann.layer == "modifier" and ann.kind == "now":
            return "now"
        if (ann.layer == "time" and _dates(document, ann)) or (ann.layer == "modifier" and ann.kind == "past"):
            found = "then"
    if any(document.tokens[i].key in LATER for i in range(left, right)):
        return "now"
    near = range(max(left, claim.token - 3), claim.token)
    if at and not found and any(document.tokens[i].raw == "后" for i in near):
        return "now"  # "不吸氧86%，鼻导管2L/min后93%"
    return found or ("then" if any(document.tokens[i].key in WHEN for i in range(left, right)) else "")


def _parts(document: Document, at: int, until: int) -> bool:
    """Tell whether a mark parts two numbers: a comma, or a bracket that holds the second ("0.36（入院0.27）")."""
    raw = document.tokens[at].raw
    if raw in ("(", "（"):
        return not any(document.tokens[i].raw in (")", "）") for i in range(at, until))
    return raw in ",，;；、"


def _dates(document: Document, ann: Ann) -> bool:
    """Tell a date or clock time from a duration ("at 3 h" dates, "after five minutes" does not)."""
    before = document.tokens[ann.start - 1].key if ann.start else ""
    after = document.tokens[ann.end].key if ann.end < len(document.tokens) else ""
    return ann.value.unit is None or before in ("at", "on", "by", "第") or after in ("ago", "earlier", "前")


def _arrows(document: Document, sentence: Sentence, claims: list[Measured]) -> list[Measured]:
    out = list(claims)
    index = 0
    while index < len(out):
        run = [index]
        while run[-1] + 1 < len(out) and _joined(document, out[run[-1]], out[run[-1] + 1]):
            run.append(run[-1] + 1)
        if len(run) > 1 and not _left_open(document, sentence, out, run):
            newest = _newest(document, out, run)
            over = len({out[i].time for i in run}) == 1  # "三天内由10.1降至8.3": how long it took dates the end only
            for position in run:
                if over and position != newest:
                    out[position] = replace(out[position], time="")
                role = "measured" if out[position].role in ("measured", "negated") else out[position].role
                out[position] = replace(out[position], old=position != newest, series=out[run[0]].token, role=role)
        index = run[-1] + 1
    return out


def _left_open(document: Document, sentence: Sentence, claims: list[Measured], run: list[int]) -> bool:
    """Tell whether two numbers are only set against each other ("5.6 vs 4.2"), nothing dating either: a choice."""
    first, last = claims[run[0]], claims[run[-1]]
    versus = any(document.tokens[i].key in CHOICE for i in range(first.token, last.token))
    return versus and not any(claims[i].time or _mark(document, sentence, claims[i], claims, run) for i in run)


def _joined(document: Document, one: Measured, other: Measured) -> bool:
    if one.concept != other.concept or other.role != "measured" or one.role != "measured":
        return False
    gap = [document.tokens[i].key for i in range(one.token + 1, other.token)]
    stop = next((i for i, key in enumerate(gap) if key in ";；,，"), len(gap))
    if any(key in NOW for key in gap[:stop]) and stop < len(gap):
        gap = gap[stop:]  # "34 now; it was 52 a year ago": dates the first
    return len(gap) <= MAX_GAP and any(key in ARROWS or key in AGAINST for key in gap)


def _newest(document: Document, claims: list[Measured], run: list[int]) -> int:
    """Return which member of a series is the latest: the last, unless "to X from Y"."""
    first, last = claims[run[0]], claims[run[-1]]
    gap = [document.tokens[i].key for i in range(first.token, last.token)]
    if set(gap) & AGAINST and len(run) == 2:
        return run[0]
    return run[-1]

"""Values down a column: a table whose head names the concept, and lines that each hold a date and a number."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from wardround.patients import knowledge

from .claims import Measured
from .cues import words
from .document import Ann, Document, Sentence
from .fitting import fits, ids_of
from .named import MEASURES, named
from .quantities import find_unit
from .series import WHEN

LABELS = words("vertical.labels")
EXTRA = 2
"""Tokens besides date, number and marks that a dated line may hold."""


@lru_cache(maxsize=1024)
def _named_in(head: str) -> tuple[str, ...]:
    """Return the measurement that a column head names ("lactate (mmol/l)"), () where it names none."""
    for mark in "([（,，":
        head = head.split(mark, 1)[0]
    found = knowledge.lexicon().resolve(head.strip("* "), MEASURES)
    return (found.id,) if found is not None else ()


def column_owner(ann: Ann, head: str, carried: Ann | None) -> Ann | None:
    """Return what a column's numbers measure: the concept in its head, or the one named before if the head is its unit.

    Args:
        ann: a number of the column.
        head: the column's head, folded.
        carried: the measurement named last before the table.
    """
    ids = _named_in(head)
    if ids:
        return Ann(ann.start, ann.start, "concept", "concept", named(ids))
    unit = find_unit(head)
    if carried is not None and unit is not None and any(fits(one, unit.ucum) for one in ids_of(carried)):
        return Ann(ann.start, ann.start, "concept", "concept", named(ids_of(carried)))
    return None


def dated_line(document: Document, sentence: Sentence) -> bool:
    """Tell whether a line holds a date, one number, and next to nothing else ("Mon 2.4", "06:00: 2.4 mmol/L")."""
    numbers = [a for a in sentence.anns if a.layer == "quantity"]
    if len(numbers) != 1 or sentence.row or sentence.end - sentence.start > 14 or sentence.question:
        return False
    times = [a for a in sentence.anns if a.layer == "time" and a.start < numbers[0].start]
    label = [document.tokens[i].key for i in range(sentence.start, numbers[0].start)]
    if not times and not any(key in WHEN or key in LABELS for key in label):
        return False
    rest = [
        i
        for i in range(sentence.start, sentence.end)
        if document.tokens[i].kind in "wcn"
        and not any(a.start <= i < a.end for a in (*times, *numbers))
        and document.tokens[i].key not in WHEN
        and document.tokens[i].key not in LABELS
    ]
    return len(rest) <= EXTRA


def labelled(document: Document, sentence: Sentence, claim: Measured) -> Measured:
    """Date a claim by the words that stand before it in its line or by its row's first cell."""
    if claim.time:
        return claim
    end = sentence.row[0][2] if sentence.row else claim.token
    start = sentence.row[0][1] if sentence.row else sentence.start
    return replace(claim, time=document.text(start, end).lower().strip(" |:：-*") or "line")


def run_down(values: list[Measured], first: int) -> list[Measured]:
    """Mark the values of one concept from index `first` on, each of the next sentence, as one series."""
    out = values[:first]
    groups: dict[str, list[Measured]] = {}
    order: list[str] = []
    for claim in values[first:]:
        if claim.concept not in groups:
            order.append(claim.concept)
        groups.setdefault(claim.concept, []).append(claim)
    for concept in order:
        run = groups[concept]
        if len(run) > 1 and all(c.role == "measured" for c in run):
            run = [replace(c, old=c is not run[-1], series=run[0].token) for c in run]
        out.extend(run)
    return sorted(out, key=lambda claim: claim.token)

"""Acts that hang on a bound ("血糖大于16.7就上胰岛素"): advice only where the patient's own number is on that side."""

from __future__ import annotations

from dataclasses import replace

from wardround.patients import knowledge

from .claims import ActClaim, Measured
from .cues import words
from .document import Document

THEN = words("bounds.then")
"""Words that open, right before the act, what is done on that side of the bound."""
NEAR = 4
"""Tokens between such a word and its act or target."""
DOSE_SIZES = words("measure.dose_dimensions")
MET = words("bounds.met")
"""Words before a bound that say that the patient is on that side."""
SIDES = {"below": words("bounds.below"), "above": words("bounds.above")}
TRAILED = frozenset(("start", "stop", "hold", "order", "refer", "avoid", "switch"))
"""Acts whose condition may follow as a bare bound ("stop it below 1.0"); of a dose it would be the size."""
UNTIL = words("scope.until")
TRAIL = 4
"""Tokens from an act to such a bound."""


def settled_acts(document: Document, values: list[Measured], acts: list[ActClaim]) -> list[ActClaim]:
    """Take back advice whose condition, a bound in the same sentence, the answer does not show to be met.

    Args:
        document: the answer.
        values: all its numbers.
        acts: all its acts.
    """
    acts = [
        replace(act, advised=False) if act.advised and act.act in TRAILED and _trailed(document, act, values) else act
        for act in acts
    ]
    bounds = [v for v in values if v.role == "bound" and v.shape == "one" and v.concepts and v.comparator]
    if not bounds:
        return acts
    return [
        replace(act, advised=False) if act.advised and _open(document, act, bounds, values) else act for act in acts
    ]


def _open(document: Document, act: ActClaim, bounds: list[Measured], values: list[Measured]) -> bool:
    """Tell whether the act follows such a word after a bound that no measured value of the answer reaches."""
    tokens = document.tokens
    first = min(act.token, act.end)
    opening = next((b for b in bounds if b.sentence == act.sentence and _opens(document, b, first)), None)
    if opening is not None:
        return not opening.flags.now and not _reached(opening, values)
    then = next((i for i in range(first - 1, max(-1, first - NEAR - 1), -1) if tokens[i].raw in THEN), None)
    if then is None or document.number_of(then) != act.sentence:
        return False
    before = [b for b in bounds if b.sentence == act.sentence and b.token < then]
    if not before or document.clause[then] - before[-1].clause > 1:
        return False
    bound = before[-1]
    if any(tokens[i].raw in MET for i in range(max(0, bound.token - NEAR), bound.token)):
        return False
    return not _reached(bound, values)


def _opens(document: Document, bound: Measured, act: int) -> bool:
    """As in "Below 30 metformin has to be stopped": a bound opens the sentence, and an act follows in its clause."""
    start = document.sentences[bound.sentence].start
    bare = document.tokens[start].key in SIDES[bound.comparator]
    return bare and bound.token == start + 1 and act > bound.token and document.clause[act] == bound.clause


def _reached(bound: Measured, values: list[Measured]) -> bool:
    """Tell whether a measured value of the answer lies on a bound's side."""
    own = [v for v in values if v.role == "measured" and not v.old and v.shape == "one" and v.concept == bound.concept]
    # a bare bound is meant in the unit of the number
    return any(on_side(value, bound, bound.unit if bound.stated_unit else value.unit) for value in own)


def _trailed(document: Document, act: ActClaim, values: list[Measured]) -> bool:
    """Tell whether a bare bound that the last number before it does not reach follows an act ("stop it below 1.0")."""
    sentence = document.sentences[act.sentence]
    begin = max(act.token, act.end) + 1
    for at in range(begin, min(begin + TRAIL, sentence.end - 1)):
        side = next((name for name, keys in SIDES.items() if document.tokens[at].key in keys), None)
        size = next((a.value for a in sentence.within(at + 1, at + 2, "quantity") if a.start == at + 1), None)
        if side is None or size is None or size.dimension in DOSE_SIZES or document.tokens[at].kind == "c":
            continue
        if any(document.tokens[i].key in UNTIL for i in range(begin, at)):
            return False  # "hold it until they are above 50": when it ends, no condition
        before = [v for v in values if v.role == "measured" and not v.old and v.shape == "one" and v.token < begin]
        own = [v for v in before if size.unit in (None, v.unit) and v.concept == before[-1].concept]
        return not any((v.values[0] < size.values[0]) == (side == "below") for v in own)
    return False


def on_side(value: Measured, bound: Measured, unit: str) -> bool:
    """Tell whether a number is on a bound's side, or cannot be compared with it.

    Args:
        value: the number.
        bound: the bound.
        unit: the unit that the bound is meant in.
    """
    here = value.values[0]
    if value.unit != unit:
        converted = knowledge.convert(here, value.unit, unit, value.concept)
        if converted is None:
            return True
        here = converted
    return here >= bound.values[0] if bound.comparator == "above" else here <= bound.values[0]

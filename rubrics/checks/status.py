"""`status`: the answer's own reading of the concept, now, is this status."""

from __future__ import annotations

from dataclasses import replace

from wardround.rubrics.limits import limits
from wardround.rubrics.reading import Reading, StatusClaim
from wardround.rubrics.reading.cues import words
from wardround.rubrics.reading.panels import panels_of
from wardround.rubrics.reading.status import MOVES
from wardround.rubrics.rubric import StatusCheck, Verdict

from .context import CheckContext
from .matching import is_a, measured, unread, verdict

TESTS = words("status.read_as_tests")
AS_TEST = {"normal": "negative", "high": "positive"}


def judge(check: StatusCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where the concept is called that, now, and nothing else that excludes it."""
    if (bad := unread(reading, context)) is not None:
        return bad
    claims = current(states_for(check.concept, reading))
    mine = [c for c in claims if c.status == check.status]
    rivals = [c for c in claims if _excludes(c.status, check.status)]
    if not mine:
        said = ", ".join(dict.fromkeys(c.status for c in claims))
        reason = (
            f"`{check.concept}` is called {said}, not {check.status}"
            if said
            else f"the answer does not say what `{check.concept}` is like, and so not that it is {check.status}"
        )
        return verdict(context, False, reason, tuple(c.span for c in claims))
    if rivals:
        return verdict(
            context,
            False,
            f"`{check.concept}` is called both {check.status} and {rivals[0].status}",
            (mine[0].span, rivals[0].span),
        )
    return verdict(context, True, f"`{check.concept}` is called {check.status}", (mine[0].span,))


def _excludes(one: str, other: str) -> bool:
    """Tell whether both cannot hold at once, as `data/limits.json` has it; what swings is not stable either."""
    return limits().statuses_clash(one, other) or {one, other} == {"stable", "labile"}


def states_for(name: str, reading: Reading) -> list[StatusClaim]:
    """Return the status words of a concept."""
    ids_known, reading = measured(name, reading)
    ids = set(ids_known)
    found = [s for s in reading.states if s.concept in ids or ids & set(s.concepts)]
    if not found:
        found = [s for s in reading.states if is_a(s.concepts, tuple(ids))]
    moved = {s.status for s in found}
    for trend in reading.trends():  # "went from 18 to 96" says rising without the word
        if (trend.concept in ids or ids & set(trend.concepts)) and not moved & MOVES:
            where = trend.end.token if trend.end is not None else 0
            span = trend.span
            found.append(
                StatusClaim(trend.concept, trend.concepts, trend.direction, trend.flags, span, where, trend.sentence)
            )
    if not found:  # "thyroid function is fine, TSH 2.0"
        panels = panels_of(ids)
        found += [s for s in reading.states if s.concept in panels and s.status == "normal"]
    if ids & TESTS:  # a marker that is not raised is negative
        found += [replace(s, status=AS_TEST[s.status]) for s in found if s.status in AS_TEST]
    return found


def current(claims: list[StatusClaim]) -> list[StatusClaim]:
    """Return the statuses that hold now, in the answer's own words: no old, denied or quoted ones."""
    real = [c for c in claims if c.flags.claimed and not c.flags.negated and not c.flags.future]
    fresh = [c for c in real if not c.flags.past or c.flags.now]
    if not any(c.status in MOVES for c in fresh):
        fresh += [c for c in real if c.status in MOVES and c not in fresh]  # "the same as three months ago"
    own = [c for c in fresh if not c.flags.chart]
    return own or fresh

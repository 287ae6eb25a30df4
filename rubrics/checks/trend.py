"""`trend`: the answer says that the concept moves that way over time, with both end points if asked."""

from __future__ import annotations

from wardround.rubrics.reading import Measured, Reading, TrendClaim
from wardround.rubrics.rubric import CheckValue, TrendCheck, Verdict

from .amounts import same_amount
from .context import CheckContext
from .matching import is_a, measured, unread, verdict


def judge(check: TrendCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where the movement is claimed, no other one contradicts it, and the asked end points are given."""
    if (bad := unread(reading, context)) is not None:
        return bad
    claims = trends_for(check.concept, reading)
    mine = [t for t in claims if t.direction == check.direction or (t.slight and check.direction == "stable")]
    others = [t for t in claims if t not in mine and not t.slight]
    if not mine:
        said = ", ".join(t.direction for t in claims) or "no movement"
        return verdict(
            context, False, f"`{check.concept}`: {said}, not {check.direction}", tuple(t.span for t in claims)
        )
    if others:
        return verdict(
            context,
            False,
            f"`{check.concept}` is said to be both {check.direction} and {others[0].direction}",
            (mine[0].span, others[0].span),
        )
    if check.start is None and check.end is None:
        return verdict(context, True, f"`{check.concept}` is said to be {check.direction}", (mine[0].span,))
    for trend in mine:
        if _at(trend.start, check.start, check) and _at(trend.end, check.end, check):
            return verdict(
                context,
                True,
                f"`{check.concept}` is {check.direction} from {check.start} to {check.end}",
                (trend.span,),
            )
    return verdict(
        context,
        False,
        f"`{check.concept}` is {check.direction}, but not from {check.start} to {check.end}",
        (mine[0].span,),
    )


def _at(claim: Measured | None, value: CheckValue | None, check: TrendCheck) -> bool:
    if value is None:
        return True
    return claim is not None and same_amount(
        claim, value, check.unit if check.unit is not None else claim.unit, claim.concept
    )


def trends_for(name: str, reading: Reading) -> list[TrendClaim]:
    """Return the movements of a concept that are claimed for this patient, now."""
    found, reading = measured(name, reading)
    ids = set(found)
    claimed = [t for t in reading.trends() if not t.flags.future]
    exact = [t for t in claimed if t.concept in ids or ids & set(t.concepts)]
    return exact or [t for t in claimed if t.concepts and is_a(t.concepts, tuple(ids))]

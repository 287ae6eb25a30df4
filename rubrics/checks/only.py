"""`only`: the answer states no measurement of any other concept for this patient."""

from __future__ import annotations

from wardround.rubrics.reading import Measured, Reading
from wardround.rubrics.reading.concepts import concepts
from wardround.rubrics.reading.named import MEASURES
from wardround.rubrics.reading.unlisted import own_id
from wardround.rubrics.rubric import OnlyCheck, Verdict

from .context import CheckContext
from .matching import ids_for, is_a, unread, verdict, words_of


def judge(check: OnlyCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where every measurement is of an allowed concept."""
    if (bad := unread(reading, context)) is not None:
        return bad
    settings = concepts().settings
    unknown = [name for name in check.concepts if not ids_for(name, MEASURES)]
    reading = reading.naming(*unknown) if unknown else reading
    extra = [
        claim
        for claim in reading.measured()
        if claim.concept not in settings  # how the oxygen runs, no measurement
        and not any(allowed(claim, name) for name in check.concepts)
    ]
    if extra:
        return verdict(
            context,
            False,
            f"also states `{extra[0].concept}` {extra[0].value} {extra[0].unit}",
            tuple(c.span for c in extra),
        )
    return verdict(context, True, "states no other measurement")


def allowed(claim: Measured, name: str) -> bool:
    """Tell whether a measurement is of the named concept (or a case of it, or the other way round)."""
    ids = ids_for(name, MEASURES)
    if ids and claim.concepts:
        return is_a(claim.concepts, ids) or is_a(ids, claim.concepts)
    if claim.concept == own_id(name):
        return True
    wanted = set(words_of(name))
    return bool(wanted) and wanted <= set(words_of(claim.concept))

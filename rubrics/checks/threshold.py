"""`threshold`: the answer places this patient's concept on that side of that bound, as a criterion it applies."""

from __future__ import annotations

from wardround.rubrics.reading import Measured, Reading
from wardround.rubrics.reading.bounds import on_side
from wardround.rubrics.reading.cues import words
from wardround.rubrics.rubric import ThresholdCheck, Verdict

from .amounts import same_number
from .context import CheckContext
from .matching import unread, verdict
from .value import claims_for

IMPERATIVES = words("threshold.imperatives")
DEFINING = tuple(sorted(words("threshold.defining")))
INDEFINITE = words("reading.indefinite")
ONLY_THEN = words("because.only_then")
ONLY_THEN_REACH = 15
"""Tokens after a bound within which 才 makes it a condition."""
RULES = tuple(sorted(words("threshold.rules")))


def judge(check: ThresholdCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where the bound is applied to the patient on the asked side and the patient's own numbers agree."""
    if (bad := unread(reading, context)) is not None:
        return bad
    claims = claims_for(check.concept, reading)
    bounds = [c for c in claims if c.role == "bound" and c.shape == "one" and _is_bound(c, check)]
    if not bounds:
        return verdict(context, False, f"no bound of {check.bound} {check.unit} is applied to `{check.concept}`")
    applied = [
        c
        for c in bounds
        if not _only_then(c, reading)
        and c.flags.claimed
        and not c.flags.negated
        and not (c.flags.past and not c.flags.now)
        and not c.flags.future
    ]
    mine = [c for c in applied if c.comparator == check.comparator]
    if not mine:
        said = "is only quoted" if not applied else f"is applied as {applied[0].comparator}"
        return verdict(context, False, f"the bound {check.bound} for `{check.concept}` {said}", (bounds[0].span,))
    values = [c for c in claims if c.role == "measured" and not c.old and c.shape == "one"]
    if not values and (_rule(mine, reading) or _general(mine, reading)):
        return verdict(context, False, f"the bound {check.bound} for `{check.concept}` is a rule", (mine[0].span,))
    against = [v for v in values if not on_side(v, mine[0], mine[0].unit)]
    if against:
        return verdict(
            context,
            False,
            f"`{check.concept}` is {against[0].value}: not {check.comparator} {check.bound}",
            (against[0].span, mine[0].span),
        )
    return verdict(context, True, f"`{check.concept}` is placed {check.comparator} {check.bound}", (mine[0].span,))


def _only_then(bound: Measured, reading: Reading) -> bool:
    """As in "超过6.5才给钙剂": the bound is a condition of what follows, whatever the patient's number."""
    document = reading.document
    end = document.sentences[bound.sentence].end
    following = range(bound.token + 1, min(bound.token + ONLY_THEN_REACH, end))
    return any(document.tokens[i].raw in ONLY_THEN and document.clause[i] == bound.clause for i in following)


def _is_bound(claim: Measured, check: ThresholdCheck) -> bool:
    return same_number(
        claim.value, claim.unit if claim.stated_unit else None, str(check.bound), check.unit, claim.concept
    )


def _rule(bounds: list[Measured], reading: Reading) -> bool:
    """Tell whether an answer without the patient's own number states a rule only, or that the result is missing."""
    document = reading.document
    for bound in bounds:
        if bound.flags.now:
            continue  # "is now less than 30, so metformin is contraindicated"
        sentence = document.sentences[bound.sentence]
        act = any(
            a.kind != "none" and bound.token - a.end <= 5 for a in sentence.within(sentence.start, bound.token, "act")
        )
        asked = any(document.tokens[i].key in ("for", "when") for i in range(sentence.start, bound.token)) and act
        after = document.text(bound.token + 1, min(bound.token + 10, sentence.end)).lower()
        order = document.tokens[sentence.start].key in IMPERATIVES
        said = document.text(sentence.start, bound.token).lower()
        if asked or order or any(word in after for word in RULES) or any(word in said for word in DEFINING):
            return True
    return any(ann.kind == "missing" for s in document.sentences for ann in s.of("modifier"))


def _general(bounds: list[Measured], reading: Reading) -> bool:
    """As in "A lactate above 4 triggers the bundle": any such result, not the patient's."""
    document = reading.document
    return all(
        document.tokens[document.sentences[bound.sentence].start].key in INDEFINITE
        and bound.token - document.sentences[bound.sentence].start <= 5
        for bound in bounds
    )

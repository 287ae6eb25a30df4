"""`value`: the answer states this value for this concept."""

from __future__ import annotations

from dataclasses import replace

from wardround.patients import knowledge
from wardround.rubrics.reading import Measured, Reading
from wardround.rubrics.reading.named import MEASURES
from wardround.rubrics.rubric import ValueCheck, Verdict

from .amounts import same_amount
from .context import CheckContext
from .drug_doses import drugs_of, judge_dose
from .drug_frequencies import frequency_drugs, judge_frequency
from .matching import ids_for, is_a, measured, unread, verdict

HALVES = {"systolic_bp": 0, "diastolic_bp": 1}
"""Which number of a blood pressure each measures."""


def judge(check: ValueCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where a value claimed for the concept is the one asked for and no other current value contradicts it."""
    if (bad := unread(reading, context)) is not None:
        return bad
    drugs = drugs_of(check.concept)
    if drugs:
        return judge_dose(check, drugs, reading, context)
    if taken := frequency_drugs(check.concept):
        return judge_frequency(check, taken, reading, context)
    claims = claims_for(check.concept, reading)
    if not claims:
        return verdict(context, False, f"no value of `{check.concept}` is stated")
    concept = claims[0].concept
    hits = [c for c in claims if same_amount(c, check.value, check.unit, c.concept or concept)]
    bound = str(check.value)[:1] in "<>≤≥"
    stated = [c for c in hits if bound or c.role == "measured"]
    if check.when == "latest":
        stated = [c for c in stated if not c.old]
    if not stated:
        said = ", ".join(f"{c.value} {c.unit} ({'old' if c.old else c.role})" for c in claims)
        return verdict(
            context,
            False,
            f"`{check.concept}`: {said}; none is {check.value} {check.unit}",
            tuple(c.span for c in claims),
        )
    rivals = [
        c
        for c in claims
        if (c.role == "measured" or _offered(c))
        and not c.old
        and not same_amount(c, check.value, check.unit, c.concept)
        and _rival(c, stated)
    ]
    if rivals and not bound:
        return verdict(
            context,
            False,
            f"`{check.concept}` is also given as {rivals[0].value} {rivals[0].unit}",
            (stated[0].span, rivals[0].span),
        )
    return verdict(
        context, True, f"`{check.concept}` is stated as {stated[0].value} {stated[0].unit}", (stated[0].span,)
    )


def _offered(claim: Measured) -> bool:
    """Tell whether a value is offered as the other possibility ("1.8 mg/dL, or perhaps 2.4"): a doubt about now."""
    flags = claim.flags
    return claim.role == "hypothetical" and flags.hedged and not (flags.elsewhere or flags.future or flags.past)


def _rival(claim: Measured, stated: list[Measured]) -> bool:
    """Tell whether a value contradicts the stated ones: same concept, same kind of value, neither dated apart."""
    for other in stated:
        if claim.concept != other.concept or claim.shape != other.shape:
            continue
        if other.old or (other.series >= 0 and other.series == claim.series):
            continue
        if claim.time and other.time and claim.time != other.time and "now" not in (claim.time, other.time):
            continue
        return True
    return False


def _halves(ids: tuple[str, ...], reading: Reading) -> list[Measured]:
    """Return the systolic or diastolic halves of the blood pressures given as pairs."""
    half = next((HALVES[one] for one in ids if one in HALVES), None)
    if half is None:
        return []
    return [
        replace(v, concept=ids[0], concepts=ids[:1], shape="one", values=(v.values[half],), value=str(v.values[half]))
        for v in reading.values_of(("blood_pressure",))
        if v.shape == "pair"
    ]


def claims_for(name: str, reading: Reading) -> list[Measured]:
    """Return the numbers of a concept, by knowledge id, else by the words before a number."""
    ids = ids_for(name, MEASURES)
    if ids:
        own = list(reading.values_of(ids)) or _halves(ids, reading)
        own = own or [v for v in reading.values if v.concepts and is_a(v.concepts, ids)]
        if own or knowledge.lexicon().concept(ids[0]).kind in MEASURES:
            return own
    if not ids:
        found, named = measured(name, reading)
        if own := list(named.values_of(found)):
            return own
    from .free import claims_by_words  # a drug whose level the knowledge base does not have ("zinc") is found by words

    return claims_by_words(name, reading)

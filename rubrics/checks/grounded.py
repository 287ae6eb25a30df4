"""`grounded`: every measurement that the answer claims for this patient is known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from wardround.rubrics.evidence import Evidence
from wardround.rubrics.reading import Measured, Reading, read
from wardround.rubrics.reading.concepts import concepts
from wardround.rubrics.reading.named import MEASURES
from wardround.rubrics.reading.unlisted import OWN, own_id
from wardround.rubrics.rubric import CheckValue, GroundedCheck, Verdict

from .amounts import same_amount
from .context import CheckContext
from .dates import day_of, same_day
from .matching import ids_for, is_a, unread, verdict, words_of

_PAIN = "patient.get_pain_assessment"
_NOUGHT = ("zero", "零分")
_SCORE = re.compile(r"(?<!\d)(?<!\d\.)(?<!out of )(?<!/)(?:10|\d)(?!\d|\.\d)|\bzero\b|零分", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fact:
    """A measurement that may be stated."""

    concepts: tuple[str, ...]
    name: str
    value: CheckValue
    unit: str
    day: tuple[int, int, int] | None
    """Date of the measurement; None where the check gives none."""
    key: str = ""


def judge(check: GroundedCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where every claimed measurement is among the known ones."""
    if (bad := unread(reading, context)) is not None:
        return bad
    if check.known is not None:
        facts = [Fact(ids_for(k.concept, MEASURES), k.concept, k.value, k.unit, None) for k in check.known]
    else:
        facts = evidence_facts(context.trace.evidence) if context.trace is not None else []
    facts += [Fact(ids_for(k.concept, MEASURES), k.concept, k.value, k.unit, None) for k in check.also]
    named = {k.concept for k in (*(check.known or ()), *check.also)}
    unknown = tuple(sorted(fact.name for fact in facts if fact.name in named and not fact.concepts))
    if unknown:
        facts = [replace(fact, concepts=(own_id(fact.name),)) if fact.name in unknown else fact for fact in facts]
        reading = reading.naming(*unknown)
    resources: list[str] = []
    known_concepts = {one for fact in facts for one in fact.concepts}
    for claim in reading.measured():
        if claim.concept in concepts().settings and claim.concept not in known_concepts:
            continue  # "on 2 L/min": how the oxygen runs, no measurement
        known = next((fact for fact in facts if supports(fact, claim)), None)
        if known is None:
            return verdict(context, False, f"`{claim.concept}` {claim.value} {claim.unit} is not known", (claim.span,))
        if known.key and known.key not in resources:
            resources.append(known.key)
    done = verdict(context, True, "every measurement is known")
    return done.model_copy(update={"resources": tuple(resources)})


def supports(fact: Fact, claim: Measured) -> bool:
    """Tell whether a known measurement is the claimed one, date included where the claim gives one."""
    own = fact.concepts == (own_id(fact.name),) and not claim.concept.startswith(OWN)
    if fact.concepts and claim.concepts and not own:
        if not (is_a(claim.concepts, fact.concepts) or is_a(fact.concepts, claim.concepts)):
            return False
    elif not set(words_of(fact.name)) & set(words_of(claim.concept)):
        return False
    if not same_day(claim.time, fact.day):
        return False
    concept = claim.concept if claim.concepts else (fact.concepts[0] if fact.concepts else "")
    return _amount(fact, claim, concept)


def _amount(fact: Fact, claim: Measured, concept: str) -> bool:
    if claim.shape == "range":
        return all(any(same_amount(one, fact.value, fact.unit, concept) for one in _ends(claim, i)) for i in (0,))
    if same_amount(claim, fact.value, fact.unit, concept):
        return True
    if isinstance(fact.value, str) and "/" in fact.value and claim.shape == "one":
        side = 0 if "systolic_bp" in claim.concepts else 1 if "diastolic_bp" in claim.concepts else None
        return side is not None and claim.value == fact.value.split("/")[side].strip()
    return False


def _ends(claim: Measured, index: int) -> Iterable[Measured]:
    for value in claim.values:
        yield replace(claim, shape="one", values=(value,), value=format(value, "f"))


def evidence_facts(evidence: Evidence) -> list[Fact]:
    """Return what the episode has measured or heard."""
    facts = [
        Fact((m.concept,) if m.concept else (), m.concept, m.text, m.unit or "", day_of(m.instant), m.key)
        for m in evidence.measurements
    ]
    facts.extend(_pressures(evidence))
    facts.extend(Fact((d.concept,), d.concept, d.text, d.unit, day_of(d.instant), d.keys[0]) for d in evidence.derived)
    for reply in evidence.replies:
        facts.extend(_heard(reply.text))
        if reply.tool == _PAIN:
            facts.extend(_rated(reply.text))
    return facts


def _pressures(evidence: Evidence) -> Iterator[Fact]:
    """Yield the blood pressures that were charted as two numbers of one instant, as people say them: "132/84"."""
    lower = {(m.instant, m.unit): m for m in evidence.measurements if m.concept == "diastolic_bp"}
    for upper in evidence.measurements:
        other = lower.get((upper.instant, upper.unit))
        if upper.concept == "systolic_bp" and other is not None and upper.instant is not None:
            both = f"{upper.text}/{other.text}"
            yield Fact(("blood_pressure",), "blood pressure", both, upper.unit or "", day_of(upper.instant), upper.key)


@lru_cache(maxsize=1024)
def _rated(text: str) -> tuple[Fact, ...]:
    """Return the scores in an answer to how bad the pain is: "call it a 4", 打个4分."""
    scores = dict.fromkeys(one.lower() for one in _SCORE.findall(text))
    return tuple(Fact(("pain_score",), "pain score", "0" if one in _NOUGHT else one, "/10", None) for one in scores)


@lru_cache(maxsize=1024)
def _heard(text: str) -> tuple[Fact, ...]:
    """Return the measurements a patient's reply holds."""
    return tuple(
        Fact(m.concepts, m.concept, m.value, m.unit, None) for m in read(text).values if m.shape in ("one", "pair")
    )

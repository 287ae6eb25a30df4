"""Names in checks that the knowledge base does not know: an item that no answer could meet, or any could."""

from __future__ import annotations

from collections.abc import Iterator

from wardround.patients import knowledge
from wardround.rubrics.checks.drug_doses import drugs_of
from wardround.rubrics.checks.drug_frequencies import frequency_drugs, readable_frequency
from wardround.rubrics.checks.matching import ids_for
from wardround.rubrics.reading.named import DRUGS, MEASURES

from .rubric import (
    AdviceCheck,
    AllOf,
    AnyOf,
    AvoidsCheck,
    Check,
    GroundedCheck,
    GroundedMentionsCheck,
    MentionCheck,
    Not,
    OnlyCheck,
    StatusCheck,
    ThresholdCheck,
    TrendCheck,
    ValueCheck,
)


def name_problems(check: Check) -> list[str]:
    """Return each name of a check, composed ones included, that the knowledge base does not know, with the remedy.

    A measurement must be known by name. What is mentioned, advised or had may be in free words, which answers are
    matched by; there only a name that looks like a misspelt known one is a fault.
    """
    if isinstance(check, AnyOf | AllOf):
        return [problem for member in check.checks for problem in name_problems(member)]
    if isinstance(check, Not):
        return name_problems(check.check)
    problems = [_unknown(name) for name in _measured(check) if not _known(name)]
    if isinstance(check, ValueCheck) and frequency_drugs(check.concept) and not readable_frequency(str(check.value)):
        problems.append(f"`{check.value}` is no frequency that can be read; write it as in `twice daily` or `每日两次`")
    for name, kinds in _named(check):
        near = None if ids_for(name) else knowledge.lexicon().suggest(name, kinds)
        if near is not None:
            problems.append(f"`{name}` is not known; did you mean `{near.name.en}`?")
    return problems


def _known(name: str) -> bool:
    return bool(ids_for(name, MEASURES) or drugs_of(name) or frequency_drugs(name))


def _unknown(name: str) -> str:
    near = knowledge.lexicon().suggest(name, MEASURES)
    remedy = f"did you mean `{near.name.en}`?" if near is not None else "name a lab or vital sign of the knowledge base"
    return f"concept `{name}` is no known measurement; {remedy}"


def _measured(check: Check) -> Iterator[str]:
    """Yield the names of measurements."""
    if isinstance(check, ValueCheck | StatusCheck | TrendCheck | ThresholdCheck):
        yield check.concept
    elif isinstance(check, OnlyCheck):
        yield from check.concepts
    elif isinstance(check, GroundedCheck):
        yield from (one.concept for one in check.known or ())


def _named(check: Check) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """Yield the names of drugs, conditions, findings and services, with the kinds they may be of."""
    if isinstance(check, MentionCheck):
        yield check.concept, None
    elif isinstance(check, AdviceCheck | AvoidsCheck):
        drug_only = check.act in ("start", "stop", "hold", "continue", "reduce", "increase")
        if check.act != "switch":
            yield check.target, DRUGS if drug_only else None
    elif isinstance(check, GroundedMentionsCheck):
        yield from ((name, DRUGS) for name in check.known.drugs)
        yield from ((name, None) for name in (*check.known.conditions, *check.known.symptoms))

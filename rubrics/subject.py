"""What a turn asks about: the one drug of its items, which an answer to it need not name again."""

from __future__ import annotations

from functools import lru_cache

from wardround.patients import knowledge
from wardround.rubrics.reading import Reading, read
from wardround.rubrics.reading.elided import Subject, may_leave_out

from .composed import leaf_checks
from .per_spec import per_spec
from .rubric import (
    AdviceCheck,
    AnyOf,
    AvoidsCheck,
    BecauseCheck,
    Check,
    MentionCheck,
    ReportsCheck,
    TurnSpec,
    ValueCheck,
)

_DRUGS = frozenset({"drug", "drug_class"})


def in_context(spec: TurnSpec, reading: Reading) -> Reading:
    """Return the answer read as one to its question.

    Where the items are about one drug, and the answer names no other, what it says without a subject is said of it.
    """
    subject = _subject(spec) if may_leave_out(reading) else None
    return reading if subject is None else reading.about(subject)


def by_its_words(check: Check) -> bool:
    """Tell whether a check is met by naming a drug alone, which what is left out cannot do."""
    if isinstance(check, AnyOf):
        return any(by_its_words(member) for member in check.checks)
    return isinstance(check, MentionCheck) and bool(_drugs(check.concept))


@per_spec
def _subject(spec: TurnSpec) -> Subject | None:
    checks = [check for item in spec.rubric for check in leaf_checks(item.check)]
    drugs = {one for check in checks for one in _drugs(_words(check))}
    if len(drugs) != 1:
        return None
    (drug,) = drugs
    name = knowledge.lexicon().concept(drug).name
    told = any(isinstance(check, ReportsCheck) and _drugs(check.concept) for check in checks)
    return Subject((drug,), name.en, name.zh or name.en, told)


def _words(check: Check) -> str:
    """Return the words of a check that may name a drug."""
    if isinstance(check, AdviceCheck | AvoidsCheck):
        return check.target.split(" to ", 1)[0]
    if isinstance(check, BecauseCheck):
        return f"{check.claim}; {check.reason}"
    return check.concept if isinstance(check, MentionCheck | ReportsCheck | ValueCheck) else ""


@lru_cache(maxsize=4096)
def _drugs(words: str) -> frozenset[str]:
    """Return the drugs that a check's words name."""
    return frozenset(name.concept for name in read(words).names if name.kind in _DRUGS) if words else frozenset()

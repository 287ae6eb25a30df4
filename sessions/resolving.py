"""Does every id, code, date and number of a session exist in its chart?"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from wardround.patients import Snapshot, knowledge
from wardround.rubrics import (
    Check,
    GroundedCheck,
    JudgeCheck,
    RetrievedCheck,
    TrendCheck,
    ValueCheck,
    leaf_checks,
)

from .observed import observed
from .parsed import resources
from .record import drug_of
from .session import Session

_FACT = "fact/"
_DOSE = " dose"


def unresolved(session: Session, snapshot: Snapshot) -> list[str]:
    """Return what a session refers to and the chart does not hold at the anchor.

    Args:
        session: Encounter, interview sources, gold arguments and rubric are looked at.
        snapshot: The chart as the session's agents may read it.
    """
    found = []
    if session.encounter is not None and snapshot.read("Encounter", session.encounter) is None:
        found.append(f"encounter `{session.encounter}` does not exist at the anchor")
    for fact in session.interview.facts:
        if fact.source != "simulated" and not _exists(fact.source, snapshot):
            found.append(f"interview fact `{fact.id}`: source `{fact.source}` does not exist at the anchor")
    facts = {fact.id for fact in session.interview.facts}
    for reply in session.interview.replies:
        found.extend(
            f"interview reply of {reply.tool}: no fact `{name}`"
            for name in (*reply.disclosed, *reply.after, *((reply.fact,) if reply.fact else ()))
            if name not in facts
        )
    values = _values(snapshot)
    values.setdefault(_key("pain score"), set()).update(_rated(session))
    for number, turn in enumerate(session.turns):
        for item in turn.rubric:
            where = f"turn {number}, item `{item.id}`"
            for check in leaf_checks(item.check):
                found.extend(f"{where}: {fault}" for fault in _check_faults(check, snapshot, facts, values))
        for call in turn.gold.calls if turn.gold is not None else ():
            stay = call.arguments.get("hadm_id")
            if stay is not None and snapshot.read("Encounter", str(stay)) is None:
                found.append(f"turn {number}, {call.tool}: encounter `{stay}` does not exist at the anchor")
            told = call.arguments.get("session_id")
            if told is not None and told != session.id:
                found.append(f"turn {number}, {call.tool}: session_id `{told}` is not this session's")
    return found


def _exists(key: str, snapshot: Snapshot) -> bool:
    kind, _, name = key.partition("/")
    return bool(name) and snapshot.read(kind, name) is not None


@lru_cache(maxsize=4)
def _values(snapshot: Snapshot) -> dict[str, set[Decimal]]:
    """Return concept → every number the chart holds for it at the anchor; sessions of one round follow one another."""
    values: dict[str, set[Decimal]] = {}
    for one in observed(snapshot):
        for measured in one.measurements:
            if measured.value is not None:
                values.setdefault(measured.concept, set()).add(measured.value)
    for resource in resources(snapshot, "MedicationRequest"):
        drug = drug_of(str(resource.get("medicationCodeableConcept", {}).get("text", "")))
        for dosage in resource.get("dosageInstruction", ()):
            for amount in dosage.get("doseAndRate", ()):
                number = amount.get("doseQuantity", {}).get("value")
                if drug is not None and number is not None:
                    values.setdefault(drug + _DOSE, set()).add(Decimal(str(number)))
    return values


def _rated(session: Session) -> Iterator[Decimal]:
    """Yield the pain scores that the patient gives, charted or not."""
    for fact in session.interview.facts:
        score = fact.attributes.get("score", "") if fact.kind == "pain" else ""
        if score.isdecimal():
            yield Decimal(score)


def _check_faults(check: Check, snapshot: Snapshot, facts: set[str], values: dict[str, set[Decimal]]) -> Iterator[str]:
    if isinstance(check, RetrievedCheck | JudgeCheck):
        for key in check.any_of if isinstance(check, RetrievedCheck) else check.evidence:
            if key.startswith(_FACT) and key.removeprefix(_FACT) not in facts:
                yield f"no interview fact `{key}`"
            elif not key.startswith(_FACT) and not _exists(key, snapshot):
                yield f"`{key}` does not exist at the anchor"
    elif isinstance(check, ValueCheck):
        yield from _number_faults(check.concept, check.value, values)
    elif isinstance(check, TrendCheck):
        for end in (check.start, check.end):
            if end is not None:
                yield from _number_faults(check.concept, end, values)
    elif isinstance(check, GroundedCheck):
        for known in check.known or ():
            yield from _number_faults(known.concept, known.value, values)


def _number_faults(concept: str, value: float | str, values: dict[str, set[Decimal]]) -> Iterator[str]:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return  # pairs, titres and less-than results are compared by the checks themselves
    if number not in values.get(_key(concept), set()):
        yield f"the chart holds no {concept} of {value}"


def _key(concept: str) -> str:
    if concept.endswith(_DOSE):
        drug = drug_of(concept.removesuffix(_DOSE))
        return (drug or concept.removesuffix(_DOSE)) + _DOSE
    found = knowledge.lexicon().resolve(concept, kinds={"lab", "vital"})
    return found.id if found is not None else concept.casefold()

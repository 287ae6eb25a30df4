"""What a decision on one value looks at beside the value: diagnoses, orders, what was done, how old the patient is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from wardround.patients import Instant, Resource, conditions_of, format_instant, knowledge, parse_instant
from wardround.sessions.moves.move import Case
from wardround.sessions.observed import observed
from wardround.sessions.parsed import resources
from wardround.sessions.record import Reading

_HOUR: Final = 3_600_000_000
_DONE: Final = ("Procedure", "DiagnosticReport", "ServiceRequest")
_TIMES: Final = ("effectiveDateTime", "performedDateTime", "authoredOn", "issued", "occurrenceDateTime")
_OVER: Final = frozenset({"resolved", "inactive", "remission"})
_ADULT: Final = 18


@dataclass(frozen=True)
class Charted:
    """The record of a case by concept of the knowledge base."""

    active: Mapping[str, tuple[str, ...]]
    """Condition → keys of the entries that are active at the anchor."""
    ever: Mapping[str, tuple[str, ...]]
    """Condition → keys of all entries, past ones included."""
    ordered: Mapping[str, tuple[str, ...]]
    """Drug → keys of its active orders."""
    done: Mapping[str, Instant]
    """Lab, procedure, service or drug → when it was last charted, done or given."""
    age: int | None
    """Completed years at the anchor; None where the birth date is not a day."""
    person: str
    """Key of the Patient."""


def charted(case: Case) -> Charted:
    """Return the record of a case by concept, worked out once."""
    return case.memo("decisions.charted", _charted)


def _charted(case: Case) -> Charted:
    active: dict[str, list[str]] = {}
    ever: dict[str, list[str]] = {}
    for resource in resources(case.snapshot, "Condition"):
        key = f"Condition/{resource['id']}"
        for concept in _diagnosis(resource):
            ever.setdefault(concept, []).append(key)
            if not _OVER & _codes(resource.get("clinicalStatus", {})):
                active.setdefault(concept, []).append(key)
    ordered: dict[str, list[str]] = {}
    for resource in resources(case.snapshot, "MedicationRequest"):
        if resource.get("status") in {"active", "on-hold"}:
            for drug in _drugs(resource):
                ordered.setdefault(drug, []).append(f"MedicationRequest/{resource['id']}")
    age, person = _person(case)
    return Charted(
        active={concept: tuple(keys) for concept, keys in active.items()},
        ever={concept: tuple(keys) for concept, keys in ever.items()},
        ordered={drug: tuple(keys) for drug, keys in ordered.items()},
        done=_done(case),
        age=age,
        person=person,
    )


def _diagnosis(resource: Resource) -> tuple[str, ...]:
    code = resource.get("code", {})
    codes = [f"{one.get('system', '')}|{one['code']}" for one in code.get("coding", ()) if one.get("code")]
    return conditions_of((str(code.get("text", "")), (), codes))


def _codes(concept: Mapping[str, Any]) -> set[str]:
    return {str(one.get("code")) for one in concept.get("coding", ())}


def _drugs(resource: Resource) -> tuple[str, ...]:
    """Return every drug that an order names, the ingredients of a combination each."""
    concept = resource.get("medicationCodeableConcept", {})
    shown = (str(one.get("display") or "") for one in concept.get("coding", ()))
    return _drugs_in((str(concept.get("text") or ""), *shown))


@lru_cache(maxsize=4096)
def _drugs_in(texts: tuple[str, ...]) -> tuple[str, ...]:
    lexicon = knowledge.lexicon()
    found = {drug for text in texts for mention in lexicon.scan(text, kinds={"drug"}) for drug in mention.concepts}
    profiles = knowledge.drug_profiles()
    return tuple(sorted(found.union(*(profiles[drug].contains for drug in found if drug in profiles))))


def _done(case: Case) -> dict[str, Instant]:
    done: dict[str, Instant] = {}

    def note(concept: str, at: Instant | None) -> None:
        if at is not None:
            done[concept] = max(at, done.get(concept, at))

    for one in observed(case.snapshot):
        for measured in one.measurements:
            note(measured.concept, measured.instant)
    for resource in resources(case.snapshot, "MedicationAdministration"):
        for drug in _drugs(resource):
            note(drug, _instant(resource))
    for kind in _DONE:
        for resource in resources(case.snapshot, kind):
            for concept in _done_in(str(resource.get("code", {}).get("text") or "")):
                note(concept, _instant(resource))
    return done


@lru_cache(maxsize=4096)
def _done_in(text: str) -> tuple[str, ...]:
    """Return what a title names that is done to a patient."""
    found = knowledge.lexicon().scan(text, kinds={"procedure", "service", "lab"})
    return tuple(concept for mention in found for concept in mention.concepts)


def _instant(resource: Resource) -> Instant | None:
    """Return when something was done; a day without an hour counts from its beginning, None where nothing is said."""
    periods = (resource.get(name, {}).get("start") for name in ("performedPeriod", "effectivePeriod"))
    for text in (*(resource.get(name) for name in _TIMES), *periods):
        if isinstance(text, str) and len(text) >= len("2030-01-01"):
            return parse_instant(text if "T" in text else f"{text[:10]}T00:00:00Z")
    return None


def _person(case: Case) -> tuple[int | None, str]:
    person: dict[str, Any] = next(iter(resources(case.snapshot, "Patient")), {})
    born = str(person.get("birthDate", ""))
    if len(born) != len("2030-01-01"):
        return None, f"Patient/{person.get('id', '')}"
    today = format_instant(case.anchor)[:10]
    age = int(today[:4]) - int(born[:4]) - (today[5:] < born[5:])
    return age, f"Patient/{person['id']}"


@dataclass(frozen=True)
class _Wide:
    """What is charted, and all that it is a case of: asked very often."""

    active: frozenset[str]
    ever: frozenset[str]
    ordered: frozenset[str]
    done: Mapping[str, Instant]


def _wide(case: Case) -> _Wide:
    return case.memo("decisions.charted.wide", _widened)


def _widened(case: Case) -> _Wide:
    found, lexicon = charted(case), knowledge.lexicon()
    done: dict[str, Instant] = {}
    for concept, at in found.done.items():
        for one in (concept, *lexicon.wider(concept)):
            done[one] = max(at, done.get(one, at))

    def wide(concepts: Iterable[str]) -> frozenset[str]:
        return frozenset(one for concept in concepts for one in (concept, *lexicon.wider(concept)))

    return _Wide(wide(found.active), wide(found.ever), wide(found.ordered), done)


# -- questions ---------------------------------------------------------------------------------------------------------


def has(case: Case, concepts: Iterable[str], *, ever: bool = False) -> bool:
    """Tell whether one of some conditions, or a case of one, is active (with `ever`: is or was there)."""
    found = _wide(case)
    return not (found.ever if ever else found.active).isdisjoint(concepts)


def matching(case: Case, concepts: Iterable[str], *, ever: bool = False) -> Iterator[str]:
    """Yield the keys of the entries that are one of some conditions, or a case of one."""
    found = charted(case)
    table, lexicon, wanted = (found.ever if ever else found.active), knowledge.lexicon(), tuple(concepts)
    for concept in sorted(table):
        if any(lexicon.is_a(concept, one) for one in wanted):
            yield from table[concept]


def takes(case: Case, drugs: Iterable[str]) -> bool:
    """Tell whether one of some drugs or classes is ordered."""
    return not _wide(case).ordered.isdisjoint(drugs)


def orders_of(case: Case, drugs: Iterable[str]) -> Iterator[str]:
    """Yield the keys of active orders of some drugs or classes."""
    ordered, lexicon, wanted = charted(case).ordered, knowledge.lexicon(), tuple(drugs)
    for drug in sorted(ordered):
        if any(lexicon.is_a(drug, one) for one in wanted):
            yield from ordered[drug]


def done_within(case: Case, concepts: Iterable[str], hours: int) -> bool:
    """Tell whether something was charted, done or given within some hours before the anchor."""
    done, earliest = _wide(case).done, case.anchor - hours * _HOUR
    return any(one in done and done[one] >= earliest for one in concepts)


def latest(case: Case, measured: str) -> Reading | None:
    """Return the unambiguous latest value of a lab or vital sign of this stay."""
    return case.view.latest.get(measured) or case.view.vitals.get(measured)


def fresh(case: Case, reading: Reading, hours: int) -> bool:
    """Tell whether a value was measured within some hours before the anchor."""
    return reading.at >= case.anchor - hours * _HOUR


def adult(case: Case) -> bool:
    """Tell whether the patient is known to be grown up: bounds and scores are those of adults."""
    age = charted(case).age
    return age is not None and age >= _ADULT


def in_intensive_care(case: Case) -> bool:
    """Tell whether the patient is in an ICU at the anchor: a part of the stay that has begun and not ended."""
    return case.memo("decisions.charted.icu", _in_intensive_care)


def _in_intensive_care(case: Case) -> bool:
    return any(
        _names_icu(resource) and _running(resource.get("period", {}), case.anchor)
        for resource in resources(case.snapshot, "Encounter")
        if str(resource.get("partOf", {}).get("reference", "")).rpartition("/")[2] == case.encounter
    )


def _names_icu(encounter: Resource) -> bool:
    return "icu" in {code for one in encounter.get("type", ()) for code in _codes(one)}


def _running(period: Mapping[str, Any], at: Instant) -> bool:
    begun = "start" in period and parse_instant(period["start"]) <= at
    return begun and ("end" not in period or parse_instant(period["end"]) > at)


def beyond_cure(case: Case) -> bool:
    """Tell whether comfort is what is aimed at, so that nothing by rule is asked for."""
    services = {"palliative_care"}
    return bool(services & set(charted(case).done)) or has(case, services)

"""Diagnoses, stay, plans and notes of one encounter that can be asked for: what is named for certain, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from wardround.patients import document_text, knowledge, rank_of
from wardround.patients.knowledge import Names
from wardround.rubrics.reading import read
from wardround.sessions.moves.move import Case

from .parsed import resources
from .record_studies import in_stay, in_text
from .sources import NoteSection, notes


@dataclass(frozen=True, slots=True)
class Named:
    """What one resource names: concepts and their names inside a sentence."""

    id: str
    keys: tuple[str, ...]
    concepts: tuple[str, ...]
    names: tuple[Names, ...]


@dataclass(frozen=True, slots=True)
class Stay:
    """Why the patient came, and whose care they are in."""

    key: str
    reason: str
    reason_names: Names
    service: str
    service_names: Names


@dataclass(frozen=True)
class OtherView:
    """Diagnoses, stay, plans and notes of one encounter."""

    principal: Named | None
    stay: Stay | None
    followup: Named | None
    """Services that the care plan sends to."""
    notes: dict[str, Named]
    """By section."""
    states: frozenset[str]
    """Conditions and findings that the record names anywhere in structured form."""
    left_out: Counter[str] = field(default_factory=Counter)


def other_view(case: Case) -> OtherView:
    """Return the diagnoses, stay, plans and notes of the case's encounter."""
    return case.memo("record_others.other_view", _view)


def _view(case: Case) -> OtherView:
    left_out: Counter[str] = Counter()
    principal = _principal(case, left_out)
    stay = _stay(case, left_out)
    followup = _followup(case, left_out)
    sections = {}
    for identity, section in notes().sections.items():
        found = _section(case, identity, section, left_out)
        if found is not None:
            sections[identity] = found
    return OtherView(principal, stay, followup, sections, _states(case), left_out)


def _asserted(text: str, kinds: frozenset[str]) -> list[str] | None:
    """Return the concepts that a text asserts, narrowest only; None where one is denied, unsure or vague."""
    claims = [one for one in read(text).names if one.kind in kinds]
    vague = set(notes().vague)
    if any(one.polarity != "present" or one.concept in vague for one in claims):
        return None
    found = list(dict.fromkeys(one.concept for one in claims))
    lexicon = knowledge.lexicon()
    return [one for one in found if not any(other != one and lexicon.is_a(other, one) for other in found)]


def _known(concepts: list[str]) -> tuple[Names, ...] | None:
    names = [knowledge.lexicon().concept(one).name for one in concepts]
    return None if any(one.zh is None for one in names) else tuple(in_text(one) for one in names)


def _title(resource: dict[str, Any]) -> str:
    return str(resource.get("code", {}).get("text") or "")


def _principal(case: Case, left_out: Counter[str]) -> Named | None:
    """Return the diagnosis of rank 1, where its title names one condition."""
    ranked = [
        one
        for one in in_stay(case.snapshot, case.encounter, "Condition")
        if rank_of(one) == 1 and _of(one, case.encounter)
    ]
    if len(ranked) != 1 or f"Condition/{ranked[0]['id']}" in case.flawed:
        left_out["no principal diagnosis known yet, or several"] += 1
        return None
    concepts = _asserted(_title(ranked[0]), frozenset({"condition"}))
    names = _known(concepts) if concepts else None
    if not concepts or names is None or len(concepts) != 1:
        left_out["principal diagnosis that names no condition, or several"] += 1
        return None
    return Named("principal", (f"Condition/{ranked[0]['id']}",), tuple(concepts), names)


def _of(resource: dict[str, Any], encounter: str) -> bool:
    return str(resource.get("encounter", {}).get("reference", "")).rpartition("/")[2] == encounter


def _stay(case: Case, left_out: Counter[str]) -> Stay | None:
    """Return the reason of admission and the service where both are one known thing."""
    entry = case.snapshot.read("Encounter", case.encounter)
    if entry is None:
        return None
    resource = entry.resource()
    if resource.get("class", {}).get("code") == "AMB":
        left_out["visit that is no stay"] += 1
        return None
    reasons = [str(one.get("text", "")) for one in resource.get("reasonCode", ())]
    service = str(resource.get("serviceType", {}).get("text", ""))
    reason = _asserted(" ".join(reasons), frozenset({"finding", "condition"})) if len(reasons) == 1 else None
    served = _asserted(service, frozenset({"service"}))
    if not reason or not served or len(reason) != 1 or len(served) != 1 or entry.key in case.flawed:
        left_out["stay without one known reason and service"] += 1
        return None
    names, services = _known(reason), _known(served)
    if names is None or services is None:
        left_out["stay without one known reason and service"] += 1
        return None
    return Stay(entry.key, reason[0], names[0], served[0], services[0])


def _followup(case: Case, left_out: Counter[str]) -> Named | None:
    """Return the services that the stay's follow-up plan sends to; one or two."""
    plans = [
        one
        for one in in_stay(case.snapshot, case.encounter, "CarePlan")
        if _of(one, case.encounter) and one.get("status") == "active" and "followup" in _categories(one)
    ]
    if len(plans) != 1 or f"CarePlan/{plans[0]['id']}" in case.flawed:
        left_out["no follow-up plan known yet, or several"] += 1
        return None
    mentions = knowledge.lexicon().scan(str(plans[0].get("description", "")), kinds={"service"})
    concepts = list(dict.fromkeys(mention.concepts[0] for mention in mentions))
    names = _known(concepts) if concepts else None
    if names is None or len(concepts) > 2:
        left_out["follow-up plan that names no service, or many"] += 1
        return None
    return Named("followup", (f"CarePlan/{plans[0]['id']}",), tuple(concepts), names)


def _categories(resource: dict[str, Any]) -> set[str]:
    found = {str(one.get("text")) for one in resource.get("category", ())}
    for one in resource.get("category", ()):
        found.update(str(coding.get("code")) for coding in one.get("coding", ()))
    return found


def _section(case: Case, identity: str, section: NoteSection, left_out: Counter[str]) -> Named | None:
    """Return what a section names, where all notes of the stay that have one say the same."""
    found: dict[tuple[str, ...], list[str]] = {}
    kinds = frozenset(section.kinds)
    for resource in _sections(case, section):
        concepts = _asserted(_body(resource), kinds)
        if not concepts:
            left_out[f"note whose {identity} names nothing, or not for certain"] += 1
            return None
        found.setdefault(tuple(concepts), []).append(f"DocumentReference/{resource['id']}")
    if len(found) != 1:
        left_out[f"no {identity} in a note of the stay, or several that differ"] += bool(found)
        return None
    concepts_, keys = next(iter(found.items()))
    names = _known(list(concepts_))
    if names is None or len(concepts_) > 2 or any(key in case.flawed for key in keys):
        left_out[f"note whose {identity} names too much, or is wrong"] += 1
        return None
    return Named(identity, tuple(sorted(keys)), concepts_, names)


def _sections(case: Case, section: NoteSection) -> Iterator[dict[str, Any]]:
    for resource in in_stay(case.snapshot, case.encounter, "DocumentReference"):
        titles = {
            str(content.get("attachment", {}).get("title", "")).casefold() for content in resource.get("content", ())
        }
        kind = str(resource.get("type", {}).get("text", "")).casefold()
        if titles & set(section.titles) and kind in notes().types:
            yield resource


def _body(resource: dict[str, Any]) -> str:
    """Return a section's words without its heading."""
    lines = (document_text(resource) or "").split("\n")
    return "\n".join(lines[1:]) if len(lines) > 1 else lines[0]


def _states(case: Case) -> frozenset[str]:
    """Return every condition or finding that coded diagnoses of the chart name."""
    found: set[str] = set()
    for resource in resources(case.snapshot, "Condition"):
        found.update(_states_in(_title(resource)))
    return frozenset(found)


@lru_cache(maxsize=4096)
def _states_in(title: str) -> tuple[str, ...]:
    mentions = knowledge.lexicon().scan(title, kinds={"condition", "finding"})
    return tuple(concept for mention in mentions for concept in mention.concepts)

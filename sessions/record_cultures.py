"""What grew in the cultures of a stay, and how it answers to antibiotics, as known at the anchor.

Left out and counted: a culture that is not final, several of one specimen that disagree, more than one organism, what
grew that our reader does not know, a drug with two readings.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from wardround.patients import knowledge
from wardround.patients.knowledge import Names
from wardround.sessions.moves.move import Case
from wardround.sessions.record import drug_of

from .record_studies import in_stay
from .sources import Result, cultures

_RESULTS = frozenset({"S", "I", "R"})
_DONE = frozenset({"final", "amended", "corrected"})
_MICRO = "microbiology"
"""Category of what a laboratory grew."""


@dataclass(frozen=True, slots=True)
class Culture:
    """The cultures of one specimen of this stay, which all say the same."""

    id: str
    names: Names
    keys: tuple[str, ...]
    """The tests that say what grew, and the organisms."""
    organism: str | None
    """Concept; None where nothing grew."""
    grew: Names | None
    """What grew, as charts write it."""
    code: str
    """Name of the test as the chart has it."""


@dataclass(frozen=True, slots=True)
class Susceptibility:
    """How what grew answers to one drug."""

    drug: str
    reading: Result
    keys: tuple[str, ...]
    organism: str
    grew: Names


@dataclass(frozen=True)
class CultureView:
    """The cultures of a stay that can be asked for."""

    cultures: dict[str, Culture]
    susceptibilities: dict[str, Susceptibility]
    """By drug; only where one organism grew in the whole stay."""
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def grown(self) -> Culture | None:
        """The culture that grew something; the blood's before others, since it weighs most."""
        grown = [one for one in self.cultures.values() if one.organism is not None]
        return min(grown, key=lambda one: (one.id != "blood_culture", one.id), default=None)


def culture_view(case: Case) -> CultureView:
    """Return the cultures of the case's stay."""
    return case.memo("record_cultures.culture_view", _view)


def _view(case: Case) -> CultureView:
    left_out: Counter[str] = Counter()
    tests: dict[str, list[dict[str, Any]]] = {}
    isolates: dict[str, dict[str, Any]] = {}
    readings: list[dict[str, Any]] = []
    for resource in in_stay(case.snapshot, case.encounter, "Observation", _MICRO.encode()):
        if not _micro(resource):
            continue
        title = str(resource.get("code", {}).get("text", ""))
        identity = _test(title)
        if title.endswith(": organism"):
            isolates[str(resource["id"])] = resource
        elif identity is not None:
            tests.setdefault(identity, []).append(resource)
        elif title.endswith(")"):
            readings.append(resource)
        else:
            left_out["microbiology test that is no known culture"] += 1
    found = {}
    for identity in sorted(tests):
        culture = _culture(identity, tests[identity], isolates, case.flawed, left_out)
        if culture is not None:
            found[identity] = culture
    organisms = {_organism(_text(one)) for one in isolates.values()}
    known = _susceptibilities(readings, case.flawed, left_out) if len(organisms) == 1 else {}
    return CultureView(found, known, left_out)


def _micro(resource: dict[str, Any]) -> bool:
    return any(
        category.get("text") == _MICRO or any(coding.get("code") == _MICRO for coding in category.get("coding", ()))
        for category in resource.get("category", ())
    )


def _test(title: str) -> str | None:
    """Return the id of the culture that a test's name means."""
    if ":" in title or title.endswith(")"):
        return None
    mentions = knowledge.lexicon().scan(title, kinds={"lab"})
    named = {one for mention in mentions for one in mention.concepts if one in cultures().cultures}
    return next(iter(named)) if len(named) == 1 else None


def _text(resource: dict[str, Any]) -> str:
    coded = resource.get("valueCodeableConcept", {})
    return str(resource.get("valueString") or coded.get("text") or "")


def _organism(text: str) -> tuple[str, Names] | None:
    """Return concept and names of what grew; None for what the readers do not know in both languages."""
    found = knowledge.lexicon().resolve(text)
    if found is None or found.name.zh is None:
        return None
    for profile in knowledge.organism_profiles().values():
        if profile.name.en.casefold() == text.casefold():
            return found.id, profile.name
    return None


def _culture(
    identity: str,
    tests: list[dict[str, Any]],
    isolates: dict[str, dict[str, Any]],
    flawed: frozenset[str],
    left_out: Counter[str],
) -> Culture | None:
    """Return one specimen's cultures where all are final and agree."""
    results: set[tuple[str, Names] | None] = set()
    keys: list[str] = []
    for test in tests:
        own = f"Observation/{test['id']}"
        members = [str(one.get("reference", "")).rpartition("/")[2] for one in test.get("hasMember", ())]
        grown = [isolates[one] for one in members if one in isolates]
        organisms = {_organism(_text(one)) for one in grown}
        if test.get("status") not in _DONE or own in flawed or len(organisms) > 1 or (grown and None in organisms):
            left_out["culture that is not final, of several organisms, or of one that is not known"] += 1
            return None
        if grown:
            results.update(organisms)
            keys += [f"Observation/{one['id']}" for one in grown]
            if _text(test).casefold() == _text(grown[0]).casefold():
                keys.append(own)
        elif _text(test).casefold().rstrip(". ") in cultures().nothing:
            results.add(None)
            keys.append(own)
        else:
            left_out["culture whose result is not known"] += 1
            return None
    if len(results) != 1:
        left_out["cultures of one specimen that disagree"] += 1
        return None
    result = next(iter(results))
    code = str(tests[0]["code"]["text"])
    organism, grew = result if result is not None else (None, None)
    return Culture(identity, cultures().cultures[identity], tuple(dict.fromkeys(keys)), organism, grew, code)


def _susceptibilities(
    readings: list[dict[str, Any]], flawed: frozenset[str], left_out: Counter[str]
) -> dict[str, Susceptibility]:
    found: dict[str, Susceptibility] = {}
    clash: set[str] = set()
    for resource in readings:
        drug_text, _, organism_text = str(resource["code"]["text"]).partition(" (")
        drug, organism = drug_of(drug_text), _organism(organism_text.removesuffix(")"))
        code = _result(resource)
        key = f"Observation/{resource['id']}"
        if drug is None or organism is None or code is None or key in flawed:
            left_out["susceptibility of a drug or organism that is not known"] += 1
            continue
        before = found.get(drug)
        if before is not None and before.reading != code:
            clash.add(drug)
        keys = (*(before.keys if before is not None else ()), key)
        found[drug] = Susceptibility(drug, code, keys, organism[0], organism[1])
    left_out["drug with two readings"] += len(clash)
    return {drug: one for drug, one in sorted(found.items()) if drug not in clash}


def _result(resource: dict[str, Any]) -> Result | None:
    for interpretation in resource.get("interpretation", ()):
        for coding in interpretation.get("coding", ()):
            if coding.get("code") in _RESULTS:
                result: Result = coding["code"]
                return result
    return None

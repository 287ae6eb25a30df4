"""What speaks against a drug in a patient whatever its dose: conditions, labs, age, allergies, other drugs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

import orjson

from wardround.patients.knowledge import (
    Contraindication,
    DrugProfile,
    Interaction,
    Names,
    drug_classes,
    drug_profiles,
    drugs,
    lexicon,
)

from .documents import read_document
from .naming import inside
from .prescribing_situation import Situation

ProblemKind = Literal[
    "contraindication", "allergy", "interaction", "renal", "hepatic", "age", "duplicate", "range"
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an order."""

    kind: ProblemKind
    absolute: bool
    why: Names


def patient_problems(profile: DrugProfile, patient: Situation) -> tuple[Problem, ...]:
    """Return what speaks against a drug in this patient at any dose."""
    return (
        *_contraindications(profile, patient),
        *_allergies(profile, patient.allergies),
        *interactions_of(profile, patient.drugs, "major"),
        *_duplicates(profile, patient.drugs),
    )


def interactions_of(
    profile: DrugProfile, others: Iterable[str], severity: Literal["major", "moderate"]
) -> tuple[Problem, ...]:
    """Return interactions of one severity with other drugs, whichever of the two tells them."""
    found = []
    for other in sorted(set(others)):
        met = _interaction(profile.id, other)
        if met is not None and met.severity == severity:
            found.append(Problem("interaction", severity == "major", met.effect))
    return tuple(found)


def word(name: str, drug: str, other: str = "") -> Names:
    """Return one of our own explanations, with the drugs' names in it."""
    en, zh = _data()["words"][name]
    names = {"drug": _name(drug), "other": _name(other)}
    return Names(
        en=en.format(**{key: inside(value.en) for key, value in names.items()}),
        zh=zh.format(**{key: value.zh or value.en for key, value in names.items()}),
    )


def kinds(drug: str) -> frozenset[str]:
    """Return what a drug counts as: itself, its ingredients, and every class of these."""
    return _kinds(drug)[0]


def _contraindications(profile: DrugProfile, patient: Situation) -> list[Problem]:
    had = _widened(patient.conditions)
    return [
        Problem(
            "age" if entry.age_below is not None or entry.age_from is not None else "contraindication",
            entry.absolute,
            entry.why,
        )
        for entry in profile.contraindications
        if _holds(entry, patient, had)
    ]


def _holds(entry: Contraindication, patient: Situation, had: frozenset[str]) -> bool:
    """Tell whether everything that an entry names is so; what it does not name does not matter."""
    if entry.condition is not None and entry.condition not in had:
        return False
    if entry.pregnancy and not patient.pregnant:
        return False
    if entry.age_below is not None and patient.age >= entry.age_below:
        return False
    if entry.age_from is not None and patient.age < entry.age_from:
        return False
    if entry.lab is None:
        return True
    value = patient.labs.get(entry.lab)
    if value is None:
        return False
    return not (entry.below is not None and value >= entry.below) and not (
        entry.at_least is not None and value < entry.at_least
    )


def _allergies(profile: DrugProfile, allergies: frozenset[str]) -> list[Problem]:
    own = _allergens(profile.id)
    return [
        Problem("allergy", True, word("allergy", profile.id, allergen))
        for allergen in sorted(allergies)
        if allergen in own or _shared(allergen) & own
    ]


@cache
def _allergens(drug: str) -> frozenset[str]:
    """Return every substance an allergy to which bars a drug: itself, ingredients, classes, groups it shares."""
    profile = drug_profiles().get(drug)
    found = {drug, *_kinds(drug)[1]}
    for part in (drug, *(profile.contains if profile else ())):
        of_part = drug_profiles().get(part)
        found.update(of_part.allergy_groups if of_part else ())
    return frozenset(found)


@cache
def _shared(allergen: str) -> frozenset[str]:
    """Return the groups through which an allergy to one drug bars others."""
    profile = drug_profiles().get(allergen)
    return frozenset(profile.allergy_groups) if profile else frozenset()


@lru_cache(maxsize=1 << 13)
def _interaction(one: str, other: str) -> Interaction | None:
    """Return the gravest interaction of two drugs; None for none and for a drug with itself."""
    if one == other:
        return None
    found = [*_told(one, other), *_told(other, one)]
    return min(found, key=lambda told: told.severity != "major", default=None)


def _told(drug: str, other: str) -> list[Interaction]:
    """Return what a drug, or an ingredient of it, tells of another."""
    profile = drug_profiles().get(drug)
    parts = [profile, *(drug_profiles().get(part) for part in profile.contains)] if profile else []
    counted = kinds(other)
    return [entry for part in parts if part for entry in part.interactions if entry.other in counted]


def _duplicates(profile: DrugProfile, others: Iterable[str]) -> list[Problem]:
    found = []
    for other in sorted(set(others)):
        if other == profile.id or _parts(other) & _parts(profile.id):
            found.append(Problem("duplicate", True, word("same_ingredient", profile.id, other)))
        elif not _groups(profile.id).isdisjoint(_groups(other)):
            found.append(Problem("duplicate", True, word("same_class", profile.id, other)))
    return found


@cache
def _groups(drug: str) -> frozenset[str]:
    """Return the groups of drugs, of which one at a time is given, that a drug is of."""
    mine, parts = kinds(drug), _parts(drug)
    return frozenset(
        group["id"]
        for group in _data()["one_at_a_time"]
        if not mine.isdisjoint(group["any_of"]) and parts.isdisjoint(group.get("but", ()))
    )


@cache
def _parts(drug: str) -> frozenset[str]:
    """Return a drug with its ingredients and, for salts and kinds of one drug, that drug."""
    profile, concept = drug_profiles().get(drug), drugs().get(drug)
    parts = {drug, *(profile.contains if profile else ())}
    parts.update(wider for wider in (concept.broader if concept else ()) if wider in _data()["one_ingredient"])
    return frozenset(parts)


@cache
def _kinds(drug: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a drug counts as for its actions, and for allergies (where every class counts)."""
    acts: set[str] = set()
    allergens: set[str] = set()
    for part in _parts(drug):
        concept = drugs().get(part)
        classes = _widened(frozenset(concept.classes if concept else ()))
        acts |= {part} | (classes - set(_data()["does_not_act_as"].get(part, ())))
        allergens |= {part} | classes
    return frozenset(acts), frozenset(allergens)


@lru_cache(maxsize=1 << 10)
def _widened(ids: frozenset[str]) -> frozenset[str]:
    """Return concepts with everything they are a case of."""
    return ids.union(*(lexicon().wider(one) for one in ids))


def _name(concept_id: str) -> Names:
    concept = drugs().get(concept_id) or drug_classes().get(concept_id)
    return concept.name if concept else Names(en=concept_id.replace("_", " ") or "-", zh=None)


@cache
def _data() -> dict[str, Any]:
    """Return `data/prescribing.json`: which drugs are given one at a time, and our own explanations."""
    data: dict[str, Any] = orjson.loads(read_document("prescribing.json"))
    return data

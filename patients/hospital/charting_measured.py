"""Laboratory results, vital signs and cultures → Observation."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from wardround.patients.building import (
    INTERPRETATION,
    LOINC,
    OBSERVATION_CATEGORY,
    PRESSURE_PARTS,
    concept,
    quantity,
    time_text,
    value_elements,
)
from wardround.patients.importers._templates import Shelf, Values, plain_number, stand_in_number
from wardround.patients.knowledge import drugs, labs, units
from wardround.patients.knowledge.bedside import lab_profiles, organism_profiles
from wardround.patients.resource import Resource, known_value
from wardround.patients.slotted import Sheaf

from .charting_desk import Desk, Made, chart_words, moment, place
from .life import Culture, CultureStage, Result

_WHOLE = re.compile(r"[1-9][0-9]{0,3}", re.ASCII)
_MARKS = ("<=", ">=", "<", ">")

_RESULTS = Shelf("Observation", ("key", "whole", "whole", "time", "number", "time", "time"), dated=3, encounter=2)
"""Slots: id, patient, encounter, when taken, value (empty for words, which are part of the shape), filed, known."""
_PRESSURES = Shelf(
    "Observation", ("key", "whole", "whole", "time", "whole", "whole", "time", "time"), dated=3, encounter=2
)
"""Slots: id, patient, encounter, when taken, both pressures, filed, known."""


class _Kind(NamedTuple):
    """How a test is charted."""

    loinc: str | None
    ucum: str | None
    unit: str | None
    category: str
    abnormal: frozenset[str]


@lru_cache(maxsize=1 << 10)
def _kind(lab: str) -> _Kind:
    concept_of, profile = labs().get(lab), lab_profiles().get(lab)
    ucum = concept_of.unit if concept_of else ""
    known = units().get(ucum)
    display = (profile.display if profile else None) or (known.display if known else None) or ucum
    loinc = (profile.loinc if profile else None) or next(iter(concept_of.loinc if concept_of else ()), None)
    vital = (profile.category if profile else None) == "vital-signs" or (
        concept_of is not None and concept_of.kind == "vital"
    )
    words = frozenset(profile.abnormal_text) if profile else frozenset()
    return _Kind(loinc, ucum or None, display or None, "vital-signs" if vital else "laboratory", words)


def chart_measured(desk: Desk) -> None:
    """Add the results: known when they were filed."""
    sheaf = Sheaf("Observation", "", "results")
    desk.sheaves.append(sheaf)
    for result in desk.life.results:
        _result(desk, result, sheaf)


def _result(desk: Desk, result: Result, sheaf: Sheaf) -> None:
    kind, name, encounter = _kind(result.lab), desk.name(result.id), desk.stay(result.encounter)
    flag = _flag(result.text.strip(), result.low, result.high, kind.abnormal)
    filed = None if kind.category == "vital-signs" and result.known_at == result.at else moment(result.known_at)
    ends = tuple(result.text.split("/"))
    pressure = len(ends) == 2 and all(_WHOLE.fullmatch(end) for end in ends)
    plain = not pressure and plain_number(result.text)
    words = None if pressure or plain else result.text
    shape = (result.lab, result.name, result.low, result.high, flag, words, encounter is None, filed is None)

    def make(values: Values) -> Resource:
        return _observation(result, kind, flag, values)

    said: tuple[str | None, ...] = ends if pressure else (result.text,) if plain else (None,)
    values = (name, desk.life.patient_id, encounter, moment(result.at), *said, filed)
    number = stand_in_number(result.low, result.high, flag) if plain else None
    refers = desk.begun(result.encounter)
    made = Made(shape, make, values, result.known_at, result.at, encounter, number, refers=refers)
    place(desk, _PRESSURES if pressure else _RESULTS, sheaf, made)
    desk.trace("Observation", name, (result.id, *result.causes))


def _observation(result: Result, kind: _Kind, flag: str | None, values: Values) -> Resource:
    identity, patient, encounter, taken, *said, filed = values
    out: Resource = {
        "resourceType": "Observation",
        "id": identity,
        "status": "final",
        "category": [{"coding": [{"system": OBSERVATION_CATEGORY, "code": kind.category}]}],
        "code": concept(result.name, LOINC, kind.loinc),
        "subject": {"reference": f"Patient/{patient}"},
    }
    if encounter is not None:
        out["encounter"] = {"reference": f"Encounter/{encounter}"}
    out["effectiveDateTime"] = taken
    if filed is not None:
        out["issued"] = filed
    if len(said) == 2:
        out["component"] = [
            {"code": concept(words, LOINC, code), "valueQuantity": quantity(end or "", kind.unit, kind.ucum)}
            for (words, code), end in zip(PRESSURE_PARTS, said, strict=True)
        ]
        return out
    out.update(value_elements(said[0] or result.text, kind.unit, kind.ucum))
    band = {
        end: quantity(bound, kind.unit, kind.ucum)
        for end, bound in (("low", result.low), ("high", result.high))
        if bound is not None
    }
    if band:
        out["referenceRange"] = [band]
    if flag is not None:
        out["interpretation"] = [{"coding": [{"system": INTERPRETATION, "code": flag}]}]
    return out


@lru_cache(maxsize=1 << 13)
def _flag(text: str, lowest: str | None, highest: str | None, abnormal: frozenset[str]) -> str | None:
    """Return H or L for a number outside its range, A for words that are abnormal, else None."""
    mark = next((mark for mark in _MARKS if text.startswith(mark)), "")
    figure = text[len(mark) :].strip()
    if not plain_number(figure):
        return "A" if text in abnormal else None
    number = Decimal(figure)
    if highest is not None and (number > Decimal(highest) or (mark[:1] == ">" and number >= Decimal(highest))):
        return "H"
    if lowest is not None and (number < Decimal(lowest) or (mark[:1] == "<" and number <= Decimal(lowest))):
        return "L"
    return None


# ---- cultures ----


def chart_cultures(desk: Desk) -> None:
    """Add cultures as microbiology is charted: a test that grows with its stages, the organism, susceptibilities."""
    for culture in desk.life.cultures:
        _culture(desk, culture)


def _culture(desk: Desk, culture: Culture) -> None:
    name = desk.name(culture.id)
    words = chart_words()["specimens"].get(culture.specimen, {})
    title = words.get("title") or f"{culture.specimen.capitalize()} culture"
    test = _begin(desk, culture, name, title, words.get("loinc"))
    stages = sorted(culture.stages, key=lambda stage: stage.at)
    if not stages:
        test["status"], test["dataAbsentReason"] = "registered", {"text": "pending"}
        desk.add(test, culture.at, (culture.id,))
        return
    last = stages[-1]
    test["status"] = stages[0].status
    test["valueString"] = stages[0].text
    if culture.organism is not None:
        test["hasMember"] = [{"reference": f"Observation/{name}-org"}]
    for before, stage in pairwise(stages):
        if stage.status != before.status:
            known_value(test, "status", stage.status, stage.at)
        known_value(test, "valueString", stage.text, stage.at)
    desk.add(test, stages[0].at, (culture.id,))
    if culture.organism is not None:
        _grown(desk, culture, title, _named(culture, stages), last)


def _organism(culture: Culture) -> str:
    profile = organism_profiles().get(culture.organism or "")
    return profile.name.en if profile else (culture.organism or "").replace("_", " ").capitalize()


def _named(culture: Culture, stages: list[CultureStage]) -> CultureStage:
    """Return the stage that names the organism: the first whose text does, else the last."""
    wanted = _organism(culture).casefold()
    return next((stage for stage in stages if wanted in stage.text.casefold()), stages[-1])


def _grown(desk: Desk, culture: Culture, title: str, named: CultureStage, last: CultureStage) -> None:
    """Add the organism, known once a stage names it, and its susceptibilities, known with the last."""
    name = desk.name(culture.id)
    organism = _organism(culture)
    isolate = _begin(desk, culture, f"{name}-org", f"{title}: organism")
    isolate["valueCodeableConcept"] = {"text": organism}
    members = [f"{name}-s-{drug.replace('_', '-')}" for drug, _ in culture.susceptibilities]
    if members:
        isolate["hasMember"] = [{"reference": f"Observation/{member}"} for member in members]
    desk.add(isolate, named.at, (culture.id,))
    for (drug, reading), member in zip(culture.susceptibilities, members, strict=True):
        known = drugs().get(drug)
        words = known.name.en if known else drug.replace("_", " ")
        tested = _begin(desk, culture, member, f"{words} ({organism})")
        tested["valueString"] = reading
        coding = {"system": INTERPRETATION, "code": reading, "display": chart_words()["readings"][reading]}
        tested["interpretation"] = [{"coding": [coding], "text": reading}]
        desk.add(tested, last.at, (culture.id,))


def _begin(desk: Desk, culture: Culture, name: str, title: str, loinc: str | None = None) -> Resource:
    words: dict[str, Any] = chart_words()["specimens"].get(culture.specimen, {})
    out: Resource = {
        "resourceType": "Observation",
        "id": name,
        "status": "final",
        "category": [{"coding": [{"system": OBSERVATION_CATEGORY, "code": "laboratory"}]}, {"text": "microbiology"}],
        "code": concept(title, LOINC, loinc),
        "subject": {"reference": f"Patient/{desk.life.patient_id}"},
        "encounter": {"reference": f"Encounter/{desk.stay(culture.encounter)}"},
        "effectiveDateTime": time_text(culture.at),
        "specimen": {"display": words.get("specimen", culture.specimen.capitalize())},
    }
    return out

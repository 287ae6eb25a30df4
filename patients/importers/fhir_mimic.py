"""MIMIC-IV on FHIR: its ids, clock, names, statuses and codes put right (docs/fhir-import.md, "MIMIC-IV on FHIR")."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from wardround.patients.elements import text_of
from wardround.patients.resource import Resource, tag_derived, values_at

from . import _vocabulary as words
from .diagnoses import dot, has_clinical_status
from .emar import emar_status
from .fhir_medication import identifiers, name_of
from .fhir_rules import ENCOUNTER_KIND, SOURCE_CLASS, is_legal, map_strings, rules
from .fhir_spill import Spill

Note = Callable[[str], None]

_ZONED = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)[+-]\d\d:\d\d", re.ASCII)
_WORDS = frozenset({"valueString", "text", "div", "display", "value"})


def is_mimic(resource: Resource) -> bool:
    """Tell whether a resource follows a MIMIC-IV profile."""
    start = rules()["mimic"]["profiles"]
    return any(isinstance(one, str) and one.startswith(start) for one in values_at(resource, "meta.profile"))


def _profile(resource: Resource) -> str:
    start = rules()["mimic"]["profiles"]
    found = (str(one).removeprefix(start) for one in values_at(resource, "meta.profile") if str(one).startswith(start))
    return next(found, "")


def mimic_id(resource: Resource) -> str | None:
    """Return the id agents use: subject_id of a Patient, hadm_id of a hospital Encounter, `icu-…`, `ed-…`."""
    table = rules()["mimic"]["identifiers"].get(resource["resourceType"], {})
    for system, prefix in table.items():
        for value in identifiers(resource, [system]):
            if is_legal(f"{prefix}{value}"):
                return f"{prefix}{value}"
    return None


def formulary_names(spill: Spill) -> dict[str, str]:
    """Return the name of each formulary code: the one most Medications give it (ties: the first by alphabet)."""
    system = rules()["mimic"]["formulary"]
    counts: dict[str, Counter[str]] = {}
    for medication in spill.bodies("Medication"):
        name = name_of(medication)
        for code in identifiers(medication, [system]) if name else ():
            counts.setdefault(code, Counter())[str(name)] += 1
    return {code: min(found, key=lambda name: (-found[name], name)) for code, found in counts.items()}


def restore(resource: Resource, names: Mapping[str, str], note: Note) -> None:
    """Put a MIMIC-IV resource right, in place; its references are resolved already."""
    _wall_clock(resource)
    _day_precision(resource)
    _units(resource)
    change = _CHANGES.get(resource["resourceType"])
    if change is not None:
        change(resource, note)
    if isinstance(resource.get("medicationCodeableConcept"), dict):
        _name(resource["medicationCodeableConcept"], names)


def finish(resource: Resource, chart: Mapping[str, Resource], note: Note) -> None:
    """Put right what needs the rest of the chart: a diagnosis is dated by its stay, a drug named by its order."""
    if resource["resourceType"] == "Condition" and "recordedDate" not in resource:
        stay = chart.get(str(resource.get("encounter", {}).get("reference")), {})
        end = stay.get("period", {}).get("end")
        if isinstance(end, str):
            resource["recordedDate"] = end
    if _profile(resource) == "mimic-observation-micro-test" and resource.get("status") == "final":
        _cancel(resource, chart, note)
    concept = resource.get("medicationCodeableConcept")
    if isinstance(concept, dict) and not _is_named(concept):
        orders = [resource.get("request", {}), *resource.get("authorizingPrescription", ())]
        order = next((chart[key] for one in orders if (key := str(one.get("reference"))) in chart), {})
        name = order.get("medicationCodeableConcept", {}).get("text")
        if name:
            concept["text"] = name
            note("a drug whose code has no name in the input; named as its order names it")
        else:
            note("a drug whose name is not in the input; named by its code")


def _cancel(resource: Resource, chart: Mapping[str, Resource], note: Note) -> None:
    """Give a culture that grew nothing but the word CANCELLED the status that R4 has for it."""
    grown = [chart.get(str(member.get("reference")), {}) for member in resource.get("hasMember", ())]
    wanted = rules()["mimic"]["cancelled_organism"]
    if grown and all(wanted in values_at(one, "code.coding.code") for one in grown):
        resource["status"] = "cancelled"
        note("a culture whose only organism is CANCELLED is cancelled")


def _wall_clock(resource: Resource) -> None:
    """Write times as MIMIC-IV's wall clock: the published offsets come from a database session, not from a hospital."""

    def change(key: str, text: str) -> str:
        if key in _WORDS or len(text) < 25 or text[4] != "-":
            return text
        match = _ZONED.fullmatch(text)
        return text if match is None else f"{match[1]}Z"

    map_strings(resource, change)


def _day_precision(resource: Resource) -> None:
    for element in rules()["mimic"]["day_precision"].get(_profile(resource), ()):
        text = resource.get(element)
        if isinstance(text, str) and text[10:19] == "T00:00:00":
            resource[element] = text[:10]


def _units(node: Any) -> None:
    """Give quantities their UCUM code where it is certain; the unit keeps MIMIC-IV's word."""
    if isinstance(node, dict):
        if node.get("system") == rules()["mimic"]["units"] and "value" in node and isinstance(node.get("code"), str):
            ucum = _ucum(node["code"])
            if ucum is not None:
                node.setdefault("unit", node["code"])
                node["system"], node["code"] = words.UCUM, ucum
        for value in node.values():
            if isinstance(value, dict | list):
                _units(value)
    elif isinstance(node, list):
        for value in node:
            _units(value)


def _ucum(unit: str) -> str | None:
    for table in ("chart", "dose", "lab"):
        found = words.units().get(table, {}).get(unit)
        if found is not None:
            return str(found)
    return None


def _is_named(concept: Resource) -> bool:
    return bool(concept.get("text")) or any(coding.get("display") for coding in concept.get("coding", ()))


def _name(concept: Resource, names: Mapping[str, str]) -> None:
    """Name a drug that is only coded."""
    if _is_named(concept):
        return
    table = rules()["mimic"]
    for coding in concept.get("coding", ()):
        system, code = coding.get("system"), coding.get("code")
        name = code if system in table["named_by_code"] else names.get(code) if system == table["formulary"] else None
        if name:
            concept["text"] = name
            return


def _encounter(resource: Resource, note: Note) -> None:
    for system, kind in rules()["mimic"]["encounter_kinds"].items():
        if not identifiers(resource, [system]):
            continue
        coding = words.coding(ENCOUNTER_KIND, kind["code"], kind["display"])
        others = [
            one for one in resource.get("type", ()) if ENCOUNTER_KIND not in list(values_at(one, "coding.system"))
        ]
        resource["type"] = [words.concept(kind["display"], coding), *others]
        source = resource.get("class", {})
        wanted = kind.get("class", {}).get(source.get("code"))
        if wanted is not None:
            mark = {"url": SOURCE_CLASS, "valueCoding": source}
            resource["extension"] = [*resource.get("extension", ()), mark]
            resource["class"] = words.coding(words.ACT_CODE, wanted, rules()["mimic"]["classes"][wanted])
            note("class of a hospital admission is IMP; the source's stands in an extension")
        return


def _condition(resource: Resource, note: Note) -> None:
    table = rules()["mimic"]["icd"]
    code = resource.get("code", {})
    codings = code.get("coding", [])
    for coding in list(codings):
        version = table.get(coding.get("system"))
        if version is None or not coding.get("code"):
            continue
        hl7 = words.codes()["icd_systems"][version]["hl7"]
        codings.insert(0, words.coding(hl7, dot(coding["code"], version), coding.get("display")))
        if not code.get("text"):
            code["text"] = coding.get("display") or dot(coding["code"], version)
        if "clinicalStatus" not in resource and has_clinical_status(coding["code"], version):
            resource["clinicalStatus"] = words.concept(None, words.coding(words.CONDITION_CLINICAL, "active"))
            tag_derived(resource)
            note("clinicalStatus is missing; active, marked derived")
    if "verificationStatus" not in resource:
        resource["verificationStatus"] = words.concept(None, words.coding(words.CONDITION_VERIFICATION, "confirmed"))


def _procedure(resource: Resource, _note: Note) -> None:
    code = resource.get("code", {})
    codings = code.get("coding", [])
    for coding in list(codings):
        entry = rules()["mimic"]["procedure_icd"].get(coding.get("system"))
        if entry is None or not coding.get("code"):
            continue
        raw, place = coding["code"], entry["dot_after"]
        dotted = raw if len(raw) <= place else f"{raw[:place]}.{raw[place:]}"
        codings.insert(0, words.coding(entry["system"], dotted, coding.get("display")))
        code.setdefault("text", coding.get("display") or dotted)


def _administration(resource: Resource, note: Note) -> None:
    """Take the status from what was done: MIMIC-IV on FHIR calls everything completed, even what was not given."""
    dosage = resource.get("dosage", {})
    event = next((coding.get("code") for coding in dosage.get("method", {}).get("coding", ())), None)
    status = emar_status(event)
    if resource.get("status") != "completed" or status not in ("not-done", "stopped"):
        return
    resource["status"] = status
    tag_derived(resource)
    if status == "not-done":
        resource["statusReason"] = [words.concept(text_of(dosage["method"]))]
    note(f"status is {status} by the method of administration, marked derived")


def _order(resource: Resource, note: Note) -> None:
    """Say `stopped` of what was discontinued: MIMIC-IV on FHIR calls it completed, and the rest stopped."""
    wanted = rules()["mimic"]["order_status"].get(_profile(resource), {}).get(resource.get("status"))
    if wanted is not None and "dispenseRequest" in resource:
        resource["status"] = wanted
        tag_derived(resource)
        note("an order that was discontinued is stopped; the source's word is completed, marked derived")


def _observation(resource: Resource, note: Note) -> None:
    table = rules()["mimic"]
    for coding in values_at(resource, "valueCodeableConcept.coding"):
        if coding.get("system") == table["null_flavor"] and coding.get("code") == table["masked"]:
            del resource["valueCodeableConcept"]
            resource["dataAbsentReason"] = words.concept(None, words.coding(words.DATA_ABSENT, "masked"))
            note("a masked result has no value, but the reason why")
            return
    if _profile(resource) != table["interpretation_profile"]:
        return
    for coding in values_at(resource, "valueCodeableConcept.coding"):
        wanted = table["interpretations"].get(coding.get("code"))
        if wanted is not None:
            coding.update(wanted)
            note("a susceptibility coded IND (indeterminate) is I (intermediate)")


_CHANGES: dict[str, Callable[[Resource, Note], None]] = {
    "Condition": _condition,
    "Encounter": _encounter,
    "MedicationAdministration": _administration,
    "MedicationRequest": _order,
    "Observation": _observation,
    "Procedure": _procedure,
}

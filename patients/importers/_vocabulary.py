"""The words of MIMIC-IV as FHIR codes: the data files `mimic_*.json`, read once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import orjson

Json = dict[str, Any]

UCUM = "http://unitsofmeasure.org"
LOINC = "http://loinc.org"
NDC = "http://hl7.org/fhir/sid/ndc"
_TERMINOLOGY = "http://terminology.hl7.org/CodeSystem"
ACT_CODE = f"{_TERMINOLOGY}/v3-ActCode"
ACT_PRIORITY = f"{_TERMINOLOGY}/v3-ActPriority"
MARITAL_STATUS = f"{_TERMINOLOGY}/v3-MaritalStatus"
ADMIT_SOURCE = f"{_TERMINOLOGY}/admit-source"
DISCHARGE = f"{_TERMINOLOGY}/discharge-disposition"
OBSERVATION_CATEGORY = f"{_TERMINOLOGY}/observation-category"
INTERPRETATION = f"{_TERMINOLOGY}/v3-ObservationInterpretation"
DATA_ABSENT = f"{_TERMINOLOGY}/data-absent-reason"
CONDITION_CATEGORY = f"{_TERMINOLOGY}/condition-category"
CONDITION_CLINICAL = f"{_TERMINOLOGY}/condition-clinical"
CONDITION_VERIFICATION = f"{_TERMINOLOGY}/condition-ver-status"
REQUEST_CATEGORY = f"{_TERMINOLOGY}/medicationrequest-category"
LANGUAGE = "urn:ietf:bcp:47"
RACE_SYSTEM = "urn:oid:2.16.840.1.113883.6.238"
US_CORE = "http://hl7.org/fhir/us/core/StructureDefinition"


@cache
def codes() -> Json:
    """Return MIMIC-IV's words and their codes."""
    return _read("mimic_codes.json")


@cache
def units() -> Json:
    """Return MIMIC-IV's units and their UCUM codes."""
    return _read("mimic_units.json")


@cache
def chart_items() -> Json:
    """Return what is known of the ICU's charted items: LOINC, category, units."""
    return _read("mimic_chart_items.json")


@cache
def loinc_exceptions() -> dict[str, str]:
    """Return the LOINC codes of lab items that differ from the first code of their concept."""
    items: dict[str, str] = _read("mimic_loinc.json")["items"]
    return items


@cache
def radiology() -> Json:
    """Return the fields of note details and the words of imaging modalities."""
    return _read("mimic_radiology.json")


def system(name: str) -> str:
    """Return the URI of one of MIMIC-IV's own code or identifier systems."""
    uri: str = codes()["systems"][name]
    return uri


def _read(name: str) -> Json:
    found: Json = orjson.loads(files("wardround.patients.importers").joinpath("data").joinpath(name).read_bytes())
    return found


def coding(system_uri: str, code: str, display: str | None = None) -> Json:
    """Build a Coding; without `display` where the source names none."""
    out = {"system": system_uri, "code": code}
    if display:
        out["display"] = display
    return out


def concept(text: str | None, *codings: Json) -> Json:
    """Build a CodeableConcept of codings and the source's text."""
    out: Json = {}
    if codings:
        out["coding"] = list(codings)
    if text:
        out["text"] = text
    return out


def local_code(word: str) -> str:
    """Return a word of MIMIC-IV as a FHIR `code`: single blanks inside, none outside."""
    return " ".join(word.split())

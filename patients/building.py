"""Pieces of FHIR R4 resources from plain Python values, for `ChartBuilder`."""

from __future__ import annotations

import base64
from decimal import Decimal

from .errors import DataError
from .knowledge import unit
from .resource import Resource, decimal, end_of, instant_text
from .times import Instant

UCUM = "http://unitsofmeasure.org"
LOINC = "http://loinc.org"
OBSERVATION_CATEGORY = "http://terminology.hl7.org/CodeSystem/observation-category"
INTERPRETATION = "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation"
PRESSURE_PARTS = (("Systolic blood pressure", "8480-6"), ("Diastolic blood pressure", "8462-4"))
"""The components of a blood pressure, with their LOINC codes."""

When = str | Instant


def time_text(when: When) -> str:
    """Return a FHIR date or dateTime; "2180-05-06 07:00" gets seconds and Z, a bare date stays a date."""
    if isinstance(when, int):
        return instant_text(when)
    text = when.strip().replace(" ", "T")
    if "T" not in text:
        return text
    clock = text.partition("T")[2]
    if clock.count(":") == 1 and not clock.endswith("Z"):
        text += ":00"
    return text if text.endswith("Z") or "+" in clock or "-" in clock else text + "Z"


def instant_of(when: When) -> Instant:
    """Return when something dated so is known: the instant, or the end of a partial date."""
    return when if isinstance(when, int) else end_of(time_text(when))


def concept(text: str, system: str | None = None, code: str | None = None) -> Resource:
    """Return a CodeableConcept: words, and a coding where there is a code."""
    if code is None:
        return {"text": text}
    coding = {"system": system} if system else {}
    return {"text": text, "coding": [{**coding, "code": code, "display": text}]}


def quantity(value: str | int | Decimal, unit_text: str | None, ucum: str | None) -> Resource:
    """Return a Quantity; a string keeps its digits. The UCUM code is given, or the knowledge base knows the unit.

    Raises:
        DataError: `value` is a string but no number.
    """
    amount: Resource = {"value": decimal(value) if isinstance(value, str) else value}
    if unit_text:
        amount["unit"] = unit_text
        known = None if ucum else unit(unit_text)
        code = ucum or (known.ucum if known else None)
        if code:
            amount.update({"system": UCUM, "code": code})
    return amount


def value_elements(value: str | int | Decimal, unit_text: str | None, ucum: str | None) -> Resource:
    """Return value[x]: a Quantity for "0.30" and ">300", a string for words."""
    if not isinstance(value, str):
        return {"valueQuantity": quantity(value, unit_text, ucum)}
    text = value.strip()
    mark = next((mark for mark in ("<=", ">=", "<", ">") if text.startswith(mark)), "")
    try:
        amount = quantity(text[len(mark) :].strip(), unit_text, ucum)
    except DataError:
        return {"valueString": text}
    return {"valueQuantity": {**amount, **({"comparator": mark} if mark else {})}}


def dosage_element(dose: str | None, route: str | None, frequency: str | None) -> Resource:
    """Return a Dosage: always the words, and number and unit where the dose reads as "500 mg"."""
    words = " ".join(part for part in (dose, route, frequency) if part)
    if not words:
        return {}
    dosage: Resource = {"text": words}
    if frequency:
        dosage["timing"] = {"code": {"text": frequency}}
    if route:
        dosage["route"] = {"text": route}
    figure, _, unit_text = (dose or "").partition(" ")
    try:
        amount = quantity(figure, unit_text.strip() or None, None)
    except DataError:
        return dosage
    dosage["doseAndRate"] = [{"doseQuantity": amount}]
    return dosage


def attachment(text: str, title: str | None = None) -> Resource:
    """Return a plain-text Attachment."""
    data = base64.b64encode(text.encode()).decode("ascii")
    part = {"contentType": "text/plain; charset=utf-8", "data": data}
    return {**part, "title": title} if title else part

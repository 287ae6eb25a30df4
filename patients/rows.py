"""Compact rows: the few columns of a resource that an agent reads first, as JSON bytes made when it is packed."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from .resource import Resource, dump, rank_of
from .times import Instant

COLUMNS: dict[str, tuple[str, ...]] = {
    "Patient": ("id", "name", "sex", "birth_date", "age", "deceased", "language", "marital_status", "race"),
    "Encounter": ("id", "class", "type", "start", "end", "status", "reason", "disposition"),
    "Condition": ("id", "time", "code", "name", "status", "encounter", "rank"),
    "Observation": ("id", "time", "name", "value", "unit", "range", "flag", "encounter"),
    "MedicationRequest": (
        "id", "start", "medication", "dose", "route", "frequency", "end", "status", "encounter",
    ),
    "MedicationAdministration": ("id", "time", "medication", "dose", "route", "status", "reason", "encounter"),
    "MedicationStatement": ("id", "time", "medication", "dose", "status", "encounter"),
    "ServiceRequest": ("id", "time", "service", "priority", "status", "due", "encounter"),
    "Flag": ("id", "start", "category", "flag", "status", "encounter"),
    "DiagnosticReport": ("id", "time", "type", "text", "status", "encounter"),
    "DocumentReference": ("id", "time", "type", "section", "text", "encounter"),
    "CarePlan": ("id", "time", "category", "title", "text", "status", "encounter"),
    "AllergyIntolerance": ("id", "time", "substance", "reaction", "criticality", "status"),
    "Procedure": ("id", "time", "code", "name", "status", "encounter"),
    "Immunization": ("id", "time", "vaccine", "status"),
    "FamilyMemberHistory": ("id", "time", "relationship", "conditions"),
    "Communication": ("id", "time", "topic", "text", "status"),
    "Appointment": ("id", "start", "end", "service", "description", "status"),
    "Specimen": ("id", "time", "type", "status"),
    "Medication": ("id", "name"),
    "Location": ("id", "name"),
    "Organization": ("id", "name"),
    "Practitioner": ("id", "name"),
}  # fmt: skip
"""Names of the columns of `compact_row`, by resource type."""


def compact_row(resource: Resource, time: str | None = None, age: int | None = None) -> bytes:
    """Write the compact row of a resource as a JSON array.

    Args:
        resource: The resource as of some anchor.
        time: The text of the date that sorts it, as found by `attributes`.
        age: For a Patient, whole years at the anchor.
    """
    maker = _MAKERS.get(resource["resourceType"])
    if maker is None:
        return dump_row([resource.get("id"), time])
    return dump_row(maker(resource, time) if age is None else _patient(resource, age))


def dump_row(values: Sequence[Any]) -> bytes:
    """Write a row; decimals keep their digits."""
    body = dump({"r": values})
    return body[5:-1]


def text_of(node: Any) -> str | None:
    """Return the words of a CodeableConcept, Coding, Reference or HumanName (the first one of an array)."""
    if isinstance(node, list):
        return next((text for text in map(text_of, node) if text), None)
    if isinstance(node, str):
        return node
    if not isinstance(node, dict):
        return None
    for key in ("text", "display"):
        if node.get(key):
            return str(node[key])
    for coding in node.get("coding", ()):
        if coding.get("display"):
            return str(coding["display"])
    for coding in node.get("coding", ()):
        if coding.get("code"):
            return str(coding["code"])
    return node.get("code") or _human(node) or node.get("reference")


def _human(node: Mapping[str, Any]) -> str | None:
    words = [*node.get("given", ()), *([node["family"]] if "family" in node else [])]
    return " ".join(words) or None


def tail(reference: Any) -> str | None:
    """Return the id a Reference (or the first of an array) points to."""
    if isinstance(reference, list):
        return next((found for found in map(tail, reference) if found), None)
    text = reference.get("reference") if isinstance(reference, dict) else None
    return text.rpartition("/")[2] if isinstance(text, str) else None


def age_at(birth_date: str, anchor: Instant) -> int | None:
    """Return whole years at `anchor`; from a year alone, the difference of years."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=anchor)
    parts = [int(part) for part in birth_date[:10].split("-")]
    years = moment.year - parts[0]
    if (len(parts) == 3 and (moment.month, moment.day) < (parts[1], parts[2])) or (len(parts) == 2 and moment.month < parts[1]):
        years -= 1
    return max(years, 0)


def number_text(value: Any) -> str:
    """Write a number as the chart has it, without exponent."""
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def quantity_text(quantity: Mapping[str, Any]) -> str | None:
    """Write a Quantity or Range as "5 mg" or "1-2 mg"."""
    if "low" in quantity or "high" in quantity:
        ends = [quantity.get("low", {}), quantity.get("high", {})]
        numbers = "-".join(number_text(end["value"]) for end in ends if "value" in end)
        return f"{numbers} {unit_of(ends[0]) or unit_of(ends[1]) or ''}".strip() or None
    if "value" not in quantity:
        return None
    return f"{quantity.get('comparator', '')}{number_text(quantity['value'])} {unit_of(quantity) or ''}".strip()


def unit_of(quantity: Mapping[str, Any]) -> str | None:
    """Return the unit as people read it, else the code."""
    unit: str | None = quantity.get("unit") or quantity.get("code")
    return unit


def value_of(node: Mapping[str, Any]) -> tuple[Any, str | None]:
    """Return the value of an Observation or a component as the chart has it, and its unit."""
    quantity = node.get("valueQuantity")
    if quantity is not None and "value" in quantity:
        if "comparator" in quantity:
            return f"{quantity['comparator']}{number_text(quantity['value'])}", unit_of(quantity)
        return quantity["value"], unit_of(quantity)
    for key in ("valueString", "valueInteger", "valueBoolean", "valueDateTime", "valueTime"):
        if key in node:
            return node[key], None
    if "valueCodeableConcept" in node:
        return text_of(node["valueCodeableConcept"]), None
    if "valueRange" in node:
        return quantity_text(node["valueRange"]), None
    if "valueRatio" in node:
        ends = (node["valueRatio"].get("numerator", {}), node["valueRatio"].get("denominator", {}))
        return ":".join(quantity_text(end) or "" for end in ends), None
    if "valuePeriod" in node:
        period = node["valuePeriod"]
        return f"{period.get('start', '')} - {period.get('end', '')}", None
    return None, None


def range_of(node: Mapping[str, Any]) -> tuple[Any, Any, str | None]:
    """Return low, high and words of the first reference range."""
    for band in node.get("referenceRange", ()):
        low, high = (band.get(end, {}).get("value") for end in ("low", "high"))
        if low is not None or high is not None:
            return low, high, None
        if band.get("text"):
            return None, None, str(band["text"])
    return None, None, None


def flag_of(node: Mapping[str, Any]) -> str | None:
    """Return H, L or N from both bounds where they and a plain number exist, else the source's own flag."""
    low, high, _ = range_of(node)
    quantity = node.get("valueQuantity", {})
    value = quantity.get("value")
    if value is not None and low is not None and high is not None and "comparator" not in quantity:
        number = exact(value)
        return "L" if number < exact(low) else "H" if number > exact(high) else None
    for concept in node.get("interpretation", ()):
        for coding in concept.get("coding", ()):
            if coding.get("code"):
                return None if coding["code"] == "N" else str(coding["code"])
        if concept.get("text"):
            return str(concept["text"])
    return None


def exact(value: Any) -> Decimal:
    """Return a chart's number as a Decimal (a float by its shortest text)."""
    return value if isinstance(value, Decimal) else Decimal(str(value))


def _range_text(node: Mapping[str, Any]) -> str | None:
    low, high, words = range_of(node)
    if low is not None and high is not None:
        return f"{number_text(low)}-{number_text(high)}"
    if low is not None:
        return f">={number_text(low)}"
    return f"<={number_text(high)}" if high is not None else words


def _observation(resource: Resource, time: str | None) -> list[Any]:
    value, unit = value_of(resource)
    if value is None and resource.get("component"):
        value, unit = _components(resource["component"])
    if value is None:
        value = text_of(resource.get("dataAbsentReason"))
    return [
        resource.get("id"), time, text_of(resource.get("code")), value, unit, _range_text(resource),
        flag_of(resource), tail(resource.get("encounter")),
    ]  # fmt: skip


def _components(components: Sequence[Resource]) -> tuple[Any, str | None]:
    """Write components as "systolic 120; diastolic 80" with the unit they share, else each with its own."""
    pairs = [(text_of(part.get("code")), *value_of(part)) for part in components]
    units = {unit for _, _, unit in pairs}
    shared = units.pop() if len(units) == 1 else None
    words = []
    for name, value, unit in pairs:
        written = number_text(value) if value is not None else "unknown"
        words.append(f"{name} {written}" + (f" {unit}" if unit and shared is None else ""))
    return "; ".join(words) or None, shared


def _dosages(resource: Resource) -> Iterator[Mapping[str, Any]]:
    dosage = resource.get("dosageInstruction", resource.get("dosage", ()))
    yield from dosage if isinstance(dosage, list) else (dosage,)


def dose_of(resource: Resource) -> str | None:
    """Return the dose of an order or an administration in words."""
    for dosage in _dosages(resource):
        if "dose" in dosage:
            return quantity_text(dosage["dose"])
        for rate in dosage.get("doseAndRate", ()):
            for key in ("doseQuantity", "doseRange"):
                if key in rate and (text := quantity_text(rate[key])):
                    return text
    return next((str(dosage["text"]) for dosage in _dosages(resource) if dosage.get("text")), None)


def route_of(resource: Resource) -> str | None:
    """Return the route of an order or an administration in words."""
    return next((text_of(dosage["route"]) for dosage in _dosages(resource) if "route" in dosage), None)


def frequency_of(resource: Resource) -> str | None:
    """Return how often an order is given, in words."""
    for dosage in _dosages(resource):
        timing = dosage.get("timing", {})
        if "code" in timing and (words := text_of(timing["code"])):
            return words
        repeat = timing.get("repeat", {})
        if "period" in repeat:
            times = f"{repeat.get('frequency', 1)} per {number_text(repeat['period'])} {repeat.get('periodUnit', '')}"
            return times.strip()
        if dosage.get("asNeededBoolean"):
            return "as needed"
    return None


def medication_of(resource: Resource) -> str | None:
    """Return the medication's name in words."""
    return text_of(resource.get("medicationCodeableConcept") or resource.get("medicationReference"))


def notes_of(resource: Resource) -> str | None:
    """Return the words of `note`, one line each."""
    return "\n".join(note["text"] for note in resource.get("note", ()) if note.get("text")) or None


def document_text(resource: Resource) -> str | None:
    """Return the text of a note or a report: its plain-text attachments, section by section, else its conclusion."""
    parts = []
    contents = [content.get("attachment", {}) for content in resource.get("content", ())]
    for attachment in [*contents, *resource.get("presentedForm", ())]:
        text = attachment_text(attachment)
        if text:
            title = attachment.get("title")
            parts.append(f"{title}:\n{text}" if title else text)
    return "\n\n".join(parts) or resource.get("conclusion") or resource.get("description")


def attachment_text(attachment: Mapping[str, Any]) -> str | None:
    """Return the decoded text of a plain-text attachment; None for other content."""
    kind = str(attachment.get("contentType", ""))
    if "data" not in attachment or not kind.startswith("text/"):
        return None
    return base64.b64decode(attachment["data"]).decode("utf-8", "replace")


def _patient(resource: Resource, age: int | None) -> list[Any]:
    deceased = resource.get("deceasedDateTime", resource.get("deceasedBoolean"))
    languages = [text_of(entry.get("language")) for entry in resource.get("communication", ())]
    return [
        resource.get("id"), text_of(resource.get("name")), resource.get("gender"), resource.get("birthDate"), age,
        deceased, languages[0] if languages else None, text_of(resource.get("maritalStatus")), _race(resource),
    ]  # fmt: skip


def _race(resource: Resource) -> str | None:
    for mark in resource.get("extension", ()):
        if mark.get("url") == "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race":
            for part in mark.get("extension", ()):
                if part.get("url") == "text":
                    return str(part.get("valueString"))
    return None


def _encounter(resource: Resource, _time: str | None) -> list[Any]:
    period = resource.get("period", {})
    stay = resource.get("hospitalization", {})
    return [
        resource.get("id"), text_of(resource.get("class")), text_of(resource.get("type")), period.get("start"),
        period.get("end"), resource.get("status"), text_of(resource.get("reasonCode")),
        text_of(stay.get("dischargeDisposition")),
    ]  # fmt: skip


def code_of(node: Any, systems: Sequence[str] = ()) -> str | None:
    """Return the first code of a CodeableConcept, those of `systems` first."""
    codings = node.get("coding", ()) if isinstance(node, dict) else ()
    for system in systems:
        for coding in codings:
            if coding.get("system") == system and coding.get("code"):
                return str(coding["code"])
    return next((str(coding["code"]) for coding in codings if coding.get("code")), None)


def _condition(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, code_of(resource.get("code")), text_of(resource.get("code")),
        code_of(resource.get("clinicalStatus")), tail(resource.get("encounter")), rank_of(resource),
    ]  # fmt: skip


def _medication_request(resource: Resource, time: str | None) -> list[Any]:
    validity = resource.get("dispenseRequest", {}).get("validityPeriod", {})
    return [
        resource.get("id"), time, medication_of(resource), dose_of(resource), route_of(resource),
        frequency_of(resource), validity.get("end"), resource.get("status"), tail(resource.get("encounter")),
    ]  # fmt: skip


def _administration(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, medication_of(resource), dose_of(resource), route_of(resource),
        resource.get("status"), text_of(resource.get("statusReason")), tail(resource.get("context")),
    ]  # fmt: skip


def _statement(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, medication_of(resource), dose_of(resource), resource.get("status"),
        tail(resource.get("context")),
    ]  # fmt: skip


def _service(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, text_of(resource.get("code")), resource.get("priority"), resource.get("status"),
        resource.get("occurrenceDateTime"), tail(resource.get("encounter")),
    ]  # fmt: skip


def _flag(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, text_of(resource.get("category")), text_of(resource.get("code")),
        resource.get("status"), tail(resource.get("encounter")),
    ]  # fmt: skip


def _report(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, text_of(resource.get("code")), document_text(resource), resource.get("status"),
        tail(resource.get("encounter")),
    ]  # fmt: skip


def _document(resource: Resource, time: str | None) -> list[Any]:
    titles = [content.get("attachment", {}).get("title") for content in resource.get("content", ())]
    return [
        resource.get("id"), time, text_of(resource.get("type")), "; ".join(filter(None, titles)) or None,
        document_text(resource), tail(resource.get("context", {}).get("encounter")),
    ]  # fmt: skip


def _care_plan(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, text_of(resource.get("category")), resource.get("title"),
        resource.get("description") or notes_of(resource), resource.get("status"), tail(resource.get("encounter")),
    ]  # fmt: skip


def _allergy(resource: Resource, time: str | None) -> list[Any]:
    reactions = [text_of(reaction.get("manifestation")) for reaction in resource.get("reaction", ())]
    return [
        resource.get("id"), time, text_of(resource.get("code")), "; ".join(filter(None, reactions)) or None,
        resource.get("criticality"), code_of(resource.get("clinicalStatus")),
    ]  # fmt: skip


def _procedure(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, code_of(resource.get("code")), text_of(resource.get("code")),
        resource.get("status"), tail(resource.get("encounter")),
    ]  # fmt: skip


def _family(resource: Resource, time: str | None) -> list[Any]:
    names = [text_of(condition.get("code")) for condition in resource.get("condition", ())]
    return [resource.get("id"), time, text_of(resource.get("relationship")), "; ".join(filter(None, names)) or None]


def _communication(resource: Resource, time: str | None) -> list[Any]:
    words = [part["contentString"] for part in resource.get("payload", ()) if "contentString" in part]
    return [resource.get("id"), time, text_of(resource.get("topic")), "\n".join(words) or None, resource.get("status")]


def _appointment(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, resource.get("end"), text_of(resource.get("serviceType")),
        resource.get("description"), resource.get("status"),
    ]  # fmt: skip


def _named(resource: Resource, _time: str | None) -> list[Any]:
    return [resource.get("id"), text_of(resource.get("code") or resource.get("name"))]


_MAKERS: dict[str, Callable[[Resource, str | None], list[Any]]] = {
    "Patient": lambda resource, _time: _patient(resource, None),
    "Encounter": _encounter,
    "Condition": _condition,
    "Observation": _observation,
    "MedicationRequest": _medication_request,
    "MedicationAdministration": _administration,
    "MedicationStatement": _statement,
    "ServiceRequest": _service,
    "Flag": _flag,
    "DiagnosticReport": _report,
    "DocumentReference": _document,
    "CarePlan": _care_plan,
    "AllergyIntolerance": _allergy,
    "Procedure": _procedure,
    "Immunization": lambda resource, time: [
        resource.get("id"), time, text_of(resource.get("vaccineCode")), resource.get("status"),
    ],
    "FamilyMemberHistory": _family,
    "Communication": _communication,
    "Appointment": _appointment,
    "Specimen": lambda resource, time: [
        resource.get("id"), time, text_of(resource.get("type")), resource.get("status"),
    ],
    "Medication": _named,
    "Location": _named,
    "Organization": _named,
    "Practitioner": _named,
}  # fmt: skip

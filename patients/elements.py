"""Reading the elements of R4 resources in words: names, quantities, values, ranges, doses, texts."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from .resource import Resource, instant_text
from .times import Instant


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


def age_at(birth_date: str, anchor: Instant) -> int:
    """Return whole years at `anchor`; from a year alone, the difference of years."""
    year, *rest = (int(part) for part in instant_text(anchor)[:10].split("-"))
    parts = [int(part) for part in birth_date[:10].split("-")]
    years = year - parts[0]
    if parts[1:] > rest[: len(parts) - 1]:
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


def range_text(node: Mapping[str, Any]) -> str | None:
    """Write the reference range as "0.5-1.1", ">=0.5", "<=1.1", or its own words."""
    low, high, words = range_of(node)
    if low is not None and high is not None:
        return f"{number_text(low)}-{number_text(high)}"
    if low is not None:
        return f">={number_text(low)}"
    return f"<={number_text(high)}" if high is not None else words


_SYSTOLIC, _DIASTOLIC = "8480-6", "8462-4"


def components_of(components: Sequence[Resource]) -> tuple[Any, str | None]:
    """Write components as "a 1; b 2" with the unit they share, else each with its own; a pressure as "120/80"."""
    pressures = {code_of(part.get("code")): part for part in components}
    if pressures.keys() == {_SYSTOLIC, _DIASTOLIC}:
        ends = [value_of(pressures[code]) for code in (_SYSTOLIC, _DIASTOLIC)]
        if ends[0][1] == ends[1][1] and all(value is not None for value, _ in ends):
            return "/".join(number_text(value) for value, _ in ends), ends[0][1]
    pairs = [(text_of(part.get("code")), *value_of(part)) for part in components]
    units = {unit for _, _, unit in pairs}
    shared = units.pop() if len(units) == 1 else None
    words = []
    for name, value, unit in pairs:
        written = number_text(value) if value is not None else "unknown"
        words.append(f"{name} {written}" + (f" {unit}" if unit and shared is None else ""))
    return "; ".join(words) or None, shared


def _dosages(resource: Resource) -> Iterator[Mapping[str, Any]]:
    dosage: Any = resource.get("dosageInstruction", resource.get("dosage", ()))
    yield from (dosage,) if isinstance(dosage, dict) else dosage


def dose_of(resource: Resource) -> str | None:
    """Return the dose of an order or an administration in words; what runs in, with its rate ("4 mg at 2 mg/hour")."""
    for dosage in _dosages(resource):
        amounts = [quantity_text(dosage[key]) for key in ("dose", "rateQuantity") if key in dosage]
        if any(amounts):
            return " at ".join(filter(None, amounts))
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


def device_name(resource: Resource) -> str | None:
    """Return what a Device is called: its type, else the first of its names."""
    names = (name.get("name") for name in resource.get("deviceName", ()) if isinstance(name, dict))
    return text_of(resource.get("type")) or next((str(name) for name in names if name), None)


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
            parts.append(f"{title}:\n{text}" if title and not _begins_with(text, title) else text)
    return "\n\n".join(parts) or resource.get("conclusion") or resource.get("description")


def _begins_with(text: str, title: str) -> bool:
    return text[: len(title) + 8].lstrip().casefold().startswith(title.casefold())


def attachment_text(attachment: Mapping[str, Any]) -> str | None:
    """Return the decoded text of a plain-text attachment; None for other content."""
    kind = str(attachment.get("contentType", ""))
    if "data" not in attachment or not kind.startswith("text/"):
        return None
    return base64.b64decode(attachment["data"]).decode("utf-8", "replace")


def race_of(resource: Resource) -> str | None:
    """Return the words of the US Core race extension."""
    for mark in resource.get("extension", ()):
        if mark.get("url") == "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race":
            for part in mark.get("extension", ()):
                if part.get("url") == "text":
                    return str(part.get("valueString"))
    return None


def code_of(node: Any, systems: Sequence[str] = ()) -> str | None:
    """Return the first code of a CodeableConcept, those of `systems` first."""
    codings = node.get("coding", ()) if isinstance(node, dict) else ()
    for system in systems:
        for coding in codings:
            if coding.get("system") == system and coding.get("code"):
                return str(coding["code"])
    return next((str(coding["code"]) for coding in codings if coding.get("code")), None)

"""Tools that record what was found: observations, reports and notes."""

from __future__ import annotations

import re
from typing import Any

from wardround.patients.building import (
    LOINC,
    OBSERVATION_CATEGORY,
    PRESSURE_PARTS,
    attachment,
    quantity,
    value_elements,
)
from wardround.patients.knowledge import Lab, lexicon
from wardround.patients.times import format_instant, parse_period

from .mistakes import mistake
from .spec import ToolContext, ToolResult
from .write import about_patient, create, write_words
from .write_arguments import DiagnosticReportCreate, DocumentReferenceCreate, ObservationCreate

_TERMINOLOGY = "http://terminology.hl7.org/CodeSystem"
_PRESSURE = re.compile(r"(\d{1,3})\s*/\s*(\d{1,3})")
_NUMBER = re.compile(r"(?:[<>]=?|[≤≥])?\s*-?(?:0|[1-9]\d{0,11})(?:\.\d{1,8})?")
_PRESSURE_CODE = "85354-9"
_SECTION = re.compile(r"^##[ \t]+(\S[^\n]{0,99})$", re.MULTILINE)
MAX_SECTIONS = 40


def create_observation(context: ToolContext, arguments: ObservationCreate, given: dict[str, Any]) -> ToolResult:
    """Record an observation."""
    tool = "Observation.create"
    when = _when(context, tool, arguments.time, given)
    if isinstance(when, ToolResult):
        return when
    code = _measured(arguments.code)
    value = _value(code, arguments.value, arguments.unit)
    if arguments.unit is not None and "valueString" in value:
        text = (
            f"Refused: {tool}: argument `value` = `{arguments.value[:40]}` is no number, so it has no `unit`. "
            "Call again with a number, or without unit."
        )
        return mistake(tool, given, "bad_arguments", text, "write")
    shown = write_words()["observation_categories"][arguments.category]
    category = {"system": OBSERVATION_CATEGORY, "code": arguments.category, "display": shown}
    resource = about_patient(context, "Observation", "final") | {
        "category": [{"coding": [category]}],
        "code": code,
        "effectiveDateTime": when,
        "issued": format_instant(context.record.anchor),
        **value,
    }
    if arguments.note is not None:
        resource["note"] = [{"text": arguments.note}]
    return create(context, tool, resource, given)


def create_report(context: ToolContext, arguments: DiagnosticReportCreate, given: dict[str, Any]) -> ToolResult:
    """Record a report."""
    tool = "DiagnosticReport.create"
    when = _when(context, tool, arguments.time, given)
    if isinstance(when, ToolResult):
        return when
    category = write_words()["report_categories"][arguments.category]
    resource = about_patient(context, "DiagnosticReport", arguments.status or "final") | {
        "category": [{"coding": [{"system": f"{_TERMINOLOGY}/v2-0074", **category}], "text": arguments.category}],
        "code": {"text": arguments.code},
        "effectiveDateTime": when,
        "issued": format_instant(context.record.anchor),
        "conclusion": arguments.conclusion,
    }
    return create(context, tool, resource, given)


def create_note(context: ToolContext, arguments: DocumentReferenceCreate, given: dict[str, Any]) -> ToolResult:
    """Write a note; its sections are stored one by one, as notes of the chart are."""
    tool = "DocumentReference.create"
    sections = note_sections(arguments.text)
    if not sections or len(sections) > MAX_SECTIONS:
        found = f"{len(sections)} sections" if sections else "headers only and no words below them"
        text = f"Refused: {tool}: argument `text` has {found}; give 1 to {MAX_SECTIONS} sections."
        return mistake(tool, given, "bad_arguments", text, "write")
    now = format_instant(context.record.anchor)
    kind = write_words()["note_types"][arguments.type_code]
    resource: dict[str, Any] = {
        "resourceType": "DocumentReference",
        "status": "current",
        "docStatus": "final",
        "type": {"coding": [{"system": LOINC, **kind}], "text": kind["display"]},
        "category": [{"coding": [{"code": "clinical-note"}]}],
        "subject": {"reference": f"Patient/{context.subject_id}"},
        "date": now,
    }
    if arguments.title is not None:
        resource["description"] = arguments.title
    resource["content"] = [{"attachment": attachment(words, title)} for title, words in sections]
    resource["context"] = {"period": {"start": now, "end": now}}
    if context.encounter is not None:
        resource["context"]["encounter"] = [{"reference": f"Encounter/{context.encounter}"}]
    return create(context, tool, resource, given)


def note_sections(text: str) -> list[tuple[str | None, str]]:
    r"""Return title and words of the sections of a note; none where the note is headers only.

    A header without words below it stays: its own words are all that its section says.

    Examples:
        >>> note_sections("Seen today.\n## Assessment\nBetter.\n## Plan\nHome.")
        [(None, 'Seen today.'), ('Assessment', 'Better.'), ('Plan', 'Home.')]
        >>> note_sections("## Findings\n## Plan\nHome."), note_sections("## Findings\n## Plan")
        ([('Findings', 'Findings'), ('Plan', 'Home.')], [])
    """
    titles: list[str | None] = [None]
    starts = [0]
    ends = []
    for mark in _SECTION.finditer(text):
        ends.append(mark.start())
        titles.append(mark[1].strip())
        starts.append(mark.end())
    ends.append(len(text))
    bodies = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    if not any(bodies):
        return []
    return [(title, words or title or "") for title, words in zip(titles, bodies, strict=True) if words or title]


def _when(context: ToolContext, tool: str, written: str | None, given: dict[str, Any]) -> str | ToolResult:
    """Return when something was found, as written; nothing is found after now."""
    now = context.record.anchor
    if written is None:
        return format_instant(now)
    start, _ = parse_period(written)
    if start > now:
        text = (
            f"Refused: {tool}: argument `time` = `{written}` lies after now, {format_instant(now)}. "
            "Call again with the time it was found, or without."
        )
        return mistake(tool, given, "bad_arguments", text, "write")
    return written if len(written) <= 10 else format_instant(start)


def _measured(name: str) -> dict[str, Any]:
    """Return the code of an observation: the words as given, and LOINC where the knowledge base knows them."""
    found = lexicon().resolve(name, kinds=("lab", "vital"))
    code: dict[str, Any] = {"text": name}
    if isinstance(found, Lab) and found.loinc:
        code["coding"] = [{"system": LOINC, "code": found.loinc[0], "display": found.name.en}]
    return code


def _value(code: dict[str, Any], value: str, unit: str | None) -> dict[str, Any]:
    pressure = _PRESSURE.fullmatch(value)
    coded = code.get("coding", [{}])[0].get("code")
    if pressure is not None and coded == _PRESSURE_CODE:
        parts = zip(PRESSURE_PARTS, pressure.groups(), strict=True)
        return {
            "component": [
                {
                    "code": {"coding": [{"system": LOINC, "code": loinc, "display": words}], "text": words},
                    "valueQuantity": quantity(int(number), unit or "mmHg", None),
                }
                for (words, loinc), number in parts
            ]
        }
    if _NUMBER.fullmatch(value):
        return value_elements(value.replace("≤", "<=").replace("≥", ">="), unit, None)
    return {"valueString": value}

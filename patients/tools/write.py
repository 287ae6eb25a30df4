"""Tools that write: an order, a request or a warning becomes a valid R4 resource of this episode alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import orjson

from wardround.patients.dosing import as_needed, dose_and_rate, timing
from wardround.patients.knowledge import Drug, lexicon
from wardround.patients.overlay import InvalidResource
from wardround.patients.strict_json import clip
from wardround.patients.times import format_instant, parse_period

from .mistakes import mistake
from .spec import ToolContext, ToolResult
from .write_arguments import FlagCreate, MedicationRequestCreate, ServiceRequestCreate

_RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"
_UCUM = "http://unitsofmeasure.org"
_ECHO = 200
"""Characters of an argument that the result repeats."""


def create_medication_request(
    context: ToolContext, arguments: MedicationRequestCreate, given: dict[str, Any]
) -> ToolResult:
    """Order a drug."""
    resource = _order(context, "MedicationRequest")
    resource["medicationCodeableConcept"] = _medication(arguments.medication)
    resource["dosageInstruction"] = [_dosage(arguments.dose, arguments.route, arguments.frequency)]
    if arguments.indication is not None:
        resource["reasonCode"] = [{"text": arguments.indication}]
    if arguments.duration_days is not None:
        days = {"value": arguments.duration_days, "unit": "days", "system": _UCUM, "code": "d"}
        resource["dispenseRequest"] = {"expectedSupplyDuration": days}
    if arguments.note is not None:
        resource["note"] = [{"text": arguments.note}]
    return create(context, "MedicationRequest.create", resource, given)


def create_service_request(context: ToolContext, arguments: ServiceRequestCreate, given: dict[str, Any]) -> ToolResult:
    """Order a test, procedure or referral."""
    tool = "ServiceRequest.create"
    resource = _order(context, "ServiceRequest") | {
        "code": {"text": arguments.service_type},
        "priority": arguments.priority,
    }
    if arguments.target_date is not None:
        start, end = parse_period(arguments.target_date)
        now = context.record.anchor
        if end <= now:
            text = (
                f"Refused: {tool}: argument `target_date` = `{arguments.target_date}` is past; now is "
                f"{format_instant(now)}. Call again with a later date."
            )
            return mistake(tool, given, "bad_arguments", text, "write")
        day = arguments.target_date
        resource["occurrenceDateTime"] = day if len(day) <= 10 else format_instant(start)
    if arguments.note is not None:
        resource["note"] = [{"text": arguments.note}]
    return create(context, tool, resource, given)


def create_flag(context: ToolContext, arguments: FlagCreate, given: dict[str, Any]) -> ToolResult:
    """Put a warning on the record."""
    resource = {
        "resourceType": "Flag",
        "status": "active",
        "category": [{"text": arguments.category}],
        # R4 gives a Flag no room for detail but its code: the short name is the coding's, the whole is the text.
        "code": {"coding": [{"display": arguments.code}], "text": f"{arguments.code}: {arguments.detail}"},
        "subject": {"reference": f"Patient/{context.subject_id}"},
        "period": {"start": format_instant(context.record.anchor)},
    }
    if context.encounter is not None:
        resource["encounter"] = {"reference": f"Encounter/{context.encounter}"}
    return create(context, "Flag.create", resource, given)


@lru_cache(maxsize=1024)
def _dosage(dose: str, route: str, frequency: str) -> Mapping[str, Any]:
    """Return a dosage as R4 has it; shared by all orders of it."""
    dosage: dict[str, Any] = {
        "text": f"{dose} {route} {frequency}",
        "timing": timing(frequency),
        "route": {"text": route},
    }
    if as_needed(frequency):
        dosage["asNeededBoolean"] = True
    amount = dose_and_rate(dose)
    if amount is not None:
        dosage["doseAndRate"] = [amount]
    return dosage


def _order(context: ToolContext, kind: str) -> dict[str, Any]:
    order: dict[str, Any] = {
        "resourceType": kind,
        "status": "active",
        "intent": "order",
        "subject": {"reference": f"Patient/{context.subject_id}"},
        "authoredOn": _instant(context.record.anchor),
    }
    if context.encounter is not None:
        order["encounter"] = {"reference": f"Encounter/{context.encounter}"}
    return order


_instant = lru_cache(maxsize=256)(format_instant)
"""`format_instant`, remembered: all that an episode writes is written at its anchor."""


@lru_cache(maxsize=1024)
def _medication(name: str) -> Mapping[str, Any]:
    """Return a drug as R4 has it; shared by all orders of it."""
    drug = lexicon().resolve(name, kinds=("drug",))
    concept: dict[str, Any] = {"text": name}
    if isinstance(drug, Drug) and drug.rxnorm is not None:
        concept["coding"] = [{"system": _RXNORM, "code": drug.rxnorm, "display": drug.name.en}]
    return concept


def create(context: ToolContext, tool: str, resource: dict[str, Any], given: dict[str, Any]) -> ToolResult:
    """Write a new resource, or say why it is none."""
    try:
        entry = context.record.create(resource)
    except InvalidResource as fault:
        text = f"Refused: {tool}: nothing was recorded: {clip(str(fault), 300)}"
        return mistake(tool, given, "invalid_resource", text, "write")
    if context.view == "fhir":
        text = entry.body.decode()
    else:
        fields = {
            name: clip(value, _ECHO) if isinstance(value, str) and len(value) > _ECHO else value
            for name, value in given.items()
            if name != "subject_id"
        }
        text = orjson.dumps({"created": entry.key, "status": resource["status"], "recorded": fields}).decode()
    return ToolResult(tool, given, ok=True, text=text, effect="write", created=entry.key)


def about_patient(context: ToolContext, kind: str, status: str) -> dict[str, Any]:
    """Return what every resource about this patient begins with; tied to the stay of the round where there is one."""
    resource: dict[str, Any] = {
        "resourceType": kind,
        "status": status,
        "subject": {"reference": f"Patient/{context.subject_id}"},
    }
    if context.encounter is not None:
        resource["encounter"] = {"reference": f"Encounter/{context.encounter}"}
    return resource


@cache
def write_words() -> dict[str, Any]:
    """Return `data/write_tools.json`."""
    data: dict[str, Any] = orjson.loads(
        resources.files("wardround.patients").joinpath("data", "write_tools.json").read_bytes()
    )
    return data

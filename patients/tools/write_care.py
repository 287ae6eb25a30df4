"""Tools that arrange care: messages to the team or the patient, appointments, plans."""

from __future__ import annotations

from typing import Any

from wardround.patients.times import SECOND, format_instant, parse_period

from .mistakes import mistake
from .spec import ToolContext, ToolResult
from .write import about_patient, create, write_words
from .write_arguments import AppointmentCreate, CarePlanCreate, CommunicationCreate

_TERMINOLOGY = "http://terminology.hl7.org/CodeSystem"
_MINUTES = 30
"""How long an appointment lasts that says nothing else."""
MAX_ACTIVITIES = 30


def create_communication(context: ToolContext, arguments: CommunicationCreate, given: dict[str, Any]) -> ToolResult:
    """Tell somebody something: it is sent at once, and it is on the record."""
    words = write_words()
    kind = arguments.category or "notification"
    category = {
        "system": f"{_TERMINOLOGY}/communication-category",
        "code": kind,
        "display": words["message_kinds"][kind],
    }
    recipient: dict[str, Any] = {"display": words["recipients"][arguments.recipient]}
    if arguments.recipient == "patient":
        recipient["reference"] = f"Patient/{context.subject_id}"
    resource = about_patient(context, "Communication", "completed") | {
        "category": [{"coding": [category]}],
        "priority": arguments.priority or "routine",
        "sent": format_instant(context.record.anchor),
        "recipient": [recipient],
        "payload": [{"contentString": arguments.message}],
    }
    if arguments.topic is not None:
        resource["topic"] = {"text": arguments.topic}
    if arguments.reason is not None:
        resource["reasonCode"] = [{"text": arguments.reason}]
    return create(context, "Communication.create", resource, given)


def create_appointment(context: ToolContext, arguments: AppointmentCreate, given: dict[str, Any]) -> ToolResult:
    """Book an appointment."""
    tool = "Appointment.create"
    now = context.record.anchor
    start, end = parse_period(arguments.start)
    fault = None
    if end - start > 60 * SECOND:
        fault = "has no time of day. Call again with YYYY-MM-DDThh:mm."
    elif start <= now:
        fault = f"is past; now is {format_instant(now)}. Call again with a later time."
    if fault is not None:
        text = f"Refused: {tool}: argument `start` = `{arguments.start}` {fault}"
        return mistake(tool, given, "bad_arguments", text, "write")
    minutes = arguments.duration_minutes or _MINUTES
    patient = {"actor": {"reference": f"Patient/{context.subject_id}"}, "status": "accepted"}
    others = [{"actor": {"display": arguments.practitioner}, "status": "accepted"}] if arguments.practitioner else []
    resource: dict[str, Any] = {
        "resourceType": "Appointment",
        "status": "booked",
        "serviceType": [{"text": arguments.service}],
        "start": format_instant(start),
        "end": format_instant(start + minutes * 60 * SECOND),
        "minutesDuration": minutes,
        "created": format_instant(now),
        "participant": [patient, *others],
    }
    if arguments.reason is not None:
        resource["reasonCode"] = [{"text": arguments.reason}]
    if arguments.note is not None:
        resource["comment"] = arguments.note
    return create(context, tool, resource, given)


def create_care_plan(context: ToolContext, arguments: CarePlanCreate, given: dict[str, Any]) -> ToolResult:
    """Write a plan."""
    tool = "CarePlan.create"
    now = format_instant(context.record.anchor)
    activities = [line.strip(" \t-*•") for line in (arguments.activities or "").splitlines()]
    activities = [line for line in activities if line]
    if len(activities) > MAX_ACTIVITIES:
        text = f"Refused: {tool}: argument `activities` has {len(activities)} lines; give at most {MAX_ACTIVITIES}."
        return mistake(tool, given, "bad_arguments", text, "write")
    shown = write_words()["plan_categories"][arguments.category]
    resource = about_patient(context, "CarePlan", "active") | {
        "intent": "plan",
        "category": [{"coding": [{"code": arguments.category, "display": shown}], "text": arguments.category}],
        "title": arguments.title,
        "description": arguments.description,
        "period": {"start": now},
        "created": now,
    }
    if activities:
        resource["activity"] = [{"detail": {"status": "not-started", "description": line}} for line in activities]
    return create(context, tool, resource, given)

"""Tools that change a status: the next version of an order, a request or a warning, where R4 and its state allow it."""

from __future__ import annotations

from typing import Any

import orjson

from wardround.patients.overlay import InvalidResource
from wardround.patients.packing import attributes
from wardround.patients.resource import SITE, Resource
from wardround.patients.strict_json import clip
from wardround.patients.times import format_instant, parse_period

from .mistakes import mistake
from .spec import Handler, ToolContext, ToolResult
from .write import write_words

REASONS = {
    "request-statusReason": "http://hl7.org/fhir/StructureDefinition/request-statusReason",
    "status-reason": f"{SITE}/StructureDefinition/status-reason",
}
"""Extensions that carry the reason of a status where R4 has no element for it: HL7's for requests, ours for flags."""


def update_status(kind: str) -> Handler:
    """Return the handler of one `<kind>.update_status` tool."""
    tool = f"{kind}.update_status"

    def handler(context: ToolContext, arguments: Any, given: dict[str, Any]) -> ToolResult:
        rules = write_words()["status_changes"][kind]
        entry = context.record.read(kind, arguments.id)
        if entry is None:
            text = (
                f"Refused: {tool}: argument `id` = `{clip(arguments.id, 40)}` is no {kind} of this record. "
                f"Take the id from {kind}.search, or from {rules['create']} for one of yours."
            )
            return mistake(tool, given, "unknown_resource", text, "write")
        resource = entry.resource()
        action = rules["actions"][arguments.action]
        name = attributes(resource).concept[0]
        was = str(resource.get("status"))
        if was not in action["from"]:
            text = _refusal(tool, f"{rules['noun']} `{entry.id}` ({clip(name, 60)})", was, arguments.action, rules)
            return mistake(tool, given, "wrong_status", text, "write")
        changes = _changes(resource, action, rules["reason"], arguments.reason, context.record.anchor)
        try:
            changed = context.record.update(entry.key, changes)
        except InvalidResource as fault:
            text = f"Refused: {tool}: nothing was changed: {clip(str(fault), 300)}"
            return mistake(tool, given, "invalid_resource", text, "write")
        if context.view == "fhir":
            text = changed.body.decode()
        else:
            said = {"updated": entry.key, rules["grading_name"]: name, "was": was, "status": action["to"]}
            text = orjson.dumps(said | ({"reason": arguments.reason} if arguments.reason else {})).decode()
        target = {**({rules["grading_name"]: name} if name else {}), "status": action["to"]}
        return ToolResult(tool, given, ok=True, text=text, effect="write", updated=entry.key, target=target)

    return handler


def _refusal(tool: str, what: str, was: str, asked: str, rules: dict[str, Any]) -> str:
    """Say why a change is not possible, and which are."""
    actions = rules["actions"]
    wanted = actions[asked]
    why = f"is {was} already" if was == wanted["to"] else f"is {was}, so `{asked}` is not possible"
    possible = [name for name, action in actions.items() if was in action["from"]]
    if possible:
        remedy = f"Possible now: {', '.join(possible)}."
    else:
        remedy = f"That is final: a new one is written with {rules['create']}."
    return f"Refused: {tool}: {what} {why}. {remedy}"


def _changes(
    resource: Resource, action: dict[str, Any], reason_at: str, reason: str | None, now: int
) -> dict[str, Any]:
    """Return the elements a change of status sets (None takes one out): an older reason never stays."""
    changes: dict[str, Any] = {"status": action["to"]}
    if reason_at == "element":
        changes["statusReason"] = {"text": reason} if reason else None
    else:
        url = REASONS[reason_at]
        kept = [mark for mark in resource.get("extension", ()) if mark.get("url") != url]
        said = [{"url": url, "valueCodeableConcept": {"text": reason}}] if reason else []
        changes["extension"] = [*kept, *said] or None
    if action.get("ends") or action.get("reopens"):
        changes |= _period(resource, now, ends=bool(action.get("ends")))
    return changes


def _period(resource: Resource, now: int, *, ends: bool) -> dict[str, Any]:
    """Return the element that carries the validity with its end set to now, or taken out again."""
    order = resource["resourceType"] == "MedicationRequest"
    holder = resource.get("dispenseRequest", {}) if order else resource
    period = holder.get("validityPeriod" if order else "period")
    if period is None or "start" not in period or parse_period(period["start"])[0] > now:
        return {}  # a validity that is not given, or not begun, cannot end
    rest = {name: value for name, value in period.items() if name != "end"}
    changed = {**rest, "end": format_instant(now)} if ends else rest
    return {"dispenseRequest": {**holder, "validityPeriod": changed}} if order else {"period": changed}

"""What comes into an episode by another door than its tools: FHIR requests that read and wrote (docs/serve.md).

What was shown counts as read and what was written as the turn's writes, as a tool's do; neither costs a call. The
trajectory keeps both, so that a replay makes the same episode again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wardround.patients import DataError, Entry, Overlay, UsageError, WardroundError, read_resource
from wardround.rubrics import WriteRecord

from .episode import Episode
from .transcript import DoorEvent


def record_of(episode: Episode) -> Overlay:
    """Return the record that an episode plays on, with what was written to it so far. To be read, not written to."""
    return episode._context.record


def take_in(episode: Episode, shown: Iterable[str], writes: Sequence[Mapping[str, Any]]) -> None:
    """Take in what another door showed and wrote.

    Args:
        episode: Not over.
        shown: Keys of resources that were shown whole.
        writes: In order, each with `op` (create or update), `key` and `body` (JSON text), as `Overlay.log` has them.

    Raises:
        UsageError: The episode is over.
        DataError: A write is not one that this episode's record allows; nothing was taken in.
    """
    if episode.done:
        raise UsageError("the episode is over; nothing can be read or written in it")
    record = episode._context.record
    trial = record.fork()
    entries = [_written(trial, step) for step in writes]
    new = unread(episode, shown)
    if not new and not entries:
        return
    for step in writes:
        _written(record, step)
    for entry, step in zip(entries, writes, strict=True):
        episode._writes += (_write_record(entry, str(step["op"])),)
    for key in new:
        episode._retrieved[key] = None
    kept = tuple((str(step["op"]), str(step["key"]), str(step["body"])) for step in writes)
    episode._events.append(DoorEvent(episode.turn, tuple(new), kept))


def unread(episode: Episode, keys: Iterable[str]) -> list[str]:
    """Return which of some resources the episode has not read yet; what it wrote itself is nothing to read."""
    record = episode._context.record
    return [key for key in dict.fromkeys(keys) if key not in episode._retrieved and not record.wrote(key)]


def _written(record: Overlay, step: Mapping[str, Any]) -> Entry:
    """Do one write."""
    try:
        resource, key = read_resource(str(step["body"]).encode()), str(step["key"])
        if step["op"] == "create":
            return record.create(resource, identity=key.partition("/")[2])
        return record.replace(key, resource)
    except (KeyError, AttributeError, WardroundError) as fault:
        raise DataError(f"a write by another door cannot be done ({fault}); give the log of one run") from fault


def _write_record(entry: Entry, op: str) -> WriteRecord:
    """Return a write as graders read it: under the tool that writes such resources, with its arguments."""
    body = entry.resource()
    arguments = arguments_of(body)
    if op == "create":
        return WriteRecord(
            tool=f"{entry.type}.create", arguments=arguments, resource=entry.key, body=entry.body.decode()
        )
    return WriteRecord(
        tool=f"{entry.type}.update_status",
        arguments={"new_status": str(body.get("status", ""))},
        resource=entry.key,
        kind="update",
        target={**arguments, "status": str(body.get("status", ""))},
        body=entry.body.decode(),
    )


def arguments_of(resource: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the arguments of the writing tool would be for an order or a warning; {} for other resources."""
    kind = resource.get("resourceType")
    found: dict[str, Any] = {}
    if kind == "MedicationRequest":
        dosage = _first(resource.get("dosageInstruction"))
        found = {
            "medication": _words(resource.get("medicationCodeableConcept")),
            "dose": _dose(dosage),
            "route": _words(dosage.get("route")),
            "frequency": _frequency(dosage),
            "indication": _words(_first(resource.get("reasonCode"))),
            "duration_days": resource.get("dispenseRequest", {}).get("expectedSupplyDuration", {}).get("value"),
        }
    elif kind == "ServiceRequest":
        found = {
            "service_type": _words(resource.get("code")),
            "priority": resource.get("priority"),
            "target_date": resource.get("occurrenceDateTime"),
        }
    elif kind == "Flag":
        found = {
            "category": _words(_first(resource.get("category"))),
            "code": _words(resource.get("code")),
            "detail": _words(resource.get("code")),
        }
    return {name: str(value) for name, value in found.items() if value not in (None, "")}


def _first(elements: Any) -> Mapping[str, Any]:
    """Return the first of an array of elements; {} where there is none."""
    found: Mapping[str, Any] = elements[0] if elements else {}
    return found


def _words(concept: Any) -> str:
    """Return the words of a CodeableConcept: its text, else the first display or code."""
    if not isinstance(concept, Mapping):
        return ""
    codings = [one for one in concept.get("coding", ()) if isinstance(one, Mapping)]
    told = (concept.get("text"), *(one.get("display") or one.get("code") for one in codings))
    return next((str(one) for one in told if one), "")


def _dose(dosage: Mapping[str, Any]) -> str:
    amount = _first(dosage.get("doseAndRate")).get("doseQuantity")
    if isinstance(amount, Mapping) and "value" in amount:
        return f"{amount['value']} {amount.get('unit') or amount.get('code') or ''}".strip()
    return str(dosage.get("text", ""))


_UNITS = {"h": "hours", "d": "days", "wk": "weeks", "mo": "months", "min": "minutes"}


def _frequency(dosage: Mapping[str, Any]) -> str:
    timing: Mapping[str, Any] = dosage.get("timing", {})
    if words := _words(timing.get("code")):
        return words
    repeat: Mapping[str, Any] = timing.get("repeat", {})
    count, period, unit = repeat.get("frequency", 1), repeat.get("period"), repeat.get("periodUnit")
    if period is None or unit not in _UNITS:
        return str(dosage.get("text", ""))
    if unit == "d" and str(period) == "1":
        return f"{count} times daily"
    return f"every {period} {_UNITS[unit]}" if str(count) == "1" else f"{count} times every {period} {_UNITS[unit]}"

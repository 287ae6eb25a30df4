"""What happened in an episode, as immutable events, and its two readings: chat messages and the trajectory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from wardround.patients import ToolResult


@dataclass(frozen=True, slots=True)
class QueryEvent:
    """The physician asked."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class CallEvent:
    """A tool was called, rightly or wrongly. Two calls are never one event."""

    turn: int
    number: int
    """1-based count of calls of the episode: the id of the call in chat messages."""
    called: str
    """Name as the agent wrote it."""
    tool: str
    """Published name (as written where no such tool exists)."""
    arguments: str
    """JSON of the arguments as the agent gave them; a JSON string where it sent text instead of an object."""
    note: str
    ok: bool
    error: str | None
    text: str
    resources: tuple[str, ...]
    facts: tuple[str, ...]
    created: str | None
    updated: str | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class MistakeEvent:
    """The agent sent something that was neither a call nor an answer."""

    turn: int
    action: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """The turn closed. `forced` marks an empty answer given because the agent ran out of actions."""

    turn: int
    text: str
    forced: bool


@dataclass(frozen=True, slots=True)
class DoorEvent:
    """Another door than the tools showed resources, or wrote some (`doors.py`). The dialogue does not show it."""

    turn: int
    resources: tuple[str, ...]
    """Keys of what was shown for the first time."""
    writes: tuple[tuple[str, str, str], ...]
    """Each write: `create` or `update`, key, JSON."""


def call_event(turn: int, number: int, made: tuple[str, str, str], result: ToolResult) -> CallEvent:
    """Return the event of a call.

    Args:
        turn: Index of the turn.
        number: Of the call in the episode, from 1.
        made: Name, arguments (JSON text) and note as the agent wrote them.
        result: What came of it.
    """
    called, arguments, note = made
    return CallEvent(
        turn, number, called, result.tool, arguments, note, result.ok, result.error, result.text, result.resources,
        result.facts, result.created, result.updated, result.file,
    )  # fmt: skip


Event = QueryEvent | CallEvent | MistakeEvent | AnswerEvent | DoorEvent


def messages_of(prompt: str, events: Iterable[Event], alias: dict[str, str]) -> list[dict[str, Any]]:
    """Build the OpenAI chat list: append-only, a fresh copy for the caller.

    Args:
        prompt: The system prompt.
        events: In order.
        alias: Published tool name → provider-safe name.
    """
    messages: list[dict[str, Any]] = [{"role": "system", "content": prompt}]
    for event in events:
        if isinstance(event, QueryEvent):
            messages.append({"role": "user", "content": event.text})
        elif isinstance(event, CallEvent):
            name = alias.get(event.tool, event.called)
            call_id = f"call_{event.number}"
            raw = event.arguments
            function = {"name": name, "arguments": orjson.loads(raw) if raw.startswith('"') else raw}
            messages.append(
                {
                    "role": "assistant",
                    "content": event.note,
                    "tool_calls": [{"id": call_id, "type": "function", "function": function}],
                }
            )
            messages.append({"role": "tool", "tool_call_id": call_id, "name": name, "content": event.text})
        elif isinstance(event, MistakeEvent):
            messages.append({"role": "assistant", "content": event.action})
            messages.append({"role": "user", "content": event.text})
        elif isinstance(event, AnswerEvent):
            messages.append({"role": "assistant", "content": event.text})
    return messages


def events_json(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Return the events as plain JSON objects, enough to replay and to browse the episode."""
    out: list[dict[str, Any]] = []
    for event in events:
        if isinstance(event, QueryEvent):
            out.append({"event": "query", "turn": event.turn, "text": event.text})
        elif isinstance(event, CallEvent):
            entry: dict[str, Any] = {
                "event": "call",
                "turn": event.turn,
                "tool": event.called,
                "arguments": orjson.loads(event.arguments),
                "ok": event.ok,
                "text": event.text,
            }
            for key, value in (
                ("note", event.note),
                ("error", event.error),
                ("resources", list(event.resources)),
                ("facts", list(event.facts)),
                ("created", event.created),
                ("updated", event.updated),
                ("file", event.file),
            ):
                if value:
                    entry[key] = value
            out.append(entry)
        elif isinstance(event, MistakeEvent):
            out.append({"event": "mistake", "turn": event.turn, "action": event.action, "text": event.text})
        elif isinstance(event, DoorEvent):
            writes = [{"op": op, "key": key, "body": body} for op, key, body in event.writes]
            out.append({"event": "door", "turn": event.turn, "resources": list(event.resources), "writes": writes})
        else:
            out.append({"event": "answer", "turn": event.turn, "text": event.text, "forced": event.forced})
    return out

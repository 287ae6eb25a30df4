"""The contract of tools: what a tool is, what a call is, what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Effect = Literal["read", "write", "ask", "control"]
View = Literal["compact", "fhir"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model made it. `name` is the published name or its provider-safe alias."""

    name: str
    arguments: Mapping[str, Any] | str
    """A mapping, or the JSON text of one (as OpenAI messages carry it)."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call did. `text` is all that an agent sees."""

    tool: str
    """Published name; the name as called where no such tool exists."""
    arguments: Mapping[str, Any]
    """Arguments after validation (as called when they were refused)."""
    ok: bool
    """False for a model's mistake: `text` then says what to do."""
    text: str
    effect: Effect = "read"
    resources: tuple[str, ...] = ()
    """Keys ("Observation/lab-1") of the chart resources shown. Resources written in this episode are not listed."""
    created: str | None = None
    """Key of the resource a write created."""
    facts: tuple[str, ...] = ()
    """Ids of interview facts disclosed by this reply."""
    total: int | None = None
    """Matches of a search before paging; None elsewhere."""
    error: str | None = None
    """Machine-readable kind of mistake: unknown_tool, bad_arguments, wrong_patient, bad_json …"""
    notes: Mapping[str, Any] = field(default_factory=dict)

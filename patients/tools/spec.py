"""The contract of tools: what a tool is, what a call is, what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

if TYPE_CHECKING:
    from wardround.patients.dialogue import Dialogue
    from wardround.patients.overlay import Overlay
    from wardround.patients.recording import Recordings

Effect = Literal["read", "write", "ask", "control"]
View = Literal["compact", "fhir"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model made it. `name` is the published name or its provider-safe alias."""

    name: str
    arguments: Mapping[str, Any] | str
    """A mapping, or the JSON text of one (as OpenAI messages carry it)."""


@dataclass(frozen=True, init=False)
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
    """Key of the resource a write created; `updated` and `file` below tell of other writes."""
    facts: tuple[str, ...] = ()
    """Ids of interview facts disclosed by this reply."""
    total: int | None = None
    """Matches of a search before paging; None elsewhere."""
    error: str | None = None
    """Machine-readable kind of mistake: unknown_tool, bad_arguments, wrong_patient, bad_json …"""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What a program may want to know beside, of a mistake: the text that was no JSON (`raw`)."""
    updated: str | None = None
    """Key of the resource of which a change of status wrote the next version."""
    target: Mapping[str, Any] | None = None
    """What it is, under grading names, and its new status ({"medication": "Warfarin", "status": "on-hold"})."""
    file: str | None = None
    """Path of the workspace file written or deleted."""

    def __init__(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        ok: bool,
        text: str,
        effect: Effect = "read",
        resources: tuple[str, ...] = (),
        created: str | None = None,
        facts: tuple[str, ...] = (),
        total: int | None = None,
        error: str | None = None,
        notes: Mapping[str, Any] | None = None,
        updated: str | None = None,
        target: Mapping[str, Any] | None = None,
        file: str | None = None,
    ) -> None:
        """Set all fields at once: the one that dataclasses make takes four times as long, in every call of a tool."""
        fields = {
            "tool": tool, "arguments": arguments, "ok": ok, "text": text, "effect": effect, "resources": resources,
            "created": created, "facts": facts, "total": total, "error": error,
            "notes": {} if notes is None else notes, "updated": updated, "target": target, "file": file,
        }  # fmt: skip
        object.__setattr__(self, "__dict__", fields)

    def answering(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the same result of a call that brought equal arguments of its own."""
        other = object.__new__(ToolResult)
        fields = {**self.__dict__, "arguments": arguments, "notes": dict(self.notes)}
        object.__setattr__(other, "__dict__", fields)
        return other


@dataclass(slots=True)
class ToolContext:
    """What the tools of one episode work on. Cheap to make; an episode keeps one and forks it with itself."""

    record: Overlay
    """The chart as of the anchor with this episode's writes on top."""
    dialogue: Dialogue
    subject_id: str
    session_id: str
    language: str = "en"
    """Language the patient answers in: `en` or `zh`."""
    view: View = "compact"
    encounter: str | None = None
    """Id of the encounter of the round; orders are tied to it when given."""
    recordings: Recordings | None = None
    """Reads, or questions to the patient, are answered from here alone where it holds any."""

    def fork(self) -> ToolContext:
        """Return an independent context that goes on from here."""
        return ToolContext(
            self.record.fork(),
            self.dialogue.fork(),
            self.subject_id,
            self.session_id,
            self.language,
            self.view,
            self.encounter,
            self.recordings,
        )


Handler = Callable[[ToolContext, Any, dict[str, Any]], ToolResult]
"""Runs a tool: context, validated arguments (the spec's model), the same arguments as a plain mapping."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool: its name, what it does to the world, its arguments and the function that runs it."""

    name: str
    effect: Effect
    description: str
    model: type[BaseModel]
    handler: Handler

    @property
    def alias(self) -> str:
        """The name that every provider accepts: dots become underscores."""
        return self.name.replace(".", "_")

    @property
    def schema(self) -> dict[str, Any]:
        """Flat JSON Schema of the arguments: only type, description, enum and required. The caller's copy."""
        schema = flat_schema(self.model)
        properties = {
            name: {key: list(value) if isinstance(value, tuple) else value for key, value in field.items()}
            for name, field in schema["properties"].items()
        }
        return {"type": "object", "properties": properties, "required": list(schema["required"])}

    def openai(self) -> dict[str, Any]:
        """Return the tool as OpenAI's `tools` parameter takes it."""
        function = {"name": self.alias, "description": self.description, "parameters": self.schema}
        return {"type": "function", "function": function}

    def anthropic(self) -> dict[str, Any]:
        """Return the tool as Anthropic's `tools` parameter takes it."""
        return {"name": self.alias, "description": self.description, "input_schema": self.schema}


@cache
def _names(model: type[BaseModel]) -> tuple[tuple[str, str], ...]:
    """Return the fields of a model of arguments and the names that agents write."""
    return tuple((name, field.alias or name) for name, field in model.model_fields.items())


def given_arguments(checked: BaseModel) -> dict[str, Any]:
    """Return the arguments that were given, under the names that agents write: `model_dump` of scalars, faster."""
    values = checked.__dict__
    return {alias: value for name, alias in _names(type(checked)) if (value := values[name]) is not None}


@cache
def flat_schema(model: type[BaseModel]) -> Mapping[str, Any]:
    """Return the arguments of a model as the flat JSON Schema that every provider accepts.

    Args:
        model: Its fields are scalars or enumerations, optional ones with a default of None.
    """
    full = model.model_json_schema(by_alias=True)
    properties = {name: _flat(schema) for name, schema in full.get("properties", {}).items()}
    return {"properties": properties, "required": tuple(full.get("required", ()))}


def _flat(schema: Mapping[str, Any]) -> dict[str, Any]:
    (kept,) = (branch for branch in schema.get("anyOf", (schema,)) if branch.get("type") != "null")
    out = {"type": kept["type"], "description": schema["description"]}
    return out | {"enum": tuple(kept["enum"])} if "enum" in kept else out

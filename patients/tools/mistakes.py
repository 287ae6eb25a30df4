"""A model's mistakes as observations: one short text that names the fault and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from wardround.patients.strict_json import clip

from .spec import Effect, ToolResult, ToolSpec, flat_schema

_SHOWN = 3
"""Faults told at once; more would drown the first."""
_RAW = 200
"""Characters kept of arguments that could not be read."""


def mistake(
    tool: str,
    arguments: Mapping[str, Any],
    error: str,
    text: str,
    effect: Effect = "read",
    notes: Mapping[str, Any] = MappingProxyType({}),
) -> ToolResult:
    """Return the observation of a refused call; nothing was done."""
    return ToolResult(tool, arguments, ok=False, text=text, effect=effect, error=error, notes=notes)


def unknown_tool(name: str, arguments: Mapping[str, Any] | str, known: Iterable[str]) -> ToolResult:
    """Refuse a tool that does not exist, or is not offered here, and name the nearest ones."""
    shown = clip(name, 60)
    names = list(known)
    near = nearest(name, names, limit=3)
    if near:
        hint = f"Did you mean {' or '.join(f'`{item}`' for item in near)}?"
    else:
        hint = f"The tools are: {', '.join(names)}."
    kept, notes = keepable(arguments)
    return mistake(shown, kept, "unknown_tool", f"Refused: there is no tool `{shown}` here. {hint}", notes=notes)


def bad_json(spec: ToolSpec, text: str, reason: str) -> ToolResult:
    """Refuse argument text that is not one JSON object."""
    message = f"Refused: the arguments of {spec.name} are no JSON object: {reason}. {_usage(spec)}"
    return mistake(spec.name, {}, "bad_json", message, spec.effect, {"raw": clip(text, _RAW)})


def bad_arguments(spec: ToolSpec, arguments: Mapping[str, Any], error: ValidationError) -> ToolResult:
    """Refuse arguments that the model of the tool does not accept."""
    faults = error.errors(include_url=False)
    said = [_fault(spec.model, fault) for fault in faults[:_SHOWN]]
    if len(faults) > _SHOWN:
        said.append(f"and {len(faults) - _SHOWN} more")
    kept, notes = keepable(arguments)
    message = f"Refused: {spec.name}: {'; '.join(said)}. {_usage(spec)}"
    return mistake(spec.name, kept, "bad_arguments", message, spec.effect, notes)


def nearest(name: str, names: Iterable[str], limit: int) -> list[str]:
    """Return up to `limit` of `names` that look like `name`, best first, ties in the given order."""
    asked = name[:100].casefold().replace("_", ".")
    scored = []
    for position, candidate in enumerate(names):
        ratio = difflib.SequenceMatcher(None, asked, candidate.casefold(), autojunk=False).ratio()
        if ratio >= 0.6:
            scored.append((-ratio, position, candidate))
    return [candidate for _, _, candidate in sorted(scored)[:limit]]


def keepable(arguments: Mapping[str, Any] | str) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """Return refused arguments as they may stand in a trajectory, and what to note about those that may not."""
    if isinstance(arguments, str):
        return {}, {"raw": clip(arguments, _RAW)}
    try:
        text = orjson.dumps(dict(arguments))
    except (TypeError, ValueError):
        return {}, {"raw": "arguments that JSON cannot hold"}
    if len(text) > 4 * _RAW:
        return {}, {"raw": clip(text.decode(), _RAW)}
    return orjson.loads(text), {}


def _fault(model: type[BaseModel], fault: Mapping[str, Any]) -> str:
    name = clip(str(fault["loc"][0]), 40) if fault["loc"] else "arguments"
    kind = fault["type"]
    if kind == "missing":
        return f"argument `{name}` is missing"
    if kind == "extra_forbidden":
        near = nearest(name, flat_schema(model)["properties"], limit=1)
        return f"unknown argument `{name}`" + (f", did you mean `{near[0]}`?" if near else "")
    return f"argument `{name}`{_value(fault['input'])}: {_expected(kind, fault)}"


def _value(value: object) -> str:
    if isinstance(value, str):
        return f" = `{clip(value, 40)}`"
    if isinstance(value, bool | None):
        return f" = {'null' if value is None else str(value).lower()}"
    if isinstance(value, int | float) and abs(value) < 1e15:
        return f" = {value}"
    return ""


def _expected(kind: str, fault: Mapping[str, Any]) -> str:
    context = fault.get("ctx", {})
    if kind == "literal_error":
        return f"expected one of {context['expected'].replace(' or ', ', ')}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_too_long":
        return f"at most {context['max_length']} characters"
    if kind == "string_too_short":
        return "must not be blank"
    if kind == "string_unicode":
        return "holds broken characters"
    if kind.startswith("string"):
        return "expected text"
    if kind == "greater_than_equal":
        return f"must be at least {context['ge']}"
    if kind == "less_than_equal":
        return f"must be at most {context['le']}"
    if kind.startswith("int"):
        return "expected an integer"
    return clip(str(fault["msg"]), 80)


def _usage(spec: ToolSpec) -> str:
    schema = flat_schema(spec.model)
    required = schema["required"]
    optional = [name for name in schema["properties"] if name not in required]
    words = f"Call again with {', '.join(required)}"
    return words + (f" (optional: {', '.join(optional)})." if optional else ".")

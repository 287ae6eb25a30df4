"""Reads and questions to the patient answered from what was recorded when the session was made."""

from __future__ import annotations

from typing import Any

from .mistakes import mistake
from .spec import ToolContext, ToolResult, ToolSpec

_NOT_RECORDED = {
    "en": "not recorded: this session replays recorded results and holds none for this call. Ask less or otherwise.",
    "zh": "无记录：本次会话只重放已记录的结果，没有这次调用的结果。请换一种查法。",
}


def replayed(context: ToolContext, spec: ToolSpec) -> bool:
    """Tell whether a tool's results come from the session's recordings."""
    held = context.recordings
    return held is not None and ((spec.effect == "read" and held.reads) or (spec.effect == "ask" and held.interviews))


def recorded(context: ToolContext, spec: ToolSpec, given: dict[str, Any]) -> ToolResult:
    """Return what was recorded for a call, else an observation that says so (`error="not_recorded"`).

    Args:
        context: Its recordings are the only source.
        spec: The tool, one that reads or asks.
        given: Arguments after validation.
    """
    assert context.recordings is not None
    found = context.recordings.find(spec.name, given)
    if found is None:
        return mistake(spec.name, given, "not_recorded", _NOT_RECORDED[context.language], spec.effect)
    text = found.text.get(context.language)
    return ToolResult(
        spec.name,
        given,
        True,
        text,
        effect=spec.effect,
        resources=found.resources,
        facts=found.facts,
        total=found.total,
    )

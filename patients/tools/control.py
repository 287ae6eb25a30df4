"""Tools that move the turn along without touching the record."""

from __future__ import annotations

from typing import Any

from .arguments import PrepareToAnswer
from .spec import ToolContext, ToolResult


def prepare_to_answer(context: ToolContext, arguments: PrepareToAnswer, given: dict[str, Any]) -> ToolResult:
    """Declare that the plan is complete; the answer comes next."""
    return ToolResult(
        "prepare_to_answer", given, ok=True, text="Plan complete. Answer the physician now.", effect="control"
    )

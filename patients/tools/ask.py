"""Tools that ask the patient: the dialogue finds the words."""

from __future__ import annotations

from typing import Any

from .arguments import Ask
from .spec import Handler, ToolContext, ToolResult


def ask_with(tool: str) -> Handler:
    """Return the handler of one interview tool."""

    def handler(context: ToolContext, arguments: Ask, given: dict[str, Any]) -> ToolResult:
        text, facts = context.dialogue.ask(tool, given, context.language)
        return ToolResult(tool, given, ok=True, text=text, effect="ask", facts=facts)

    return handler

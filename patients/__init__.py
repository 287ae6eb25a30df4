"""Who the ward round is about, and what may be done to the record."""

from __future__ import annotations

from .dialogue import Dialogue, Said, interview_problems
from .errors import DataError, UsageError, WardroundError
from .interview import Fact, Interview, Persona, Reply, Words
from .rng import Stream
from .times import DAY, NEVER, SECOND, Instant, format_instant, parse_instant, parse_period
from .tools.registry import TOOLS, find_tool
from .tools.run import run_tool
from .tools.spec import ToolCall, ToolContext, ToolResult, ToolSpec

__all__ = [
    "DAY",
    "NEVER",
    "SECOND",
    "TOOLS",
    "DataError",
    "Dialogue",
    "Fact",
    "Instant",
    "Interview",
    "Persona",
    "Reply",
    "Said",
    "Stream",
    "ToolCall",
    "ToolContext",
    "ToolResult",
    "ToolSpec",
    "UsageError",
    "WardroundError",
    "Words",
    "find_tool",
    "format_instant",
    "interview_problems",
    "parse_instant",
    "parse_period",
    "run_tool",
]

"""Who the ward round is about, and what may be done to the record."""

from __future__ import annotations

from .errors import DataError, UsageError, WardroundError
from .interview import Fact, Interview, Persona, Reply, Words
from .rng import Stream
from .times import DAY, NEVER, SECOND, Instant, format_instant, parse_instant, parse_period
from .tools.spec import ToolCall, ToolResult

__all__ = [
    "DAY",
    "NEVER",
    "SECOND",
    "DataError",
    "Fact",
    "Instant",
    "Interview",
    "Persona",
    "Reply",
    "Stream",
    "ToolCall",
    "ToolResult",
    "UsageError",
    "WardroundError",
    "Words",
    "format_instant",
    "parse_instant",
    "parse_period",
]

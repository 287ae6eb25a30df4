"""The baseline: rules that read the question, look it up and answer; no model, no gold (docs/baseline.md)."""

from __future__ import annotations

from .agent import Baseline, BaselineWithoutMemory, answer_lines, formed
from .memory import Memory
from .query import Request, read_as, read_query
from .turn import Steps, Turn
from .words import has, vocabulary

__all__ = [
    "Baseline",
    "BaselineWithoutMemory",
    "Memory",
    "Request",
    "Steps",
    "Turn",
    "answer_lines",
    "formed",
    "has",
    "read_as",
    "read_query",
    "vocabulary",
]

"""How an answer is judged: contract in `rubric.py`."""

from __future__ import annotations

from .rubric import (
    CallRecord,
    Check,
    Item,
    Known,
    Span,
    Text,
    TurnScore,
    TurnSpec,
    Verdict,
    WriteRecord,
)

__all__ = [
    "CallRecord",
    "Check",
    "Item",
    "Known",
    "Span",
    "Text",
    "TurnScore",
    "TurnSpec",
    "Verdict",
    "WriteRecord",
]

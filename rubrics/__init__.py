"""How an answer is judged: contract in `rubric.py`."""

from __future__ import annotations

from .evidence import Evidence, TurnTrace
from .rubric import (
    CallRecord,
    Check,
    Item,
    Known,
    ReplyRecord,
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
    "Evidence",
    "Item",
    "Known",
    "ReplyRecord",
    "Span",
    "Text",
    "TurnScore",
    "TurnSpec",
    "TurnTrace",
    "Verdict",
    "WriteRecord",
]

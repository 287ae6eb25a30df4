"""How an answer is judged: contract in `rubric.py`, a turn in `scoring.py`, a run in `metrics.py`."""

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
from .scoring import PLAN_ITEM, check_answer, judge_items, score, settle
from .validation import is_guard, validate_spec

__all__ = [
    "PLAN_ITEM",
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
    "check_answer",
    "is_guard",
    "judge_items",
    "score",
    "settle",
    "validate_spec",
]

"""How an answer is judged: contract in `rubric.py`, a turn in `scoring.py`, a run in `metrics.py`."""

from __future__ import annotations

from .evidence import Evidence, TurnTrace
from .metrics import (
    TurnResult,
    bootstrap,
    breakdown,
    breakdowns,
    deltas,
    mean_rubric_score,
    pass_at_k,
    pass_curve,
    pass_hat_k,
    pass_session,
    pass_turn,
    summarise,
)
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
from .scoring import check_answer, judge_items, score, settle
from .validation import PLAN_ITEM, is_guard, validate_spec

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
    "TurnResult",
    "TurnScore",
    "TurnSpec",
    "TurnTrace",
    "Verdict",
    "WriteRecord",
    "bootstrap",
    "breakdown",
    "breakdowns",
    "check_answer",
    "deltas",
    "is_guard",
    "judge_items",
    "mean_rubric_score",
    "pass_at_k",
    "pass_curve",
    "pass_hat_k",
    "pass_session",
    "pass_turn",
    "score",
    "settle",
    "summarise",
    "validate_spec",
]

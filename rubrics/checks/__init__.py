"""Check kinds, one small module each: `judge(check, reading, context) -> Verdict`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from wardround.rubrics.reading import Reading
from wardround.rubrics.rubric import Check, Verdict

from .context import CheckContext

Judge = Callable[[Any, Reading, CheckContext], Verdict]

_MODULES = {
    "value": "value",
    "status": "status",
    "mention": "mention",
    "advice": "advice",
    "avoids": "avoids",
    "reports": "reports",
    "grounded": "grounded",
    "grounded_mentions": "grounded_mentions",
    "only": "only",
    "trend": "trend",
    "threshold": "threshold",
    "because": "because",
    "clinical_score": "clinical_score",
    "susceptibility": "susceptibility",
    "order": "order",
    "only_write": "only_write",
    "state": "state",
    "retrieved": "retrieved",
    "judge": "judge_check",
}
_COMPOSED = {"any_of": "any_of", "all_of": "all_of", "not": "not_"}


@cache
def _judge_of(kind: str) -> Judge:
    """Import the module of a kind on first use: a write turn never loads the text checks and the other way round."""
    module, name = (_MODULES[kind], "judge") if kind in _MODULES else ("compose", _COMPOSED[kind])
    found: Judge = getattr(import_module(f"wardround.rubrics.checks.{module}"), name)
    return found


def judge(check: Check, reading: Reading, context: CheckContext) -> Verdict:
    """Decide one check, composed ones included.

    Args:
        check: Any check.
        reading: The answer, read once.
        context: Item id, language and trace.
    """
    return _judge_of(check.kind)(check, reading, context)


__all__ = ["CheckContext", "Judge", "judge"]

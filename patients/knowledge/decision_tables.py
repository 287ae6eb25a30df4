"""Reads the decisions on one value and the uses of clinical scores, once and lazily."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from .decision_models import DecisionTable, ScoreUse
from .loader import _by_id


@cache
def decisions() -> Mapping[str, DecisionTable]:
    """Return the questions that one lab, vital sign or clinical score answers, by id.

    Raises:
        DataError: the file is not as its schema says; every fault is named with its line.
    """
    return _by_id("decisions.json", DecisionTable)


@cache
def score_uses() -> Mapping[str, ScoreUse]:
    """Return where each clinical score makes sense and where a chart holds its inputs, by score id.

    Raises:
        DataError: the file is not as its schema says; every fault is named with its line.
    """
    return _by_id("score_uses.json", ScoreUse)

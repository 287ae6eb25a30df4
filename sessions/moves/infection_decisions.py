"""Decisions on antibiotics beside the one that a session is about: what the planner may add as further CR turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wardround.patients import Stream
from wardround.sessions.decisions import course, culture
from wardround.sessions.decisions.decision import Decision

from .drugs import was_asked
from .move import Case, Focus, Move, MoveKind


def _free(decision: Decision, focus: Focus) -> bool:
    """Tell whether nothing was decided about the drug yet, and it is not what the session is about."""
    own, order = focus.decision.order, decision.order
    assert order is not None
    if own is not None and own.drug == order.drug:
        return False
    decided = {f"fits:{order.drug}", f"course:{order.drug}"} & focus.busy
    lab = decision.reading.lab if decision.reading is not None else ""
    return not decided and lab not in focus.busy and not was_asked(focus, order.drug, "decide")


def _fits(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for decision in culture.threads(case, stream):
        if _free(decision, focus):
            yield from culture.decides(case, decision, mixed=False)


def _courses(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for decision in course.threads(case, stream):
        if _free(decision, focus):
            yield from course.decides(case, decision, mixed=False)


KINDS: Final = (
    MoveKind("decide_culture", "CR", "ehr", _fits),
    MoveKind("decide_course", "CR", "ehr", _courses),
)

"""Decisions on drugs beside the one that a session is about: what the planner may add as further CR turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wardround.patients import Stream
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.decisions.drug_lab import by_lab_alone, threads

from .decide_drug import decide_moves
from .drug_advice import pair_of
from .drugs import was_asked
from .move import Case, Focus, Move, MoveKind


def _free(decision: Decision, focus: Focus) -> bool:
    """Tell whether neither the drug was decided on nor its lab asked for, and it is not what the session is about."""
    assert decision.order is not None and decision.reading is not None
    drug, lab = decision.order.drug, decision.reading.lab
    own = focus.decision.order
    if own is not None and own.drug == drug:
        return False
    return lab not in focus.busy and not was_asked(focus, drug, "decide")


def _alone(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    """Yield decisions by the lab alone, where the patient's words, if they were asked, would not turn them."""
    for decision in threads(case, stream):
        if _free(decision, focus) and not decision.turned:
            plain = by_lab_alone(case, pair_of(decision))
            if plain is not None:
                yield from decide_moves(case, plain, mixed=False)


def _asked(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    """Yield decisions in which the patient is asked in the same turn."""
    for decision in threads(case, stream):
        if _free(decision, focus):
            yield from decide_moves(case, decision, mixed=True)


KINDS: Final = (
    MoveKind("decide", "CR", "ehr", _alone),
    MoveKind("decide_ask", "CR", "mixed", _asked),
)

"""Moves that a turn may be, and what they bring of what a whole session must hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from wardround.sessions.moves.move import Move

from .offering import INTERVIEW

ASKED: Final = "asked"
SCORE: Final = "score"
SIDES: Final = "sides"
HINGE: Final = "hinge"
DANGER: Final = "danger"
"""What a session must hold: a turn that asks the patient, a score to work out, two sides to weigh, a turn whose
gold could change with an earlier turn's result (`chain.py`), and one that takes up the patient's danger
(`danger.py`)."""
_HINGED: Final = frozenset({"trend", "prescribe_if"})


@dataclass(frozen=True)
class Choice:
    """A move that may be taken, and what speaks against it."""

    move: Move
    cost: int
    types: frozenset[str]
    asks: bool
    brings: frozenset[str]
    """What it brings of what a whole session must hold."""
    rests: frozenset[str]
    """Keys of the patient's words that must have been told before it."""
    fresh: bool
    """It looks up labs that no earlier turn may have asked for."""


def rests_on(move: Move) -> frozenset[str]:
    """Return the keys of the patient's words that a move rests on and does not ask for itself."""
    return frozenset() if move.source in INTERVIEW else frozenset(key for key in move.keys if key.startswith("fact/"))


def looks_anew(move: Move) -> bool:
    """Tell whether a move looks up labs, and neither comes back to one on purpose nor gathers what a score needs."""
    return move.task in {"IL", "DG"} and move.kind != "branch_back" and move.score is None


def brings(move: Move, turn: int) -> frozenset[str]:
    """Return what a move brings of what a whole session must hold; a score at the opening is none."""
    found = {ASKED} if move.source in INTERVIEW else set()
    if move.score is not None and turn > 0:
        found.add(SCORE)
    if move.conflict:
        found.add(SIDES)
    if turn > 0 and _may_hinge(move):
        found.add(HINGE)
    return frozenset(found)


def _may_hinge(move: Move) -> bool:
    """Tell whether a move is of those whose gold an earlier result could change, if one does.

    A conflict with an order that was told before counts for nothing: an order is asked for once (`sense.py`).
    """
    decides = move.task in {"CR", "WU"} and move.decision is not None
    return decides or move.branch is not None or move.score is not None or move.kind in _HINGED


def brought(pool: Sequence[Choice], after: frozenset[frozenset[str]]) -> frozenset[frozenset[str]]:
    """Return what the choices of a turn and of those after it can bring together; the patient is asked once."""
    mine = {choice.brings for choice in pool}
    return frozenset(one | more for one in mine for more in after if ASKED not in one & more)

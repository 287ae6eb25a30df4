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
"""What a session must hold: a turn that asks the patient, a score to work out, two sides to weigh."""


@dataclass(frozen=True)
class Choice:
    """A move that may be taken, and what speaks against it."""

    move: Move
    cost: int
    types: frozenset[str]
    asks: bool
    brings: frozenset[str]
    """What it brings of what a whole session must hold."""


def brings(move: Move, turn: int) -> frozenset[str]:
    """Return what a move brings of what a whole session must hold; a score at the opening is none."""
    found = {ASKED} if move.source in INTERVIEW else set()
    if move.score is not None and turn > 0:
        found.add(SCORE)
    if move.conflict:
        found.add(SIDES)
    return frozenset(found)


def brought(pool: Sequence[Choice], after: frozenset[frozenset[str]]) -> frozenset[frozenset[str]]:
    """Return what the choices of a turn and of those after it can bring together; the patient is asked once."""
    mine = {choice.brings for choice in pool}
    return frozenset(one | more for one in mine for more in after if ASKED not in one & more)

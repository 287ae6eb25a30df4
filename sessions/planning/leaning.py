"""What a turn could leave out if it came next, judged before there are words: so plans are chosen that hang together.

It reads the same data as the wording (`kinds.json`, the cells of the phrases) and takes every earlier turn to name all
that it holds; what words then bear is decided by `wording/` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from wardround.sessions.moves.move import Move
from wardround.sessions.session import Implicitness
from wardround.sessions.wording.discourse import kind_of
from wardround.sessions.wording.kinds import load_kinds
from wardround.sessions.wording.phrases import ENTITY_SLOTS, load_phrases
from wardround.sessions.wording.resting import About, about

_PICTURE_FROM: Final = 2
"""The first turn that can look back on two others."""
_NONE: Final = frozenset[Implicitness]()


@dataclass(frozen=True)
class _Cells:
    """What the phrases of a kind can leave out, in both languages."""

    pronouns: frozenset[str]
    """Slots that NA leaves out."""
    fragments: frozenset[str]
    """Slots that PE leaves out."""
    drops: frozenset[str]
    """What else PE leaves out: `ask`, `advice`, `plan`."""
    pictured: tuple[frozenset[str], ...]
    """Needed slots that "given all this" leaves out, one set a way of saying it."""


@cache
def _cells(kind: str) -> _Cells:
    found = []
    for language in ("en", "zh"):
        phrases = load_phrases(language).get(kind)
        found.append(() if phrases is None else phrases.later)
    both = frozenset.intersection(*(frozenset((one.type, one.drops) for one in later) for later in found))
    needs = frozenset(kind_of(kind).needs)
    pictured = {needs - (one.slots - one.left_out) for later in found for one in later if one.type == "AE"}
    return _Cells(
        pronouns=frozenset(drops for type_, drops in both if type_ == "NA"),
        fragments=frozenset(drops for type_, drops in both if type_ == "PE") & ENTITY_SLOTS,
        drops=frozenset(drops for type_, drops in both if type_ == "PE") - ENTITY_SLOTS,
        pictured=tuple(sorted(pictured, key=sorted)) if ("AE", "all") in both else (),
    )


@cache
def _groups(kind: str) -> tuple[str, frozenset[str]]:
    """Return the group of an entity's kind, and the groups of what a gap for one could mean as well."""
    kinds = load_kinds()
    return kinds.group(kind), kinds.rivals(kind)


@dataclass
class _Named:
    """What one turn names and asks."""

    keys: frozenset[str]
    groups: dict[str, set[str]] = field(default_factory=dict)
    asks: frozenset[str] = frozenset()


_THINGS: Final = frozenset({"lab", "vital", "drug", "score"})
"""Slots of a turn whose rubric is about what they hold."""


class Leaning:
    """Judges the turns of one session; what is worked out of a move is kept as long as it is."""

    def __init__(self, bears: Callable[[Move, Sequence[Move]], frozenset[str]]) -> None:
        """Make one.

        Args:
            bears: What a move's question turns on of what earlier ones asked about (`kinship.bearing`).
        """
        self._bears = bears
        self._abouts: dict[int, tuple[Move, About]] = {}
        self._named: dict[int, tuple[Move, _Named]] = {}

    def types(self, move: Move, earlier: Sequence[Move]) -> frozenset[Implicitness]:
        """Return the types that the words of a turn could have after others."""
        cells = _cells(move.kind)
        said = [self._of(one) for one in earlier]
        found: set[Implicitness] = set()
        clear = {slot for slot, entity in move.slots.items() if _only(entity.key, entity.kind, said)}
        if clear & cells.pronouns:
            found.add("NA")
        if clear & cells.fragments or self._goes_on(move, cells, earlier, said):
            found.add("PE")
        if len(said) >= _PICTURE_FROM and move.task != "IL" and self._pictured(move, cells, earlier, said):
            found.add("AE")
        return frozenset(found) if found else _NONE

    def _of(self, move: Move) -> _Named:
        kept = self._named.get(id(move))
        if kept is not None:
            return kept[1]
        named = _Named(frozenset(entity.key for entity in move.slots.values()), {}, _says(move.kind))
        for entity in move.slots.values():
            named.groups.setdefault(_groups(entity.kind)[0], set()).add(entity.key)
        self._named[id(move)] = (move, named)  # while it is kept, no other object has its id
        return named

    def _goes_on(self, move: Move, cells: _Cells, earlier: Sequence[Move], said: Sequence[_Named]) -> bool:
        if "ask" in cells.drops and _asked_before(kind_of(move.kind).asks, said):
            return True
        last = earlier[-1]
        if "advice" in cells.drops and last.task == "CR" and said[-1].asks & _says(move.kind):
            return True
        if "plan" not in cells.drops or move.decision is None:
            return False
        advised = next((one for one in reversed(earlier) if one.task == "CR"), None)
        return advised is not None and advised.decision == move.decision

    def _pictured(self, move: Move, cells: _Cells, earlier: Sequence[Move], said: Sequence[_Named]) -> bool:
        if not cells.pictured:
            return False
        own = frozenset(entity.key for entity in move.slots.values()) if move.task != "DG" else frozenset()
        bearing = self._bears(move, earlier) | own
        turns = [one.keys & bearing for one in said]
        held = [keys for keys in turns if keys]
        everything = frozenset().union(*held)
        if len(held) < _PICTURE_FROM or len(everything) < _PICTURE_FROM or not self._judged(move, earlier):
            return False
        for hidden in cells.pictured:
            left_out = [move.slots[slot] for slot in hidden if slot in move.slots]
            clear = left_out and all(_only(entity.key, entity.kind, said) for entity in left_out)
            if move.task == "DG" and move.score is None and not clear:
                continue
            if everything.issuperset(entity.key for entity in left_out):
                return True
        return False

    def _judged(self, move: Move, earlier: Sequence[Move]) -> bool:
        """Tell whether the rubric of a turn is about something that earlier ones named."""
        if _THINGS.intersection(move.slots):
            return True
        if id(move) not in self._abouts:
            self._abouts[id(move)] = (move, about(move.rubric))
        return bool(self._abouts[id(move)][1].of(entity for one in earlier for entity in one.slots.values()))


@cache
def _says(kind: str) -> frozenset[str]:
    """Return the questions of a kind of turn that fragments may go on from."""
    found = kind_of(kind)
    return frozenset() if found.tests else frozenset(found.asks)


def _only(key: str, kind: str, said: Sequence[_Named]) -> bool:
    """Tell whether a thing was named earlier and is the only one of its kind: of all turns, or of the last."""
    _, rivals = _groups(kind)
    if not any(key in one.keys for one in said):
        return False
    others = [any(one.groups.get(group, set()) - {key} for group in rivals) for one in said]
    return not any(others) or (key in said[-1].keys and not others[-1])


def _asked_before(asks: Sequence[str], said: Sequence[_Named]) -> bool:
    """Tell whether every question that a fragment leaves out was asked of something else."""
    kinds = load_kinds()
    mixed = any(kinds.looks_up(one) for one in asks)
    for ask in asks:
        if mixed and kinds.asks_patient(ask):
            continue
        turns = said if kinds.looks_up(ask) and ask not in kinds.close else said[-1:]
        shared = kinds.shared(ask).difference(() if ask in kinds.close else kinds.close)
        if not any(shared & one.asks for one in turns):
            return False
    return True

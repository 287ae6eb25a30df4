"""What a turn could leave out if it came next, judged before there are words: so plans are chosen that hang together.

It reads the same data as the wording (`kinds.json`, the cells of the phrases) and takes every earlier turn to name all
that it holds; what words then bear is decided by `wording/` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from wardround.sessions.moves.move import Entity, Move
from wardround.sessions.session import Implicitness
from wardround.sessions.wording.discourse import EVENT, kind_of
from wardround.sessions.wording.kinds import load_kinds
from wardround.sessions.wording.phrases import ENTITY_SLOTS, load_phrases
from wardround.sessions.wording.resting import About, about

from .kinship import Bearing

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
def _group(kind: str) -> str:
    return load_kinds().group(kind)


@cache
def _rivals(kind: str) -> frozenset[str]:
    """Return the groups of what a gap for an entity of a kind could mean as well."""
    return load_kinds().rivals(kind)


@dataclass(frozen=True)
class _Named:
    """What one turn names and asks."""

    entities: tuple[Entity, ...]
    groups: tuple[tuple[str, str], ...]
    """Group and key of each thing."""
    asks: frozenset[str]
    topics: frozenset[str]
    """Keys of what was asked about, and of what stands for it ("event:pain"): "given all this" stands for no other."""


@dataclass(frozen=True)
class Earlier:
    """The turns before the one that is judged, as it looks back on them."""

    moves: tuple[Move, ...]
    said: tuple[_Named, ...]
    asked: Mapping[str, Entity]
    """Everything named, by key."""
    groups: Mapping[str, frozenset[str]]
    """Keys of what was named, by group; and of the last turn alone."""
    last: Mapping[str, frozenset[str]]

    def only(self, entity: Entity) -> bool:
        """Tell whether a thing was named and is the only one of its kind: of all turns, or of the last."""
        if entity.key not in self.asked:
            return False
        rivals, mine = _rivals(entity.kind), {entity.key}
        if not any(self.groups.get(group, _NOTHING) - mine for group in rivals):
            return True
        in_last = any(entity.key in keys for keys in self.last.values())
        return in_last and not any(self.last.get(group, _NOTHING) - mine for group in rivals)


_NOTHING: Final = frozenset[str]()
_THINGS: Final = frozenset({"lab", "vital", "drug", "score"})
"""Slots of a turn whose rubric is about what they hold."""


class Leaning:
    """Judges the turns of one session; what is worked out of a move is kept as long as it is."""

    def __init__(self, bears: Callable[[Move], Bearing]) -> None:
        """Make one.

        Args:
            bears: What a move's question turns on (`kinship.bearing_of`).
        """
        self._bears = bears
        self._abouts: dict[int, tuple[Move, About]] = {}
        self._named: dict[int, tuple[Move, _Named]] = {}
        self._bearing: dict[int, tuple[Move, Bearing]] = {}

    def after(self, moves: tuple[Move, ...]) -> Earlier:
        """Return some turns as a later one looks back on them."""
        said = tuple(self._of(one) for one in moves)
        return Earlier(
            moves,
            said,
            {entity.key: entity for one in said for entity in one.entities},
            _grouped(said),
            _grouped(said[-1:]),
        )

    def types(self, move: Move, earlier: Earlier) -> frozenset[Implicitness]:
        """Return the types that the words of a turn could have after others."""
        cells = _cells(move.kind)
        found: set[Implicitness] = set()
        clear = {slot for slot, entity in move.slots.items() if earlier.only(entity)}
        if clear & cells.pronouns:
            found.add("NA")
        if clear & cells.fragments or _goes_on(move, cells, earlier):
            found.add("PE")
        if len(earlier.said) >= _PICTURE_FROM and move.task != "IL" and self._pictured(move, cells, earlier):
            found.add("AE")
        return frozenset(found) if found else _NONE

    def _of(self, move: Move) -> _Named:
        kept = self._named.get(id(move))
        if kept is not None:
            return kept[1]
        entities = tuple(move.slots.values())
        named = _Named(
            entities, tuple((_group(one.kind), one.key) for one in entities), _says(move.kind), _topics(move)
        )
        self._named[id(move)] = (move, named)  # while it is kept, no other object has its id
        return named

    def _turns_on(self, move: Move) -> Bearing:
        kept = self._bearing.get(id(move))
        if kept is None:
            kept = self._bearing[id(move)] = (move, self._bears(move))
        return kept[1]

    def _pictured(self, move: Move, cells: _Cells, earlier: Earlier) -> bool:
        if not cells.pictured or (move.task == "DG" and move.score is None):
            return False  # nothing that is looked up is headed by "given all this"
        own = frozenset(entity.key for entity in move.slots.values()) if move.task != "DG" else _NOTHING
        bearing = self._turns_on(move).of(earlier.asked) | own
        held = [keys for one in earlier.said if (keys := bearing & one.topics)]
        everything = _NOTHING.union(*held)
        if len(held) < _PICTURE_FROM or len(everything) < _PICTURE_FROM or not self._judged(move, earlier):
            return False
        for hidden in cells.pictured:
            left_out = [move.slots[slot] for slot in hidden if slot in move.slots]
            clear = left_out and all(earlier.only(entity) for entity in left_out)
            if move.task == "DG" and move.score is None and not clear:
                continue
            if everything.issuperset(entity.key for entity in left_out):
                return True
        return False

    def _judged(self, move: Move, earlier: Earlier) -> bool:
        """Tell whether the rubric of a turn is about something that earlier ones named."""
        if _THINGS.intersection(move.slots):
            return True
        if id(move) not in self._abouts:
            self._abouts[id(move)] = (move, about(move.rubric))
        return bool(self._abouts[id(move)][1].of(entity for one in earlier.said for entity in one.entities))


def _topics(move: Move) -> frozenset[str]:
    found = set()
    for topic in kind_of(move.kind).topics:
        entity = move.slots.get(topic.slot) if topic.slot is not None else None
        if entity is not None and not topic.context:
            found.add(entity.key)
        elif topic.event is not None and topic.slot is None:
            found.add(EVENT + topic.event)
    return frozenset(found)


def _grouped(said: Sequence[_Named]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for one in said:
        for group, key in one.groups:
            found.setdefault(group, set()).add(key)
    return {group: frozenset(keys) for group, keys in found.items()}


def _goes_on(move: Move, cells: _Cells, earlier: Earlier) -> bool:
    if "ask" in cells.drops and _asked_before(move.kind, tuple(one.asks for one in earlier.said)):
        return True
    last = earlier.moves[-1]
    if "advice" in cells.drops and last.task == "CR" and earlier.said[-1].asks & _says(move.kind):
        return True
    if "plan" not in cells.drops or move.decision is None:
        return False
    advised = next((one for one in reversed(earlier.moves) if one.task == "CR"), None)
    return advised is not None and advised.decision == move.decision


@cache
def _says(kind: str) -> frozenset[str]:
    """Return the questions of a kind of turn that fragments may go on from."""
    found = kind_of(kind)
    return frozenset() if found.tests else frozenset(found.asks)


@lru_cache(maxsize=1 << 14)
def _asked_before(kind: str, said: tuple[frozenset[str], ...]) -> bool:
    """Tell whether every question that a fragment of a kind leaves out was asked of something else."""
    kinds, asks = load_kinds(), kind_of(kind).asks
    mixed = any(kinds.looks_up(one) for one in asks)
    for ask in asks:
        if mixed and kinds.asks_patient(ask):
            continue
        turns = said if kinds.looks_up(ask) and ask not in kinds.close else said[-1:]
        shared = kinds.shared(ask).difference(() if ask in kinds.close else kinds.close)
        if not any(shared & one for one in turns):
            return False
    return True

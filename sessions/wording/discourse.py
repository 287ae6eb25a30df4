"""What a dialogue has established: things named, questions asked, plans advised; and what may therefore be left out.

Only the physician's own queries count, and only what every wording of a query says, in both languages and phrasings: so
an antecedent is there whichever wording is played, and never only in an assistant's answer. What any wording names is a
rival of what a gap could mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Final

from wardround.patients import DataError
from wardround.rubrics import Text
from wardround.sessions.moves.move import Entity, Move
from wardround.sessions.session import Antecedent, Language

from .kinds import Kind, Topic, load_kinds
from .phrases import Shape, bare

EVENT: Final = "event:"
ASK: Final = "ask:"
ADVICE: Final = "advice:"
PLAN: Final = "advised:"


@dataclass(frozen=True)
class Said:
    """One query of the physician, as every wording says it."""

    move: Move
    named: frozenset[str]
    """Keys of the entities that every wording names."""
    brought: frozenset[str]
    """Keys of the entities that any wording names."""
    asks: frozenset[str]
    """Predicates that every wording says."""
    fragment: bool = False
    """It went on from an earlier question itself."""


@dataclass(frozen=True)
class Grounded:
    """Something that an earlier query was about, as the accumulated picture is made of."""

    turn: int
    topic: Topic
    entity: Entity | None
    antecedent: Antecedent

    @property
    def keys(self) -> frozenset[str]:
        """Keys of the thing and of what stands for it."""
        thing = frozenset[str]() if self.entity is None else frozenset({self.entity.key})
        return thing | {self.antecedent.entity}


def antecedent_of(turn: int, entity: Entity) -> Antecedent:
    """Return an entity as an antecedent, with what its turn calls it."""
    return Antecedent(turn=turn, entity=entity.key, names=Text(en=entity.names.en, zh=entity.names.zh))


def spoken(move: Move, shapes: Mapping[Language, Shape], named_too: frozenset[str] = frozenset()) -> Said:
    """Return what a query says, from the shapes of both languages.

    Args:
        move: What it asks.
        shapes: One a language.
        named_too: Keys that only the explicit form of AE adds.
    """
    every = [shape.slots - left for shape in shapes.values() for left in (frozenset(), shape.left_out)]
    named = frozenset.intersection(*(frozenset(one) for one in every))
    brought = frozenset.union(*(frozenset(one) for one in every))
    return Said(
        move=move,
        named=frozenset(move.slots[slot].key for slot in named),
        brought=frozenset(move.slots[slot].key for slot in brought) | named_too,
        asks=frozenset.intersection(*(asked(shape, language) for language, shape in shapes.items())),
        fragment=any(shape.drops == "ask" for shape in shapes.values()),
    )


@lru_cache(maxsize=8192)
def asked(shape: Shape, language: Language) -> frozenset[str]:
    """Return the predicates that both forms of a shape say."""
    kinds = load_kinds()
    kind = kind_of(shape.kind)
    wanted = {*(() if kind.tests else kind.asks), *(topic.event for topic in kind.topics if topic.event is not None)}
    return frozenset(
        one
        for one in wanted
        if all(kinds.cues[one].spoken(bare(form), language) for form in (shape.explicit, shape.implicit))
    )


@lru_cache(maxsize=8192)
def says_whole(shape: Shape, language: Language) -> bool:
    """Tell whether the implicit form of a shape says a look-up in full, so that it leaves out no predicate."""
    whole, words = load_kinds().whole, bare(shape.implicit)
    return any(one in whole and whole[one].spoken(words, language) for one in kind_of(shape.kind).asks)


@lru_cache(maxsize=8192)
def kept_in(shape: Shape, language: Language) -> frozenset[str]:
    """Return the predicates of its kind that the implicit form of a shape says itself."""
    cues = load_kinds().cues
    return frozenset(one for one in kind_of(shape.kind).asks if cues[one].spoken(bare(shape.implicit), language))


def kind_of(kind: str) -> Kind:
    """Return what a kind of turn asks.

    Raises:
        DataError: `kinds.json` does not hold it.
    """
    found = load_kinds().kinds.get(kind)
    if found is None:
        raise DataError(f"wording/data/kinds.json: no kind `{kind}`; say there what it asks and needs")
    return found


def said_only(asks: frozenset[str], lasting: Sequence[str]) -> bool:
    """Tell whether a turn looked up nothing but what is only asked one question."""
    kinds = load_kinds()
    return all(one in lasting for one in asks if kinds.looks_up(one))


class Discourse:
    """A dialogue so far."""

    def __init__(self) -> None:
        self.turns: list[Said] = []

    def hear(self, said: Said) -> None:
        """Add a query."""
        self.turns.append(said)

    # -- entities ------------------------------------------------------------------------------------------------------

    def entity(self, entity: Entity, *, selected: bool) -> Antecedent | None:
        """Return where a left out entity is recovered from; None where it would not be the only one meant.

        Args:
            entity: What is left out.
            selected: The words around the gap go with things of its kind only, so others are no rivals.
        """
        turns = [number for number, said in enumerate(self.turns) if entity.key in said.named]
        if not turns:
            return None
        if not self._rivals(self.turns, entity, selected=selected):
            return antecedent_of(turns[-1], entity)
        # the turn just before is in mind: what it alone of its kind names is meant, whatever came earlier
        last = len(self.turns) - 1
        if turns[-1] == last and not self._rivals(self.turns[last:], entity, selected=selected):
            return antecedent_of(last, entity)
        return None

    def _rivals(self, turns: Sequence[Said], entity: Entity, *, selected: bool) -> set[str]:
        kinds = load_kinds()
        groups = kinds.rivals(entity.kind)
        return {
            key
            for said in turns
            for key in (*said.brought, *kind_of(said.move.kind).brings)
            if key != entity.key and (not selected or kinds.group(key.partition(":")[0]) in groups)
        }

    # -- predicates ----------------------------------------------------------------------------------------------------

    def question(
        self, move: Move, kept: frozenset[str] = frozenset(), whole: bool = False
    ) -> tuple[Antecedent, ...] | None:
        """Return the turns that said the questions which a fragment asks of something else; None where none is in mind.

        Any look-up goes on from any earlier look-up, where its thing is only ever asked one question ("And the
        potassium?") or its noun says which ("And the warfarin dose?"). A question to the patient or for advice goes on
        from one of its own class right before it. What a fragment asks the patient in its own words beside a look-up is
        no gap.

        Args:
            move: What the fragment asks.
            kept: Predicates that it still says, as a noun ("the warfarin dose").
            whole: It says one in full: then nothing is left out.
        """
        kinds = load_kinds()
        asks = kind_of(move.kind).asks
        if whole:
            return None
        mixed = any(kinds.looks_up(one) for one in asks)
        found: dict[int, set[str]] = {}
        for one in asks:
            if mixed and one in kept and kinds.asks_patient(one):
                continue
            continued = self._looked_up(one, kept) if kinds.looks_up(one) else self._same(one)
            if continued is None:
                return None
            found.setdefault(continued[0], set()).update(continued[1])
        return tuple(Antecedent(turn=turn, entity=ASK + "+".join(sorted(found[turn]))) for turn in sorted(found))

    def _looked_up(self, ask: str, kept: frozenset[str]) -> tuple[int, frozenset[str]] | None:
        """Return the look-up that one more goes on from: the nearest of the same, else the nearest of any."""
        kinds = load_kinds()
        lookups = kinds.shared(ask).difference(() if ask in kinds.close else kinds.close)
        turns = [number for number in range(len(self.turns) - 1, -1, -1) if self.turns[number].asks & lookups]
        if not turns or (ask in kinds.close and turns[0] != len(self.turns) - 1):
            return None
        if ask in kinds.close:
            number = turns[0]
        elif ask in kinds.lasting:
            same = [number for number in turns if self.turns[number].asks.intersection(kinds.lasting)]
            found = same or turns
            number = next((one for one in found if not self.turns[one].fragment), found[0])
        else:
            number = turns[0]
            heard = number == len(self.turns) - 1 and ask in self.turns[number].asks
            if ask not in kept and not heard:
                return None  # a drug is asked several things, so its noun says which, or the turn before asked the same
            if not heard and said_only(self.turns[number].asks, kinds.lasting):
                # past a fragment to what it goes on from; a result goes on from a result, never from an order
                wanted = lookups.intersection(kinds.lasting) if ask == "trend" else lookups
                whole = (one for one in turns if not self.turns[one].fragment and self.turns[one].asks & wanted)
                number = next(whole, number)
        said = self.turns[number].asks & lookups
        return number, said & {ask} or said

    def _same(self, ask: str) -> tuple[int, frozenset[str]] | None:
        """Return the turn that asked the same, where no other question came between."""
        shared = load_kinds().shared(ask)
        for number in range(len(self.turns) - 1, -1, -1):
            said = self.turns[number]
            if not shared.intersection(kind_of(said.move.kind).asks):
                return None
            if said.asks & shared:
                return number, said.asks & {ask} or said.asks & shared
        return None

    def advice(self, move: Move) -> Antecedent | None:
        """Return the previous turn where it asked for the same kind of advice, else None."""
        if not self.turns or self.turns[-1].move.task != "CR":
            return None
        asks = frozenset(kind_of(move.kind).asks) & self.turns[-1].asks
        if not asks:
            return None
        return Antecedent(turn=len(self.turns) - 1, entity=ADVICE + min(asks))

    def plan(self, move: Move, left_out: Sequence[Entity]) -> tuple[Antecedent, ...] | None:
        """Return the turn whose advice a write carries out, with what it names of the write; None where none does."""
        for number in range(len(self.turns) - 1, -1, -1):
            said = self.turns[number]
            if said.move.task != "CR":
                continue
            if said.move.decision is None or said.move.decision != move.decision or not said.asks:
                return None
            if left_out and number != len(self.turns) - 1:
                return None  # "go with it" after another question would go with that
            if any(entity.key not in said.named or self._rivals([said], entity, selected=True) for entity in left_out):
                return None
            event = Antecedent(turn=number, entity=PLAN + min(said.asks))
            return (event, *(antecedent_of(number, entity) for entity in left_out))
        return None

    # -- the accumulated picture ---------------------------------------------------------------------------------------

    def pictures(
        self,
        hidden: frozenset[str],
        bearing: frozenset[str],
        said: frozenset[str] = frozenset(),
        rests: frozenset[str] | None = None,
    ) -> Iterator[tuple[Grounded, ...]]:
        """Yield what "all this" can stand for: things that bear on the question, of two turns or more, all turns first.

        What bears on it and was asked about last is always in the picture.

        Args:
            hidden: Keys of what the question rests on and does not name: the picture must hold them.
            bearing: Keys of what bears on the question ("event:…" where no thing was named).
            said: Keys of what the question names itself, which "given …" need not name again.
            rests: Keys of what the rubric is about: of the things in the picture one must be; None for any.
        """
        grounded = [
            one
            for number in range(len(self.turns))
            for one in self._grounded(number)
            if not one.topic.context and one.keys & bearing
        ]
        last = max((one.turn for one in grounded), default=0)
        found = []
        for size in (3, 2):
            for group in combinations(grounded, size):
                keys = {one.antecedent.entity for one in group}
                turns = {one.turn for one in group}
                distinct = len(keys) == size and len(turns) >= 2 and last in turns
                things = {key for key in keys if not key.startswith(EVENT)}
                judged = rests is None or not things or bool(things & rests)
                if distinct and judged and hidden <= keys and (len(turns) == size or len(hidden) > 1):
                    about = {one.antecedent.entity if one.entity is None else one.entity.key for one in group}
                    # all that was found bears on it; nobody recites the same thing twice, or three where two say it
                    found.append((size - len(about), -len(turns), size, len(keys & said), group))
        found.sort(key=lambda one: one[:4])
        yield from (group for *_, group in found)

    def _grounded(self, number: int) -> Iterator[Grounded]:
        said = self.turns[number]
        for topic in kind_of(said.move.kind).topics:
            entity = said.move.slots.get(topic.slot) if topic.slot is not None else None
            if topic.slot is not None and entity is None:
                continue
            if entity is not None and entity.key in said.named:
                yield Grounded(number, topic, entity, antecedent_of(number, entity))
            elif topic.event is not None and topic.event in said.asks:
                yield Grounded(number, topic, entity, Antecedent(turn=number, entity=EVENT + topic.event))

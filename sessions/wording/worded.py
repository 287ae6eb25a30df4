"""The four queries of a session in words: both phrasings, both languages, one type and the same antecedents in each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from wardround.patients import Stream, knowledge
from wardround.sessions.moves.move import Case, Entity, Move
from wardround.sessions.moves.nearness import monitored_by
from wardround.sessions.session import Antecedent, Implicitness, Language, Query, Wording

from .discourse import Discourse, Grounded, kept_in, kind_of, says_whole, spoken
from .filling import fill, pronouns
from .kinds import load_kinds
from .limits import faults
from .phrases import LANGUAGES, Shape, bare, load_phrases, shapes
from .resting import About, about

TYPES: Final[tuple[Implicitness, ...]] = ("NA", "PE", "AE")
EXPLICIT: Final = "none"
"""Counted for turns that leave nothing out."""
EVEN: Final[Mapping[str, int]] = {"NA": 1, "PE": 1, "AE": 1}
"""Weights of the types where each is to have its third."""
PAPER: Final[Mapping[str, int]] = {"NA": 121, "PE": 464, "AE": 198, EXPLICIT: 189}
"""Weights of the paper's own mix."""
_MOST_TRIES: Final = 24
_ENOUGH: Final = 20
"""Implicit turns from which on the mix is looked at."""
_SLACK: Final = 4
"""Percent of its share that a type may be ahead before turns are left explicit instead …"""
_MOST_PLAIN: Final = 19
"""… of which there are at most so many in a hundred."""
_NAMES_DRUG: Final = 3
"""One opening of so many may name the drug of later turns, where it belongs there: they then need not name it again."""
_MANY: Final[Mapping[Language, re.Pattern[str]]] = {
    "en": re.compile(r"\b(?:those|these|both)\b", re.IGNORECASE),
    "zh": re.compile(r"它们|这些|那些"),
}
_ONE: Final[Mapping[Language, re.Pattern[str]]] = {
    "en": re.compile(r"\b(?:it|its|that|this)\b", re.IGNORECASE),
    "zh": re.compile(r"它(?!们)|这个|那个|该"),
}


@dataclass(frozen=True)
class Worded:
    """One query in words."""

    query: Query
    type: Implicitness | None
    antecedents: tuple[Antecedent, ...]
    shapes: tuple[str, ...]
    """Ids of the surface shapes, English first: "lab/later/en/3"."""


@dataclass(frozen=True)
class _Pair:
    """Shapes of both languages that say the same, filled."""

    shapes: Mapping[Language, Shape]
    words: Mapping[Language, tuple[str, str]]
    type: Implicitness | None
    antecedents: tuple[Antecedent, ...] = ()
    added: frozenset[str] = frozenset()

    def worded(self) -> Worded:
        """Return it as the session stores it."""
        (en, zh) = (Wording(explicit=self.words[one][0], implicit=self.words[one][1]) for one in LANGUAGES)
        ids = tuple(self.shapes[one].id for one in LANGUAGES)
        return Worded(Query(en=en, zh=zh), self.type, self.antecedents, ids)


def word_session(
    moves: Sequence[Move],
    case: Case,
    split: str,
    used: Mapping[str, int],
    stream: Stream,
    mix: Mapping[str, int] = EVEN,
) -> tuple[Worded, ...] | None:
    """Word the four queries of a session.

    Args:
        moves: In turn order.
        case: The patient; the recorded sex gives the pronouns.
        split: Decides which shapes may be used: `train`, or any other.
        used: How often each type ("NA", "PE", "AE", `EXPLICIT`) and each shape was used so far; read only.
        stream: Picks shapes.
        mix: Weight of each type; a type is wanted that is furthest behind its share. `EXPLICIT` in it wants turns that
            leave nothing out.

    Returns:
        The wordings, None where the patient's sex is unknown or a turn has no shape that keeps the limits.
    """
    if pronouns(case.view.sex, "en") is None:
        return None
    discourse, done, mine = Discourse(), list[Worded](), Counter[str](used)
    for number, asked in enumerate(moves):
        move = _with_drug(asked, moves[1:], case) if number == 0 and _may_name(used, stream) else asked
        writer = _Writer(move, case.view.sex, split, stream, mine, discourse)
        pair = writer.opening() if number == 0 else writer.later(_wanted(number, move, mine, mix))
        if pair is None:
            return None
        discourse.hear(spoken(move, pair.shapes, pair.added))
        done.append(pair.worded())
        mine.update(done[-1].shapes)
        if number:
            mine[pair.type or EXPLICIT] += 1
    return tuple(done)


def _with_drug(move: Move, later: Sequence[Move], case: Case) -> Move:
    """Return an opening that may also name a drug of later turns which belongs to what it asks ("On warfarin. …").

    A drug belongs to a lab or vital sign that it is monitored by or moves, and to other openings where the session's
    advice is about it.
    """
    if "drug" in move.slots:
        return move
    decided = {one.decision.order.drug for one in later if one.decision is not None and one.decision.order is not None}
    measured = {one.id for one in move.slots.values() if one.kind in {"lab", "vital"}}
    drugs = Counter(
        drug
        for one in later
        if (drug := one.slots.get("drug")) is not None
        and drug.id in case.view.orders
        and (_moved_by(drug.id) & measured if measured else drug.id in decided)
    )
    if not drugs:
        return move
    first = later[0].slots.get("drug")  # the turn that comes next has no other query to fall back on
    drug = max(drugs, key=lambda one: (drugs[one] + (one == first), one == first, one.key))
    return replace(move, slots={**move.slots, "drug": drug})


def _may_name(used: Mapping[str, int], stream: Stream) -> bool:
    """Tell whether an opening may name a drug beside what it asks: few of a set do."""
    named, openings = 0, 0
    for name, count in used.items():
        kind, _, place = name.partition("/first/en/")
        if place:
            openings += count
            shape = load_phrases("en")[kind].first[int(place)]
            named += count if "drug" in shape.slots and "drug" not in kind_of(kind).needs else 0
    return stream.chance(2, 3) and _NAMES_DRUG * (named + 1) <= openings + _NAMES_DRUG


def _moved_by(drug: str) -> frozenset[str]:
    """Return the labs and vital signs that a drug is monitored by or moves."""
    profile = knowledge.drug_profiles().get(drug)
    effects = () if profile is None else profile.effects
    return frozenset((*monitored_by(drug), *(effect.lab for effect in effects)))


def _wanted(number: int, move: Move, used: Mapping[str, int], mix: Mapping[str, int]) -> list[Implicitness | None]:
    """Return the types to try, the one furthest behind its share first, none at all last.

    The spec's fallback is PE; where PE is ahead of its share already, another type that is valid serves the mix better.
    """
    allowed: list[Implicitness] = [one for one in TYPES if one != "AE" or (number >= 2 and move.task != "IL")]
    order: list[Implicitness | None] = [*allowed]
    if EXPLICIT in mix:
        order.append(None)
    order.sort(key=lambda one: (1 + used.get(one or EXPLICIT, 0)) * 1_000_000 // mix[one or EXPLICIT])
    if order[0] is None:
        return [None]
    return [*(one for one in order if one is not None and not _ahead(one, used, mix)), None]


def _ahead(type_: Implicitness, used: Mapping[str, int], mix: Mapping[str, int]) -> bool:
    """Tell whether a type has more than its share, while there is room for turns that leave nothing out."""
    implicit = sum(used.get(one, 0) for one in TYPES)
    plain = used.get(EXPLICIT, 0)
    if implicit < _ENOUGH or plain * 100 >= _MOST_PLAIN * (implicit + plain):
        return False
    share = sum(mix[one] for one in TYPES)
    return used.get(type_, 0) * share * 100 > (100 + _SLACK) * mix[type_] * implicit


class _Writer:
    """Words one turn."""

    def __init__(
        self, move: Move, sex: str, split: str, stream: Stream, used: Mapping[str, int], discourse: Discourse
    ) -> None:
        self._move = move
        self._split = split
        self._stream = stream
        self._used = used
        self._discourse = discourse
        self._needs = frozenset(kind_of(move.kind).needs)
        self._rests: About | None = None
        self._values = {language: self._filling(sex, language) for language in LANGUAGES}

    def _filling(self, sex: str, language: Language) -> dict[str, str]:
        values = dict(pronouns(sex, language) or {})
        for slot, names in [(slot, one.names) for slot, one in self._move.slots.items()] + list(
            self._move.words.items()
        ):
            word = names.zh if language == "zh" else names.en
            if word:
                values[slot] = word
        return values

    @property
    def _about(self) -> About:
        if self._rests is None:
            self._rests = about(self._move.rubric)
        return self._rests

    # -- openings ------------------------------------------------------------------------------------------------------

    def opening(self) -> _Pair | None:
        """Return the words of turn 0, which have one phrasing."""
        found = {language: self._fitting(language, first=True) for language in LANGUAGES}
        for fitting in found.values():
            fitting.sort(key=lambda shape: -len(shape.slots))
        chinese: dict[frozenset[str], list[Shape]] = {}
        for shape in found["zh"]:
            chinese.setdefault(shape.slots, []).append(shape)
        # what one language names and the other does not is no antecedent, so equals are preferred
        for shape in found["en"]:
            for other in chinese.get(shape.slots, ()):
                if (pair := self._filled({"en": shape, "zh": other}, None)) is not None:
                    return pair
        for shape in found["en"]:
            for other in found["zh"]:
                if (pair := self._filled({"en": shape, "zh": other}, None)) is not None:
                    return pair
        return None

    def _fitting(self, language: Language, *, first: bool) -> list[Shape]:
        """Return the shapes whose slots this turn fills, in the order to try them: seeded, the least used first."""
        values = self._values[language]
        fitting = [
            shape
            for shape in shapes(self._move.kind, self._split, language, first=first)
            if all(slot in values for slot in shape.slots | shape.words)
            and (self._needs <= shape.slots or shape.type == "AE")
        ]
        fitting = self._stream.shuffled(fitting)
        fitting.sort(key=lambda shape: self._used.get(shape.id, 0))
        return fitting

    # -- later turns ---------------------------------------------------------------------------------------------------

    def later(self, types: Sequence[Implicitness | None]) -> _Pair | None:
        """Return the words of a later turn, in the first of the types that is valid here."""
        found = {language: self._fitting(language, first=False) for language in LANGUAGES}
        for type_ in types:
            for pair in self._plain(found) if type_ is None else self._of_type(type_, found):
                return pair
        return None

    def _plain(self, found: Mapping[Language, list[Shape]]) -> Iterator[_Pair]:
        """Yield the explicit forms alone, of shapes that point back to nothing."""
        anaphors = load_kinds().anaphors
        whole = {
            language: [
                one
                for one in found[language]
                if one.type != "AE"
                and one.drops != "advice"
                and not one.carries_out
                and not anaphors.spoken(bare(one.explicit), language)
            ]
            for language in LANGUAGES
        }
        for shape in whole["en"]:
            for other in whole["zh"]:
                if (pair := self._filled({"en": _whole(shape), "zh": _whole(other)}, None)) is not None:
                    yield pair

    def _of_type(self, type_: Implicitness, found: Mapping[Language, list[Shape]]) -> Iterator[_Pair]:
        chinese: dict[tuple[str, frozenset[str]], list[Shape]] = {}
        for shape in found["zh"]:
            if shape.type == type_ and self._agrees(shape, "zh"):
                chinese.setdefault((shape.drops, shape.left_out), []).append(shape)
        for shape in found["en"]:
            if shape.type != type_ or not self._agrees(shape, "en"):
                continue
            for other in chinese.get((shape.drops, shape.left_out), ())[:_MOST_TRIES]:
                pair = self._valid({"en": shape, "zh": other})
                if pair is not None:
                    yield pair

    def _agrees(self, shape: Shape, language: Language) -> bool:
        """Tell whether the pronouns of a shape fit the number of what it leaves out."""
        numbers = {self._move.slots[slot].number for slot in shape.left_out}
        if "many" in numbers and _ONE[language].search(shape.implicit):
            return False
        return not ("one" in numbers and _MANY[language].search(shape.implicit))

    def _valid(self, pair: Mapping[Language, Shape]) -> _Pair | None:
        """Return a pair with its antecedents, None where what it leaves out could not be recovered."""
        shape = pair["en"]
        if shape.type == "AE":
            return self._picture(pair)
        antecedents = self._antecedents(pair)
        return None if antecedents is None else self._filled(pair, shape.type, antecedents)

    def _antecedents(self, pair: Mapping[Language, Shape]) -> tuple[Antecedent, ...] | None:
        shape = pair["en"]
        left_out = [self._move.slots[slot] for slot in sorted(shape.left_out)]
        if shape.carries_out:
            return self._discourse.plan(self._move, left_out)
        found: list[Antecedent | None] = []
        if shape.drops == "ask":
            kept = frozenset.intersection(*(kept_in(one, language) for language, one in pair.items()))
            whole = any(says_whole(one, language) for language, one in pair.items())
            found.extend(self._discourse.question(self._move, kept, whole) or (None,))
        elif shape.drops == "advice":
            found.append(self._discourse.advice(self._move))
        for entity in left_out:
            selected = all(_selects(one, language, entity) for language, one in pair.items())
            found.append(self._discourse.entity(entity, selected=selected))
        antecedents = tuple(one for one in found if one is not None)
        resting = self._about.of(left_out)
        grounded = shape.type != "NA" or any(one.entity in resting for one in antecedents)
        return antecedents if antecedents and len(antecedents) == len(found) and grounded else None

    def _picture(self, pair: Mapping[Language, Shape]) -> _Pair | None:
        hidden = frozenset(
            self._move.slots[slot].key
            for shape in pair.values()
            for slot in self._needs - shape.slots
            if slot in self._move.slots
        )
        known = {entity.key: entity for said in self._discourse.turns for entity in said.move.slots.values()}
        # a plain look-up turns on nothing that was asked before
        rests = self._about.of(known.values())
        bearing = self._move.bears if self._move.task == "DG" else self._move.bears | rests
        said = frozenset(self._move.slots[slot].key for shape in pair.values() for slot in shape.slots)
        for picture in self._discourse.pictures(hidden, bearing, said, rests):
            topics = {language: self._topics(picture, language) for language in LANGUAGES}
            added = frozenset(one.entity.key for one in picture if one.entity is not None)
            antecedents = tuple(one.antecedent for one in picture)
            filled = self._filled(pair, "AE", antecedents, topics=topics, added=added)
            if filled is not None:
                return filled
        return None

    def _topics(self, picture: Sequence[Grounded], language: Language) -> str:
        said = []
        for one in picture:
            values = dict(self._values[language])
            move = self._discourse.turns[one.turn].move
            for slot, entity in move.slots.items():
                values[slot] = (entity.names.zh or entity.names.en) if language == "zh" else entity.names.en
            said.append(fill(one.topic.words(language), values, language, sentence=False))
        if language == "zh":
            return "、".join(said[:-1]) + "和" + said[-1]
        return ", ".join(said[:-1]) + " and " + said[-1]

    # -- filling -------------------------------------------------------------------------------------------------------

    def _filled(
        self,
        pair: Mapping[Language, Shape],
        type_: Implicitness | None,
        antecedents: tuple[Antecedent, ...] = (),
        topics: Mapping[Language, str] | None = None,
        added: frozenset[str] = frozenset(),
    ) -> _Pair | None:
        words: dict[Language, tuple[str, str]] = {}
        for language, shape in pair.items():
            values = self._values[language] | ({"topics": topics[language]} if topics is not None else {})
            explicit, implicit = (fill(one, values, language) for one in (shape.explicit, shape.implicit))
            first = not self._discourse.turns
            for form in {explicit, implicit}:
                if faults(form, task=self._move.task, first=first, language=language):
                    return None
            words[language] = (explicit, implicit)
        return _Pair(pair, words, type_, antecedents, added)


@lru_cache(maxsize=8192)
def _whole(shape: Shape) -> Shape:
    """Return a shape whose two forms are both the explicit one."""
    return Shape(
        id=shape.id,
        kind=shape.kind,
        type=None,
        drops="",
        explicit=shape.explicit,
        implicit=shape.explicit,
        place=shape.place,
        slots=shape.slots,
        left_out=frozenset(),
        words=shape.words,
    )


def _selects(shape: Shape, language: Language, entity: Entity) -> bool:
    """Tell whether a shape's implicit form says something that only goes with things of an entity's group."""
    return _selected(shape.implicit, language, load_kinds().group(entity.kind))


@lru_cache(maxsize=8192)
def _selected(template: str, language: Language, group: str) -> bool:
    words = load_kinds().selects.get(group)
    return words is None or words.spoken(bare(template), language)


__all__ = ["EVEN", "EXPLICIT", "PAPER", "TYPES", "Worded", "word_session"]

"""The words of one turn: the shapes that fit it, and what each of them leaves out, in both languages alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from wardround.patients import Stream
from wardround.sessions.moves.move import WHOLE, Entity, Move
from wardround.sessions.session import Antecedent, Implicitness, Language, Query, Wording

from .discourse import Discourse, Grounded, kept_in, kind_of, says_whole
from .distant import by_noun
from .filling import fill, pronouns
from .kinds import load_kinds
from .limits import faults, stutters
from .phrases import LANGUAGES, Shape, bare, shapes
from .resting import About, about

_MOST_TRIES: Final = 24
_MANY: Final[Mapping[Language, re.Pattern[str]]] = {
    "en": re.compile(r"\b(?:those|these|both)\b", re.IGNORECASE),
    "zh": re.compile(r"它们|这些|那些"),
}
_ONE: Final[Mapping[Language, re.Pattern[str]]] = {
    "en": re.compile(r"\b(?:it|its|that|this)\b", re.IGNORECASE),
    "zh": re.compile(r"它(?!们)|这个|那个|该"),
}
_THIS: Final[Mapping[Language, re.Pattern[str]]] = {
    "en": re.compile(r"\b(?:this|that) \{lab\}"),
    "zh": re.compile(r"[这那]个?\{lab\}|\{lab\}(?:和体温)?这样"),
}
"""Words that speak of a value as told."""


@dataclass(frozen=True)
class Worded:
    """One query in words."""

    query: Query
    type: Implicitness | None
    antecedents: tuple[Antecedent, ...]
    shapes: tuple[str, ...]
    """Ids of the surface shapes, English first: "lab/later/en/3"."""


@dataclass(frozen=True)
class Pair:
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


class Writer:
    """Words one turn; what earlier ones said is given with every try, so that several can be weighed."""

    def __init__(
        self, move: Move, sex: str, split: str, stream: Stream, used: Mapping[str, int], *, first: bool
    ) -> None:
        """Begin.

        Args:
            move: What is asked.
            sex: Recorded; gives the pronouns.
            split: Decides which shapes may be used.
            stream: Shuffles them.
            used: How often each shape was used; the least used come first.
            first: It opens the session.
        """
        self.move = self._move = move
        self._split = split
        self._stream = stream
        self._used = used
        # two labs that are to be weighed against each other are both named
        self._needs = frozenset(kind_of(move.kind).needs) | ({"lab2"} & move.slots.keys())
        self._rests: About | None = None
        self._said: dict[tuple[Language, str, str, str | None], tuple[str, str] | None] = {}
        self._values = {language: self._filling(sex, language) for language in LANGUAGES}
        self._found = {language: self._fitting(language, first=first) for language in LANGUAGES}

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

    def opening(self) -> Pair | None:
        """Return the words of turn 0, which have one phrasing."""
        found = self._found
        for fitting in found.values():
            fitting.sort(key=lambda shape: -len(shape.slots))
        chinese: dict[frozenset[str], list[Shape]] = {}
        for shape in found["zh"]:
            chinese.setdefault(shape.slots, []).append(shape)
        # what one language names and the other does not is no antecedent, so equals are preferred
        for shape in found["en"]:
            for other in chinese.get(shape.slots, ()):
                if (pair := self._filled({"en": shape, "zh": other}, None, first=True)) is not None:
                    return pair
        for shape in found["en"]:
            for other in found["zh"]:
                if (pair := self._filled({"en": shape, "zh": other}, None, first=True)) is not None:
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

    def later(
        self, type_: Implicitness | None, discourse: Discourse, said: frozenset[str] = frozenset()
    ) -> Iterator[Pair]:
        """Yield words of a later turn of a type, one a way of leaving things out.

        Args:
            type_: None for words that leave nothing out.
            discourse: What was said before.
            said: Shapes that the session has used already.
        """
        ways: set[str] = set()
        for pair in self._plain() if type_ is None else self._of_type(type_, discourse):
            way = pair.shapes["en"].drops
            if self._presumes(pair, discourse):
                continue
            if way not in ways and not said.intersection(one.id for one in pair.shapes.values()):
                ways.add(way)
                yield pair
                if type_ is None:
                    return

    def _presumes(self, pair: Pair, discourse: Discourse) -> bool:
        """Tell whether words speak of a value that nobody has told yet ("with this {lab}")."""
        lab = self._move.slots.get("lab")
        if lab is None or not any(_THIS[language].search(shape.explicit) or _THIS[language].search(shape.implicit)
                                  for language, shape in pair.shapes.items()):  # fmt: skip
            return False
        earlier = [said.move for said in discourse.turns]
        told = {one for move in earlier for one in move.labs}
        told |= {move.decision.reading.lab for move in earlier if move.task == "CR" and move.decision is not None
                 and move.decision.reading is not None}  # fmt: skip
        return lab.id not in told

    def _plain(self) -> Iterator[Pair]:
        """Yield the explicit forms alone, of shapes that point back to nothing."""
        anaphors = load_kinds().anaphors
        complete = {
            language: [
                one
                for one in self._found[language]
                if one.type != "AE"
                and one.drops != "advice"
                and not one.carries_out
                and not anaphors.spoken(bare(one.explicit), language)
            ]
            for language in LANGUAGES
        }
        for shape in complete["en"]:
            for other in complete["zh"]:
                pair = self._filled({"en": whole(shape), "zh": whole(other)}, None, first=False)
                if pair is not None:
                    yield pair

    def _of_type(self, type_: Implicitness, discourse: Discourse) -> Iterator[Pair]:
        found = self._found
        chinese: dict[tuple[str, frozenset[str]], list[Shape]] = {}
        for shape in found["zh"]:
            if shape.type == type_ and self._agrees(shape, "zh"):
                chinese.setdefault((shape.drops, shape.left_out), []).append(shape)
        for shape in found["en"]:
            if shape.type != type_ or not self._agrees(shape, "en"):
                continue
            for other in chinese.get((shape.drops, shape.left_out), ())[:_MOST_TRIES]:
                pair = self._valid({"en": shape, "zh": other}, discourse)
                if pair is not None:
                    yield pair

    def _agrees(self, shape: Shape, language: Language) -> bool:
        """Tell whether the pronouns of a shape fit the number of what it leaves out."""
        numbers = {self._move.slots[slot].number for slot in shape.left_out}
        if "many" in numbers and _ONE[language].search(shape.implicit):
            return False
        return not ("one" in numbers and _MANY[language].search(shape.implicit))

    def _valid(self, pair: Mapping[Language, Shape], discourse: Discourse) -> Pair | None:
        """Return a pair with its antecedents, None where what it leaves out could not be recovered."""
        shape = pair["en"]
        if shape.type == "AE":
            return self._picture(pair, discourse)
        antecedents = self._antecedents(pair, discourse)
        if antecedents is None:
            return None
        if shape.type == "NA" and shape.drops == "drug" and antecedents[-1].turn < len(discourse.turns) - 1:
            named = {language: by_noun(one, language) for language, one in pair.items()}
            said = self._filled(named, shape.type, antecedents, first=False)
            if said is not None:  # else too long, and "it" is understood as well
                return said
        return self._filled(pair, shape.type, antecedents, first=False)

    def _antecedents(self, pair: Mapping[Language, Shape], discourse: Discourse) -> tuple[Antecedent, ...] | None:
        shape = pair["en"]
        left_out = [self._move.slots[slot] for slot in sorted(shape.left_out)]
        if shape.carries_out:
            return discourse.plan(self._move, left_out)
        found: list[Antecedent | None] = []
        if shape.drops == "ask":
            kept = frozenset.intersection(*(kept_in(one, language) for language, one in pair.items()))
            whole = any(says_whole(one, language) for language, one in pair.items())
            found.extend(discourse.question(self._move, kept, whole) or (None,))
        elif shape.drops == "advice":
            found.append(discourse.advice(self._move))
        for entity in left_out:
            selected = all(_selects(one, language, entity) for language, one in pair.items())
            found.append(discourse.entity(entity, selected=selected))
        antecedents = tuple(one for one in found if one is not None)
        resting = self._about.of(left_out)
        grounded = shape.type != "NA" or any(one.entity in resting for one in antecedents)
        return antecedents if antecedents and len(antecedents) == len(found) and grounded else None

    def _picture(self, pair: Mapping[Language, Shape], discourse: Discourse) -> Pair | None:
        hidden = frozenset(
            self._move.slots[slot].key
            for shape in pair.values()
            for slot in self._needs - (shape.slots - shape.left_out)
            if slot in self._move.slots
        )
        if self._move.task == "DG" and self._move.score is None:
            return None  # nobody says "given all this" and then has something looked up
        known = {entity.key: entity for said in discourse.turns for entity in said.move.slots.values()}
        # a plain look-up turns on nothing that was asked before
        rests = self._about.of(known.values())
        bearing = self._move.bears if self._move.task == "DG" else self._move.bears | rests
        said = frozenset(self._move.slots[slot].key for shape in pair.values() for slot in shape.slots)
        own = frozenset(one.key for one in self._move.slots.values()) & said
        for picture in discourse.pictures(hidden, bearing, said, rests):
            if self._move.task == "CR" and any(self._twice(one, own) for one in picture):
                continue
            topics = {language: self._topics(picture, discourse, language) for language in LANGUAGES}
            added = frozenset(one.entity.key for one in picture if one.entity is not None)
            antecedents = tuple(one.antecedent for one in picture)
            filled = self._filled(pair, "AE", antecedents, topics=topics, added=added, first=False)
            if filled is not None:
                return filled
        return None

    def _twice(self, one: Grounded, own: frozenset[str]) -> bool:
        """Tell whether a topic would name a result that the question names itself, or what it asks of the same drug."""
        entity = one.entity
        if entity is None or entity.key not in own:
            return False
        return load_kinds().group(entity.kind) != "drug" or one.topic.event in kind_of(self._move.kind).asks

    def _topics(self, picture: Sequence[Grounded], discourse: Discourse, language: Language) -> str:
        said = []
        named: set[str] = set()
        for one in picture:
            values = dict(self._values[language])
            move = discourse.turns[one.turn].move
            for slot, entity in move.slots.items():
                values[slot] = (entity.names.zh or entity.names.en) if language == "zh" else entity.names.en
            again = one.entity is not None and one.entity.key in named
            said.append(fill(one.topic.words(language, again=again), values, language, sentence=False))
            if one.entity is not None:
                named.add(one.entity.key)
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
        *,
        first: bool,
    ) -> Pair | None:
        words: dict[Language, tuple[str, str]] = {}
        for language, shape in pair.items():
            said = self._words(shape, language, None if topics is None else topics[language], first=first)
            if said is None:
                return None
            words[language] = said
        return Pair(pair, words, type_, antecedents, added)

    def _whole(self, language: Language) -> dict[str, str]:
        """Return what a step is called where its thing is not named beside it: "an early repeat" of what."""
        names = self._move.words.get(WHOLE)
        return {} if names is None else {"step": (names.zh or names.en) if language == "zh" else names.en}

    def _words(self, shape: Shape, language: Language, topics: str | None, *, first: bool) -> tuple[str, str] | None:
        """Return both forms of a shape in words, None where one breaks a limit; filled once for all dialogues."""
        key = (language, shape.explicit, shape.implicit, topics)
        if key not in self._said:
            values = self._values[language] | ({} if topics is None else {"topics": topics, **self._whole(language)})
            explicit, implicit = (fill(one, values, language) for one in (shape.explicit, shape.implicit))
            broken = any(
                stutters(form) or faults(form, task=self._move.task, first=first, language=language)
                for form in {explicit, implicit}
            )
            self._said[key] = None if broken else (explicit, implicit)
        return self._said[key]


@lru_cache(maxsize=8192)
def whole(shape: Shape) -> Shape:
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

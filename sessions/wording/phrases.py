"""The phrase files (`sessions/phrases/<module>.<language>.json`): loaded, checked, and dealt to the splits.

A shape is one way to ask, in both phrasings of one language. What the implicit form leaves out is what its slots lack
of the explicit one's; the file says which of the three types that makes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

import orjson

from wardround.patients import DataError
from wardround.sessions.session import Implicitness, Language

LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")
PRONOUNS: Final = frozenset({"they", "them", "their"})
TOPICS: Final = "topics"
ENTITY_SLOTS: Final = frozenset(
    {
        *("lab", "lab2", "lab3", "vital", "drug", "drug2", "problem", "study", "culture", "score", "symptom"),
        *("step", "service", "plan", "note"),
    }
)
"""Slots that hold something which a later query may refer back to."""
WORD_SLOTS: Final = frozenset({"act", "test", "dose", "dose2", "route", "frequency", "bound", "priority", "risk"})
"""Slots that hold other words; no dialogue names them earlier, so no implicit form may leave them out."""
DROPS: Final[Mapping[Implicitness, frozenset[str]]] = {
    "NA": ENTITY_SLOTS,
    "PE": ENTITY_SLOTS | {"ask", "advice", "plan"},
    "AE": frozenset({"all"}),
}
FEWEST_FIRST: Final = 10
FEWEST_LATER: Final = 15
FEWEST_OF_A_TYPE: Final = 5
_SLOT: Final = re.compile(r"\{([A-Za-z]+[0-9]?)\}")
_PLACES: Final[Mapping[str, frozenset[int]]] = {"train": frozenset({2, 3, 4}), "": frozenset({0, 1, 4})}
"""Split → places, modulo five, of the shapes it may use; all splits but `train` share theirs."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to ask in one language."""

    id: str
    """Kind, place and language, as in "lab/later/en/3"."""
    kind: str
    type: Implicitness | None
    """None for openings, which have one wording."""
    drops: str
    explicit: str
    implicit: str
    place: int
    """Among the shapes of its kind, type and drops."""
    slots: frozenset[str]
    """Entity slots that the explicit form names."""
    left_out: frozenset[str]
    """Entity slots that the explicit form names and the implicit one does not."""
    words: frozenset[str]
    """Other words that the explicit form holds."""

    @property
    def carries_out(self) -> bool:
        """Whether it drops a plan that was advised, rather than a plan of the chart."""
        return self.drops == "plan" and "plan" not in self.slots


@dataclass(frozen=True)
class KindPhrases:
    """All shapes of a kind of turn in one language."""

    first: tuple[Shape, ...]
    later: tuple[Shape, ...]

    def of(self, split: str, *, first: bool) -> tuple[Shape, ...]:
        """Return the shapes that a split may use."""
        places = _PLACES.get(split, _PLACES[""])
        return tuple(shape for shape in (self.first if first else self.later) if shape.place % 5 in places)


def slots_in(text: str) -> frozenset[str]:
    """Return the slots of a template, in lower case ("{Lab}" is `lab`)."""
    return frozenset(name[0].lower() + name[1:] for name in _SLOT.findall(text))


def bare(text: str) -> str:
    """Return a template with its slots taken out: the words that every query of the shape holds."""
    return _SLOT.sub(" , ", text)


@cache
def phrase_modules() -> tuple[str, ...]:
    """Return the names of the phrase files, sorted: `labs` for `labs.en.json` and `labs.zh.json`."""
    names = (entry.name for entry in files("wardround.sessions.phrases").iterdir() if entry.name.endswith(".json"))
    return tuple(sorted({name.split(".")[0] for name in names}))


@cache
def load_phrases(language: Language) -> Mapping[str, KindPhrases]:
    """Return the shapes of every kind of turn in a language.

    A kind may stand in several files ("openings" has more of several kinds); their entries count as one list.

    Raises:
        DataError: A file is missing or faulty; says file, kind, place and remedy.
    """
    found: dict[str, dict[str, list[tuple[str, Any]]]] = {}
    for module in phrase_modules():
        file = f"{module}.{language}.json"
        for kind, entry in _read(file).items():
            if not isinstance(entry, dict) or set(entry) - {"first", "later", "note"}:
                raise DataError(f"{file}: `{kind}`: expected `first` and `later` only")
            lists = found.setdefault(kind, {"first": [], "later": []})
            for name, rows in lists.items():
                rows.extend((file, row) for row in entry.get(name, ()))
    return {kind: _kind(kind, lists["first"], lists["later"], language) for kind, lists in found.items()}


@lru_cache(maxsize=1024)
def shapes(kind: str, split: str, language: Language, *, first: bool) -> tuple[Shape, ...]:
    """Return the shapes that a split may use for a kind of turn; empty where the kind has none."""
    phrases = load_phrases(language).get(kind)
    return () if phrases is None else phrases.of(split, first=first)


def _read(file: str) -> dict[str, Any]:
    try:
        document = orjson.loads(files("wardround.sessions.phrases").joinpath(file).read_bytes())
    except FileNotFoundError:
        raise DataError(f"{file} is missing: every phrase file stands in both languages") from None
    except orjson.JSONDecodeError as error:
        raise DataError(f"{file}: {error}") from error
    if not isinstance(document, dict) or document.get("format_version") != 1 or not isinstance(document["kinds"], dict):
        raise DataError(f'{file}: expected {{"format_version": 1, "kinds": {{…}}}}')
    kinds: dict[str, Any] = document["kinds"]
    return kinds


def _kind(
    kind: str, first: Sequence[tuple[str, Any]], later: Sequence[tuple[str, Any]], language: Language
) -> KindPhrases:
    openings = tuple(
        _shape(file, f"{kind}/first/{language}/{place}", kind, (None, "", words, words), place)
        for place, (file, words) in enumerate(first)
    )
    seen: dict[tuple[str, str], int] = {}
    found = []
    for number, (file, row) in enumerate(later):
        if not isinstance(row, list) or len(row) != 4:
            raise DataError(f"{file}: `{kind}`, entry {number}: expected [TYPE, DROPS, EXPLICIT, IMPLICIT]")
        place = seen[row[0], row[1]] = seen.get((row[0], row[1]), -1) + 1
        found.append(_shape(file, f"{kind}/later/{language}/{number}", kind, tuple(row), place))
    return KindPhrases(openings, tuple(found))


def _shape(file: str, name: str, kind: str, row: tuple[Any, ...], place: int) -> Shape:
    type_, drops, explicit, implicit = row
    if not all(isinstance(one, str) and one.strip() for one in (explicit, implicit)):
        raise DataError(f"{file}: `{name}`: wordings must be text")
    if type_ is not None and drops not in DROPS.get(type_, ()):
        raise DataError(f"{file}: `{name}`: no shape of type `{type_}` drops `{drops}`")
    known = ENTITY_SLOTS | WORD_SLOTS | PRONOUNS | {TOPICS}
    spoken, kept = slots_in(explicit), slots_in(implicit)
    for unknown in sorted((spoken | kept) - known):
        raise DataError(f"{file}: `{name}`: no slot `{unknown}`; there are {', '.join(sorted(known))}")
    return Shape(
        id=name,
        kind=kind,
        type=type_,
        drops=drops,
        explicit=explicit,
        implicit=implicit,
        place=place,
        slots=spoken & ENTITY_SLOTS,
        left_out=(spoken - kept) & ENTITY_SLOTS,
        words=spoken & WORD_SLOTS,
    )


# -- what a shape must hold --------------------------------------------------------------------------------------------


def shape_faults(shape: Shape) -> Iterator[str]:
    """Yield what is wrong with a shape by itself, as far as its slots tell."""
    spoken, kept = slots_in(shape.explicit), slots_in(shape.implicit)
    if any(char.isdigit() for char in bare(shape.explicit + shape.implicit)):
        yield "holds a digit"
    if shape.type is None:
        if TOPICS in spoken:
            yield "an opening refers to nothing earlier"
        return
    if shape.explicit == shape.implicit:
        yield "both forms are the same"
    yield from _dropped(shape, spoken, kept)
    if (spoken & WORD_SLOTS) != (kept & WORD_SLOTS):
        yield f"the forms differ in {', '.join(sorted((spoken ^ kept) & WORD_SLOTS))}, which nothing earlier names"
    if (kept - spoken) & ENTITY_SLOTS:
        yield f"the implicit form names {', '.join(sorted((kept - spoken) & ENTITY_SLOTS))}, the explicit one does not"


def _dropped(shape: Shape, spoken: frozenset[str], kept: frozenset[str]) -> Iterator[str]:
    if (TOPICS in spoken) != (shape.type == "AE") or TOPICS in kept:
        yield "`{topics}` belongs into the explicit form of AE, and nowhere else"
    if shape.drops in ENTITY_SLOTS and not shape.carries_out:
        if shape.drops not in shape.left_out:
            yield f"drops `{shape.drops}`: the explicit form must name it and the implicit one must not"
        if shape.left_out - {shape.drops}:
            yield f"leaves out {', '.join(sorted(shape.left_out - {shape.drops}))} beside `{shape.drops}`"
    if shape.drops in {"ask", "advice"} and shape.left_out:
        yield f"drops `{shape.drops}`, but leaves out {', '.join(sorted(shape.left_out))} too"


def cells(kind: str, language: Language) -> frozenset[tuple[Implicitness | None, str]]:
    """Return the (type, drops) pairs of a kind."""
    phrases = load_phrases(language).get(kind)
    return frozenset() if phrases is None else frozenset((shape.type, shape.drops) for shape in phrases.later)


def count_faults(kind: str, language: Language, *, opens: bool) -> Iterator[str]:
    """Yield where a kind has too few shapes.

    Args:
        kind: Of a turn.
        language: Of the phrases.
        opens: Whether the kind may open a session.
    """
    phrases = load_phrases(language)[kind]
    if opens and len(phrases.first) < FEWEST_FIRST:
        yield f"{len(phrases.first)} openings, at least {FEWEST_FIRST}"
    if phrases.later and len(phrases.later) < FEWEST_LATER:
        yield f"{len(phrases.later)} later shapes, at least {FEWEST_LATER}"
    for type_ in ("NA", "PE", "AE"):
        count = sum(shape.type == type_ for shape in phrases.later)
        if 0 < count < FEWEST_OF_A_TYPE:
            yield f"{count} shapes of type {type_}, none or at least {FEWEST_OF_A_TYPE}"
    texts = [shape.implicit for shape in phrases.later]
    for text in sorted({one for one in texts if texts.count(one) > 1}):
        yield f"the implicit form `{text}` stands twice"

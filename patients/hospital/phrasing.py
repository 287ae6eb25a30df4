"""The phrase book of notes and reports: sentences with places and choices, filled from facts.

A phrase of `data/notes/*.json` is text with places `{name}` and choices `[this|that|]` that nest; a key may be told
once for every register (`hpi.opener@terse`). What a phrase says is decided by whoever fills its places; the book only
varies the wording. Within one note no wording of a key comes twice before all have come.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

import orjson

from wardround.patients.errors import DataError
from wardround.patients.rng import Stream

from .record import Sentence

Part: TypeAlias = "str | Place | Choice"
Phrase: TypeAlias = "tuple[Part, ...]"
_T = TypeVar("_T")
_TOKEN = re.compile(r"[\[\]|]|\{[a-z_A-Z0-9]+\}|[^\[\]|{}]+")
_SPACES = re.compile(r" {2,}")
_BEFORE = re.compile(r" +(?=[,.;:!?)])")
_ONE = re.compile(r"\b(the (?:last |past |preceding )?)1 (hour|day|week|month|year)\b")
"""Nobody writes "over the last 1 week"."""
_STOPS = re.compile(r"([.;,:])(?:\s*[.;,])+")
_END = ".!?:"


class Place(str):
    """The name of a place of a phrase."""

    __slots__ = ()


class Choice(tuple[Phrase, ...]):
    """Alternatives of which one is drawn."""

    __slots__ = ()


def compile_phrase(text: str) -> Phrase:
    """Read a phrase.

    Raises:
        DataError: brackets that do not match, or braces that hold no name.
    """
    marks = _TOKEN.findall(text)
    if "".join(marks) != text:
        raise DataError(f"notes: `{text}`: places are written `{{name}}`; braces stand for nothing else")
    phrase, at = _alternatives(marks, 0, text)
    if at != len(marks) or len(phrase) != 1:
        raise DataError(f"notes: `{text}`: brackets do not match")
    return phrase[0]


def _alternatives(marks: Sequence[str], at: int, text: str) -> tuple[Choice, int]:
    options: list[Phrase] = []
    parts: list[Part] = []
    while at < len(marks):
        mark = marks[at]
        if mark == "[":
            inner, at = _alternatives(marks, at + 1, text)
            if at >= len(marks) or marks[at] != "]":
                raise DataError(f"notes: `{text}`: a bracket is not closed")
            parts.append(inner)
        elif mark == "]":
            break
        elif mark == "|":
            options.append(tuple(parts))
            parts = []
        else:
            parts.append(Place(mark[1:-1]) if mark[0] == "{" else mark)
        at += 1
    options.append(tuple(parts))
    return Choice(options), at


@cache
def _documents() -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Return every file of `data/notes` with its name, read once."""
    folder = resources.files("wardround.patients.hospital").joinpath("data", "notes")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".json"))
    return tuple((name, orjson.loads(folder.joinpath(name).read_bytes())) for name in names)


@cache
def book() -> Mapping[str, tuple[Phrase, ...]]:
    """Return the phrases by key, from every file of `data/notes`.

    Raises:
        DataError: a file that is not as described, a key that is told twice, a phrase that cannot be read.
    """
    found: dict[str, tuple[Phrase, ...]] = {}
    for name, document in _documents():
        for entry in document.get("phrases", ()):
            key = entry["id"]
            if key in found:
                raise DataError(f"notes/{name}: `{key}` is told twice; merge the two")
            if not entry["say"]:
                raise DataError(f"notes/{name}: `{key}` says nothing; give `say` at least one phrase")
            found[key] = tuple(compile_phrase(text) for text in entry["say"])
    return MappingProxyType(found)


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    found: dict[str, Mapping[str, str]] = {}
    for name, document in _documents():
        for entry in document.get("tables", ()):
            if entry["id"] in found:
                raise DataError(f"notes/{name}: the table `{entry['id']}` is told twice; merge the two")
            found[entry["id"]] = MappingProxyType(entry["words"])
    return found


def table(name: str) -> Mapping[str, str]:
    """Return a table of words by key (`specimen`, `taken` …), from the files of `data/notes`.

    Raises:
        DataError: there is no such table, or one is told twice.
    """
    try:
        return _tables()[name]
    except KeyError:
        raise DataError(f"notes: there is no table `{name}` in data/notes") from None


def limit(name: str) -> int:
    """Return a threshold of the table `limits`.

    Raises:
        DataError: there is no such threshold.
    """
    try:
        return int(table("limits")[name])
    except KeyError:
        raise DataError(f"notes: there is no threshold `{name}` in the table `limits` of data/notes") from None


class Teller:
    """Says things in one voice for one stretch of text.

    Args:
        stream: Decides between wordings.
        register: Which telling of a key is preferred: full, terse, abbrev.
        places: What every phrase may use (pronouns, the patient's name).
    """

    __slots__ = ("_decks", "places", "register", "stream")

    def __init__(self, stream: Stream, register: str, places: Mapping[str, str]) -> None:
        self.stream = stream
        self.register = register
        self.places = dict(places)
        self._decks: dict[str, list[int]] = {}

    def words(self, key: str, **places: str) -> str:
        """Return a wording of `key` with its places filled, neither capitalised nor stopped.

        Raises:
            DataError: there is no such key, or a place is left open.
        """
        phrases = book()
        chosen = f"{key}@{self.register}"
        if chosen not in phrases:
            chosen = key
        options = phrases.get(chosen)
        if options is None:
            raise DataError(f"notes: no phrase `{key}`; add it to data/notes")
        out: list[str] = []
        self._fill(options[self._drawn(chosen, len(options))], places, out, key)
        return tidy("".join(out))

    def nth(self, key: str, place: int, **places: str) -> str:
        """Return wording `place` of `key` (counted around), for what one author always words alike."""
        options = book().get(key)
        if options is None:
            raise DataError(f"notes: no phrase `{key}`; add it to data/notes")
        out: list[str] = []
        self._fill(options[place % len(options)], places, out, key)
        return tidy("".join(out))

    def _drawn(self, key: str, count: int) -> int:
        deck = self._decks.get(key)
        if not deck:
            deck = self._decks[key] = list(range(count))
        return deck.pop(self.stream.below(len(deck)))

    def _fill(self, phrase: Phrase, places: Mapping[str, str], out: list[str], key: str) -> None:
        for part in phrase:
            if type(part) is Place:
                value = places.get(part)
                if value is None:
                    value = self.places.get(part)
                if value is None:
                    raise DataError(f"notes: `{key}` has a place `{{{part}}}` that nothing fills")
                out.append(value)
            elif type(part) is Choice:
                self._fill(part[self.stream.below(len(part))], places, out, key)
            else:
                out.append(str(part))

    def say(self, key: str, facts: Iterable[str] = (), **places: str) -> Sentence:
        """Return a sentence: capital first, stopped."""
        return Sentence(sentence(self.words(key, **places)), unique(facts))

    def line(self, key: str, facts: Iterable[str] = (), **places: str) -> Sentence:
        """Return a line of a list: capital first, no stop added."""
        return Sentence(capital(self.words(key, **places)), unique(facts))

    def pick(self, options: Sequence[_T]) -> _T:
        """Return one of `options`."""
        return options[0] if len(options) == 1 else options[self.stream.below(len(options))]

    def chance(self, percent: int) -> bool:
        """Return True in `percent` of 100 cases."""
        return self.stream.below(100) < percent

    def some(self, options: Sequence[_T], least: int, most: int) -> list[_T]:
        """Return between `least` and `most` of `options`, in their own order."""
        if len(options) <= least:
            return list(options)
        count = min(len(options), least + self.stream.below(most - least + 1))
        kept = sorted(self.stream.shuffled(range(len(options)))[:count])
        return [options[place] for place in kept]


def unique(facts: Iterable[str]) -> tuple[str, ...]:
    """Return ids without repeats, in order of first mention."""
    return tuple(dict.fromkeys(facts))


def plain_line(text: str, facts: Iterable[str]) -> Sentence:
    """Return a line that is no phrase of the book: a table's, or one put together from phrases."""
    return Sentence(text, unique(facts))


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters, without digits and marks."""
    return "".join(char if char.isalpha() else " " for char in text.lower()).split()


def tidy(text: str) -> str:
    """Return text without doubled blanks and stops, and without blanks before stops."""
    text = _ONE.sub(r"\1\2", _BEFORE.sub("", _SPACES.sub(" ", text.strip())))
    return _STOPS.sub(lambda match: "." if match[1] != ":" and "." in match[0] else match[1], text)


def opened(text: str) -> str:
    """Return a clause so that it can follow a noun: with its blank, or with its comma."""
    return text if not text or text[0] in ",; " else f" {text}"


def capital(text: str) -> str:
    """Return text with a capital first letter; units and names that need their small letter keep it."""
    if not text or not text[0].islower():
        return text
    first = text.partition(" ")[0].partition("-")[0]
    if not first.islower() or first in table("small"):
        return text
    return text[0].upper() + text[1:]


def sentence(text: str) -> str:
    """Return text as a sentence."""
    text = capital(text)
    return text if text and text[-1] in _END else text.rstrip(",;") + "."


def listed(items: Sequence[str], word: str = "and", *, oxford: bool = True) -> str:
    """Join items: "a, b, and c"."""
    if len(items) <= 2:
        return f" {word} ".join(items)
    return ", ".join(items[:-1]) + (", " if oxford else " ") + f"{word} {items[-1]}"


_VOWEL = re.compile(
    r"(?:[ai]|e(?!u)|o(?!ne)|u(?!ni[^nm]|s[eiu]|ri|re|t[ei])|8|11\b|18\b|hour|hono|heir)", re.IGNORECASE
)
_LETTERS = re.compile(r"[A-Z]{2,}")


def article(noun: str) -> str:
    """Return a noun with its indefinite article: "an 82-year-old", "an MRI", "a unilateral effusion"."""
    first = re.split(r"[ -]", noun, maxsplit=1)[0]
    if _LETTERS.match(first):
        return f"{'an' if first[0] in 'AEFHILMNORSX' else 'a'} {noun}"
    return f"{'an' if _VOWEL.match(noun) else 'a'} {noun}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, "1 day", "3 days"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def lowered(name: str) -> str:
    """Return a name for use within a sentence: first letter small unless it is a proper name or an abbreviation."""
    first = re.split(r"[ /-]", name, maxsplit=1)[0]
    if not first[:1].isupper() or any(letter.isupper() for letter in first[1:]) or len(first) == 1:
        return name
    initial = first.endswith(".") and len(first) == len("E.")
    if initial or "." in first[:-1] or first.removesuffix("'s") in table("proper"):
        return name
    return name[0].lower() + name[1:]

"""The words of orders: files in `data/`, loaded once, and one linear phrase finder."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Generic, TypeVar

import orjson

from wardround.patients import DataError

T = TypeVar("T")

LONGEST = 4000
"""Characters of an argument that are read; longer ones are faults of their own (design §8)."""

_SPACES = re.compile(r"\s+")
_FORMAT_VERSION = 1


@cache
def table(name: str) -> dict[str, Any]:
    """Return a data file of this folder.

    Raises:
        DataError: The file is not JSON of the format version this code reads.
    """
    try:
        loaded: dict[str, Any] = orjson.loads(
            files("wardround.rubrics.orders").joinpath(f"data/{name}.json").read_bytes()
        )
    except orjson.JSONDecodeError as error:
        raise DataError(f"rubrics/orders/data/{name}.json: {error}; restore the file") from error
    if loaded.get("format_version") != _FORMAT_VERSION:
        raise DataError(
            f"rubrics/orders/data/{name}.json: format_version: expected {_FORMAT_VERSION}; restore the file"
        )
    return loaded


def normal(text: str) -> str:
    """Return text with differences of writing removed: full width, case, zero-width characters, runs of spaces."""
    folded = unicodedata.normalize("NFKC", text[:LONGEST]).casefold().replace("\u2044", "/")
    folded = "".join(char for char in folded if unicodedata.category(char) != "Cf")
    return _SPACES.sub(" ", folded).strip()


@dataclass(frozen=True, slots=True)
class Hit(Generic[T]):
    """A phrase found: `text[start:end]` and what it means."""

    start: int
    end: int
    meaning: T


class Phrases(Generic[T]):
    """Finds phrases, leftmost and longest, in normal text; Latin ones are word-bounded."""

    def __init__(self, phrases: Iterable[tuple[str, T]]) -> None:
        self._exact: dict[str, T] = {}
        heads: dict[str, list[str]] = {}
        for phrase, meaning in phrases:
            folded = normal(phrase)
            if folded not in self._exact:
                heads.setdefault(folded[0], []).append(folded)
                self._exact[folded] = meaning
        self._heads = {head: tuple(sorted(found, key=len, reverse=True)) for head, found in heads.items()}

    def exact(self, text: str) -> T | None:
        """Return the meaning of a whole text."""
        return self._exact.get(text)

    def at(self, text: str, position: int) -> Hit[T] | None:
        """Return the longest phrase that starts at `position`."""
        for phrase in self._heads.get(text[position], ()):
            end = position + len(phrase)
            if text.startswith(phrase, position) and not _splits_word(text, position) and not _splits_word(text, end):
                return Hit(position, end, self._exact[phrase])
        return None

    def find(self, text: str) -> list[Hit[T]]:
        """Return every phrase of a text, none overlapping."""
        hits = []
        position = 0
        while position < len(text):
            hit = self.at(text, position)
            if hit is None:
                position += 1
            else:
                hits.append(hit)
                position = hit.end
        return hits


def _splits_word(text: str, position: int) -> bool:
    """Tell whether a cut at `position` would split a Latin word or a number."""
    if position <= 0 or position >= len(text):
        return False
    before, after = text[position - 1], text[position]
    return (_latin(before) and _latin(after)) or (before.isdecimal() and after.isdecimal())


def _latin(char: str) -> bool:
    return char.isalpha() and ord(char) < 0x2E80


@cache
def terms(*groups: str) -> Phrases[str]:
    """Return a finder for groups of `terms.json`: route, priority, status, category."""
    loaded: Mapping[str, Mapping[str, list[str]]] = table("terms")
    return Phrases((word, token) for group in groups for token, words in loaded[group].items() for word in words)

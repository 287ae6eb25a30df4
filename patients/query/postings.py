"""Rows by key and by text: what indexes are made of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .definitions import Path
from .extract import elements_of, fold_text

Array = np.ndarray[Any, Any]

Rows = Iterable[tuple[int, Any]]
"""Row number and the JSON the row's paths begin at."""


class Postings:
    """Rows by key; lists while they are filled, arrays once they are asked."""

    __slots__ = ("_arrays", "_lists")

    def __init__(self) -> None:
        self._lists: dict[Any, list[int]] = {}
        self._arrays: dict[Any, Array] = {}

    def add(self, key: Any, row: int) -> None:
        """Note that a row has a key."""
        self._lists.setdefault(key, []).append(row)

    def get(self, key: Any) -> Array | None:
        """Return the rows that have a key; None where none has."""
        found = self._arrays.get(key)
        if found is None and key in self._lists:
            found = self._arrays[key] = np.array(self._lists[key], dtype=np.intp)
        return found

    def items(self) -> Iterable[tuple[Any, list[int]]]:
        """Return all keys with their rows."""
        return self._lists.items()


class Strings:
    """Texts, found by their folded beginnings, by parts, or exactly."""

    def __init__(self) -> None:
        self.exact, self.folded = Postings(), Postings()
        self._sorted: list[str] | None = None

    def add(self, text: str, row: int) -> None:
        """Note that a row has a text."""
        self.exact.add(text, row)
        self.folded.add(fold_text(text), row)

    def order(self) -> list[str]:
        """Return the distinct folded texts in order."""
        if self._sorted is None:
            self._sorted = sorted(key for key, _ in self.folded.items())
        return self._sorted

    def starting(self, prefix: str) -> Array | None:
        """Return the rows with a text that begins with a folded prefix."""
        order = self.order()
        at = stop = bisect_left(order, prefix)
        if not prefix:  # what folds to nothing is the beginning of nothing
            return None
        while stop < len(order) and order[stop].startswith(prefix):
            stop += 1
        return self._rows(order[at:stop])

    def containing(self, part: str) -> Array | None:
        """Return the rows with a text that holds a folded part."""
        return self._rows([text for text in self.order() if part in text]) if part else None

    def _rows(self, texts: list[str]) -> Array | None:
        found = [rows for text in texts if (rows := self.folded.get(text)) is not None]
        return np.concatenate(found) if found else None


class BaseIndex:
    """What all indexes share: which rows have the element, and masks of the right size."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.present = np.zeros(size, dtype=bool)

    def _none(self) -> Array:
        return np.zeros(self.size, dtype=bool)

    def _at(self, rows: Array | None) -> Array:
        mask = np.zeros(self.size, dtype=bool)
        if rows is not None:
            mask[rows] = True
        return mask

    def _read(self, rows: Rows, paths: tuple[Path, ...]) -> Iterator[tuple[int, Any, Path]]:
        """Yield the elements of every row, and note which rows have one."""
        for row, root in rows:
            for path in paths:
                for element in elements_of(root, path):
                    self.present[row] = True
                    yield row, element, path


def extremes(pairs: Iterable[tuple[int, Any]], *, greatest: bool) -> dict[int, Any]:
    """Return the least (or greatest) key of each row."""
    found: dict[int, Any] = {}
    for row, key in pairs:
        known = found.get(row)
        if known is None or (key > known if greatest else key < known):
            found[row] = key
    return found

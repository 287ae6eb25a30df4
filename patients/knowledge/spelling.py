"""Typing errors: the unique nearest known wording within a bounded edit distance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

_MIN_LETTERS = 5
_LONG = 8
"""From this length on two errors are forgiven, below it one."""
_KEPT: Final = 4096
"""Words whose nearest wording is kept; talk repeats itself."""


class Suggester:
    """Nearest wordings by optimal string alignment (insert, delete, replace, swap neighbours)."""

    def __init__(self, known: Mapping[str, tuple[str, ...]], stop: Iterable[str]) -> None:
        """Index the wordings.

        Args:
            known: folded wording → concept ids.
            stop: folded words that are right as they stand and must never be corrected.
        """
        self._known = known
        self._stop = frozenset(stop)
        self._buckets: dict[tuple[str, int], list[str]] = {}
        for term in known:
            if _latin_letters(term) >= _MIN_LETTERS:
                self._buckets.setdefault((term[0], len(term)), []).append(term)
        self._kept: dict[str, str | None] = {}

    def nearest(self, term: str) -> str | None:
        """Return the id of the unique nearest concept of any kind, or None.

        Args:
            term: folded text; under five Latin letters nothing is near.
        """
        if term not in self._kept:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[term] = self._nearest(term)
        return self._kept[term]

    def _nearest(self, term: str) -> str | None:
        letters = _latin_letters(term)
        if letters < _MIN_LETTERS or len(term) > 60 or term in self._stop:
            return None
        bound = 2 if letters >= _LONG else 1
        best, found = bound + 1, set[tuple[str, ...]]()
        for length in range(len(term) - bound, len(term) + bound + 1):
            for candidate in self._buckets.get((term[0], length), ()):
                distance = _distance(term, candidate, min(best, bound))
                if distance < best:
                    best, found = distance, {self._known[candidate]}
                elif distance == best and distance <= bound:
                    found.add(self._known[candidate])
        if len(found) != 1 or best > bound:
            return None
        (ids,) = found
        return ids[0] if len(ids) == 1 else None


def _latin_letters(term: str) -> int:
    return sum(1 for char in term if "a" <= char <= "z")


def _distance(left: str, right: str, bound: int) -> int:
    """Return the optimal-string-alignment distance, or any number above `bound` once it is passed."""
    if abs(len(left) - len(right)) > bound:
        return bound + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        current = [i]
        for j, b in enumerate(right, 1):
            cost = min(row[j] + 1, current[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        if min(current) > bound:
            return bound + 1
        before, row = row, current
    return row[-1]

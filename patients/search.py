"""Searches over a snapshot: what may be asked, and the hits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .packing import fold
from .times import Instant

if TYPE_CHECKING:
    from .chart import Entry, Snapshot


class Search(NamedTuple):
    """A question to a record. Every field given must match; within `text`, `names`, `codes` and `prefix` any may."""

    type: str
    encounter: str | None = None
    """Encounter id; what hangs on an ICU or ED stay that is part of it is found too."""
    category: str | None = None
    """Code or words of a category (an Encounter's class)."""
    status: str | None = None
    """Status code; `clinicalStatus` for conditions and allergies."""
    text: str | None = None
    """Words found in one of the resource's own names, whole words in order, case-insensitive ("warfarin" finds
    "Warfarin 5 mg tablet", "Cr" never finds "Chromium")."""
    names: tuple[str, ...] = ()
    """Whole names, case-insensitive, as resolved by the caller through the lexicon."""
    codes: tuple[str, ...] = ()
    """Exact codes: bare, or `system|code`."""
    prefix: str | None = None
    """Start of a code, dots ignored ("I50" finds I50.9)."""
    date_from: Instant | None = None
    """Dated things that end after this instant."""
    date_to: Instant | None = None
    """Dated things that begin before this instant (exclusive)."""
    keyword: str | None = None
    """Word or phrase in the text of a note, report or plan: whole words in order; `*` at its end finds longer ones."""


class Hits:
    """What a search found: newest first, ties by id. Entries are made only when asked for."""

    __slots__ = ("positions", "snapshot", "total", "type")

    def __init__(self, snapshot: Snapshot, kind: str, positions: np.ndarray[Any, Any]) -> None:
        self.snapshot = snapshot
        self.type = kind
        self.positions = positions
        self.total: int = len(positions)

    def entries(self, offset: int = 0, count: int | None = None) -> list[Entry]:
        """Return `count` entries from `offset` on (all without `count`)."""
        stop = self.total if count is None else offset + count
        entry, kind = self.snapshot.entry, self.type
        return [entry(position, kind) for position in self.positions[offset:stop].tolist()]

    def rows(self, offset: int = 0, count: int | None = None) -> list[bytes]:
        """Return the compact rows of the same entries."""
        return [entry.row for entry in self.entries(offset, count)]

    def page(self, offset: int, count: int) -> tuple[list[str], list[bytes]]:
        """Return keys and compact rows of `count` hits from `offset` on; entries are not made."""
        return self.snapshot.page(self.type, self.positions[offset : offset + count])


class _EntryHits(Hits):
    """Hits that are not a run of the chart's own positions: a page is made of entries."""

    __slots__ = ()

    def page(self, offset: int, count: int) -> tuple[list[str], list[bytes]]:
        """Return keys and compact rows of `count` hits from `offset` on."""
        entries = self.entries(offset, count)
        return [entry.key for entry in entries], [entry.row for entry in entries]


class ListedHits(_EntryHits):
    """Hits in another order than the chart's."""

    __slots__ = ("_entries",)

    def __init__(self, hits: Hits, entries: Sequence[Entry]) -> None:
        """Keep the entries of `hits` in the order given."""
        super().__init__(hits.snapshot, hits.type, hits.positions)
        self._entries = tuple(entries)
        self.total = len(self._entries)

    def entries(self, offset: int = 0, count: int | None = None) -> list[Entry]:
        """Return `count` entries from `offset` on (all without `count`)."""
        return list(self._entries[offset : self.total if count is None else offset + count])


class MergedHits(Hits):
    """Hits of a snapshot with an episode's own writes among them."""

    __slots__ = ("_own",)

    def __init__(self, hits: Hits, own: Sequence[tuple[int, Entry]]) -> None:
        """Merge.

        Args:
            hits: Hits of the snapshot.
            own: Writes in order, each with the number of snapshot hits that come before it (ascending).
        """
        super().__init__(hits.snapshot, hits.type, hits.positions)
        self._own = tuple(own)
        self.total = len(hits.positions) + len(own)

    def entries(self, offset: int = 0, count: int | None = None) -> list[Entry]:
        """Return `count` entries from `offset` on (all without `count`)."""
        positions, own = self._run(offset, self.total if count is None else count)
        found = [self.snapshot.entry(position, self.type) for position in positions.tolist()]
        for place, entry in own:
            found.insert(place, entry)
        return found

    def page(self, offset: int, count: int) -> tuple[list[str], list[bytes]]:
        """Return keys and compact rows of `count` hits from `offset` on; the chart's entries are not made."""
        positions, own = self._run(offset, count)
        keys, rows = self.snapshot.page(self.type, positions)
        for place, entry in own:
            keys.insert(place, entry.key)
            rows.insert(place, entry.row)
        return keys, rows

    def _run(self, offset: int, count: int) -> tuple[np.ndarray[Any, Any], list[tuple[int, Entry]]]:
        """Return the chart's positions of a run of hits, and the writes among them with their places in the run."""
        stop = min(offset + count, self.total)
        places = [(before + number, entry) for number, (before, entry) in enumerate(self._own)]
        skipped = sum(1 for place, _ in places if place < offset)
        own = [(place - offset, entry) for place, entry in places if offset <= place < stop]
        start = offset - skipped
        return self.positions[start : max(start, stop - skipped - len(own))], own


def matches_text(names: Iterable[str], text: str) -> bool:
    """Tell whether folded `text` stands in one of the folded names, bounded by words where its script has them."""
    if not text:  # a query of punctuation alone folds to nothing, and nothing is in no name
        return False
    for name in names:
        at = name.find(text)
        while at >= 0:
            if _bounded(name, at, at + len(text)):
                return True
            at = name.find(text, at + 1)
    return False


def _bounded(name: str, start: int, stop: int) -> bool:
    before = name[start - 1] if start else " "
    after = name[stop] if stop < len(name) else " "
    return not (_joins(before, name[start]) or _joins(name[stop - 1], after))


def _joins(left: str, right: str) -> bool:
    """Tell whether two characters are of one word; scripts without spaces (CJK) never join."""
    return left.isalnum() and right.isalnum() and left < "\u2e80" and right < "\u2e80"


def concept_matches(concept: tuple[str, Sequence[str], Sequence[str]], query: Search) -> bool:
    """Tell whether a concept (name, folded names, codes) answers the words or codes of a query."""
    _, names, codes = concept
    text = fold(query.text or "")
    if query.text and text and (matches_text(names, text) or query.text.strip() in codes):
        return True
    if query.names and not {fold(name) for name in query.names}.isdisjoint(names):
        return True
    if query.codes and not set(query.codes).isdisjoint(codes):
        return True
    if query.prefix is not None:
        wanted = query.prefix.replace(".", "").upper()
        return any(code.replace(".", "").upper().startswith(wanted) for code in codes if "|" not in code)
    return False


def asks_concept(query: Search) -> bool:
    """Tell whether a query asks for words or codes at all."""
    return bool(query.text is not None or query.names or query.codes or query.prefix is not None)

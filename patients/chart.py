"""The chart: one patient's frozen record, read only through the clock.

`Chart.at(anchor)` is the only way to read: the Snapshot it returns (snapshot.py) shows what was known then.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Protocol

import numpy as np
import zstandard

from .fulltext import TextIndex, open_index
from .markup import html_view
from .packing import Index, PackedChart
from .search import Search, concept_matches
from .snapshot import Array, Entry, Snapshot, ViewFilter
from .times import Instant

__all__ = ["Body", "Chart", "Entry", "MemoryBody", "Snapshot", "ViewFilter", "memory_chart"]

SNAPSHOTS = 16
"""Snapshots a chart keeps; opening one more forgets the one unused for longest."""

FRAMES = 32
"""Decompressed frames (64 KiB each) a chart keeps."""


class Body(Protocol):
    """Where a chart's frames come from."""

    def frame(self, number: int) -> bytes:
        """Return a frame, decompressed and verified."""

    def texts(self) -> bytes | None:
        """Return the packed texts (`fulltext.block`), verified; None where the chart was packed without them."""

    def origin(self) -> tuple[Any, ...]:
        """Return a picklable origin: `(function, arguments)` that makes the chart again."""


class Chart:
    """One patient's record, packed and indexed.

    Args:
        patient_id: The patient.
        digest: Hash of the body.
        licence: Licence tag of the data.
        index: The opened index.
        rows: Compressed compact rows.
        body: Where frames come from.
        imported: Types that were imported at all; None where every type counts as imported.
    """

    def __init__(
        self, patient_id: str, digest: str, licence: str, index: Index, rows: bytes, body: Body,
        imported: frozenset[str] | None = None,
    ) -> None:  # fmt: skip
        self.patient_id = patient_id
        self.hash = digest
        self.licence = licence
        self.index = index
        self.imported_types = imported
        self._packed_rows: bytes | None = rows
        self._rows = b""
        self._source = body
        self._frames: OrderedDict[int, bytes] = OrderedDict()
        self._snapshots: OrderedDict[tuple[Instant, ViewFilter | None], Snapshot] = OrderedDict()
        self._matches: dict[Any, tuple[Array, list[int]]] = {}
        self._texts: TextIndex | None = None
        self.derived: dict[Any, Any] = {}
        """What other modules make of the body and keep with it (indexes of FHIR search). It knows no clock."""

    def __len__(self) -> int:
        return sum(self.index.counts.values())

    def _repr_html_(self) -> str:
        """Show what the chart holds in all, without a word of it."""
        facts = [("licence", self.licence), ("hash", self.hash), ("resources", f"{len(self):,}")]
        rows = sorted(self.index.counts.items())
        return html_view(f"Chart of {self.patient_id}", facts, [("Resources", ("type", "resources"), rows)])

    def at(self, anchor: Instant, view: ViewFilter | None = None) -> Snapshot:
        """Return the record as it was known at `anchor` (inclusive), without what `view` hides. Cached, bounded."""
        key = (anchor, view)
        found = self._snapshots.get(key)
        if found is None:
            found = self._snapshots[key] = Snapshot(self, anchor, view)
            if len(self._snapshots) > SNAPSHOTS:
                self._snapshots.popitem(last=False)
        else:
            self._snapshots.move_to_end(key)
        return found

    def rows(self) -> bytes:
        """Return all compact rows end to end (opened on first use). For snapshots only: it knows no clock."""
        if self._packed_rows is not None:
            self._rows = zstandard.ZstdDecompressor().decompress(self._packed_rows)
            self._packed_rows = None
        return self._rows

    def frame(self, number: int) -> bytes:
        """Return a decompressed frame of the body. For snapshots only: it knows no clock."""
        found = self._frames.get(number)
        if found is None:
            found = self._frames[number] = self._source.frame(number)
            if len(self._frames) > FRAMES:
                self._frames.popitem(last=False)
        return found

    def body(self, position: int) -> bytes:
        """Return the JSON bytes at a place of the index. For snapshots only: it knows no clock."""
        arrays = self.index.arrays
        frame = self.frame(int(arrays["frame"][position]))
        return frame[int(arrays["body_at"][position]) : int(arrays["body_end"][position])]

    def texts(self) -> TextIndex:
        """Return the full-text index (opened on first use). For snapshots only: it knows no clock."""
        if self._texts is None:
            self._texts = open_index(self._source.texts(), self.index.spans, self.body)
        return self._texts

    def matching(self, kind: str, query: Search) -> tuple[Array, list[int]]:
        """Return which concepts answer the words and codes of `query`: a mask, and their numbers (cached, bounded)."""
        key = (kind, query.text, query.names, query.codes, query.prefix)
        found = self._matches.get(key)
        if found is None:
            if len(self._matches) >= 256:
                self._matches.clear()
            wanted = np.array([concept_matches(concept, query) for concept in self.index.concepts], dtype=bool)
            found = self._matches[key] = wanted, np.flatnonzero(wanted).tolist()
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return self._source.origin()


class MemoryBody:
    """Frames of a chart that lives in memory."""

    def __init__(self, packed: PackedChart, imported: frozenset[str] | None) -> None:
        self._packed = packed
        self._imported = imported

    def frame(self, number: int) -> bytes:
        """Return a frame, decompressed."""
        return zstandard.ZstdDecompressor().decompress(self._packed.frames[number])

    def texts(self) -> bytes | None:
        """Return the packed texts."""
        return self._packed.texts

    def origin(self) -> tuple[Any, ...]:
        """Return how to make the chart again in another process."""
        return memory_chart, (self._packed, self._imported)


def memory_chart(packed: PackedChart, imported: frozenset[str] | None = None) -> Chart:
    """Open a packed chart that is in no store."""
    body = MemoryBody(packed, imported)
    return Chart(packed.patient_id, packed.hash, packed.licence, Index(packed.index), packed.rows, body, imported)

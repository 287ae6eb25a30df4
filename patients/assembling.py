"""The last step of packing: forms and sheaves in their order become frames, compact rows and the numeric index."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import orjson
import zstandard

from .elements import tail
from .fulltext import TYPES as TEXT_TYPES
from .fulltext import block
from .resource import load
from .slotted import WIDTH, Sheaf
from .times import NEVER, Instant

Array = np.ndarray[Any, Any]

FRAME_BYTES = 64 * 1024
"""Raw bytes after which a frame closes; part of the format, as the chart hash is taken over frames."""

UNRANKED = 1 << 30
"""The rank of what has none."""

LEVEL = 3
"""Of zstd: a tenth larger than level 9 on charts, six times as fast to write."""

ARRAYS = (
    ("since", "<i8"), ("until", "<i8"), ("first", "<i8"), ("last", "<i8"), ("concept", "<i4"), ("encounter", "<i4"),
    ("status", "<i4"), ("category", "<i4"), ("frame", "<i4"), ("body_at", "<i4"), ("body_end", "<i4"),
    ("row_end", "<i8"),
)  # fmt: skip
"""The arrays of the index, in order, with their little-endian types."""


@dataclass(frozen=True, slots=True)
class PackedChart:
    """A packed chart, ready to be stored or opened."""

    patient_id: str
    licence: str
    hash: str
    """Hash of the body: BLAKE2b over the digests of its frames."""
    index: bytes
    """Compressed index: names as JSON, then the arrays."""
    rows: bytes
    """Compressed compact rows, end to end."""
    frames: tuple[bytes, ...]
    """Compressed frames of the body; each opens alone."""
    digests: bytes
    """16-byte digests of the raw frames, end to end; `hash` is their hash."""
    counts: dict[str, int]
    """Resources (not forms) by type."""
    check: str
    """Digest of `index` and `rows` as compressed."""
    texts: bytes = b""
    """Folded texts of notes, reports and plans (`fulltext.block`); empty where there are none."""


class Attributes(NamedTuple):
    """What a search can ask of one form of a resource."""

    time: str | None
    """Text of the date that sorts it."""
    first: Instant
    last: Instant
    """The half-open span of its date; `UNDATED` and `NEVER` for open ends."""
    encounter: str | None
    status: str | None
    categories: tuple[str, ...]
    concept: tuple[str, tuple[str, ...], tuple[str, ...]]
    """Name to show, folded names, codes (bare, and `system|code`)."""


class Form(NamedTuple):
    """One form of a resource, ready to be packed."""

    type: str
    id: str
    since: Instant
    until: Instant
    rank: int
    attributes: Attributes
    body: bytes
    row: bytes


class _Table:
    """Numbers the distinct values it is given."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        return self.numbers.setdefault(value, len(self.numbers))

    def in_order_of_use(self, used: Array) -> tuple[Array, list[Any]]:
        """Renumber by first use.

        Args:
            used: Numbers of this table, in the order of the chart.

        Returns:
            The new numbers, and the values they stand for.
        """
        values = list(self.numbers)
        found, first = np.unique(used, return_index=True)
        by_use = found[np.argsort(first, kind="stable")]
        new = np.zeros(len(values), dtype="<i4")
        new[by_use] = np.arange(len(by_use), dtype="<i4")
        return new[used], [values[number] for number in by_use.tolist()]


class _Places:
    """All entries of a chart as arrays, first in the order they came, then in the order of the chart.

    The order: by type, newest first, rank, id, since.
    """

    def __init__(self, packed: Sequence[Form], sheaves: Sequence[Sheaf]) -> None:
        self._packed = packed
        self._sheaves = sheaves
        self.ids = [form.id for form in packed]
        since = [_int64([form.since for form in packed])]
        until = [_int64([form.until for form in packed])]
        first = [_int64([form.attributes.first for form in packed])]
        last = [_int64([form.attributes.last for form in packed])]
        rank = [_int64([form.rank for form in packed])]
        for sheaf in sheaves:
            known, dated = sheaf.times()
            self.ids.extend(sheaf.ids())
            since.append(known)
            until.append(np.full(len(sheaf), NEVER, dtype="<i8"))
            first.append(dated)
            last.append(dated + WIDTH)
            rank.append(np.full(len(sheaf), UNRANKED, dtype="<i8"))
        self.since, self.until = np.concatenate(since), np.concatenate(until)
        self.first, self.last = np.concatenate(first), np.concatenate(last)
        kinds = sorted({form.type for form in packed} | {sheaf.kind for sheaf in sheaves if len(sheaf)})
        self.kinds = kinds
        numbers = {kind: number for number, kind in enumerate(kinds)}
        parts = [_int64([numbers[form.type] for form in packed])]
        parts += [np.full(len(sheaf), numbers.get(sheaf.kind, 0), dtype="<i8") for sheaf in sheaves]
        self.kind = np.concatenate(parts)
        keys = (self.since, _ranks_of(self.ids), np.concatenate(rank), -self.first, self.kind)
        self.order = np.lexsort(keys)

    def tables(self) -> tuple[dict[str, Array], dict[str, list[Any]]]:
        """Return the numbers of concept, encounter, status and category in order, and what they stand for."""
        tables = {name: _Table() for name in ("concept", "encounter", "status", "category")}
        drawn: dict[str, list[Array]] = {name: [] for name in tables}
        for name, values in (
            ("concept", [(form.type, *form.attributes.concept) for form in self._packed]),
            ("encounter", [form.attributes.encounter for form in self._packed]),
            ("status", [form.attributes.status for form in self._packed]),
            ("category", [form.attributes.categories for form in self._packed]),
        ):
            drawn[name].append(_int64([tables[name].number(value) for value in values]))
        for sheaf in self._sheaves:
            for name, numbers in _numbers_of(sheaf, tables).items():
                drawn[name].append(numbers)
        columns, values_of = {}, {}
        for name, table in tables.items():
            columns[name], values_of[name] = table.in_order_of_use(np.concatenate(drawn[name])[self.order])
        return columns, values_of

    def spans(self) -> list[list[Any]]:
        """Return type, start and stop of every stretch of the order."""
        ends = np.cumsum(np.bincount(self.kind, minlength=len(self.kinds))).tolist()
        return [[kind, start, stop] for kind, start, stop in zip(self.kinds, [0, *ends], ends, strict=False)]

    def texts(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield body and row of every entry in order; those of sheaves are written now."""
        packed, forms = self._packed, len(self._packed)
        loose = [row for sheaf in self._sheaves for row in sheaf.rows]
        for place in self.order.tolist():
            if place < forms:
                form = packed[place]
                yield form.body, form.row
            else:
                row = loose[place - forms]
                yield row[0].texts(row[5])


def _int64(values: Sequence[int]) -> Array:
    return np.array(values, dtype="<i8")


def _ranks_of(ids: Sequence[str]) -> Array:
    """Return the place of each id among the sorted distinct ids."""
    distinct = sorted(set(ids))
    places = dict(zip(distinct, range(len(distinct)), strict=True))
    return _int64([places[identity] for identity in ids])


def _numbers_of(sheaf: Sheaf, tables: dict[str, _Table]) -> dict[str, Array]:
    """Return, per table, the number of each resource of a sheaf."""
    kinds = list(dict.fromkeys([row[0] for row in sheaf.rows]))
    places = {template: place for place, template in enumerate(kinds)}
    which = _int64([places[row[0]] for row in sheaf.rows])
    stays = {stay: tables["encounter"].number(stay) for stay in dict.fromkeys([row[3] for row in sheaf.rows])}
    return {
        "concept": _int64([tables["concept"].number((sheaf.kind, *one.concept)) for one in kinds])[which],
        "encounter": _int64([stays[row[3]] for row in sheaf.rows]),
        "status": _int64([tables["status"].number(one.status) for one in kinds])[which],
        "category": _int64([tables["category"].number(one.categories) for one in kinds])[which],
    }


class _Frames:
    """Cuts bodies into frames, each compressed and hashed as soon as it is full."""

    def __init__(self, compressor: zstandard.ZstdCompressor) -> None:
        self._compressor = compressor
        self.packed: list[bytes] = []
        self.digests = bytearray()

    def take(self, texts: Iterator[tuple[bytes, bytes]]) -> tuple[dict[str, array[int]], bytearray]:
        """Take all bodies.

        Returns:
            Their places (frame, body_at, body_end), the ends of their rows, and the rows end to end.
        """
        frame, starts, ends, row_ends = array("q"), array("q"), array("q"), array("q")
        rows = bytearray()
        pending: list[bytes] = []
        size = 0
        for body, row in texts:
            length = len(body)
            if size and size + length > FRAME_BYTES:
                self._close(pending)
                size = 0
            frame.append(len(self.packed))
            starts.append(size)
            size += length
            ends.append(size)
            pending.append(body)
            rows += row
            row_ends.append(len(rows))
        if pending:
            self._close(pending)
        return {"frame": frame, "body_at": starts, "body_end": ends, "row_end": row_ends}, rows

    def _close(self, pending: list[bytes]) -> None:
        raw = b"".join(pending)
        self.digests.extend(frame_digest(raw))
        # Copied to its own size: the compressor's buffer, cut down in place, would leave a hole that no frame fits in.
        self.packed.append(bytes(memoryview(self._compressor.compress(raw))))
        pending.clear()


def assemble(
    patient_id: str, licence: str, packed: Sequence[Form], sheaves: Sequence[Sheaf], counts: dict[str, int]
) -> PackedChart:
    """Sort forms and sheaves, write the bodies in frames, and make the index.

    Args:
        patient_id: The patient the chart is about.
        licence: Licence tag of the data.
        packed: Forms, in any order.
        sheaves: Like resources, not yet written.
        counts: Resources by type.
    """
    compressor = zstandard.ZstdCompressor(level=LEVEL)
    places = _Places(packed, sheaves)
    order = places.order
    columns, values_of = places.tables()
    frames = _Frames(compressor)
    cut, rows_text = frames.take(places.texts())
    in_order = [packed[place] for place in order.tolist() if place < len(packed)]
    names = {
        "ids": [places.ids[place] for place in order.tolist()],
        "types": places.spans(),
        "concepts": [list(concept[1:]) for concept in values_of["concept"]],
        "encounters": values_of["encounter"],
        "statuses": values_of["status"],
        "categories": [list(words) for words in values_of["category"]],
        "counts": counts,
        "parents": _parents(in_order),
    }
    found: dict[str, Any] = {
        "since": places.since[order], "until": places.until[order], "first": places.first[order],
        "last": places.last[order], **columns, **cut,
    }  # fmt: skip
    text = orjson.dumps(names)
    arrays = (np.array(found.pop(name), dtype=kind).tobytes() for name, kind in ARRAYS)
    index = compressor.compress(b"".join((len(text).to_bytes(8, "little"), text, *arrays)))
    rows = compressor.compress(rows_text)
    return PackedChart(
        patient_id, licence, body_hash(bytes(frames.digests)), index, rows, tuple(frames.packed),
        bytes(frames.digests), counts, frame_digest(index + rows).hex(),
        block(form.body for form in in_order if form.type in TEXT_TYPES),
    )  # fmt: skip


def _parents(packed: list[Form]) -> list[tuple[str, str, Instant, Instant]]:
    """Return which encounter is part of which, and from when until when that was known."""
    found = []
    for form in packed:
        if form.type == "Encounter" and b'"partOf"' in form.body:
            whole = tail(load(form.body).get("partOf"))
            if whole is not None:
                found.append((form.id, whole, form.since, form.until))
    return found


def frame_digest(raw: bytes) -> bytes:
    """Return the 16-byte digest of a raw frame."""
    return blake2b(raw, digest_size=16).digest()


def body_hash(digests: bytes) -> str:
    """Return the hash of a chart's body from the digests of its frames."""
    return blake2b(digests, digest_size=16).hexdigest()

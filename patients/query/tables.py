"""A record as searches see it: for each type the rows of the chart, then the episode's own resources.

Indexes of chart rows hold every form of every instant and are kept with the chart; what is visible is a mask of the
snapshot over them. Nothing that is not visible ever leaves this module.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
import orjson

from wardround.patients.chart import Chart, Entry, Snapshot
from wardround.patients.overlay import Overlay
from wardround.patients.resource import load
from wardround.patients.times import NEVER, Instant
from wardround.patients.versions import Write, place_of

from .definitions import Parameter
from .indexes import Index, build_index
from .postings import Array

_DECIMAL = frozenset({"quantity", "number", "composite"})
"""Kinds of search that need a number's own digits."""

TABLES = 64
"""Tables (type and own writes) a snapshot keeps."""


class Block:
    """Resources of one type and the indexes over them, each built when first asked."""

    def __init__(self, size: int, bodies: Callable[[], Iterator[bytes]]) -> None:
        self.size = size
        self._bodies = bodies
        self._indexes: dict[str, Index] = {}

    def index(self, parameter: Parameter) -> Index:
        """Return the index of a parameter."""
        found = self._indexes.get(parameter.name)
        if found is None:
            read = load if parameter.type in _DECIMAL else _load
            rows = ((row, read(body)) for row, body in enumerate(self._bodies()))
            found = self._indexes[parameter.name] = build_index(parameter, rows, self.size)
        return found


def _load(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:  # a number that no float holds
        return load(body)


def _chart_block(chart: Chart, kind: str) -> Block:
    found = chart.derived.get(("query", kind))
    if found is None:
        start, stop = chart.index.spans.get(kind, (0, 0))
        found = Block(stop - start, lambda: (chart.body(place) for place in range(start, stop)))
        chart.derived["query", kind] = found
    assert isinstance(found, Block)
    return found


class Table:
    """The rows of one type: chart forms first, then the episode's own resources, oldest write first.

    Attributes:
        kind: The type.
        size: Rows, visible or not.
        visible: Mask of the rows that a search may find.
        order: Rows in the order of a search without `_sort`; None where they are in it already.
        whole: The table that this one shows a part of; None for a whole one.
    """

    whole: Table | None = None

    def __init__(self, snapshot: Snapshot, kind: str, own: Sequence[Write], hidden: Sequence[int]) -> None:
        """Make a table.

        Args:
            snapshot: The chart as of the anchor.
            kind: The type.
            own: The episode's current versions.
            hidden: Places in the chart's index that these versions hide.
        """
        self.kind = kind
        self._snapshot = snapshot
        self._own = tuple(write.entry for write in own)
        self._ends = [NEVER if write.attributes.time is None else write.attributes.last for write in own]
        self._start = snapshot.chart.index.spans.get(kind, (0, 0))[0]
        self._chart = _chart_block(snapshot.chart, kind)
        self._written = Block(len(self._own), lambda: (entry.body for entry in self._own))
        self._cut = [place - self._start for place in snapshot.recut(kind)]
        self._recut = Block(len(self._cut), lambda: (snapshot.body(row + self._start) for row in self._cut))
        self.size = self._chart.size + len(self._own)
        self.visible = np.zeros(self.size, dtype=bool)
        self.visible[snapshot.positions(kind) - self._start] = True
        self.visible[[place - self._start for place in hidden]] = False
        self.visible[self._chart.size :] = True
        self.order = self._merged(own) if own else None
        self.sorted: dict[Any, Array] = {}

    def _merged(self, own: Sequence[Write]) -> Array:
        """Return all rows in the order that `Overlay.search` has."""
        dates = -self._snapshot.chart.index.arrays["first"][self._start : self._start + self._chart.size]
        at, rows = [], []
        for (date, in_place, place), row in sorted(
            (place_of(write, number), self._chart.size + number) for number, write in enumerate(own)
        ):
            at.append(place - self._start if in_place else int(np.searchsorted(dates, date)))
            rows.append(row)
        return np.insert(np.arange(self._chart.size, dtype=np.intp), at, rows)

    def mask(self, parameter: Parameter, ask: Callable[[Any], Array]) -> Array:
        """Ask the index of a parameter in every part of the table; rows that are not visible may be among the found."""
        found = ask(self._chart.index(parameter))
        if self._cut:
            found = found.copy()
            found[self._cut] = ask(self._recut.index(parameter))
        if self._own:
            found = np.concatenate((found, ask(self._written.index(parameter))))
        return found

    def keys(self, parameter: Parameter, *, descending: bool) -> dict[int, Any]:
        """Return what sorts each row; rows without a value are absent."""
        found = dict(self._chart.index(parameter).keys(descending=descending))
        if self._cut:
            recut = self._recut.index(parameter).keys(descending=descending)
            for place, row in enumerate(self._cut):
                found.pop(row, None)
                if place in recut:
                    found[row] = recut[place]
        if self._own:
            own = self._written.index(parameter).keys(descending=descending)
            found.update((row + self._chart.size, key) for row, key in own.items())
        return found

    def pointed(self, parameter: Parameter, chosen: Array, base: str) -> set[str]:
        """Return the `Type/id` that chosen rows refer to through a reference parameter."""
        chart = chosen[: self._chart.size]
        found: set[str] = set()
        if self._cut:
            found = self._recut.index(parameter).pointed(chart[self._cut], base)  # type: ignore[attr-defined]
            chart = chart.copy()
            chart[self._cut] = False
        found |= self._chart.index(parameter).pointed(chart, base)  # type: ignore[attr-defined]
        if self._own:
            found |= self._written.index(parameter).pointed(chosen[self._chart.size :], base)  # type: ignore[attr-defined]
        return found

    def limited(self, shown: Array) -> Table:
        """Return the same table with fewer rows visible: those of the mask `shown`."""
        other = copy(self)
        other.whole = self.whole or self
        other.visible = self.visible & shown
        return other

    def spans(self, rows: Array) -> tuple[Array, Array]:
        """Return when rows are dated, from and before: their place among the hits of several records."""
        arrays, stop = self._snapshot.chart.index.arrays, self._start + self._chart.size
        first, last = arrays["first"][self._start : stop], arrays["last"][self._start : stop]
        if self._own:
            first = np.concatenate((first, [entry.first for entry in self._own]))
            last = np.concatenate((last, self._ends))
        return first[rows], last[rows]

    def id(self, row: int) -> str:
        """Return the id of a row."""
        if row >= self._chart.size:
            return self._own[row - self._chart.size].id
        return self._snapshot.chart.index.ids[row + self._start]

    def ids(self, chosen: Array) -> frozenset[str]:
        """Return the ids of chosen rows."""
        return frozenset(self.id(row) for row in np.flatnonzero(chosen).tolist())

    def entry(self, row: int) -> Entry:
        """Return the entry of a row."""
        if row >= self._chart.size:
            return self._own[row - self._chart.size]
        return self._snapshot.entry(row + self._start, self.kind)


class Scope:
    """What one search may look at: a snapshot and, perhaps, the first `version` writes of an episode.

    Args:
        record: The record.
        base: Own base URL without a trailing slash, or empty.
        version: How many writes the search sees; None for all.

    Attributes:
        mark: What tells it from a scope of the same record that shows more or less of it.
    """

    mark = b""

    def __init__(self, record: Snapshot | Overlay, base: str, version: int | None = None) -> None:
        self.base = base
        self.overlay = record if isinstance(record, Overlay) else Overlay(record)
        if version is not None:
            self.overlay = self.overlay.as_of(version)
        self.snapshot = self.overlay.snapshot
        self.masks: dict[int, Array] = {}
        """Answers to inner questions, by the identity of the question; it lives as long as this search."""

    @property
    def anchor(self) -> Instant:
        """The record's now."""
        return self.snapshot.anchor

    def table(self, kind: str) -> Table:
        """Return the table of a type."""
        own = self.overlay.own(kind)
        kept: OrderedDict[Any, Table] = self.snapshot.derived.setdefault("query", OrderedDict())
        key = (kind, tuple([write.entry for write in own])) if own else kind
        found = kept.get(key)
        if found is None:
            found = kept[key] = Table(self.snapshot, kind, own, self.overlay.hidden(kind))
            if len(kept) > TABLES:
                kept.popitem(last=False)
        else:
            kept.move_to_end(key)
        return found

    def read(self, key: str) -> Entry | None:
        """Return the resource called `Type/id`; None where none is visible."""
        kind, _, identity = key.partition("/")
        return self.overlay.read(kind, identity)

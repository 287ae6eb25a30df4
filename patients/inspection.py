"""A look into charts for people: what a store holds, and one patient's record in order of time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from .chart import Entry, Snapshot
from .packing import attributes
from .resource import ALWAYS, known_at, load
from .rows import COLUMNS, compact_row, is_cut
from .search import Search
from .store import ChartStore
from .times import NEVER, Instant, format_instant

_UNTOLD = frozenset({"id", "time", "start", "encounter"})
"""Columns that a line of the timeline says elsewhere."""


@dataclass(frozen=True, slots=True)
class TypeOverview:
    """One resource type of a store."""

    type: str
    resources: int
    patients: int
    """Patients that have any."""
    first: Instant | None
    last: Instant | None
    """Earliest and latest date; None where none carries a date."""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        dates = [None if date is None else format_instant(date) for date in (self.first, self.last)]
        return {
            "type": self.type, "resources": self.resources, "patients": self.patients, "first": dates[0],
            "last": dates[1],
        }  # fmt: skip


def overview(store: ChartStore) -> list[TypeOverview]:
    """Return what a store holds, by type; every chart's index is opened once."""
    counts: dict[str, list[int]] = {}
    dates: dict[str, tuple[Instant, Instant]] = {}
    for patient in store.patients():
        index = store.chart(patient).index
        for kind, count in index.counts.items():
            entry = counts.setdefault(kind, [0, 0])
            entry[0] += count
            entry[1] += 1
        for kind, (start, stop) in index.spans.items():
            found = index.arrays["first"][start:stop]
            found = found[(found > ALWAYS) & (found < NEVER)]
            if len(found):
                low, high = dates.get(kind, (NEVER, ALWAYS))
                dates[kind] = (min(low, int(np.min(found))), max(high, int(np.max(found))))
    return [TypeOverview(kind, *counts[kind], *dates.get(kind, (None, None))) for kind in sorted(counts)]


@dataclass(frozen=True, slots=True)
class Event:
    """One resource on the timeline."""

    key: str
    """`Type/id`."""
    type: str
    time: Instant | None
    """When it is dated; None for what carries no date."""
    known: Instant | None
    """When it became known; None where it carries no mark (what an episode wrote has one too)."""
    columns: dict[str, Any]
    """The compact row by column."""

    @property
    def text(self) -> str:
        """The row in words: what is not empty, in the order of its columns."""
        said = [f"{value}" for name, value in self.columns.items() if name not in _UNTOLD and value not in (None, "")]
        return printable(" · ".join(said))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        time, known = (None if one is None else format_instant(one) for one in (self.time, self.known))
        return {"key": self.key, "type": self.type, "time": time, "known": known, "columns": self.columns}


def timeline(
    snapshot: Snapshot,
    *,
    types: Collection[str] | None = None,
    encounter: str | None = None,
    start: Instant | None = None,
    end: Instant | None = None,
) -> list[Event]:
    """Return a patient's record in order of time, undated things first; ties by type and id.

    Args:
        snapshot: The record as of some anchor (`NEVER - 1` for all that ever became known).
        types: Resource types to show; None shows all but Patient.
        encounter: Only what belongs to this encounter.
        start: Only what is dated at or after this instant.
        end: Only what is dated before this instant.
    """
    events = []
    for kind in sorted(types if types is not None else set(snapshot.chart.index.spans) - {"Patient"}):
        hits = snapshot.search(Search(kind, encounter=encounter, date_from=start, date_to=end))
        events += [_event(entry) for entry in hits.entries()]
    return sorted(events, key=lambda event: (event.time is not None, event.time or 0, event.type, event.key))


def never_visible(snapshot: Snapshot) -> int:
    """Return how many resources of the chart are visible at no anchor: nothing says when they became known."""
    return int(np.count_nonzero(snapshot.chart.index.arrays["since"] >= NEVER))


def _event(entry: Entry) -> Event:
    names = COLUMNS.get(entry.type, ("id", "time"))
    known = known_at(entry.resource())
    dated = ALWAYS < entry.first < NEVER
    row = entry.row
    if is_cut(row):  # rows for agents are bounded, a timeline for people is not
        resource = load(entry.body)
        row = compact_row(resource, attributes(resource).time, longest=len(entry.body))
    values = orjson.loads(row)
    return Event(
        entry.key, entry.type, entry.first if dated else None, known, dict(zip(names, values, strict=True))
    )  # fmt: skip


def printable(text: str) -> str:
    """Return text that is safe on a terminal: one line, without control characters (imported records are hostile)."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())

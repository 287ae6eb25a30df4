"""A chart as it was known at one instant.

A Snapshot shows the resources whose `known_at` has come, each in the form it had then (an order without its later end,
a stay without its discharge), and hides what a view hides. `Chart.at` makes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .elements import age_at, document_text
from .fulltext import TYPES, phrase
from .markup import html_view
from .packing import attributes, fold
from .resource import Resource, dump, load
from .rows import compact_row
from .search import Hits, Search, asks_concept
from .times import NEVER, Instant, format_instant

if TYPE_CHECKING:
    from .chart import Chart

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ViewFilter:
    """What is hidden beside the clock."""

    types: tuple[str, ...] = ()
    """Resource types hidden whole."""
    encounters: tuple[str, ...] = ()
    """Encounter ids hidden with everything that belongs to them."""
    sections: tuple[str, ...] = ()
    """Titles of note sections that are hidden, case-insensitive."""


class Entry:
    """One resource as it was known at the anchor."""

    __slots__ = ("_body", "_row", "_snapshot", "first", "id", "position", "type")

    def __init__(
        self, kind: str, identity: str, first: Instant, snapshot: Snapshot | None = None, position: int = -1,
        body: bytes | None = None, row: bytes | None = None,
    ) -> None:  # fmt: skip
        self.type = kind
        self.id = identity
        self.first = first
        """When it is dated (its place among hits)."""
        self.position = position
        self._snapshot = snapshot
        self._body = body
        self._row = row

    @property
    def key(self) -> str:
        """`Type/id`."""
        return f"{self.type}/{self.id}"

    @property
    def body(self) -> bytes:
        """JSON as of the anchor."""
        if self._body is None:
            assert self._snapshot is not None
            self._body = self._snapshot.body(self.position)
        return self._body

    @property
    def row(self) -> bytes:
        """Compact JSON row, columns as in `COLUMNS[type]`."""
        if self._row is None:
            assert self._snapshot is not None
            self._row = self._snapshot.row(self.position)
        return self._row

    def resource(self) -> Resource:
        """Return the parsed body (decimals as `Decimal`)."""
        return load(self.body)

    def __repr__(self) -> str:
        return f"Entry({self.key})"


class _Columns:
    """The visible forms of one type: positions and the arrays that searches ask, cut to them."""

    __slots__ = ("_by_concept", "category", "concept", "encounter", "first", "last", "positions", "status")

    def __init__(self, arrays: dict[str, Array], positions: Array) -> None:
        self.positions = positions
        self.first = arrays["first"][positions]
        self.last = arrays["last"][positions]
        self.concept = arrays["concept"][positions]
        self.encounter = arrays["encounter"][positions]
        self.status = arrays["status"][positions]
        self.category = arrays["category"][positions]
        self._by_concept: dict[int, Array] = {}

    def of_concepts(self, wanted: Iterable[int]) -> Array:
        """Return the positions of the concepts of these numbers, in order; each concept's are found once."""
        found = []
        for number in wanted:
            positions = self._by_concept.get(number)
            if positions is None:
                positions = self._by_concept[number] = self.positions[self.concept == number]
            found.append(positions)
        if len(found) == 1:
            return found[0]
        return np.sort(np.concatenate(found)) if found else self.positions[:0]


class Snapshot:
    """A chart as it was known at one instant. Immutable; shared by all episodes with that anchor."""

    def __init__(self, chart: Chart, anchor: Instant, view: ViewFilter | None = None) -> None:
        self.chart = chart
        self.patient_id = chart.patient_id
        self.anchor = anchor
        self.view = view
        arrays = chart.index.arrays
        self._visible = (arrays["since"] <= anchor) & (arrays["until"] > anchor)
        self._parts: dict[str, list[str]] = {}
        for part, whole, since, until in chart.index.parents:
            if since <= anchor < until:
                self._parts.setdefault(whole, []).append(part)
        if view is not None and view.encounters:
            hidden = [name for encounter in view.encounters for name in self.encounters_of(encounter)]
            self._visible &= ~np.isin(arrays["encounter"], self._encounter_numbers(hidden))
        self._hidden_types = frozenset(view.types if view else ())
        self._sections = frozenset(fold(title) for title in (view.sections if view else ()))
        self._columns: dict[str, _Columns] = {}
        self._places: dict[str, dict[str, int]] = {}
        self._own: dict[int, tuple[bytes, bytes]] = {}
        self._patient_rows: dict[int, bytes] = {}
        self.derived: dict[Any, Any] = {}
        """What other modules make of what is visible and keep with it; they bound it."""

    def _repr_html_(self) -> str:
        """Show how much was known at the anchor, without a word of it."""
        now = "all that ever became known" if self.anchor >= NEVER - 1 else format_instant(self.anchor)
        rows = [(kind, found) for kind in sorted(self.chart.index.spans) if (found := self.count(kind))]
        facts = [("as of", now), ("licence", self.chart.licence), ("chart hash", self.chart.hash)]
        return html_view(f"Record of {self.patient_id}", facts, [("Known then", ("type", "resources"), rows)])

    def imported(self, kind: str) -> bool:
        """Tell whether any resource of a type was imported at all (for whichever patient)."""
        types = self.chart.imported_types
        return types is None or kind in types

    def read(self, kind: str, identity: str) -> Entry | None:
        """Return a resource, or None where no such resource was known at the anchor."""
        places = self._places.get(kind)
        if places is None:
            ids = self.chart.index.ids
            places = {ids[place]: place for place in self._of(kind).positions.tolist()}
            self._places[kind] = places
        place = places.get(identity)
        return None if place is None else self.entry(place, kind)

    def resources(self, kind: str) -> Iterator[Resource]:
        """Yield the known resources of a type, newest first, parsed (decimals as `Decimal`). Not the hot path."""
        for place in self._of(kind).positions.tolist():
            yield load(self.body(place))

    def count(self, kind: str) -> int:
        """Return how many resources of a type were known at the anchor."""
        return len(self._of(kind).positions)

    def names(self, kind: str, category: str | None = None) -> tuple[str, ...]:
        """Return the distinct names that known resources of a type carry, in alphabetical order."""
        columns = self._of(kind)
        concepts = columns.concept
        if category is not None:
            concepts = concepts[self._category_mask(columns, category)]
        table = self.chart.index.concepts
        found = {table[number][0] for number in np.unique(concepts).tolist()} - {""}
        return tuple(sorted(found, key=lambda name: (name.casefold(), name)))

    def concepts(self, kind: str, category: str | None = None) -> tuple[tuple[str, Sequence[str], Sequence[str]], ...]:
        """Return the distinct concepts of known resources of a type: name, folded names, codes; ordered by name."""
        columns = self._of(kind)
        concepts = columns.concept
        if category is not None:
            concepts = concepts[self._category_mask(columns, category)]
        table = self.chart.index.concepts
        found = [table[number] for number in np.unique(concepts).tolist()]
        return tuple(sorted(found, key=lambda one: (one[0].casefold(), one[0], *one[2])))

    def encounters_of(self, encounter: str) -> tuple[str, ...]:
        """Return an encounter and what was known at the anchor to be part of it: its ICU stays, its ED stay."""
        found = {encounter: None}
        waiting = [encounter]
        while waiting:
            for part in self._parts.get(waiting.pop(), ()):
                if part not in found:  # a record may go round in circles
                    found[part] = None
                    waiting.append(part)
        return tuple(found)

    def _encounter_numbers(self, encounters: Iterable[str]) -> list[int]:
        numbers = self.chart.index.encounter_numbers
        return [numbers[name] for name in encounters if name in numbers]

    def search(self, query: Search) -> Hits:
        """Return what was known at the anchor and answers the query, newest first, ties by id."""
        columns = self._of(query.type)
        return Hits(self, query.type, self._select(columns, query))

    def positions(self, kind: str) -> Array:
        """Return the places in the chart's index of the known resources of a type, newest first."""
        return self._of(kind).positions

    def recut(self, kind: str) -> list[int]:
        """Return those places whose body here is not the chart's (hidden sections are cut out of it)."""
        places = self.positions(kind)  # which is what cuts the sections
        return [place for place in places.tolist() if place in self._own] if self._own else []

    def _select(self, columns: _Columns, query: Search) -> Array:
        masks = self._masks(columns, query)
        found = columns.positions
        if asks_concept(query):
            wanted, numbers = self.chart.matching(query.type, query)
            if masks:
                masks.append(wanted[columns.concept])
            else:
                found = columns.of_concepts(numbers)
        if masks:
            mask = masks[0]
            for other in masks[1:]:
                mask = mask & other
            found = found[mask]
        return found if query.keyword is None else self._with_keyword(query.type, found, query.keyword)

    def _masks(self, columns: _Columns, query: Search) -> list[Array]:
        """Return one mask over the columns for every filter but words and keyword."""
        masks = []
        if query.encounter is not None:
            wanted = self._encounter_numbers(self.encounters_of(query.encounter))
            one = len(wanted) == 1
            masks.append(columns.encounter == wanted[0] if one else np.isin(columns.encounter, wanted))
        if query.category is not None:
            masks.append(self._category_mask(columns, query.category))
        if query.status is not None:
            statuses = self.chart.index.statuses
            masks.append(columns.status == (statuses.index(query.status) if query.status in statuses else -1))
        if query.date_from is not None:
            masks.append(columns.last > query.date_from)
        if query.date_to is not None:
            masks.append(columns.first < query.date_to)
        return masks

    def _with_keyword(self, kind: str, positions: Array, keyword: str) -> Array:
        wanted = phrase(keyword)
        if wanted is None:
            return positions[:0]
        own = set(self._own) if kind in TYPES else set(positions.tolist())  # texts that the index does not have
        mask = np.isin(positions, self.chart.texts().find(kind, wanted), assume_unique=True)
        for place, position in enumerate(positions.tolist() if own else ()):
            if position in own:
                mask[place] = wanted.within(document_text(load(self.body(position))) or "")
        return positions[mask]

    def _category_mask(self, columns: _Columns, category: str) -> Array:
        wanted = fold(category)
        numbers = [number for number, words in enumerate(self.chart.index.categories) if wanted in words]
        mask: Array = np.isin(columns.category, numbers) if len(numbers) != 1 else columns.category == numbers[0]
        return mask

    def _of(self, kind: str) -> _Columns:
        found = self._columns.get(kind)
        if found is None:
            start, stop = self.chart.index.spans.get(kind, (0, 0))
            if kind in self._hidden_types:
                start = stop
            positions = np.flatnonzero(self._visible[start:stop]) + start
            if self._sections and kind in _SECTIONED:
                positions = self._without_sections(positions)
            found = self._columns[kind] = _Columns(self.chart.index.arrays, positions)
        return found

    def _without_sections(self, positions: Array) -> Array:
        """Cut hidden sections out of notes; a note of hidden sections only disappears."""
        kept = []
        for place in positions.tolist():
            resource = load(self.body(place))
            cut = _cut_sections(resource, self._sections)
            if cut is None:
                continue
            kept.append(place)
            if cut is not resource:
                self._own[place] = (dump(cut), compact_row(cut, attributes(cut).time))
        return np.array(kept, dtype=positions.dtype)

    def entry(self, position: int, kind: str | None = None) -> Entry:
        """Return the entry at a place of the index (places come from hits of this snapshot)."""
        index = self.chart.index
        if kind is None:
            kind = next(name for name, (start, stop) in index.spans.items() if start <= position < stop)
        return Entry(kind, index.ids[position], int(index.arrays["first"][position]), self, position)

    def body(self, position: int) -> bytes:
        """Return the JSON bytes at a place of the index."""
        own = self._own.get(position)
        return own[0] if own is not None else self.chart.body(position)

    def row(self, position: int) -> bytes:
        """Return the compact row at a place of the index."""
        own = self._own.get(position)
        if own is not None:
            return own[1]
        start, stop = self.chart.index.spans.get("Patient", (0, 0))
        if start <= position < stop:
            return self._patient_row(position)
        ends = self.chart.index.row_ends
        return self.chart.rows()[ends[position - 1] if position else 0 : ends[position]]

    def _patient_row(self, position: int) -> bytes:
        """Return the row of a Patient, with the age at the anchor (made once)."""
        row = self._patient_rows.get(position)
        if row is None:
            patient = load(self.body(position))
            age = age_at(patient["birthDate"], self.anchor) if "birthDate" in patient else None
            row = self._patient_rows[position] = compact_row(patient, None, age)
        return row

    def page(self, kind: str, positions: Array) -> tuple[list[str], list[bytes]]:
        """Return keys and compact rows at places of one type; entries are not made."""
        places = positions.tolist()
        ids = self.chart.index.ids
        keys = [f"{kind}/{ids[place]}" for place in places]
        if self._own or kind == "Patient":
            return keys, [self.row(place) for place in places]
        ends, rows = self.chart.index.row_ends, self.chart.rows()
        return keys, [rows[ends[place - 1] if place else 0 : ends[place]] for place in places]

    def __reduce__(self) -> tuple[Any, ...]:
        return _snapshot, (self.chart, self.anchor, self.view)


_SECTIONED = ("DocumentReference", "DiagnosticReport", "CarePlan")


def _cut_sections(resource: Resource, hidden: Iterable[str]) -> Resource | None:
    hidden = frozenset(hidden)
    if fold(str(resource.get("title", ""))) in hidden:
        return None
    cut = resource
    for key, inner in (("content", "attachment"), ("presentedForm", None)):
        parts = resource.get(key)
        if not parts:
            continue
        titles = [(part.get(inner, {}) if inner else part).get("title", "") for part in parts]
        kept = [part for part, title in zip(parts, titles, strict=True) if fold(title) not in hidden]
        if not kept:
            return None
        if len(kept) < len(parts):
            cut = {**cut, key: kept}
    return cut


def _snapshot(chart: Chart, anchor: Instant, view: ViewFilter | None) -> Snapshot:
    return chart.at(anchor, view)

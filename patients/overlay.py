"""An episode's own writes on top of a snapshot: visible at once, to this episode only."""

from __future__ import annotations

from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from .chart import Entry, Snapshot
from .elements import document_text
from .errors import WardroundError
from .fhir import validate
from .packing import Attributes, attributes, fold
from .resource import KNOWN_AT, SITE, Resource, dump, instant_text, load
from .rows import compact_row
from .search import Hits, MergedHits, Search, asks_concept, concept_matches
from .times import NEVER

SEQUENCE = f"{SITE}/StructureDefinition/write-sequence"
"""Extension on what an episode wrote: the number of the write, from 1."""


class InvalidResource(WardroundError):  # noqa: N818 - it says what the resource is
    """A write that is not valid FHIR R4: nothing was stored. `problems` says what is wrong."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class Write(NamedTuple):
    """One write: the entry and what searches ask of it."""

    entry: Entry
    attributes: Attributes


class Overlay:
    """A snapshot plus the writes of one episode. Reads and searches as a Snapshot does."""

    __slots__ = ("__dict__", "_writes", "snapshot")

    def __init__(self, snapshot: Snapshot, writes: tuple[Write, ...] = ()) -> None:
        self.snapshot = snapshot
        self._writes = writes

    @property
    def anchor(self) -> int:
        """The episode's now."""
        return self.snapshot.anchor

    @property
    def patient_id(self) -> str:
        """The patient."""
        return self.snapshot.patient_id

    @property
    def writes(self) -> tuple[Entry, ...]:
        """What the episode wrote, in order."""
        return tuple(write.entry for write in self._writes)

    def create(self, resource: Resource, *, valid: bool = False) -> Entry:
        """Write a resource: it gets the next id (`new-1`), version 1, the anchor's instant and its sequence number.

        Args:
            resource: A resource without id; it is not changed.
            valid: The caller validated it already.

        Raises:
            InvalidResource: It is not valid R4; nothing was stored.
        """
        number = len(self._writes) + 1
        stamped = self._stamped(resource, number)
        body = dump(stamped)
        if not valid and (problems := validate(body)):
            raise InvalidResource(problems)
        plain = load(body)
        marks = attributes(plain)
        first = marks.first if marks.time is not None else self.anchor
        row = compact_row(plain, marks.time)
        entry = Entry(plain["resourceType"], plain["id"], first, body=body, row=row)
        self._writes = (*self._writes, Write(entry, marks._replace(first=first)))
        self.__dict__.clear()
        return entry

    def _stamped(self, resource: Resource, number: int) -> Resource:
        now = instant_text(self.anchor)
        meta = resource.get("meta", {})
        marks = [mark for mark in meta.get("extension", ()) if mark.get("url") not in (KNOWN_AT, SEQUENCE)]
        marks += [{"url": KNOWN_AT, "valueInstant": now}, {"url": SEQUENCE, "valuePositiveInt": number}]
        meta = {**meta, "versionId": "1", "lastUpdated": now, "extension": marks}
        rest = {key: value for key, value in resource.items() if key not in ("resourceType", "id", "meta")}
        return {"resourceType": resource.get("resourceType"), "id": f"new-{number}", "meta": meta, **rest}

    def imported(self, kind: str) -> bool:
        """Tell whether resources of a type exist at all: imported, or written by this episode."""
        return self.snapshot.imported(kind) or any(write.entry.type == kind for write in self._writes)

    def read(self, kind: str, identity: str) -> Entry | None:
        """Return a resource of this episode or of the chart; None where there is none."""
        for write in self._writes:
            if write.entry.id == identity and write.entry.type == kind:
                return write.entry
        return self.snapshot.read(kind, identity)

    def resources(self, kind: str) -> list[Resource]:
        """Return the parsed resources of a type, newest first, this episode's writes among them."""
        return [load(entry.body) for entry in self.search(Search(kind)).entries()]

    def count(self, kind: str) -> int:
        """Return how many resources of a type there are."""
        return self.snapshot.count(kind) + sum(1 for write in self._writes if write.entry.type == kind)

    def names(self, kind: str, category: str | None = None) -> tuple[str, ...]:
        """Return the distinct names that resources of a type carry, in alphabetical order."""
        found = set(self.snapshot.names(kind, category))
        for write in self._writes:
            if write.entry.type == kind and (category is None or fold(category) in write.attributes.categories):
                found.add(write.attributes.concept[0])
        return tuple(sorted(found - {""}, key=lambda name: (name.casefold(), name)))

    def search(self, query: Search) -> Hits:
        """Return what answers the query, newest first; of equal times the latest write, then chart ids."""
        hits = self.snapshot.search(query)
        own = [write for write in self._writes if write.entry.type == query.type and _matches(write, query)]
        if not own:
            return hits
        own.reverse()
        own.sort(key=lambda write: -write.entry.first)
        dates = -self.snapshot.chart.index.arrays["first"][hits.positions]
        return MergedHits(hits, [(int(np.searchsorted(dates, -write.entry.first)), write.entry) for write in own])

    def fork(self) -> Overlay:
        """Return a copy whose writes go their own way."""
        return Overlay(self.snapshot, self._writes)

    @cached_property
    def state_hash(self) -> str:
        """Hash of chart, anchor, view and writes."""
        snapshot = self.snapshot
        state = blake2b(f"{snapshot.chart.hash} {snapshot.anchor} {snapshot.view!r}".encode(), digest_size=16)
        for write in self._writes:
            state.update(len(write.entry.body).to_bytes(8, "little") + write.entry.body)
        return state.hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.snapshot, tuple(write.entry.body for write in self._writes))


def _restore(snapshot: Snapshot, bodies: tuple[bytes, ...]) -> Overlay:
    writes = []
    for body in bodies:
        plain = load(body)
        marks = attributes(plain)
        first = marks.first if marks.time is not None else snapshot.anchor
        entry = Entry(plain["resourceType"], plain["id"], first, body=body, row=compact_row(plain, marks.time))
        writes.append(Write(entry, marks._replace(first=first)))
    return Overlay(snapshot, tuple(writes))


def _matches(write: Write, query: Search) -> bool:
    marks = write.attributes
    last = marks.last if marks.time is not None else NEVER
    return not (
        (query.encounter is not None and marks.encounter != query.encounter)
        or (query.category is not None and fold(query.category) not in marks.categories)
        or (query.status is not None and marks.status != query.status)
        or (asks_concept(query) and not concept_matches(marks.concept, query))
        or (query.date_from is not None and last <= query.date_from)
        or (query.date_to is not None and marks.first >= query.date_to)
        or (query.keyword is not None and not _has_keyword(write.entry, query.keyword))
    )


def _has_keyword(entry: Entry, keyword: str) -> bool:
    wanted = fold(keyword)
    return bool(wanted) and wanted in fold(document_text(load(entry.body)) or "")

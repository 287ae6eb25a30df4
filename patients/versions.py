"""Versions that an episode writes: how they are stamped, where they stand among hits, and what finds them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import orjson

from .chart import Entry, Snapshot
from .elements import age_at, document_text
from .errors import WardroundError
from .fulltext import phrase
from .packing import Attributes, attributes, fold, times_of
from .resource import DERIVED_SYSTEM, KNOWN_AT, SITE, Resource, instant_text, load
from .rows import compact_row
from .search import Search, asks_concept, concept_matches
from .times import NEVER, Instant

SEQUENCE = f"{SITE}/StructureDefinition/write-sequence"
"""Extension on what an episode wrote: the number of the write, from 1."""


class InvalidResource(WardroundError):  # noqa: N818 - it says what the resource is
    """A write that is not valid FHIR R4: nothing was stored. `problems` says what is wrong."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class WrittenEntry(Entry):
    """An entry that the episode wrote; its compact row is made when it is first asked for."""

    __slots__ = ("_anchor",)

    def __init__(self, kind: str, identity: str, first: Instant, body: bytes, anchor: Instant) -> None:
        super().__init__(kind, identity, first, body=body)
        self._anchor = anchor

    @property
    def row(self) -> bytes:
        """Compact JSON row, columns as in `COLUMNS[type]`."""
        if self._row is None:
            plain = self.resource()
            age = None
            if self.type == "Patient" and "birthDate" in plain:
                age = age_at(plain["birthDate"], self._anchor)
            self._row = compact_row(plain, attributes(plain).time, age)
        return self._row


class Write:
    """One version written by the episode. What searches ask of it is found when the first one asks, unless given."""

    __slots__ = ("_attributes", "base", "created", "entry")

    def __init__(
        self, entry: Entry, base: Entry | None, *, created: bool, attributes: Attributes | None = None
    ) -> None:
        self.entry = entry
        self.base = base
        """The chart's form that it hides; None for a resource the episode created."""
        self.created = created
        """It is the first version of a new resource."""
        self._attributes = attributes

    @property
    def attributes(self) -> Attributes:
        """What searches ask of it; an undated one has the place in time of its entry."""
        if self._attributes is None:
            marks = attributes(orjson.loads(self.entry.body))
            self._attributes = marks if marks.time is not None else marks._replace(first=self.entry.first)
        return self._attributes


def make_version(snapshot: Snapshot, body: bytes, plain: Resource, base: Entry | None, *, created: bool) -> Write:
    """Make a version of a stamped body; an undated one stands where the form it hides stands, or at the anchor.

    Args:
        snapshot: What it is written on.
        body: Its JSON.
        plain: The same, parsed.
        base: The chart's form that it hides.
        created: It is the first version of a new resource.
    """
    time, first, _ = times_of(plain)
    if time is None:
        first = snapshot.anchor if base is None else base.first
    entry = WrittenEntry(plain["resourceType"], plain["id"], first, body, snapshot.anchor)
    return Write(entry, base, created=created)


def stamped(resource: Resource, key: tuple[str | None, str], version: str, anchor: int, number: int) -> Resource:
    """Return a resource with type, id, version, the anchor's instant and the number of the write."""
    now = _written(anchor)
    if "resourceType" in resource and "id" not in resource and "meta" not in resource:  # most: what tools make
        meta: Resource = {"versionId": version, "lastUpdated": now, "extension": _marks(now, number)}
        return {"resourceType": key[0], "id": key[1], "meta": meta, **resource}
    meta = _sound_meta(resource)
    marks = [mark for mark in meta.get("extension", ()) if mark.get("url") not in (KNOWN_AT, SEQUENCE)]
    meta = {**meta, "versionId": version, "lastUpdated": now, "extension": [*marks, *_marks(now, number)]}
    rest = {name: value for name, value in resource.items() if name not in ("resourceType", "id", "meta")}
    return {"resourceType": key[0], "id": key[1], "meta": meta, **rest}


def _marks(now: str, number: int) -> list[Resource]:
    return [{"url": KNOWN_AT, "valueInstant": now}, {"url": SEQUENCE, "valuePositiveInt": number}]


def _sound_meta(resource: Resource) -> Resource:
    """Return the meta of a resource that somebody wrote, once it has the shape that is read here."""
    meta = resource.get("meta", {})
    if not isinstance(meta, dict):
        raise InvalidResource(["meta: must be an object"])
    for name in ("extension", "tag"):
        parts = meta.get(name, [])
        if not isinstance(parts, list | tuple) or not all(isinstance(part, dict) for part in parts):
            raise InvalidResource([f"meta.{name}: must be an array of objects"])
    found: Resource = meta
    return found


_written = lru_cache(maxsize=256)(instant_text)
"""`instant_text`, remembered: all writes of an episode are made at its anchor."""


def next_version(resource: Resource) -> str:
    """Return the number after a resource's version; one of a chart without a whole number counts as version 1."""
    version = str(resource.get("meta", {}).get("versionId", "1"))
    return str(int(version) + 1) if version.isdecimal() and version.isascii() and len(version) < 16 else "2"


def underived(resource: Resource) -> Resource:
    """Return a resource without the tag of a derived status: this status is somebody's word."""
    meta = _sound_meta(resource)
    tags = [tag for tag in meta.get("tag", ()) if tag.get("system") != DERIVED_SYSTEM]
    rest = {name: value for name, value in meta.items() if name != "tag"}
    return {**resource, "meta": {**rest, "tag": tags} if tags else rest}


def place_of(write: Write, order: int) -> tuple[int, bool, int]:
    """Return what sorts a write among hits: newest first; of equal times new resources, the latest first.

    A version of a chart resource whose date stayed takes the place of the chart's form (second part true, third its
    place in the chart's index).

    Args:
        write: The write.
        order: Number of its resource among those the episode wrote.
    """
    base = write.base
    if base is not None and base.first == write.entry.first:
        return -write.entry.first, True, base.position
    return -write.entry.first, False, -order


def matches(write: Write, query: Search, snapshot: Snapshot) -> bool:
    """Tell whether a write answers a query, as `Snapshot.search` would tell of a chart's form."""
    marks = write.attributes
    last = marks.last if marks.time is not None else NEVER
    return not (
        (query.encounter is not None and marks.encounter not in snapshot.encounters_of(query.encounter))
        or (query.category is not None and fold(query.category) not in marks.categories)
        or (query.status is not None and marks.status != query.status)
        or (asks_concept(query) and not concept_matches(marks.concept, query))
        or (query.date_from is not None and last <= query.date_from)
        or (query.date_to is not None and marks.first >= query.date_to)
        or (query.keyword is not None and not _has_keyword(write.entry, query.keyword))
    )


def _has_keyword(entry: Entry, keyword: str) -> bool:
    wanted = phrase(keyword)
    return wanted is not None and wanted.within(document_text(load(entry.body)) or "")


def hashable(concept: tuple[str, Sequence[str], Sequence[str]]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return a concept (name, folded names, codes) that can be a key."""
    return concept[0], tuple(concept[1]), tuple(concept[2])

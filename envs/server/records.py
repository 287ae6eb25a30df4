"""The records that a server shows: of every patient of a store, each as of its anchor, with what was written to it.

Every write is in the journal before it is acknowledged; writes that belong together are kept wholly or not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

from wardround.patients import (
    ChartStore,
    DataError,
    Entry,
    Instant,
    Overlay,
    Resource,
    WardroundError,
    blank_chart,
    keys_of,
    last_known,
    read_resource,
)

from .journal import Journal
from .messages import refused

MAX_WRITES = 10_000
"""Writes a server takes."""

MAX_WRITTEN = 64 * 1024 * 1024
"""Bytes of all versions it takes."""

Tick = Callable[[], None]
"""Called before a record is looked at; raises where a request has taken too long."""


class Pool:
    """Records searched as one (`patients.Pool`)."""

    def __init__(self, version: int, records: Callable[[int], Sequence[Overlay]], tick: Tick) -> None:
        self.version = version
        self.tick = tick
        self._records = records

    def as_of(self, version: int) -> Sequence[Overlay]:
        """Return the records as they were after the first `version` writes."""
        return self._records(version)


class Records(Protocol):
    """What the door serves: the records of a store, or that of a live episode."""

    def patients(self) -> Sequence[str]:
        """Return the ids of the patients."""

    def record(self, patient_id: str) -> Overlay | None:
        """Return a patient's record as it stands; None where there is no such patient."""

    def holders(self, kind: str, identity: str) -> Sequence[str]:
        """Return the patients whose record may hold a resource."""

    def pool(self, patients: Sequence[str] | None, tick: Tick) -> Pool:
        """Return these records, or all of them, to be searched as one."""

    def allocate(self, kind: str) -> str | None:
        """Return the id of the next new resource; None where the record itself gives it."""

    def create(self, patient_id: str | None, resource: Resource, identity: str | None) -> Entry:
        """Write a new resource to a patient's record; None begins a new record, of the patient it is."""

    def replace(self, patient_id: str, key: str, resource: Resource) -> Entry:
        """Write the next version of a resource."""

    def together(self) -> Any:
        """Return a context in which all writes are kept, or none where it raises."""

    def seen(self, keys: Iterable[str]) -> None:
        """Take note of what a caller was shown."""


class ChartRecords:
    """The records of a store.

    Args:
        store: The charts.
        anchors: Patient → instant as of which the chart is read; "" for all others. Without it: the last known.
        journal: Where writes are kept.
    """

    def __init__(self, store: ChartStore, anchors: Mapping[str, Instant], journal: Journal) -> None:
        self._store = store
        self._given = anchors
        self._anchors: dict[str, Instant] = {}
        self._written: dict[str, Overlay] = {}
        self._order: list[str] = []
        self._homes: dict[str, str] = {}
        self._new: list[str] = []
        self._numbers = 0
        self._bytes = 0
        self._lines: list[dict[str, Any]] | None = None
        self._ids: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None = None
        self._journal = journal
        self._known = frozenset(store.patients())
        journal.begin({"charts": store.hash, "anchors": dict(sorted(anchors.items()))})
        for step in journal.steps():
            self._repeat(step)

    def patients(self) -> Sequence[str]:
        """Return the ids of the patients, those of the store first."""
        return (*self._store.patients(), *self._new)

    def record(self, patient_id: str) -> Overlay | None:
        """Return a patient's record as it stands."""
        found = self._written.get(patient_id)
        if found is not None or patient_id not in self._known:
            return found
        chart = self._store.chart(patient_id)
        return Overlay(chart.at(self._anchor(patient_id)))

    def _anchor(self, patient_id: str) -> Instant:
        found = self._anchors.get(patient_id)
        if found is None:
            found = self._given.get(patient_id, self._given.get(""))
            if found is None:
                found = last_known(self._store.chart(patient_id))
            self._anchors[patient_id] = found
        return found

    def holders(self, kind: str, identity: str) -> Sequence[str]:
        """Return the patients whose record may hold a resource, in order."""
        key = f"{kind}/{identity}"
        if key in self._homes:
            return (self._homes[key],)
        if kind == "Patient" and identity in self._known:
            return (identity,)
        hashes, charts = self._index()
        wanted = _hash(key)
        first, last = np.searchsorted(hashes, wanted, "left"), np.searchsorted(hashes, wanted, "right")
        names = self._store.patients()
        return [names[place] for place in sorted(charts[first:last].tolist())]

    def _index(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the hashes of all keys of the store, sorted, with the number of each one's chart (made once)."""
        if self._ids is None:
            found: list[tuple[int, int]] = []
            for number, name in enumerate(self._store.patients()):
                found += [(_hash(key), number) for key in keys_of(self._store.chart(name))]
            hashes = np.array([one for one, _ in found], dtype=np.uint64)
            charts = np.array([number for _, number in found], dtype=np.int64)
            order = np.argsort(hashes, kind="stable")
            self._ids = hashes[order], charts[order]
        return self._ids

    def pool(self, patients: Sequence[str] | None, tick: Tick) -> Pool:
        """Return these records, or all, to be searched as one."""
        names = self.patients() if patients is None else patients
        now = len(self._order)

        def records(version: int) -> Sequence[Overlay]:
            counts = Counter(self._order[:version]) if version < now else None
            found = []
            for name in names:
                tick()
                record = self.record(name)
                if record is None or counts is None:
                    found += [] if record is None else [record]
                elif name in self._known or name in counts:
                    found.append(record.as_of(counts[name]))
            return found

        return Pool(len(self._order), records, tick)

    # -- writing ---------------------------------------------------------------------------------------------------

    def allocate(self, kind: str) -> str:
        """Return the id of the next new resource, which no record has."""
        self._numbers += 1
        identity = f"new-{self._numbers}"
        while self.holders(kind, identity) or identity in self._known:
            identity += "-1"
        return identity

    def create(self, patient_id: str | None, resource: Resource, identity: str | None) -> Entry:
        """Write a new resource; with `patient_id` None it is a patient, whose record begins with it."""
        identity = self.allocate(str(resource.get("resourceType"))) if identity is None else identity
        if patient_id is None:
            patient_id = identity
            anchor = max((self._anchor(name) for name in self._store.patients()), default=0)
            self._written[patient_id] = Overlay(blank_chart(patient_id, self._store.licence).at(anchor))
            self._new.append(patient_id)
        record = self._writable(patient_id)
        entry = record.create(resource, identity=identity)
        return self._took(patient_id, entry, "create")

    def replace(self, patient_id: str, key: str, resource: Resource) -> Entry:
        """Write the next version of a resource."""
        return self._took(patient_id, self._writable(patient_id).replace(key, resource), "update")

    def _writable(self, patient_id: str) -> Overlay:
        record = self.record(patient_id)
        assert record is not None  # the caller found the patient
        self._written[patient_id] = record
        return record

    def _took(self, patient_id: str, entry: Entry, op: str) -> Entry:
        self._order.append(patient_id)
        self._homes[entry.key] = patient_id
        self._bytes += len(entry.body)
        if len(self._order) > MAX_WRITES or self._bytes > MAX_WRITTEN:
            raise refused(503, "too-costly", f"this server takes {MAX_WRITES} writes or 64 MiB of them; start another")
        if self._lines is not None:
            self._lines.append({"patient": patient_id, "op": op, "key": entry.key, "body": entry.body.decode()})
        return entry

    @contextmanager
    def together(self) -> Iterator[None]:
        """Keep all writes of the block, in the journal first, or none of them."""
        if self._lines is not None:  # within another one
            yield
            return
        kept = {name: record.fork() for name, record in self._written.items()}
        before = (self._order.copy(), self._homes.copy(), self._new.copy(), self._numbers, self._bytes)
        self._lines = []
        try:
            yield
            self._journal.write(self._lines)
        except BaseException:
            self._written = kept
            self._order, self._homes, self._new, self._numbers, self._bytes = before
            raise
        finally:
            self._lines = None

    def _repeat(self, step: Mapping[str, Any]) -> None:
        """Do a step of the journal again."""
        try:
            resource = read_resource(step["body"].encode())
            patient_id, key = str(step["patient"]), str(step["key"])
            kind, _, identity = key.partition("/")
            if step["op"] == "create":
                new = kind == "Patient" and identity == patient_id
                self._numbers += 1
                self.create(None if new else patient_id, resource, identity)
            else:
                self.replace(patient_id, key, resource)
        except (KeyError, AssertionError, AttributeError, ValueError, WardroundError) as fault:
            raise DataError(
                f"{self._journal.path}: a write cannot be done again ({fault}); use another --out"
            ) from fault

    def seen(self, keys: Iterable[str]) -> None:
        """Nothing to note: nobody plays on a store."""


def _hash(key: str) -> int:
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "little")

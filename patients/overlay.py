"""An episode's own writes on top of a snapshot: visible at once, to this episode only.

Every write is a version. A resource the episode created begins at version 1; a change of a resource of the chart is
its next version, which hides the chart's own form from every read, search and count. Older versions are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import orjson

from .chart import Entry, Snapshot
from .errors import DataError, UsageError, WardroundError
from .fhir import check
from .packing import fold
from .resource import Resource, dump, load
from .search import Hits, MergedHits, Search
from .versions import (
    InvalidResource,
    Write,
    hashable,
    make_version,
    matches,
    next_version,
    place_of,
    stamped,
    underived,
)
from .workspace import Workspace

__all__ = ["InvalidResource", "Overlay", "Write"]


class Overlay:
    """A snapshot plus the writes of one episode. Reads and searches as a Snapshot does.

    Args:
        snapshot: The chart as of the anchor.
        writes: Versions written, in order.
        workspace: The episode's files.
    """

    __slots__ = ("__dict__", "_workspace", "_writes", "snapshot")

    def __init__(self, snapshot: Snapshot, writes: tuple[Write, ...] = (), workspace: Workspace | None = None) -> None:
        self.snapshot = snapshot
        self._writes = writes
        self._workspace = workspace

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
        """Every version the episode wrote, in order (a changed resource appears once a version)."""
        return tuple([write.entry for write in self._writes])

    @property
    def version(self) -> int:
        """Number of versions written so far: two equal versions of one overlay show the same record."""
        return len(self._writes)

    def own(self, kind: str) -> Sequence[Write]:
        """Return the current version of every resource of a type that the episode wrote, in order of first write."""
        return self._by_type.get(kind, ()) if self._writes else ()

    def hidden(self, kind: str) -> tuple[int, ...]:
        """Return the places in the chart's index of the forms that newer versions hide, ascending."""
        if not self._writes:
            return ()
        return tuple(sorted(write.base.position for write in self.own(kind) if write.base is not None))

    @property
    def replaced(self) -> frozenset[str]:
        """Keys of the chart resources that a newer version hides."""
        if not self._writes:
            return frozenset()
        return frozenset(key for key, write in self._latest.items() if write.base is not None)

    def wrote(self, key: str) -> bool:
        """Tell whether what is served under a key is this episode's own version."""
        return bool(self._writes) and key in self._latest

    def wrote_any(self, kinds: frozenset[str]) -> bool:
        """Tell whether the episode wrote a resource of one of these types."""
        return any(write.entry.type in kinds for write in self._writes)

    def versions(self, key: str) -> tuple[Entry, ...]:
        """Return all versions of a resource, oldest first, the chart's form included; empty where there is none."""
        mine = [write for write in self._writes if write.entry.key == key]
        kind, _, identity = key.partition("/")
        base = mine[0].base if mine else self.snapshot.read(kind, identity)
        return (*([] if base is None else [base]), *(write.entry for write in mine))

    # -- writing ---------------------------------------------------------------------------------------------------

    def create(self, resource: Resource, *, valid: bool = False, identity: str | None = None) -> Entry:
        """Write a new resource: it gets the next id (`new-1`), version 1, the anchor's instant and its number.

        Args:
            resource: A resource without id; it is not changed.
            valid: The caller validated it already.
            identity: Its id instead, where several records are written to as one.

        Raises:
            UsageError: There is a resource of that id.
            InvalidResource: It is not valid R4; nothing was stored.
        """
        number = len(self._writes) + 1
        kind = resource.get("resourceType")
        if identity is not None and isinstance(kind, str) and self.read(kind, identity) is not None:
            raise UsageError(f"there is a `{kind}/{identity}` already; write its next version with `replace`")
        identity = f"new-{number}" if identity is None else identity
        while isinstance(kind, str) and self.snapshot.read(kind, identity) is not None:  # a chart may use such ids
            identity += "-1"
        made = stamped(resource, (kind, identity), "1", self.anchor, number)
        return self._write(made, None, created=True, valid=valid)

    @property
    def last_write(self) -> Write | None:
        """The version written last."""
        return self._writes[-1] if self._writes else None

    def write_again(self, write: Write) -> None:
        """Write what another overlay of this snapshot created as its write of the same number."""
        self._writes = (*self._writes, write)
        self.__dict__.clear()

    def update(self, key: str, changes: Mapping[str, Any], *, valid: bool = False) -> Entry:
        """Write the next version of a resource of the chart or of this episode, with some elements changed.

        Args:
            key: `Type/id` of a resource that this episode can read.
            changes: Top-level elements with their new values; None takes one out. A status that changes loses the
                tag of a derived one.
            valid: The caller validated the result already.

        Raises:
            UsageError: There is no such resource, or `changes` holds resourceType, id or meta.
            InvalidResource: The new version is not valid R4; nothing was stored.
        """
        if fixed := {"resourceType", "id", "meta"} & changes.keys():
            raise UsageError(f"`{'`, `'.join(sorted(fixed))}` of {key} cannot be changed; leave them out of `changes`")
        current = self._current(key)
        before = current.resource()
        changed = {name: value for name, value in {**before, **changes}.items() if value is not None}
        return self._revise(current, before, changed, valid=valid)

    def replace(self, key: str, resource: Resource, *, valid: bool = False) -> Entry:
        """Write the next version of a resource as a whole (the PUT of FHIR).

        Args:
            key: `Type/id` of a resource that this episode can read.
            resource: The whole new resource; its type and, where given, its id are those of the key.
            valid: The caller validated it already.

        Raises:
            UsageError: There is no such resource, or `resource` is another one.
            InvalidResource: It is not valid R4; nothing was stored.
        """
        current = self._current(key)
        if resource.get("resourceType") != current.type or resource.get("id", current.id) != current.id:
            given = f"{resource.get('resourceType')}/{resource.get('id')}"
            raise UsageError(f"`{given}` cannot be a version of `{key}`; give its type and id")
        return self._revise(current, current.resource(), resource, valid=valid)

    def _current(self, key: str) -> Entry:
        kind, _, identity = key.partition("/")
        found = self.read(kind, identity)
        if found is None:
            raise UsageError(f"there is no `{key}` to change; use the key of a resource that can be read")
        return found

    def _revise(self, current: Entry, before: Resource, resource: Resource, *, valid: bool) -> Entry:
        if resource.get("status") != before.get("status"):
            resource = underived(resource)
        key = (current.type, current.id)
        made = stamped(resource, key, next_version(before), self.anchor, len(self._writes) + 1)
        written = self._latest.get(current.key) if self._writes else None
        return self._write(made, current if written is None else written.base, created=False, valid=valid)

    def _write(self, made: Resource, base: Entry | None, *, created: bool, valid: bool) -> Entry:
        try:
            body = dump(made)
            plain = orjson.loads(body)
        except (DataError, orjson.JSONDecodeError) as fault:  # a number no machine holds, a lone surrogate
            raise InvalidResource([f"not JSON: {fault}"]) from fault
        if not valid and (problems := check(plain, strict=True)):
            raise InvalidResource(problems)
        write = make_version(self.snapshot, body, plain, base, created=created)
        self._writes = (*self._writes, write)
        self.__dict__.clear()
        return write.entry

    # -- files -----------------------------------------------------------------------------------------------------

    @property
    def workspace(self) -> Workspace:
        """The episode's files. Immutable: set the next one to change them."""
        return self._workspace if self._workspace is not None else _NO_FILES

    @workspace.setter
    def workspace(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.__dict__.pop("state_hash", None)

    # -- reading ---------------------------------------------------------------------------------------------------

    def imported(self, kind: str) -> bool:
        """Tell whether resources of a type exist at all: imported, or written by this episode."""
        return self.snapshot.imported(kind) or bool(self.own(kind))

    def read(self, kind: str, identity: str) -> Entry | None:
        """Return a resource of this episode or of the chart, its newest version; None where there is none."""
        if self._writes and (write := self._latest.get(f"{kind}/{identity}")) is not None:
            return write.entry
        return self.snapshot.read(kind, identity)

    def resources(self, kind: str) -> list[Resource]:
        """Return the parsed resources of a type, newest first, this episode's writes among them."""
        return [load(entry.body) for entry in self.search(Search(kind)).entries()]

    def count(self, kind: str) -> int:
        """Return how many resources of a type there are."""
        return self.snapshot.count(kind) + sum(1 for write in self.own(kind) if write.base is None)

    def names(self, kind: str, category: str | None = None) -> tuple[str, ...]:
        """Return the distinct names that resources of a type carry, in alphabetical order."""
        if not self.own(kind):
            return self.snapshot.names(kind, category)
        found = {name for name, _, _ in self.concepts(kind, category)} - {""}
        return tuple(sorted(found, key=lambda name: (name.casefold(), name)))

    def concepts(self, kind: str, category: str | None = None) -> tuple[tuple[str, Sequence[str], Sequence[str]], ...]:
        """Return the distinct concepts of resources of a type: name, folded names, codes; ordered by name."""
        own = self.own(kind)
        if not own:
            return self.snapshot.concepts(kind, category)
        index = self.snapshot.chart.index
        shown = self._shown(self.snapshot.search(Search(kind, category=category))).positions
        numbers = np.unique(index.arrays["concept"][shown]).tolist()
        found = dict.fromkeys(hashable(index.concepts[number]) for number in numbers)
        for write in own:
            if category is None or fold(category) in write.attributes.categories:
                found[write.attributes.concept] = None
        return tuple(sorted(found, key=lambda one: (one[0].casefold(), one[0], *one[2])))

    def search(self, query: Search) -> Hits:
        """Return what answers the query, newest first; of equal times the latest new resource, then the chart's order.

        A new version of a chart resource stands where the chart's form stood, unless its date changed.
        """
        hits = self.snapshot.search(query)
        own = self.own(query.type)
        if not own:
            return hits
        hits = self._shown(hits)
        found = [
            (place_of(write, order), write.entry)
            for order, write in enumerate(own)
            if matches(write, query, self.snapshot)
        ]
        if not found:
            return hits
        if len(found) > 1:
            found.sort(key=lambda one: one[0])
        return MergedHits(hits, [(self._before(hits, *place), entry) for place, entry in found])

    def _before(self, hits: Hits, date: int, in_place: bool, place: int) -> int:
        """Return how many hits of the snapshot come before a write, by its place (`place_of`)."""
        if in_place:
            return int(np.searchsorted(hits.positions, place))
        dates = self.snapshot.chart.index.arrays["first"]
        if not hits.total or -dates[hits.positions[0]] >= date:  # the newest of all, as most writes are
            return 0
        return int(np.searchsorted(-dates[hits.positions], date))

    def _shown(self, hits: Hits) -> Hits:
        """Return hits of the snapshot without the forms that newer versions hide."""
        hidden = self.hidden(hits.type)
        if not hidden:
            return hits
        return Hits(hits.snapshot, hits.type, hits.positions[np.isin(hits.positions, hidden, invert=True)])

    def as_of(self, version: int) -> Overlay:
        """Return the record as it was after its first `version` writes (a page of an earlier search reads it so)."""
        return Overlay(self.snapshot, self._writes[:version], self._workspace)

    def fork(self) -> Overlay:
        """Return a copy whose writes go their own way."""
        return Overlay(self.snapshot, self._writes, self._workspace)

    @cached_property
    def _latest(self) -> dict[str, Write]:
        """The newest version of every resource written, by key, in order of first write."""
        return {write.entry.key: write for write in self._writes}

    @cached_property
    def _by_type(self) -> dict[str, tuple[Write, ...]]:
        found: dict[str, list[Write]] = {}
        for write in self._latest.values():
            found.setdefault(write.entry.type, []).append(write)
        return {kind: tuple(writes) for kind, writes in found.items()}

    # -- state -----------------------------------------------------------------------------------------------------

    @cached_property
    def state_hash(self) -> str:
        """Hash of chart, anchor, view, every version written in order, and the files as they are."""
        snapshot = self.snapshot
        state = blake2b(f"{snapshot.chart.hash} {snapshot.anchor} {snapshot.view!r}".encode(), digest_size=16)
        for write in self._writes:
            state.update(len(write.entry.body).to_bytes(8, "little") + write.entry.body)
        if self._workspace:
            state.update(self._workspace.digest)
        return state.hexdigest()

    @property
    def log(self) -> list[dict[str, str]]:
        """The write log as plain JSON: every version in order, then the files; `replay` makes the state again."""
        steps = [
            {"op": "create" if write.created else "update", "key": entry.key, "body": entry.body.decode()}
            for write in self._writes
            for entry in (write.entry,)
        ]
        return steps + [{"op": "file", "path": path, "text": text} for path, text in self.workspace.items()]

    @classmethod
    def replay(cls, snapshot: Snapshot, log: Iterable[Mapping[str, Any]]) -> Overlay:
        """Make an overlay again from its write log.

        Args:
            snapshot: Of the same chart, anchor and view.
            log: As `log` gave it, perhaps through JSON.

        Raises:
            DataError: A step is not one that this snapshot and the steps before it allow.
        """
        overlay = cls(snapshot)
        for number, step in enumerate(log, start=1):
            try:
                overlay._repeat(step)
            except (KeyError, TypeError, AttributeError, ValueError, WardroundError) as fault:
                raise DataError(f"write log, step {number}: {fault!s}; give the log and chart of one run") from fault
        return overlay

    def _repeat(self, step: Mapping[str, Any]) -> None:
        op, key = step["op"], step["key" if step["op"] != "file" else "path"]
        if op == "file":
            self.workspace = self.workspace.write(key, step["text"])
            return
        if op not in ("create", "update"):
            raise DataError(f"`op` is `{op}`, expected create, update or file")
        body = step["body"].encode()
        resource = load(body)
        trial = Overlay(self.snapshot, self._writes)
        entry = trial.create(resource) if op == "create" else trial.replace(key, resource)
        if entry.key != key or entry.resource() != resource:
            raise DataError(f"`{key}` is not what this record makes of it")
        base = trial._writes[-1].base  # the bytes as logged: a number may be written in several ways
        again = make_version(self.snapshot, body, resource, base, created=op == "create")
        self._writes = (*self._writes, again)
        self.__dict__.clear()

    def __reduce__(self) -> tuple[Any, ...]:
        marks = tuple((write.entry.body, write.base is not None, write.created) for write in self._writes)
        return _restore, (self.snapshot, marks, self._workspace)


_NO_FILES = Workspace()


def _restore(
    snapshot: Snapshot, marks: tuple[tuple[bytes, bool, bool], ...], workspace: Workspace | None = None
) -> Overlay:
    writes = []
    for body, of_chart, created in marks:
        plain = load(body)
        base = snapshot.read(plain["resourceType"], plain["id"]) if of_chart else None
        writes.append(make_version(snapshot, body, plain, base, created=created))
    return Overlay(snapshot, tuple(writes), workspace)

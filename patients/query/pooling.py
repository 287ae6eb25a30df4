"""Several records searched as one: each is asked alone, and what they find is put into one order.

A chart holds what is about its patient. What several charts hold copies of (types outside the compartment of a patient:
places, people of the house, products) is found once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from wardround.patients.chart import Entry, Snapshot
from wardround.patients.overlay import Overlay
from wardround.patients.times import Instant

from .definitions import compartment
from .errors import Issue
from .including import LIMIT, included
from .matching import select
from .ordering import ordered, ordered_across
from .parsing import Query
from .postings import Array
from .restriction import RestrictedScope, Visibility
from .results import Include
from .tables import Scope, Table

Membership = Callable[[str], tuple[str, tuple[str, ...]] | None]
"""Type → owner of a compartment and the parameters that put the type into it; None where there is no compartment."""


class Pool(Protocol):
    """Records that are searched as one."""

    @property
    def version(self) -> int:
        """Number of writes to any of them so far."""

    def as_of(self, version: int) -> Sequence[Overlay]:
        """Return the records as they were after the first `version` writes, in an order that never changes."""

    def tick(self) -> None:
        """Called before each record is searched; raises where the search has taken too long."""


def scopes_of(
    record: Snapshot | Overlay | Pool,
    base: str,
    version: int | None,
    visible: Callable[[str], Visibility | None] | None,
) -> tuple[Scope, ...]:
    """Return what a search may look at, a scope for every record.

    Args:
        record: What is searched.
        base: Own base URL.
        version: How many writes the search sees; None for all.
        visible: Patient id → what may be seen of that record (None: all); without it all of every record.
    """
    if isinstance(record, Snapshot | Overlay):
        records: Sequence[Snapshot | Overlay] = (record,)
    else:
        records, version = record.as_of(record.version if version is None else version), None
    found: list[Scope] = []
    for one in records:
        limit = visible(one.patient_id) if visible is not None else None
        found.append(
            Scope(one, base, version) if limit is None or limit.total else RestrictedScope(one, base, version, limit)
        )
    return tuple(found)


def version_of(record: Snapshot | Overlay | Pool) -> int:
    """Return how many writes a record, or several, have."""
    return 0 if isinstance(record, Snapshot) else record.version


Rows = list[tuple[Table, int]]


def page_across(
    scopes: Sequence[Scope],
    query: Query,
    membership: Membership,
    offset: int,
    dates: tuple[Instant, Instant] | None,
    tick: Callable[[], None],
) -> tuple[int, list[tuple[Scope, Entry]]]:
    """Return the total and the matches of one page, each with the scope it is of.

    Args:
        scopes: The records.
        query: The query.
        membership: Which compartment is searched.
        offset: Matches before the page.
        dates: Only what is dated within (from, before), as tools search by date; what has no date is within.
        tick: Called before each record is searched.
    """
    rows: Rows = []
    home: dict[int, Scope] = {}
    for kind in query.kinds:
        parts = []
        for scope in scopes:
            tick()
            table = scope.table(kind)
            home[id(table)] = scope
            found = select(scope, query, kind, membership(kind))
            parts.append((table, found if dates is None else _within(table, found, dates)))
        rows += _merged(kind, parts)
    wanted = query.wanted
    if wanted.sort and wanted.count:
        rows = ordered_across(rows, wanted.sort)
    page = rows[offset : offset + wanted.count]
    return len(rows), [(home[id(table)], table.entry(row)) for table, row in page]


def _within(table: Table, rows: Array, dates: tuple[Instant, Instant]) -> Array:
    first, last = table.spans(rows)
    return rows[(first < dates[1]) & (last > dates[0])] if table.kind != "Patient" else rows


def _merged(kind: str, parts: list[tuple[Table, Array]]) -> Rows:
    """Put rows of several records into one order: newest first, of equal times in the order of the records."""
    parts = [(table, rows) for table, rows in parts if len(rows)]
    if len(parts) == 1:
        table, rows = parts[0]
        return [(table, row) for row in rows.tolist()]
    if not parts:
        return []
    pairs = [(table, row) for table, rows in parts for row in rows.tolist()]
    dates = np.concatenate([table.spans(rows)[0] for table, rows in parts])
    found = [pairs[place] for place in np.argsort(-dates, kind="stable").tolist()]
    if kind == "Patient" or kind in compartment("Patient"):
        return found
    once: dict[str, tuple[Table, int]] = {}
    for table, row in found:
        once.setdefault(table.id(row), (table, row))
    return list(once.values())


def page_of_one(
    scope: Scope, query: Query, membership: Membership, offset: int
) -> tuple[int, list[tuple[Scope, Entry]]]:
    """Return the total and the matches of one page of one type of one record (the fast way)."""
    wanted = query.wanted
    kind = query.kinds[0]
    rows = select(scope, query, kind, membership(kind))
    table = scope.table(kind)
    if wanted.sort and wanted.count:
        rows = ordered(table, rows, wanted.sort)
    page = rows[offset : offset + wanted.count]
    return len(rows), [(scope, table.entry(row)) for row in page.tolist()]


def included_across(
    matches: Sequence[tuple[Scope, Entry]], wanted: Sequence[Include]
) -> tuple[list[Entry], list[Issue]]:
    """Return what a page includes, record by record; a resource that several records hold comes once."""
    groups: dict[int, tuple[Scope, list[Entry]]] = {}
    for scope, entry in matches:
        groups.setdefault(id(scope), (scope, []))[1].append(entry)
    if len(groups) == 1:
        ((scope, entries),) = groups.values()
        return included(scope, entries, wanted)
    seen = {entry.key for _, entry in matches}
    found: list[Entry] = []
    issues: list[Issue] = []
    for scope, entries in groups.values():
        more, told = included(scope, entries, wanted)
        issues += told
        for entry in more:
            if entry.key not in seen:
                seen.add(entry.key)
                found.append(entry)
    if len(found) > LIMIT:
        text = f"more than {LIMIT} resources come along with this page; the rest were left out"
        issues = [Issue("warning", "too-costly", text, "http._include")]
    return found[:LIMIT], list(dict.fromkeys(issues))

"""`_sort`: rows in the order of one or several parameters; ties by id, rows without a value last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from wardround.patients.chart import Entry

from .definitions import parameters
from .postings import Array
from .tables import Table

Row = TypeVar("Row")

ORDERS = 16
"""Orders a table keeps."""


def ordered(table: Table, rows: Array, sort: tuple[tuple[str, bool], ...]) -> Array:
    """Return rows of a table in order."""
    table = table.whole or table  # an order of the whole table orders any part of it
    places = table.sorted.get(sort)
    if places is None:
        if len(table.sorted) >= ORDERS:
            table.sorted.clear()
        every = np.flatnonzero(table.visible).tolist()
        keys = [(table.keys(parameters(table.kind)[name], descending=down), down) for name, down in sort]
        found = _stable(every, table.id, [(known.get, down) for known, down in keys])
        places = np.full(table.size, table.size, dtype=np.intp)
        places[found] = np.arange(len(found))
        table.sorted[sort] = places
    return rows[np.argsort(places[rows], kind="stable")]


def ordered_across(rows: Sequence[tuple[Table, int]], sort: tuple[tuple[str, bool], ...]) -> list[tuple[Table, int]]:
    """Return rows of several tables, of one record or of several, in order; ties by type, then id."""
    keys: dict[tuple[int, str], dict[int, Any]] = {}
    for table in {id(table): table for table, _ in rows}.values():
        for name, down in sort:
            keys[id(table), name] = table.keys(parameters(table.kind)[name], descending=down)

    def key_of(name: str) -> Callable[[tuple[Table, int]], Any]:
        return lambda one: keys[id(one[0]), name].get(one[1])

    return _stable(rows, lambda one: (one[0].kind, one[0].id(one[1])), [(key_of(name), down) for name, down in sort])


def _stable(
    rows: Sequence[Row], tie: Callable[[Row], Any], keys: Sequence[tuple[Callable[[Row], Any], bool]]
) -> list[Row]:
    """Sort by the last key first, so that each earlier key keeps the order of the later ones among its ties."""
    found = sorted(rows, key=tie)
    for key, descending in reversed(keys):
        here = [row for row in found if key(row) is not None]
        gone = [row for row in found if key(row) is None]
        found = sorted(here, key=key, reverse=descending) + gone
    return found


def entries_of(table: Table, rows: Array) -> list[Entry]:
    """Return the entries of rows."""
    return [table.entry(row) for row in rows.tolist()]

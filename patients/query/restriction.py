"""What a caller may see of a record: types, and of each the resources that one of some searches finds.

The rest is not there for any part of a search: not found, counted, sorted by, chained through or included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b

import numpy as np

from wardround.patients.chart import Entry, Snapshot
from wardround.patients.overlay import Overlay

from .definitions import searchable
from .matching import select
from .pairs import pairs_of
from .parsing import Query, parse_query
from .postings import Array
from .tables import Scope, Table


class Visibility:
    """Which resources may be seen.

    Args:
        allowed: Type → query strings, one of which must find a resource; "" finds all. A type without any is hidden.

    Raises:
        SearchError: A query cannot be read; nothing in it may be unknown.
    """

    def __init__(self, allowed: Mapping[str, Iterable[str]]) -> None:
        self._queries: dict[str, tuple[Query, ...] | None] = {}
        self.mark = b""
        told = sorted((kind, sorted(set(queries))) for kind, queries in allowed.items() if kind in searchable())
        for kind, queries in told:
            if "" in queries:
                self._queries[kind] = None
            elif queries:
                self._queries[kind] = tuple(parse_query((kind,), pairs_of(query), "", 1, True) for query in queries)
        if len(self._queries) == len(searchable()) and not self.narrow:
            return  # everything may be seen: searches and their pages are those of the record itself
        self.mark = blake2b(repr(told).encode(), digest_size=16).digest()

    @property
    def total(self) -> bool:
        """Whether everything is visible."""
        return not self.mark

    @property
    def narrow(self) -> bool:
        """Whether some type is visible in part."""
        return any(queries is not None for queries in self._queries.values())

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types of which anything may be seen."""
        return tuple(self._queries)

    def queries(self, kind: str) -> tuple[Query, ...] | None:
        """Return the searches of which one must find a resource of a type; None where all may be seen.

        Raises:
            KeyError: Nothing of the type may be seen.
        """
        return self._queries[kind]


class RestrictedScope(Scope):
    """A scope that shows what may be seen.

    Args:
        record: The record.
        base: Own base URL without a trailing slash, or empty.
        version: How many writes the search sees; None for all.
        visibility: What may be seen.
    """

    def __init__(self, record: Snapshot | Overlay, base: str, version: int | None, visibility: Visibility) -> None:
        super().__init__(record, base, version)
        self._visibility = visibility
        self._whole = Scope(self.overlay, base)
        self._shown: dict[str, Table] = {}
        self._ids: dict[str, frozenset[str]] = {}
        self.mark = visibility.mark

    def table(self, kind: str) -> Table:
        """Return the table of a type, with the rows visible that may be seen."""
        found = self._shown.get(kind)
        if found is None:
            found = self._whole.table(kind)
            if kind not in self._visibility.kinds:
                found = found.limited(np.zeros(found.size, dtype=bool))
            elif (queries := self._visibility.queries(kind)) is not None:
                shown: Array = np.zeros(found.size, dtype=bool)
                for query in queries:
                    shown[select(self._whole, query, kind)] = True
                found = found.limited(shown)
            self._shown[kind] = found
        return found

    def read(self, key: str) -> Entry | None:
        """Return the resource called `Type/id`; None where none may be seen."""
        kind, _, identity = key.partition("/")
        if kind not in self._visibility.kinds:
            return None
        if self._visibility.queries(kind) is not None:
            ids = self._ids.get(kind)
            if ids is None:
                table = self.table(kind)
                ids = self._ids[kind] = table.ids(table.visible)
            if identity not in ids:
                return None
        return super().read(key)

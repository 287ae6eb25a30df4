"""Indexes of one parameter over the resources of a block: built once, asked for masks.

A mask is a boolean array with a place for each row of the block. Rows are resources or, inside a composite, nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from wardround.patients.times import Instant

from .definitions import Parameter, Path
from .extract import links, nodes, strings, token_texts, tokens, uris
from .intervals import AmountIndex, DateIndex
from .postings import Array, BaseIndex, Postings, Rows, Strings, extremes
from .values import Code, Target, Text, Value


class Index(Protocol):
    """What every index answers."""

    present: Array
    """Rows that have the element at all."""

    def mask(self, value: Value, now: Instant) -> Array:
        """Return the rows of which any value matches."""

    def keys(self, *, descending: bool) -> dict[int, Any]:
        """Return what sorts a row: its least value, or its greatest when descending; rows without one are absent."""


class TokenIndex(BaseIndex):
    """Codes and the words beside them."""

    def __init__(self, rows: Rows, size: int, paths: tuple[Path, ...]) -> None:
        super().__init__(size)
        self.codes, self.pairs, self.systems, self.texts = Postings(), Postings(), Postings(), Strings()
        for row, element, path in self._read(rows, paths):
            for token in tokens(element, path):
                self.codes.add(token.code, row)
                self.pairs.add(token, row)
                self.systems.add(token.system, row)
            for text in token_texts(element, path):
                self.texts.add(text, row)

    def mask(self, value: Value, now: Instant) -> Array:
        """Return the rows that have the code."""
        assert isinstance(value, Code)
        if value.code is None:
            return self._at(self.systems.get(value.system))
        if value.system is None:
            return self._at(self.codes.get(value.code))
        return self._at(self.pairs.get((value.system or None, value.code)))

    def in_set(self, members: Iterable[tuple[str, str]]) -> Array:
        """Return the rows that have any code of a value set."""
        mask = self._none()
        for member in members:
            found = self.pairs.get(member)
            if found is not None:
                mask[found] = True
        return mask

    def with_text(self, value: Text) -> Array:
        """Return the rows whose words begin with the text."""
        return self._at(self.texts.starting(value.folded))

    def keys(self, *, descending: bool) -> dict[int, Any]:
        """Sort by code."""
        return extremes(((row, code) for code, rows in self.codes.items() for row in rows), greatest=descending)


class StringIndex(BaseIndex):
    """Texts."""

    def __init__(self, rows: Rows, size: int, paths: tuple[Path, ...]) -> None:
        super().__init__(size)
        self.texts = Strings()
        for row, element, path in self._read(rows, paths):
            for text in strings(element, path):
                self.texts.add(text, row)

    def mask(self, value: Value, now: Instant) -> Array:
        """Return the rows with a text that begins so, folded."""
        assert isinstance(value, Text)
        return self._at(self.texts.starting(value.folded))

    def containing(self, value: Text) -> Array:
        """Return the rows with a text that holds this part, folded."""
        return self._at(self.texts.containing(value.folded))

    def exactly(self, value: Text) -> Array:
        """Return the rows with this very text."""
        return self._at(self.texts.exact.get(value.raw))

    def keys(self, *, descending: bool) -> dict[int, Any]:
        """Sort by folded text."""
        pairs = ((row, text) for text, rows in self.texts.folded.items() for row in rows)
        return extremes(pairs, greatest=descending)


class UriIndex(BaseIndex):
    """URIs, compared literally."""

    def __init__(self, rows: Rows, size: int, paths: tuple[Path, ...]) -> None:
        super().__init__(size)
        self.uris = Postings()
        for row, element, path in self._read(rows, paths):
            for uri in uris(element, path):
                self.uris.add(uri, row)

    def mask(self, value: Value, now: Instant) -> Array:
        """Return the rows with this URI."""
        assert isinstance(value, Text)
        return self._at(self.uris.get(value.raw))

    def keys(self, *, descending: bool) -> dict[int, Any]:
        """Sort by URI."""
        return extremes(((row, uri) for uri, rows in self.uris.items() for row in rows), greatest=descending)


class ReferenceIndex(BaseIndex):
    """References: by `Type/id`, by id, by URL, by logical identifier."""

    def __init__(self, rows: Rows, size: int, paths: tuple[Path, ...]) -> None:
        super().__init__(size)
        self.locals, self.ids, self.urls = Postings(), Postings(), Postings()
        self.identifiers, self.codes, self.systems = Postings(), Postings(), Postings()
        self._below: tuple[str, dict[str, list[str]]] | None = None
        for row, element, path in self._read(rows, paths):
            for link in links(element, path):
                if link.local is not None:
                    self.locals.add(link.local, row)
                    self.ids.add(link.local.partition("/")[2], row)
                if link.url is not None:
                    self.urls.add(link.url, row)
                if link.identifier is not None:
                    self.identifiers.add(link.identifier, row)
                    self.codes.add(link.identifier.code, row)
                    self.systems.add(link.identifier.system, row)

    def mask(self, value: Value, now: Instant) -> Array:
        """Return the rows that refer to it."""
        assert isinstance(value, Target)
        if value.local is not None:
            return self._at(self.locals.get(value.local))
        if value.id is not None:
            return self._at(self.ids.get(value.id))
        return self._at(self.urls.get(value.url))

    def under(self, base: str, value: Target, kind: str | None) -> Array:
        """Return the rows that refer to it by a full URL below the own base (found once for a base)."""
        if self._below is None or self._below[0] != base:
            ids: dict[str, list[str]] = {}
            for url, _ in self.urls.items():
                if url.startswith(f"{base}/"):
                    ids.setdefault(url.rpartition("/")[2], []).append(url)
            self._below = (base, ids)
        if value.local is not None:
            return self._at(self.urls.get(f"{base}/{value.local}"))
        mask = self._none()
        for url in self._below[1].get(value.id or "", ()):
            own, slash, _ = url[len(base) + 1 :].partition("/")
            if slash and url == f"{base}/{own}/{value.id}" and kind in (None, own):
                mask[self.urls.get(url)] = True
        return mask

    def identified(self, value: Code) -> Array:
        """Return the rows whose reference names this identifier."""
        if value.code is None:
            return self._at(self.systems.get(value.system))
        if value.system is None:
            return self._at(self.codes.get(value.code))
        return self._at(self.identifiers.get((value.system or None, value.code)))

    def pointing(self, wanted: Callable[[str], bool], base: str) -> Array:
        """Return the rows that refer to any `Type/id` that is wanted."""
        mask = self._none()
        for key, rows in self._keyed(base):
            if wanted(key):
                mask[rows] = True
        return mask

    def pointed(self, chosen: Array, base: str) -> set[str]:
        """Return the `Type/id` that chosen rows refer to."""
        return {key for key, rows in self._keyed(base) if chosen[rows].any()}

    def _keyed(self, base: str) -> Iterator[tuple[str, Array]]:
        for key, _ in self.locals.items():
            rows = self.locals.get(key)
            assert rows is not None
            yield key, rows
        if base:
            for url, listed in self.urls.items():
                if url.startswith(f"{base}/"):
                    yield url[len(base) + 1 :], np.array(listed, dtype=np.intp)

    def keys(self, *, descending: bool) -> dict[int, Any]:
        """Sort by `Type/id`, or by URL."""
        pairs = [(row, key) for found in (self.locals, self.urls) for key, rows in found.items() for row in rows]
        return extremes(pairs, greatest=descending)


class CompositeIndex(BaseIndex):
    """Several values of the same node: an index for each part, over nodes instead of resources."""

    def __init__(self, rows: Rows, size: int, parameter: Parameter) -> None:
        super().__init__(size)
        listed = list(rows)
        self.groups: list[tuple[Array, list[Index]]] = []
        for node in parameter.nodes:
            owners: list[int] = []
            roots: list[tuple[int, Any]] = []
            for row, root in listed:
                for place in nodes(root, node.keys):
                    roots.append((len(roots), place))
                    owners.append(row)
            parts = [
                index_of(search, roots, len(roots), paths)
                for search, paths in zip(parameter.parts, node.parts, strict=True)
            ]
            owner = np.array(owners, dtype=np.intp)
            whole = np.logical_and.reduce([part.present for part in parts])
            self.present[owner[whole]] = True
            self.groups.append((owner, parts))

    def mask(self, value: Value, now: Instant) -> Array:
        """Return the rows with a node that matches in all parts."""
        assert isinstance(value, tuple)
        mask = self._none()
        for owner, parts in self.groups:
            found = [part.mask(one, now) for part, one in zip(parts, value, strict=True)]
            mask[owner[np.logical_and.reduce(found)]] = True
        return mask

    def keys(self, *, descending: bool) -> dict[int, Any]:
        """Composites sort nothing."""
        return {}


_KINDS: dict[str, Callable[[Rows, int, tuple[Path, ...]], Index]] = {
    "token": TokenIndex,
    "string": StringIndex,
    "uri": UriIndex,
    "date": DateIndex,
    "quantity": AmountIndex,
    "number": AmountIndex,
    "reference": ReferenceIndex,
}


def index_of(search: str, rows: Rows, size: int, paths: tuple[Path, ...]) -> Index:
    """Build the index of a simple kind of search."""
    return _KINDS[search](rows, size, paths)


def build_index(parameter: Parameter, rows: Rows, size: int) -> Index:
    """Build the index of a parameter."""
    if parameter.type == "composite":
        return CompositeIndex(rows, size, parameter)
    return index_of(parameter.type, rows, size, parameter.paths)

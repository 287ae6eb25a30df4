"""`_include` and `_revinclude`: what comes along with a page of matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from wardround.patients.chart import Entry

from .definitions import Parameter, parameters
from .errors import Issue
from .extract import elements_of, links
from .postings import Array
from .results import Include
from .tables import Scope

LIMIT = 1000
"""Most resources that come along with one page."""


def included(scope: Scope, matches: Sequence[Entry], wanted: Sequence[Include]) -> tuple[list[Entry], list[Issue]]:
    """Return what a page includes, in order of discovery; no resource twice, and none that is a match of the page.

    References to what is not visible, or not stored, include nothing. Without `:iterate` only matches are asked.
    """
    seen = {entry.key for entry in matches}
    found: list[Entry] = []
    asked: Sequence[Entry] = matches
    rules = wanted
    while asked and rules:
        fresh: list[Entry] = []
        for entry in _round(scope, asked, rules):
            if entry.key not in seen:
                if len(found) + len(fresh) >= LIMIT:
                    text = f"more than {LIMIT} resources come along with this page; the rest were left out"
                    return found + fresh, [Issue("warning", "too-costly", text, "http._include")]
                seen.add(entry.key)
                fresh.append(entry)
        found += fresh
        asked = fresh
        rules = [rule for rule in wanted if rule.iterate]
    return found, []


def _round(scope: Scope, asked: Sequence[Entry], rules: Iterable[Include]) -> Iterator[Entry]:
    for rule in rules:
        yield from _backward(scope, asked, rule) if rule.reverse else _forward(scope, asked, rule)


def _references(kind: str, rule: Include) -> list[Parameter]:
    if rule.source not in ("*", kind):
        return []
    known = parameters(kind)
    if rule.parameter == "*":
        return [parameter for parameter in known.values() if parameter.type == "reference"]
    return [known[rule.parameter]]


def _forward(scope: Scope, asked: Sequence[Entry], rule: Include) -> Iterator[Entry]:
    for entry in asked:
        chosen = _references(entry.type, rule)
        if not chosen:
            continue
        resource = entry.resource()
        for parameter in chosen:
            for path in parameter.paths:
                for element in elements_of(resource, path):
                    for link in links(element, path):
                        key = link.local or _below(scope.base, link.url)
                        if key and rule.target in (None, key.partition("/")[0]) and (one := scope.read(key)):
                            yield one


def _below(base: str, url: str | None) -> str | None:
    return url[len(base) + 1 :] if base and url is not None and url.startswith(f"{base}/") else None


def _backward(scope: Scope, asked: Sequence[Entry], rule: Include) -> Iterator[Entry]:
    keys = {entry.key for entry in asked if rule.target in (None, entry.type)}
    if not keys:
        return
    table = scope.table(rule.source)
    mask: Array = np.zeros(table.size, dtype=bool)
    for parameter in _references(rule.source, rule):
        mask |= table.mask(parameter, lambda index: index.pointing(keys.__contains__, scope.base))
    mask &= table.visible
    for row in (np.flatnonzero(mask) if table.order is None else table.order[mask[table.order]]).tolist():
        yield table.entry(row)

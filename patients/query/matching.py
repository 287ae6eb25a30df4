"""Answering questions: masks over the tables of a scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .definitions import parameters, value_sets
from .indexes import ReferenceIndex, StringIndex, TokenIndex
from .parsing import Ask, Chain, Has, Query, Question
from .postings import Array
from .tables import Scope, Table
from .values import Code, Target, Text, Value


def select(scope: Scope, query: Query, kind: str, compartment: tuple[str, tuple[str, ...]] | None = None) -> Array:
    """Return the rows of a type that answer a query, in the table's own order.

    Args:
        scope: What may be looked at.
        query: The query.
        kind: One of its types.
        compartment: `Type/id` of the compartment's owner, and the parameters that put this type into it.
    """
    table = scope.table(kind)
    mask = table.visible
    for _, asked in query.questions:
        for one, question in asked:
            if one == kind:
                mask = mask & _answer(scope, kind, question)
    if compartment is not None:
        mask = mask & _inside(scope, table, *compartment)
    if table.order is None:
        return np.flatnonzero(mask)
    return table.order[mask[table.order]]


def _inside(scope: Scope, table: Table, owner: str, names: tuple[str, ...]) -> Array:
    mask = np.zeros(table.size, dtype=bool)
    for name in names:
        mask |= _refers(scope, table, parameters(table.kind)[name], Target(local=owner), None)
    kind, _, identity = owner.partition("/")
    if table.kind == kind:
        mask |= table.mask(parameters(kind)["_id"], lambda index: index.mask(Code(None, identity), scope.anchor))
    return mask


def _answer(scope: Scope, kind: str, question: Question) -> Array:
    """Return the rows of a type that a question is true of; rows that are not visible may be among them."""
    found = scope.masks.get(id(question))
    if found is None:
        table = scope.table(kind)
        if isinstance(question, Ask):
            found = _ask(scope, table, question)
        elif isinstance(question, Chain):
            found = _chain(scope, table, question)
        else:
            found = _has(scope, table, question)
        scope.masks[id(question)] = found
    return found


def _ask(scope: Scope, table: Table, ask: Ask) -> Array:
    parameter, modifier = ask.parameter, ask.modifier
    if modifier == "missing":
        present = table.mask(parameter, lambda index: index.present)
        wanted = {value.code for value in ask.values if isinstance(value, Code)}
        if len(wanted) == 2:
            return np.ones(table.size, dtype=bool)
        return ~present if wanted == {"true"} else present
    mask = np.zeros(table.size, dtype=bool)
    for value in ask.values:
        if parameter.type == "reference" and isinstance(value, Target):
            mask |= _refers(scope, table, parameter, value, ask.target)
        else:
            mask |= table.mask(parameter, lambda index, value=value: _lookup(index, modifier, value, scope.anchor))  # type: ignore[misc]
    return ~mask if modifier in ("not", "not-in") else mask


def _lookup(index: Any, modifier: str, value: Value, now: int) -> Array:
    if modifier in ("in", "not-in"):
        assert isinstance(index, TokenIndex) and isinstance(value, Code) and value.code is not None
        return index.in_set(sorted(value_sets()[value.code]))
    if modifier == "text":
        assert isinstance(index, TokenIndex) and isinstance(value, Text)
        return index.with_text(value)
    if modifier in ("contains", "exact"):
        assert isinstance(index, StringIndex) and isinstance(value, Text)
        return index.containing(value) if modifier == "contains" else index.exactly(value)
    if modifier == "identifier":
        assert isinstance(index, ReferenceIndex) and isinstance(value, Code)
        return index.identified(value)
    found: Array = index.mask(value, now)
    return found


def _refers(scope: Scope, table: Table, parameter: Any, value: Target, target: str | None) -> Array:
    mask = table.mask(parameter, lambda index: index.mask(value, scope.anchor))
    if scope.base and value.url is None:  # what a record writes with its own server's address
        mask = mask | table.mask(parameter, lambda index: index.under(scope.base, value, target))
    return mask


def _chain(scope: Scope, table: Table, chain: Chain) -> Array:
    wanted = {}
    for kind, question in chain.inner:
        other = scope.table(kind)
        wanted[kind] = other.ids(_answer(scope, kind, question) & other.visible)
    return table.mask(chain.parameter, lambda index: index.pointing(lambda key: _among(key, wanted), scope.base))


def _among(key: str, wanted: Mapping[str, frozenset[str]]) -> bool:
    kind, _, identity = key.partition("/")
    return identity in wanted.get(kind, ())


def _has(scope: Scope, table: Table, has: Has) -> Array:
    other = scope.table(has.kind)
    chosen = _answer(scope, has.kind, has.inner) & other.visible
    own = f"{table.kind}/"
    keys = other.pointed(has.parameter, chosen, scope.base)
    ids = {key[len(own) :] for key in keys if key.startswith(own)}
    mask = np.zeros(table.size, dtype=bool)
    for row in np.flatnonzero(table.visible).tolist():
        mask[row] = table.id(row) in ids
    return mask

"""The search parameters of our types, as compiled into `data/search_parameters.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class Path:
    """Where a parameter reads, and what it finds there."""

    keys: tuple[str, ...]
    """JSON keys from the resource (or the node of a composite) down; arrays are walked through."""
    kind: str
    """FHIR type of the element, or `truth`: whether anything but `false` is there."""
    resolve: str | None = None
    """Only references to this type count."""
    where: tuple[str, str] | None = None
    """Only elements whose field has this value count."""
    system: str | None = None
    """Code system that a `code` element implies."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a composite parameter: where it is, and the paths of each part below it."""

    keys: tuple[str, ...]
    parts: tuple[tuple[Path, ...], ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A search parameter of one type."""

    name: str
    kind: str
    """The resource type."""
    type: str
    """token, string, date, quantity, number, uri, reference or composite."""
    paths: tuple[Path, ...] = ()
    targets: tuple[str, ...] = ()
    """Types of ours that a reference may point at."""
    nodes: tuple[Node, ...] = ()
    parts: tuple[str, ...] = ()
    """Kinds of search of a composite's parts."""


@dataclass(frozen=True, slots=True)
class Elements:
    """Top-level elements of a type that results may be cut to."""

    mandatory: frozenset[str]
    summary: frozenset[str]
    choices: Mapping[str, tuple[str, ...]]


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(
        files("wardround.patients").joinpath("data/search_parameters.json").read_bytes()
    )
    return data


def _path(told: list[Any]) -> Path:
    keys, kind, extra = told
    where = tuple(extra["where"]) if "where" in extra else None
    return Path(tuple(keys.split(".")), kind, extra.get("resolve"), where, extra.get("system"))


def _parameter(kind: str, name: str, told: dict[str, Any]) -> Parameter:
    nodes = tuple(
        Node(tuple(keys.split(".")) if keys else (), tuple(tuple(_path(path) for path in part) for part in parts))
        for keys, parts in told.get("nodes", ())
    )
    paths = tuple(_path(path) for path in told.get("paths", ()))
    return Parameter(
        name, kind, told["type"], paths, tuple(told.get("targets", ())), nodes, tuple(told.get("parts", ()))
    )


def searchable() -> tuple[str, ...]:
    """Return the types that can be searched, in alphabetical order."""
    return tuple(_data()["elements"])


@cache
def parameters(kind: str) -> Mapping[str, Parameter]:
    """Return the parameters of a type by name, those of every resource included."""
    told = _data()["parameters"]
    return {
        name: _parameter(kind, name, one)
        for name, one in sorted({**told["Resource"], **told.get("DomainResource", {}), **told[kind]}.items())
    }


@cache
def elements(kind: str) -> Elements:
    """Return the elements that summaries and `_elements` speak of."""
    told = _data()["elements"][kind]
    choices = {name: tuple(keys) for name, keys in told["choices"].items()}
    return Elements(frozenset(told["mandatory"]), frozenset(told["summary"]), choices)


def compartment(owner: str) -> Mapping[str, tuple[str, ...]]:
    """Return, for a compartment (`Patient`), type → the parameters that put a resource into it; empty for others."""
    told = _data()["compartments"].get(owner, {})
    return {kind: tuple(names) for kind, names in told.items()}


@cache
def value_sets() -> Mapping[str, frozenset[tuple[str, str]]]:
    """Return the shipped value sets: URL → `(system, code)` pairs."""
    return {
        url: frozenset((system, code) for system, codes in sorted(told.items()) for code in codes)
        for url, told in sorted(_data()["value_sets"].items())
    }

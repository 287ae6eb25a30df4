"""The written rules of the FHIR import: `data/fhir_import.json`, read once, and small readers of JSON by path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any

import orjson

from wardround.patients.resource import SITE
from wardround.patients.stays import ENCOUNTER_KIND as ENCOUNTER_KIND

SOURCE_CLASS = f"{SITE}/StructureDefinition/source-class"
MEDICATION_RESOURCE = f"{SITE}/StructureDefinition/medication-resource"

_LEGAL_ID = re.compile(r"[A-Za-z0-9\-.]{1,64}", re.ASCII)
_ILLEGAL = re.compile(r"[^A-Za-z0-9\-.]+", re.ASCII)


@cache
def rules() -> dict[str, Any]:
    """Return the rules."""
    path = files("wardround.patients.importers").joinpath("data/fhir_import.json")
    found: dict[str, Any] = orjson.loads(path.read_bytes())
    return found


def is_legal(identity: object) -> bool:
    """Tell whether a value is a FHIR id."""
    return isinstance(identity, str) and _LEGAL_ID.fullmatch(identity) is not None


def legal_id(identity: str) -> str:
    """Return a FHIR id for any text: itself where legal, else its legal characters and a hash of the whole.

    Examples:
        >>> legal_id("a-1"), legal_id("a_1")
        ('a-1', 'a-1-2844f551')
    """
    if is_legal(identity):
        return identity
    mark = blake2b(identity.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"{_ILLEGAL.sub('-', identity)[:55]}-{mark}"


def references(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every Reference with a literal `reference` in a resource, its contained resources included."""
    if isinstance(node, dict):
        if isinstance(node.get("reference"), str):
            yield node
        for value in node.values():
            if isinstance(value, dict | list):
                yield from references(value)
    elif isinstance(node, list):
        for value in node:
            if isinstance(value, dict | list):
                yield from references(value)


def map_strings(node: Any, change: Callable[[str, str], str], key: str = "") -> Any:
    """Change every string of a resource in place: `change(key, text)`; returns the node."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for place, value in list(items):
        name = place if isinstance(place, str) else key
        if isinstance(value, str):
            node[place] = change(name, value)
        elif isinstance(value, dict | list):
            map_strings(value, change, name)
    return node

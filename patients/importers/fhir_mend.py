"""Mending the form of a resource that is not valid R4: one in place of several, several in place of one, wrong targets.

Only what loses nothing is mended; everything else stays as it is and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from wardround.patients.fhir import definition, reference_types
from wardround.patients.resource import Resource

Note = Callable[[str], None]

ARRAY = "an element that R4 repeats was given once; it stands in an array of one"
SINGLE = "an element that R4 has once was given in an array of one; the array is opened"
TARGET = "a reference to a type that R4 does not allow there; it stands as identifier, no longer as a link"

_TYPED = re.compile(r"([A-Z][A-Za-z]+)/\S+")


def mend(resource: Resource, note: Note) -> bool:
    """Mend a resource in place; tell whether anything was changed."""
    told: list[str] = []
    _element(resource, resource["resourceType"], told)
    for text in sorted(set(told)):
        note(text)
    return bool(told)


def _element(node: dict[str, Any], name: str, told: list[str]) -> None:
    targets = reference_types(name)
    for key, prop in definition(name).get("properties", {}).items():
        if key not in node or key == "contained":
            continue
        node[key] = _shaped(node[key], prop, told)
        kind = (prop.get("$ref") or prop.get("items", {}).get("$ref") or "").rpartition("/")[2]
        for item in node[key] if isinstance(node[key], list) else (node[key],):
            if not isinstance(item, dict):
                continue
            if key in targets:
                _reference(item, targets[key], told)
            elif kind[:1].isupper() and "properties" in definition(kind):
                _element(item, kind, told)


def _shaped(value: Any, prop: dict[str, Any], told: list[str]) -> Any:
    """Return a value in an array where R4 repeats the element, and out of one where it does not."""
    if prop.get("type") == "array":
        if isinstance(value, list):
            return value
        told.append(ARRAY)
        return [value]
    if isinstance(value, list) and len(value) == 1:
        told.append(SINGLE)
        return value[0]
    return value


def _reference(node: dict[str, Any], allowed: frozenset[str], told: list[str]) -> None:
    match = _TYPED.fullmatch(str(node.get("reference")))
    if match is None or match[1] in allowed or "identifier" in node:
        return
    node["identifier"] = {"value": node.pop("reference")}
    if node.get("type") not in allowed:
        node.pop("type", None)
    told.append(TARGET)

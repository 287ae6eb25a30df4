"""References that R4 requires: a resource cannot be shown, and be valid, before what it must name is known."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from wardround.patients.clock import CARRIERS
from wardround.patients.fhir import definition
from wardround.patients.resource import Resource, values_at

from .fhir_rules import rules


def required_targets(resource: Resource) -> Iterator[str]:
    """Yield `Type/id` of what a resource must name."""
    for path in _paths(resource["resourceType"]):
        for reference in values_at(resource, path):
            if isinstance(reference, dict) and isinstance(reference.get("reference"), str):
                yield reference["reference"]


@cache
def _paths(kind: str) -> tuple[str, ...]:
    return (*sorted(_below(kind, kind, "", required=True)), *rules()["required_choices"].get(kind, ()))


def _below(root: str, name: str, path: str, *, required: bool) -> Iterator[str]:
    """Yield the paths of required references below an element.

    The clock leaves out elements that stand on a hidden reference (`CARRIERS`): those need not wait, unless R4
    requires the element too.
    """
    found = definition(name)
    for key, prop in found.get("properties", {}).items():
        target = (prop.get("$ref") or prop.get("items", {}).get("$ref") or "").rpartition("/")[2]
        needed = key in found.get("required", ())
        if target == "Reference" and needed and (required or key not in CARRIERS):
            yield f"{path}{key}"
        elif target.startswith(f"{root}_") and target != name and path.count(".") < _DEEPEST:
            yield from _below(root, target, f"{path}{key}.", required=required and needed)


_DEEPEST = 4

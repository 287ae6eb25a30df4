"""Medications: what an order refers to is said in the order, so that tools show and find its name and codes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from wardround.patients.elements import text_of
from wardround.patients.resource import Resource, load, values_at

from ._vocabulary import NDC
from .fhir_rules import MEDICATION_RESOURCE, rules

_DEEPEST = 5
"""Ingredients of ingredients that are followed."""


class Product(NamedTuple):
    """What is known of a Medication."""

    seq: int
    name: str | None
    codings: tuple[dict[str, str], ...]
    more: bool
    """Whether the Medication says more than its name and codes (form, batch, strengths): then the chart keeps it."""
    parts: tuple[int, ...]
    """seq of the Medications whose names it bears."""

    def concept(self) -> Resource:
        """Return it as a CodeableConcept."""
        out: Resource = {"coding": [dict(coding) for coding in self.codings]} if self.codings else {}
        return {**out, "text": self.name} if self.name else out


class Medications:
    """The Medications of the input, by id; bounded memory.

    Args:
        find: Returns seq and body of a Medication that is valid; None where there is none.
    """

    def __init__(self, find: Callable[[str, str], tuple[int, bytes] | None]) -> None:
        self._find = find
        self.product = lru_cache(maxsize=1 << 14)(self._product)

    def _product(self, identity: str, depth: int = 0) -> Product | None:
        found = self._find("Medication", identity)
        if found is None:
            return None
        seq, body = found
        resource = load(body)
        codings = tuple(_codings(resource))
        names, parts = self._ingredients(resource, depth)
        name = name_of(resource) or " + ".join(names) or None
        if name is None and codings:
            name = text_of({"coding": list(codings)})
        said = {*rules()["medication"]["said_in_the_order"], "ingredient"}
        plain = all(set(part) == {"itemReference"} for part in resource.get("ingredient", ()) if isinstance(part, dict))
        return Product(seq, name, codings, not (said >= resource.keys() and plain), parts)

    def _ingredients(self, resource: Resource, depth: int) -> tuple[list[str], tuple[int, ...]]:
        names: list[str] = []
        parts: list[int] = []
        for part in resource.get("ingredient", ()) if depth < _DEEPEST else ():
            if not isinstance(part, dict):
                continue
            reference = part.get("itemReference")
            key = reference.get("reference") if isinstance(reference, dict) else None
            if isinstance(key, str) and key.startswith("Medication/"):
                found = self.product(key.partition("/")[2], depth + 1)
                if found is not None:
                    parts.extend((found.seq, *found.parts))
                    names.extend([found.name] if found.name else [])
            elif (name := text_of(part.get("itemCodeableConcept"))) is not None:
                names.append(name)
        return names, tuple(parts)


def name_of(resource: Resource) -> str | None:
    """Return the name of a Medication: of its code, else of an identifier that is a name."""
    for path in ("code.text", "code.coding.display"):
        for name in values_at(resource, path):
            if isinstance(name, str) and name:
                return name
    return next(iter(identifiers(resource, rules()["medication"]["name_systems"])), None)


def identifiers(resource: Resource, systems: list[str]) -> list[str]:
    """Return the values of the identifiers of some systems."""
    found = [one for one in values_at(resource, "identifier") if isinstance(one, dict) and one.get("system") in systems]
    return [one["value"] for one in found if isinstance(one.get("value"), str) and one["value"]]


def _codings(resource: Resource) -> list[dict[str, str]]:
    table = rules()["medication"]
    code = resource.get("code")
    out = [dict(one) for one in code.get("coding", ()) if isinstance(one, dict)] if isinstance(code, dict) else []
    out = [
        {"system": NDC, **{key: value for key, value in one.items() if key != "system"}}
        if one.get("system") in table["ndc_systems"]
        else one
        for one in out
    ]
    for system in table["code_systems"]:
        for value in identifiers(resource, [system]):
            if not any(one.get("system") == system and one.get("code") == value for one in out):
                out.append({"system": system, "code": value})
    return out


def say_medication(resource: Resource, medications: Medications) -> Product | None:
    """Replace a reference to a Medication by its name and codes, in place; a contained one gets its name as display.

    Returns:
        The Medication, where its words now stand in the resource.
    """
    element = rules()["medication"]["concept_elements"].get(resource["resourceType"])
    reference = resource.get(element) if element else None
    key = reference.get("reference") if isinstance(reference, dict) else None
    if not isinstance(reference, dict) or not isinstance(key, str):
        return None
    if key.startswith("#"):
        _show_contained(resource, reference, key[1:])
        return None
    product = medications.product(key.partition("/")[2]) if key.startswith("Medication/") else None
    if product is None or not product.concept():
        return None
    concept = product.concept()
    if "text" not in concept and reference.get("display"):
        concept["text"] = reference["display"]
    replaced: dict[str, Any] = {}
    for name, value in resource.items():
        replaced["medicationCodeableConcept" if name == element else name] = concept if name == element else value
    if product.more:
        mark = {"url": MEDICATION_RESOURCE, "valueReference": {"reference": key}}
        replaced["extension"] = [*resource.get("extension", ()), mark]
    resource.clear()
    resource.update(replaced)
    return product


def _show_contained(resource: Resource, reference: dict[str, Any], identity: str) -> None:
    for inner in resource.get("contained", ()):
        if isinstance(inner, dict) and inner.get("id") == identity and "display" not in reference:
            name = name_of(inner) or text_of(inner.get("code"))
            if name:
                reference["display"] = name

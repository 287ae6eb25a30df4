"""The elements of FHIR R4 types, as FHIRPath names them: `medication`, not `medicationCodeableConcept`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from .fhir import schema_tables


class Element(NamedTuple):
    """One element of a type."""

    types: tuple[str, ...]
    """Types it may hold: definitions ("CodeableConcept") or primitives ("dateTime"); several for a choice."""
    many: bool
    """Whether it may repeat."""
    variants: tuple[str, ...] = ()
    """JSON names of a choice ("medicationCodeableConcept"), in the order of `types`."""


@cache
def r4_elements(definition: str) -> Mapping[str, Element]:
    """Return the elements of a type or of a part of one ("MedicationRequest", "Dosage", "Dosage_DoseAndRate").

    Returns:
        Element name → what it may hold; empty for a primitive or an unknown name.
    """
    definitions, tables = schema_tables()
    properties: dict[str, Any] = definitions.get(definition, {}).get("properties", {})
    choices = {name: tuple(names) for name, (_, names) in tables.get(definition, {}).get("choices", {}).items()}
    spoken = {variant: name for name, names in choices.items() for variant in names}
    found: dict[str, Element] = {}
    for name, prop in properties.items():
        if name.startswith("_") or name == "resourceType" or name in spoken:
            continue
        held = prop.get("items", prop)
        found[name] = Element((_name(held),), prop.get("type") == "array")
    for name, names in choices.items():
        kinds = tuple(_suffix(variant[len(name) :], definitions) for variant in names)
        found[name] = Element(kinds, many=False, variants=names)
    return MappingProxyType(found)


def _name(held: Mapping[str, Any]) -> str:
    target = str(held.get("$ref", "")).rpartition("/")[2]
    if target:
        return target
    return "code" if "enum" in held else "Resource"  # an inline enumeration is a code; contained resources are plain


def _suffix(word: str, definitions: Mapping[str, Any]) -> str:
    """Return the type a choice's suffix names: Quantity stays, DateTime is the primitive dateTime."""
    lower = word[:1].lower() + word[1:]
    return lower if lower in definitions else word

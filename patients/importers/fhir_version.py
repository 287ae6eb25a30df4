"""Telling FHIR R4 from other versions by what only they have: types, elements, shapes, profiles, and `fhirVersion`."""

from __future__ import annotations

from typing import Any

from wardround.patients.resource import values_at

from .fhir_rules import rules


def other_version(resource: dict[str, Any]) -> str | None:
    """Return why a resource is not FHIR R4 ("R5: Encounter.actualPeriod"); None where nothing speaks against it."""
    kind = resource["resourceType"]
    versions = rules()["versions"]
    stated = resource.get("fhirVersion")
    if isinstance(stated, str) and not stated.startswith(tuple(versions["read"])):
        return f"it states fhirVersion {stated[:20]}"
    for profile in values_at(resource, "meta.profile"):
        for version, starts in versions["profiles"].items():
            if isinstance(profile, str) and profile.startswith(tuple(starts)):
                return f"FHIR {version}: the profile {profile[:80]}"
    for version, names in versions["types"].items():
        if kind in names:
            return f"FHIR {version}: the type {kind}"
    for version, table in versions["elements"].items():
        for element in table.get(kind, ()):
            if element in resource:
                return f"FHIR {version}: {kind}.{element}"
    for shape in versions["shapes"]:
        if shape["type"] == kind and _shape(resource.get(shape["element"])) == shape["is"]:
            return f"FHIR {shape['version']}: {kind}.{shape['element']} is of type {shape['is']}"
    return None


def _shape(value: object) -> str | None:
    for kind, name in ((list, "array"), (str, "string"), (dict, "object")):
        if isinstance(value, kind):
            return name
    return None

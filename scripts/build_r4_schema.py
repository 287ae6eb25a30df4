"""Build `patients/data/r4.json.gz`: the trimmed FHIR R4 schema and the tables of what a JSON schema cannot say.

Sources: the JSON schema of FHIR 4.0.1 (CC0; the copy read here is Medplum's variant, whose additions are dropped) and
the element metadata of `fhir.resources.R4B`, whose models of our types are the same in R4 and R4B.

    python scripts/build_r4_schema.py PATH/fhir.schema.json.gz
"""

from __future__ import annotations

import gzip
import importlib
import sys
from pathlib import Path
from typing import Any

import orjson

TYPES = (
    "Patient", "Encounter", "Condition", "Observation", "MedicationRequest", "MedicationAdministration",
    "MedicationStatement", "MedicationDispense", "ServiceRequest", "Flag", "DiagnosticReport", "DocumentReference",
    "CarePlan", "CareTeam", "Goal", "AllergyIntolerance", "Procedure", "Immunization", "FamilyMemberHistory",
    "Communication", "CommunicationRequest", "Appointment", "Specimen", "ImagingStudy", "Device", "DeviceUseStatement",
    "DeviceRequest", "ClinicalImpression", "Composition", "List", "Task", "Provenance", "QuestionnaireResponse",
    "RiskAssessment", "DetectedIssue", "NutritionOrder", "EpisodeOfCare", "RelatedPerson", "ImmunizationRecommendation",
    "BodyStructure", "Media", "Coverage", "Claim", "ExplanationOfBenefit", "ChargeItem", "SupplyDelivery", "Group",
    "Medication", "Location", "Organization", "Practitioner", "PractitionerRole",
)  # fmt: skip
OUT = Path(__file__).resolve().parents[1] / "patients" / "data" / "r4.json.gz"
DATES = ("date", "dateTime", "instant")


def reachable(definitions: dict[str, Any]) -> list[str]:
    """Return the definitions our types need, ResourceList excepted."""
    found: set[str] = set()
    waiting = list(TYPES)
    while waiting:
        name = waiting.pop()
        if name in found or name == "ResourceList":
            continue
        found.add(name)
        for prop in definitions[name].get("properties", {}).values():
            target = prop.get("$ref") or prop.get("items", {}).get("$ref")
            if target:
                waiting.append(target.rpartition("/")[2])
    return sorted(found)


def model_of(name: str, properties: dict[str, Any]) -> Any:
    """Return the R4B model of a definition: of the classes whose name fits, the one that shares most fields."""
    root, _, part = name.partition("_")
    part = part.rstrip("0123456789")  # the schema numbers parts that share a name (ExplanationOfBenefit_Detail1)
    module_name = {"Element": "element"}.get(root, root.lower())
    module = importlib.import_module(f"fhir.resources.R4B.{module_name}")
    fitting = [
        value
        for key, value in vars(module).items()
        if isinstance(value, type) and key.startswith(root) and key.endswith(part) and hasattr(value, "model_fields")
        and (bool(part) != (key == root))
    ]  # fmt: skip
    if not fitting:
        raise SystemExit(f"no R4B model for {name}")
    return max(fitting, key=lambda model: len(fields_of(model) & set(properties)) - len(fields_of(model)) / 1000)


def fields_of(model: Any) -> set[str]:
    """Return the JSON names of a model's fields."""
    return {info.alias or field for field, info in model.model_fields.items()}


def trim(node: Any) -> Any:
    """Drop descriptions and send contained resources to a plain object."""
    if isinstance(node, list):
        return [trim(value) for value in node]
    if isinstance(node, dict):
        if node.get("$ref") == "#/definitions/ResourceList":
            return {"type": "object", "required": ["resourceType"]}
        return {key: trim(value) for key, value in node.items() if key != "description" or isinstance(value, dict)}
    return node


def table_of(model: Any, properties: dict[str, Any]) -> dict[str, Any]:
    """Return what the models know of one definition: references, bindings, choices, required primitives."""
    table: dict[str, Any] = {"refs": {}, "codes": {}, "choices": {}, "required": []}
    for field, info in model.model_fields.items():
        extra = info.json_schema_extra or {}
        name = info.alias or field
        if "enum_reference_types" in extra:
            table["refs"][name] = extra["enum_reference_types"]
        told = str(properties.get(name))
        if "+" not in extra.get("enum_values", "+") and "enum" not in told and "definitions/code'" in told:
            table["codes"][name] = extra["enum_values"]
        if "one_of_many" in extra:
            choice = table["choices"].setdefault(extra["one_of_many"], [bool(extra.get("one_of_many_required")), []])
            choice[1].append(name)
        elif extra.get("element_required"):
            table["required"].append(name)
    return table


def main(path: str) -> None:
    """Write the file."""
    definitions = orjson.loads(gzip.decompress(Path(path).read_bytes()))["definitions"]
    schema: dict[str, Any] = {}
    tables: dict[str, Any] = {}
    dropped: list[str] = []
    for name in reachable(definitions):
        definition = trim(definitions[name])
        properties = definition.get("properties")
        if properties is None:
            schema[name] = definition
            continue
        model = model_of(name, properties)
        known = fields_of(model)
        known |= {f"_{field}" for field in known} | {"resourceType", "id"}
        extra = sorted(set(properties) - known)
        dropped += [f"{name}.{field}" for field in extra]
        definition["properties"] = {key: value for key, value in properties.items() if key in known}
        if "required" in definition:
            definition["required"] = [key for key in definition["required"] if key in known]
        schema[name] = definition
        tables[name] = table_of(model, definition["properties"])
    keep = reachable(schema)
    out = {
        "format_version": 1,
        "fhirVersion": "4.0.1",
        "types": list(TYPES),
        "definitions": {name: schema[name] for name in keep},
        "tables": {name: tables[name] for name in keep if name in tables},
    }
    OUT.write_bytes(gzip.compress(orjson.dumps(out, option=orjson.OPT_SORT_KEYS), mtime=0))
    print(f"{len(keep)} definitions, {OUT.stat().st_size} bytes; dropped: {', '.join(dropped)}")


if __name__ == "__main__":
    main(sys.argv[1])

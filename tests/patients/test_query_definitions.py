"""The compiled search parameters: what they hold, and that they are what R4 defines."""

from __future__ import annotations

import gzip
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import orjson
import pytest

from wardround.patients import fhir
from wardround.patients.query import compartment, parameters, searchable
from wardround.patients.query.definitions import elements, value_sets

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = {"near", "_text", "_content", "_query"}
"""R4 defines these by no path."""


def test_every_type_that_is_stored_can_be_searched() -> None:
    assert set(searchable()) == set(fhir.types())
    for kind in searchable():
        assert {"_id", "_lastUpdated", "_tag", "_profile", "_security", "_source"} <= parameters(kind).keys()
        assert {"id", "meta"} <= elements(kind).summary


@pytest.mark.parametrize(
    ("kind", "name", "type_", "paths"),
    [
        ("MedicationRequest", "date", "date", ["dosageInstruction.timing.event"]),
        ("MedicationRequest", "authoredon", "date", ["authoredOn"]),
        ("MedicationRequest", "code", "token", ["medicationCodeableConcept"]),
        ("MedicationRequest", "medication", "reference", ["medicationReference"]),
        ("DocumentReference", "date", "date", ["date"]),
        ("DocumentReference", "period", "date", ["context.period"]),
        ("Encounter", "date", "date", ["period"]),
        ("CarePlan", "date", "date", ["period"]),
        ("Flag", "date", "date", ["period"]),
        ("ServiceRequest", "authored", "date", ["authoredOn"]),
        ("MedicationAdministration", "effective-time", "date", ["effectiveDateTime", "effectivePeriod"]),
        ("MedicationAdministration", "context", "reference", ["context"]),
        ("Observation", "value-quantity", "quantity", ["valueQuantity", "valueSampledData"]),
        ("Observation", "value-string", "string", ["valueString", "valueCodeableConcept.text"]),
    ],
)
def test_definition_traps(kind: str, name: str, type_: str, paths: list[str]) -> None:
    parameter = parameters(kind)[name]
    assert parameter.type == type_
    assert sorted(".".join(path.keys) for path in parameter.paths) == sorted(paths)


def test_what_a_type_does_not_have() -> None:
    assert not {"status", "category", "code"} & parameters("Flag").keys()
    assert "encounter" not in parameters("MedicationAdministration")


def test_combo_parameters_cover_components() -> None:
    keys = {".".join(path.keys) for path in parameters("Observation")["combo-value-quantity"].paths}
    assert keys == {
        "valueQuantity", "valueSampledData", "component.valueQuantity", "component.valueSampledData"
    }  # fmt: skip
    assert [node.keys for node in parameters("Observation")["combo-code-value-quantity"].nodes] == [(), ("component",)]


def test_the_parts_of_relationship_have_the_types_of_what_they_read() -> None:
    """R4 names the two components of DocumentReference.relationship the wrong way round."""
    assert parameters("DocumentReference")["relationship"].parts == ("token", "reference")


def test_filters_and_implied_systems() -> None:
    (path,) = parameters("Patient")["phone"].paths
    assert (path.where, path.kind) == (("system", "phone"), "ContactPoint")
    (path,) = parameters("Observation")["patient"].paths
    assert (path.resolve, path.keys) == ("Patient", ("subject",))
    (path,) = parameters("Observation")["status"].paths
    assert path.system == "http://hl7.org/fhir/observation-status"


def test_every_implied_code_element_has_a_system_and_value_sets_hold_codes() -> None:
    for kind in searchable():
        for parameter in parameters(kind).values():
            assert all(path.system for path in parameter.paths if path.kind == "code"), (kind, parameter.name)
    assert all(value_sets().values())
    assert ("http://hl7.org/fhir/observation-status", "final") in value_sets()[
        "http://hl7.org/fhir/ValueSet/observation-status"
    ]


def test_the_compartment_of_a_patient() -> None:
    told = compartment("Patient")
    assert set(told["Condition"]) == {"patient", "asserter"}
    assert "Organization" not in told
    assert compartment("Encounter") == {}
    for kind, names in told.items():
        assert all(parameters(kind)[name].type == "reference" for name in names)


# --- against the definitions themselves -------------------------------------------------------------------------------


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_parameters", ROOT / "scripts" / "build_search_parameters.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_file_is_what_the_script_makes(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, source = _script(), shared / "data" / "fhir-r4"
    shipped = script.OUT.read_bytes()
    monkeypatch.setattr(script, "OUT", tmp_path / "out.json")
    script.main(str(source / "search-parameters.json.gz"), str(source / "compartmentdefinition-patient.json"))
    assert (tmp_path / "out.json").read_bytes() == shipped


def test_every_parameter_of_r4_is_there(shared: Path) -> None:
    packed = (shared / "data" / "fhir-r4" / "search-parameters.json.gz").read_bytes()
    told = [entry["resource"] for entry in orjson.loads(gzip.decompress(packed))["entry"]]
    seen = 0
    for parameter in told:
        for kind in parameter["base"]:
            if kind in searchable() and parameter["code"] not in LEFT_OUT:
                mine = parameters(kind)[parameter["code"]]
                assert mine.type == parameter["type"]
                # every path begins with an element that the expression names for this type (a choice loses its [x])
                names = set(re.findall(rf"\b{kind}\.(\w+)", parameter["expression"]))
                firsts = {path.keys[0] for path in mine.paths}
                assert all(any(first.startswith(name) for name in names) for first in firsts), (kind, mine.name)
                assert all(any(first.startswith(name) for first in firsts) for name in names) or mine.nodes
                seen += 1
    assert seen > 700


@pytest.mark.parametrize(
    "expression",
    [
        "Patient.name.matches('x')", "Patient.nothing", "Patient.name[0]", "Patient.contact.where(gender='male').name",
        "Patient.name.first()", "Patient.gender", "Patient.deceased.exists()",
    ],
)  # fmt: skip
def test_expressions_that_cannot_be_read_stop_the_script(expression: str) -> None:
    script = _script()
    with pytest.raises(SystemExit):
        script.Compiler(script.Schema(), {}).paths(expression, "Patient", "string")

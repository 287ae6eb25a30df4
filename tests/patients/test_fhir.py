"""Validation against FHIR R4: what a JSON schema misses is caught too."""

from __future__ import annotations

from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest

from wardround.patients import validate
from wardround.patients.fhir import Validator, check, check_model, types
from wardround.patients.resource import decimal, load

LAB: dict[str, Any] = {
    "resourceType": "Observation", "id": "lab-1", "status": "final",
    "category": [{"coding": [{"system": "http://x", "code": "laboratory"}]}],
    "code": {"text": "Sodium", "coding": [{"system": "http://loinc.org", "code": "2951-2"}]},
    "subject": {"reference": "Patient/1"}, "effectiveDateTime": "2180-05-06T22:23:00Z",
    "valueQuantity": {"value": 140, "unit": "mEq/L"}, "referenceRange": [{"low": {"value": 133}}],
}  # fmt: skip
ORDER: dict[str, Any] = {
    "resourceType": "MedicationRequest", "id": "rx", "status": "active", "intent": "order",
    "medicationCodeableConcept": {"text": "warfarin"}, "subject": {"reference": "Patient/1"},
}  # fmt: skip
ILLNESS: dict[str, Any] = {
    "resourceType": "Condition", "id": "c", "subject": {"reference": "Patient/1"}, "code": {"text": "x"},
    "clinicalStatus": {
        "coding": [{"system": "http://terminology.hl7.org/CodeSystem/condition-clinical", "code": "active"}]
    },
}  # fmt: skip
IN_ERROR = {"coding": [{
    "system": "http://terminology.hl7.org/CodeSystem/condition-ver-status", "code": "entered-in-error",
}]}  # fmt: skip
LISTED = [{"coding": [{"code": "problem-list-item"}]}]


def changed(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    copy = deepcopy(base)
    for path, value in changes.items():
        node: Any = copy
        *parents, last = path.split("__")
        for key in parents:
            node = node[int(key) if key.isdigit() else key]
        if value is ...:
            del node[last]
        else:
            node[last] = value
    return copy


@pytest.mark.parametrize("resource", [LAB, ORDER, ILLNESS], ids=lambda one: one["resourceType"])
def test_good_resources_have_no_problems(resource: dict[str, Any]) -> None:
    assert validate(resource) == []
    assert check_model(resource) == []


@pytest.mark.parametrize(
    ("resource", "where"),
    [
        (changed(LAB, status="donee"), "status"),
        (changed(LAB, status=...), "status"),
        (changed(LAB, colour="red"), "colour"),
        (changed(LAB, code=...), "code"),
        (changed(LAB, code={}), "code"),
        (changed(LAB, code__coding=[]), "coding"),
        (changed(LAB, note=[{}]), "note"),
        (changed(LAB, id="x" * 65), "id"),
        (changed(LAB, id="a_b"), "id"),
        (changed(LAB, effectiveDateTime="2180-02-30"), "effectiveDateTime"),
        (changed(LAB, effectiveDateTime="2180-05-06T22:23:00"), "effectiveDateTime"),
        (changed(LAB, effectivePeriod={"start": "2180"}), "effective[x]"),
        (changed(LAB, valueString="140"), "value[x]"),
        (changed(LAB, valueQuantity__value="140"), "valueQuantity"),
        (changed(LAB, subject={"reference": "Observation/1"}), "subject"),
        (changed(LAB, subject={"reference": "one"}), "subject"),
        (changed(LAB, dataAbsentReason={"text": "lost"}), "obs-6"),
        (changed(LAB, component=[{"code": LAB["code"]}]), "obs-7"),
        (changed(LAB, referenceRange=[{"appliesTo": [{"text": "adults"}]}]), "obs-3"),
        (changed(LAB, meta={"project": "p"}), "meta"),
        (changed(ORDER, intent="wish"), "intent"),
        (changed(ORDER, intent=...), "intent"),
        (changed(ORDER, medicationCodeableConcept=...), "medication[x]"),
        (changed(ORDER, medicationReference={"reference": "Medication/1"}), "medication[x]"),
        (changed(ORDER, dosageInstruction=[{"timing": {"repeat": {"boundsPeriod": {"start": "2180-13"}}}}]), "start"),
        (changed(ILLNESS, clinicalStatus={"text": "active"}), "clinicalStatus"),
        (changed(ILLNESS, clinicalStatus__coding__0__code="gone"), "clinicalStatus"),
        (changed(ILLNESS, clinicalStatus=..., category=LISTED), "con-3"),
        (changed(ILLNESS, abatementDateTime="2180"), "con-4"),
        (changed(ILLNESS, verificationStatus=IN_ERROR), "con-5"),
        (changed(LAB, resourceType="Basic"), "resourceType"),
        (changed(LAB, resourceType=...), "resourceType"),
        ({**LAB, "contained": [{"id": "x"}]}, "contained"),
    ],
)  # fmt: skip
def test_each_fault_is_found_and_named(resource: dict[str, Any], where: str) -> None:
    problems = validate(resource)
    assert any(where in problem for problem in problems), problems


def test_text_that_is_no_json_is_a_problem_not_an_exception() -> None:
    assert validate(b"{")[0].startswith("not JSON")
    assert validate({"resourceType": "Flag", "x": float("nan")}) != []
    assert validate({"resourceType": "Flag", "x": "\ud800"})[0].startswith("not JSON")
    assert validate("[1]") == ["resourceType: missing; every resource names its type"]


def test_decimals_are_numbers_however_they_are_carried() -> None:
    for value in (decimal("0.30"), Decimal("0.30"), 0.3, 3):
        assert validate(changed(LAB, valueQuantity__value=value)) == []
    assert (
        check(
            load(b'{"resourceType":"Observation","status":"final","code":{"text":"x"},"valueQuantity":{"value":0.30}}')
        )
        == []
    )


def test_a_warning_of_the_standard_does_not_refuse_a_record() -> None:
    bare = changed(ILLNESS, clinicalStatus=..., category=LISTED)
    assert check(bare) == []


def test_problems_are_bounded() -> None:
    assert len(validate(changed(LAB, **{f"x{number}": 1 for number in range(100)}))) <= 20


def test_models_read_new_shapes_and_a_sample_only() -> None:
    validator = Validator(sample=10)
    for number in range(200):
        assert validator({**LAB, "id": f"lab-{number}"}) == []
    assert validator.statistics["checked"] == 200
    assert 1 <= validator.statistics["by_models"] < 60
    other = Validator(sample=10)
    for number in reversed(range(200)):
        other({**LAB, "id": f"lab-{number}"})
    assert abs(other.statistics["by_models"] - validator.statistics["by_models"]) <= 1


def test_models_catch_what_the_others_let_pass() -> None:
    assert any("R4B model" in problem for problem in check_model(changed(LAB, status=...)))


def test_all_types_have_a_schema() -> None:
    for kind in types():
        assert validate({"resourceType": kind, "nonsense": 1}) != []

"""What is not valid R4 comes into a chart by neither door: the import nor `ChartBuilder`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wardround.patients import ChartBuilder, DataError
from wardround.patients.resource import decimal

Import = Callable[..., Any]

PATIENT = {"resourceType": "Patient", "id": "p1"}
SUBJECT = {"reference": "Patient/p1"}
KNOWN = "2020-05-02T06:00:00Z"
LAB = {
    "resourceType": "Observation",
    "id": "x",
    "status": "final",
    "code": {"text": "Sodium", "coding": [{"system": "http://loinc.org", "code": "2951-2"}]},
    "subject": SUBJECT,
    "effectiveDateTime": KNOWN,
}
ORDER = {
    "resourceType": "MedicationRequest",
    "id": "x",
    "status": "active",
    "intent": "order",
    "subject": SUBJECT,
    "authoredOn": KNOWN,
    "medicationCodeableConcept": {"text": "warfarin"},
}
PROBLEM = {"resourceType": "Condition", "id": "x", "subject": SUBJECT, "recordedDate": KNOWN, "code": {"text": "x"}}
ALLERGY = {"resourceType": "AllergyIntolerance", "id": "x", "patient": SUBJECT, "recordedDate": KNOWN}
CLINICAL = "http://terminology.hl7.org/CodeSystem/condition-clinical"
VERIFIED = "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification"
AMOUNT = {"value": 1, "unit": "mmol/L"}


def without(resource: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in resource.items() if key not in names}


INVALID: dict[str, dict[str, Any]] = {
    "an element that R4 does not have": LAB | {"colour": "red"},
    "an element of an element that R4 does not have": LAB | {"code": {"text": "x", "colour": "red"}},
    "a required element is missing": without(LAB, "code"),
    "a required word is missing": without(LAB, "status"),
    "a required reference is missing": {
        "resourceType": "DeviceUseStatement",
        "id": "x",
        "status": "active",
        "subject": SUBJECT,
        "recordedOn": KNOWN,
    },
    "a choice that is required is missing": without(ORDER, "medicationCodeableConcept"),
    "two of a choice": LAB | {"valueString": "x", "valueQuantity": AMOUNT},
    "a code outside its value set": LAB | {"status": "dreamt"},
    "a code that only the binding knows": ORDER | {"intent": "wish"},
    "a concept outside its value set": PROBLEM | {"clinicalStatus": {"coding": [{"system": CLINICAL, "code": "bad"}]}},
    "a number in words": LAB | {"valueQuantity": {"value": "0.3"}},
    "a word as a number": LAB | {"status": 5},
    "a day that does not exist": LAB | {"effectiveDateTime": "2020-02-30"},
    "a month that does not exist": LAB | {"effectiveDateTime": "2020-13"},
    "an instant that is only a day": LAB | {"issued": "2020-05-02"},
    "two in place of one": LAB | {"code": [{"text": "x"}, {"text": "y"}]},
    "a value beside the reason why there is none (obs-6)": LAB
    | {"valueQuantity": AMOUNT, "dataAbsentReason": {"text": "x"}},
    "a component with the code of the whole (obs-7)": LAB
    | {"valueQuantity": AMOUNT, "component": [{"code": LAB["code"], "valueQuantity": AMOUNT}]},
    "a range without bounds (obs-3)": LAB | {"referenceRange": [{"type": {"text": "x"}}]},
    "active and abated (con-4)": PROBLEM
    | {"clinicalStatus": {"coding": [{"system": CLINICAL, "code": "active"}]}, "abatementString": "May"},
    "entered in error and active (ait-2)": ALLERGY
    | {
        "clinicalStatus": {
            "coding": [{"system": CLINICAL.replace("condition", "allergyintolerance"), "code": "active"}]
        },
        "verificationStatus": {"coding": [{"system": VERIFIED, "code": "entered-in-error"}]},
    },
    "a contained thing that is no resource": LAB | {"contained": [{"id": "a"}]},
    "a task without intent": {
        "resourceType": "Task",
        "id": "x",
        "status": "draft",
        "for": SUBJECT,
        "authoredOn": KNOWN,
    },
    "a goal with another's status": {
        "resourceType": "Goal",
        "id": "x",
        "lifecycleStatus": "final",
        "description": {"text": "x"},
        "subject": SUBJECT,
        "startDate": "2020-05-01",
    },
}


@pytest.mark.parametrize("name", sorted(INVALID))
def test_what_is_not_valid_is_refused_at_both_doors(invented_fhir: Import, name: str) -> None:
    resource = INVALID[name]
    result = invented_fhir(PATIENT, resource)
    assert result.report.invalid == 1 and resource["resourceType"] not in result.report.resources
    assert next(iter(result.refused(resource["resourceType"]))).startswith("not valid FHIR R4: ")
    build = ChartBuilder("p1")
    build.add(resource, KNOWN)
    with pytest.raises(DataError, match="not valid FHIR R4"):
        build.packed()


MENDED: dict[str, dict[str, Any]] = {
    "an empty element": LAB | {"note": []},
    "an empty concept": LAB | {"method": {}},
    "one in place of several": LAB | {"category": {"text": "x"}},
    "an array in place of one": LAB | {"code": [LAB["code"]]},
    "a reference to what R4 does not allow there": LAB | {"encounter": {"reference": "Organization/o"}},
    "a time without zone": LAB | {"effectiveDateTime": "2020-05-02T06:00:00"},
    "an id of 65 characters": LAB | {"id": "x" * 65},
}


@pytest.mark.parametrize("name", sorted(MENDED))
def test_what_the_import_mends_the_builder_refuses(invented_fhir: Import, name: str) -> None:
    """A file comes as it is and is mended with a note; who builds a chart is told."""
    resource = MENDED[name]
    result = invented_fhir(PATIENT, resource)
    assert result.report.invalid == 0 and result.report.resources["Observation"] == 1 and result.notes("Observation")
    build = ChartBuilder("p1")
    build.add(resource, KNOWN)
    with pytest.raises(DataError, match="not valid FHIR R4"):
        build.packed()


@pytest.mark.parametrize("resource", [LAB | {"valueQuantity": {"value": decimal("0.30")}}, ORDER, PROBLEM])
def test_what_is_valid_goes_through(resource: dict[str, Any]) -> None:
    build = ChartBuilder("p1")
    build.add(dict(resource), KNOWN)
    assert build.packed().counts == {resource["resourceType"]: 1, "Patient": 1}

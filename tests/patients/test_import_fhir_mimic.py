"""MIMIC-IV on FHIR: ids, clock, names, statuses and codes put right. Invented patients in MIMIC's shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Import = Callable[..., Any]

BASE = "http://mimic.mit.edu/fhir/mimic"


def mimic(kind: str, identity: str, profile: str, **more: Any) -> dict[str, Any]:
    meta = {"profile": [f"{BASE}/StructureDefinition/{profile}"]}
    return {"resourceType": kind, "id": identity, "meta": meta} | more


def system(name: str) -> str:
    return f"{BASE}/CodeSystem/{name}"


def coded(name: str, code: str, **more: str) -> dict[str, Any]:
    return {"coding": [{"system": system(name), "code": code} | more]}


def stay(identity: str, kind: str, number: str, **more: Any) -> dict[str, Any]:
    return mimic(
        "Encounter",
        identity,
        "mimic-encounter",
        status="finished",
        subject=SUBJECT,
        identifier=[{"system": f"{BASE}/identifier/encounter-{kind}", "value": number}],
        type=[{"coding": [{"system": "http://snomed.info/sct", "code": "308335008"}]}],
        period={"start": "2150-03-01T10:00:00-05:00", "end": "2150-03-09T12:00:00-05:00"},
        **{"class": {"system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": "AMB"}} | more,
    )


SUBJECT = {"reference": "Patient/u-p"}
INSIDE = {"reference": "Encounter/u-h"}
PATIENT = mimic(
    "Patient",
    "u-p",
    "mimic-patient",
    identifier=[{"system": f"{BASE}/identifier/patient", "value": "10000001"}],
    name=[{"family": "Patient_10000001"}],
)
HOSPITAL = stay("u-h", "hosp", "20000001")


def test_agents_use_the_numbers_of_mimic(invented_fhir: Import) -> None:
    icu = stay("u-i", "icu", "30000001", partOf=INSIDE)
    ed = stay("u-e", "ed", "30000002", partOf=INSIDE)
    result = invented_fhir(PATIENT, HOSPITAL, icu, ed)
    assert result.store.patients() == ("10000001",)
    found = result.all("Encounter")
    assert set(found) == {"20000001", "icu-30000001", "ed-30000002"}
    assert found["icu-30000001"]["partOf"] == {"reference": "Encounter/20000001"}
    assert found["20000001"]["subject"] == {"reference": "Patient/10000001"}
    assert [found[one]["type"][0]["text"] for one in sorted(found)] == [
        "Hospital admission",
        "Emergency department stay",
        "ICU stay",
    ]
    assert (
        found["20000001"]["class"]["code"] == "IMP"
        and found["20000001"]["extension"][0]["valueCoding"]["code"] == "AMB"
    )
    assert found["20000001"]["period"]["start"] == "2150-03-01T10:00:00Z"


def test_a_coded_diagnosis_is_active_and_known_at_discharge(invented_fhir: Import) -> None:
    def condition(identity: str, code: str) -> dict[str, Any]:
        return mimic(
            "Condition",
            identity,
            "mimic-condition",
            subject=SUBJECT,
            encounter=INSIDE,
            code=coded("mimic-diagnosis-icd9", code, display=f"Title {code}"),
        )

    result = invented_fhir(PATIENT, HOSPITAL, condition("c1", "0389"), condition("c2", "V462"))
    assert result.all("Condition", "2150-03-09T11:59:59Z") == {}
    found = result.all("Condition", "2150-03-09T12:00:00Z")
    assert found["c1"]["clinicalStatus"]["coding"][0]["code"] == "active"
    assert found["c1"]["meta"]["tag"][0]["code"] == "derived-status"
    assert found["c1"]["code"]["coding"][0] == {
        "system": "http://hl7.org/fhir/sid/icd-9-cm",
        "code": "038.9",
        "display": "Title 0389",
    }
    assert found["c1"]["recordedDate"] == "2150-03-09T12:00:00Z"
    assert "clinicalStatus" not in found["c2"]


DRUG = mimic(
    "Medication",
    "m1",
    "mimic-medication",
    status="active",
    code=coded("mimic-medication-ndc", "00000000001"),
    identifier=[
        {"system": system("mimic-medication-formulary-drug-cd"), "value": "MERO1I"},
        {"system": system("mimic-medication-name"), "value": "Meropenem"},
    ],
)


def given(identity: str, code: dict[str, Any], **more: Any) -> dict[str, Any]:
    return mimic(
        "MedicationAdministration",
        identity,
        "mimic-medication-administration",
        status="completed",
        subject=SUBJECT,
        context=INSIDE,
        effectiveDateTime="2150-03-02T08:00:00-05:00",
        medicationCodeableConcept=code,
        **more,
    )


def test_names_are_restored(invented_fhir: Import) -> None:
    order = mimic(
        "MedicationRequest",
        "r1",
        "mimic-medication-request",
        status="completed",
        intent="order",
        subject=SUBJECT,
        authoredOn="2150-03-02T07:00:00-05:00",
        medicationReference={"reference": "Medication/m1"},
    )
    result = invented_fhir(
        PATIENT,
        HOSPITAL,
        DRUG,
        order,
        given("a1", coded("mimic-medication-formulary-drug-cd", "MERO1I")),
        given("a2", coded("mimic-medication-name", "Heparin")),
        given("a3", coded("mimic-medication-formulary-drug-cd", "X"), request={"reference": "MedicationRequest/r1"}),
        given("a4", coded("mimic-medication-formulary-drug-cd", "Y")),
    )
    assert result.all("MedicationRequest")["r1"]["medicationCodeableConcept"] == {
        "coding": [
            {"system": "http://hl7.org/fhir/sid/ndc", "code": "00000000001"},
            {"system": system("mimic-medication-formulary-drug-cd"), "code": "MERO1I"},
        ],
        "text": "Meropenem",
    }
    names = {
        one["id"]: one["medicationCodeableConcept"].get("text")
        for one in result.all("MedicationAdministration").values()
    }
    assert names == {"a1": "Meropenem", "a2": "Heparin", "a3": "Meropenem", "a4": None}
    assert result.notes("MedicationAdministration")["a drug whose name is not in the input; named by its code"] == 1


@pytest.mark.parametrize(
    ("method", "status"),
    [("Not Given", "not-done"), ("Hold Dose", "not-done"), ("Stopped", "stopped"), ("Administered", "completed")],
)
def test_what_was_not_given_is_not_done(invented_fhir: Import, method: str, status: str) -> None:
    dosage = {"text": "1", "method": coded("mimic-medication-method", method)}
    result = invented_fhir(PATIENT, HOSPITAL, given("a1", coded("mimic-medication-name", "Heparin"), dosage=dosage))
    found = result.all("MedicationAdministration")["a1"]
    assert found["status"] == status and ("tag" in found["meta"]) == (status != "completed")
    assert [one["text"] for one in found.get("statusReason", ())] == ([method] if status == "not-done" else [])


def micro(identity: str, part: str, at: str, **more: Any) -> dict[str, Any]:
    return mimic(
        "Observation",
        identity,
        f"mimic-observation-micro-{part}",
        status="final",
        subject=SUBJECT,
        code=coded("mimic-microbiology-test", "1", display="CULTURE"),
        effectiveDateTime=at,
        **more,
    )


def test_a_culture_is_not_known_when_it_is_taken(invented_fhir: Import) -> None:
    taken, stored = "2150-03-02T06:00:00-05:00", "2150-03-05T14:00:00-05:00"
    interpretation = "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation"
    result = invented_fhir(
        PATIENT,
        HOSPITAL,
        micro("t1", "test", taken, hasMember=[{"reference": "Observation/g1"}]),
        micro(
            "g1",
            "org",
            taken,
            hasMember=[{"reference": "Observation/s1"}],
            derivedFrom=[{"reference": "Observation/t1"}],
        ),
        micro("s1", "susc", stored, valueCodeableConcept={"coding": [{"system": interpretation, "code": "IND"}]}),
        micro("t2", "test", taken, encounter=INSIDE, valueString="NO GROWTH."),
        micro("t3", "test", "2150-03-02T00:00:00-05:00", valueString="NO GROWTH."),
    )
    assert set(result.all("Observation", "2150-03-02T23:59:58Z")) == set()
    assert set(result.all("Observation", "2150-03-03")) == {"t3"}
    assert set(result.all("Observation", "2150-03-05T14:00:00Z")) == {"t1", "g1", "s1", "t3"}
    found = result.all("Observation", "2150-03-09T12:00:00Z")
    assert "t2" in found and found["t3"]["effectiveDateTime"] == "2150-03-02"
    assert found["s1"]["valueCodeableConcept"]["coding"][0]["code"] == "I"


def test_day_precision_and_units_are_restored(invented_fhir: Import) -> None:
    procedure = mimic(
        "Procedure",
        "p1",
        "mimic-procedure",
        status="completed",
        subject=SUBJECT,
        encounter=INSIDE,
        code=coded("mimic-procedure-icd9", "5491", display="Drainage"),
        performedDateTime="2150-03-03T00:00:00-05:00",
    )
    output = mimic(
        "Observation",
        "o1",
        "mimic-observation-outputevents",
        status="final",
        subject=SUBJECT,
        code=coded("mimic-d-items", "1", display="Void"),
        issued="2150-03-02T16:00:00-05:00",
        effectiveDateTime="2150-03-02T15:00:00-05:00",
        valueQuantity={"value": 175, "unit": "ml", "code": "ml", "system": system("mimic-units")},
    )
    result = invented_fhir(PATIENT, HOSPITAL, procedure, output)
    assert result.all("Procedure", "2150-03-03T23:59:58Z") == {}
    found = result.all("Procedure", "2150-03-03T23:59:59Z")["p1"]
    assert found["performedDateTime"] == "2150-03-03"
    assert found["code"]["coding"][0] == {
        "system": "http://hl7.org/fhir/sid/icd-9-cm",
        "code": "54.91",
        "display": "Drainage",
    }
    quantity = result.all("Observation")["o1"]["valueQuantity"]
    assert quantity == {"value": 175, "unit": "ml", "code": "mL", "system": "http://unitsofmeasure.org"}


@pytest.mark.parametrize(
    ("source", "after"), [("completed", "stopped"), ("stopped", "stopped"), ("unknown", "unknown")]
)
def test_a_discontinued_order_is_stopped(invented_fhir: Import, source: str, after: str) -> None:
    """MIMIC-IV on FHIR calls completed what pharmacy calls Discontinued."""
    order = mimic(
        "MedicationRequest",
        "r1",
        "mimic-medication-request",
        status=source,
        intent="order",
        subject=SUBJECT,
        authoredOn="2150-03-02T07:00:00-05:00",
        medicationCodeableConcept={"text": "Heparin"},
        dispenseRequest={"validityPeriod": {"start": "2150-03-02T08:00:00-05:00", "end": "2150-03-04T08:00:00-05:00"}},
    )
    result = invented_fhir(PATIENT, HOSPITAL, order)
    before, found = (result.all("MedicationRequest", day)["r1"] for day in ("2150-03-03", "2150-03-05"))
    assert before["status"] == ("unknown" if source == "unknown" else "active") and found["status"] == after
    assert len(result.notes("MedicationRequest")) == (source == "completed")


def test_masked_and_cancelled_cultures_say_so(invented_fhir: Import) -> None:
    flavor = {"system": "http://terminology.hl7.org/CodeSystem/v3-NullFlavor", "code": "MSK", "display": "masked"}
    at = "2150-03-02T06:00:00-05:00"
    nothing = micro("g1", "org", at, derivedFrom=[{"reference": "Observation/t2"}])
    nothing["code"] = coded("mimic-microbiology-organism", "90760", display="CANCELLED")
    result = invented_fhir(
        PATIENT,
        HOSPITAL,
        micro("t1", "test", at, valueCodeableConcept={"coding": [flavor]}),
        micro("t2", "test", at, hasMember=[{"reference": "Observation/g1"}]),
        nothing,
    )
    found = result.all("Observation")
    assert (
        found["t1"]["dataAbsentReason"]["coding"][0]["code"] == "masked" and "valueCodeableConcept" not in found["t1"]
    )
    assert found["t2"]["status"] == "cancelled" and found["t1"]["status"] == "final"

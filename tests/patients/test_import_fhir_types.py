"""FHIR R4 → charts: the types beside the clinical core. Whose they are, when they were known, what is mended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.patients import ChartStore, export_ndjson, import_fhir, parse_instant

Import = Callable[..., Any]

PATIENT = {"resourceType": "Patient", "id": "p1", "gender": "female", "birthDate": "1950-02-03"}
OTHER = PATIENT | {"id": "p2"}
SUBJECT = {"reference": "Patient/p1"}
TEXT = {"text": "x"}
STAY = {
    "resourceType": "Encounter",
    "id": "e1",
    "status": "finished",
    "class": {"system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": "IMP"},
    "subject": SUBJECT,
    "period": {"start": "2020-05-01T08:00:00Z", "end": "2020-05-09T12:00:00Z"},
}
ORDER = {
    "resourceType": "ServiceRequest",
    "id": "s1",
    "status": "active",
    "intent": "order",
    "subject": SUBJECT,
    "authoredOn": "2020-05-02T10:00:00Z",
}


def at(result: Any, kind: str, instant: str, patient: str = "p1") -> list[str]:
    return sorted(result.all(kind, instant, patient))


def test_what_names_no_patient_goes_where_what_it_is_about_goes(invented_fhir: Import) -> None:
    """A Provenance of a Task about an order; the files' order does not matter."""
    task = {"resourceType": "Task", "id": "t1", "status": "requested", "intent": "order", "authoredOn": "2020-05-03"}
    task |= {"focus": {"reference": "ServiceRequest/s1"}}
    mark = {
        "resourceType": "Provenance",
        "id": "v1",
        "target": [{"reference": "Task/t1"}],
        "recorded": "2020-05-03T10:00:00Z",
        "agent": [{"who": {"display": "An"}}],
    }
    inside = {
        "resourceType": "Observation",
        "id": "o1",
        "status": "final",
        "code": TEXT,
        "issued": "2020-05-04T00:00:00Z",
    }
    inside["encounter"] = {"reference": "Encounter/e1"}  # type: ignore[assignment]
    everything = [mark, task, ORDER, inside, STAY, PATIENT]
    result = invented_fhir(*everything)
    assert at(result, "Task", "2021") == ["t1"] and at(result, "Provenance", "2021") == ["v1"]
    assert at(result, "Observation", "2021") == ["o1"]
    assert result.notes("Provenance") == {"names no patient; in the chart of what it is about": 1}
    assert invented_fhir(*reversed(everything)).store.hash == result.store.hash


def test_what_is_about_nobody_is_refused(invented_fhir: Import) -> None:
    task = {"resourceType": "Task", "id": "t1", "status": "requested", "intent": "order", "authoredOn": "2020"}
    stray = task | {"id": "t2", "focus": {"reference": "ServiceRequest/none"}}
    result = invented_fhir(PATIENT, task, stray)
    assert result.refused("Task") == {"it names no patient": 1, "its patient is not in the input": 1}


def test_a_provenance_waits_for_what_it_must_name(invented_fhir: Import) -> None:
    """R4 requires a target: shown without it, the resource would not be valid."""
    late = {"resourceType": "Condition", "id": "c1", "subject": SUBJECT, "recordedDate": "2020-06-01T00:00:00Z"}
    mark = {
        "resourceType": "Provenance",
        "id": "v1",
        "target": [{"reference": "Condition/c1"}],
        "recorded": "2020-05-01T00:00:00Z",
        "agent": [{"who": {"display": "An"}}],
    }
    result = invented_fhir(PATIENT, late, mark)
    assert result.report.invalid == 0
    assert at(result, "Provenance", "2020-05-31") == [] and at(result, "Provenance", "2020-06-02") == ["v1"]


def test_a_claim_is_known_once_what_it_bills_is_done_and_names_no_later_diagnosis(invented_fhir: Import) -> None:
    late = {"resourceType": "Condition", "id": "c1", "subject": SUBJECT, "recordedDate": "2020-06-01T00:00:00Z"}
    claim = {
        "resourceType": "Claim",
        "id": "m1",
        "status": "active",
        "type": TEXT,
        "use": "claim",
        "patient": SUBJECT,
        "created": "2020-05-01T08:00:00Z",
        "billablePeriod": {"start": "2020-05-01T08:00:00Z", "end": "2020-05-09T12:00:00Z"},
        "provider": {"display": "House"},
        "priority": TEXT,
        "insurance": [{"sequence": 1, "focal": True, "coverage": {"display": "none"}}],
        "diagnosis": [{"sequence": 1, "diagnosisReference": {"reference": "Condition/c1"}}],
    }
    result = invented_fhir(PATIENT, late, claim)
    assert result.report.invalid == 0 and at(result, "Claim", "2020-05-09T11:59:59Z") == []
    assert "diagnosis" not in result.all("Claim", "2020-05-10")["m1"]
    assert result.all("Claim", "2020-06-02")["m1"]["diagnosis"] == claim["diagnosis"]


def test_what_has_no_date_is_known_when_it_is_first_referred_to(invented_fhir: Import) -> None:
    goal = {"resourceType": "Goal", "id": "g1", "lifecycleStatus": "active", "description": TEXT, "subject": SUBJECT}
    plan = {"resourceType": "CarePlan", "id": "k1", "status": "active", "intent": "plan", "subject": SUBJECT}
    plan |= {"period": {"start": "2020-05-04"}, "goal": [{"reference": "Goal/g1"}]}
    result = invented_fhir(PATIENT, goal, goal | {"id": "g2"}, plan)
    assert at(result, "Goal", "2020-05-04T12:00:00Z") == [] and at(result, "Goal", "2020-05-05") == ["g1"]
    assert len(result.notes("Goal")) == 2 and at(result, "Goal", "2100") == ["g1"]


def test_a_device_is_its_patients_or_belongs_to_all(invented_fhir: Import) -> None:
    mine = {"resourceType": "Device", "id": "d1", "patient": SUBJECT, "type": {"text": "Pacemaker"}}
    scanner = {"resourceType": "Device", "id": "d2", "deviceName": [{"name": "CT 3", "type": "user-friendly-name"}]}
    unused = {"resourceType": "Device", "id": "d3"}
    lost = {"resourceType": "Device", "id": "d4", "patient": {"reference": "Patient/none"}}
    use = {"resourceType": "DeviceUseStatement", "id": "u1", "status": "active", "subject": SUBJECT}
    use |= {"recordedOn": "2020-05-02", "device": {"reference": "Device/d1"}}
    scan = {
        "resourceType": "Observation",
        "id": "o1",
        "status": "final",
        "code": TEXT,
        "issued": "2020-05-03T00:00:00Z",
    }
    scan |= {"subject": {"reference": "Patient/p2"}, "device": {"reference": "Device/d2"}}
    result = invented_fhir(PATIENT, OTHER, mine, scanner, unused, lost, use, scan)
    assert at(result, "Device", "2020-05-03") == ["d1"] and at(result, "Device", "2020-05-03", "p2") == ["d2"]
    assert result.all("DeviceUseStatement")["u1"]["device"]["display"] == "Pacemaker"
    assert result.all("Observation", patient="p2")["o1"]["device"]["display"] == "CT 3"
    assert result.refused("Device") == {"its patient is not in the input": 1, "no chart refers to it": 1}


def test_a_group_is_in_the_charts_of_its_members_and_comes_back(invented_fhir: Import, tmp_path: Path) -> None:
    members = [{"entity": {"reference": f"Patient/{one}"}, "period": {"start": "2020-05-01"}} for one in ("p1", "p2")]
    group = {"resourceType": "Group", "id": "g1", "type": "person", "actual": True, "member": members}
    meeting = {
        "resourceType": "Appointment",
        "id": "a1",
        "status": "booked",
        "created": "2020-05-01",
        "participant": [{"actor": {"reference": f"Patient/{one}"}, "status": "accepted"} for one in ("p1", "p2")],
    }
    result = invented_fhir(PATIENT, OTHER, group, meeting)
    for patient in ("p1", "p2"):
        assert at(result, "Group", "2020-05-02", patient) == ["g1"]
    report = export_ndjson(result.store, tmp_path / "out")
    assert report.copies == 2 and report.resources == {"Appointment": 1, "Group": 1, "Patient": 2}
    again = import_fhir(tmp_path / "out", tmp_path / "again.sqlite", licence="CC0-1.0")
    assert again.store_hash == result.store.hash and again.refused == 0


def test_a_relative_is_known_from_birth(invented_fhir: Import) -> None:
    child = {"resourceType": "RelatedPerson", "id": "r1", "patient": SUBJECT, "birthDate": "2020-05-05"}
    mother = {"resourceType": "RelatedPerson", "id": "r2", "patient": SUBJECT, "name": [{"family": "Bo"}]}
    result = invented_fhir(PATIENT, child, mother)
    assert at(result, "RelatedPerson", "2020-05-04") == ["r2"] and at(result, "RelatedPerson", "2020-05-06") == [
        "r1",
        "r2",
    ]


def test_forms_that_are_not_quite_r4_are_mended_and_counted(invented_fhir: Import) -> None:
    report = {"resourceType": "DiagnosticReport", "id": "r1", "status": "final", "code": TEXT, "subject": SUBJECT}
    report |= {"issued": "2020-05-02T00:00:00Z", "category": TEXT, "encounter": [{"reference": "Encounter/e1"}]}
    wrong = STAY | {"id": "e2", "participant": [{"individual": {"reference": "Patient/p1", "display": "Amy"}}]}
    both = STAY | {"id": "e3", "period": [{"start": "2020"}, {"start": "2021"}]}
    result = invented_fhir(PATIENT, STAY, report, wrong, both)
    found = result.all("DiagnosticReport")["r1"]
    assert found["category"] == [TEXT] and found["encounter"] == {"reference": "Encounter/e1"}
    assert result.all("Encounter")["e2"]["participant"] == [
        {"individual": {"display": "Amy", "identifier": {"value": "Patient/p1"}}}
    ]
    assert len(result.notes("DiagnosticReport")) == 2
    assert list(result.refused("Encounter")) == ["not valid FHIR R4: Encounter.period"]


STATUSES = [
    ("Goal", {"lifecycleStatus": "completed", "startDate": "2020-05-01"}, "lifecycleStatus", "active", "active"),
    (
        "Goal",
        {"lifecycleStatus": "completed", "startDate": "2020-05-01", "statusDate": "2020-05-20"},
        "lifecycleStatus",
        "active",
        "completed",
    ),
    (
        "MedicationDispense",
        {"status": "completed", "whenPrepared": "2020-05-01", "whenHandedOver": "2020-05-20"},
        "status",
        "in-progress",
        "completed",
    ),
    ("MedicationDispense", {"status": "stopped", "whenPrepared": "2020-05-01"}, "status", "unknown", "unknown"),
    (
        "CareTeam",
        {"status": "inactive", "period": {"start": "2020-05-01", "end": "2020-05-20"}},
        "status",
        "active",
        "inactive",
    ),
    (
        "ServiceRequest",
        {"status": "completed", "authoredOn": "2020-05-01", "intent": "order"},
        "status",
        "unknown",
        "unknown",
    ),
    (
        "EpisodeOfCare",
        {"status": "finished", "period": {"start": "2020-05-01", "end": "2020-05-20"}},
        "status",
        "active",
        "finished",
    ),
    (
        "Task",
        {"status": "failed", "intent": "order", "authoredOn": "2020-05-01", "lastModified": "2020-05-20"},
        "status",
        "requested",
        "failed",
    ),
    (
        "DeviceUseStatement",
        {"status": "completed", "timingDateTime": "2020-05-01", "device": {"display": "pump"}},
        "status",
        "completed",
        "completed",
    ),
]


@pytest.mark.parametrize(("kind", "given", "element", "before", "after"), STATUSES)
def test_a_status_is_that_of_its_time(
    invented_fhir: Import, kind: str, given: dict[str, Any], element: str, before: str, after: str
) -> None:
    owner = {"Task": "for", "EpisodeOfCare": "patient"}.get(kind, "subject")
    more = {"MedicationDispense": {"medicationCodeableConcept": TEXT}, "Goal": {"description": TEXT}}.get(kind, {})
    result = invented_fhir(PATIENT, {"resourceType": kind, "id": "x", owner: SUBJECT, **more, **given})
    assert result.report.invalid == 0
    assert result.all(kind, "2020-05-10")["x"][element] == before
    assert result.all(kind, "2020-05-21")["x"][element] == after


def test_the_activities_of_a_plan_do_not_tell_how_they_end(invented_fhir: Import) -> None:
    plan = {"resourceType": "CarePlan", "id": "k1", "status": "completed", "intent": "plan", "subject": SUBJECT}
    plan |= {"period": {"start": "2020-05-01", "end": "2020-05-20"}, "activity": [{"detail": {"status": "completed"}}]}
    result = invented_fhir(PATIENT, plan)
    before, after = (result.all("CarePlan", day)["k1"] for day in ("2020-05-10", "2020-05-21"))
    assert [one["activity"][0]["detail"]["status"] for one in (before, after)] == ["unknown", "completed"]
    assert before["status"] == "active" and after["status"] == "completed"


def test_a_dispense_of_mimic_is_known_with_its_order(invented_fhir: Import) -> None:
    base = "http://mimic.mit.edu/fhir/mimic"
    order = {"resourceType": "MedicationRequest", "id": "m1", "status": "completed", "intent": "order"}
    order |= {
        "subject": SUBJECT,
        "authoredOn": "2150-03-02T07:00:00-05:00",
        "medicationCodeableConcept": {"text": "Drug"},
    }
    dispense = {
        "resourceType": "MedicationDispense",
        "id": "d1",
        "meta": {"profile": [f"{base}/StructureDefinition/mimic-medication-dispense"]},
        "status": "completed",
        "subject": SUBJECT,
        "context": {"reference": "Encounter/e1"},
        "authorizingPrescription": [{"reference": "MedicationRequest/m1"}],
        "medicationCodeableConcept": {
            "coding": [{"system": f"{base}/CodeSystem/mimic-medication-name", "code": "Drug"}]
        },
    }
    result = invented_fhir(PATIENT, STAY, order, dispense)
    assert at(result, "MedicationDispense", "2150-03-02T11:59:59Z") == []
    assert result.all("MedicationDispense", "2150-03-02T12:00:00Z")["d1"]["medicationCodeableConcept"]["text"] == "Drug"


def test_a_chart_with_every_type_comes_back(invented_fhir: Import, tmp_path: Path) -> None:
    examples = (Path(__file__).parent / "clock_examples.json").read_text().replace("Patient/p", "Patient/p1")
    resources = [one for one in orjson.loads(examples) if one["resourceType"] not in ("Group", "PractitionerRole")]
    device = {"resourceType": "Device", "id": "z", "patient": SUBJECT}
    targets = [{"resourceType": "Observation", "id": "z", "status": "final", "code": TEXT, "subject": SUBJECT}]
    result = invented_fhir(PATIENT, *resources, device, *(one | {"issued": "2180-05-01T12:00:00Z"} for one in targets))
    assert result.report.invalid == result.report.refused == 0
    export_ndjson(result.store, tmp_path / "out")
    again = import_fhir(tmp_path / "out", tmp_path / "again.sqlite", licence="CC0-1.0")
    assert again.store_hash == result.store.hash and again.refused == 0
    with ChartStore.open(tmp_path / "again.sqlite") as store:
        snapshot = store.chart("p1").at(parse_instant("2180-05-03"))
        assert snapshot.count("Task") == 3 and snapshot.count("Claim") == 0

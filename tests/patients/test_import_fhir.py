"""FHIR R4 → charts: whose a resource is, references, repairs, the clock. Invented patients."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.patients import DataError, Search, UsageError, import_fhir, parse_instant

Import = Callable[..., Any]

PATIENT = {"resourceType": "Patient", "id": "p1", "gender": "female", "birthDate": "1950-02-03"}
SUBJECT = {"reference": "Patient/p1"}
STAY = {
    "resourceType": "Encounter",
    "id": "e1",
    "status": "finished",
    "class": {"system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": "IMP"},
    "subject": SUBJECT,
    "period": {"start": "2020-05-01T08:00:00Z", "end": "2020-05-09T12:00:00Z"},
}
INSIDE = {"reference": "Encounter/e1"}


def lab(identity: str = "o1", **more: Any) -> dict[str, Any]:
    base = {
        "resourceType": "Observation",
        "id": identity,
        "status": "final",
        "code": {"text": "Sodium"},
        "subject": SUBJECT,
        "effectiveDateTime": "2020-05-02T06:00:00Z",
        "valueQuantity": {"value": 140, "unit": "mmol/L"},
    }
    return base | more


def seen_from(result: Any, kind: str, identity: str, *instants: str) -> list[bool]:
    return [identity in result.all(kind, at) for at in instants]


def bundle(*entries: dict[str, Any], kind: str = "transaction") -> str:
    return orjson.dumps({"resourceType": "Bundle", "type": kind, "entry": list(entries)}).decode()


def test_a_result_is_known_when_it_was_issued(invented_fhir: Import) -> None:
    result = invented_fhir(PATIENT, lab(issued="2020-05-02T09:30:00.5Z"))
    assert seen_from(result, "Observation", "o1", "2020-05-02T09:30:00Z", "2020-05-02T09:30:01Z") == [False, True]
    assert result.report.licence == "CC0-1.0" and result.report.invalid == 0


def test_without_an_issue_time_the_end_of_its_date_decides(invented_fhir: Import) -> None:
    result = invented_fhir(PATIENT, lab(effectiveDateTime="2020-05"))
    assert seen_from(result, "Observation", "o1", "2020-05-31T23:59:58Z", "2020-05-31T23:59:59Z") == [False, True]


def test_nothing_is_known_before_it_happened(invented_fhir: Import) -> None:
    result = invented_fhir(PATIENT, lab(issued="2020-05-02T05:00:00Z"))
    assert seen_from(result, "Observation", "o1", "2020-05-02T05:30:00Z", "2020-05-02T06:00:00Z") == [False, True]


def test_an_undated_diagnosis_is_known_at_the_end_of_its_stay_and_an_undated_allergy_never(
    invented_fhir: Import,
) -> None:
    condition = {"resourceType": "Condition", "id": "c1", "subject": SUBJECT, "encounter": INSIDE}
    allergy = {"resourceType": "AllergyIntolerance", "id": "a1", "patient": SUBJECT}
    result = invented_fhir(PATIENT, STAY, condition, allergy)
    assert seen_from(result, "Condition", "c1", "2020-05-09T11:59:59Z", "2020-05-09T12:00:00Z") == [False, True]
    assert result.all("AllergyIntolerance") == {}
    assert result.report.resources["AllergyIntolerance"] == 1
    assert result.notes("AllergyIntolerance")["no date and no rule for when it was known; kept, never visible"] == 1


def test_later_fields_wait_for_their_time(invented_fhir: Import) -> None:
    order = {
        "resourceType": "MedicationRequest",
        "id": "m1",
        "status": "stopped",
        "intent": "order",
        "subject": SUBJECT,
        "authoredOn": "2020-05-02T10:00:00Z",
        "medicationCodeableConcept": {"text": "warfarin"},
        "dispenseRequest": {"validityPeriod": {"start": "2020-05-02", "end": "2020-05-04T10:00:00Z"}},
    }
    person = PATIENT | {"deceasedDateTime": "2020-06-01"}
    result = invented_fhir(person, STAY, order)
    before = result.all("MedicationRequest", "2020-05-03")["m1"]
    assert before["status"] == "active" and "end" not in before["dispenseRequest"]["validityPeriod"]
    assert result.all("MedicationRequest", "2020-05-05")["m1"]["status"] == "stopped"
    assert "end" not in result.all("Encounter", "2020-05-05")["e1"]["period"]
    assert "deceasedDateTime" not in result.all("Patient", "2020-05-31")["p1"]
    assert result.all("Patient", "2020-06-02")["p1"]["deceasedDateTime"] == "2020-06-01"


def test_the_subject_decides_whose_a_resource_is(invented_fhir: Import) -> None:
    other = PATIENT | {"id": "p2"}
    condition = {
        "resourceType": "Condition",
        "id": "c1",
        "subject": SUBJECT,
        "asserter": {"reference": "Patient/p2"},
        "recordedDate": "2020",
    }
    meeting = {
        "resourceType": "Appointment",
        "id": "t1",
        "status": "booked",
        "created": "2020-01-01",
        "participant": [{"actor": {"reference": f"Patient/{name}"}, "status": "accepted"} for name in ("p1", "p2")],
    }
    stray = lab("o2", subject={"reference": "Patient/unknown"})
    nobody = {key: value for key, value in lab("o3").items() if key != "subject"}
    result = invented_fhir(PATIENT, other, condition, meeting, stray, nobody)
    assert list(result.all("Condition", patient="p1")) == ["c1"] and result.all("Condition", patient="p2") == {}
    assert list(result.all("Appointment", patient="p1")) == list(result.all("Appointment", patient="p2")) == ["t1"]
    assert result.refused("Observation") == {"its patient is not in the input": 1, "it names no patient": 1}


def test_types_without_a_place_are_counted(invented_fhir: Import) -> None:
    result = invented_fhir(PATIENT, {"resourceType": "Slot", "id": "x"}, {"resourceType": "Schedule", "id": "y"})
    assert result.refused("Slot") == result.refused("Schedule") == {"a chart has no place for this type": 1}
    slot = next(table for table in result.report.tables if table.table == "Slot")
    assert slot.refused[0].example_row == {"file": "all.ndjson", "line": 2, "text": "Slot/x"}


def test_urn_uuid_and_absolute_references_of_a_bundle_are_resolved(invented_fhir: Import) -> None:
    uuid = "urn:uuid:0c3c5b1e-0000-4000-8000-000000000001"
    entries = (
        {"fullUrl": uuid, "resource": {key: value for key, value in PATIENT.items() if key != "id"}},
        {"fullUrl": "https://fhir.example.org/r4/Encounter/e1", "resource": STAY | {"subject": {"reference": uuid}}},
        {
            "resource": lab(
                subject={"reference": uuid}, encounter={"reference": "https://fhir.example.org/r4/Encounter/e1"}
            )
        },
    )
    result = invented_fhir(files={"b.json": bundle(*entries)})
    patient = "0c3c5b1e-0000-4000-8000-000000000001"
    assert result.store.patients() == (patient,)
    found = result.all("Observation")["o1"]
    assert found["subject"]["reference"] == f"Patient/{patient}" and found["encounter"]["reference"] == "Encounter/e1"


def test_conditional_references_are_resolved_or_become_logical(invented_fhir: Import) -> None:
    doctor = {
        "resourceType": "Practitioner",
        "id": "d1",
        "identifier": [{"system": "urn:npi", "value": "77"}],
        "name": [{"family": "Bo", "given": ["An"]}],
    }
    one = lab("o1", performer=[{"reference": "Practitioner?identifier=urn:npi|77"}])
    two = lab("o2", performer=[{"reference": "Practitioner?identifier=urn:npi|78", "display": "Cy"}])
    result = invented_fhir(PATIENT, doctor, one, two)
    found = result.all("Observation")
    assert found["o1"]["performer"] == [{"reference": "Practitioner/d1", "display": "An Bo"}]
    assert found["o2"]["performer"] == [
        {"display": "Cy", "identifier": {"system": "urn:npi", "value": "78"}, "type": "Practitioner"}
    ]
    assert list(result.all("Practitioner")) == ["d1"]
    assert any("conditional" in note for note in result.notes("Observation"))


def test_shared_resources_follow_who_refers_to_them(invented_fhir: Import) -> None:
    place = {
        "resourceType": "Location",
        "id": "l1",
        "name": "Ward 3",
        "managingOrganization": {"reference": "Organization/h"},
    }
    house = {"resourceType": "Organization", "id": "h", "name": "House"}
    unused = {"resourceType": "Location", "id": "l2", "name": "Cellar"}
    stay = STAY | {"location": [{"location": {"reference": "Location/l1"}}]}
    result = invented_fhir(PATIENT, PATIENT | {"id": "p2"}, stay, place, house, unused)
    assert list(result.all("Location", patient="p1")) == ["l1"] and list(result.all("Organization")) == ["h"]
    assert result.all("Location", patient="p2") == {}
    assert result.all("Encounter")["e1"]["location"][0]["location"]["display"] == "Ward 3"
    assert result.refused("Location") == {"no chart refers to it": 1}


def medication_order(reference: str, **more: Any) -> dict[str, Any]:
    return {
        "resourceType": "MedicationRequest",
        "id": "m1",
        "status": "active",
        "intent": "order",
        "subject": SUBJECT,
        "authoredOn": "2020-05-02",
        "medicationReference": {"reference": reference},
    } | more


def test_a_medication_is_said_in_the_order(invented_fhir: Import) -> None:
    salt = {"resourceType": "Medication", "id": "s", "code": {"text": "Sodium Chloride 0.9%"}}
    drug = {
        "resourceType": "Medication",
        "id": "d",
        "code": {"coding": [{"system": "urn:x", "code": "9", "display": "Meropenem"}]},
    }
    mix = {
        "resourceType": "Medication",
        "id": "mix",
        "ingredient": [{"itemReference": {"reference": f"Medication/{name}"}} for name in ("d", "s")],
    }
    plain, mixed = medication_order("Medication/d"), medication_order("Medication/mix") | {"id": "m2"}
    result = invented_fhir(PATIENT, plain, mixed, salt, drug, mix)
    found = result.all("MedicationRequest")
    concept = {"coding": [{"system": "urn:x", "code": "9", "display": "Meropenem"}], "text": "Meropenem"}
    assert found["m1"]["medicationCodeableConcept"] == concept and "medicationReference" not in found["m1"]
    assert found["m2"]["medicationCodeableConcept"] == {"text": "Meropenem + Sodium Chloride 0.9%"}
    assert "Medication" not in result.report.resources and result.refused("Medication") == {}
    snapshot = result.store.chart("p1").at(parse_instant("2021"))
    assert snapshot.search(Search("MedicationRequest", text="meropenem")).total == 2


def test_a_medication_that_says_more_stays_in_the_chart(invented_fhir: Import) -> None:
    drug = {"resourceType": "Medication", "id": "d", "code": {"text": "Insulin"}, "form": {"text": "pen"}}
    result = invented_fhir(PATIENT, medication_order("Medication/d"), drug)
    order = result.all("MedicationRequest")["m1"]
    assert order["medicationCodeableConcept"] == {"text": "Insulin"}
    assert order["extension"][0]["valueReference"] == {"reference": "Medication/d"}
    assert result.all("Medication")["d"]["form"] == {"text": "pen"}


def test_a_contained_medication_is_kept_and_named(invented_fhir: Import) -> None:
    inner = {"resourceType": "Medication", "id": "in", "code": {"text": "Heparin"}}
    result = invented_fhir(PATIENT, medication_order("#in", contained=[inner]))
    order = result.all("MedicationRequest")["m1"]
    assert order["contained"] == [inner] and order["medicationReference"] == {"reference": "#in", "display": "Heparin"}


def test_notes_are_searchable_and_linked_binaries_come_with_them(invented_fhir: Import) -> None:
    def note(identity: str, date: str, **attachment: Any) -> dict[str, Any]:
        return {
            "resourceType": "DocumentReference",
            "id": identity,
            "status": "superseded",
            "subject": SUBJECT,
            "date": date,
            "content": [{"attachment": {"contentType": "text/plain; charset=utf-8"} | attachment}],
        }

    text = base64.b64encode("Löwe and melaena".encode()).decode()
    latin = base64.b64encode("Löwe".encode("latin-1")).decode()
    result = invented_fhir(
        PATIENT,
        note("n1", "2020-05-01T10:00:00Z", data=text),
        note("n2", "2020-05-02T10:00:00Z", url="Binary/b"),
        note("n3", "2020-05-03T10:00:00Z", contentType="text/plain; charset=iso-8859-1", data=latin),
        note("n4", "2020-05-03T10:00:00Z", data="%%%"),
        {"resourceType": "Binary", "id": "b", "contentType": "text/plain", "data": text},
    )
    snapshot = result.store.chart("p1").at(parse_instant("2021"))
    found = {entry.id for entry in snapshot.search(Search("DocumentReference", keyword="melaena")).entries()}
    assert found == {"n1", "n2"}
    assert {one.id for one in snapshot.search(Search("DocumentReference", keyword="löwe")).entries()} == {
        "n1",
        "n2",
        "n3",
    }
    assert result.refused("DocumentReference") == {"an attachment is not base64": 1}
    assert result.refused("Binary") == {}
    # that a note was superseded is not known before the next one is
    assert result.all("DocumentReference", "2020-05-01T12:00:00Z")["n1"]["status"] == "current"
    assert result.all("DocumentReference", "2020-05-02T12:00:00Z")["n1"]["status"] == "superseded"


def test_what_is_nearly_r4_is_repaired_and_counted(invented_fhir: Import) -> None:
    category = [
        {"coding": [{"system": "http://terminology.hl7.org/CodeSystem/observation-category", "code": "vital-sign"}]}
    ]
    odd = lab(effectiveDateTime="2020-05-02T06:00", note=[], category=category, interpretation=None)
    result = invented_fhir(
        PATIENT, odd | {"id": "a_b"}, {"resourceType": "AllergyIntolerance", "id": "a", "patient": SUBJECT}
    )
    (found,) = result.all("Observation").values()
    assert found["effectiveDateTime"] == "2020-05-02T06:00:00Z" and "note" not in found
    assert found["category"][0]["coding"][0]["code"] == "vital-signs" and found["id"].startswith("a-b-")
    assert len(result.notes("Observation")) == 4
    assert result.notes("AllergyIntolerance")["clinicalStatus is missing; active, marked derived"] == 1


def test_an_illegal_id_is_followed_by_its_references(invented_fhir: Import) -> None:
    result = invented_fhir(PATIENT | {"id": "p_1"}, lab(subject={"reference": "Patient/p_1"}))
    (patient,) = result.store.patients()
    assert result.all("Observation")["o1"]["subject"]["reference"] == f"Patient/{patient}"


def test_what_is_not_valid_is_refused_with_its_element(invented_fhir: Import) -> None:
    result = invented_fhir(
        PATIENT,
        lab("o1", status="dreamt"),
        lab("o2", effectiveDateTime="2020-02-30"),
        lab("o3", colour="red"),
        lab("o4"),
    )
    assert list(result.all("Observation")) == ["o4"] and result.report.invalid == 3
    assert sum(result.refused("Observation").values()) == 3
    assert all(reason.startswith("not valid FHIR R4: ") for reason in result.refused("Observation"))


def test_a_refused_patient_takes_the_chart_along(invented_fhir: Import) -> None:
    result = invented_fhir(PATIENT, PATIENT | {"id": "p2", "gender": "blue"}, lab(subject={"reference": "Patient/p2"}))
    assert result.store.patients() == ("p1",)
    assert result.refused("Observation") == {"the patient's own resource was refused": 1}


def test_of_versions_the_latest_is_kept_whatever_the_order(invented_fhir: Import) -> None:
    old = lab(meta={"lastUpdated": "2020-05-02T07:00:00Z", "versionId": "1"}, status="preliminary")
    new = lab(meta={"lastUpdated": "2020-05-02T09:00:00Z", "versionId": "2"})
    stores = [invented_fhir(PATIENT, *order) for order in ((old, new), (new, old), (new, old, new))]
    assert len({result.store.hash for result in stores}) == 1
    assert stores[0].all("Observation")["o1"]["status"] == "final"
    assert stores[2].refused("Observation") == {
        "a copy of a resource that is kept": 1,
        "an earlier version of a kept resource": 1,
    }


def test_the_hash_depends_on_neither_files_nor_lines_nor_bundles(invented_fhir: Import) -> None:
    doctor = {"resourceType": "Practitioner", "id": "d1", "name": [{"family": "Bo"}]}
    all_ = [PATIENT, STAY, doctor, *(lab(f"o{n}", performer=[{"reference": "Practitioner/d1"}]) for n in range(30))]
    mixed = list(all_)
    random.Random(5).shuffle(mixed)
    lines = [orjson.dumps(one).decode() for one in mixed]
    results = [
        invented_fhir(*all_),
        invented_fhir(*mixed),
        invented_fhir(files={"z.ndjson": "\n".join(lines[:9]), "a.ndjson": "\n".join(lines[9:])}),
        invented_fhir(files={"b.json": bundle(*({"resource": one} for one in mixed), kind="collection")}),
    ]
    assert len({result.store.hash for result in results}) == 1


def test_decimals_and_source_ids_are_kept(invented_fhir: Import) -> None:
    text = orjson.dumps(lab()).decode().replace('"value":140', '"value":0.30')
    result = invented_fhir(files={"a.ndjson": orjson.dumps(PATIENT).decode() + "\n" + text})
    entry = result.store.chart("p1").at(parse_instant("2021")).read("Observation", "o1")
    assert entry is not None and b'"value":0.30' in entry.body


def test_without_a_licence_mimic_is_credentialed_and_the_rest_unknown_with_a_word_about_it(tmp_path: Path) -> None:
    source = tmp_path / "p.json"
    source.write_bytes(orjson.dumps(PATIENT))
    report = import_fhir(source, tmp_path / "out.sqlite")
    assert report.licence == "unknown" and "import again with the licence" in report.messages[0]
    named = import_fhir(source, tmp_path / "out.sqlite", licence="CC0-1.0")
    assert named.licence == "CC0-1.0" and named.messages == ()
    mimic = {"identifier": [{"system": "http://mimic.mit.edu/fhir/mimic/identifier/patient", "value": "10000001"}]}
    source.write_bytes(orjson.dumps(PATIENT | mimic))
    report = import_fhir(source, tmp_path / "out.sqlite")
    assert report.licence == "credentialed" and report.messages == ()


def test_a_bad_place_or_licence_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "p.json"
    source.write_bytes(orjson.dumps(PATIENT))
    with pytest.raises(UsageError, match="licence"):
        import_fhir(source, tmp_path / "out.sqlite", licence=" ")
    with pytest.raises(UsageError, match="not a folder"):
        import_fhir(source, tmp_path / "none" / "out.sqlite")
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        import_fhir(tmp_path / "missing", tmp_path / "out.sqlite")


def test_without_a_patient_nothing_is_written(tmp_path: Path) -> None:
    source = tmp_path / "o.json"
    source.write_bytes(orjson.dumps(lab()))
    with pytest.raises(DataError, match="no Patient was kept"):
        import_fhir(source, tmp_path / "out.sqlite")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["o.json"]


LATER = [
    {"period": {"start": "2020-05-01T08:00:00Z", "end": "2020-05-20T12:00:00Z"}},
    {"hospitalization": {"dischargeDisposition": {"text": "died"}}},
    {"diagnosis": [{"condition": {"reference": "Condition/c1"}}]},
]


@pytest.mark.parametrize("change", LATER)
def test_a_later_change_of_the_stay_shows_nothing_at_the_anchor(invented_fhir: Import, change: dict[str, Any]) -> None:
    condition = {"resourceType": "Condition", "id": "c1", "subject": SUBJECT, "encounter": INSIDE}
    later = lab("o2", issued="2020-05-08T09:00:00Z", valueQuantity={"value": 99, "unit": "mmol/L"})
    first = invented_fhir(PATIENT, STAY, condition, lab())
    second = invented_fhir(PATIENT | {"deceasedDateTime": "2020-05-20"}, STAY | change, condition, lab(), later)
    assert first.store.hash != second.store.hash
    for kind in ("Patient", "Encounter", "Condition", "Observation"):
        assert first.all(kind, "2020-05-05") == second.all(kind, "2020-05-05")


@pytest.mark.parametrize("identity", ["p 1", "p_1", "é", "a" * 80])
def test_references_follow_an_id_that_is_not_legal(invented_fhir: Callable[..., Any], identity: str) -> None:
    measured = {
        "resourceType": "Observation", "id": "o1", "status": "final", "code": {"text": "Potassium"},
        "effectiveDateTime": "2150-03-01", "subject": {"reference": f"Patient/{identity}"},
    }  # fmt: skip
    made = invented_fhir({"resourceType": "Patient", "id": identity}, measured)
    assert made.refused("Observation") == {}
    (patient,) = made.store.patients()
    assert made.all("Observation")["o1"]["subject"]["reference"] == f"Patient/{patient}"

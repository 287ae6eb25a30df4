"""What each row of MIMIC-IV becomes, on invented patients (tests/patients/data/mimic)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wardround.patients.fhir import validate
from wardround.patients.importers import ImportReport, import_mimic
from wardround.patients.store import ChartStore
from wardround.patients.times import parse_instant

FOLDER = Path(__file__).parent / "data" / "mimic"
END = parse_instant("2200-01-01")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ImportReport, ChartStore]]:
    out = tmp_path_factory.mktemp("mimic") / "charts.sqlite"
    report = import_mimic(FOLDER, out)
    with ChartStore.open(out) as store:
        yield report, store


def read(imported: tuple[ImportReport, ChartStore], patient: str, key: str, at: str | None = None) -> Any:
    kind, _, name = key.partition("/")
    snapshot = imported[1].chart(patient).at(END if at is None else parse_instant(at))
    found = {one["id"]: one for one in snapshot.resources(kind)}
    return found.get(name)


def orders(imported: tuple[ImportReport, ChartStore], patient: str, pharmacy: str, at: str | None = None) -> Any:
    snapshot = imported[1].chart(patient).at(END if at is None else parse_instant(at))
    found = [one for one in snapshot.resources("MedicationRequest") if one["groupIdentifier"]["value"] == pharmacy]
    return {one["category"][1]["text"]: one for one in found}


def test_every_row_is_kept_or_refused_with_a_reason(imported: tuple[ImportReport, ChartStore]) -> None:
    report, store = imported
    assert report.patients == 3 == len(store.patients())
    assert report.resources == {
        "Condition": 4, "Encounter": 3, "MedicationRequest": 5, "Observation": 11, "Patient": 3,
    }  # fmt: skip
    assert report.invalid == 0 and report.refused == 0
    assert report.licence == "credentialed" == store.licence
    read_rows = {table.table: (table.read, table.kept) for table in report.tables}
    assert read_rows["labevents"] == (11, 11)
    assert read_rows["pharmacy"] == (3, 3)
    assert report.store_hash == store.hash
    assert set(report.as_dict()) >= {"patients", "resources", "invalid", "store_hash", "tables"}
    assert set(report.as_dict()["tables"][0]) >= {"table", "read", "kept", "refused"}


def test_every_form_is_valid_r4(imported: tuple[ImportReport, ChartStore]) -> None:
    for patient in imported[1].patients():
        for at in ("2150-02-25", "2150-03-02T20:00:00Z", "2161-01-15", "2200-01-01"):
            snapshot = imported[1].chart(patient).at(parse_instant(at))
            for kind in ("Patient", "Encounter", "Condition", "Observation", "MedicationRequest"):
                for entry in snapshot.resources(kind):
                    found = snapshot.read(kind, entry["id"])
                    assert found is not None
                    assert validate(found.body) == []


@pytest.mark.parametrize(
    ("event", "value"),
    [
        ("1", b'"valueQuantity":{"value":1.4,"unit":"mg/dL","system":"http://unitsofmeasure.org","code":"mg/dL"}'),
        ("2", b'"valueQuantity":{"value":0.20}'),
        ("3", b'"valueQuantity":{"value":300,"comparator":">","unit":"mg/dL"'),
        ("4", b'"valueString":"NEG."'),
        ("5", b'"valueString":"HOLD.  DISCARD, OLD"'),
        ("6", b'"valueString":"80-160"'),
        ("7", b'"code":"masked"'),
        ("8", b'"code":"unknown"'),
        ("9", b'"valueQuantity":{"value":7.40,"unit":"units","system":"http://unitsofmeasure.org","code":"[pH]"}'),
    ],
)
def test_a_result_says_what_the_row_says(imported: tuple[ImportReport, ChartStore], event: str, value: bytes) -> None:
    entry = imported[1].chart("101").at(END).read("Observation", f"lab-{event}")
    assert entry is not None
    assert value in entry.body


def test_a_lab_has_name_code_range_and_reading(imported: tuple[ImportReport, ChartStore]) -> None:
    lab = read(imported, "101", "Observation/lab-1")
    codes = {coding["system"]: coding["code"] for coding in lab["code"]["coding"]}
    assert codes["http://mimic.mit.edu/fhir/mimic/CodeSystem/mimic-d-labitems"] == "50912"
    assert codes["http://loinc.org"] == "2160-0"
    assert lab["code"]["text"] == "Creatinine"
    assert lab["interpretation"][0]["coding"][0]["code"] == "H"
    assert str(lab["referenceRange"][0]["low"]["value"]) == "0.4"
    assert lab["specimen"]["display"] == "Blood"
    assert lab["encounter"] == {"reference": "Encounter/2001"}
    assert read(imported, "101", "Observation/lab-3")["interpretation"][0]["coding"][0]["code"] == "A"
    assert read(imported, "101", "Observation/lab-9")["interpretation"][0]["coding"][0]["code"] == "N"
    assert read(imported, "102", "Observation/lab-10")["interpretation"][0]["coding"][0]["code"] == "L"


def test_names_tell_fluids_and_specimens_apart(imported: tuple[ImportReport, ChartStore]) -> None:
    assert read(imported, "101", "Observation/lab-5")["code"]["text"] == "Glucose (Urine)"
    assert read(imported, "101", "Observation/lab-4")["code"]["text"] == "Lab item 51955 (Stool)"
    blood_gas = read(imported, "101", "Observation/lab-6")["code"]["coding"]
    assert ("http://loinc.org", "2339-0") in {(coding["system"], coding["code"]) for coding in blood_gas}


def test_comments_are_notes_beside_a_result(imported: tuple[ImportReport, ChartStore]) -> None:
    assert read(imported, "101", "Observation/lab-9")["note"] == [{"text": "VERIFIED."}]
    assert read(imported, "101", "Observation/lab-5")["note"] == [{"text": "two\nlines"}]
    assert "note" not in read(imported, "101", "Observation/lab-3")


def test_labs_stay_with_the_patient_with_or_without_a_stay(imported: tuple[ImportReport, ChartStore]) -> None:
    before = read(imported, "101", "Observation/lab-3", at="2150-02-21")
    assert before["subject"] == {"reference": "Patient/101"}
    assert "encounter" not in before
    assert "encounter" not in read(imported, "102", "Observation/lab-11")
    notes = next(table.notes for table in imported[0].tables if table.table == "labevents")
    assert notes["hadm_id is not an admission of this patient; kept without encounter"] == 1


def test_a_lab_is_known_when_stored_else_at_the_days_end(imported: tuple[ImportReport, ChartStore]) -> None:
    assert read(imported, "101", "Observation/lab-1", at="2150-03-01T08:09:59Z") is None
    assert read(imported, "101", "Observation/lab-1", at="2150-03-01T08:10:00Z") is not None
    assert read(imported, "101", "Observation/lab-2", at="2150-03-01T23:59:58Z") is None
    assert read(imported, "101", "Observation/lab-2", at="2150-03-01T23:59:59Z") is not None


def test_diagnoses_keep_zeros_rank_and_are_known_at_discharge(imported: tuple[ImportReport, ChartStore]) -> None:
    assert read(imported, "101", "Condition/dx-2001-1-0389", at="2150-03-05T11:59:59Z") is None
    sepsis = read(imported, "101", "Condition/dx-2001-1-0389", at="2150-03-05T12:00:00Z")
    assert [(coding["system"].rpartition("/")[2], coding["code"]) for coding in sepsis["code"]["coding"]] == [
        ("icd-9-cm", "038.9"),
        ("mimic-diagnosis-icd9", "0389"),
    ]
    assert sepsis["code"]["text"] == "Unspecified septicemia"
    assert sepsis["clinicalStatus"]["coding"][0]["code"] == "active"
    assert sepsis["meta"]["tag"][0]["code"] == "derived-status"
    assert sepsis["extension"][0]["valuePositiveInt"] == 1
    assert "clinicalStatus" not in read(imported, "101", "Condition/dx-2001-2-V707")
    history = read(imported, "102", "Condition/dx-2003-2-Z8673")
    assert "clinicalStatus" not in history
    assert history["code"]["text"] == "Z86.73"


def test_an_open_stay_has_no_end_and_no_disposition(imported: tuple[ImportReport, ChartStore]) -> None:
    assert read(imported, "101", "Encounter/2001", at="2150-03-01T09:59:59Z") is None
    during = read(imported, "101", "Encounter/2001", at="2150-03-02")
    assert during["status"] == "in-progress"
    assert during["period"] == {"start": "2150-03-01T10:00:00Z"}
    assert "dischargeDisposition" not in during["hospitalization"]
    after = read(imported, "101", "Encounter/2001", at="2150-03-05T12:00:00Z")
    assert after["status"] == "finished"
    assert after["period"]["end"] == "2150-03-05T12:00:00Z"
    assert after["hospitalization"]["dischargeDisposition"]["text"] == "HOME"
    assert after["class"]["code"] == "IMP"
    assert read(imported, "101", "Encounter/2002")["class"]["code"] == "OBSENC"


def test_demographics_are_those_of_the_latest_known_admission(imported: tuple[ImportReport, ChartStore]) -> None:
    assert "maritalStatus" not in read(imported, "101", "Patient/101", at="2150-01-01")
    first = read(imported, "101", "Patient/101", at="2151-01-01")
    assert first["maritalStatus"]["text"] == "MARRIED"
    assert first["birthDate"] == "2089"
    assert first["gender"] == "female"
    latest = read(imported, "101", "Patient/101")
    assert latest["maritalStatus"]["text"] == "WIDOWED"
    assert latest["communication"][0]["language"]["text"] == "ENGLISH"  # `?` does not unsay it
    assert any("ethnicity" in one["url"] for one in latest["extension"])


def test_death_is_known_when_it_happens(imported: tuple[ImportReport, ChartStore]) -> None:
    assert "deceasedDateTime" not in read(imported, "102", "Patient/102", at="2161-02-03T03:14:59Z")
    assert read(imported, "102", "Patient/102", at="2161-02-03T03:15:00Z")["deceasedDateTime"] == "2161-02-03T03:15:00Z"


def test_an_order_is_known_when_entered_and_open_until_it_stops(imported: tuple[ImportReport, ChartStore]) -> None:
    assert orders(imported, "101", "501", at="2150-03-01T11:19:59Z") == {}
    running = orders(imported, "101", "501", at="2150-03-01T11:20:00Z")["MAIN"]
    assert running["status"] == "active"
    assert running["authoredOn"] == "2150-03-01T11:20:00Z"
    assert "end" not in running["dispenseRequest"]["validityPeriod"]
    assert "statusReason" not in running
    stopped = orders(imported, "101", "501")["MAIN"]
    assert stopped["status"] == "stopped"
    assert stopped["statusReason"]["text"] == "Discontinued"
    assert stopped["medicationCodeableConcept"]["text"] == "Metformin"
    codes = [coding["code"] for coding in stopped["medicationCodeableConcept"]["coding"]]
    assert codes == ["METF500", "00093104801", "004490", "004491"]
    dosage = stopped["dosageInstruction"][0]
    assert dosage["text"] == "500 mg PO BID"
    assert dosage["timing"]["repeat"] == {"frequency": 2, "period": 1, "periodUnit": "d"}
    assert dosage["doseAndRate"][0]["doseQuantity"]["code"] == "mg"


def test_main_and_base_are_two_orders_of_one_group(imported: tuple[ImportReport, ChartStore]) -> None:
    bag = orders(imported, "101", "502")
    assert set(bag) == {"MAIN", "BASE"}
    assert bag["MAIN"]["status"] == bag["BASE"]["status"] == "completed"
    assert bag["MAIN"]["dosageInstruction"][0]["text"].startswith("25,000 UNIT")
    assert str(bag["MAIN"]["dosageInstruction"][0]["doseAndRate"][0]["doseQuantity"]["value"]) == "25000"
    assert all(coding["code"] != "0" for coding in bag["MAIN"]["medicationCodeableConcept"]["coding"])
    assert bag["MAIN"]["authoredOn"] == "2150-03-02T12:30:00Z"  # entered after it began: still the entry


def test_an_order_that_stops_before_it_starts_survives_as_unknown(imported: tuple[ImportReport, ChartStore]) -> None:
    before = orders(imported, "101", "503", at="2150-03-03T08:00:00Z")["MAIN"]
    assert before["status"] == "active"
    assert "extension" not in before
    order = orders(imported, "101", "503")["MAIN"]
    assert order["status"] == "unknown"
    assert order["dispenseRequest"]["validityPeriod"] == {"start": "2150-03-03T18:00:00Z"}
    assert order["extension"][0]["valueDateTime"] == "2150-03-03T09:00:00Z"
    dosage = order["dosageInstruction"][0]
    assert dosage["asNeededBoolean"] is True
    assert {side: str(dosage["doseAndRate"][0]["doseRange"][side]["value"]) for side in ("low", "high")} == {
        "low": "1",
        "high": "2",
    }


def test_an_order_without_pharmacy_row_is_known_from_its_start(imported: tuple[ImportReport, ChartStore]) -> None:
    order = orders(imported, "101", "504")["MAIN"]
    assert order["authoredOn"] == "2150-03-03T10:00:00Z"
    assert order["status"] == "unknown"
    assert order["dosageInstruction"][0]["text"] == "MD to order daily dose"
    assert order["medicationCodeableConcept"]["text"] == "*NF* Ertapenem"


def test_the_licence_named_is_the_licence_kept(tmp_path: Path) -> None:
    report = import_mimic(FOLDER, tmp_path / "charts.sqlite", licence="ODbL-1.0")
    with ChartStore.open(tmp_path / "charts.sqlite") as store:
        assert report.licence == store.licence == "ODbL-1.0" == store.chart("101").licence

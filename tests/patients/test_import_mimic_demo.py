"""The whole MIMIC-IV demo, where it is there: counts taken on the files (shared/data/README.md)."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from wardround.patients.importers import ImportReport
from wardround.patients.store import ChartStore
from wardround.patients.times import parse_instant

END = parse_instant("2300-01-01")


@pytest.fixture(scope="module")
def imported(demo_import: tuple[ImportReport, ChartStore]) -> tuple[ImportReport, ChartStore]:
    return demo_import


@pytest.fixture(scope="module")
def labs(imported: tuple[ImportReport, ChartStore]) -> dict[str, dict[str, Any]]:
    found = {}
    for patient in imported[1].patients():
        for lab in imported[1].chart(patient).at(END).resources("Observation"):
            if lab["id"].startswith("lab-"):
                found[lab["id"].removeprefix("lab-")] = lab
    return found


def rows_of(folder: Path, table: str) -> Iterator[dict[str, str]]:
    with gzip.open(folder / "hosp" / f"{table}.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream)


def test_every_row_is_kept_and_every_resource_is_valid(imported: tuple[ImportReport, ChartStore]) -> None:
    report, store = imported
    assert report.patients == 74
    assert report.resources["Patient"] == 74
    assert report.resources["MedicationRequest"] == 13_720
    assert report.resources["Procedure"] == 544 + 1_135
    assert report.invalid == report.refused == 0
    assert all(table.read == table.kept for table in report.tables)
    assert {"emar", "emar_detail", "chartevents"} <= set(report.missing_tables)
    # what is not made from a checked template is checked in every form, so more is checked than is stored
    validated = store.header["validated"]
    assert validated["checked"] + validated["by_template"] >= sum(report.resources.values())


def test_numbers_are_valuenum_with_the_digits_of_value(mimic_demo: Path, labs: dict[str, dict[str, Any]]) -> None:
    seen: Counter[str] = Counter()
    for row in rows_of(mimic_demo, "labevents"):
        lab, value, figure = labs[row["labevent_id"]], row["value"], row["valuenum"]
        assert lab["subject"]["reference"] == f"Patient/{row['subject_id']}"
        if figure:
            seen["masked" if value == "___" else "number"] += 1
            assert Decimal(str(lab["valueQuantity"]["value"])) == Decimal(figure)
            assert "comparator" not in lab["valueQuantity"]
        elif value[:1] in ("<", ">"):
            seen["compared"] += 1
            assert lab["valueQuantity"]["comparator"] == value[0]
        elif value not in ("", "___"):
            seen["words"] += 1
            assert lab["valueString"] == value.strip()
        elif row["comments"] not in ("", "___"):
            seen["comments"] += 1
            assert lab["valueString"] == row["comments"].strip()
        else:
            seen["absent"] += 1
            assert "dataAbsentReason" in lab
    assert seen["masked"] == 5_041
    assert seen["compared"] == 10
    assert seen["comments"] + seen["absent"] == 7_188 + 117
    assert sum(seen.values()) == 79_525


def test_digits_of_value_survive_as_bytes(mimic_demo: Path, imported: tuple[ImportReport, ChartStore]) -> None:
    row = next(row for row in rows_of(mimic_demo, "labevents") if row["value"] == "0.20" and row["valuenum"] == "0.2")
    entry = imported[1].chart(row["subject_id"]).at(END).read("Observation", f"lab-{row['labevent_id']}")
    assert entry is not None
    assert b'"value":0.20' in entry.body


def test_labs_before_admission_stay_with_their_patient(mimic_demo: Path, labs: dict[str, dict[str, Any]]) -> None:
    admitted = {row["hadm_id"]: row["admittime"] for row in rows_of(mimic_demo, "admissions")}
    early = [
        row
        for row in rows_of(mimic_demo, "labevents")
        if row["hadm_id"] and row["charttime"] < admitted[row["hadm_id"]]
    ]
    assert len(early) == 1_730
    for row in early:
        lab = labs[row["labevent_id"]]
        assert lab["subject"]["reference"] == f"Patient/{row['subject_id']}"
        assert lab["encounter"]["reference"] == f"Encounter/{row['hadm_id']}"


def test_codes_are_text(mimic_demo: Path, imported: tuple[ImportReport, ChartStore]) -> None:
    zeros = 0
    charts = {patient: imported[1].chart(patient).at(END) for patient in imported[1].patients()}
    for row in rows_of(mimic_demo, "diagnoses_icd"):
        name = f"dx-{row['hadm_id']}-{row['seq_num']}-{row['icd_code']}"
        entry = charts[row["subject_id"]].read("Condition", name)
        assert entry is not None
        assert f'"code":"{row["icd_code"]}"'.encode() in entry.body
        zeros += row["icd_version"] == "9" and row["icd_code"].startswith("0")
    assert zeros == 52


def test_orders_that_cannot_be_read_as_a_period_survive(imported: tuple[ImportReport, ChartStore]) -> None:
    statuses: Counter[str] = Counter()
    for patient in imported[1].patients():
        for order in imported[1].chart(patient).at(END).resources("MedicationRequest"):
            statuses[order["status"]] += 1
            period = order["dispenseRequest"]["validityPeriod"]
            assert "end" not in period or period["start"] <= period["end"]
    assert sum(statuses.values()) == 13_720
    assert statuses["unknown"] == 593 + 6

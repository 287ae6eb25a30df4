"""Folders that are something else: each is told what it is and what is missing, and no store is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from wardround.patients import DataError
from wardround.patients.importers import import_mimic

PATIENTS = "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod\n1,F,60,2150,2011 - 2013,\n"


def place(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PATIENTS)
    root.mkdir(exist_ok=True)
    return root


def refused(folder: Path, out: Path) -> str:
    with pytest.raises(DataError) as caught:
        import_mimic(folder, out / "charts.sqlite")
    assert not (out / "charts.sqlite").exists()
    return str(caught.value)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (
            ("core/patients.csv.gz", "core/admissions.csv.gz", "core/transfers.csv.gz", "hosp/labevents.csv.gz"),
            ("MIMIC-IV 0.x or 1.0", "keeps `patients`, `admissions` in `core/`", "Get a later release"),
        ),
        (
            ("ed/edstays.csv.gz", "ed/triage.csv.gz", "ed/diagnosis.csv.gz"),
            ("MIMIC-IV-ED alone (`edstays`, `triage`)", "no `patients.csv[.gz]`, `admissions.csv[.gz]`", "beside"),
        ),
        (("edstays.csv", "vitalsign.csv", "diagnosis.csv"), ("MIMIC-IV-ED alone",)),
        (
            ("note/discharge.csv.gz", "note/radiology.csv.gz"),
            ("MIMIC-IV-Note alone (`discharge`, `radiology`)", "without the patients it speaks of"),
        ),
        (("icu/icustays.csv.gz", "icu/d_items.csv.gz"), ("the ICU module of MIMIC-IV alone",)),
        (("labevents.csv", "emar.csv", "admissions.csv"), ("no `patients.csv[.gz]`", "a part of the hospital module")),
        (("NOTEEVENTS.csv.gz", "INPUTEVENTS_CV.csv.gz", "ICUSTAYS.csv.gz"), ("looks like MIMIC-III", "`noteevents`")),
        (("patient.csv.gz", "lab.csv.gz", "diagnosis.csv.gz", "vitalPeriodic.csv.gz"), ("looks like eICU", "`lab`")),
        (("Patient.ndjson", "Observation.ndjson.gz"), ("FHIR is imported by `wardround import fhir`",)),
        (
            ("files/mimiciv/3.1/hosp/patients.csv.gz", "files/mimiciv/3.1/hosp/admissions.csv.gz"),
            ("files/mimiciv/3.1`, which holds `hosp/`",),
        ),
        (("readme.txt",), ("Name the folder that holds `hosp/`",)),
    ],
)
def test_a_folder_is_told_what_it_is(names: tuple[str, ...], words: tuple[str, ...], tmp_path: Path) -> None:
    said = refused(place(tmp_path / "in", *names), tmp_path)
    assert "is not a MIMIC-IV folder" in said
    for word in words:
        assert word in said


def test_one_module_of_a_whole_release_names_the_folder_above(tmp_path: Path) -> None:
    root = place(tmp_path / "in", "hosp/patients.csv", "hosp/admissions.csv", "icu/icustays.csv")
    assert f"name the folder above it, `{root}`" in refused(root / "icu", tmp_path)


def test_the_emergency_department_is_not_eicu(tmp_path: Path) -> None:
    """Both have a table `diagnosis`."""
    assert "eICU" not in refused(place(tmp_path / "in", "ed/diagnosis.csv", "ed/edstays.csv"), tmp_path)
    assert "eICU" not in refused(place(tmp_path / "other", "diagnosis.csv"), tmp_path)


@pytest.mark.parametrize(("column", "whose"), [("ROW_ID", "MIMIC-III"), ("patientunitstayid", "eICU")])
def test_equal_names_of_another_schema_are_told_by_their_columns(column: str, whose: str, tmp_path: Path) -> None:
    """MIMIC-III too has PATIENTS and ADMISSIONS."""
    folder = place(tmp_path / "in", "PATIENTS.csv", "ADMISSIONS.csv")
    (folder / "PATIENTS.csv").write_text(f"{column},SUBJECT_ID,GENDER,DOB\n1,2,F,2100-01-01\n")
    said = refused(folder, tmp_path)
    assert "`PATIENTS.csv`, line 1: no column `anchor_age`" in said
    assert f"looks like {whose}" in said

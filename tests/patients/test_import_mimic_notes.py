"""MIMIC-IV-Note: sections, plans and reports of invented notes, byte for byte, each known at its own time."""

from __future__ import annotations

import base64
import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wardround.patients import ChartStore, Search, parse_instant
from wardround.patients.importers import import_mimic
from wardround.patients.importers.radiology import ADDENDUM_OF, modality
from wardround.patients.resource import NOTE_SECTION

NOTE = ("note_id", "subject_id", "hadm_id", "note_type", "note_seq", "charttime", "storetime", "text")
DETAIL = ("note_id", "subject_id", "field_name", "field_value", "field_ordinal")

SUMMARY = """Name:  ___                     Unit No:   ___

Service: MEDICINE

Chief Complaint:
"Can't breathe", she said

Brief Hospital Course:
Diuresed with good effect.

TRANSITIONAL ISSUES:
- weigh daily

Pets At Home:
None

Discharge Instructions:
Dear Ms. ___,
rest, and call if your weight goes up.

Followup Instructions:
___
""".replace("\n\n", "\n \n")

CHEST = (
    "EXAMINATION:  CHEST (PORTABLE AP)\n\nINDICATION:  Cough.\n\nFINDINGS:\nClear.\n\nIMPRESSION:\n\nNo pneumonia.\n"
)


def table(columns: tuple[str, ...], *rows: tuple[object, ...]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def summary(text: str = SUMMARY, charttime: str = "2150-03-09 00:00:00", storetime: str = "2150-03-11 08:30:00") -> str:
    return table(NOTE, ("1-DS-2", 1, 10, "DS", 2, charttime, storetime, text))


def report(note: str, kind: str, stored: str, text: str = CHEST) -> tuple[object, ...]:
    return (note, 1, 10, kind, int(note[-1]), "2150-03-02 09:10:00", stored, text)


def mark(document: dict[str, Any]) -> dict[str, Any]:
    (found,) = (one for one in document["extension"] if one["url"] == NOTE_SECTION)
    return {part["url"]: next(value for key, value in part.items() if key != "url") for part in found["extension"]}


def text_of(document: dict[str, Any]) -> str:
    return base64.b64decode(document["content"][0]["attachment"]["data"]).decode()


def in_order(documents: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(documents.values(), key=lambda one: mark(one)["start"])


def test_a_discharge_note_is_stored_by_section(invented: Callable[..., Any]) -> None:
    made = invented(
        discharge=summary(),
        discharge_detail=table(DETAIL, ("1-DS-2", 1, "author", "Dr. B", 2), ("1-DS-2", 1, "author", "Dr. A", 1)),
    )
    documents = made.all("DocumentReference")
    assert set(documents) == {
        "note-1-DS-2-preamble", "note-1-DS-2-service", "note-1-DS-2-chief-complaint", "note-1-DS-2-hospital-course",
        "note-1-DS-2-transitional-issues", "note-1-DS-2-discharge-instructions", "note-1-DS-2-followup-instructions",
    }  # fmt: skip
    assert "".join(text_of(one) for one in in_order(documents)) == SUMMARY
    hits = made.store.chart("1").at(parse_instant("2151-01-01")).search(Search("DocumentReference"))
    assert [entry.id for entry in hits.entries()] == [one["id"] for one in in_order(documents)], "as one reads the note"
    complaint = documents["note-1-DS-2-chief-complaint"]
    assert complaint["type"]["text"] == "Discharge summary"
    assert complaint["type"]["coding"][0]["code"] == "18842-5"
    assert complaint["author"] == [{"display": "Dr. A"}, {"display": "Dr. B"}]
    assert complaint["date"] == "2150-03-11T08:30:00Z"
    assert complaint["context"] == {
        "encounter": [{"reference": "Encounter/10"}],
        "period": {"start": "2150-03-09", "end": "2150-03-09"},
    }
    assert complaint["content"][0]["attachment"]["title"] == "Chief Complaint"
    start = SUMMARY.index("Chief Complaint")
    assert mark(complaint) == {
        "note": "1-DS-2", "noteType": "DS", "noteNumber": 2, "chartDate": "2150-03-09", "section": "chief-complaint",
        "order": 3, "header": "Chief Complaint", "start": start, "end": SUMMARY.index("Brief Hospital"),
    }  # fmt: skip


def test_unknown_headers_are_kept(invented: Callable[..., Any]) -> None:
    made = invented(discharge=summary("Family History:\nnone\n\nPets At Home:\nTwo cats\n\nHobbies:\nChess\n"))
    documents = made.all("DocumentReference")
    assert set(documents) == {"note-1-DS-2-family-history", "note-1-DS-2-other", "note-1-DS-2-other-2"}
    assert documents["note-1-DS-2-other-2"]["content"][0]["attachment"]["title"] == "Hobbies"


def test_plans(invented: Callable[..., Any]) -> None:
    made = invented(discharge=summary())
    plans = made.all("CarePlan")
    assert {name: (one["category"][0]["text"], one["status"]) for name, one in plans.items()} == {
        "plan-1-DS-2-hospital-course": ("treatment", "completed"),
        "plan-1-DS-2-transitional-issues": ("followup", "active"),
        "plan-1-DS-2-discharge-instructions": ("discharge-planning", "active"),
    }, "the follow-up section is masked: no plan is made of it"
    assert made.table("discharge").notes["a plan's section is empty or masked; no CarePlan"] == 1
    instructions = plans["plan-1-DS-2-discharge-instructions"]
    assert instructions["description"] == "Dear Ms. ___,\nrest, and call if your weight goes up."
    assert instructions["supportingInfo"] == [{"reference": "DocumentReference/note-1-DS-2-discharge-instructions"}]
    assert instructions["period"] == {"start": "2150-03-09T12:00:00Z"}
    assert plans["plan-1-DS-2-hospital-course"]["period"]["end"] == "2150-03-09T12:00:00Z"
    snapshot = made.store.chart("1").at(parse_instant("2151-01-01"))
    for category, count in (("treatment", 1), ("followup", 1), ("discharge-planning", 1)):
        assert snapshot.search(Search("CarePlan", category=category, encounter="10")).total == count


@pytest.mark.parametrize(
    ("charttime", "storetime", "before", "known"),
    [
        ("2150-03-09 00:00:00", "2150-03-11 08:30:00", "2150-03-11T08:29:59Z", "2150-03-11T08:30:00Z"),
        ("2150-03-09 00:00:00", "", "2150-03-09T23:59:58Z", "2150-03-09T23:59:59Z"),
        ("2150-03-09", "", "2150-03-09T23:59:58Z", "2150-03-09T23:59:59Z"),
        ("2150-03-09 07:00:00", "", "2150-03-09T23:59:58Z", "2150-03-09T23:59:59Z"),
        ("2150-03-09 00:00:00", "2150-03-09 15:00:00", "2150-03-09T14:59:59Z", "2150-03-09T15:00:00Z"),
        ("2150-03-09 00:00:00", "2150-03-08 15:00:00", "2150-03-08T23:59:59Z", "2150-03-09T00:00:00Z"),
    ],
)
def test_when_a_note_is_known(
    invented: Callable[..., Any], charttime: str, storetime: str, before: str, known: str
) -> None:
    made = invented(discharge=summary(charttime=charttime, storetime=storetime))
    assert made.all("DocumentReference", before) == {} and made.all("CarePlan", before) == {}
    assert len(made.all("DocumentReference", known)) == 7
    assert made.all("DocumentReference", known) == made.all("DocumentReference"), "one form, from the start"


def test_a_note_without_any_time_is_never_visible(invented: Callable[..., Any]) -> None:
    made = invented(discharge=summary(charttime="", storetime=""))
    assert made.all("DocumentReference") == {}
    assert made.report.resources["DocumentReference"] == 7
    assert made.table("discharge").notes["neither storetime nor charttime; kept, never visible"] == 1


def test_refusals_and_masked_authors(invented: Callable[..., Any]) -> None:
    made = invented(
        discharge=table(
            NOTE,
            ("1-DS-1", 1, 10, "DS", 1, "2150-03-09 00:00:00", "", "PMH: gout"),
            ("1-DS-1", 1, 10, "DS", 1, "2150-03-09 00:00:00", "", "PMH: some more"),
            ("1 DS 3", 1, 10, "DS", 3, "2150-03-09 00:00:00", "", "PMH: gout"),
            ("1-DS-4", 1, 10, "DS", 4, "3/9/2150 0:00", "", "PMH: gout"),
            ("1-DS-5", 1, 10, "DS", 5, "2150-03-09 00:00:00", "", " \n "),
            ("1-DS-6", 1, 99, "DS", 6, "2150-03-09 00:00:00", "", "PMH: gout"),
        ),
        discharge_detail=table(
            DETAIL,
            ("1-DS-1", 1, "author", "___", 1),
            ("1-DS-1", 1, "colour", "red", 1),
            ("1-DS-9", 1, "author", "Dr. A", 1),
        ),
    )
    assert made.refused("discharge") == {
        "the row's key stands twice with other cells; the row that was known first is kept": 1,
        "note_id is not letters, digits and hyphens, at most 24": 1,
        "charttime is not a time": 1,
        "text is empty": 1,
    }
    assert made.refused("discharge_detail") == {"no row of the notes for the note_id": 1}
    assert made.table("discharge_detail").notes == {
        "author is masked; left out": 1, "field_name without a place in the chart": 1,
    }  # fmt: skip
    documents = made.all("DocumentReference")
    assert text_of(documents["note-1-DS-1-past-medical-history"]) == "PMH: gout"
    assert "author" not in documents["note-1-DS-1-past-medical-history"]
    assert "encounter" not in documents["note-1-DS-6-past-medical-history"]["context"]


def test_radiology(invented: Callable[..., Any]) -> None:
    made = invented(
        radiology=table(
            NOTE,
            report("1-RR-1", "RR", "2150-03-02 10:00:00"),
            report("1-AR-2", "AR", "2150-03-05 10:00:00", "ADDENDUM: There is a nodule after all.\n"),
            report("1-RR-3", "RR", "2150-03-03 10:00:00", "EXAMINATION: Left knee, three views\n\nFINDINGS: Effusion."),
        ),
        radiology_detail=table(
            DETAIL,
            ("1-RR-1", 1, "exam_name", "CT CHEST W/CONTRAST", 1),
            ("1-RR-1", 1, "exam_code", "C12", 1),
            ("1-RR-1", 1, "cpt_code", "00000", 1),
            ("1-AR-2", 1, "exam_name", "CT CHEST W/CONTRAST", 1),
            ("1-AR-2", 1, "parent_note_id", "1-RR-1", 1),
        ),
    )
    reports = made.all("DiagnosticReport")
    assert set(reports) == {"rad-1-RR-1", "rad-1-AR-2", "rad-1-RR-3"}
    first = reports["rad-1-RR-1"]
    assert first["code"]["text"] == "CT CHEST W/CONTRAST"
    assert first["code"]["coding"][0]["code"] == "C12"
    assert [one["coding"][0]["code"] for one in first["category"]] == ["RAD", "CT"]
    assert first["conclusion"] == "No pneumonia."
    assert base64.b64decode(first["presentedForm"][0]["data"]).decode() == CHEST
    assert (first["effectiveDateTime"], first["issued"]) == ("2150-03-02T09:10:00Z", "2150-03-02T10:00:00Z")
    assert reports["rad-1-AR-2"]["extension"] == [
        {"url": ADDENDUM_OF, "valueReference": {"reference": "DiagnosticReport/rad-1-RR-1"}}
    ]
    assert set(made.all("DiagnosticReport", "2150-03-04T00:00:00Z")) == {"rad-1-RR-1", "rad-1-RR-3"}
    knee = reports["rad-1-RR-3"]
    assert knee["code"]["text"] == "Left knee, three views"
    assert knee["category"][1]["text"] == "X-ray"
    notes = made.table("radiology_detail").notes
    assert notes == {"CPT code; left out (licence)": 1}
    assert b"00000" not in b"".join(
        entry.body for entry in made.store.chart("1").at(parse_instant("2200-01-01")).search(
            Search("DiagnosticReport")
        ).entries()
    )  # fmt: skip


def test_addenda_find_their_notes(invented: Callable[..., Any]) -> None:
    made = invented(
        discharge=table(
            NOTE,
            ("1-DS-1", 1, 10, "DS", 1, "2150-03-09 00:00:00", "2150-03-10 08:00:00", "PMH: gout"),
            ("1-AD-2", 1, 10, "AD", 2, "2150-03-09 00:00:00", "2150-03-12 08:00:00", "PMH: gout and asthma"),
        ),
        discharge_detail=table(DETAIL, ("1-AD-2", 1, "parent_note_id", "1-DS-1", 1)),
        radiology=table(
            NOTE,
            report("1-RR-1", "RR", "2150-03-02 10:00:00"),
            report("1-AR-2", "AR", "2150-03-05 10:00:00"),
            report("1-AR-3", "AR", "2150-03-06 10:00:00"),
            report("1-RR-4", "RR", "2150-03-08 10:00:00"),
            report("1-AR-5", "AR", "2150-03-07 10:00:00"),
        ),
        radiology_detail=table(
            DETAIL,
            ("1-RR-1", 1, "addendum_note_id", "1-AR-2", 1),
            ("1-AR-3", 1, "parent_note_id", "1-RR-9", 1),
            ("1-AR-5", 1, "parent_note_id", "1-RR-4", 1),
        ),
    )
    added = made.all("DocumentReference")["note-1-AD-2-past-medical-history"]
    assert added["type"]["text"] == "Discharge summary addendum"
    assert added["relatesTo"][0]["target"]["identifier"]["value"] == "1-DS-1"
    assert set(made.all("DocumentReference", "2150-03-11")) == {"note-1-DS-1-past-medical-history"}
    reports = made.all("DiagnosticReport")
    linked = {
        name: one["extension"][0]["valueReference"]["reference"] for name, one in reports.items() if "extension" in one
    }
    assert linked == {"rad-1-AR-2": "DiagnosticReport/rad-1-RR-1"}
    notes = made.table("radiology").notes
    assert notes["an addendum whose note is not named, or not among the patient's notes"] == 1
    assert notes["an addendum known before its note; not linked"] == 1


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("CT HEAD W/O CONTRAST", "CT"), ("CTA CHEST W&W/O C&RECONS, NON-CORONARY", "CT"),
        ("MR HEAD W & W/O CONTRAST", "MR"), ("MRCP (MR ABD W&W/OC)", "MR"),
        ("CHEST (PORTABLE AP)", "DX"), ("CHEST (PA & LAT)", "DX"), ("KNEE (3 VIEWS) LEFT", "DX"),
        ("LIVER OR GALLBLADDER US (SINGLE ORGAN)", "US"), ("BILAT LOWER EXT VEINS", "US"),
        ("BONE SCAN", "NM"), ("FDG TUMOR IMAGING (PET-CT)", "PT"), ("BILAT DIGITAL SCREENING MAMMO", "MG"),
        ("VIDEO OROPHARYNGEAL SWALLOW", "RF"), ("RENAL ANGIOGRAM", "XA"), ("BONE DENSITY STUDY", "BMD"),
        ("PICC LINE PLACEMENT", None), ("", None),
    ],
)  # fmt: skip
def test_modalities(name: str, code: str | None) -> None:
    assert modality(name) == code


HOSTILE = [
    "\x00",
    "a\x0bb\x0cc\u2028d\u00a0e",
    '"',
    '""',
    ",",
    "\n\n\n",
    "\r\n",
    "é中文，。",
    "🙂",
    "x" * 70_000,
    ":" * 3000,
]


@given(
    st.lists(
        st.sampled_from([*HOSTILE, "Chief Complaint:", "PMH: ", "\n", "Brief Hospital Course:\n", " "]), max_size=12
    )
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_byte_comes_back(invented: Callable[..., Any], pieces: list[str]) -> None:
    text = "".join(["Discharge Instructions:\n", *pieces, "\nend"])
    made = invented(discharge=summary(text), radiology=table(NOTE, report("1-RR-1", "RR", "2150-03-02 10:00:00", text)))
    assert made.report.refused == 0
    text = "".join(mark for mark in text if mark in "\t\n\r" or (ord(mark) > 31 and not 127 <= ord(mark) < 160))
    assert "".join(text_of(one) for one in in_order(made.all("DocumentReference"))) == text
    (found,) = made.all("DiagnosticReport").values()
    assert base64.b64decode(found["presentedForm"][0]["data"]).decode() == text


def test_the_folder_as_published(tmp_path: Path) -> None:
    for folder in ("hosp", "note"):
        (tmp_path / folder).mkdir()
    (tmp_path / "hosp" / "patients.csv").write_text("subject_id,gender,anchor_age,anchor_year,dod\n1,F,60,2150,\n")
    (tmp_path / "hosp" / "admissions.csv").write_text(
        "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,race\n"
        "1,10,2150-03-01 10:00:00,2150-03-09 12:00:00,,URGENT,WHITE\n"
    )
    rows = list(csv.reader(io.StringIO(summary())))
    crlf = io.StringIO(newline="")
    csv.writer(crlf, lineterminator="\r\n").writerows(rows)
    (tmp_path / "note" / "discharge.csv.gz").write_bytes(gzip.compress(crlf.getvalue().encode()))
    made = import_mimic(tmp_path, tmp_path / "out.sqlite", threads=1)
    assert {"discharge_detail", "radiology", "radiology_detail"} <= set(made.missing_tables)
    with ChartStore.open(tmp_path / "out.sqlite") as store:
        documents = {
            one["id"]: one for one in store.chart("1").at(parse_instant("2200-01-01")).resources("DocumentReference")
        }
        assert "".join(text_of(one) for one in in_order(documents)) == SUMMARY

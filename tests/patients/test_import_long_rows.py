"""Rows as long as a long note, and longer than any."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path
from typing import Any

import pytest

from wardround.patients import DataError
from wardround.patients.importers import _lines, _tables, import_mimic
from wardround.patients.importers._lines import LINE
from wardround.patients.store import ChartStore
from wardround.patients.times import parse_instant

PATIENTS = "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod\n1,F,60,2150,2011 - 2013,\n"
ADMISSIONS = (
    "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,admission_location,discharge_location,insurance,"
    "language,marital_status,race,hospital_expire_flag\n"
    "1,10,2150-03-01 10:00:00,2150-03-09 12:00:00,,EW EMER.,EMERGENCY ROOM,HOME,Medicare,ENGLISH,SINGLE,WHITE,0\n"
)
HEAD = "note_id,subject_id,hadm_id,note_type,note_seq,charttime,storetime,text\n"
LINES = 240_000
COURSE = "The patient was stable on the ward.\n" * LINES


def row(number: int, text: str, stored: str = "2150-03-09 14:00:00") -> str:
    return f'1-DS-{number},1,10,DS,{number},2150-03-09 00:00:00,{stored},"Brief Hospital Course:\n{text}"\n'


def folder_of(tmp_path: Path, **tables: str) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, text in ({"patients": PATIENTS, "admissions": ADMISSIONS} | tables).items():
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode(), compresslevel=1, mtime=0))
    return folder


def test_a_note_of_8_megabytes_is_stored_whole_and_a_refused_one_is_shown(tmp_path: Path) -> None:
    assert len(COURSE) > 8_000_000
    notes = HEAD + row(1, COURSE) + row(2, "short\n") + row(3, COURSE, stored="yesterday") + row(4, "last\n")
    report = import_mimic(folder_of(tmp_path, discharge=notes), tmp_path / "out.sqlite", threads=1)
    table = next(one for one in report.tables if one.table == "discharge")
    assert (table.read, table.kept) == (4, 3)
    assert table.refused[0].example_row["line"] == 1 + (LINES + 2) + 3 + 1
    assert len(str(table.refused[0].example_row["text"])) == 500
    with ChartStore.open(tmp_path / "out.sqlite") as store:
        found: dict[str, Any] = {
            one["id"]: one for one in store.chart("1").at(parse_instant("2300-01-01")).resources("DocumentReference")
        }
    assert sorted(found) == [f"note-1-DS-{number}-hospital-course" for number in (1, 2, 4)]
    whole = base64.b64decode(found["note-1-DS-1-hospital-course"]["content"][0]["attachment"]["data"]).decode()
    assert whole.strip().endswith(COURSE.strip())


@pytest.mark.parametrize("open_quote", [False, True])
def test_a_row_beyond_the_bound_is_named_with_its_line(
    open_quote: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound is lowered, for 64 MiB take seconds."""
    for module in (_lines, _tables):
        monkeypatch.setattr(module, "LONG_LINE", 3 << 20)
    notes = HEAD + row(1, "short\n") + (row(2, COURSE)[: 4 << 20] if open_quote else row(2, COURSE) + row(3, "x\n"))
    with pytest.raises(DataError) as caught:
        import_mimic(folder_of(tmp_path, discharge=notes), tmp_path / "out.sqlite", threads=1)
    assert "`discharge.csv.gz`, line 5: a row of more than 3 MiB" in str(caught.value)
    assert not (tmp_path / "out.sqlite").exists()


def test_other_tables_have_no_such_rows(tmp_path: Path) -> None:
    labs = "labevent_id,subject_id,hadm_id,itemid,charttime,storetime,value,valuenum\n"
    labs += f"1,1,10,50931,2150-03-02 07:00:00,2150-03-02 08:00:00,{'x' * (LINE + 1)},\n"
    with pytest.raises(DataError, match=r"`labevents.csv.gz`, line 2: a row of more than 2 MiB"):
        import_mimic(folder_of(tmp_path, labevents=labs), tmp_path / "out.sqlite", threads=1)

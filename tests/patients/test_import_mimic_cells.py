"""Columns and cells that MIMIC-IV does not have: misspelt headers, bounds in words, years that cannot be."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from wardround.patients.importers import import_mimic
from wardround.patients.importers._lines import check_whole
from wardround.patients.importers._sources import SourceFile
from wardround.patients.importers._templates import full_time
from wardround.patients.importers._values import moment
from wardround.patients.store import ChartStore
from wardround.patients.times import parse_instant

PATIENTS = "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod\n1,F,60,2150,2011 - 2013,\n"
ADMISSIONS = (
    "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,admission_location,discharge_location,insurance,"
    "language,marital_status,race,hospital_expire_flag\n"
    "1,10,2150-03-01 10:00:00,2150-03-09 12:00:00,,EW EMER.,EMERGENCY ROOM,HOME,Medicare,ENGLISH,SINGLE,WHITE,0\n"
)

LABS = (
    "labevent_id,subject_id,hadm_id,specimen_id,itemid,charttime,storetime,value,valuenum,valueuom,ref_range_lower,"
    "ref_range_upper,flag,priority,comments\n"
)
LAB_ITEMS = "itemid,label,fluid,category\n50912,Creatinine,Blood,Chemistry\n50920,eGFR,Blood,Chemistry\n"
SIGNS = "subject_id,stay_id,charttime,temperature,heartrate,resprate,o2sat,sbp,dbp,rhythm,pain\n"


def lab(number: int, bounds: str, stored: str = "2150-03-02 11:00:00", value: str = "1.1") -> str:
    return f"{number},1,10,1,50912,2150-03-02 10:00:00,{stored},{value},{value},mg/dL,{bounds},,ROUTINE,\n"


def test_a_column_that_no_table_of_mimic_has_is_named(invented: Any) -> None:
    header = LABS.replace("storetime", "storetime,storetme").replace("comments", "comments,")
    row = lab(1, "0.5,1.5").replace("11:00:00,", "11:00:00,late,").replace("ROUTINE,", "ROUTINE,,")
    made = invented(
        labevents=header + row, d_labitems=LAB_ITEMS, vitalsign=SIGNS + "1,7,2150-03-02 10:00:00,,80,,,,,,\n"
    )
    said = [text for text in made.report.messages if "unknown column" in text]
    assert said == ["`labevents.csv`: unknown column `storetme`, without a name; not read."]
    assert made.refused("labevents") == {}


def test_a_bound_that_is_no_number_is_kept_as_text(invented: Any) -> None:
    rows = lab(1, ">=60,") + lab(2, ",<10") + lab(3, "0.5,<10") + lab(4, "0.5,1.5") + lab(5, "___,1.5") + lab(6, ",<10")
    made = invented(labevents=LABS + rows, d_labitems=LAB_ITEMS)
    found = {name: one["referenceRange"][0] for name, one in made.all("Observation").items()}
    assert found["lab-1"] == {"text": ">=60"}
    assert found["lab-2"] == found["lab-6"] == {"text": "<10"}
    assert found["lab-3"]["text"] == "0.5 - <10"
    assert (str(found["lab-3"]["low"]["value"]), "high" in found["lab-3"]) == ("0.5", False)
    assert "text" not in found["lab-4"]
    assert set(found["lab-5"]) == {"high"}
    notes = made.table("labevents").notes
    assert notes["a bound of the reference range is not a number; the range is kept as its text too"] == 4
    assert notes["a bound of the reference range is `___` (de-identified); not carried"] == 1


@pytest.mark.parametrize("year", ["0001", "0000", "1899", "2301", "9999"])
def test_a_year_that_cannot_be_is_no_time(invented: Any, year: str) -> None:
    assert full_time(f"{year}-01-01 00:00:00") is None
    with pytest.raises(ValueError, match="not a time"):
        moment(f"{year}-01-01")
    made = invented(
        labevents=LABS + lab(1, ",", f"{year}-01-01 00:00:00") + lab(2, ",") + lab(3, ",", f"{year}-01-01"),
        d_labitems=LAB_ITEMS,
        vitalsign=f"{SIGNS}1,7,{year}-03-02 10:00:00,,80,,,,,,\n",
    )
    assert made.refused("labevents") == {"charttime or storetime is not a time": 2}
    assert made.refused("vitalsign") == {"charttime is not a time": 1}
    assert set(made.all("Observation")) == {"lab-2"}


@pytest.mark.parametrize("year", ["1900", "2300"])
def test_the_first_and_the_last_year_are_times(year: str) -> None:
    found = moment(f"{year}-06-01 10:00:00")
    assert found is not None
    assert full_time(f"{year}-06-01 10:00:00") == (found.text.encode(), found.start)


@pytest.mark.parametrize("odd", ["\x00", "\x07", "\x1b", "\x7f", "\x85", "\x9f"])
@pytest.mark.parametrize("packed", [False, True])
def test_control_characters_are_removed_and_counted(tmp_path: Path, odd: str, packed: bool) -> None:
    tables = {
        "patients": PATIENTS,
        "admissions": ADMISSIONS.replace("Medicare", f"Medi{odd}care"),
        "labevents": LABS
        + lab(1, ",", value=f"1.{odd}1").replace("ROUTINE,", f'ROUTINE,"one\n\ttwo{odd}"')
        + lab(2, ",").replace("50912", f"50912{odd}"),
        "d_labitems": LAB_ITEMS.replace("Creatinine", f"Crea{odd}tinine é"),
    }
    folder = tmp_path / "in"
    folder.mkdir()
    for name, text in tables.items():
        data = text.encode()
        (folder / f"{name}.csv{'.gz' if packed else ''}").write_bytes(gzip.compress(data) if packed else data)
    report = import_mimic(folder, tmp_path / "out.sqlite", threads=1)
    assert report.invalid == report.refused == 0
    end = ".gz" if packed else ""
    assert {one for one in report.messages if "control" in one} == {
        f"`{table}.csv{end}`: {count} values of `{column}` hold control characters; read without them."
        for table, column, count in (
            ("admissions", "insurance", 1),
            ("d_labitems", "label", 1),
            ("labevents", "itemid", 1),
            ("labevents", "value", 1),
            ("labevents", "valuenum", 1),
            ("labevents", "comments", 1),
        )
    }
    with ChartStore.open(tmp_path / "out.sqlite") as store:
        found = {one["id"]: one for one in store.chart("1").at(parse_instant("2200-01-01")).resources("Observation")}
    first, second = found["lab-1"], found["lab-2"]
    assert first["code"]["text"] == second["code"]["text"] == "Creatinine é"
    assert first["note"] == [{"text": "one\n\ttwo"}]
    assert str(first["valueQuantity"]["value"]) == "1.1"


def test_a_control_character_that_two_pieces_of_a_file_share_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    piece = 1 << 20
    path.write_bytes(b"a" * (piece - 1) + "\x85".encode() + b"a" * piece)
    assert check_whole(SourceFile(path, path.name, gz=False))
    path.write_bytes(b"a" * (piece - 1) + "é\t\r\n".encode() + b"a" * piece)
    assert not check_whole(SourceFile(path, path.name, gz=False))

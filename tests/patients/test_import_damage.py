"""Damage of every kind, in every table that any mapper reads: repaired with a message, or refused with file and line.

The tables are made from the mappers' own specifications, so a table that is added is covered without a line here.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wardround.patients import DataError
from wardround.patients.importers import ImportReport, import_mimic
from wardround.patients.importers._repairs import is_id, is_time, is_whole
from wardround.patients.importers._sources import SourceFile
from wardround.patients.importers._tables import Reader, TableSpec
from wardround.patients.importers.registry import MAPPERS, REQUIRED
from wardround.patients.importers.report import Tally
from wardround.patients.store import ChartStore
from wardround.patients.work_folder import WorkFolder

SPECS = {spec.name: spec for make in MAPPERS for spec in (*make().tables, *make().dictionaries)}
KEYED = {name: spec for name, spec in SPECS.items() if spec.keyed}
Table = list[list[str]]
Damage = Callable[[TableSpec, Table], Table]
ONE_ROW = ("patients", "admissions", "icustays", "edstays", "d_icd_diagnoses", "d_icd_procedures")

_CELLS = {
    "subject_id": "101", "hadm_id": "2001", "stay_id": "3001", "icd_version": "9", "icd_code": "4019",
    "anchor_age": "60", "anchor_year": "2150", "anchor_year_group": "2011 - 2013", "gender": "F", "dod": "",
    "deathtime": "", "hospital_expire_flag": "0", "race": "WHITE", "admission_type": "EW EMER.", "value": "5.1",
    "valuenum": "5.1", "valueuom": "mg/dL", "drug": "Metformin", "drug_type": "MAIN", "event_txt": "Administered",
    "result_name": "Weight (Lbs)", "result_value": "150", "ref_range_lower": "3.5", "ref_range_upper": "5.0",
    "transfers": "", "eventtype": "admit", "careunit": "Medicine", "first_careunit": "MICU", "last_careunit": "MICU",
    "curr_service": "MED", "note_type": "DS", "text": "Chief Complaint:\nweakness", "field_name": "author",
    "field_value": "___", "drg_type": "HCFA", "drg_code": "064", "description": "STROKE",
    "statusdescription": "Stopped", "order_type": "Lab", "transaction_type": "New", "med": "aspirin",
    "name": "aspirin", "medication": "aspirin",
    "chiefcomplaint": "cough", "parent_note_id": "", "comments": "", "flag": "", "warning": "0",
}  # fmt: skip


def rows_of(spec: TableSpec, count: int | None = None) -> Table:
    """Return the header and rows that differ in their numbers and days (days above 12 prove their order)."""
    table = [list(spec.columns)]
    for number in range(count or (1 if spec.name in ONE_ROW else 3)):
        row = []
        for column in spec.columns:
            if column in _CELLS:
                cell = _CELLS[column]
            elif column.endswith("date"):
                cell = f"2150-03-{20 + number} 00:00:00"
            elif is_time(column):
                cell = f"2150-03-{20 + number} 07:05:00"
            elif column.endswith("note_id"):
                cell = f"101-DS-{number + 1}"
            elif column.startswith("emar_id"):
                cell = f"101-{number + 1}"
            elif is_whole(column) or column.endswith(("_seq", "_ordinal")):
                cell = str(500 + number)
            else:
                cell = "x"
            row.append(cell)
        table.append(row)
    return table


def write(folder: Path, damage: Damage = lambda spec, table: table, ending: str = "\n", start: bytes = b"") -> Path:
    folder.mkdir()
    for name, spec in SPECS.items():
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator=ending).writerows(damage(spec, rows_of(spec)))
        (folder / f"{name}.csv").write_bytes(start + out.getvalue().encode())
    return folder


def accounts(report: ImportReport) -> dict[str, tuple[Any, ...]]:
    return {
        table.table: (table.read, table.kept, [(one.reason, one.count) for one in table.refused], table.notes)
        for table in report.tables
    }


def bodies(path: Path) -> bytes:
    with ChartStore.open(path) as store:
        chart = store.chart("101")
        return b"".join(chart.frame(number) for number in range(int(chart.index.arrays["frame"][-1]) + 1))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> ImportReport:
    base = tmp_path_factory.mktemp("sound")
    report = import_mimic(write(base / "in"), base / "out.sqlite", threads=1)
    kept = [table.table for table in report.tables if table.kept]
    assert len(kept) >= 0.8 * len(SPECS), f"the rows of {sorted(set(SPECS) - set(kept))} are all refused"
    assert report.invalid == 0
    assert [message for message in report.messages if "not imported" not in message] == []
    return report


def upper(spec: TableSpec, table: Table) -> Table:
    return [[name.upper() for name in table[0]], *table[1:]]


def reordered(spec: TableSpec, table: Table) -> Table:
    return [row[::-1] for row in table]


def as_float(cell: str) -> str:
    return f"{int(cell):,}" if len(cell) > 3 else f"{cell}.0"


def as_floats(spec: TableSpec, table: Table) -> Table:
    wholes = [number for number, name in enumerate(table[0]) if is_whole(name)]
    return [
        table[0],
        *(
            [as_float(cell) if place in wholes and cell.isdigit() else cell for place, cell in enumerate(row)]
            for row in table[1:]
        ),
    ]


def dates(form: str, drop: bool = False) -> Damage:
    """Write times as a spreadsheet does; with `drop`, on days that prove nothing."""

    def change(spec: TableSpec, table: Table) -> Table:
        places = [number for number, name in enumerate(table[0]) if is_time(name)]
        return [
            table[0],
            *([one(cell) if place in places else cell for place, cell in enumerate(row)] for row in table[1:]),
        ]

    def one(cell: str) -> str:
        match = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):00", cell)
        if match is None:
            return cell
        year, month, day, hour, minute = (int(part) for part in match.groups())
        return form.format(year=year, month=month, day=day - 16 if drop else day, hour=hour, minute=f"{minute:02}")

    return change


def each_of(*damages: Damage) -> Damage:
    """Do several things to a table that have nothing to do with each other."""

    def change(spec: TableSpec, table: Table) -> Table:
        for damage in damages:
            table = damage(spec, table)
        return table

    return change


NUMBERS_AND_DATES = each_of(as_floats, dates("{month}/{day}/{year} {hour}:{minute}"))


@pytest.mark.parametrize(
    ("damage", "ending", "start", "said"),
    [
        (each_of(reordered, upper), "\r\n", b"\xef\xbb\xbf", {"not in lower case": upper, "another order": reordered}),
        (NUMBERS_AND_DATES, "\n", b"", {"whole numbers": as_floats, "month first": dates("{month}/{day}/{year}")}),
        (dates("{day}/{month}/{year} {hour}:{minute}:00"), "\n", b"", {"day first": dates("{day}/{month}/{year}")}),
    ],
    ids=["BOM, CRLF, upper case, other order", "numbers as 1.0 and 1,234, 7/31/2142 1:54", "31/7/2142 1:54:00"],
)
def test_what_the_file_proves_is_repaired_in_every_table(
    damage: Damage, ending: str, start: bytes, said: dict[str, Damage], sound: ImportReport, tmp_path: Path
) -> None:
    report = import_mimic(write(tmp_path / "in", damage, ending, start), tmp_path / "out.sqlite", threads=1)
    found, expected = accounts(report), accounts(sound)
    for table in SPECS:
        assert found[table] == expected[table], table
    assert report.store_hash == sound.store_hash
    for words, one in said.items():
        touched = {name for name, spec in SPECS.items() if one(spec, rows_of(spec)) != rows_of(spec)}
        told = {
            table for table in touched if any(f"`{table}.csv`" in text and words in text for text in report.messages)
        }
        assert told == touched, words


def test_a_date_that_could_be_two_days_is_no_date(sound: ImportReport, tmp_path: Path) -> None:
    """The fourth of March or the third of April: nothing in the file tells, so nothing is dated by it."""
    damage = dates("{month}/{day}/{year} {hour}:{minute}", drop=True)
    keep = ("patients", "admissions")
    folder = write(tmp_path / "in", lambda spec, table: table if spec.name in keep else damage(spec, table))
    report = import_mimic(folder, tmp_path / "out.sqlite", threads=1)
    text = bodies(tmp_path / "out.sqlite")
    assert re.search(rb'"2150-0[3-6]-0[3-6]', text) is None
    for name, spec in SPECS.items():
        if name not in keep and any(is_time(column) and column not in _CELLS for column in spec.columns):
            assert any(f"`{name}.csv`" in one and "cannot be told apart" in one for one in report.messages), name
    for table in report.tables:
        assert table.read == table.kept + sum(one.count for one in table.refused)


@pytest.fixture(scope="module")
def look_at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[TableSpec, str], None]]:
    """Return a function that opens one table as an import does, and reads it to its end."""
    base = tmp_path_factory.mktemp("look")
    work = WorkFolder(base / "out.sqlite")
    numbers = count()
    with Reader(threads=1, memory_limit="256MB", work=work) as reader:

        def look(spec: TableSpec, text: str) -> None:
            path = base / f"{next(numbers)}.csv"
            path.write_text(text, newline="")
            source = SourceFile(path, f"{spec.name}.csv", False)
            list(reader.stream(spec, [source], Tally(spec.name)).all())

        yield look
    work.release()


def text_of(table: Table, delimiter: str = ",") -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n", delimiter=delimiter).writerows(table)
    return out.getvalue()


def foreign(column: str) -> Callable[[Table], str]:
    return lambda table: text_of([[column, *table[0]], *(["1", *row] for row in table[1:])])


@pytest.mark.parametrize("name", sorted(SPECS))
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: text_of(table, ";"), "comma-separated"),
        (lambda table: text_of([*table[1:], table[0]]), "first line must be the header"),
        (lambda table: text_of([*table, table[0]]), "the header again"),
        (lambda table: text_of([*table[:2], [name.upper() for name in table[0]], *table[2:]]), "line {}: the header"),
        (foreign("row_id"), "MIMIC-III"),
        (foreign("ROW_ID"), "MIMIC-III"),
        (foreign("icustay_id"), "MIMIC-II"),
        (foreign("patientunitstayid"), "eICU"),
        (lambda table: text_of([*table, [*table[1], "x"]]), "fields where the header has"),
        (lambda table: "", "empty"),
    ],
    ids=["semicolons", "header last", "again", "between", "III", "III upper", "II", "eICU", "wide", "empty"],
)  # fmt: skip
def test_what_cannot_be_repaired_is_refused_in_every_table(
    name: str, change: Callable[[Table], str], words: str, look_at: Callable[[TableSpec, str], None]
) -> None:
    table = rows_of(SPECS[name])
    between = text_of(table[:2]).count("\n") + 1
    with pytest.raises(DataError, match=re.escape(words.format(between))) as caught:
        look_at(SPECS[name], change(table))
    assert f"`{name}.csv`, line" in str(caught.value)


IDS = {name: tuple(column for column in spec.columns if is_id(column)) for name, spec in SPECS.items()}


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("1.01E+02", "is a number that a spreadsheet shortened (1.23E+07): its digits are lost, fetch the file again"),
        ("1,01E7", "is a number that a spreadsheet shortened (1.23E+07): its digits are lost, fetch the file again"),
        ("101.5", "is not a whole number"),
    ],
)
def test_a_row_whose_id_is_none_is_refused_in_every_table_for_every_id(cell: str, reason: str, tmp_path: Path) -> None:
    """A row each, after the good ones: never kept without its encounter, whatever column it is."""

    def broken(spec: TableSpec, table: Table) -> Table:
        ids = IDS[spec.name]
        bad = rows_of(spec, len(table) - 1 + len(ids))[len(table) :]
        for row, column in zip(bad, ids, strict=True):
            row[table[0].index(column)] = cell
        return [*table, *bad]

    report = import_mimic(write(tmp_path / "in", broken), tmp_path / "out.sqlite", threads=1)
    for table in report.tables:
        ids, good = IDS[table.table], len(rows_of(SPECS[table.table])) - 1
        lines = 2 if "text" in SPECS[table.table].columns else 1  # of a row
        for place, column in enumerate(ids):
            one = next(one for one in table.refused if one.reason == f"{column} {reason}")
            example = (one.example_row["file"], one.example_row["line"])
            assert one.count == 1, (table.table, column)
            assert example == (f"{table.table}.csv", 2 + lines * (good + place)), column
        assert table.read == good + len(ids) == table.kept + sum(one.count for one in table.refused)
        if "spreadsheet" in reason:
            told = [f"`{table.table}.csv`: 1 values of `{column}` are numbers" for column in ids]
            assert all(any(words in message for message in report.messages) for words in told), table.table


OPTIONAL = sorted(set(SPECS) - set(REQUIRED))


def check_missing(gone: set[str], sound: ImportReport, tmp_path: Path) -> None:
    """Import without some tables: each is named, the others are read as before or say what they lack."""
    folder = write(tmp_path / "in")
    for name in gone:
        (folder / f"{name}.csv").unlink()
    report = import_mimic(folder, tmp_path / "out.sqlite", threads=1)
    shutil.rmtree(folder)
    assert report.missing_tables == tuple(sorted(gone))
    assert report.invalid == 0
    assert {table.table for table in report.tables} == set(SPECS) - gone
    before = {table.table: table.read for table in sound.tables}
    for table in report.tables:
        assert table.read == before[table.table]
        assert table.read == table.kept + sum(one.count for one in table.refused)
    notes = {table.table: table.notes for table in report.tables}
    for make in MAPPERS:
        main, *helpers = (spec.name for spec in make().tables)
        for helper in helpers:
            if main in gone and helper not in gone:
                assert notes[helper] == {f"read, but there is no table {main} that uses it": before[helper]}


@pytest.mark.parametrize("bit", range(len(OPTIONAL).bit_length()))
@pytest.mark.parametrize("value", [0, 1])
def test_missing_tables_are_named_and_nothing_else_is_skipped(
    bit: int, value: int, sound: ImportReport, tmp_path: Path
) -> None:
    """Two tables differ in a bit of their numbers: each is missing once while any other is there."""
    check_missing({name for place, name in enumerate(OPTIONAL) if place >> bit & 1 == value}, sound, tmp_path)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(gone=st.sets(st.sampled_from(OPTIONAL)))
def test_any_tables_may_be_missing(gone: set[str], sound: ImportReport, tmp_path: Path) -> None:
    check_missing(gone, sound, tmp_path)

"""Layouts that import alike, and damage that is named, on invented patients (tests/patients/data/mimic)."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wardround.patients import DataError, UsageError
from wardround.patients.importers import import_mimic
from wardround.patients.store import ChartStore

SOURCE = Path(__file__).parent / "data" / "mimic" / "hosp"
TABLES = tuple(sorted(path.stem for path in SOURCE.glob("*.csv")))
Table = list[list[str]]
SHORTENED = "is a number that a spreadsheet shortened (1.23E+07): its digits are lost, fetch the file again"


def rows_of(table: str) -> Table:
    with (SOURCE / f"{table}.csv").open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def write(path: Path, rows: Table, ending: str = "\n", encoding: str = "utf-8") -> None:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=ending).writerows(rows)
    data = out.getvalue().encode(encoding)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data, mtime=0) if path.name.endswith(".gz") else data)


def write_folder(root: Path, pattern: str = "hosp/{}.csv.gz", **changed: Table | None) -> Path:
    for table in TABLES:
        rows = changed.get(table, rows_of(table))
        if rows is not None:
            write(root / pattern.format(table), rows)
    return root


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> str:
    return import_mimic(SOURCE.parent, tmp_path_factory.mktemp("reference") / "charts.sqlite").store_hash


def plain(root: Path) -> Path:
    return write_folder(root)


def without_hosp(root: Path) -> Path:
    return write_folder(root, "{}.csv")


def mixed(root: Path) -> Path:
    write_folder(root, "hosp/{}.csv.gz", labevents=None)
    write(root / "labevents.csv", rows_of("labevents"))
    return root


def with_crlf_and_bom(root: Path) -> Path:
    for table in TABLES:
        # a line break inside a field is content; only those between records change
        write(root / f"hosp/{table}.csv.gz", rows_of(table), ending="\r\n", encoding="utf-8-sig")
    return root


def upper_case_and_reordered(root: Path) -> Path:
    changed: dict[str, Table | None] = {}
    for table in TABLES:
        header, *rows = rows_of(table)
        changed[table] = [[name.upper() for name in reversed(header)], *(row[::-1] for row in rows)]
    return write_folder(root, **changed)


def strange_path(root: Path) -> Path:
    return write_folder(root / "we[i]rd? *'s {x}")


def per_subject(root: Path) -> Path:
    for table in TABLES:
        header, *rows = rows_of(table)
        if "subject_id" not in header:
            write(root / f"hosp/{table}.csv.gz", [header, *rows])
            continue
        place = header.index("subject_id")
        for subject in sorted({row[place] for row in rows}):
            mine = [row for row in rows if row[place] == subject]
            write(root / subject / f"hosp_{table}.csv.gz", [header, *mine])
    return root


def shuffled(root: Path) -> Path:
    return write_folder(root, **{table: [rows_of(table)[0], *rows_of(table)[:0:-1]] for table in TABLES})


LAYOUTS = (
    plain, without_hosp, mixed, with_crlf_and_bom, upper_case_and_reordered, strange_path, per_subject, shuffled,
)  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_every_layout_gives_the_same_store(layout: Callable[[Path], Path], reference: str, tmp_path: Path) -> None:
    folder = layout(tmp_path / "in")
    report = import_mimic(folder, tmp_path / "charts.sqlite")
    assert report.store_hash == reference
    assert report.refused == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_do_not_change_the_store(threads: int, reference: str, tmp_path: Path) -> None:
    assert import_mimic(SOURCE.parent, tmp_path / "charts.sqlite", threads=threads).store_hash == reference


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(len(rows_of("labevents")) - 1)))
def test_the_order_of_rows_is_nothing(order: list[int], reference: str, tmp_path: Path) -> None:
    header, *rows = rows_of("labevents")
    folder = write_folder(tmp_path / "in", labevents=[header, *(rows[place] for place in order)])
    assert import_mimic(folder, tmp_path / "charts.sqlite").store_hash == reference


def test_other_headers_are_said(tmp_path: Path) -> None:
    report = import_mimic(upper_case_and_reordered(tmp_path / "in"), tmp_path / "charts.sqlite")
    assert any("labevents.csv.gz" in message and "another order" in message for message in report.messages)
    assert any("labevents.csv.gz" in message and "lower case" in message for message in report.messages)


def test_missing_tables_are_named_and_skipped(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "in", labevents=None, d_labitems=None, pharmacy=None)
    write(folder / "hosp" / "hcpcsevents.csv", [["subject_id"], ["101"]])
    report = import_mimic(folder, tmp_path / "charts.sqlite")
    assert {"d_labitems", "labevents", "pharmacy", "emar"} <= set(report.missing_tables)
    assert "prescriptions" not in report.missing_tables
    assert report.unread_tables == ("hcpcsevents",)
    assert "Observation" not in report.resources
    with ChartStore.open(tmp_path / "charts.sqlite") as store:
        assert "Observation" not in store.header["imported"]


def replace(table: str, row: int, column: str, value: str) -> Table:
    rows = rows_of(table)
    rows[row][rows[0].index(column)] = value
    return rows


@pytest.mark.parametrize(
    ("table", "row", "column", "value", "reason"),
    [
        ("labevents", 2, "charttime", "3/1/2150 7:00", "charttime or storetime is not a time"),
        ("labevents", 2, "charttime", "2150-02-30 07:00:00", "charttime or storetime is not a time"),
        ("labevents", 2, "subject_id", "777", "subject_id is not in patients"),
        ("labevents", 2, "subject_id", "1.01E+02", f"subject_id {SHORTENED}"),
        ("labevents", 2, "hadm_id", "2.00E+06", f"hadm_id {SHORTENED}"),
        ("labevents", 2, "hadm_id", "2001.5", "hadm_id is not a whole number"),
        ("labevents", 2, "subject_id", "", "subject_id is not a whole number"),
        ("labevents", 2, "labevent_id", "1", "labevent_id stands twice; the first row is kept"),
        ("labevents", 2, "itemid", "x", "itemid is not a whole number"),
        ("prescriptions", 2, "starttime", "yesterday", "starttime or stoptime is not a time"),
        ("prescriptions", 2, "drug", " ", "drug is empty"),
        ("diagnoses_icd", 2, "hadm_id", "2002000", "hadm_id is not an admission of this patient"),
        ("diagnoses_icd", 2, "icd_version", "11", "icd_version is neither 9 nor 10"),
        ("admissions", 2, "admittime", "", "admittime is empty"),
        ("pharmacy", 2, "pharmacy_id", "501", "pharmacy_id stands twice; the row that was entered first is kept"),
        ("patients", 3, "anchor_age", "?", "anchor_age or anchor_year is not a whole number"),
    ],
)
def test_a_bad_row_is_refused_with_reason_line_and_text(
    table: str, row: int, column: str, value: str, reason: str, tmp_path: Path
) -> None:
    folder = write_folder(tmp_path / "in", **{table: replace(table, row, column, value)})
    report = import_mimic(folder, tmp_path / "charts.sqlite")
    found = next(one for one in report.tables if one.table == table)
    assert [one.reason for one in found.refused] == [reason]
    assert found.read == len(rows_of(table)) - 1 == found.kept + found.refused[0].count
    example = found.refused[0].example_row
    assert example["file"] == f"hosp/{table}.csv.gz"
    assert example["line"] == row + 1
    assert value in str(example["text"])


def test_lines_are_counted_as_an_editor_shows_them(tmp_path: Path) -> None:
    """Row 5 of the labs holds a line break, so row 6 begins one line later."""
    folder = write_folder(tmp_path / "in", labevents=replace("labevents", 6, "itemid", "x"))
    report = import_mimic(folder, tmp_path / "charts.sqlite")
    refused = next(one for one in report.tables if one.table == "labevents").refused
    assert refused[0].example_row["line"] == 8


def test_an_identical_row_is_refused_once(tmp_path: Path) -> None:
    rows = rows_of("prescriptions")
    folder = write_folder(tmp_path / "in", prescriptions=[*rows, rows[1]])
    report = import_mimic(folder, tmp_path / "charts.sqlite")
    found = next(one for one in report.tables if one.table == "prescriptions")
    assert (found.read, found.kept) == (len(rows), len(rows) - 1)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def wrong_checksum(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-8] ^= 255
    path.write_bytes(bytes(data))


def edit(change: Callable[[str], str]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_bytes(gzip.compress(change(gzip.decompress(path.read_bytes()).decode()).encode()))

    return damage


def not_utf8(path: Path) -> None:
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + b"\xff\xfe,1\n"))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (cut, ("hosp/labevents.csv.gz", "fetch it again")),
        (wrong_checksum, ("hosp/labevents.csv.gz", "fetch it again")),
        (lambda path: path.write_bytes(b"not gzip"), ("hosp/labevents.csv.gz", "damaged")),
        (edit(lambda text: ""), ("line 1", "empty")),
        (edit(lambda text: text.splitlines()[0] + "\n"), ("line 2", "no rows")),
        (edit(lambda text: text.replace("valuenum", "valuenumber", 1)), ("line 1", "`valuenum`")),
        (edit(lambda text: text.replace("labevent_id", "row_id", 1)), ("`labevent_id`", "MIMIC-III")),
        (edit(lambda text: "patientunitstayid,labname\n1,x\n"), ("`charttime`", "eICU")),
        (edit(lambda text: text.replace(",", ";")), ("comma-separated",)),
        (edit(lambda text: "\n".join(text.splitlines()[1:]) + "\n"), ("first line must be the header",)),
        (edit(lambda text: text + "12,101\n"), ("line 14", "2 fields where the header has 16")),
        (edit(lambda text: text + '12,101,"open\n'), ("line 14", "does not end")),
        (edit(lambda text: text.replace("storetime,value", "charttime,value", 1)), ("line 1", "`storetime`")),
        (not_utf8, ("line 14",)),
    ],
)
def test_a_damaged_file_is_named_with_line_and_cure(
    damage: Callable[[Path], None], words: tuple[str, ...], tmp_path: Path
) -> None:
    folder = write_folder(tmp_path / "in")
    out = tmp_path / "out" / "charts.sqlite"
    out.parent.mkdir()
    before = b"SQLite format 3\0 what was there before"
    out.write_bytes(before)
    damage(folder / "hosp" / "labevents.csv.gz")
    with pytest.raises(DataError) as caught:
        import_mimic(folder, out)
    for word in words:
        assert word in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
    assert [path.name for path in out.parent.iterdir()] == ["charts.sqlite"]
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "not a MIMIC-IV folder"),
        ({"patient.csv": "patientunitstayid\n1\n", "lab.csv": "x\n1\n"}, "eICU"),
        ({"2.2/hosp/patients.csv": "subject_id\n1\n"}, "which holds `hosp/`"),
        (
            {"PATIENTS.csv": "ROW_ID,SUBJECT_ID,GENDER,DOB\n1,2,F,2100-01-01\n", "ADMISSIONS.csv": "ROW_ID\n1\n"},
            "MIMIC-III",
        ),
        ({"patients.csv": "a\n", "hosp/patients.csv": "a\n", "admissions.csv": "a\n"}, "there twice"),
        ({"patients.csv": "a\n", "patients.csv.gz": "", "admissions.csv": "a\n"}, "there twice"),
        ({"labevents.csv": "a\n", "101/hosp_labevents.csv": "a\n"}, "as a whole"),
    ],
)
def test_a_folder_that_is_not_mimic_is_refused(files: dict[str, str], words: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with pytest.raises(DataError, match=words):
        import_mimic(folder, tmp_path / "charts.sqlite")
    assert not (tmp_path / "charts.sqlite").exists()


def test_bad_arguments_are_the_callers(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        import_mimic(tmp_path / "nowhere", tmp_path / "charts.sqlite")
    with pytest.raises(UsageError, match="is not a folder"):
        import_mimic(SOURCE.parent, tmp_path / "nowhere" / "charts.sqlite")
    with pytest.raises(UsageError, match="threads"):
        import_mimic(SOURCE.parent, tmp_path / "charts.sqlite", threads=0)
    with pytest.raises(UsageError, match="licence"):
        import_mimic(SOURCE.parent, tmp_path / "charts.sqlite", licence=" ")


def test_progress_counts_patients(tmp_path: Path) -> None:
    seen: list[int] = []
    import_mimic(SOURCE.parent, tmp_path / "charts.sqlite", progress=seen.append)
    assert seen == [1, 2, 3]

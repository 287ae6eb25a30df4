"""Cells of MIMIC-IV: times, numbers, codes, and the templates that results are made from."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients.importers import _lab_values as lab
from wardround.patients.importers import _templates, import_mimic
from wardround.patients.importers import _values as values
from wardround.patients.importers._vocabulary import codes, loinc_exceptions, units
from wardround.patients.importers.diagnoses import dot, has_clinical_status
from wardround.patients.importers.report import Tally
from wardround.patients.store import ChartStore
from wardround.patients.times import parse_instant


@given(st.integers(0, 12).flatmap(lambda n: st.decimals(min_value=-(10**12), max_value=10**12, places=n)))
def test_a_number_keeps_value_and_digits(figure: Decimal) -> None:
    text = f"{figure:f}"
    found = values.number(text)
    assert found is not None
    assert Decimal(found) == figure
    orjson.loads(found)
    assert found.partition(".")[2] == text.partition(".")[2]


@given(st.text(max_size=12))
def test_whatever_is_called_a_number_is_json(text: str) -> None:
    found = values.number(text)
    if found is not None:
        assert isinstance(orjson.loads(found), int | float)


@pytest.mark.parametrize("text", ["", " ", "1-2", "1,000", "NaN", "inf", "1e", "0x1", "１", ".", "-"])
def test_other_text_is_no_number(text: str) -> None:
    assert values.number(text) is None


@pytest.mark.parametrize(("text", "number"), [("25,000", "25000"), ("1,000.50", "1000.50"), ("1,00", None), ("5", "5")])
def test_thousands(text: str, number: str | None) -> None:
    assert values.grouped_number(text) == number


@pytest.mark.parametrize(
    "text", ["7/31/2142 1:54", "2150-02-30", "2150-03-01 24:00:00", "2150-03-01T07:00", "2150-03-01 07:00:00Z", "x"]
)
def test_other_times_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a time|must be in|out of range"):
        values.moment(text)


@given(st.datetimes().map(lambda at: at.strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0")))
def test_the_short_way_reads_times_as_the_long_way(text: str) -> None:
    if int(text[:4]) not in values.YEARS:
        assert _templates.full_time(text) is None
        return
    long = values.moment(text)
    assert long is not None
    assert _templates.full_time(text) == (long.text.encode(), long.start)


@pytest.mark.parametrize(
    "text", ["2150-03-01", "2150-02-30 07:00:00", "2150-03-01 24:00:00", "7/31/2142 1:54", "x", ""]
)
def test_the_short_way_leaves_other_cells_to_the_long_way(text: str) -> None:
    assert _templates.full_time(text) is None


def test_a_day_is_known_when_it_is_over() -> None:
    day = values.moment("2150-03-01")
    assert day is not None
    assert day.text == "2150-03-01"
    assert day.known == parse_instant("2150-03-01T23:59:59Z")
    assert values.moment(" ") is None


@pytest.mark.parametrize(
    ("value", "valuenum", "comment", "expected"),
    [
        ("___", "5.1", "4.9", lab.Value(number="5.1", note="4.9")),
        ("0.20", "0.2", None, lab.Value(number="0.20")),
        (">300", "300", None, lab.Value(number="300", comparator=">")),
        ("6.0", "5.1", "REDRAW", lab.Value(number="5.1", note="Charted as 6.0. REDRAW")),
        ("<1", None, None, lab.Value(number="1", comparator="<")),
        ("35/.", None, None, lab.Value(words="35/.")),
        ("0-2", None, "x", lab.Value(words="0-2", note="x")),
        ("___", None, "NEG.", lab.Value(words="NEG.")),
        ("___", None, None, lab.Value(absent="masked")),
        (None, None, "___", lab.Value(absent="unknown")),
    ],
)
def test_what_a_result_says(value: str | None, valuenum: str | None, comment: str | None, expected: lab.Value) -> None:
    assert lab.read_value(value, valuenum, comment, Tally("labevents")) == expected


@pytest.mark.parametrize(
    ("value", "flag", "mark"),
    [
        (lab.Value(number="5.1"), None, "H"),
        (lab.Value(number="3.5"), None, "N"),
        (lab.Value(number="3.4"), None, "L"),
        (lab.Value(number="4"), "abnormal", "A"),
        (lab.Value(number="5.0", comparator=">"), None, "H"),
        (lab.Value(number="4", comparator=">"), None, None),
        (lab.Value(number="3.5", comparator="<"), None, "L"),
        (lab.Value(words="POS"), "abnormal", "A"),
        (lab.Value(words="NEG"), None, None),
    ],
)
def test_reading_against_both_bounds(value: lab.Value, flag: str | None, mark: str | None) -> None:
    assert lab.interpret(value, "3.5", "5.0", flag) == mark


@pytest.mark.parametrize(
    ("unit", "item", "found"),
    [
        (" ", "1", {}),
        ("N/A", "1", {}),
        ("K/uL", "1", {"unit": "K/uL", "system": "http://unitsofmeasure.org", "code": "10*3/uL"}),
        ("units", "1", {"unit": "units"}),
        ("furlong", "1", {"unit": "furlong"}),
    ],
)
def test_units(unit: str, item: str, found: dict[str, str]) -> None:
    assert lab.unit_of(unit, item) == found


def test_codes_get_their_dot_and_status() -> None:
    assert [dot("0389", "9"), dot("E8497", "9"), dot("V707", "9"), dot("A4151", "10"), dot("E119", "10")] == [
        "038.9", "E849.7", "V70.7", "A41.51", "E11.9",
    ]  # fmt: skip
    assert has_clinical_status("E119", "10") and not has_clinical_status("E8497", "9")
    assert not has_clinical_status("Z8673", "10") and not has_clinical_status("V707", "9")


def test_the_data_files_are_whole() -> None:
    assert codes()["format_version"] == units()["format_version"] == 1
    for item, code in loinc_exceptions().items():
        assert lab.loinc_of(int(item)) == code, f"{item}: the knowledge base does not list {code} for this item"


def test_templates_change_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """40 results of like and unlike shapes, made by template and one by one, give the same store."""
    source = Path(__file__).parent / "data" / "mimic" / "hosp"
    folder = tmp_path / "in"
    folder.mkdir()
    for path in source.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    header = (source / "labevents.csv").read_text().splitlines()[0]
    rows = [
        f"{n},101,2001,{20 + n},50912,,2150-03-0{2 + n % 3} 07:0{n % 10}:00,"
        f"{'' if n % 7 == 0 else f'2150-03-0{2 + n % 3} 09:00:00'},{n / 10},{n / 10},mg/dL,{low},{high},"
        f"{'abnormal' if n % 5 == 0 else ''},ROUTINE,{'100% %(event)b' if n % 4 == 0 else ''}"
        for n, (low, high) in enumerate([("0.4", "1.1"), ("0.4", ""), ("2", "2"), ("", "")] * 40, 1)
    ]
    (folder / "labevents.csv").write_text("\n".join([header, *rows]) + "\n")
    fast = import_mimic(folder, tmp_path / "fast.sqlite").store_hash
    with ChartStore.open(tmp_path / "fast.sqlite") as store:
        assert store.header["validated"]["by_template"] > 60
    monkeypatch.setattr(_templates, "TEMPLATES", 0)
    assert import_mimic(folder, tmp_path / "slow.sqlite").store_hash == fast
    with ChartStore.open(tmp_path / "slow.sqlite") as store:
        assert store.header["validated"]["by_template"] == 0


def test_drug_codes_that_lost_their_zeros_are_told_from_whole_ones() -> None:
    assert values.lost_zeros("93104801", values.NDC_DIGITS)
    assert values.lost_zeros("4490", values.GSN_DIGITS)
    assert not values.lost_zeros("00093104801", values.NDC_DIGITS)
    assert not values.lost_zeros("004490", values.GSN_DIGITS)
    assert not values.lost_zeros("n/a", values.GSN_DIGITS)

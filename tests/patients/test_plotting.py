"""Series of a record, and how they are drawn on a terminal and on a page."""

from __future__ import annotations

import re
from decimal import Decimal

from wardround.patients import NEVER, ChartBuilder, lab_series, parse_instant, plot_page, plot_text, timeline
from wardround.patients.chart import Snapshot


def record(name: str = "Creatinine", *values: str) -> Snapshot:
    builder = ChartBuilder("p1", sex="female", birth_date="1950-01-01")
    builder.encounter("e1", "IMP", "2150-06-01T08:00:00Z", "2150-06-04T08:00:00Z")
    builder.encounter("e2", "AMB", "2150-09-01T08:00:00Z", "2150-09-01T09:00:00Z")
    for day, value in enumerate(values or ("1.9", "1.6", "1.20", "0.4"), 1):
        builder.lab(
            name, value, "mg/dL", at=f"2150-06-0{day}T09:00:00Z", low="0.5", high="1.1", loinc="2160-0", encounter="e1"
        )
    builder.lab(name, "1.0", "mg/dL", at="2150-09-01T08:30:00Z", low="0.5", high="1.1", loinc="2160-0", encounter="e2")
    builder.vital("Blood pressure", "120/80", "mmHg", at="2150-06-01T09:00:00Z", encounter="e1")
    builder.medication(
        "lisinopril", dose="10 mg", start="2150-06-02T10:00:00Z", stop="2150-06-03T10:00:00Z", encounter="e1"
    )
    return builder.chart().at(NEVER - 1)


def test_a_series_keeps_values_order_range_and_treatments() -> None:
    (one,) = lab_series(record())
    assert (one.name, one.unit, one.low, one.high) == ("Creatinine", "mg/dL", Decimal("0.5"), Decimal("1.1"))
    assert [point.text for point in one.points] == ["1.9", "1.6", "1.20", "0.4", "1.0"]
    assert [point.flag for point in one.points] == ["H", "H", "H", "L", None]
    assert [(drug.name, drug.stop) for drug in one.treatments] == [
        ("lisinopril", parse_instant("2150-06-03T10:00:00Z"))
    ]
    assert one.as_dict()["points"][2]["value"] == "1.20"


def test_series_are_cut_by_clock_stay_and_length() -> None:
    snapshot = record()
    assert len(lab_series(snapshot, encounter="e1")[0].points) == 4
    assert lab_series(snapshot, encounter="e2") == []
    assert {one.name for one in lab_series(snapshot, least=1)} == {
        "Creatinine", "Systolic blood pressure", "Diastolic blood pressure",
    }  # fmt: skip
    early = snapshot.chart.at(parse_instant("2150-06-03T08:00:00Z"))
    assert [point.text for point in lab_series(early, least=1)[0].points] == ["1.9", "1.6"]
    assert lab_series(early, start=parse_instant("2151-01-01"), least=1) == []


def test_a_plot_shows_sides_of_the_range_stays_and_treatments() -> None:
    text = plot_text(lab_series(record())[0])
    rows = text.splitlines()
    assert rows[0] == "Creatinine (mg/dL)  5 values, range 0.5-1.1"
    body = [line[10:] for line in rows[2:9]]
    assert [sum(line.count(mark) for line in body) for mark in "▲▼●"] == [3, 1, 1]
    assert {line[4] for line in body if len(line) > 4} == {"│"}, "between the stays"
    assert rows[1][10:] == "  a", "the order begins before the third value"
    assert "a: lisinopril from 2150-06-02 to 2150-06-03" in text
    assert "2150-06-01" in rows[9] and "first 1.9 (2150-06-01), last 1.0 (2150-09-01); least 0.4, most 1.9" in text


def test_more_values_than_columns_share_them_and_equal_values_are_drawn() -> None:
    builder = ChartBuilder("p1", sex="female", birth_date="1950-01-01")
    for number in range(500):
        builder.lab("Sodium", "140", "mEq/L", at=parse_instant("2150-01-01") + number * 3_600_000_000)
    text = plot_text(lab_series(builder.chart().at(NEVER - 1))[0], width=40)
    assert max(map(len, text.splitlines()[1:8])) <= 50
    assert sum(line.count("●") for line in text.splitlines()) <= 40


def test_the_page_holds_everything_escaped_and_nothing_from_outside() -> None:
    hostile = "<script>alert(1)</script>&\"'"
    snapshot = record(hostile)
    page = plot_page(hostile, [hostile], lab_series(snapshot), timeline(snapshot), [("Truth " + hostile, [hostile])])
    assert "<script" not in page and "alert(1)" in page
    assert not re.findall(r"(?:src|href)\s*=|url\(|@import|https?://", page)
    assert page.count("<circle") == 5 and page.count("<polyline") == 2
    assert "no tool shows this" in page
    assert page == plot_page(
        hostile, [hostile], lab_series(snapshot), timeline(snapshot), [("Truth " + hostile, [hostile])]
    )
    assert "Truth behind" not in plot_page("p", [], [], [])

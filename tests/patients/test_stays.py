"""Stays within a hospital stay: found under it once it is known that they belong to it, hidden with it, told apart."""

from __future__ import annotations

from typing import Any

import pytest

from wardround.patients import (
    Chart,
    ChartBuilder,
    Dialogue,
    Interview,
    Overlay,
    Search,
    ToolCall,
    ToolContext,
    ViewFilter,
    is_hospital_stay,
    parse_instant,
    run_tool,
)
from wardround.patients.stays import ENCOUNTER_KIND


def kind(code: str) -> list[dict[str, Any]]:
    return [{"coding": [{"system": ENCOUNTER_KIND, "code": code}], "text": code}]


@pytest.fixture(scope="module")
def chart() -> Chart:
    build = ChartBuilder("P1", sex="female", birth_date="2120-05-17")
    build.encounter("ed-7", "EMER", "2180-05-01 05:00", "2180-05-01 08:00")
    ed, _ = build.resources()[-1]
    ed |= {"type": kind("ed"), "partOf": {"reference": "Encounter/10"}}
    build.encounter("10", "IMP", "2180-05-01 07:00", "2180-05-09 12:00")
    build.encounter("icu-8", "ACUTE", "2180-05-02 07:00", "2180-05-03 12:00")
    icu, _ = build.resources()[-1]
    icu |= {"type": kind("icu"), "partOf": {"reference": "Encounter/10"}}
    build.encounter("20", "IMP", "2180-07-01 07:00", "2180-07-02 12:00")
    for name, at, stay in (("a", "05-01 06:00", "ed-7"), ("b", "05-02 08:00", "icu-8"), ("c", "05-02 09:00", "10")):
        build.lab("Sodium", "140", at=f"2180-{at}", encounter=stay, id=name)
    return build.chart()


def ids(record: Any, stay: str, kind: str = "Observation") -> list[str]:
    return [entry.id for entry in record.search(Search(kind, encounter=stay)).entries()]


def test_a_hospital_stay_finds_what_hangs_on_its_icu_and_ed_stays(chart: Chart) -> None:
    late = chart.at(parse_instant("2180-05-09"))
    assert ids(late, "10") == ["c", "b", "a"]
    assert ids(late, "icu-8") == ["b"]
    assert ids(late, "ed-7") == ["a"]
    assert ids(late, "10", "Encounter") == ["icu-8", "10", "ed-7"]


def test_an_ed_stay_names_its_admission_only_once_that_is_known(chart: Chart) -> None:
    before = chart.at(parse_instant("2180-05-01T06:30:00Z"))
    entry = before.read("Encounter", "ed-7")
    assert entry is not None and b"partOf" not in entry.body
    assert ids(before, "10") == []
    assert ids(before, "ed-7") == ["a"]
    after = chart.at(parse_instant("2180-05-01T07:00:00Z")).read("Encounter", "ed-7")
    assert after is not None and b'"partOf":{"reference":"Encounter/10"}' in after.body


def test_a_hidden_stay_hides_its_icu_and_ed_stays(chart: Chart) -> None:
    hidden = chart.at(parse_instant("2180-05-09"), ViewFilter(encounters=("10",)))
    assert [entry.id for entry in hidden.search(Search("Observation")).entries()] == []
    assert [entry.id for entry in hidden.search(Search("Encounter")).entries()] == []


def test_a_write_within_the_icu_stay_is_found_under_the_hospital_stay(chart: Chart) -> None:
    overlay = Overlay(chart.at(parse_instant("2180-05-09")))
    overlay.create(
        {
            "resourceType": "Observation",
            "status": "final",
            "code": {"text": "Sodium"},
            "subject": {"reference": "Patient/P1"},
            "encounter": {"reference": "Encounter/icu-8"},
            "effectiveDateTime": "2180-05-02T08:30:00Z",
        }
    )
    assert ids(overlay, "10") == ["c", "new-1", "b", "a"]
    assert ids(overlay, "ed-7") == ["a"]


def test_encounters_that_are_part_of_each_other_end_the_walk() -> None:
    build = ChartBuilder("P1", sex="female", birth_date="2120-05-17")
    for one, other in (("x", "y"), ("y", "x")):
        build.encounter(one, "IMP", "2180-05-01 07:00")
        build.resources()[-1][0]["partOf"] = {"reference": f"Encounter/{other}"}
    snapshot = build.chart().at(parse_instant("2180-05-09"))
    assert snapshot.encounters_of("x") == ("x", "y")


def test_only_hospital_stays_are_hospital_stays(chart: Chart) -> None:
    stays = chart.at(parse_instant("2180-05-01T06:30:00Z")).resources("Encounter")
    assert [one["id"] for one in stays if is_hospital_stay(one)] == []
    stays = chart.at(parse_instant("2180-08-01")).resources("Encounter")
    assert [one["id"] for one in stays if is_hospital_stay(one)] == ["20", "10"]
    assert is_hospital_stay({"class": {"code": "EMER"}, "type": [{"text": "visit"}]})


def test_a_wrong_hadm_id_is_answered_with_hospital_stays(chart: Chart) -> None:
    context = ToolContext(Overlay(chart.at(parse_instant("2180-08-01"))), Dialogue(Interview()), "P1", "s1")
    result = run_tool(context, ToolCall("Observation.search", {"subject_id": "P1", "hadm_id": "7"}))
    assert not result.ok
    assert "`20`, `10`." in result.text
    assert "icu-8" not in result.text and "ed-7" not in result.text
    shown = run_tool(context, ToolCall("Encounter.search", {"subject_id": "P1"}))
    assert all(name in shown.text for name in ("icu-8", "ed-7", "emergency", "inpatient acute")), shown.text

"""What a hostile tester of the reading tools found: long texts, services in other words, stays within stays."""

from __future__ import annotations

from typing import Any, Literal

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients import (
    ALL_TOOLS,
    ChartBuilder,
    Dialogue,
    Interview,
    Overlay,
    ToolCall,
    ToolContext,
    ToolResult,
    parse_instant,
    run_tool,
    timeline,
)
from wardround.patients.rows import LONGEST, LONGEST_ALONE, compact_row, cut, is_cut

NOW = "2150-03-05T12:00:00Z"


def builder() -> ChartBuilder:
    made = ChartBuilder("p-1", sex="female", birth_date="1950")
    made.encounter("e1", "IMP", "2150-03-01T10:00:00Z", "2150-03-09T12:00:00Z")
    return made


def context_of(made: ChartBuilder, view: Literal["compact", "fhir"] = "compact") -> ToolContext:
    overlay = Overlay(made.chart().at(parse_instant(NOW)))
    return ToolContext(overlay, Dialogue(Interview()), "p-1", "s", view=view, encounter="e1")


def run(context: ToolContext, tool: str, **arguments: Any) -> ToolResult:
    return run_tool(context, ToolCall(tool, {"subject_id": "p-1", **arguments}), list(ALL_TOOLS))


def read(context: ToolContext, tool: str, **arguments: Any) -> dict[str, Any]:
    result = run(context, tool, **arguments)
    assert result.ok, result.text
    found: dict[str, Any] = orjson.loads(result.text)
    return found


def long_text(number: int, size: int = 12_000) -> str:
    words = f"Note number {number} begins. " + "The patient is well. " * (size // 21)
    return words + f"Ending{number} of the note."


@pytest.fixture(scope="module")
def noted() -> ToolContext:
    """Twenty-five notes and reports of 12,000 characters, one plan of 12,000, one note of 90,000."""
    made = builder()
    for number in range(25):
        at = f"2150-03-02T00:{number:02d}:00Z"
        made.note("Progress note", long_text(number), at=at, encounter="e1", id=f"note-{number}")
        made.report("CT HEAD", long_text(number), at=at, encounter="e1", id=f"report-{number}")
    made.care_plan("Home", long_text(7), at="2150-03-02", id="plan-7")
    made.note("Progress note", long_text(99, 90_000), at="2150-03-01T12:00:00Z", encounter="e1", id="note-huge")
    return context_of(made)


@pytest.mark.parametrize("tool", ["DocumentReference.search", "DiagnosticReport.search"])
def test_twenty_long_texts_do_not_fill_a_context(noted: ToolContext, tool: str) -> None:
    result = run(noted, tool)
    found = orjson.loads(result.text)
    assert len(found["rows"]) == 20 and len(result.text) < 20 * (LONGEST + 200)
    column = found["columns"].index("text")
    for row in found["rows"]:
        assert row[column].startswith("Note number") and row[column].endswith("characters not shown]")
    assert "id of a row as keyword" in found["note"] and "more not shown" in found["note"]


@pytest.mark.parametrize(("tool", "name"), [("DocumentReference.search", "note-3"), ("CarePlan.search", "plan-7")])
def test_the_id_of_a_row_reads_it_whole(noted: ToolContext, tool: str, name: str) -> None:
    for keyword in (name, f"{tool.partition('.')[0]}/{name}"):
        found = read(noted, tool, keyword=keyword)
        assert (found["total"], len(found["rows"])) == (1, 1)
        assert found["rows"][0][0] == name
        text = found["rows"][0][found["columns"].index("text")]
        assert text == long_text(int(name.partition("-")[2]))
        assert "note" not in found and "found" not in found
    assert run(noted, tool, keyword=name).resources == (f"{tool.partition('.')[0]}/{name}",)


def test_a_search_that_finds_one_shows_it_whole(noted: ToolContext) -> None:
    found = read(noted, "DocumentReference.search", keyword="ending12")
    assert found["total"] == 1 and found["rows"][0][4] == long_text(12)
    assert read(noted, "DocumentReference.search", _count=1)["rows"][0][4] == long_text(24)
    assert read(noted, "DocumentReference.search", keyword="note-3", _count=0)["rows"] == []


def test_the_other_filters_hold_for_an_id(noted: ToolContext) -> None:
    assert read(noted, "DocumentReference.search", keyword="note-3", hadm_id="e1")["total"] == 1
    assert read(noted, "DocumentReference.search", keyword="note-3", type_code="discharge-summary")["total"] == 0
    assert read(noted, "DocumentReference.search", keyword="report-3")["total"] == 0


def test_a_huge_text_is_shown_from_where_the_keyword_stands(noted: ToolContext) -> None:
    found = read(noted, "DocumentReference.search", keyword="note-huge")
    text = found["rows"][0][4]
    assert text.startswith("Note number 99") and text.endswith("characters not shown]")
    assert len(text) < LONGEST_ALONE + 100 and "keyword moves" in found["note"]
    found = read(noted, "DocumentReference.search", keyword="ending99")
    text = found["rows"][0][4]
    assert text.endswith("Ending99 of the note.") and text.startswith("[") and "keyword moves" in found["note"]


def test_an_episodes_own_notes_are_cut_and_read_alike() -> None:
    context = context_of(builder())
    for number in range(3):
        assert run(context, "DocumentReference.create", type_code="progress-note", text=long_text(number, 6000)).ok
    found = read(context, "DocumentReference.search")
    assert all(row[4].endswith("characters not shown]") for row in found["rows"])
    assert read(context, "DocumentReference.search", keyword="new-2")["rows"][0][4] == long_text(1, 6000)
    # What the episode wrote is no evidence, read whole or not.
    assert run(context, "DocumentReference.search", keyword="new-2").resources == ()


def test_the_fhir_view_reads_by_id_too(noted: ToolContext) -> None:
    context = noted.fork()
    context.view = "fhir"
    bundle = read(context, "DocumentReference.search", keyword="note-3")
    assert bundle["total"] == 1 and [entry["resource"]["id"] for entry in bundle["entry"]] == ["note-3"]


@given(st.text(max_size=60), st.integers(1, 70), st.integers(-5, 80))
def test_a_cut_says_what_it_leaves_out(text: str, longest: int, start: int) -> None:
    said = cut(text, longest, start)
    if len(text) <= longest:
        assert said == text
        return
    at = max(0, min(start, len(text) - longest))
    assert text[at : at + longest] in said
    left = len(text) - longest - at
    assert (f"[{left} characters not shown]" in said) == (left > 0) and (f"[{at} characters" in said) == (at > 0)


def test_rows_of_ordinary_length_are_whole() -> None:
    note = {"resourceType": "DocumentReference", "id": "n", "description": "x" * LONGEST}
    assert not is_cut(compact_row(note)) and orjson.loads(compact_row(note))[4] == "x" * LONGEST
    note["description"] += "x"
    assert is_cut(compact_row(note))


def test_a_timeline_has_long_texts_whole() -> None:
    made = builder()
    made.note("Progress note", long_text(1), at="2150-03-02", id="n1")
    (event,) = timeline(made.chart().at(parse_instant(NOW)), types=["DocumentReference"])
    assert event.columns["text"] == long_text(1)


# -- services ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("service", ["CT chest", "chest CT", "Chest, CT"])
def test_services_are_found_in_any_order_of_words(service: str) -> None:
    context = context_of(builder())
    for name in ("CT chest", "CT head", "Chest physiotherapy"):
        assert run(context, "ServiceRequest.create", service_type=name, priority="routine").ok
    found = read(context, "ServiceRequest.search", service=service)
    assert found["matched"] == ["CT chest"] and found["total"] == 1


def test_a_service_nobody_ordered_is_not_said_to_be_no_service_at_all() -> None:
    context = context_of(builder())
    assert run(context, "ServiceRequest.create", service_type="MRI brain", priority="routine").ok
    found = read(context, "ServiceRequest.search", service="MRI spine")
    assert found["total"] == 0 and found["nearest"] == ["MRI brain"]
    assert "`MRI spine`" in found["note"]


# -- stays -------------------------------------------------------------------------------------------------------------


def test_an_empty_search_of_an_icu_stay_names_the_hospital_stay() -> None:
    made = builder()
    made.encounter("icu-1", "ACUTE", "2150-03-02T10:00:00Z")
    made.resources()[-1][0]["partOf"] = {"reference": "Encounter/e1"}
    made.lab("Creatinine", "1.1", "mg/dL", at="2150-03-03T10:00:00Z", encounter="e1")
    context = context_of(made)
    found = read(context, "Observation.search", hadm_id="icu-1")
    assert found["total"] == 0 and "part of the hospital stay `e1`" in found["note"]
    assert read(context, "Observation.search", hadm_id="e1")["total"] == 1


# -- codes as models write them ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "code", "name"),
    [
        ("Observation.search", "LOINC 2160-0", "Creatinine"),
        ("Observation.search", "loinc: 2160-0", "Creatinine"),
        ("Observation.search", "Code 2160-0", "Creatinine"),
        ("Observation.search", "creatinine\npotassium", "Creatinine"),
        ("Condition.search", "ICD-10 I48.91", "Atrial fibrillation"),
        ("Condition.search", "ICD-10-CM: I48", "Atrial fibrillation"),
    ],
)
def test_a_code_may_have_its_system_before_it(tool: str, code: str, name: str) -> None:
    made = builder()
    made.lab("Creatinine", "1.1", "mg/dL", at="2150-03-02", loinc="2160-0", encounter="e1")
    made.condition("Atrial fibrillation", code="I48.91", known_at="2150-03-02", encounter="e1")
    found = read(context_of(made), tool, code=code)
    assert found["matched"] == [name] and found["total"] == 1


def test_a_code_nobody_knows_finds_nothing() -> None:
    made = builder()
    made.lab("Creatinine", "1.1", "mg/dL", at="2150-03-02", loinc="2160-0", encounter="e1")
    for code in ("LOINC 2161-8", "LOINC", "LOINC code", "Chromium 2160-0"):
        assert read(context_of(made), "Observation.search", code=code)["total"] == 0


# -- the ends of time --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Appointment.create", {"service": "clinic", "start": "9999-12-31T23:59", "duration_minutes": 720}),
        ("Appointment.create", {"service": "clinic", "start": "9999-12-31T23:59:00-14:00"}),
        ("ServiceRequest.create", {"service_type": "CT", "priority": "routine", "target_date": "9999"}),
        (
            "ServiceRequest.create",
            {"service_type": "CT", "priority": "routine", "target_date": "9999-12-31T23:59:59-14:00"},
        ),
        (
            "Observation.create",
            {"category": "laboratory", "code": "K", "value": "4", "time": "0001-01-01T00:00:00+14:00"},
        ),
        ("Observation.search", {"date_from": "0001-01-01T00:00:00+14:00", "date_to": "9999-12"}),
        ("Observation.search", {"date_from": "9999-12-31T23:59:59-14:00"}),
    ],
)
def test_no_date_a_model_gives_raises(tool: str, arguments: dict[str, Any]) -> None:
    assert run(context_of(builder()), tool, **arguments).ok

"""What agents find in notes, reports and plans: keywords, kinds of imaging, hints where to look instead."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from wardround.patients import (
    ChartBuilder,
    Dialogue,
    Interview,
    Overlay,
    ToolCall,
    ToolContext,
    ToolResult,
    parse_instant,
    run_tool,
)
from wardround.patients.tools.matching import tool_words

NOTE = ("note_id", "subject_id", "hadm_id", "note_type", "note_seq", "charttime", "storetime", "text")
DETAIL = ("note_id", "subject_id", "field_name", "field_value", "field_ordinal")


def table(columns: tuple[str, ...], *rows: tuple[object, ...]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([columns, *rows])
    return out.getvalue()


def context_of(chart: Any, at: str = "2160-01-01", view: Any = "compact") -> ToolContext:
    overlay = Overlay(chart.at(parse_instant(at)))
    return ToolContext(overlay, Dialogue(Interview()), chart.patient_id, "s", view=view)


def call(context: ToolContext, tool: str, **arguments: Any) -> ToolResult:
    result = run_tool(context, ToolCall(tool, {"subject_id": context.subject_id, **arguments}))
    assert result.ok, result.text
    return result


def read(context: ToolContext, tool: str, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(call(context, tool, **arguments).text)
    return found


@pytest.fixture
def imaged(invented: Callable[..., Any]) -> ToolContext:
    """A patient with a report of every kind."""
    names = {
        "CT": "CT HEAD W/O CONTRAST", "MRI": "MR KNEE", "X-ray": "KNEE (3 VIEWS)",
        "Ultrasound": "BILAT LOWER EXT VEINS",
        "Nuclear medicine": "LUNG SCAN", "PET": "FDG TUMOR IMAGING", "Mammography": "SCREENING MAMMO",
        "Fluoroscopy": "BARIUM SWALLOW", "Angiography": "RENAL ANGIOGRAM",
    }  # fmt: skip
    reports, details = [], []
    for number, (kind, name) in enumerate(names.items(), 1):
        text = f"EXAMINATION: {name}\n\nFINDINGS: {'Clear. ' * 60}\n\nIMPRESSION: Nothing new on {kind}.\n"
        reports.append((f"1-RR-{number}", 1, 10, "RR", number, f"2150-03-02 0{number}:00:00", "", text))
        details.append((f"1-RR-{number}", 1, "exam_name", name, 1))
    made = invented(radiology=table(NOTE, *reports), radiology_detail=table(DETAIL, *details))
    return context_of(made.store.chart("1"))


def test_reports_are_found_by_modality(imaged: ToolContext) -> None:
    for kind in tool_words()["report_types"]:
        found = read(imaged, "DiagnosticReport.search", report_type=kind)
        if kind == "Echo":
            assert found["total"] == 0
        else:
            assert found["total"] == 1, kind
            assert f"Nothing new on {kind}." in found["rows"][0][3]
    assert read(imaged, "DiagnosticReport.search", report_type="nuclear")["total"] == 1
    assert read(imaged, "DiagnosticReport.search")["total"] == 9


def test_keyword_results_show_where_they_matched(imaged: ToolContext) -> None:
    found = read(imaged, "DiagnosticReport.search", keyword="new on ct")
    assert found["total"] == 1
    (shown,) = found["found"]
    assert "Nothing new on CT." in shown and len(shown) < 260
    many = read(imaged, "DiagnosticReport.search", keyword="Noth*", _count=3)
    assert (many["total"], len(many["rows"]), len(many["found"])) == (9, 3, 3)
    assert "found" not in read(imaged, "DiagnosticReport.search")


def test_the_bundle_says_it_too(imaged: ToolContext) -> None:
    imaged.view = "fhir"
    bundle = read(imaged, "DiagnosticReport.search", keyword="new on pet")
    said = bundle["entry"][-1]["resource"]
    assert said["resourceType"] == "OperationOutcome"
    assert "Nothing new on PET." in said["issue"][0]["diagnostics"]


def test_a_search_of_notes_points_to_the_reports(imaged: ToolContext) -> None:
    note = read(imaged, "DocumentReference.search", type_code="radiology")["note"]
    assert "9 there" in note and "DiagnosticReport.search" in note


def test_imaging_without_a_report_is_named() -> None:
    builder = ChartBuilder("p")
    builder.encounter("s", "IMP", "2150-03-01T00:00:00Z", "2150-03-09T00:00:00Z")
    for name, at in (("Chest X-Ray", "2150-03-02T08:00:00Z"), ("Abdominal CT", "2150-03-03T08:00:00Z")):
        builder.add(
            {
                "resourceType": "Procedure", "id": f"px-{name[:5].lower()}", "status": "completed",
                "code": {"text": name}, "category": {"text": "imaging"}, "subject": {"reference": "Patient/p"},
                "encounter": {"reference": "Encounter/s"}, "performedDateTime": at,
            },
            at,
        )  # fmt: skip
    chart = builder.chart()
    context = context_of(chart)
    note = read(context, "DiagnosticReport.search")["note"]
    assert "Abdominal CT (2150-03-03" in note and "Chest X-Ray (2150-03-02" in note
    note = read(context, "DiagnosticReport.search", report_type="CT", hadm_id="s")["note"]
    assert "Abdominal CT" in note and "Chest" not in note
    assert "Imaging" not in read(context, "DiagnosticReport.search", report_type="MRI")["note"]
    early = context_of(chart, "2150-03-02T12:00:00Z")
    note = read(early, "DiagnosticReport.search")["note"]
    assert "Chest X-Ray" in note and "Abdominal" not in note, "what comes later is not named"


def test_sections_of_a_discharge_note(invented: Callable[..., Any]) -> None:
    text = "Chief Complaint:\nPain\n\nBrief Hospital Course:\nGot better.\n\nDischarge Instructions:\nCall for pain.\n"
    made = invented(
        discharge=table(NOTE, ("1-DS-1", 1, 10, "DS", 1, "2150-03-09 00:00:00", "2150-03-10 08:00:00", text))
    )
    context = context_of(made.store.chart("1"))
    found = read(context, "DocumentReference.search", type_code="discharge-summary", keyword="pain", hadm_id="10")
    assert [row[3] for row in found["rows"]] == ["Chief Complaint", "Discharge Instructions"]
    assert [row[1] for row in found["rows"]] == ["2150-03-09", "2150-03-09"]
    assert found["rows"][0][4] == "Chief Complaint:\nPain\n\n", "the header stands once"
    assert read(context, "CarePlan.search", category="treatment")["rows"][0][4] == "Got better."
    assert read(context, "CarePlan.search", keyword="call for")["total"] == 1
    assert read(context, "CarePlan.search", category="followup")["total"] == 0
    early = context_of(made.store.chart("1"), "2150-03-10T07:59:59Z")
    assert read(early, "DocumentReference.search", keyword="pain")["total"] == 0

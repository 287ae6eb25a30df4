"""No leak of the future through notes: later notes and addenda change nothing that an agent can see at the anchor."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wardround.patients import (
    Chart,
    ChartStore,
    Dialogue,
    Interview,
    Overlay,
    Search,
    ToolCall,
    ToolContext,
    ViewFilter,
    export_ndjson,
    import_fhir,
    parse_instant,
    run_tool,
)

NOTE = ("note_id", "subject_id", "hadm_id", "note_type", "note_seq", "charttime", "storetime", "text")
DETAIL = ("note_id", "subject_id", "field_name", "field_value", "field_ordinal")
KINDS = ("DocumentReference", "DiagnosticReport", "CarePlan")
WORDS = ("gout", "pneumonia", "no", "nodule", "rest", "痛风", "pneumo*", "no pneumonia", "discharge instructions")
TEXTS = (
    "Chief Complaint:\nGout, 痛风发作\n\nBrief Hospital Course:\nNo pneumonia.\n\nDischarge Instructions:\nRest.\n",
    "PMH: pneumonia\n\nAllergies:\nnone\n\nFollowup Instructions:\nSee the clinic about the nodule.\n",
    "EXAMINATION: CT CHEST\n\nFINDINGS:\nA nodule.\n\nIMPRESSION: No pneumonia; nodule.\n",
    "EXAMINATION: CHEST (PORTABLE AP)\n\nIMPRESSION: Clear.\n",
)
Row = tuple[Any, ...]


def table(columns: tuple[str, ...], rows: list[Row]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([columns, *rows])
    return out.getvalue()


def row(number: int, kind: str, chart_day: int, stored: int | None, text: int) -> Row:
    """Build a note of kind `DS`, `AD`, `RR` or `AR`; `stored` is in hours from midnight of its chart day, or empty."""
    charttime = f"2150-03-{chart_day:02d} {'00:00:00' if kind in ('DS', 'AD') else '09:30:00'}"
    storetime = ""
    if stored is not None:
        storetime = f"2150-03-{chart_day + stored // 24:02d} {stored % 24:02d}:10:00"
    return (f"1-{kind}-{number}", 1, 10, kind, number, charttime, storetime, TEXTS[text])


def known(note: Row) -> str:
    stored, charted = str(note[6]), str(note[5])
    return max(stored, charted) if stored else f"{charted[:10]} 23:59:59"


def details(notes: list[Row]) -> list[Row]:
    """Every addendum names the first note of its table as its parent, and each report its examination."""
    found: list[Row] = []
    for note in notes:
        if note[3] in ("AD", "AR"):
            parents = [one for one in notes if one[3] == {"AD": "DS", "AR": "RR"}[note[3]]]
            if parents:
                found.append((note[0], 1, "parent_note_id", parents[0][0], 1))
        found.append((note[0], 1, "exam_name" if note[3] in ("RR", "AR") else "author", f"CT OF NUMBER {note[4]}", 1))
    return found


def chart_of(invented: Callable[..., Any], notes: list[Row]) -> Chart:
    split = {
        "discharge": [note for note in notes if note[3] in ("DS", "AD")],
        "radiology": [note for note in notes if note[3] in ("RR", "AR")],
    }
    tables = {}
    for name, rows in split.items():
        if rows:
            tables[name] = table(NOTE, rows)
            tables[f"{name}_detail"] = table(DETAIL, details(rows))
    chart: Chart = invented(**tables).store.chart("1")
    return chart


def seen(chart: Chart, at: str) -> list[Any]:
    """Return all that can be learnt of notes at an instant: resources, searches, names, tools in both views."""
    out: list[Any] = []
    for view in (None, ViewFilter(sections=("Discharge Instructions", "Allergies"))):
        snapshot = chart.at(parse_instant(at), view)
        for kind in KINDS:
            out += [snapshot.count(kind), snapshot.names(kind), snapshot.concepts(kind)]
            for entry in snapshot.search(Search(kind)).entries():
                out += [entry.key, entry.body, entry.row]
            for word in WORDS:
                hits = snapshot.search(Search(kind, keyword=word, encounter="10"))
                out.append((hits.total, [entry.id for entry in hits.entries()]))
        for form in ("compact", "fhir"):
            context = ToolContext(Overlay(snapshot), Dialogue(Interview()), "1", "s", view=form)  # type: ignore[arg-type]
            for tool, arguments in (
                ("DocumentReference.search", {"type_code": "discharge-summary"}),
                ("DocumentReference.search", {"type_code": "radiology"}),
                ("DiagnosticReport.search", {"report_type": "CT"}),
                ("DiagnosticReport.search", {"report_type": "MRI"}),
                ("CarePlan.search", {"category": "treatment"}),
                ("CarePlan.search", {"category": "followup", "keyword": "clinic"}),
                *(("DocumentReference.search", {"keyword": word}) for word in WORDS),
                *(("DiagnosticReport.search", {"keyword": word, "_count": 0}) for word in WORDS),
            ):
                out.append(run_tool(context, ToolCall(tool, {"subject_id": "1", **arguments})).text)
    return out


NOTES = st.lists(
    st.tuples(
        st.sampled_from(("DS", "AD", "RR", "AR")), st.integers(2, 12), st.none() | st.integers(0, 90), st.integers(0, 3)
    ),
    min_size=1,
    max_size=7,
)


@given(now=NOTES, later=NOTES, day=st.integers(3, 12), hour=st.sampled_from(["00:00:00", "09:30:00", "23:59:58"]))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_another_future_of_notes_changes_nothing(
    invented: Callable[..., Any], now: list[Any], later: list[Any], day: int, hour: str
) -> None:
    at = f"2150-03-{day:02d} {hour}"
    past = [note for number, made in enumerate(now, 1) if known(note := row(number, *made)) <= at]
    coming = [note for number, made in enumerate(now, 1) if known(note := row(number, *made)) > at]
    other = [note for number, made in enumerate(later, 50) if known(note := row(number, *made)) > at]
    types = [row(90 + number, kind, 20, 0, 0) for number, kind in enumerate(("DS", "RR"))]  # so that all are imported
    first = seen(chart_of(invented, [*past, *coming, *types]), at)
    assert seen(chart_of(invented, [*past, *other, *types]), at) == first


def test_an_addendum_is_seen_at_its_own_time(invented: Callable[..., Any]) -> None:
    notes = [row(1, "RR", 2, 12, 2), row(2, "AR", 2, 60, 3)]
    chart = chart_of(invented, notes)
    before = chart.at(parse_instant("2150-03-04 12:09:59")).search(Search("DiagnosticReport"))
    after = chart.at(parse_instant("2150-03-04 12:10:00")).search(Search("DiagnosticReport"))
    assert [entry.id for entry in before.entries()] == ["rad-1-RR-1"]
    assert [entry.id for entry in after.entries()] == ["rad-1-AR-2", "rad-1-RR-1"]
    assert before.entries()[0].body == after.entries()[1].body, "the report itself does not tell of its addendum"


def test_export_and_import_give_the_same_chart(invented: Callable[..., Any], tmp_path: Path) -> None:
    notes = [row(1, "DS", 9, 30, 0), row(2, "AD", 9, 60, 1), row(3, "RR", 2, 12, 2), row(4, "AR", 2, None, 3)]
    chart = chart_of(invented, notes)
    stored = tmp_path / "mimic0" / "out.sqlite"
    with ChartStore.open(stored) as store:
        export_ndjson(store, tmp_path / "ndjson")
    import_fhir(tmp_path / "ndjson", tmp_path / "again.sqlite", licence="CC0-1.0")
    with ChartStore.open(tmp_path / "again.sqlite") as again:
        assert again.chart("1").hash == chart.hash
        assert again.chart("1").at(parse_instant("2151-01-01")).search(Search("CarePlan", keyword="clinic")).total == 1


@pytest.mark.parametrize("at", ["2150-03-09 23:59:58", "2150-03-09 23:59:59"])
def test_a_note_that_carries_only_its_day_is_known_at_the_days_end(invented: Callable[..., Any], at: str) -> None:
    chart = chart_of(invented, [row(1, "DS", 9, None, 0)])
    assert chart.at(parse_instant(at)).count("DocumentReference") == (3 if at.endswith("59") else 0)

"""Tools beyond the 18: changes of status, results, notes, messages, appointments, plans, files."""

from __future__ import annotations

import re
from typing import Any, get_args

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients import (
    ALL_TOOLS,
    TOOLS,
    Dialogue,
    Interview,
    Overlay,
    ToolCall,
    ToolContext,
    ToolResult,
    find_tool,
    parse_instant,
    run_tool,
    validate,
)
from wardround.patients.builder import ChartBuilder
from wardround.patients.elements import document_text
from wardround.patients.fhir import _examine, _narrow, check_model
from wardround.patients.tools import write_arguments
from wardround.patients.tools.write import write_words
from wardround.patients.workspace import MAX_FILE_BYTES

MORE = [name for name in ALL_TOOLS if name not in TOOLS]
NAMES = tuple(ALL_TOOLS)


@pytest.fixture(scope="module")
def chart() -> Any:
    builder = ChartBuilder("p-1", sex="male", birth_date="2120-02-01")
    builder.encounter("e-1", "IMP", "2180-05-01 10:00")
    builder.medication(
        "Warfarin", dose="5 mg", route="oral", frequency="daily", start="2180-05-01 12:00", encounter="e-1", id="w"
    )
    builder.medication("Digoxin", dose="0.250 mg", start="2180-05-01 12:00", stop="2180-05-02 12:00", id="done")
    builder.medication("Heparin", start="2180-05-01 12:00", status="draft", id="draft")
    builder.lab("Potassium", "4.1", "mmol/L", at="2180-05-02 08:00", loinc="2823-3", encounter="e-1", id="k")
    return builder.chart()


@pytest.fixture
def context(chart: Any) -> ToolContext:
    record = Overlay(chart.at(parse_instant("2180-05-07T12:00:00Z")))
    return ToolContext(record, Dialogue(Interview()), "p-1", "s-1", encounter="e-1")


def call(context: ToolContext, name: str, **arguments: Any) -> ToolResult:
    if not name.startswith("files."):
        arguments = {"subject_id": "p-1", **arguments}
    return run_tool(context, ToolCall(name, arguments), NAMES)


def body(context: ToolContext, key: str | None) -> Any:
    assert key is not None
    entry = context.record.read(*key.split("/"))
    assert entry is not None
    plain = orjson.loads(entry.body)
    assert validate(entry.body) == [] == check_model(plain)
    return plain


# -- the registry ------------------------------------------------------------------------------------------------------


def test_the_default_set_stays_the_published_one(context: ToolContext) -> None:
    assert len(TOOLS) == 18 and list(ALL_TOOLS)[:18] == list(TOOLS)
    refused = run_tool(context, ToolCall("MedicationRequest.update_status", {"subject_id": "p-1"}))
    assert (refused.error, context.record.version) == ("unknown_tool", 0)
    assert "MedicationRequest.create" in refused.text
    only = run_tool(context, ToolCall("MedicationRequest.search", {"subject_id": "p-1"}), ("files.read",))
    assert only.error == "unknown_tool" and "files.read" in only.text


@pytest.mark.parametrize("name", MORE)
def test_schemas_are_flat_and_names_suit_providers(name: str) -> None:
    spec = ALL_TOOLS[name]
    assert find_tool(spec.alias) is spec is find_tool(name)
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", spec.alias)
    schema = spec.schema
    assert set(schema["required"]) <= set(schema["properties"])
    for field in schema["properties"].values():
        assert {"type", "description"} <= set(field) <= {"type", "description", "enum"}
    assert ("subject_id" in schema["required"]) != name.startswith("files.")


def test_choices_are_the_keys_of_the_data() -> None:
    words = write_words()
    for choices, table in (
        (write_arguments.ObservationCategory, "observation_categories"),
        (write_arguments.ReportCategory, "report_categories"),
        (write_arguments.NoteType, "note_types"),
        (write_arguments.Recipient, "recipients"),
        (write_arguments.MessageKind, "message_kinds"),
        (write_arguments.PlanCategory, "plan_categories"),
    ):
        assert set(get_args(choices)) == set(words[table])
    changes = words["status_changes"]
    for kind, choices in (
        ("MedicationRequest", write_arguments.OrderAction),
        ("ServiceRequest", write_arguments.ServiceAction),
        ("Flag", write_arguments.FlagAction),
    ):
        assert set(get_args(choices)) == set(changes[kind]["actions"])
        assert changes[kind]["create"] in TOOLS and f"{kind}.search" in ALL_TOOLS


# -- changes of status -------------------------------------------------------------------------------------------------


def change(context: ToolContext, action: str, identity: str = "w", kind: str = "MedicationRequest", **more: Any) -> Any:
    return call(context, f"{kind}.update_status", id=identity, action=action, **more)


def test_a_hold_is_seen_by_every_read(context: ToolContext) -> None:
    held = change(context, "Suspend", "MedicationRequest/w", reason="INR 5.9")
    assert (held.ok, held.updated, held.created, held.effect) == (True, "MedicationRequest/w", None, "write")
    assert held.target == {"medication": "Warfarin", "status": "on-hold"}
    assert orjson.loads(held.text) == {
        "updated": "MedicationRequest/w", "medication": "Warfarin", "was": "active", "status": "on-hold",
        "reason": "INR 5.9",
    }  # fmt: skip
    plain = body(context, held.updated)
    assert (plain["status"], plain["statusReason"], plain["meta"]["versionId"]) == ("on-hold", {"text": "INR 5.9"}, "2")
    found = call(context, "MedicationRequest.search", medication="coumadin")
    assert found.total == 1 and orjson.loads(found.text)["rows"][0][7] == "on-hold"
    assert found.resources == ()  # what the episode re-versioned is no evidence
    assert call(context, "MedicationRequest.search", status="active").total == 0
    assert call(context, "MedicationRequest.search").total == 3


def test_the_way_of_an_order(context: ToolContext) -> None:
    change(context, "hold", reason="bleeding")
    resumed = change(context, "resume")
    assert "statusReason" not in body(context, resumed.updated)
    stopped = change(context, "discontinue", reason="bleeding again")
    plain = body(context, stopped.updated)
    assert (plain["status"], plain["meta"]["versionId"]) == ("stopped", "4")
    assert plain["dispenseRequest"]["validityPeriod"]["end"] == "2180-05-07T12:00:00Z"
    assert [one.resource()["status"] for one in context.record.versions("MedicationRequest/w")] == [
        "active", "on-hold", "active", "stopped",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("identity", "action", "said"),
    [
        ("done", "resume", "is completed, so `resume` is not possible. That is final"),
        ("done", "complete", "is completed already. That is final"),
        ("done", "cancel", "MedicationRequest.create"),
        ("w", "resume", "is active already. Possible now: stop, hold, complete, cancel."),
        ("draft", "hold", "is draft, so `hold` is not possible. Possible now: cancel."),
    ],
)
def test_what_cannot_change_is_said_and_left(context: ToolContext, identity: str, action: str, said: str) -> None:
    before = context.record.state_hash
    refused = change(context, action, identity)
    assert (refused.ok, refused.error, refused.updated) == (False, "wrong_status", None)
    assert said in refused.text
    assert context.record.state_hash == before


def test_other_mistakes_with_changes(context: ToolContext) -> None:
    before = context.record.state_hash
    missing = change(context, "stop", "nope")
    assert missing.error == "unknown_resource" and "MedicationRequest.search" in missing.text
    assert change(context, "stop", "k").error == "unknown_resource"
    assert change(context, "stop", "Observation/k").error == "unknown_resource"
    assert change(context, "delete").error == "bad_arguments"
    assert change(context, "hold", subject_id="p-2").error == "wrong_patient"
    assert change(context, "stop", reason="x" * 201).error == "bad_arguments"
    assert context.record.state_hash == before


def test_own_orders_change_too(context: ToolContext) -> None:
    key = call(context, "ServiceRequest.create", service_type="CT head", priority="urgent").created
    assert key is not None
    held = change(context, "hold", key, "ServiceRequest", reason="contrast allergy")
    plain = body(context, held.updated)
    assert plain["status"] == "on-hold"
    assert plain["extension"] == [
        {
            "url": "http://hl7.org/fhir/StructureDefinition/request-statusReason",
            "valueCodeableConcept": {"text": "contrast allergy"},
        }
    ]
    assert "extension" not in body(context, change(context, "resume", key, "ServiceRequest").updated)
    assert body(context, change(context, "revoke", key, "ServiceRequest").updated)["status"] == "revoked"
    assert change(context, "resume", key, "ServiceRequest").error == "wrong_status"
    rows = orjson.loads(call(context, "ServiceRequest.search", service="CT", status="revoked").text)["rows"]
    assert [row[0] for row in rows] == [key.partition("/")[2]]


def test_a_warning_is_closed_reopened_retracted(context: ToolContext) -> None:
    key = call(context, "Flag.create", category="safety", code="fall risk", detail="fell twice").created
    closed = body(context, change(context, "close", key or "", "Flag", reason="walks").updated)
    assert closed["period"]["end"] == "2180-05-07T12:00:00Z" and closed["status"] == "inactive"
    assert call(context, "Flag.search", status="active").total == 0
    again = body(context, change(context, "reopen", key or "", "Flag").updated)
    assert again["status"] == "active" and "end" not in again["period"] and "extension" not in again
    assert body(context, change(context, "retract", key or "", "Flag").updated)["status"] == "entered-in-error"
    assert change(context, "reopen", key or "", "Flag").error == "wrong_status"


def test_fhir_view_shows_the_new_version(context: ToolContext) -> None:
    context.view = "fhir"
    assert orjson.loads(change(context, "hold").text)["meta"]["versionId"] == "2"


# -- results and notes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"value": "5.90", "unit": "mmol/L"}, b'"valueQuantity":{"value":5.90,"unit":"mmol/L"'),
        ({"value": "<0.30", "unit": "ng/mL", "code": "troponin"}, b'"comparator":"<"'),
        ({"value": "≥ 200", "unit": "mg/dL", "code": "glucose"}, b'"comparator":">="'),
        ({"value": 7, "code": "pain score"}, b'"valueQuantity":{"value":7}'),
        ({"value": "positive", "code": "urine culture"}, b'"valueString":"positive"'),
        ({"value": "1e400"}, b'"valueString":"1e400"'),
        ({"value": "0012"}, b'"valueString":"0012"'),
        ({"value": "118/77", "unit": "mmHg", "code": "BP"}, b'"8480-6"'),
        ({"value": "118/77", "code": "ratio"}, b'"valueString":"118/77"'),
    ],
)
def test_values_keep_what_was_said(context: ToolContext, arguments: dict[str, Any], wanted: bytes) -> None:
    made = call(context, "Observation.create", **{"category": "lab", "code": "K", **arguments})
    assert made.ok, made.text
    body(context, made.created)
    entry = context.record.read(*(made.created or "").split("/"))
    assert entry is not None and wanted in entry.body


def test_an_observation_is_found_beside_the_charts_own(context: ToolContext) -> None:
    made = call(context, "Observation.create", category="laboratory", code="K", value="5.9", unit="mmol/L")
    plain = body(context, made.created)
    assert plain["code"]["coding"][0]["code"] == "2823-3"
    assert (plain["effectiveDateTime"], plain["encounter"]) == ("2180-05-07T12:00:00Z", {"reference": "Encounter/e-1"})
    found = call(context, "Observation.search", code="potassium")
    assert found.total == 2 and found.resources == ("Observation/k",)
    earlier = call(context, "Observation.create", category="exam", code="lungs", value="clear", time="2180-05-06 08:00")
    assert body(context, earlier.created)["effectiveDateTime"] == "2180-05-06T08:00:00Z"


def test_mistakes_with_results_and_notes(context: ToolContext) -> None:
    lab = {"category": "laboratory", "code": "K"}
    for name, arguments in (
        ("Observation.create", {**lab, "value": "high", "unit": "mmol/L"}),
        ("Observation.create", {**lab, "value": "5", "time": "2180-05-08"}),
        ("Observation.create", {**lab, "value": "5", "time": "2180-13"}),
        ("Observation.create", {"category": "lab", "value": "5"}),
        ("DiagnosticReport.create", {"category": "imaging", "code": "CT", "conclusion": "x" * 8001}),
        ("DiagnosticReport.create", {"category": "imaging", "code": "CT", "conclusion": "x", "time": "2200"}),
        ("DocumentReference.create", {"type_code": "progress-note", "text": "## Plan\n\n## Assessment\n"}),
        ("DocumentReference.create", {"type_code": "progress-note", "text": "\n".join("## a\nb" for _ in range(41))}),
        ("DocumentReference.create", {"type_code": "poem", "text": "x"}),
        ("Appointment.create", {"service": "clinic", "start": "2180-05-20"}),
        ("Appointment.create", {"service": "clinic", "start": "2180-05-07T12:00"}),
        ("Appointment.create", {"service": "clinic", "start": "2180-05-20T09:00", "duration_minutes": 1}),
        ("Communication.create", {"recipient": "the press", "message": "x"}),
        ("CarePlan.create", {"category": "followup", "title": "t", "description": "d", "activities": "x\n" * 31}),
    ):
        refused = call(context, name, **arguments)
        assert (refused.ok, refused.error) == (False, "bad_arguments"), (name, arguments)
        assert refused.text.startswith(f"Refused: {name}")
    assert context.record.version == 0


def test_reports_and_notes_are_found(context: ToolContext) -> None:
    report = call(context, "DiagnosticReport.create", category="imaging", code="CT head", conclusion="No bleed.")
    plain = body(context, report.created)
    assert (plain["status"], plain["category"][0]["coding"][0]["code"]) == ("final", "RAD")
    assert call(context, "DiagnosticReport.search", report_type="CT").total == 1
    assert call(context, "DiagnosticReport.search", report_type="MRI").total == 0
    text = "Seen today.\n## Assessment\nBetter.\n## Plan\nHome on Friday."
    note = call(context, "DocumentReference.create", type_code="Progress Note", text=text, title="Day 7")
    plain = body(context, note.created)
    assert [part["attachment"].get("title") for part in plain["content"]] == [None, "Assessment", "Plan"]
    assert plain["type"]["coding"][0]["code"] == "11506-3"
    assert call(context, "DocumentReference.search", keyword="home on FRIDAY").total == 1
    summary = call(context, "DocumentReference.create", type_code="discharge-summary", text="x" * 1000)
    assert len(orjson.loads(summary.text)["recorded"]["text"]) == 200
    assert call(context, "DocumentReference.search", type_code="discharge-summary").total == 1


def test_a_header_without_words_below_it_stays_in_the_note(context: ToolContext) -> None:
    text = "## A\n## Assessment\nBetter.\n## Pending"
    note = call(context, "DocumentReference.create", type_code="progress-note", text=text)
    stored = body(context, note.created)
    assert [part["attachment"]["title"] for part in stored["content"]] == ["A", "Assessment", "Pending"]
    assert document_text(stored) == "A\n\nAssessment:\nBetter.\n\nPending"
    assert orjson.loads(note.text)["recorded"]["text"] == text
    assert call(context, "DocumentReference.search", keyword="pending").total == 1


def test_messages_appointments_and_plans(context: ToolContext) -> None:
    told = call(
        context, "Communication.create", recipient="physician", message="K 6.8", category="alert", priority="ASAP",
        topic="potassium", reason="critical value",
    )  # fmt: skip
    plain = body(context, told.created)
    assert (plain["status"], plain["priority"], plain["sent"]) == ("completed", "asap", "2180-05-07T12:00:00Z")
    assert plain["category"][0]["coding"][0]["code"] == "alert"
    assert orjson.loads(call(context, "Communication.search").text)["rows"][0][2:4] == ["potassium", "K 6.8"]
    patient = body(context, call(context, "Communication.create", recipient="patient", message="Hello").created)
    assert patient["recipient"][0]["reference"] == "Patient/p-1"
    booked = call(
        context, "Appointment.create", service="cardiology", start="2180-05-20 09:00", practitioner="Dr Ash",
        duration_minutes="45",
    )  # fmt: skip
    plain = body(context, booked.created)
    assert (plain["start"], plain["end"]) == ("2180-05-20T09:00:00Z", "2180-05-20T09:45:00Z")
    assert call(context, "Appointment.search").total == 1
    plan = call(
        context, "CarePlan.create", category="followup", title="INR", description="weekly", activities="- Mon\n\n* Thu"
    )
    plain = body(context, plan.created)
    assert [one["detail"]["description"] for one in plain["activity"]] == ["Mon", "Thu"]
    assert call(context, "CarePlan.search", category="followup").total == 1
    assert call(context, "CarePlan.search", category="treatment").total == 0


# -- files -------------------------------------------------------------------------------------------------------------


def test_files_are_written_read_listed_deleted(context: ToolContext) -> None:
    before = context.record.state_hash
    text = "  1. recheck K\n" + "x" * 9000
    written = call(context, "files.write", path="notes/plan.md", text=text)
    assert (written.ok, written.file, written.created) == (True, "notes/plan.md", None)
    first = orjson.loads(call(context, "files.read", path="notes/plan.md").text)
    rest = orjson.loads(call(context, "files.read", path="notes/plan.md", offset=first["next_offset"]).text)
    assert first["text"] + rest["text"] == text and "next_offset" not in rest
    assert orjson.loads(call(context, "files.list", folder="notes").text)["rows"] == [["notes/plan.md", len(text)]]
    assert orjson.loads(call(context, "files.list", folder="other").text)["total"] == 0
    assert context.record.state_hash != before
    assert call(context, "files.delete", path="notes/plan.md").file == "notes/plan.md"
    assert context.record.state_hash == before


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a\\b", "C:/x", "a/./b", "nul", "a\0", "", " ", "x" * 300])
def test_bad_paths_are_observations(context: ToolContext, path: str) -> None:
    for name, more in (("files.write", {"text": "x"}), ("files.read", {}), ("files.delete", {})):
        refused = call(context, name, path=path, **more)
        assert not refused.ok and refused.error in ("bad_file", "bad_arguments") and refused.text.startswith("Refused")
    assert len(context.record.workspace) == 0


def test_big_files_and_broken_text_are_observations(context: ToolContext) -> None:
    assert call(context, "files.write", path="a", text="x" * (MAX_FILE_BYTES + 1)).error == "bad_arguments"
    assert call(context, "files.write", path="a", text="血" * (MAX_FILE_BYTES // 2)).error == "bad_file"
    assert call(context, "files.write", path="a", text="\ud800").error == "bad_arguments"
    assert call(context, "files.read", path="a").error == "bad_file"
    assert call(context, "files.list", folder="..").error == "bad_file"


def test_files_of_forks_are_their_own(context: ToolContext) -> None:
    twin = context.fork()
    call(context, "files.write", path="a", text="x")
    assert call(twin, "files.read", path="a").error == "bad_file"


# -- whatever a model sends --------------------------------------------------------------------------------------------

_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 10**20), st.floats(allow_nan=True), st.text(max_size=12),
    st.sampled_from(["w", "done", "stop", "hold", "resume", "2180-05-01", "2180-05-20T09:00", "## A\nb", "alert"]),
    st.lists(st.text(max_size=3), max_size=2),
)  # fmt: skip


def _drawn(data: st.DataObject, field: dict[str, Any]) -> Any:
    """Draw an argument: half of the time one of the choices, where there are any."""
    if "enum" in field and data.draw(st.booleans()):
        return data.draw(st.sampled_from(field["enum"]))
    return data.draw(_VALUES)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_call_raises_or_writes_what_is_invalid(chart: Any, data: st.DataObject) -> None:
    context = ToolContext(Overlay(chart.at(parse_instant("2180-05-07T12:00:00Z"))), Dialogue(Interview()), "p-1", "s-1")
    for _ in range(3):
        name = data.draw(st.sampled_from(MORE))
        fields = ALL_TOOLS[name].schema["properties"]
        before = context.record.state_hash
        result = call(context, name, **{key: _drawn(data, fields[key]) for key in fields if key != "subject_id"})
        if not result.ok:
            assert context.record.state_hash == before and result.error is not None
    for entry in context.record.writes:
        assert validate(entry.body) == _examine(orjson.loads(entry.body), None, strict=True) == []
        assert _narrow(entry.type).is_valid(orjson.loads(entry.body)), "what tools write is judged in one pass"
    assert Overlay.replay(context.record.snapshot, context.record.log).state_hash == context.record.state_hash

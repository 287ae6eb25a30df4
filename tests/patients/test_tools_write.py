"""Tools that write, and reading doses and frequencies."""

from __future__ import annotations

import pickle
from typing import Any

import orjson
import pytest

from wardround.patients import Dialogue, Interview, ToolCall, ToolContext, parse_instant, run_tool
from wardround.patients.builder import ChartBuilder
from wardround.patients.dosing import as_needed, dose_and_rate, timing
from wardround.patients.overlay import Overlay

ORDER = {"medication": "warfarin", "dose": "2.50 mg", "route": "oral", "frequency": "once daily"}


@pytest.fixture
def context() -> ToolContext:
    builder = ChartBuilder("p-1", sex="male", birth_date="2120-02-01")
    builder.encounter("e-1", "IMP", "2180-05-01 10:00")
    builder.medication("Warfarin", dose="5 mg", route="oral", frequency="daily", start="2180-05-01 12:00", id="old")
    record = Overlay(builder.chart().at(parse_instant("2180-05-07T12:00:00Z")))
    return ToolContext(record, Dialogue(Interview()), "p-1", "s-1", encounter="e-1")


def call(context: ToolContext, name: str, **arguments: Any) -> Any:
    return run_tool(context, ToolCall(name, {"subject_id": "p-1", **arguments}))


def test_an_order_is_valid_r4_with_every_field(context: ToolContext) -> None:
    result = call(
        context,
        "MedicationRequest.create",
        **ORDER,
        indication="atrial fibrillation",
        duration_days="5",
        note="INR first",
    )
    assert (result.ok, result.created, result.effect) == (True, "MedicationRequest/new-1", "write")
    said = orjson.loads(result.text)
    assert said["created"] == "MedicationRequest/new-1"
    assert said["recorded"]["dose"] == "2.50 mg"
    entry = context.record.read("MedicationRequest", "new-1")
    assert entry is not None
    body = orjson.loads(entry.body)
    assert (body["status"], body["intent"]) == ("active", "order")
    assert body["medicationCodeableConcept"]["text"] == "warfarin"
    assert body["medicationCodeableConcept"]["coding"][0]["code"] == "11289"
    assert body["subject"] == {"reference": "Patient/p-1"}
    assert body["encounter"] == {"reference": "Encounter/e-1"}
    assert body["authoredOn"] == "2180-05-07T12:00:00Z"
    (dosage,) = body["dosageInstruction"]
    assert dosage["text"] == "2.50 mg oral once daily"
    assert dosage["route"]["text"] == "oral"
    assert dosage["timing"]["code"]["text"] == "once daily"
    assert dosage["timing"]["repeat"] == {"frequency": 1, "period": 1, "periodUnit": "d"}
    assert b'"value":2.50' in entry.body
    assert dosage["doseAndRate"][0]["doseQuantity"]["code"] == "mg"
    assert body["reasonCode"] == [{"text": "atrial fibrillation"}]
    assert body["dispenseRequest"]["expectedSupplyDuration"]["value"] == 5
    assert body["note"] == [{"text": "INR first"}]


def test_a_write_is_read_back_but_is_no_evidence(context: ToolContext) -> None:
    before = call(context, "MedicationRequest.search", medication="coumadin")
    assert before.total == 1
    call(context, "MedicationRequest.create", **ORDER)
    after = call(context, "MedicationRequest.search", medication="coumadin")
    assert after.total == 2
    assert "new-1" in after.text
    assert after.resources == ("MedicationRequest/old",)


def test_a_new_drug_is_found_by_name_and_class(context: ToolContext) -> None:
    call(context, "MedicationRequest.create", **{**ORDER, "medication": "lisinopril"})
    assert call(context, "MedicationRequest.search", medication="ACE inhibitor").total == 1
    assert call(context, "MedicationRequest.search", medication="lisinopril").resources == ()


def test_forks_do_not_see_each_others_writes(context: ToolContext) -> None:
    twin = context.fork()
    call(context, "MedicationRequest.create", **ORDER)
    assert call(twin, "MedicationRequest.search").total == 1
    assert call(context, "MedicationRequest.search").total == 2
    assert pickle.loads(pickle.dumps(context)).record.state_hash == context.record.state_hash


def test_fhir_view_returns_the_resource(context: ToolContext) -> None:
    context.view = "fhir"
    assert orjson.loads(call(context, "MedicationRequest.create", **ORDER).text)["id"] == "new-1"


def test_service_request_and_flag(context: ToolContext) -> None:
    result = call(
        context, "ServiceRequest.create", service_type="INR", priority="URGENT", target_date="2180-05-08 08:00"
    )
    entry = context.record.read(*result.created.split("/"))
    assert entry is not None
    body = orjson.loads(entry.body)
    assert (body["code"]["text"], body["priority"]) == ("INR", "urgent")
    assert body["occurrenceDateTime"] == "2180-05-08T08:00:00Z"
    result = call(context, "Flag.create", category="Safety", code="fall risk", detail="fell twice")
    entry = context.record.read(*result.created.split("/"))
    assert entry is not None
    body = orjson.loads(entry.body)
    assert body["category"] == [{"text": "safety"}]
    assert body["code"]["text"] == "fall risk: fell twice"
    assert body["period"]["start"] == "2180-05-07T12:00:00Z"


def test_target_date_keeps_its_precision(context: ToolContext) -> None:
    for written in ("2180-05-07", "2180-06", "2181"):
        created = call(
            context, "ServiceRequest.create", service_type="INR", priority="routine", target_date=written
        ).created
        entry = context.record.read(*created.split("/"))
        assert entry is not None
        assert orjson.loads(entry.body)["occurrenceDateTime"] == written


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("500 mg", b"500", "mg"), ("0.30mg", b"0.30", "mg"), ("1,000 units", b"1000", "units"),
        ("05 mL", b"5", "mL"), ("500毫克", b"500", "毫克"), ("2 tablets", b"2", "tablets"),
    ],
)  # fmt: skip
def test_doses_keep_their_digits(text: str, value: bytes, unit: str) -> None:
    found = dose_and_rate(text)
    assert found is not None
    assert b'"value":' + value + b"," in orjson.dumps(found)
    assert found["doseQuantity"]["unit"] == unit


def test_dose_ranges_and_what_is_no_dose() -> None:
    found = dose_and_rate("1-2 tablets")
    assert found is not None
    assert [orjson.loads(orjson.dumps(found))["doseRange"][end]["value"] for end in ("low", "high")] == [1, 2]
    for text in ("one tablet", "mg", "500", "5 mg/10 mL twice", "", "1e99 mg2"):
        assert dose_and_rate(text) is None, text


@pytest.mark.parametrize(
    ("text", "repeat"),
    [
        ("BID", {"frequency": 2, "period": 1, "periodUnit": "d"}),
        ("q12h", {"frequency": 1, "period": 12, "periodUnit": "h"}),
        ("every 8 hours", {"frequency": 1, "period": 8, "periodUnit": "h"}),
        ("every 6 hours as needed", {"frequency": 1, "period": 6, "periodUnit": "h"}),
        ("Once a Day", {"frequency": 1, "period": 1, "periodUnit": "d"}),
        ("每日两次", {"frequency": 2, "period": 1, "periodUnit": "d"}),
        ("weekly", {"frequency": 1, "period": 1, "periodUnit": "wk"}),
        ("with every second full moon", None),
    ],
)
def test_frequencies(text: str, repeat: dict[str, Any] | None) -> None:
    assert timing(text).get("repeat") == repeat
    assert timing(text)["code"]["text"] == text


def test_on_demand() -> None:
    assert as_needed("q6h PRN")
    assert as_needed("必要时")
    assert not as_needed("daily")

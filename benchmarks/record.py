"""Writes on a record, and what no episode asked or ordered before: what memory of earlier answers cannot help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from benchmarks.charts import ANCHOR, chart_of
from benchmarks.timing import Row, beside
from wardround.patients import Dialogue, Interview, Overlay, Search, ToolCall, ToolContext, parse_instant, run_tool
from wardround.patients.tools.memory import forget

_ORDER: dict[str, Any] = {
    "resourceType": "MedicationRequest",
    "status": "active",
    "intent": "order",
    "subject": {"reference": "Patient/bench"},
    "encounter": {"reference": "Encounter/stay"},
    "authoredOn": ANCHOR,
    "medicationCodeableConcept": {
        "text": "warfarin",
        "coding": [{"system": "http://www.nlm.nih.gov/research/umls/rxnorm", "code": "11289", "display": "Warfarin"}],
    },
    "dosageInstruction": [
        {
            "text": "5 mg oral daily",
            "timing": {"code": {"text": "daily"}, "repeat": {"frequency": 1, "period": 1, "periodUnit": "d"}},
            "route": {"text": "oral"},
            "doseAndRate": [{"doseQuantity": {"value": 5, "unit": "mg"}}],
        }
    ],
}
_WRITING = "orjson writing the same resource"
_OBJECT = "orjson writing the same object"


def record_rows() -> list[Row]:
    """Return rows for creates, changes of status, overlays and reads that are not remembered."""
    snapshot = chart_of(3000).at(parse_instant(ANCHOR))
    context = ToolContext(Overlay(snapshot), Dialogue(Interview()), "bench", "s", encounter="stay")
    key = snapshot.search(Search("MedicationRequest")).entries(0, 1)[0].key
    order = {"subject_id": "bench", "medication": "warfarin", "dose": "5 mg", "route": "oral", "frequency": "daily"}
    hold = {"subject_id": "bench", "id": key.partition("/")[2], "action": "hold", "reason": "INR 5.9"}

    def write(name: str, arguments: dict[str, Any]) -> None:
        result = run_tool(context.fork(), ToolCall(name, arguments), (name,))
        assert result.ok, result.text

    jobs: tuple[tuple[str, Callable[[], object]], ...] = (
        ("Overlay.create of a MedicationRequest, validated", lambda: Overlay(snapshot).create(_ORDER)),
        ("Overlay.update of a status, validated", lambda: Overlay(snapshot).update(key, {"status": "on-hold"})),
        ("tool call: MedicationRequest.update_status", lambda: write("MedicationRequest.update_status", hold)),
        ("tool call: MedicationRequest.create", lambda: write("MedicationRequest.create", order)),
    )
    rows = [beside(name, job, lambda: orjson.dumps(_ORDER), _WRITING) for name, job in jobs]
    name, job = jobs[-1]
    name = name.replace("tool call", "tool call, not remembered")
    rows.append(beside(name, job, lambda: orjson.dumps(_ORDER), _WRITING, before=forget))
    return [*rows, *_reads(context)]


def _reads(context: ToolContext) -> list[Row]:
    week = {"subject_id": "bench", "date_from": "2150-06-01", "date_to": "2150-06-07"}
    rows = []
    for name, arguments in (
        ("Observation.search by name", {"subject_id": "bench", "code": "creatinine"}),
        ("Observation.search, a week", week),
        ("Patient.read", {"subject_id": "bench"}),
    ):
        call = ToolCall(name.split(" ")[0].rstrip(","), arguments)
        data = orjson.loads(run_tool(context, call).text)
        rows.append(
            beside(
                f"tool call, not remembered: {name}",
                lambda call=call: run_tool(context, call),
                lambda data=data: orjson.dumps(data),  # type: ignore[misc]
                _OBJECT,
                before=forget,
            )
        )
    return rows

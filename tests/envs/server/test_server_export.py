"""Bulk export, and the request shapes of MedAgentBench's nine tool functions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import BASE, Asking

from wardround.envs.server import ChartRecords
from wardround.envs.server.journal import Journal
from wardround.patients import ChartBuilder, ChartStore, StoreWriter, searchable, validate

LATEST = 1 << 61


def _export(asked: Asking, query: str = "") -> dict[str, list[dict[str, Any]]]:
    """Run an export whole; return the resources by type."""
    begun = asked.get(f"$export{query}", prefer="respond-async")
    assert begun.status == 202
    status = asked.get(begun.headers["Content-Location"])
    assert status.status == 200 and status.json["requiresAccessToken"] is True and status.json["error"] == []
    found = {}
    for one in status.json["output"]:
        lines = asked.get(one["url"], accept="application/fhir+ndjson").text.splitlines()
        assert len(lines) == one["count"] > 0
        found[one["type"]] = [json.loads(line) for line in lines]
    return found


def test_an_export_is_everything_that_was_known(ask: Asking, store: ChartStore):
    found = _export(ask)
    wanted = {
        f"{kind}/{one['id']}"
        for name in store.patients()
        for kind in searchable()
        for one in store.chart(name).at(LATEST).resources(kind)
    }
    keys = [f"{kind}/{one['id']}" for kind, resources in found.items() for one in resources]
    assert set(keys) == wanted and len(keys) == len(wanted)
    assert {kind for kind, resources in found.items() for one in resources if one["resourceType"] != kind} == set()


def test_an_export_shows_the_state_it_began_with_and_what_its_token_sees(ask: Asking):
    begun = ask.get("$export?_type=Flag,Patient", prefer="respond-async").headers["Content-Location"]
    flag = {
        "resourceType": "Flag",
        "status": "active",
        "code": {"text": "x"},
        "subject": {"reference": "Patient/ward-01"},
    }
    assert ask.post("Flag", flag).status == 201
    assert [(one["type"], one["count"]) for one in ask.get(begun).json["output"]] == [("Patient", 12)]
    assert ask.as_role("physician").get(begun).status == 404  # somebody else's
    assert ask("DELETE", begun).status == 202 and ask.get(begun).status == 404
    assert set(_export(ask, "?_since=2020-01-01T00:00:00Z")) == {"Flag"}
    seen = _export(ask.as_role("pharmacist"))
    assert "DocumentReference" not in seen and "Flag" not in seen
    assert all(coding["code"] == "laboratory" for one in seen["Observation"] for coding in one["category"][0]["coding"])
    assert {one["id"] for one in _export(ask.as_role("patient", "ward-02"))["Patient"]} == {"ward-02"}


@pytest.mark.parametrize(
    ("query", "prefer", "status"),
    [
        ("", "", 400),
        ("?_type=Nonsense", "respond-async", 400),
        ("?_since=never", "respond-async", 400),
        ("?_typeFilter=x", "respond-async", 400),
        ("?_outputFormat=text/csv", "respond-async", 400),
    ],
)
def test_an_export_that_cannot_be_is_refused(ask: Asking, query: str, prefer: str, status: int):
    assert ask.get(f"$export{query}", prefer=prefer).status == status
    assert ask.as_role("pharmacist").get("$export?_type=Flag", prefer="respond-async").status == 403
    assert ask.get("$export-status/1").status == 404 and ask.get("$export-file/1/Patient.ndjson").status == 404
    assert ask.post("$export", {}).status == 405


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChartStore]:
    """A chart as MedAgentBench's tasks ask for: S-numbers, base names of labs, vitals, orders."""
    path = tmp_path_factory.mktemp("clinic") / "charts.sqlite"
    builder = ChartBuilder("S6534835", sex="male", birth_date="1932-12-29", licence="CC0-1.0")
    builder.encounter("e", "AMB", "2023-11-01T08:00:00Z", "2023-11-02T08:00:00Z")
    for number, value in enumerate(("1.6", "1.8"), start=1):
        builder.lab("MG", value, "mg/dL", at=f"2023-11-13T0{number}:00:00Z", encounter="e", id=f"mg-{number}")
    builder.condition("Hypertension", code="I10", recorded="2023-11-01T08:00:00Z", category="problem-list-item")
    builder.medication("Magnesium", dose="1 g", route="IV", frequency="once", start="2023-11-12T08:00:00Z")
    resources = list(builder.resources())
    for resource, _ in resources:
        if resource["resourceType"] == "Observation":
            resource["code"]["coding"] = [{"system": "http://clinic.example/labs", "code": "MG"}]
    with StoreWriter(path, licence="CC0-1.0", provenance={"by": "test"}) as writer:
        writer.add("S6534835", resources)
    with ChartStore.open(path) as store:
        yield store


VALUES = {
    "patient": "S6534835", "subject": "S6534835", "category": "problem-list-item", "code": "MG", "date": "ge2023-11-12",
    "identifier": "S6534835", "family": "Stafford", "given": "Peter", "name": "Peter Stafford", "gender": "male",
    "birthdate": "1932-12-29", "telecom": "555", "address": "x", "address-city": "x", "address-postalcode": "1",
    "address-state": "x", "legal-sex": "male", "status": "active",
}  # fmt: skip
"""What an agent may fill into a parameter."""


def test_every_request_of_medagentbench_is_answered_as_r4_says(clinic: ChartStore, shared: Path):
    functions = json.loads((shared / "data" / "medagentbench" / "funcs_v1.json").read_text())
    assert len(functions) == 9
    ask = Asking(ChartRecords(clinic, {}, Journal(None)))
    for function in functions:
        method, _, url = function["name"].partition(" ")
        kind = url.removeprefix("{api_base}/")
        properties = function["parameters"]["properties"]
        if method == "GET":
            for name in properties:  # each alone, then all at once; what R4 does not know is told, not refused
                answer = ask.get(f"{kind}?{name}={VALUES[name]}")
                assert (answer.status, answer.json["type"]) == (200, "searchset"), (kind, name)
            text = "&".join(f"{name}={VALUES[name]}" for name in properties)
            assert ask.get(f"{kind}?{text}&_format=json").status == 200
        else:
            body = _filled(function["parameters"])
            problems = validate(body)
            answer = ask.post(kind, body)
            assert answer.status == (201 if not problems else 422), (kind, answer.json, problems)
            assert answer.json["resourceType"] == (kind if not problems else "OperationOutcome")
            if kind == "ServiceRequest":  # the published schema asks for `note` as an object, which R4 has as an array
                assert any("note" in problem for problem in problems)
                assert ask.post(kind, {**body, "note": [body["note"]]}).status == 201
    found = ask.get("Observation?patient=S6534835&code=MG&date=ge2023-11-12&_count=5000")
    assert found.ids == ["Observation/mg-2", "Observation/mg-1"]
    assert ask.get("Condition?patient=S6534835&category=problem-list-item").json["total"] == 1
    assert ask.get("Patient?birthdate=1932-12-29").ids == ["Patient/S6534835"]
    assert found.link("self").startswith(f"{BASE}/Observation?")


_SAID = {
    "resourceType": None, "system": "http://loinc.org", "code": "2823-3", "display": "x", "text": "x",
    "effectiveDateTime": "2023-11-13T10:15:00+00:00", "status": None, "valueString": "118/77 mmHg",
    "reference": "Patient/S6534835", "authoredOn": "2023-11-13T10:15:00+00:00", "value": 1.0, "unit": "g",
    "intent": "order", "priority": "stat", "occurrenceDateTime": "2023-11-13T10:15:00+00:00",
}  # fmt: skip


def _filled(schema: dict[str, Any], name: str = "") -> Any:
    """Return a body of the shape that a function's schema asks for, its values as its descriptions say."""
    if schema.get("type") == "object":
        return {key: _filled(one, key) for key, one in schema["properties"].items()}
    if schema.get("type") == "array":
        return [_filled(schema["items"], name)]
    quoted = schema.get("description", "").split('"')
    return _SAID[name] if _SAID[name] is not None or len(quoted) < 2 else quoted[1]

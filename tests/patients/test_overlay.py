"""Overlays: an episode's writes are seen by itself at once, by nobody else, and in their place."""

from __future__ import annotations

import pickle
from typing import Any

import orjson
import pytest

from wardround.patients import ChartBuilder, InvalidResource, Overlay, Search, parse_instant, validate
from wardround.patients.resource import decimal, known_at

NOW = parse_instant("2180-05-03T12:00:00Z")
SUBJECT = {"reference": "Patient/p"}


@pytest.fixture
def overlay() -> Overlay:
    build = ChartBuilder("p")
    build.encounter("e1", "IMP", "2180-05-01 07:00")
    for day in (1, 2, 3):
        build.medication("Warfarin", dose="5 mg", start=f"2180-05-0{day} 08:00", encounter="e1", id=f"w{day}")
    build.lab("Sodium", "140", "mmol/L", at="2180-05-03 08:00", id="na")
    return Overlay(build.chart().at(NOW))


def order(name: str = "Metformin", **more: Any) -> dict[str, Any]:
    return {
        "resourceType": "MedicationRequest", "status": "active", "intent": "order", "subject": SUBJECT,
        "medicationCodeableConcept": {"text": name}, "authoredOn": "2180-05-03T12:00:00Z", **more,
    }  # fmt: skip


OTHERS: list[dict[str, Any]] = [
    {"resourceType": "ServiceRequest", "status": "active", "intent": "plan", "subject": SUBJECT, "code": {"text": "x"}},
    {"resourceType": "Flag", "status": "active", "code": {"text": "falls"}, "subject": SUBJECT},
    {"resourceType": "Observation", "status": "final", "code": {"text": "Pain"}, "subject": SUBJECT, "valueInteger": 3},
    {"resourceType": "DiagnosticReport", "status": "final", "code": {"text": "ECG"}, "subject": SUBJECT},
    {"resourceType": "Communication", "status": "completed", "subject": SUBJECT, "payload": [{"contentString": "hi"}]},
    {
        "resourceType": "Appointment", "status": "booked", "start": "2180-06-01T08:00:00Z",
        "end": "2180-06-01T08:30:00Z", "participant": [{"actor": SUBJECT, "status": "accepted"}],
    },
    {"resourceType": "CarePlan", "status": "active", "intent": "plan", "subject": SUBJECT, "title": "go"},
    {
        "resourceType": "DocumentReference", "status": "current", "subject": SUBJECT,
        "content": [{"attachment": {"contentType": "text/plain", "data": "aGVsbG8="}}],
    },
]  # fmt: skip


def test_a_write_is_stamped_and_seen_at_once(overlay: Overlay) -> None:
    entry = overlay.create(order())
    resource = entry.resource()
    assert entry.key == "MedicationRequest/new-1" and validate(entry.body) == []
    assert resource["meta"]["versionId"] == "1" and resource["meta"]["lastUpdated"] == "2180-05-03T12:00:00Z"
    assert known_at(resource) == NOW
    assert overlay.read("MedicationRequest", "new-1") is entry
    assert [found.id for found in overlay.search(Search("MedicationRequest")).entries()] == ["new-1", "w3", "w2", "w1"]
    assert overlay.search(Search("MedicationRequest", text="metformin")).total == 1
    assert overlay.names("MedicationRequest") == ("Metformin", "Warfarin")
    assert overlay.count("MedicationRequest") == 4
    assert next(iter(overlay.resources("MedicationRequest")))["id"] == "new-1"
    assert overlay.snapshot.search(Search("MedicationRequest")).total == 3


@pytest.mark.parametrize("resource", OTHERS, ids=lambda one: one["resourceType"])
def test_any_type_can_be_written(overlay: Overlay, resource: dict[str, Any]) -> None:
    kind = resource["resourceType"]
    before = dict(resource)
    entry = overlay.create(resource)
    assert resource == before
    assert overlay.imported(kind)
    assert entry in overlay.search(Search(kind)).entries()
    assert orjson.loads(entry.row)[0] == "new-1"


def test_an_invalid_write_leaves_nothing(overlay: Overlay) -> None:
    before = overlay.state_hash
    with pytest.raises(InvalidResource) as caught:
        overlay.create({"resourceType": "Flag", "status": "odd", "code": {"text": "x"}, "subject": SUBJECT})
    assert any("status" in problem for problem in caught.value.problems)
    assert overlay.writes == () and overlay.state_hash == before
    assert overlay.create(order()).id == "new-1"


def test_order_among_chart_and_writes(overlay: Overlay) -> None:
    def dated(day: int) -> dict[str, Any]:
        return order(dispenseRequest={"validityPeriod": {"start": f"2180-05-0{day}T08:00:00Z"}})

    for day in (2, 2, 9, 1):
        overlay.create(dated(day))
    hits = overlay.search(Search("MedicationRequest"))
    wanted = ["new-3", "w3", "new-2", "new-1", "w2", "new-4", "w1"]
    assert [entry.id for entry in hits.entries()] == wanted
    for offset in range(8):
        for count in (1, 2, 3, 10):
            assert [entry.id for entry in hits.entries(offset, count)] == wanted[offset : offset + count]
    assert hits.total == 7


def test_filters_hold_for_writes(overlay: Overlay) -> None:
    overlay.create(order(encounter={"reference": "Encounter/e1"}))
    overlay.create({**OTHERS[1], "category": [{"coding": [{"code": "safety"}]}]})
    assert overlay.search(Search("MedicationRequest", encounter="e1")).total == 4
    assert overlay.search(Search("MedicationRequest", encounter="e2")).total == 0
    assert overlay.search(Search("MedicationRequest", status="stopped")).total == 0
    assert overlay.search(Search("MedicationRequest", date_from=NOW)).total == 1
    assert overlay.search(Search("MedicationRequest", date_to=NOW)).total == 3
    assert overlay.search(Search("Flag", category="safety")).total == 1
    assert overlay.search(Search("Flag", category="allergy")).total == 0
    overlay.create(OTHERS[7])
    assert overlay.search(Search("DocumentReference", keyword="HELLO")).total == 1


def test_forks_go_their_own_way(overlay: Overlay) -> None:
    overlay.create(order())
    fork = overlay.fork()
    assert fork.state_hash == overlay.state_hash
    fork.create(order("Digoxin"))
    assert len(overlay.writes) == 1 and len(fork.writes) == 2
    assert fork.state_hash != overlay.state_hash
    overlay.create(order("Digoxin"))
    assert fork.state_hash == overlay.state_hash


def test_the_state_hash_tells_anchors_and_charts_apart(overlay: Overlay) -> None:
    other = Overlay(overlay.snapshot.chart.at(NOW + 1))
    assert other.state_hash != overlay.state_hash
    assert Overlay(overlay.snapshot).state_hash == overlay.state_hash


def test_pickles_with_its_writes(overlay: Overlay) -> None:
    overlay.create(order(dispenseRequest={"validityPeriod": {"start": "2180-05-02T08:00:00Z"}}))
    again = pickle.loads(pickle.dumps(overlay))
    assert again.state_hash == overlay.state_hash
    query = Search("MedicationRequest")
    assert [one.row for one in again.search(query).entries()] == [one.row for one in overlay.search(query).entries()]


def test_a_dose_keeps_its_digits(overlay: Overlay) -> None:
    dose = {"doseAndRate": [{"doseQuantity": {"value": decimal("0.50"), "unit": "mg"}}]}
    entry = overlay.create(order(dosageInstruction=[dose]))
    assert b'"value":0.50' in entry.body and b'"0.50 mg"' in entry.row


def test_reads_what_the_chart_has(overlay: Overlay) -> None:
    entry = overlay.read("Observation", "na")
    assert entry is not None and overlay.read("Observation", "nope") is None
    assert overlay.read("Flag", "na") is None

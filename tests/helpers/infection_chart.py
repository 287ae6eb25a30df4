"""A hand-made stay with an infection: cultures, a white count and a temperature, a report, a plan, notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from session_moves import TYPES

from wardround.patients import ChartBuilder, ChartStore, Interview, StoreWriter, parse_instant
from wardround.patients.knowledge import Names
from wardround.patients.resource import with_rank
from wardround.sessions.common import common
from wardround.sessions.decisions.decision import Decision, Hinge
from wardround.sessions.moves.move import Case, Focus
from wardround.sessions.record import view_record

STAY = "stay-1"
ROUND = "2030-03-07T10:00:00Z"
WHITE = (("03-04", "18.2"), ("03-05", "15.1"), ("03-07", "10.4"))
SENSITIVE = {"ceftriaxone": "S", "meropenem": "S", "ampicillin": "R"}


def infection_case(
    path: Path,
    *,
    organism: str | None = "Escherichia coli",
    readings: dict[str, str] | None = None,
    drugs: dict[str, str] | None = None,
    white: tuple[tuple[str, str], ...] = WHITE,
    heat: str = "36.9",
    report: str = "Left pneumothorax.",
    allergy: str | None = None,
    flawed: frozenset[str] = frozenset(),
) -> Case:
    """Return a case of one patient on day four of a stay.

    Args:
        path: Folder for the store.
        organism: What grew in blood; None for no growth.
        readings: Drug → S, I or R.
        drugs: Ordered drug → dose; all by vein, once daily, from the first day on.
        white: Day and white count in K/uL.
        heat: Latest temperature in °C.
        report: Conclusion of the chest X-ray.
        allergy: Substance.
        flawed: Keys of what is charted wrongly.
    """
    chart = ChartBuilder("p-7", sex="male", birth_date="1958-05-02")
    chart.encounter(STAY, "IMP", "2030-03-04T08:00:00Z", "2030-03-09T15:00:00Z", type="Inpatient stay")
    for day, value in white:
        at = f"2030-{day}T06:00:00Z"
        chart.lab("WBC", value, "K/uL", at=at, low="4.0", high="11.0", encounter=STAY)
    chart.lab("eGFR", "85", "mL/min/1.73m2", at="2030-03-07T06:00:00Z", low="60", high="120", encounter=STAY)
    chart.vital("Temperature", heat, "°C", at="2030-03-07T08:00:00Z", encounter=STAY)
    for drug, dose in ({"Ceftriaxone": "1 g"} if drugs is None else drugs).items():
        chart.medication(
            drug, dose=dose, route="IV", frequency="once daily", start="2030-03-04T10:00:00Z", encounter=STAY
        )
    if allergy is not None:
        chart.allergy(allergy, recorded="2020-01-01")
    chart.report(
        "CHEST (PORTABLE AP)",
        f"IMPRESSION:\n{report}",
        at="2030-03-04T09:00:00Z",
        conclusion=report,
        encounter=STAY,
        id="xr",
    )
    _cultures(chart, organism, SENSITIVE if readings is None else readings)
    chart.note(
        "Admission history and physical",
        {"Chief Complaint": "Chief Complaint:\nFever"},
        at="2030-03-04T12:00:00Z",
        encounter=STAY,
        id="hp-cc",
    )
    chart.care_plan(
        "Follow-up plan",
        "- See cardiology in 9 days: rhythm check\n- primary care appointment in 20 days for general check",
        at="2030-03-07T09:00:00Z",
        category="followup",
        encounter=STAY,
        id="plan",
    )
    with StoreWriter(path / "charts.sqlite", licence="test") as writer:
        writer.add("p-7", _ranked(chart))
    snapshot = ChartStore.open(path / "charts.sqlite").chart("p-7").at(parse_instant(ROUND))
    view = view_record(snapshot, STAY, TYPES, {}, flawed)
    return Case(snapshot, STAY, snapshot.anchor, view, Interview(), common(), "treatment-response", flawed)


def plain_focus(*busy: str) -> Focus:
    """Return a focus on a decision that is about nothing in the chart."""
    words = Names(en="-", zh="-")
    accepted = (("continue", "warfarin"),)
    hinge = Hinge(kind="quantity", keys=("Observation/none",), to="1")
    decision = Decision(
        "none", ("none",), "none", "continue", True, accepted, ("stop", "warfarin"), words, words, hinge
    )
    return Focus(decision, frozenset(busy))


def _ranked(chart: ChartBuilder) -> list[tuple[dict[str, Any], int]]:
    """Return the resources with a principal diagnosis and the reason and service of the stay."""
    chart.condition(
        "Acute pyelonephritis", code="N10", onset="2030-03-04", known_at="2030-03-04", encounter=STAY, id="dx"
    )
    made = []
    for resource, known in chart.resources():
        if resource["resourceType"] == "Condition":
            with_rank(resource, 1)
        if resource["resourceType"] == "Encounter":
            resource["reasonCode"] = [{"text": "fever"}]
            resource["serviceType"] = {"text": "General medicine"}
        made.append((resource, known))
    return made


def _cultures(chart: ChartBuilder, organism: str | None, readings: dict[str, str]) -> None:
    known = "2030-03-06T08:00:00Z"
    test = _micro("c1", "Blood culture", organism or "No growth")
    if organism is None:
        chart.add(test, known)
        return
    test["hasMember"] = [{"reference": "Observation/c1-org"}]
    chart.add(test, known)
    isolate = _micro("c1-org", "Blood culture: organism", "")
    del isolate["valueString"]
    isolate["valueCodeableConcept"] = {"text": organism}
    chart.add(isolate, known)
    for drug, reading in readings.items():
        one = _micro(f"c1-s-{drug.replace('_', '-')}", f"{drug.replace('_', '-')} ({organism})", reading)
        coding = {"system": "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation", "code": reading}
        one["interpretation"] = [{"coding": [coding]}]
        chart.add(one, known)


def _micro(identity: str, title: str, value: str) -> dict[str, Any]:
    site = "http://terminology.hl7.org/CodeSystem/observation-category"
    return {
        "resourceType": "Observation",
        "id": identity,
        "status": "final",
        "category": [{"coding": [{"system": site, "code": "laboratory"}]}, {"text": "microbiology"}],
        "code": {"text": title},
        "subject": {"reference": "Patient/p-7"},
        "encounter": {"reference": f"Encounter/{STAY}"},
        "effectiveDateTime": "2030-03-04T09:30:00Z",
        "valueString": value,
    }

"""A small synthetic stay with monitored drugs, for the session tests; no real person."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wardround.patients import Chart, ChartBuilder, ChartStore, Fact, Interview, Reply, StoreWriter, Words, load_charts

STAY = "stay-1"
DISCHARGE = "2030-03-08T15:00:00Z"

LABS: dict[str, list[tuple[str, str]]] = {
    "Potassium": [("03-04", "4.1"), ("03-06", "4.4"), ("03-08", "4.6")],
    "Creatinine": [("03-04", "0.9"), ("03-06", "0.9"), ("03-08", "0.9")],
    "INR": [("03-04", "1.2"), ("03-06", "1.3"), ("03-08", "1.6")],
    "Sodium": [("03-04", "138"), ("03-08", "141")],
    "Hemoglobin": [("03-04", "13.1"), ("03-08", "12.8")],
    "Magnesium": [("03-08", "2.0")],
    "Platelet Count": [("03-08", "210")],
}
RANGES = {
    "Potassium": ("mmol/L", "3.5", "5.0"),
    "Creatinine": ("mg/dL", "0.5", "1.1"),
    "INR": (None, "0.9", "1.1"),
    "Sodium": ("mmol/L", "135", "145"),
    "Hemoglobin": ("g/dL", "12.0", "16.0"),
    "Magnesium": ("mg/dL", "1.6", "2.6"),
    "Platelet Count": ("K/uL", "150", "400"),
}


def build(
    patient: str = "p-100", labs: dict[str, list[tuple[str, str]]] | None = None, sex: str = "female", **drugs: str
) -> ChartBuilder:
    """Return a builder of a stay of four days; `drugs` maps a name to its dose."""
    chart = ChartBuilder(patient, sex=sex, birth_date="1958-05-02")
    chart.encounter(STAY, "IMP", "2030-03-04T08:00:00Z", DISCHARGE, type="Inpatient stay", disposition="Home")
    chart.condition("Atrial fibrillation", code="I48.91", onset="2029-01-01", known_at="2029-01-01", encounter=STAY)
    for name, values in {**LABS, **(labs or {})}.items():
        unit, low, high = RANGES[name]
        for day, value in values:
            at, stored = f"2030-{day}T06:00:00Z", f"2030-{day}T07:30:00Z"
            chart.lab(name, value, unit, at=at, stored=stored, low=low, high=high, encounter=STAY)
    for drug, dose in (drugs or {"Lisinopril": "10 mg", "Warfarin": "5 mg"}).items():
        chart.medication(
            drug,
            dose=dose,
            route="oral",
            frequency="once daily",
            start="2030-03-04T10:00:00Z",
            stop="2030-03-09T10:00:00Z",
            encounter=STAY,
        )
    return chart


def talk(**states: str) -> Interview:
    """Return an interview in which the patient tells how each drug is taken ("stopped: nausea")."""
    facts, replies = [], []
    for drug, state in states.items():
        what, _, reason = state.partition(": ")
        fact = Fact(
            id=f"adherence-{drug}",
            kind="adherence",
            concept=drug,
            drug=drug,
            state=what,
            reason=reason or None,
            source="simulated",
        )
        words = f"About the {drug}: {what.replace('_', ' ')}. {reason}".strip()
        facts.append(fact)
        replies.append(
            Reply(
                tool="patient.get_medication_adherence",
                fact=fact.id,
                disclosed=(fact.id,),
                text=Words(en=words, zh=words),
            )
        )
    return Interview(facts=tuple(facts), replies=tuple(replies))


@pytest.fixture
def stay() -> ChartBuilder:
    """Return the builder of the standard stay."""
    return build()


@pytest.fixture
def make_builder() -> Callable[..., ChartBuilder]:
    """Return the maker of builders of stays."""
    return build


@pytest.fixture
def make_chart() -> Callable[..., Chart]:
    """Return a maker of charts in memory."""

    def make(*args: Any, **keywords: Any) -> Chart:
        return build(*args, **keywords).chart()

    return make


@pytest.fixture
def make_interview_of() -> Callable[..., Interview]:
    """Return the maker of interviews."""
    return talk


@pytest.fixture(scope="session")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> ChartStore:
    """Return a store of four patients, two of them with an authored interview."""
    path = Path(tmp_path_factory.mktemp("store")) / "charts.sqlite"
    high = {"Potassium": [("03-04", "4.9"), ("03-06", "5.3"), ("03-08", "6.1")]}
    people: dict[str, tuple[ChartBuilder, Interview | None]] = {
        "p-100": (build("p-100"), talk(warfarin="stopped: fear of bleeding", lisinopril="taking")),
        "p-200": (build("p-200", high, "male"), talk(warfarin="taking", lisinopril="missed_doses: forgetting")),
        "p-300": (build("p-300"), None),
        "p-400": (build("p-400", Furosemide="40 mg", Metformin="500 mg"), None),
    }
    with StoreWriter(path, licence="synthetic", provenance={"source": "tests"}) as writer:
        for patient, (chart, interview) in people.items():
            writer.add(patient, chart.resources(), interview)
    return ChartStore.open(path)


@pytest.fixture(scope="session")
def mini_store() -> ChartStore:
    """Return the smallest set of hospital charts."""
    return load_charts("hospital-mini")

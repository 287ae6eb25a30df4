"""Sessions from the hospital's charts: what the record view reads is what was true, and every session passes."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from wardround.agents import check_set
from wardround.patients import ChartStore, build_hospital, interview_at, is_hospital_stay, knowledge, parse_instant
from wardround.patients.hospital.life import Life
from wardround.patients.hospital.living import make_life
from wardround.sessions import GenerationResult, SessionSet, generate
from wardround.sessions.planning.case import TYPES
from wardround.sessions.record import RecordView, view_record

SEED, PATIENTS = 11, 5


def _built(folder: Path, patients: int, flaws: str) -> ChartStore:
    path = folder / "charts.sqlite"
    build_hospital(path, SEED, range(patients), flaws=flaws)
    return ChartStore.open(path)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChartStore]:
    with _built(tmp_path_factory.mktemp("hospital"), PATIENTS, "flawed") as opened:
        yield opened


@pytest.fixture(scope="module")
def made(store: ChartStore) -> GenerationResult:
    return generate(store, seed=1)


def test_most_patients_give_sessions_and_none_fails_a_gate(made: GenerationResult) -> None:
    assert len(made.sessions) >= 2 * PATIENTS - 2
    assert made.statistics["patients_used"] >= PATIENTS - 2
    gates = made.statistics["gates"]
    assert sum(gate["failed"] for gate in gates.values()) * 5 <= gates["gate1"]["tried"], gates
    assert all(one["reason"] for one in made.statistics["skipped"])
    assert {(one.licence, one.use) for one in made.sessions} == {("CC0-1.0", "train")}


def test_the_patient_of_a_session_is_the_one_of_its_encounter_at_that_hour(
    made: GenerationResult, store: ChartStore
) -> None:
    """The interview is that encounter's as of the round, and how drugs are taken is the truth behind the chart."""
    told = 0
    for session in made.sessions:
        instant = parse_instant(session.anchor)
        snapshot = store.chart(session.chart.patient).at(instant)
        assert session.interview == interview_at(store, snapshot, session.encounter, instant)
        truth = store.truth(session.chart.patient)
        assert truth is not None
        states = {(one.drug, one.state) for one in truth.medications if one.encounter == session.encounter}
        mine = {(fact.drug, fact.state) for fact in session.interview.facts if fact.kind == "adherence"}
        assert mine <= states
        told += len(mine)
    assert told >= 10


def test_rounds_take_place_in_the_middle_of_stays_and_at_the_end_where_going_home_is_planned(
    made: GenerationResult, store: ChartStore
) -> None:
    for session in made.sessions:
        snapshot = store.chart(session.chart.patient).at(parse_instant(session.anchor))
        entry = snapshot.read("Encounter", session.encounter)
        assert entry is not None and is_hospital_stay(entry.resource())
        period = entry.resource()["period"]
        assert (period.get("end") == session.anchor) is (session.scenario == "discharge-planning")


def test_no_session_rests_on_a_planted_flaw(made: GenerationResult, store: ChartStore) -> None:
    wrong = 0
    for session in made.sessions:
        truth = store.truth(session.chart.patient)
        assert truth is not None
        places = {
            place
            for flaw in truth.flaws
            if flaw.kind in ("unit_slip", "duplicate_order", "ambiguous_drug_name")
            or flaw.detail in ("allergy_vs_order", "weight_in_lb")
            for place in flaw.places
        }
        wrong += len(places)
        read = [item.check.any_of for turn in session.turns for item in turn.rubric if item.check.kind == "retrieved"]
        assert not places.intersection(key for keys in read for key in keys)
    assert wrong >= 5


# -- misread values ----------------------------------------------------------------------------------------------------


def _views(store: ChartStore, life: Life) -> Iterator[RecordView]:
    """The view of each stay at its end and in its middle."""
    for stay in life.stays:
        if stay.kind == "ward":
            for at in (stay.end, stay.start + (stay.end - stay.start) // 2):
                snapshot = store.chart(life.patient_id).at(at)
                yield view_record(snapshot, f"{life.patient_id}-{stay.id}", TYPES)


def _same(life: Life, view: RecordView) -> int:
    """Compare a view with the life; return how many values and orders were compared."""
    compared = 0
    for lab, reading in view.latest.items():
        known = [one for one in life.results if one.lab == lab and one.known_at <= view.anchor]
        latest = max(one.at for one in known)
        assert reading.at == latest, (lab, reading)
        assert {f"Observation/{life.patient_id}-{one.id}" for one in known if one.at == latest} == set(reading.keys)
        last = next(one for one in known if one.at == latest)
        assert Decimal(last.text) == reading.value, (lab, reading)
        low, high = (None if end is None else Decimal(end) for end in (last.low, last.high))
        level = "normal"
        if low is not None and reading.value < low:
            level = "low"
        if high is not None and reading.value > high:
            level = "high"
        assert reading.level == level
        unit = knowledge.unit(reading.unit)
        assert (
            unit is None or knowledge.convert(reading.value, reading.unit, knowledge.labs()[lab].unit, lab) is not None
        )
        compared += 1
    for drug, order in view.orders.items():
        running = [
            one
            for one in life.prescriptions
            if one.drug == drug
            and one.known_at <= view.anchor
            and one.start <= view.anchor
            and (one.stop is None or one.stop > view.anchor)
        ]
        (mine,) = [one for one in running if order.key.endswith(f"-{one.id}")]
        assert len(running) == 1
        assert order.route == mine.route.casefold()
        assert order.frequency.startswith(mine.frequency)
        assert not order.dose or order.dose == mine.dose.replace(",", ""), (order, mine)
        compared += 1
    return compared


def test_what_is_read_is_what_was_true(tmp_path: Path) -> None:
    compared = 0
    with _built(tmp_path, 4, "clean") as clean:
        for index in range(4):
            life = make_life(SEED, index)
            compared += sum(_same(life, view) for view in _views(clean, life))
    assert compared >= 150


# -- many --------------------------------------------------------------------------------------------------------------


@pytest.mark.external
@pytest.mark.parametrize("flaws", ["mix", "clean", "flawed"])
def test_forty_patients_give_a_set_that_no_trick_plays(tmp_path: Path, flaws: str) -> None:
    with _built(tmp_path, 40, flaws) as store:
        result = generate(store, seed=1)
        assert len(result.sessions) >= 70
        assert result.statistics["patients_used"] >= 30
        checked = check_set(SessionSet(result.sessions), store)
        assert checked["failures"] == []
        assert checked["passed"] == len(result.sessions)
        assert checked["mrs"]["oracle"] == 1.0
        assert max(checked["mrs"][agent] for agent in ("silent", "echo", "refuser", "blind")) < 0.15
        if flaws == "clean":
            lives = [make_life(SEED, index) for index in range(40)]
            assert sum(_same(life, view) for life in lives for view in _views(store, life)) >= 1500

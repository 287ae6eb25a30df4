"""Sessions from the hospital's charts: what the record view reads is what was true, and every session passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from wardround.agents import check_set
from wardround.patients import ChartStore, Fact, build_hospital, is_hospital_stay, knowledge, parse_instant
from wardround.patients.hospital.life import Life
from wardround.patients.hospital.living import make_life
from wardround.sessions import GenerationResult, SessionSet, check_session, generate
from wardround.sessions.answers import because
from wardround.sessions.planner import decide
from wardround.sessions.record import RecordView, view_record
from wardround.sessions.scenario import load_scenario

SEED, PATIENTS = 11, 7
SCENARIO = load_scenario("medication-safety")


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
    assert len(made.sessions) >= 2 * PATIENTS
    assert made.statistics["patients_used"] >= PATIENTS - 2
    assert all(gate["failed"] == 0 for gate in made.statistics["gates"].values()), made.statistics["gates"]
    assert all(one["reason"] for one in made.statistics["skipped"])
    assert {(one.licence, one.use) for one in made.sessions} == {("CC0-1.0", "train")}


def test_the_patient_of_a_session_is_the_one_of_its_encounter(made: GenerationResult, store: ChartStore) -> None:
    """The interview is that encounter's, and how the drug is taken is the truth behind the chart."""
    for session in made.sessions:
        assert session.interview == store.interviews(session.chart.patient)[session.encounter]
        truth = store.truth(session.chart.patient)
        assert truth is not None
        states = {
            one.state
            for one in truth.medications
            if one.drug == session.labels["drug"] and one.encounter == session.encounter
        }
        assert session.labels["adherence"] in states


def test_what_is_not_tolerated_is_known_by_its_concept(made: GenerationResult, store: ChartStore) -> None:
    """The hospital gives reasons as ids ("muscle_pain"), made interviews in words ("muscle pain")."""
    (session, *_) = made.sessions
    snapshot = store.chart(session.chart.patient).at(parse_instant(session.anchor))
    view = view_record(snapshot, session.encounter, SCENARIO.resource_types)
    pair = next(iter(view.pairs))
    fine = replace(pair, rule=pair.rule.model_copy(update={"act": "continue"}))
    drug = pair.order.drug
    for reason, act in (("muscle_pain", "ease"), ("muscle pain", "ease"), ("dry_cough", "ease"), ("cost", "restart")):
        fact = Fact(
            id="a", kind="adherence", concept=drug, drug=drug, state="stopped", reason=reason, source="simulated"
        )
        decision = decide(fine, fact, SCENARIO)
        assert decision is not None and decision.act == act


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("felt_better", " because she felt better"), ("ran_out", " because she ran out of medicine"),
        ("muscle_pain", " because of muscle pain"), ("afraid_of_drug", " because of fear of the medicine"),
    ],
)  # fmt: skip
def test_reasons_read_as_words(reason: str, words: str) -> None:
    fact = Fact(id="a", kind="adherence", concept="x", state="stopped", reason=reason, source="simulated")
    assert because(fact, "she", SCENARIO) == words


def test_rounds_take_place_at_the_end_of_hospital_stays(made: GenerationResult, store: ChartStore) -> None:
    for session in made.sessions:
        snapshot = store.chart(session.chart.patient).at(parse_instant(session.anchor))
        entry = snapshot.read("Encounter", session.encounter)
        assert entry is not None and is_hospital_stay(entry.resource())
        assert entry.resource()["period"]["end"] == session.anchor


def test_before_the_end_of_an_encounter_its_interview_is_not_used(store: ChartStore) -> None:
    """It is told as of the end: it would tell what is still to come."""
    early = generate(store, seed=1, anchor="mid-stay", limit=4).sessions
    assert early
    for session in early:
        assert session.interview not in store.interviews(session.chart.patient).values()
        assert check_session(session, store.chart(session.chart.patient)) == []


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
        drug = session.labels["drug"]
        snapshot = store.chart(session.chart.patient).at(parse_instant(session.anchor))
        view = view_record(snapshot, session.encounter, SCENARIO.resource_types)
        assert view.orders[drug].key not in places
        assert not places.intersection(view.latest[session.labels["lab"]].keys)
    assert wrong >= 5


# -- misread values ----------------------------------------------------------------------------------------------------


def _views(store: ChartStore, life: Life) -> Iterator[RecordView]:
    """The view of each stay at its end and in its middle."""
    for stay in life.stays:
        if stay.kind == "ward":
            for at in (stay.end, stay.start + (stay.end - stay.start) // 2):
                snapshot = store.chart(life.patient_id).at(at)
                yield view_record(snapshot, f"{life.patient_id}-{stay.id}", SCENARIO.resource_types)


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
        assert max(mean for agent, mean in checked["mrs"].items() if agent != "oracle") < 0.15
        if flaws == "clean":
            lives = [make_life(SEED, index) for index in range(40)]
            assert sum(_same(life, view) for life in lives for view in _views(store, life)) >= 1500

"""Clinical scores: exact against `knowledge.compute`, what is missing is said, and what a total calls for."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

import pytest
from session_moves import case_of, faults, play, rounds

from wardround.patients import ChartBuilder, ChartStore, Interview, Stream, knowledge, load_charts, parse_instant
from wardround.rubrics import check_answer
from wardround.sessions.common import common
from wardround.sessions.decisions import score
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.moves.move import Case, Focus
from wardround.sessions.moves.score_gather import computable, gathered
from wardround.sessions.moves.scores import KINDS, MOST_READS, score_move
from wardround.sessions.record import view_record

NOW = "2030-03-08T10:00:00Z"
AT = "2030-03-08T07:00:00Z"
STAY = "stay-1"
VITALS = {
    "Respiratory Rate": ("18", "/min", 12, 20),
    "Oxygen Saturation": ("97", "%", 94, 100),
    "Heart Rate": ("84", "/min", 60, 100),
    "Temperature": ("36.9", "Cel", 36, 38),
}


def case(
    *conditions: str,
    labs: dict[str, tuple[str, str, str, str]] | None = None,
    pressure: str = "124/70",
    drugs: tuple[str, ...] = (),
    sex: Literal["female", "male"] = "female",
    born: str = "1958-05-02",
    **vitals: str,
) -> Case:
    """Return a patient; `vitals` are named as "respiratory_rate"."""
    chart = ChartBuilder("p-1", sex=sex, birth_date=born)
    chart.encounter(STAY, "IMP", "2030-03-04T08:00:00Z", "2030-03-12T08:00:00Z", type="Inpatient stay")
    for name, (value, unit, low, high) in VITALS.items():
        given = vitals.get(name.lower().replace(" ", "_"), value)
        chart.vital(name, given, unit, at=AT, low=low, high=high, encounter=STAY)
    if pressure:
        chart.vital("Blood Pressure", pressure, "mmHg", at=AT, encounter=STAY)
    if "weight" in vitals:
        chart.vital("Weight", vitals["weight"], "kg", at=AT, encounter=STAY)
    if "bmi" in vitals:
        chart.vital("Body Mass Index", vitals["bmi"], "kg/m2", at=AT, encounter=STAY)
    for name, (value, unit, lowest, highest) in (labs or {}).items():
        chart.lab(name, value, unit, at=AT, low=lowest, high=highest, encounter=STAY)
    for condition in conditions:
        chart.condition(condition, onset="2029-03-04", recorded="2029-03-04")
    for drug in drugs:
        chart.medication(drug, dose="5 mg", route="oral", frequency="twice daily", start="2030-03-05T08:00:00Z")
    now = parse_instant(NOW)
    snapshot = chart.chart().at(now)
    view = view_record(snapshot, STAY, ("Observation",))
    return Case(snapshot, STAY, now, view, Interview(), common(), "medication-safety")


def about(made: Case, table: str) -> Decision:
    return next(one for one in score.decisions(made) if one.subject == table)


# -- what is computed --------------------------------------------------------------------------------------------------


def test_what_makes_sense_and_is_charted_is_computable() -> None:
    assert computable(case()) == ()
    assert computable(case("Pneumonia")) == ("news2", "qsofa")
    assert computable(case("Atrial fibrillation", "Hypertension")) == ("cha2ds2_vasc",)
    assert computable(case("COPD")) == ()
    assert computable(case(born="2020-01-01")) == ()


def test_a_total_is_what_compute_says_and_what_is_missing_is_said() -> None:
    made = case("Pneumonia", respiratory_rate="22", oxygen_saturation="93", pressure="104/60", heart_rate="96")
    found = gathered(made)["news2"]
    right = knowledge.compute(
        "news2",
        {"respiratory_rate": "22", "spo2": "93", "systolic_bp": "104", "heart_rate": "96", "temperature": "36.9"},
    )
    assert found.total == right.total == Decimal(6)
    assert found.meaning.say.en == "medium risk"
    move = score_move(made, found)
    assert move is not None
    assert move.answer.en is not None and move.answer.zh is not None
    assert "NEWS2 is 6, medium risk." in move.answer.en
    assert "supplemental oxygen, consciousness" in move.answer.en
    assert "吸氧、意识" in move.answer.zh
    assert (move.needs, move.score, move.labs) == (frozenset({"formula"}), "news2", ())
    play(made, [move])


def test_the_age_counts_and_is_looked_up() -> None:
    labs = {"Urea Nitrogen": ("24", "mg/dL", "7", "20")}
    made = case("Pneumonia", labs=labs, respiratory_rate="31", pressure="88/52", born="1950-01-01")
    found = gathered(made)["curb_65"]
    assert found.total == Decimal(4)  # urea, respiratory rate, pressure, age
    move = score_move(made, found)
    assert move is not None
    assert "Patient.read" in [call.tool for call in move.calls]
    play(made, [move])


@pytest.mark.parametrize(
    ("conditions", "sex", "total"),
    [
        (("Atrial fibrillation",), "male", 0),
        (("Atrial fibrillation", "Hypertension"), "male", 1),
        (("Atrial fibrillation", "Hypertension", "Type 2 diabetes"), "female", 3),
        (("Atrial fibrillation", "Heart failure", "Stroke"), "male", 3),
    ],
)
def test_diagnoses_count_for_stroke_risk(
    conditions: tuple[str, ...], sex: Literal["female", "male"], total: int
) -> None:
    made = case(*conditions, sex=sex, born="1980-01-01")
    found = gathered(made)["cha2ds2_vasc"]
    assert found.total == Decimal(total)


def test_a_diagnosis_that_could_be_argued_leaves_the_score_out() -> None:
    assert "cha2ds2_vasc" not in computable(case("Atrial fibrillation", "Coronary artery disease"))
    found = computable(case("Atrial fibrillation", "Coronary artery disease", "Old myocardial infarction"))
    assert "cha2ds2_vasc" in found


def test_the_weight_to_use_is_argued_about_in_obesity() -> None:
    labs = {"Creatinine": ("1.4", "mg/dL", "0.5", "1.1")}
    made = case(labs=labs, drugs=("Enoxaparin",), weight="62")
    found = gathered(made)["cockcroft_gault"]
    right = knowledge.compute(
        "cockcroft_gault", {"sex": "female", "age": "71", "weight": "62", "creatinine": "1.4"}
    ).total
    assert found.total == right
    assert "cockcroft_gault" not in computable(case(labs=labs, weight="62"))
    heavy = case(labs=labs, drugs=("Enoxaparin",), weight="98", bmi="34")
    assert "cockcroft_gault" not in computable(heavy)


# -- how it is judged --------------------------------------------------------------------------------------------------


def test_another_total_another_reading_and_both_readings_fail() -> None:
    made = case("Pneumonia")
    move = score_move(made, gathered(made)["news2"])
    assert move is not None
    checks = {item.id: item.check for item in move.rubric}
    for words, passes in (
        ("NEWS2 is 0, low risk.", True),
        ("NEWS2 0分，低危。", True),
        ("NEWS2 is 0, high risk.", False),
        ("NEWS2 is 0, low risk or high risk.", False),
    ):
        language: Any = "zh" if "分" in words else "en"
        assert check_answer(checks["meaning"], words, language=language).passed is passes, words
    assert not check_answer(checks["total"], "NEWS2 is 3, low risk.", language="en").passed


def test_a_score_may_be_stated_but_no_other_measurement() -> None:
    made = case("Pneumonia")
    move = score_move(made, gathered(made)["news2"])
    assert move is not None
    check = next(item.check for item in move.rubric if item.id == "grounded")
    assert check_answer(check, "NEWS2 is 0.", language="en").passed
    assert not check_answer(check, "NEWS2 is 0 and the lactate 3.1 mmol/L.", language="en").passed


# -- what it calls for -------------------------------------------------------------------------------------------------


def test_a_high_news2_calls_for_critical_care() -> None:
    made = case("Pneumonia", respiratory_rate="26", oxygen_saturation="90", pressure="88/50", heart_rate="118")
    found = about(made, "news2_critical_care")
    assert (found.act, found.unchanged) == ("refer", False)
    moves = [*score.decides(made, found, False), *score.writes(made, found)]
    assert [move.kind for move in moves] == ["decide_score", "order_step"]
    assert len(moves[0].calls) <= MOST_READS
    play(made, moves)


def test_a_low_total_calls_for_nothing_only_where_nothing_missing_could_change_it() -> None:
    sure = case("Pneumonia")
    assert about(sure, "news2_critical_care").unchanged
    # 3 points, and 5 more where oxygen and confusion were not charted, would be 8
    unsure = case("Pneumonia", respiratory_rate="22", heart_rate="96")
    assert gathered(unsure)["news2"].total == Decimal(3)
    assert "news2_critical_care" not in {one.subject for one in score.decisions(unsure)}


def test_anticoagulation_is_started_or_goes_on() -> None:
    conditions = ("Atrial fibrillation", "Hypertension", "Type 2 diabetes")
    start = about(case(*conditions), "cha2ds2_vasc_anticoagulation")
    assert (start.act, start.unchanged) == ("start", False)
    on = case(*conditions, drugs=("Apixaban",))
    goes_on = about(on, "cha2ds2_vasc_anticoagulation")
    assert (goes_on.act, goes_on.unchanged, goes_on.avoid) == ("continue", True, ("stop", "anticoagulant"))
    play(on, list(score.decides(on, goes_on, False)))
    assert list(score.writes(on, goes_on)) == []
    assert list(score.openings(on, goes_on)) == []  # no measured value turns it


def test_a_calcium_that_is_normal_once_corrected_needs_no_replacement() -> None:
    labs = {"Calcium, Total": ("8.1", "mg/dL", "8.6", "10.3"), "Albumin": ("2.6", "g/dL", "3.5", "5")}
    made = case(labs=labs)
    found = about(made, "corrected_calcium_replacement")
    assert gathered(made)["corrected_calcium"].total == Decimal("9.2")
    assert found.unchanged
    play(made, [*score.openings(made, found), *score.decides(made, found, False)])


def test_the_hinge_turns_a_score() -> None:
    labs = {"Calcium, Total": ("8.1", "mg/dL", "8.6", "10.3"), "Albumin": ("2.6", "g/dL", "3.5", "5")}
    found = about(case(labs=labs), "corrected_calcium_replacement")
    assert found.reading is not None
    name = "Calcium, Total" if found.reading.lab == "calcium" else "Albumin"
    changed = {**labs, name: (found.hinge.to, *labs[name][1:])}
    assert about(case(labs=changed), "corrected_calcium_replacement").unchanged is not found.unchanged


# -- the hospital ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hospital() -> ChartStore:
    return load_charts("hospital-mini")


def test_scores_of_the_hospital_hold(hospital: ChartStore) -> None:
    seen: set[str] = set()
    for patient in sorted(hospital.patients())[:8]:
        encounter, instant = rounds(hospital, patient)[-2]
        made = case_of(hospital, patient, encounter, instant)
        for decision in score.decisions(made)[:2]:
            moves = [*score.openings(made, decision), *score.decides(made, decision, False)]
            assert not moves or faults(made, moves) == [], decision.subject
        for move in list(_offered(made))[:2]:
            assert faults(made, [move]) == [], move.topic
            seen.add(str(move.score))
    assert len(seen) > 1


def _offered(made: Case) -> Any:
    found = score.decisions(made)
    focus = Focus(found[0], frozenset()) if found else None
    return KINDS[0].offer(made, focus, Stream("t", 1)) if focus is not None else ()

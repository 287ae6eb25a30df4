"""What no attending would ask or do after what was said; the stay of `conftest.py`, changed a little each time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import planning_fakes as fakes
import pytest

from wardround.patients import ChartBuilder, Fact
from wardround.patients.knowledge import Names
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.moves.conditional import prescribe_if
from wardround.sessions.moves.drugs import dose_move
from wardround.sessions.moves.labs import latest_lab
from wardround.sessions.moves.move import Case, Entity, Move
from wardround.sessions.moves.patient import labs_of_symptom
from wardround.sessions.planning.kinship import FAR, complaints, distance
from wardround.sessions.planning.sense import hears_elsewhere, scores_called_for, senseless
from wardround.sessions.planning.thread import thresholds

STAY, NOON = "stay-1", "2030-03-08T12:00:00Z"
PAIN = Fact(id="s-1", kind="symptom", concept="muscle_pain", drug="atorvastatin", source="simulated")
STOPPED = Fact(id="a-1", kind="adherence", concept="lisinopril", drug="lisinopril", state="stopped", source="simulated")


@pytest.fixture
def case_of(make_builder: Callable[..., ChartBuilder]) -> Callable[..., Case]:
    """Return a maker of cases: labs as in `conftest.build`, drugs by name, diagnoses as a list."""

    def make(labs: dict[str, list[tuple[str, str]]] | None = None, ill: tuple[str, ...] = (), **drugs: str) -> Case:
        chart = make_builder(labs=labs, **drugs)
        for name in ill:
            chart.condition(name, onset="2030-03-04", known_at="2030-03-04", encounter=STAY)
        return fakes.case_of(chart.chart(), STAY, NOON)

    return make


def decided(case: Case, drug: str, act: str = "continue", fact: Fact | None = None) -> Decision:
    order = case.view.orders[drug]
    made = replace(fakes.decision("potassium"), act=act, order=order, fact=fact)
    return replace(made, unchanged=act == "continue")


def heard(fact: Fact) -> Move:
    return fakes.move("symptom", "IL", "patient", f"{fact.kind}:{fact.concept}", fact=fact)


def ordered(case: Case, drug: str, decision: Decision | None = None) -> Move:
    slot = Entity("drug", drug, Names(en=drug, zh=drug))
    return fakes.move(
        "prescribe",
        "WU",
        "write",
        f"{drug}:prescribe",
        "MedicationRequest.create",
        slots={"drug": slot},
        decision=decision,
    )


def refused(case: Case, *moves: Move, thread: Decision | None = None, alone: bool = False) -> bool:
    return senseless(case, thread or fakes.decision("sodium"), moves[:-1], moves[-1], alone=alone)


# -- nothing told is asked again ---------------------------------------------------------------------------------------


def test_an_order_that_was_told_is_not_asked_again(case_of: Callable[..., Case]) -> None:
    case = case_of()
    order = case.view.orders["warfarin"]
    told = dose_move(case, order)
    again = replace(dose_move(case, order), kind="dose_adherence", conflict="ordered-not-taken")
    assert refused(case, told, again)
    assert not refused(case, told, again, alone=True)  # the one turn that can hold a conflict
    assert not refused(case, told, replace(again, keys=frozenset({"MedicationRequest/other"})))


@pytest.mark.parametrize(("value", "open_"), [("107", False), ("61", False), ("41", True), ("22", True)])
def test_a_dose_does_not_depend_on_a_value_that_was_told_and_settles_it(
    make_builder: Callable[..., ChartBuilder], value: str, open_: bool
) -> None:
    chart = make_builder(Lisinopril="10 mg")
    chart.lab("eGFR", value, "mL/min/1.73 m2", at="2030-03-08T06:00:00Z", low="60", high=None, encounter=STAY)
    case = fakes.case_of(chart.chart(), STAY, NOON)
    order = prescribe_if(case, case.view.orders["lisinopril"])
    assert order is not None and order.words["bound"].en == "30"
    told = latest_lab(case, case.view.latest["egfr"])
    assert refused(case, told, order) is not open_
    assert not refused(case, latest_lab(case, case.view.latest["sodium"]), order)  # nobody knows it yet


def test_only_an_arc_of_look_ups_opens_with_the_value_that_a_dose_depends_on(case_of: Callable[..., Case]) -> None:
    case = case_of()
    case.view.latest["egfr"] = replace(case.view.latest["sodium"], lab="egfr")
    assert thresholds(case, ("IL", "IL", "IL", "WU"))
    assert thresholds(case, ("IL", "DG", "IL", "WU")) == thresholds(case, ("IL", "IL", "CR", "WU")) == ()


def test_no_dose_below_both_of_a_rule_is_raised_by_it(make_builder: Callable[..., ChartBuilder]) -> None:
    chart = make_builder(Rosuvastatin="5 mg")
    chart.lab("eGFR", "50", "mL/min/1.73 m2", at="2030-03-08T06:00:00Z", low="60", high=None, encounter=STAY)
    case = fakes.case_of(chart.chart(), STAY, NOON)
    assert prescribe_if(case, case.view.orders["rosuvastatin"]) is None


# -- nothing told is passed over ---------------------------------------------------------------------------------------


def test_a_drug_goes_on_only_with_what_was_heard_of_it(case_of: Callable[..., Case]) -> None:
    case = case_of(Atorvastatin="40 mg", Lisinopril="10 mg")
    pain = heard(PAIN)
    assert refused(case, pain, ordered(case, "atorvastatin"))
    assert refused(case, pain, ordered(case, "rosuvastatin"))  # another statin does the same
    assert not refused(case, heard(PAIN.model_copy(update={"drug": None})), ordered(case, "lisinopril"))
    assert not refused(case, heard(PAIN.model_copy(update={"polarity": "absent"})), ordered(case, "atorvastatin"))
    weighed = decided(case, "atorvastatin", fact=PAIN)
    assert not refused(case, pain, ordered(case, "atorvastatin", weighed))
    other = decided(case, "atorvastatin", "recheck")
    advice = fakes.move("decide", "CR", "ehr", "advice", decision=other)
    assert refused(case, pain, advice)
    assert not refused(case, pain, replace(advice, decision=replace(other, act="hold")))


def test_a_drug_that_was_stopped_is_not_renewed(case_of: Callable[..., Case]) -> None:
    case = case_of()
    assert refused(case, heard(STOPPED), ordered(case, "lisinopril"))
    assert not refused(case, heard(STOPPED), ordered(case, "lisinopril", decided(case, "lisinopril", fact=STOPPED)))
    assert not refused(case, heard(STOPPED.model_copy(update={"state": "taking"})), ordered(case, "lisinopril"))
    assert hears_elsewhere(heard(STOPPED), frozenset({"warfarin"}))
    assert not hears_elsewhere(heard(STOPPED), frozenset({"lisinopril"}))


def test_what_is_done_after_harm_or_missed_doses_is_about_that_drug(case_of: Callable[..., Case]) -> None:
    case = case_of(Atorvastatin="40 mg", Lisinopril="10 mg")
    advice = fakes.move("decide", "CR", "ehr", "advice", decision=decided(case, "lisinopril", "hold"))
    assert refused(case, heard(PAIN), advice)
    assert refused(case, heard(STOPPED), replace(advice, decision=decided(case, "atorvastatin", "hold")))
    assert not refused(case, heard(PAIN.model_copy(update={"drug": None})), advice)  # nothing says that a drug did it
    assert not refused(case, advice, heard(PAIN))  # heard last, it is left for the next round
    first = fakes.move(
        "decide", "CR", "mixed", "first", decision=decided(case, "atorvastatin", "hold", PAIN), fact=PAIN
    )
    assert not refused(case, first, advice)


def test_no_drug_goes_on_that_a_diagnosis_forbids(case_of: Callable[..., Case]) -> None:
    for ill, wrong in (((), False), (("Gastrointestinal bleeding",), True)):
        case = case_of(None, ill, Ibuprofen="400 mg", Lisinopril="10 mg")
        advice = fakes.move("decide", "CR", "ehr", "advice", decision=decided(case, "ibuprofen"))
        assert refused(case, advice) is wrong
        assert refused(case, ordered(case, "ibuprofen")) is wrong


def test_a_value_that_forbids_a_drug_is_not_passed_over(case_of: Callable[..., Case]) -> None:
    for value, wrong in (("210", False), ("37", True)):
        case = case_of({"Platelet Count": [("03-08", value)]}, Warfarin="5 mg")
        told = latest_lab(case, case.view.latest["platelets"])
        assert refused(case, told, ordered(case, "warfarin")) is wrong


def test_a_value_that_is_acted_on_at_once_is_no_side_matter(case_of: Callable[..., Case]) -> None:
    case = case_of({"Platelet Count": [("03-08", "37")]})
    told = latest_lab(case, case.view.latest["platelets"])
    assert refused(case, told)
    assert not refused(case, told, thread=replace(fakes.decision("x"), reading=case.view.latest["platelets"]))
    assert not refused(case, latest_lab(case, case.view.latest["sodium"]))


# -- what belongs together ---------------------------------------------------------------------------------------------


def test_what_a_patient_came_for_is_not_heard_beside_something_else(make_builder: Callable[..., ChartBuilder]) -> None:
    chart = make_builder(Lisinopril="10 mg")
    chart.condition("Stroke", code="I63.9", onset="2030-03-04", known_at="2030-03-04", encounter=STAY, rank=1)
    case = fakes.case_of(chart.chart(), STAY, NOON)
    droop = PAIN.model_copy(update={"concept": "facial_droop", "drug": None})
    assert "facial_droop" in complaints(case)
    assert refused(case, heard(droop), thread=decided(case, "lisinopril"))
    assert not refused(case, heard(droop.model_copy(update={"polarity": "absent"})), thread=decided(case, "lisinopril"))
    assert not refused(case, heard(PAIN), thread=decided(case, "lisinopril"))


def test_a_clearance_is_worked_out_for_a_drug_that_is_dosed_by_it(
    make_builder: Callable[..., ChartBuilder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wardround.sessions.planning.sense.computable", lambda case: ("cockcroft_gault", "news2"))
    case = fakes.case_of(make_builder(Apixaban="5 mg", Lisinopril="10 mg").chart(), STAY, NOON)
    about = decided(case, "lisinopril")
    assert scores_called_for(case, about, frozenset({"apixaban"})) == ("cockcroft_gault",)
    assert scores_called_for(case, about, frozenset({"lisinopril"})) == ()
    scored = replace(fakes.decision("news2_critical_care"), kind="score")
    assert scores_called_for(case, scored, frozenset()) == ("news2",)


def test_a_score_that_a_session_is_not_about_is_a_stray(case_of: Callable[..., Case]) -> None:
    case = case_of()
    slot = Entity("score", "curb_65", Names(en="CURB-65", zh="CURB-65"))
    score = fakes.move("score", "DG", "ehr", "curb_65", slots={"score": slot}, score="curb_65")
    assert distance(case, decided(case, "warfarin"), score) == FAR


@pytest.mark.parametrize(
    ("scenario", "kind", "far"),
    [
        ("medication-safety", "function", True),
        ("medication-safety", "pain", True),
        ("discharge-planning", "function", False),
        ("discharge-planning", "pain", True),
    ],
)
def test_a_general_question_is_a_stray_where_nothing_asks_for_it(
    case_of: Callable[..., Case], scenario: str, kind: str, far: bool
) -> None:
    case = replace(case_of(), scenario=scenario, _memo={})
    asks = fakes.move(kind, "IL", "patient", kind)
    assert (distance(case, decided(case, "warfarin"), asks) == FAR) is far


def test_a_symptom_is_set_beside_labs_that_bear_on_it(case_of: Callable[..., Case]) -> None:
    case = case_of(None, (), Atorvastatin="40 mg")
    labs: Any = labs_of_symptom(case, "muscle_pain")
    assert "ck" in labs
    assert not labs & {"platelets", "tsh", "inr", "cholesterol_total"}
    assert labs_of_symptom(case_of(None, (), Lisinopril="10 mg"), "muscle_pain") == frozenset()

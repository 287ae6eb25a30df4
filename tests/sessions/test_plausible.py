"""Which sessions are not made: blamed drugs, patients who cannot speak, dangers passed over, things judged already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import planning_fakes as fakes
import pytest

from wardround.patients import ChartBuilder, ChartStore, StoreWriter, knowledge
from wardround.sessions.common import common
from wardround.sessions.decisions.charted import in_intensive_care
from wardround.sessions.decisions.dosed import dose_fits, dosed_drugs
from wardround.sessions.decisions.drug_lab import decisions
from wardround.sessions.decisions.owned import has_moved, owned, owners
from wardround.sessions.decisions.tables import arises
from wardround.sessions.moves.branch_rules import BranchRules, branch_rules
from wardround.sessions.moves.conditional import prescribe_if
from wardround.sessions.moves.drugs import dose_move
from wardround.sessions.moves.labs import latest_lab, latest_vital
from wardround.sessions.moves.move import Case, Entity
from wardround.sessions.planning.case import rounds
from wardround.sessions.planning.danger import danger_rules, dangers, passed_over, takes_up
from wardround.sessions.planning.evidence import interviewed, lacks
from wardround.sessions.planning.scenarios import load_scenario
from wardround.sessions.planning.sense import senseless

STAY, NOON, DAWN = "stay-1", "2030-03-08T12:00:00Z", "2030-03-08T06:00:00Z"
Builder = Callable[..., ChartBuilder]


def at_noon(chart: ChartBuilder) -> Case:
    return fakes.case_of(chart.chart(), STAY, NOON)


def lab(chart: ChartBuilder, name: str, value: str, unit: str, low: str | None, high: str | None) -> None:
    chart.lab(name, value, unit, at=DAWN, low=low, high=high, encounter=STAY)


# -- what else owns a value --------------------------------------------------------------------------------------------


def rules_of(case: Case) -> set[str]:
    return {rule for one in decisions(case) for rule in one.rules}


@pytest.mark.parametrize("owner", ["", "troponin", "operation", "infarct"])
def test_a_statin_is_not_judged_by_a_creatine_kinase_that_something_else_raised(
    make_builder: Builder, owner: str
) -> None:
    chart = make_builder(Atorvastatin="40 mg")
    lab(chart, "Creatine Kinase (CK)", "900", "IU/L", "30", "200")
    if owner == "troponin":
        lab(chart, "Troponin T", "0.9", "ng/mL", None, "0.01")
    if owner == "operation":
        chart.procedure("Hip replacement", at="2030-03-05T09:00:00Z", encounter=STAY)
    if owner == "infarct":
        chart.condition("NSTEMI", code="I21.4", onset="2030-03-04", known_at="2030-03-04", encounter=STAY)
    assert ("statin_ck_2" in rules_of(at_noon(chart))) is (owner == "")


def test_a_rising_creatinine_is_neither_fine_nor_for_next_week(make_builder: Builder) -> None:
    for before, injured in (("1.3", True), ("1.5", False)):
        chart = make_builder(labs={"Creatinine": [("03-07", before), ("03-08", "1.6")]}, Lisinopril="10 mg")
        assert ("raas_creatinine_2" not in rules_of(at_noon(chart))) is injured


def test_platelets_that_recover_do_not_speak_against_heparin(make_builder: Builder) -> None:
    for before, recovers in (("70", True), ("95", False)):
        chart = make_builder(labs={"Platelet Count": [("03-06", before), ("03-08", "98")]}, Enoxaparin="40 mg")
        assert owned(at_noon(chart), "heparin_platelets_2") is recovers


def test_owners_name_rules_and_things_that_there_are() -> None:
    bands = {band.id for table in knowledge.decisions().values() for band in table.bands}
    rules = {rule.id for one in knowledge.monitoring().values() for rule in one.rules} | bands
    lexicon = knowledge.lexicon()
    for one in owners():
        assert set(one.rules) <= rules, one.id
        named = (*one.conditions, *one.findings, *one.values, *one.done)
        assert named or one.moved is not None
        assert all(lexicon.concept(name).id == name for name in named), one.id


def test_how_far_a_lab_has_gone_counts_within_the_hours_only(make_builder: Builder) -> None:
    case = at_noon(make_builder(labs={"Hemoglobin": [("03-04", "13.1"), ("03-07", "11.0"), ("03-08", "10.4")]}))
    fell = next(one.moved for one in owners() if one.id == "blood-loss")
    assert fell is not None and not has_moved(case, fell)
    assert has_moved(case, fell.model_copy(update={"hours": 120}))
    assert not has_moved(case, fell.model_copy(update={"hours": 120, "way": "rising"}))


# -- doses with criteria of their own ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dose", "creatinine", "weight", "fits"),
    [("5 mg", "0.9", "58", True), ("5 mg", "1.6", "58", False), ("2.5 mg", "1.6", "58", True),
     ("2.5 mg", "0.9", "80", False), ("5 mg", "1.6", None, False)],
)  # fmt: skip
def test_apixaban_goes_on_at_a_dose_that_fits_its_label(
    make_builder: Builder, dose: str, creatinine: str, weight: str | None, fits: bool
) -> None:
    chart = make_builder(labs={"Creatinine": [("03-07", creatinine), ("03-08", creatinine)]}, Apixaban=dose)
    if weight is not None:
        chart.vital("Weight", weight, "kg", at=DAWN, encounter=STAY)
    case = at_noon(chart)  # 71 years old
    assert dose_fits(case, case.view.orders["apixaban"]) is fits
    clear = fits and creatinine == "0.9"  # a creatinine that calls for a look at the dose outranks the hemoglobin
    assert ("doac_hemoglobin_4" in rules_of(case)) is clear


def test_drugs_with_criteria_are_known_and_others_are_free(make_builder: Builder) -> None:
    assert set(dosed_drugs()) <= set(knowledge.drugs())
    case = at_noon(make_builder(Lisinopril="10 mg"))
    assert dose_fits(case, case.view.orders["lisinopril"])


# -- who can be asked, and where ---------------------------------------------------------------------------------------


def test_nobody_asks_a_patient_who_is_asleep(make_builder: Builder) -> None:
    scenario = load_scenario("medication-safety")
    assert interviewed(at_noon(make_builder(Lisinopril="10 mg")))
    for drug in ("Propofol", "Dexmedetomidine"):
        case = at_noon(make_builder(Lisinopril="10 mg", **{drug: "10 mg"}))
        assert not interviewed(case)
        assert "interviewed" in lacks(scenario, "sparse", case)[0]
    chart = make_builder(Lisinopril="10 mg")
    chart.procedure("Mechanical ventilation", at="2030-03-07T09:00:00Z", encounter=STAY)
    assert not interviewed(at_noon(chart))
    awake = at_noon(make_builder(Lisinopril="10 mg"))
    speaks = awake.interview.persona.model_copy(update={"informant": "caregiver"})
    told = awake.interview.model_copy(update={"persona": speaks})
    assert not interviewed(replace(awake, interview=told, _memo={}))


def test_intensive_care_is_not_asked_to_see_who_lies_there(make_builder: Builder) -> None:
    table = knowledge.decisions()["lactate_icu"]
    for end, inside in ((None, True), ("2030-03-07T08:00:00Z", False)):
        chart = make_builder(Lisinopril="10 mg")
        chart.encounter("icu-1", "ACUTE", "2030-03-05T08:00:00Z", end, type="ICU stay")
        part = chart._resources[-1][0]
        part["partOf"] = {"reference": f"Encounter/{STAY}"}
        part["type"] = [{"coding": [{"code": "icu"}], "text": "ICU stay"}]
        case = at_noon(chart)
        assert in_intensive_care(case) is inside
        assert arises(case, table) is not inside


def test_a_visit_of_minutes_has_no_round(make_builder: Builder, tmp_path_factory: pytest.TempPathFactory) -> None:
    chart = make_builder()
    chart.encounter("visit-1", "AMB", "2030-05-04T08:00:00Z", "2030-05-04T08:28:00Z", type="Outpatient visit")
    path = tmp_path_factory.mktemp("visits") / "charts.sqlite"
    with StoreWriter(path) as writer:
        writer.add("p-100", chart.resources())
    store = ChartStore.open(path)
    for anchor in ("discharge", "mid-stay"):
        assert [name for name, _ in rounds(store, "p-100", anchor)] == [STAY]


# -- dangers -----------------------------------------------------------------------------------------------------------


def test_a_danger_is_taken_up(make_builder: Builder) -> None:
    safe = at_noon(make_builder(Lisinopril="10 mg"))
    assert dangers(safe) == () and not passed_over(safe, ())
    case = at_noon(make_builder(labs={"Potassium": [("03-08", "6.1")]}, Lisinopril="10 mg"))
    assert [one.id for one in dangers(case)] == ["potassium-high"]
    potassium, sodium = (latest_lab(case, case.view.latest[one]) for one in ("potassium", "sodium"))
    assert takes_up(case, potassium) and not takes_up(case, sodium)
    assert passed_over(case, [sodium]) and not passed_over(case, [sodium, potassium])
    thread = replace(fakes.decision("x"), reading=case.view.latest["potassium"])
    assert takes_up(case, fakes.move("decide", "CR", "ehr", "advice", decision=thread))


def test_few_platelets_are_a_danger_to_who_takes_an_anticoagulant(make_builder: Builder) -> None:
    for drug, there in (("Warfarin", True), ("Lisinopril", False)):
        case = at_noon(make_builder(labs={"Platelet Count": [("03-08", "80")]}, **{drug: "5 mg"}))
        assert bool(dangers(case)) is there


def test_a_pressure_is_taken_up_as_the_pair_that_is_charted(make_builder: Builder) -> None:
    for value, there in (("192/104", True), ("150/90", False)):
        chart = make_builder()
        chart.vital("Blood pressure", value, "mm[Hg]", at=DAWN, encounter=STAY)
        case = at_noon(chart)
        move = latest_vital(case, "blood_pressure")
        assert move is not None and bool(dangers(case)) is there and takes_up(case, move) is there


def test_dangers_name_what_there_is() -> None:
    known = set(knowledge.labs()) | set(common().vitals)
    for one in danger_rules():
        assert one.all or one.moved is not None
        assert {*one.taken_up, *(bound.of for bound in one.all)} <= known, one.id
        assert all(knowledge.convert(Decimal(1), bound.unit, bound.unit, bound.of) == 1 for bound in one.all), one.id
        assert all(knowledge.lexicon().concept(name) for name in (*one.drugs, *one.conditions)), one.id


# -- what was judged, and what belongs together ------------------------------------------------------------------------


def test_what_was_judged_is_not_opened_again(make_builder: Builder) -> None:
    chart = make_builder(Lisinopril="10 mg")
    chart.lab("eGFR", "40", "mL/min/1.73 m2", at=DAWN, low="60", high=None, encounter=STAY)
    case = at_noon(chart)
    order = case.view.orders["lisinopril"]
    judged = fakes.move("decide", "CR", "ehr", "x", decision=replace(fakes.decision("potassium"), order=order))
    dosed = prescribe_if(case, order)
    assert dosed is not None
    for move in (dosed, dose_move(case, order)):
        assert senseless(case, fakes.decision("sodium"), [judged], move, alone=False)
        assert not senseless(case, fakes.decision("sodium"), [], move, alone=False)
    slots = {"drug": Entity("drug", "lisinopril", order.names)}
    asked = fakes.move("dose_adherence", "DG", "mixed", "y", slots=slots)
    assert senseless(case, fakes.decision("sodium"), [judged], asked, alone=False)
    weighed = replace(asked, conflict="ordered-not-taken")
    assert not senseless(case, fakes.decision("sodium"), [judged], weighed, alone=False)


def test_what_is_looked_up_after_a_lab_is_related_to_it() -> None:
    rules = branch_rules()
    bad = rules.labs[0].model_copy(update={"otherwise": "tsh"}).model_dump()
    with pytest.raises(ValueError, match="tsh is not related to it"):
        BranchRules.model_validate({**rules.model_dump(), "labs": [bad]})
    missing = {(one.lab, drug) for one in rules.drugs if one.by == "missing" for drug in one.drugs}
    assert ("inr", "warfarin") in missing and ("potassium", "potassium_chloride") in missing
    assert not {("platelets", "clopidogrel"), ("potassium", "furosemide"), ("creatinine", "lisinopril")} & missing

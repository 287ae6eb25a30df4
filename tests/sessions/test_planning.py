"""The planner's rules: which four turns belong together, in which cell, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import planning_fakes as fakes
import pytest

from wardround.patients import ChartStore, Stream, UsageError, load_charts
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.moves.move import Case
from wardround.sessions.planning import offering, searching, thread
from wardround.sessions.planning import plan as planning
from wardround.sessions.planning.case import for_scenario, make_case, rounds
from wardround.sessions.planning.chain import flipped
from wardround.sessions.planning.evidence import evidence_of, is_antibiotic, lacks, missing, tiers_of
from wardround.sessions.planning.plan import Plan, plans
from wardround.sessions.planning.quota import LAB_PERCENT, Quota
from wardround.sessions.planning.scenarios import (
    ARCS,
    TIERS,
    Arc,
    arc_name,
    evidence_rules,
    load_scenario,
    scenario_names,
    scenarios_of,
)

SAFETY = load_scenario("medication-safety")
STAY = "stay-1"


@pytest.fixture(scope="session")
def mini() -> ChartStore:
    return load_charts("hospital-mini")


@pytest.fixture
def case(stay) -> Case:
    return fakes.case_of(stay.chart(), STAY, "2030-03-08T15:00:00Z")


@pytest.fixture
def planned(case: Case, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Plan]]:
    """Return a planner over made-up decisions."""

    def run(
        arc: Arc,
        tier: str = "moderate",
        *decisions: Decision,
        quota: Quota | None = None,
        scores: bool = False,
        ease: bool = False,
    ) -> list[Plan]:
        moves, table = fakes.kinds(*decisions)
        monkeypatch.setattr(offering, "move_kinds", lambda: moves)
        for module in (searching, offering):
            monkeypatch.setattr(module, "decision_kinds", lambda: table)
        for module in (searching, thread):
            monkeypatch.setattr(module, "scores_called_for", lambda *told: ("curb_65",) if scores else ())
        monkeypatch.setattr(planning, "lacks", lambda scenario, tier, case: ())
        fresh = replace(case, _memo={})
        return list(plans(fresh, SAFETY, tier, arc, Stream("test", arc_name(arc)), quota or Quota(), ease=ease))

    return run


THREE = (fakes.decision("potassium"), fakes.decision("creatinine", "continue"), fakes.decision("inr"))


# -- scenarios as data -------------------------------------------------------------------------------------------------


def test_there_are_four_scenarios_three_tiers_and_27_arcs() -> None:
    assert scenario_names() == ("diagnostic-workup", "discharge-planning", "medication-safety", "treatment-response")
    assert len(set(ARCS)) == 27
    assert {arc[0] for arc in ARCS} == {"IL"}
    for turn in (1, 2):
        assert [sum(arc[turn] == task for arc in ARCS) for task in ("IL", "DG", "CR")] == [9, 9, 9]
    assert [sum(arc[3] == task for arc in ARCS) for task in ("DG", "CR", "WU")] == [9, 9, 9]
    assert len(scenarios_of("all")) * len(TIERS) * len(ARCS) == 324


def test_a_scenario_goes_by_either_spelling_and_an_unknown_one_is_refused() -> None:
    assert load_scenario("medication_safety").id == "medication-safety"
    with pytest.raises(UsageError, match="no scenario `surgery`"):
        load_scenario("surgery")


def test_scenarios_name_kinds_that_there_are_and_every_type_a_tool_reads() -> None:
    from wardround.sessions.planning.registry import decision_kinds, move_kinds

    for scenario in scenarios_of("all"):
        assert {*scenario.threads, *scenario.decisions} <= set(decision_kinds())
        assert set(scenario.threads) <= set(scenario.decisions)
        for task in ("IL", "DG"):
            assert {kind for kind in scenario.moves.of(task) if kind not in move_kinds()} == set()
            assert all(move_kinds()[kind].task == task for kind in scenario.moves.of(task))
        assert scenario.title.zh


# -- what the record must hold -----------------------------------------------------------------------------------------


def test_evidence_is_counted_from_the_record(case: Case) -> None:
    found = evidence_of(case)
    assert found["labs"] == 7
    assert found["active_orders"] == 2
    assert found["diagnoses"] == 1 and found["organ_systems"] == 1
    assert found["imaging_studies"] == 0 and found["antibiotics"] == 0
    assert found["stay_hours"] == 103
    assert found["survived"] == 1
    assert found["monitored_pairs"] == len(case.view.pairs) >= 2


def test_what_is_missing_is_said_for_the_nearest_alternative(case: Case) -> None:
    found = dict(evidence_of(case))
    discharge = load_scenario("discharge-planning")
    assert missing(discharge.eligibility, found) == ("home drugs: 0, at least 10",)
    assert missing(discharge.eligibility, found | {"active_orders": 3}) == ("home drugs: 0, at least 10",)
    assert missing(discharge.eligibility, found | {"active_orders": 3, "discharge_summaries": 1}) == ()
    assert lacks(load_scenario("diagnostic-workup"), "sparse", case) == (
        "organ systems: 1, at least 2",
        "imaging studies: 0, at least 1",
        "diagnoses: 1, at least 3",
    )


@pytest.mark.parametrize(("drug", "is_one"), [("ceftriaxone", True), ("vancomycin", True), ("warfarin", False)])
def test_antibiotics_are_known_by_what_their_classes_belong_to(drug: str, is_one: bool) -> None:
    assert is_antibiotic(drug) is is_one


@pytest.mark.parametrize(
    ("code", "system"),
    [("I48.91", "circulatory"), ("D64.9", "blood"), ("D12.0", "neoplasm"), ("R07.9", None), ("Z79.01", None),
     ("42731", "circulatory"), ("V5861", None), ("2859", "blood")],
)  # fmt: skip
def test_codes_have_systems_and_symptoms_have_none(code: str, system: str | None) -> None:
    from wardround.sessions.planning.evidence import _system

    assert _system(code, evidence_rules()) == system


def test_most_patients_of_the_hospital_qualify_for_something(mini: ChartStore) -> None:
    found: dict[str, set[str]] = {}
    for patient in mini.patients()[:12]:
        for scenario in scenarios_of("all"):
            for encounter, instant in rounds(mini, patient, scenario.anchor.dated)[:1]:
                case = make_case(mini, patient, encounter, instant, scenario.id, Stream("case", patient))
                for tier in tiers_of(scenario, case):
                    found.setdefault(f"{scenario.id} {tier}", set()).add(patient)
    assert len(found["medication-safety rich"]) >= 6
    assert len(found["diagnostic-workup sparse"]) >= 6


# -- cases -------------------------------------------------------------------------------------------------------------


def test_a_case_at_mid_stay_knows_nothing_later(mini: ChartStore) -> None:
    patient = mini.patients()[1]
    (encounter, instant), *_ = rounds(mini, patient, "mid-stay")
    middle = make_case(mini, patient, encounter, instant, SAFETY.id, Stream("x"))
    (again, end), *_ = rounds(mini, patient, "discharge")
    assert again == encounter and instant < end
    assert all(reading.at <= instant for reading in middle.view.latest.values())
    assert all(fact.source == "simulated" or _known(middle, fact.source) for fact in middle.interview.facts)


def _known(case: Case, source: str) -> bool:
    kind, _, name = source.partition("/")
    return case.snapshot.read(kind, name) is not None


def test_the_physician_calls_a_thing_the_same_all_through_and_only_what_is_understood(mini: ChartStore) -> None:
    from wardround.patients import knowledge

    patient = mini.patients()[1]
    (encounter, instant), *_ = rounds(mini, patient, "mid-stay")
    one = make_case(mini, patient, encounter, instant, SAFETY.id, Stream("x"))
    same = make_case(mini, patient, encounter, instant, SAFETY.id, Stream("x"))
    assert one.casual == same.casual
    for concept, names in one.casual.items():
        for name in (names.en, names.zh):
            assert name is None or knowledge.lexicon().resolve(name).id == concept


def test_what_was_worked_out_for_one_scenario_is_not_kept_for_another(case: Case) -> None:
    evidence_of(case)
    other = for_scenario(case, "discharge-planning")
    assert (
        other.scenario == "discharge-planning"
        and not any(key.startswith("planning.") for key in other._memo)
        and other.view is case.view
    )


# -- plans -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arc", ARCS, ids=arc_name)
def test_every_arc_has_its_tasks_one_interview_and_no_topic_twice(arc: Arc, planned) -> None:
    for plan in planned(arc, "sparse" if "CR" not in arc else "moderate", *THREE):
        assert tuple(move.task for move in plan.moves) == arc
        assert sum(move.source in {"patient", "mixed"} for move in plan.moves) == 1
        assert len({move.topic for move in plan.moves}) == 4
        assert len(frozenset().union(*(move.types for move in plan.moves))) >= 2
        assert plan.chain.on < plan.chain.turn


def test_arcs_are_planned(planned) -> None:
    told = fakes.decision("sodium", fact=fakes.FACT)
    moderate = {arc_name(arc) for arc in ARCS if planned(arc, "moderate", *THREE, told)}
    sparse = {arc_name(arc) for arc in ARCS if planned(arc, "sparse", *THREE, told)}
    assert {"IL-DG-CR-WU", "IL-CR-CR-CR", "IL-IL-IL-CR"} <= moderate
    assert {"IL-DG-DG-DG", "IL-IL-IL-DG", "IL-IL-IL-WU"} <= sparse


def test_the_last_turn_that_reasons_decides_the_thread_and_all_reason_about_other_things(planned) -> None:
    (first, *_) = planned(("IL", "CR", "CR", "CR"), "moderate", *THREE, fakes.decision("sodium", fact=fakes.FACT))
    subjects = [move.decision.subject for move in first.moves if move.task == "CR"]
    assert len(set(subjects)) == 3
    assert first.moves[3].decision == first.thread


def test_an_order_carries_out_what_was_decided_before(planned) -> None:
    for plan in planned(("IL", "IL", "CR", "WU"), "moderate", *THREE):
        assert plan.moves[3].decision in [move.decision for move in plan.moves if move.task == "CR"]
    for plan in planned(("IL", "IL", "IL", "WU"), "sparse", *THREE):
        assert plan.moves[3].decision == plan.thread


def test_what_only_the_patient_can_tell_is_told_first(planned) -> None:
    turned = fakes.decision("potassium", "continue", fact=fakes.FACT, turned=True)
    plans_ = planned(("IL", "IL", "IL", "CR"), "moderate", turned)
    assert plans_
    for plan in plans_:
        heard = [turn for turn, move in enumerate(plan.moves) if move.fact == fakes.FACT]
        assert heard and heard[0] <= 3
    # asked nowhere, so it could not be known
    assert planned(("IL", "IL", "IL", "CR"), "moderate", replace(turned, fact=None)) == []


def test_a_sparse_session_has_single_values_only(planned) -> None:
    for arc in ARCS:
        for plan in planned(arc, "sparse", *THREE):
            assert not frozenset().union(*(move.needs for move in plan.moves)) & {"trend", "formula", "multi"}


def test_a_moderate_session_needs_a_trend_a_score_or_a_threshold(planned) -> None:
    for arc in ARCS:
        for plan in planned(arc, "moderate", *THREE):
            needs = frozenset().union(*(move.needs for move in plan.moves))
            adaptive = any(move.branch is not None for move in plan.moves)
            assert adaptive or needs & {"trend", "formula", "threshold"}


def test_a_rich_session_reads_three_types_and_holds_a_conflict(planned) -> None:
    turned = fakes.decision("potassium", "continue", fact=fakes.FACT, turned=True)
    assert planned(("IL", "IL", "IL", "CR"), "rich", *THREE) == []
    for plan in planned(("IL", "DG", "DG", "CR"), "rich", turned):
        assert any(move.conflict for move in plan.moves)
        assert len(frozenset().union(*(move.types for move in plan.moves))) >= 3


def test_only_a_looser_plan_of_reasoning_alone_reads_two_types(case) -> None:
    def least(arc: Arc, tier: str, ease: bool) -> int:
        opening = fakes.kinds(*THREE)[1][THREE[0].kind].openings(case, THREE[0])
        stream = Stream("test", arc_name(arc))
        made = searching.Search(
            case, SAFETY, tier, arc, THREE[0], next(iter(opening)), stream, Quota(), doses=False, ease=ease
        )
        return made.types_least

    reasoning: Arc = ("IL", "CR", "CR", "CR")
    assert [least(reasoning, "rich", ease) for ease in (False, True)] == [3, 2]
    assert least(("IL", "CR", "DG", "CR"), "rich", True) == 3
    assert least(reasoning, "moderate", True) == 2


def test_where_a_score_can_be_computed_one_turn_does(planned) -> None:
    told = fakes.decision("sodium", fact=fakes.FACT)
    for arc in (("IL", "DG", "IL", "CR"), ("IL", "DG", "CR", "WU")):
        found = planned(arc, "moderate", *THREE, told, scores=True)
        assert found and all(any(move.score for move in plan.moves) for plan in found)
        assert not any(move.score for plan in planned(arc, "sparse", *THREE, scores=True) for move in plan.moves)


def test_without_advice_or_order_a_turn_looks_back_at_the_first_value(planned) -> None:
    for plan in planned(("IL", "IL", "IL", "DG"), "sparse", *THREE):
        assert plan.moves[3].kind == "branch_back"
        assert (plan.chain.turn, plan.chain.on, plan.chain.by) == (3, 0, "branch")


def test_the_edit_that_turns_a_branch_lies_on_the_other_side_of_the_range(case: Case) -> None:
    back = fakes.kinds(*THREE)[0]["branch_back"]
    for lab, value in (("potassium", "4.6"), ("inr", "1.6")):
        (move,) = back.offer(case, fakes.Focus(fakes.decision(lab), frozenset()), Stream("x"))
        held = case.view.latest[lab].level == "high"
        hinge = flipped(case, replace(move, branch=move.branch.model_copy(update={"held": held})))
        assert case.view.latest[lab].text == value
        assert (float(hinge.to) > 5.0) if lab == "potassium" else (0.9 <= float(hinge.to) <= 1.1)


def test_plans_are_the_same_again(planned) -> None:
    one, two = (planned(("IL", "DG", "CR", "WU"), "moderate", *THREE) for _ in range(2))
    assert [plan.moves for plan in one] == [plan.moves for plan in two]


# -- quotas ------------------------------------------------------------------------------------------------------------


def _used(**counts: int) -> Quota:
    quota = Quota()
    quota.used.update({name.replace("__", ":"): count for name, count in counts.items()})
    return quota


def test_a_lab_that_was_asked_too_often_is_refused(planned) -> None:
    often = _used(turns=1000, lab__potassium=10 * LAB_PERCENT + 10)
    arc, told = ("IL", "DG", "CR", "WU"), fakes.decision("potassium", fact=fakes.FACT)
    assert planned(arc, "moderate", told, quota=often) == []
    assert planned(arc, "moderate", told, quota=_used(turns=1000))


def test_the_act_that_is_rarer_comes_first(planned) -> None:
    arc = ("IL", "IL", "DG", "CR")
    changed = planned(arc, "moderate", *THREE, quota=_used(unchanged__yes=45, unchanged__no=55))
    same = planned(arc, "moderate", *THREE, quota=_used(unchanged__yes=30, unchanged__no=70))
    assert changed[0].thread.act == "hold"
    assert same[0].thread.act == "continue"


def test_no_change_is_never_right_in_more_than_half(planned) -> None:
    full = _used(unchanged__yes=52, unchanged__no=50)
    found = planned(("IL", "IL", "DG", "CR"), "moderate", THREE[1], quota=full)
    assert found == []


def test_the_write_that_is_rarest_costs_least(case: Case) -> None:
    quota = _used(task__WU=10)
    quota.used["write:Flag.create"] = 8
    flag = fakes.move("flag", "WU", "write", "a", "Flag.create")
    order = fakes.move("prescribe", "WU", "write", "b", "MedicationRequest.create")
    assert quota.cost("medication-safety", order) < quota.cost("medication-safety", flag)


def test_a_tool_that_few_orders_are_of_is_lacking() -> None:
    quota = _used(task__WU=10)
    quota.used["write:Flag.create"] = 8
    quota.used["write:MedicationRequest.create"] = 2
    flag = fakes.move("flag", "WU", "write", "a", "Flag.create")
    order = fakes.move("prescribe", "WU", "write", "b", "MedicationRequest.create")
    assert quota.lacks_write([flag, order]) and not quota.lacks_write([flag]) and not quota.lacks_write([])


def test_counts_follow_what_was_made() -> None:
    from wardround.sessions.session import Query
    from wardround.sessions.wording.worded import EXPLICIT, Worded

    quota = Quota()
    moves = [fakes.move("lab", "IL", "ehr", "potassium", "Observation.search", labs=("potassium",))] * 4
    worded = [Worded(Query(), None, (), ("a",)), *(Worded(Query(), kind, (), ("b",)) for kind in ("NA", "PE", None))]
    quota.note("medication-safety", moves, worded)
    used: Mapping[str, int] = quota.used
    assert (used["turns"], used["lab:potassium"], used["NA"], used["PE"], used[EXPLICIT], used["b"]) == (
        4,
        4,
        1,
        1,
        1,
        3,
    )


def test_a_looser_plan_needs_no_score_where_the_strict_one_does(planned) -> None:
    arc: Arc = ("IL", "DG", "DG", "CR")
    assert planned(arc, "moderate", *THREE, scores=True, ease=True)
    strict = planned(arc, "moderate", *THREE, scores=True)
    assert all(any(move.score is not None for move in plan.moves) for plan in strict)


def test_a_record_in_which_nothing_pulls_two_ways_is_rich_by_two_doses_only(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm = replace(case, interview=case.interview.model_copy(update={"facts": ()}), _memo={"planning.decisions": ()})
    rich = [arc for arc in ARCS if offering.may_be_rich(calm, SAFETY, arc)]
    doses = [arc for arc in ARCS if arc[-1] == "WU" and "CR" not in arc]
    assert rich == (doses if "egfr" in calm.view.latest else [])
    told = case.interview.model_copy(update={"facts": (fakes.FACT,)})
    torn = replace(case, interview=told, _memo={"planning.decisions": ()})
    assert offering.untaken(torn) == {"alpha"}
    assert [arc for arc in ARCS if offering.may_be_rich(torn, SAFETY, arc)] == rich, "no thread is about the drug"
    monkeypatch.setattr(offering, "near_drugs", lambda case, thread: frozenset({"alpha"}))
    monkeypatch.setattr(offering, "pulled", lambda case, decision: False)
    torn = replace(case, interview=told, _memo={"planning.decisions": (fakes.decision("potassium"),)})
    assert {arc for arc in ARCS if "DG" in arc} <= {arc for arc in ARCS if offering.may_be_rich(torn, SAFETY, arc)}

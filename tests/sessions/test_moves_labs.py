"""Turns about labs, vital signs and trends, and adaptive ones: each proves itself over the hospital's charts."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import islice

import pytest
from session_moves import PREPARE, case_of, faults, play, rounds, session_of

from wardround.patients import ChartStore, StoreWriter, Stream, knowledge
from wardround.patients.knowledge import Names
from wardround.rubrics import check_answer, score
from wardround.sessions.common import common
from wardround.sessions.decisions.decision import Decision, Hinge
from wardround.sessions.gold import play_gold
from wardround.sessions.moves import branches, labs
from wardround.sessions.moves.adherence import adherence_fact, adherence_move
from wardround.sessions.moves.branch_back import branch_back
from wardround.sessions.moves.branch_rules import LabBranch, branch_rules
from wardround.sessions.moves.drugs import dose_move
from wardround.sessions.moves.move import Focus
from wardround.sessions.moves.nearness import companions_of, near_labs
from wardround.sessions.moves.trends import trend_call, trend_of, trends
from wardround.sessions.record import Reading

_NONE = Names(en="nothing", zh="无")


def focus_on(case, lab):
    reading = case.view.latest[lab]
    decision = Decision(
        kind="lab",
        rules=(),
        subject=lab,
        act="continue",
        unchanged=True,
        accepted=(("continue", "x"),),
        avoid=("stop", "x"),
        finding=_NONE,
        advice=_NONE,
        hinge=Hinge("quantity", reading.keys, "1"),
        reading=reading,
    )
    return Focus(decision, frozenset({lab}))


@pytest.fixture(scope="module")
def sample(mini_store):
    found = []
    for patient in sorted(mini_store.patients())[:4]:
        for encounter, instant in rounds(mini_store, patient)[-2:]:
            case = case_of(mini_store, patient, encounter, instant)
            if case.view.latest:
                found.append(case)
    return found


def offered(case, limit=1):
    stream = Stream("test", case.view.patient, case.anchor)
    lab = stream.choice(sorted(case.view.latest))
    focus = focus_on(case, lab)
    for kind in (*labs.KINDS, *branches.KINDS):
        for move in islice(kind.offer(case, focus, stream), limit):
            assert (move.kind, move.task, move.source) == (kind.kind, kind.task, kind.source)
            yield move


def test_every_kind_is_sound_on_hospital_charts(sample):
    seen = Counter()
    for case in sample:
        moves = list(offered(case))
        play(case, moves)
        seen.update(move.kind for move in moves)
    kinds = {kind.kind for kind in (*labs.KINDS, *branches.KINDS)}
    assert set(seen) == kinds
    assert min(seen[kind] for kind in ("lab", "vital", "labs", "trend", "branch")) >= 5


def test_what_was_asked_is_not_asked_again(sample):
    for case in sample:
        stream = Stream("busy", case.view.patient)
        lab = stream.choice(sorted(case.view.latest))
        focus = focus_on(case, lab)
        for kind in (*labs.KINDS, *branches.KINDS):
            assert all(lab not in move.labs for move in islice(kind.offer(case, focus, stream), 3))


def test_the_same_stream_offers_the_same(sample):
    for case in sample[:2]:
        assert [move.topic for move in offered(case, 3)] == [move.topic for move in offered(case, 3)]


def test_companions_stand_near(sample):
    case = next(case for case in sample if {"potassium", "creatinine", "sodium"} <= set(case.view.latest))
    focus = focus_on(case, "potassium")
    near = [one.lab for one in near_labs(case, focus, Stream("near"))]
    assert "potassium" not in near
    assert len(near) == len(set(near)) >= 5
    wanted = set(common().companions["potassium"]) & set(case.view.latest)
    assert set(near[: len(wanted)]) == wanted
    assert {one.lab for one in companions_of(case, focus, "potassium", Stream("two"))} == wanted


# -- data --------------------------------------------------------------------------------------------------------------


def test_companions_and_names_are_labs_of_the_knowledge_base():
    known = knowledge.labs()
    for lab, others in common().companions.items():
        assert lab == "*" or known[lab].kind == "lab"
        assert lab not in others
        assert len(set(others)) == len(others) >= 2
        assert all(known[other].kind == "lab" for other in others)
    assert len(common().companions) >= 60


def test_names_on_rounds_mean_their_concept():
    lexicon = knowledge.lexicon()
    for concept, names in common().casual.items():
        for name in names:
            assert name.zh
            for words in (name.en, name.zh):
                found = lexicon.resolve(words)
                assert found is not None, words
                assert found.id == concept, words
    assert len(common().casual) >= 40


def test_rules_of_branches():
    known, drugs = knowledge.labs(), knowledge.drugs()
    rules = branch_rules()
    assert len(set(rules.labs)) == len(rules.labs) >= 100
    for rule in rules.labs:
        assert len({rule.lab, rule.then, rule.otherwise}) == 3
        assert all(known[lab].kind == "lab" for lab in (rule.lab, rule.then, rule.otherwise))
    for rule in rules.drugs:
        assert known[rule.lab].kind == "lab"
        assert set(rule.drugs) <= set(drugs)
    assert rules.of_drug("warfarin")
    assert not rules.of_lab("nothing")


# -- trends ------------------------------------------------------------------------------------------------------------


def series(*texts, unit="mg/dL"):
    return tuple(
        Reading("creatinine", "creatinine", Decimal(text), text, unit, at, "normal", (f"Observation/{at}",), "肌酐")
        for at, text in enumerate(texts)
    )


@pytest.mark.parametrize(
    ("texts", "direction"),
    [
        (("1.0", "1.4", "1.9"), "rising"),
        (("1.9", "1.9", "1.0"), "falling"),
        (("138", "140", "141"), "stable"),
        (("0.8", "0.9"), None),  # one unit of the last decimal is no rise
        (("0.8", "1.1"), "rising"),
        (("0.80", "0.90"), None),  # in its range: noise
        (("0.80", "1.02"), "rising"),
        (("19", "22"), None),
        (("1.0", "2.0", "1.5"), None),
        (("1.00", "1.05"), None),  # neither a rise nor the same
        (("1.0",), None),
        (tuple(["1.0"] * 21), None),  # more than a page of a search holds
    ],
)
def test_trend_of(texts, direction):
    found = trend_of(series(*texts), common())
    assert (found.direction if found else None) == direction
    if found:
        assert (found.first.text, found.last.text) == (texts[0], texts[-1])


def test_no_series_has_no_trend():
    assert trend_of(None, common()) is None


def test_the_series_is_what_a_search_of_the_stay_finds(sample):
    seen = 0
    for case in sample:
        for trend in islice(trends(case).values(), 4):
            other = next(one for one in case.view.latest.values() if one.lab != trend.last.lab)
            move = labs.trend_and_lab(case, trend, other)
            played = next(iter(play_gold(session_of(case, [move]), case.snapshot.chart)))
            assert played.results[0].tool == trend_call(case, trend).tool
            assert set(played.results[0].resources) == {key for one in trend.readings for key in one.keys}
            seen += 1
    assert seen >= 10


# -- vital signs -------------------------------------------------------------------------------------------------------


def store_of(builder, path):
    with StoreWriter(path, licence="synthetic", provenance={"source": "tests"}) as writer:
        writer.add(builder.chart().patient_id, builder.resources(), None)
    return ChartStore.open(path)


@pytest.fixture
def case_from(tmp_path):
    def make(builder):
        store = store_of(builder, tmp_path / f"charts-{len(list(tmp_path.iterdir()))}.sqlite")
        patient = store.patients()[0]
        encounter, instant = rounds(store, patient)[-1]
        return case_of(store, patient, encounter, instant)

    return make


def test_a_pressure_is_asked_as_a_pair(stay, case_from):
    stay.vital("Blood Pressure", "120/80", "mmHg", at="2030-03-07T06:00:00Z", encounter="stay-1")
    stay.vital("Blood Pressure", "132/84", "mmHg", at="2030-03-08T06:00:00Z", encounter="stay-1")
    case = case_from(stay)
    move = labs.latest_vital(case, "blood_pressure")
    assert move is not None
    assert move.answer.en == "Blood pressure 132/84 mmHg."
    assert move.answer.zh == "血压132/84 mmHg。"
    assert not any(item.check.kind == "status" for item in move.rubric)
    play(case, [move])
    assert rewards(case, move, "Blood pressure 120/80 mmHg.") < 0.5


def test_a_vital_sign_is_read_against_the_range_of_the_chart_only(stay, case_from):
    stay.vital("Heart Rate", "112", "/min", at="2030-03-08T06:00:00Z", low="60", high="100", encounter="stay-1")
    stay.vital("Weight", "70.5", "kg", at="2030-03-08T06:00:00Z", encounter="stay-1")
    case = case_from(stay)
    fast, weight = labs.latest_vital(case, "heart_rate"), labs.latest_vital(case, "weight")
    assert fast is not None
    assert weight is not None
    assert fast.answer.en == "Heart rate 112/min, ↑ high."
    assert weight.answer.en == "Weight 70.5 kg."
    play(case, [fast])
    play(case, [weight])
    assert labs.latest_vital(case, "temperature") is None
    assert labs.latest_vital(case, "blood_pressure") is None


# -- branches ----------------------------------------------------------------------------------------------------------


RULE = LabBranch(lab="potassium", test="low", then="magnesium", otherwise="creatinine")


def rewards(case, move, answer, language="en"):
    """Return what an answer earns with the gold calls of a move."""
    session = session_of(case, [move])
    played = next(iter(play_gold(session, case.snapshot.chart, language)))
    return score(played.turn.spec(session.family), answer, played.trace).reward


def test_another_result_leads_to_another_lab(make_builder, case_from):
    low = {"Potassium": [("03-04", "3.9"), ("03-08", "3.0")]}
    usual = branches.branch(case_from(make_builder()), RULE)
    assert usual is not None
    case = case_from(make_builder(labs=low))
    changed = branches.branch(case, RULE)
    assert changed is not None
    assert (usual.branch.held, changed.branch.held) == (False, True)
    assert [call.arguments["code"] for call in usual.calls] == ["potassium", "creatinine"]
    assert [call.arguments["code"] for call in changed.calls] == ["potassium", "magnesium"]
    assert usual.branch.other == changed.calls[1:]
    assert changed.branch.other == usual.calls[1:]
    assert changed.words["test"].zh == "偏低"
    play(case, [changed])


def test_only_the_right_branch_is_paid(make_builder, case_from):
    case = case_from(make_builder())
    move = branches.branch(case, RULE)
    assert move is not None
    right = rewards(case, move, move.answer.en)
    both = rewards(case, move, f"{move.answer.en}\n- Magnesium 2.0 mg/dL, normal.")
    wrong = rewards(case, move, "- Potassium 4.6 mmol/L, normal.\n- Magnesium 2.0 mg/dL, normal.")
    assert right == 1.0
    assert both < 0.5
    assert wrong < 0.5


@pytest.mark.parametrize(
    ("values", "held", "follows"),
    [
        (("3.9", "4.6"), False, "creatinine"),  # it rose, so it did not fall
        (("4.9", "4.2"), True, "magnesium"),
        (("4.6", "4.6"), False, "creatinine"),
    ],
)
def test_where_a_lab_that_was_told_came_from_decides(make_builder, case_from, values, held, follows):
    days = ("03-04", "03-08")
    case = case_from(make_builder(labs={"Potassium": list(zip(days, values, strict=True))}))
    move = branch_back(case, RULE)
    assert move is not None
    assert (move.kind, move.labs, move.words["test"].en) == ("branch_back", (follows,), "down")
    assert (move.branch.test, move.branch.held) == ("falling", held)
    assert f"from {values[0]} to {values[1]}" in str(move.answer.en) or values[0] == values[1]
    assert [item.id for item in move.rubric if item.id.endswith("-potassium")] == ["way-potassium"]
    play(case, [labs.latest_lab(case, case.view.latest["potassium"]), move])


def test_only_one_way_back_is_paid(make_builder, case_from):
    case = case_from(make_builder(labs={"Potassium": [("03-04", "3.9"), ("03-08", "4.6")]}))
    move = branch_back(case, RULE)
    assert move is not None
    both = f"{move.answer.en}\n- Magnesium 2.0 mg/dL, normal."
    assert rewards(case, move, both) < 0.5
    way, value = str(move.answer.en).splitlines()
    assert way == "- Potassium rose from 3.9 to 4.6 mmol/L."
    assert rewards(case, move, f"- Potassium went up.\n{value}") == 1.0
    assert rewards(case, move, f"- Potassium 4.6 mmol/L, before that 3.9 mmol/L.\n{value}") == 1.0
    assert rewards(case, move, f"- Potassium is falling.\n{value}") < 1.0
    assert rewards(case, move, value) < 1.0


@pytest.mark.parametrize("values", [("4.6",), ("4.5", "4.6"), ("3.9", "4.9", "4.4")])
def test_no_way_is_asked_for_where_it_could_be_argued(make_builder, case_from, values):
    days = ("03-04", "03-06", "03-08")[-len(values) :]
    case = case_from(make_builder(labs={"Potassium": list(zip(days, values, strict=True))}))
    assert branch_back(case, RULE) is None


def test_what_a_drug_aims_at_decides_no_branch(make_builder, case_from):
    case = case_from(make_builder())
    assert case.view.latest["inr"].target is not None
    rule = LabBranch(lab="inr", test="high", then="hemoglobin", otherwise="platelets")
    assert branches.branch(case, rule) is None
    bare = case_from(make_builder(Lisinopril="10 mg"))
    assert branches.branch(bare, rule) is not None


def test_a_lab_just_told_is_no_condition_for_asking_about_a_drug(make_builder, case_from):
    case = case_from(make_builder(labs={"Potassium": [("03-08", "5.6")]}))
    offer = next(one for one in branches.KINDS if one.kind == "branch_ask").offer
    asked = {move.branch.on for move in offer(case, focus_on(case, "potassium"), Stream("ask")) if move.branch}
    assert "potassium" not in asked


@pytest.mark.parametrize(
    ("value", "words", "passes"),
    [
        ("2.5", "INR 2.5, therapeutic.", True),
        ("2.5", "INR 2.5, in range (target 2 to 3).", True),
        ("2.5", "INR 2.5, high.", True),
        ("2.5", "INR 2.5, low.", False),
        ("3.0", "INR 3.0，在2～3的目标范围内。", True),
        ("3.9", "INR 3.9，高于2～3的目标范围。", True),
        ("3.9", "INR 3.9, therapeutic.", False),
        ("1.6", "INR 1.6, below the therapeutic range.", True),
    ],
)
def test_a_lab_that_a_drug_is_dosed_by_reads_against_its_target_too(make_builder, case_from, value, words, passes):
    case = case_from(make_builder(labs={"INR": [("03-08", value)]}))
    move = labs.latest_lab(case, case.view.latest["inr"])
    check = next(item.check for item in move.rubric if item.id == "status-inr")
    assert check_answer(check, words, language="en" if words.isascii() else "zh").passed is passes
    assert "therapeutic range of 2 to 3" in str(move.answer.en)
    play(case, [move])


def test_no_branch_without_both_ways(make_builder, case_from):
    case = case_from(make_builder())
    absent = LabBranch(lab="potassium", test="low", then="phosphate", otherwise="creatinine")
    assert branches.branch(case, absent) is None


@pytest.mark.parametrize(
    ("test", "level", "held"),
    [("high", "high", True), ("high", "low", False), ("abnormal", "low", True), ("abnormal", "normal", False)],
)
def test_holds(test, level, held):
    assert branches.holds(test, level) is held


def test_the_patient_is_asked_or_the_order_looked_up(make_builder, case_from):
    for value, kind, source in (("190", "branch_ask", "mixed"), ("80", "branch_order", "ehr")):
        chart = make_builder(Atorvastatin="40 mg")
        chart.lab("LDL cholesterol", value, "mg/dL", at="2030-03-08T06:00:00Z", low="0", high="129", encounter="stay-1")
        case = case_from(chart)
        offer = next(one for one in branches.KINDS if one.kind == kind).offer
        move = next(one for one in offer(case, focus_on(case, "sodium"), Stream("ask")) if "drug" in one.slots)
        assert move.source == source
        assert faults(case, [move]) == []
        assert {move.calls[1].tool, move.branch.other[0].tool} == {
            "MedicationRequest.search",
            "patient.get_medication_adherence",
        }
        assert all(call.tool != PREPARE for call in move.calls)
        order = case.view.orders[move.slots["drug"].id]
        fact = adherence_fact(case, order.drug)
        assert fact is not None
        ways = {"branch_ask": dose_move(case, order), "branch_order": adherence_move(case, order, fact)}
        assert rewards(case, move, f"{move.answer.en}\n{ways[kind].answer.en}") <= 0.9


@pytest.mark.parametrize(
    ("before", "found"),
    [("3.0", "rising"), ("2.0", "rising"), ("6.9", None)],
)
def test_a_series_may_begin_with_the_emergency_department_or_after_it(make_builder, case_from, before, found):
    builder = make_builder(labs={"Potassium": [("03-04", "3.1"), ("03-08", "4.6")]})
    builder.encounter("ed-1", "EMER", "2030-03-04T02:00:00Z", "2030-03-04T05:00:00Z")
    whole = next(resource for resource, *_ in builder._resources if resource["id"] == "ed-1")
    whole["partOf"] = {"reference": "Encounter/stay-1"}
    early = {"at": "2030-03-04T03:00:00Z", "low": "3.5", "high": "5.0", "encounter": "ed-1"}
    builder.lab("Potassium", before, "mmol/L", **early)
    case = case_from(builder)
    trend = trends(case).get("potassium")
    assert (trend.direction if trend else None) == found
    if trend is not None:
        move = labs.trend_and_lab(case, trend, case.view.latest["sodium"])
        play(case, [move])
        first = f"from {before} to"
        assert first in str(move.answer.en)
        assert rewards(case, move, str(move.answer.en).replace(first, "from 3.1 to")) == 1.0
        assert rewards(case, move, str(move.answer.en).replace(first, "from 3.8 to")) < 1.0

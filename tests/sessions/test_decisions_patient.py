"""Decisions on what the patient says: side effects of drugs and needs at home; the hinge turns them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from patient_case import case_of, fact, life, taking
from session_moves import play

from wardround.patients import Stream, knowledge
from wardround.patients.knowledge import Names
from wardround.rubrics import AdviceCheck, check_answer
from wardround.sessions.decisions import home, side_effect
from wardround.sessions.decisions.home import home_rules
from wardround.sessions.moves.patient_parts import daily_life
from wardround.sessions.planning.case import make_case, rounds
from wardround.sessions.record_others import Named

PLAN = Named("followup", ("CarePlan/c1",), ("neurology",), (Names(en="neurology", zh="神经内科"),))
COUGH = fact("fx", "symptom", "dry_cough", drug="lisinopril")
DIZZY = fact("s1", "symptom", "dizziness", source="simulated")


def decided(case):
    return list(side_effect.KIND.threads(case, Stream("test", 1)))


def test_a_cough_on_an_ace_inhibitor_asks_for_another_drug():
    case = case_of([COUGH, taking("lisinopril")])
    (decision,) = decided(case)
    assert (decision.act, decision.turned, decision.unchanged) == ("switch", True, False)
    (move,) = side_effect.KIND.decides(case, decision, True)
    play(case, [move])
    advice = next(one for one in move.rubric if one.id == "advice")
    assert check_answer(advice.check, "Switch lisinopril to losartan.", language="en").passed
    assert check_answer(advice.check, "建议停用赖诺普利。", language="zh").passed
    assert not check_answer(advice.check, "Continue lisinopril.", language="en").passed


def test_the_hinge_turns_it():
    case = case_of([COUGH, taking("lisinopril")])
    (decision,) = decided(case)
    assert decision.hinge.keys == ("fact/fx",)
    denied = COUGH.model_copy(update={"polarity": decision.hinge.to})
    (other,) = decided(case_of([denied, taking("lisinopril")]))
    assert (other.act, other.unchanged, other.turned, other.hinge.to) == ("continue", True, False, "present")


def test_what_is_asked_earlier_is_decided_later_without_asking_again():
    case = case_of([COUGH, taking("lisinopril")])
    (decision,) = decided(case)
    ask = next(iter(side_effect.KIND.asks(case, decision)))
    (told,) = side_effect.KIND.decides(case, decision, False)
    assert [call.tool for call in told.calls] == ["MedicationRequest.search"]
    play(case, [ask, told])
    for write in side_effect.KIND.writes(case, decision):
        play(case, [ask, told, write])


@pytest.mark.parametrize(
    "facts",
    [
        [COUGH],
        [COUGH, taking("lisinopril", "stopped")],
        [COUGH.model_copy(update={"drug": None, "source": "Condition/c1"}), taking("lisinopril")],
        [DIZZY.model_copy(update={"drug": "amlodipine"}), taking("lisinopril")],
    ],
    ids=["never said to be taken", "stopped", "an illness explains it", "the patient puts it down to another drug"],
)
def test_a_drug_is_not_blamed_without_cause(facts):
    assert decided(case_of(facts)) == []


@pytest.mark.parametrize(("pressure", "act"), [("92", "hold"), ("126", "continue"), ("104", None), ("110", None)])
def test_the_pressure_decides_what_dizziness_means(pressure, act):
    found = decided(case_of([DIZZY, taking("lisinopril")], pressure=pressure))
    assert [one.act for one in found] == ([] if act is None else [act])
    if act is not None:
        case = case_of([DIZZY, taking("lisinopril")], pressure=pressure)
        (move,) = side_effect.KIND.decides(case, found[0], True)
        assert move.kind == "decide_symptom_lab"
        play(case, [move])
        assert found[0].hinge.kind == "quantity"
        (turned,) = decided(case_of([DIZZY, taking("lisinopril")], pressure=found[0].hinge.to))
        assert turned.act != act
        assert list(side_effect.KIND.decides(case, found[0], False)) == []


@pytest.mark.parametrize(
    ("words", "passes"),
    [
        ("Systolic blood pressure 126 mmHg, above 110 mmHg.", True),
        ("Systolic blood pressure 126 mmHg, normal.", True),
        ("Systolic blood pressure 126 mmHg, not low.", True),
        ("收缩压126 mmHg，没有低血压。", True),
        ("Systolic blood pressure 126 mmHg, low.", False),
        ("Systolic blood pressure 126 mmHg.", False),
    ],
)
def test_a_pressure_is_placed_in_words_too(words, passes):
    case = case_of([DIZZY, taking("lisinopril")], pressure="126")
    (move,) = side_effect.KIND.decides(case, decided(case)[0], True)
    check = next(one.check for one in move.rubric if one.id == "finding-systolic_bp")
    assert check_answer(check, words, language="en" if words.isascii() else "zh").passed is passes


def test_no_dizziness_with_a_low_pressure_is_left_to_others():
    denied = DIZZY.model_copy(update={"polarity": "absent"})
    assert decided(case_of([denied, taking("lisinopril")], pressure="92")) == []
    assert [one.act for one in decided(case_of([denied, taking("lisinopril")]))] == ["continue"]


@pytest.mark.parametrize(
    ("words", "passes"),
    [
        ("The patient reports a dry cough, a known side effect of lisinopril. Switch to losartan.", True),
        ("The patient reports a dry cough; it is not due to lisinopril. Switch to losartan.", False),
        ("患者说有干咳，和赖诺普利有关。建议停用赖诺普利。", True),
        ("患者说有干咳，和赖诺普利没有关系。建议停用赖诺普利。", False),
    ],
)
def test_whether_the_drug_is_behind_it_is_asked_and_judged_and_no_dose(words, passes):
    case = case_of([COUGH, taking("lisinopril")])
    (decision,) = decided(case)
    for ask in (True, False):
        (move,) = side_effect.KIND.decides(case, decision, ask)
        items = {one.id: one for one in move.rubric}
        assert not any(one.startswith(("dose-", "drug-")) for one in items)
        assert check_answer(items["cause"].check, words, language="en" if words.isascii() else "zh").passed is passes


ACHE = fact("fx", "symptom", "muscle_pain", drug="atorvastatin")


@pytest.mark.parametrize(
    ("words", "passes"),
    [
        ("Hold atorvastatin and check CK.", True),
        ("Switch atorvastatin to rosuvastatin and get a CK level.", True),
        ("Hold atorvastatin.", False),
        ("Check CK.", False),
        ("先停阿托伐他汀，查CK。", True),
        ("先停阿托伐他汀。", False),
    ],
)
def test_all_of_the_advice_is_wanted(words, passes):
    case = case_of([ACHE, taking("atorvastatin")], Atorvastatin="40 mg")
    (decision,) = decided(case)
    (move,) = side_effect.KIND.decides(case, decision, True)
    check = next(one.check for one in move.rubric if one.id == "advice")
    assert check_answer(check, words, language="en" if words.isascii() else "zh").passed is passes


@pytest.mark.parametrize(
    ("words", "passes"),
    [
        ("The muscle pain may be due to atorvastatin.", True),
        ("The muscle pain is likely due to atorvastatin.", True),
        ("肌肉疼痛可能与阿托伐他汀有关。", True),
        ("The muscle pain is unlikely to be due to atorvastatin.", False),
    ],
)
def test_a_drug_that_may_be_behind_it_is_enough(words, passes):
    case = case_of([ACHE, taking("atorvastatin")], Atorvastatin="40 mg")
    (move,) = side_effect.KIND.decides(case, decided(case)[0], True)
    check = next(one.check for one in move.rubric if one.id == "cause")
    assert check_answer(check, words, language="en" if words.isascii() else "zh").passed is passes


def test_a_drug_is_not_blamed_for_what_is_denied():
    denied = COUGH.model_copy(update={"polarity": "absent"})
    case = case_of([denied, taking("lisinopril")])
    (decision,) = decided(case)
    (move,) = side_effect.KIND.decides(case, decision, True)
    check = next(one.check for one in move.rubric if one.id == "no-cause")
    assert not check_answer(check, "Dry cough caused by lisinopril.", language="en").passed
    assert check_answer(check, str(move.answer.en), language="en").passed


def test_a_safety_item_speaks_either_language():
    case = case_of([COUGH, taking("lisinopril")])
    (decision,) = decided(case)
    (move,) = side_effect.KIND.decides(case, decision, True)
    text = next(one.text for one in move.rubric if one.id == "no-danger")
    assert str(text.zh).isascii() is False and not any(char.isascii() and char.isalpha() for char in str(text.zh))
    assert text.en == "Does not advise to increase lisinopril."


# -- home --------------------------------------------------------------------------------------------------------------


def told(**changed):
    return dict(daily_life(case_of(life(**changed))))


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({}, "manages"),
        ({"falls": "fall"}, "falls"),
        ({"living": "lives_alone", "care": "adl_dependent"}, "alone-needs-help"),
        ({"living": "lives_alone", "care": "adl_dependent", "falls": "fall"}, "alone-needs-help"),
        ({"living": "lives_alone", "walking": "uses_walker"}, "alone-walking-aid"),
        ({"care": "adl_dependent"}, "dependent-with-family"),
        ({"walking": "uses_walker"}, None),
    ],
)
def test_the_first_rule_that_holds_is_right(changed, rule):
    found = next((one for one in home_rules() if one.holds(told(**changed))), None)
    assert (None if found is None else found.id) == rule


def test_rules_name_services_that_there_are():
    for rule in home_rules():
        for service in (rule.service, *rule.accepted):
            assert service in knowledge.findings(), (rule.id, service)


def test_without_a_follow_up_plan_there_is_no_decision():
    assert list(home.KIND.threads(case_of(life(falls="fall")), Stream("t"))) == []


def test_refusing_help_is_not_advising_it():
    names = home.service_names("home_health")
    assert names == Names(en="home health", zh="居家护理")
    advice = AdviceCheck(act="refer", target=names.en)
    assert check_answer(advice, "Refer her to home health.", language="en").passed
    assert check_answer(advice, "建议安排居家护理。", language="zh").passed
    assert not check_answer(advice, "Does she need home health?", language="en").passed


def test_decisions_of_the_hospital_hold(mini_store):
    """Every move of some decisions of both kinds passes the gates, and acts differ."""
    acts, kinds = set(), set()
    for patient_id in mini_store.patients()[:8]:
        encounter, instant = rounds(mini_store, patient_id, "discharge")[0]
        case = make_case(mini_store, patient_id, encounter, instant, "discharge_planning", Stream("t", patient_id))
        for kind in (side_effect.KIND, home.KIND):
            for decision in list(kind.threads(case, Stream("t", patient_id)))[:1]:
                acts.add(decision.act)
                kinds.add(decision.kind)
                ask = next(iter(kind.asks(case, decision)))
                play(case, [*kind.decides(case, decision, True), *list(kind.writes(case, decision))[:1]])
                play(case, [ask, *kind.decides(case, decision, False)])
                assert replace(decision) == decision
    assert kinds == {"side_effect", "home"}
    assert len(acts) >= 2


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("Refer to physical therapy before discharge.", True),
        ("I would get occupational therapy involved before discharge: refer to occupational therapy.", True),
        ("No referral to physical therapy is needed.", False),
        ("Continue the discharge plan unchanged.", False),
    ],
)
def test_somebody_who_falls_is_referred(said, right):
    decision = home._decision(home_rules()[1], [told(falls="fall")["falls"]], PLAN)
    case = case_of(life(falls="fall"))
    move = home.decide_home_move(case, decision, PLAN, [told(falls="fall")["falls"]], home.FUNCTION_TOOL, ask=True)
    advice = next(one for one in move.rubric if one.id == "advice")
    assert check_answer(advice.check, said, language="en").passed is right


@pytest.mark.parametrize(
    ("words", "passes"),
    [
        ("No further referral needed.", True),
        ("不用再转介。", True),
        ("无需转介。", True),
        ("Continue the discharge plan unchanged.", True),
        ("Refer to physical therapy.", False),
        ("建议转介居家护理。", False),
    ],
)
def test_nothing_more_is_needed_may_be_said_as_it_was_asked(words, passes):
    case = case_of(life())
    rule = next(one for one in home_rules() if one.id == "manages")
    decision = home._decision(rule, list(told().values()), PLAN)
    (move,) = home.KIND.decides(case, decision, False)
    check = next(one.check for one in move.rubric if one.id == "advice")
    assert check_answer(check, words, language="en" if words.isascii() else "zh").passed is passes
    counted = [one.id for one in move.rubric if one.id.startswith("says")]
    assert counted == ["says"]

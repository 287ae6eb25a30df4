"""Turns that ask the patient: what is asked is told without doubt, and read in both languages."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest
from patient_case import case_of, fact, focus, life, taking
from session_moves import play, session_of

from wardround.patients import Stream
from wardround.rubrics import GroundedCheck, check_answer
from wardround.sessions.gold import play_gold
from wardround.sessions.moves import patient
from wardround.sessions.moves.patient import function_told, life_move, pain_move, relieves_pain, symptom_move
from wardround.sessions.moves.patient_parts import Pain, daily_life, pain, symptoms
from wardround.sessions.planning.case import make_case, rounds

COUGH = fact("s1", "symptom", "dry_cough")


def offered(case, kind, *busy, most=3):
    offer = next(one.offer for one in patient.KINDS if one.kind == kind)
    return list(islice(offer(case, focus(*busy), Stream("test", 1)), most))


def test_a_symptom_is_conveyed_as_told_in_both_languages():
    case = case_of([COUGH, fact("s2", "symptom", "nausea", "absent")])
    for concept in ("dry_cough", "nausea"):
        move = symptom_move(case, symptoms(case)[concept])
        play(case, [move])
    says = next(one for one in symptom_move(case, symptoms(case)["dry_cough"]).rubric if one.id.startswith("says-"))
    for wrong in ("The patient denies dry cough.", "Dry cough is charted.", "The patient reports fever."):
        assert not check_answer(says.check, wrong, language="en").passed, wrong
    for right in ("She says she has a dry cough.", "The patient reports a nagging dry cough at night."):
        assert check_answer(says.check, right, language="en").passed, right


@pytest.mark.parametrize("kind", ["symptom", "complaint"])
def test_a_symptom_told_both_ways_is_not_asked(kind):
    case = case_of([COUGH, fact("s2", kind, "dry_cough", "absent")])
    assert symptoms(case) == {}


def test_a_wider_symptom_told_otherwise_is_not_asked_either():
    case = case_of([COUGH, fact("s2", "symptom", "cough", "absent")])
    assert "dry_cough" not in symptoms(case)
    assert "cough" not in symptoms(case)


def test_signs_and_family_history_are_no_symptoms_to_ask():
    case = case_of([fact("s1", "symptom", "family_history_cad"), fact("s2", "symptom", "dry_cough")])
    assert set(symptoms(case)) == {"dry_cough"}


def test_pain_is_asked_where_a_number_is_told_and_known_to_be_of_now():
    told = fact("p", "pain", "knee_pain", attributes={"score": "6", "worst": "8"}, source="Observation/x")
    case = case_of([replaced := told.model_copy(update={"source": "simulated"})], text="a 6")
    move = pain_move(case, pain(case))
    play(case, [move])
    assert "6/10" in move.answer.en
    assert pain(case_of([replaced], text="quite bad")) is None, "no number is told"
    worst = told.model_copy(update={"attributes": {"score": "8", "worst": "8"}, "source": "Condition/x"})
    assert pain(case_of([worst], text="an 8")) is None, "only the worst is told"


def test_another_pain_score_fails():
    case = case_of([fact("p", "pain", "pain", attributes={"score": "6"})], text="a 6")
    move = pain_move(case, pain(case))
    says = next(one for one in move.rubric if one.id == "says-pain")
    assert not check_answer(says.check, "The patient rates the pain 7/10 right now.", language="en").passed
    assert not check_answer(says.check, "患者说现在疼痛评分7分。", language="zh").passed


def test_daily_life_is_told_with_what_is_denied_last():
    case = case_of(life(walking="uses_walker", care="adl_dependent"))
    move = life_move(case, "function", function_told(case))
    play(case, [move])
    assert move.answer.en == (
        "The patient says she walks with a walker, needs help with daily activities "
        "and has had no falls in the past year."
    )
    assert move.turned
    assert not life_move(case_of(life()), "function", function_told(case_of(life()))).turned


def test_falling_is_not_the_same_as_not_falling():
    case = case_of(life(falls="fall"))
    says = next(one for one in life_move(case, "function", function_told(case)).rubric if one.id == "says-falls")
    assert check_answer(says.check, "The patient says she fell twice this year.", language="en").passed
    assert not check_answer(says.check, "The patient says she has had no falls.", language="en").passed
    assert not check_answer(says.check, "患者说没有摔倒过。", language="zh").passed


def test_nothing_is_asked_of_somebody_without_a_pronoun():
    case = case_of(life())
    unknown = replace(case, view=replace(case.view, sex="unknown"), _memo={})
    for kind in ("function", "social", "home"):
        assert offered(case, kind) or kind == "social"
        assert offered(unknown, kind) == []


def test_what_was_asked_is_not_offered_again():
    case = case_of([COUGH, *life()])
    assert offered(case, "symptom")
    assert offered(case, "symptom", "symptom:dry_cough") == []
    assert offered(case, "home", "function") == []


def test_aspirin_for_the_heart_is_no_analgesic():
    case = case_of([], **{"Aspirin": "81 mg", "Ibuprofen": "400 mg"})
    assert [drug for drug, order in sorted(case.view.orders.items()) if relieves_pain(order)] == ["ibuprofen"]


def test_an_answer_without_asking_earns_nothing_for_what_it_says():
    case = case_of([COUGH, taking("lisinopril")])
    move = symptom_move(case, symptoms(case)["dry_cough"])
    session = session_of(case, [move])
    heard = next(one for one in play_gold(session, case.snapshot.chart, "en"))
    assert any(reply.facts == ("s1",) for reply in heard.trace.evidence.replies)
    assert {one.id: one.requires for one in move.rubric}["says-dry_cough"] == ("heard-dry_cough",)


def test_turns_of_the_hospital_hold(mini_store):
    """A few patients, in the middle of their stay and at its end; every kind is there."""
    seen = set()
    for patient_id in mini_store.patients()[4:9]:
        for anchor in ("mid-stay", "discharge"):
            encounter, instant = rounds(mini_store, patient_id, anchor)[0]
            case = make_case(mini_store, patient_id, encounter, instant, "diagnostic_workup", Stream("t", patient_id))
            assert daily_life(case)
            for kind in patient.KINDS:
                for move in offered(case, kind.kind, most=1):
                    assert (move.task, move.source) == (kind.task, kind.source)
                    play(case, [move])
                    seen.add(move.kind)
    assert seen == {kind.kind for kind in patient.KINDS}


@pytest.mark.parametrize(
    ("text", "claimed", "known"),
    [
        ("a 6", 6, True),
        ("a 6 out of 10", 6, True),
        ("a 6 out of 10", 10, False),
        ("a zero", 0, True),
        ("bad", 6, False),
    ],
)
def test_a_rated_pain_is_heard_as_a_pain_score(text, claimed, known):
    case = case_of([fact("p", "pain", "pain", attributes={"score": "6"})], text=text)
    move = pain_move(case, Pain(case.interview.facts[0], 6, None))
    trace = next(iter(play_gold(session_of(case, [move]), case.snapshot.chart, "en"))).trace
    answer = f"The patient rates the pain {claimed}/10."
    assert check_answer(GroundedCheck(), answer, language="en", trace=trace).passed is known


@pytest.mark.parametrize(
    ("words", "passes"),
    [
        ("She walks unaided and is independent in her ADLs. No falls in the past year.", True),
        ("The patient says she walks without help, manages her ADLs and has had no falls.", True),
        ("走路不用人帮忙，日常生活能自理，没有摔倒过。", True),
        ("She needs help with her ADLs, uses a walker and has fallen.", False),
    ],
)
def test_how_somebody_manages_may_be_put_plainly(words, passes):
    case = case_of(life())
    move = life_move(case, "function", function_told(case))
    says = [one.check for one in move.rubric if one.id.startswith("says-")]
    language = "en" if words.isascii() else "zh"
    assert len(says) == 3
    assert [check_answer(one, words, language=language).passed for one in says] == [passes] * 3


def test_walking_alone_says_nothing_of_daily_activities():
    case = case_of(life())
    move = life_move(case, "function", function_told(case))
    care = next(one.check for one in move.rubric if one.id == "says-care")
    assert not check_answer(care, "She walks independently.", language="en").passed
    assert not check_answer(care, "She is not independent in her ADLs.", language="en").passed

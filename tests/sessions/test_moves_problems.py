"""Diagnoses and the stay: the principal diagnosis, the reason of admission and the service."""

from __future__ import annotations

from pathlib import Path

from infection_chart import infection_case, plain_focus
from session_moves import cases, faults, play

from wardround.patients import ChartStore, Stream
from wardround.rubrics import check_answer
from wardround.sessions.moves.move import Move
from wardround.sessions.moves.problems import KINDS, lab_problem_move, problem_move, stay_move
from wardround.sessions.record_others import other_view


def test_the_principal_diagnosis_is_asked_alone_and_with_a_lab(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    principal = other_view(case).principal
    assert principal is not None
    alone = problem_move(case, principal)
    play(case, [alone])
    assert (alone.answer.en, alone.answer.zh) == ("The principal diagnosis is pyelonephritis.", "主要诊断是肾盂肾炎。")
    play(case, [lab_problem_move(case, case.view.latest["wbc"], principal)])


def test_a_diagnosis_that_the_chart_does_not_hold_fails_the_guard(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    principal = other_view(case).principal
    assert principal is not None
    guard = next(one.check for one in problem_move(case, principal).rubric if one.id == "no-other")
    assert check_answer(guard, "The principal diagnosis is pyelonephritis.", language="en").passed
    assert not check_answer(guard, "The principal diagnosis is pyelonephritis, with pneumonia.", language="en").passed


def test_the_stay_is_asked(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    stay = other_view(case).stay
    assert stay is not None
    move = stay_move(case, stay)
    play(case, [move])
    assert move.answer.zh == "因发热入院，收在普通内科。"
    reason = next(one.check for one in move.rubric if one.id == "reason")
    assert not check_answer(reason, "Admitted for chest pain, under general medicine.", language="en").passed


def test_nothing_is_offered_twice(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    for kind in KINDS:
        topic = "stay" if kind.kind == "stay" else "problems"
        assert [*kind.offer(case, plain_focus(), Stream("problems"))]
        assert not [*kind.offer(case, plain_focus(topic), Stream("problems"))]


def test_a_diagnosis_that_is_charted_wrongly_is_not_asked(tmp_path: Path) -> None:
    case = infection_case(tmp_path, flawed=frozenset({"Condition/dx", "Encounter/stay-1"}))
    assert other_view(case).principal is None
    assert other_view(case).stay is None


def test_moves_of_the_hospital_hold(mini_store: ChartStore) -> None:
    made: list[Move] = []
    for case in cases(mini_store, limit=1):
        for kind in KINDS:
            offered = [*kind.offer(case, plain_focus(), Stream("problems", case.encounter))][:1]
            assert all(move.kind == kind.kind and not faults(case, [move]) for move in offered)
            made += offered
        if {move.kind for move in made} == {kind.kind for kind in KINDS} and len(made) > 8:
            break
    assert {move.kind for move in made} == {kind.kind for kind in KINDS}

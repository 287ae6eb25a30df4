"""Plans and notes: which services follow up, and what a section of the notes names."""

from __future__ import annotations

from pathlib import Path

from infection_chart import infection_case, plain_focus
from session_moves import cases, faults, play

from wardround.patients import ChartStore, Stream
from wardround.rubrics import check_answer
from wardround.sessions.moves.move import Move
from wardround.sessions.moves.plans import KINDS, note_move, plan_dose_move, plan_move
from wardround.sessions.record_others import other_view


def test_the_plan_is_asked_alone_and_with_a_drug(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    plan = other_view(case).followup
    assert plan is not None
    alone = plan_move(case, plan)
    play(case, [alone])
    assert alone.answer.en == "The follow-up plan names cardiology and primary care."
    play(case, [plan_dose_move(case, plan, case.view.orders["ceftriaxone"])])


def test_a_service_that_is_not_planned_fails_the_guard(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    plan = other_view(case).followup
    assert plan is not None
    guard = next(one.check for one in plan_move(case, plan).rubric if one.id == "no-other-service")
    assert check_answer(guard, "Cardiology and primary care.", language="en").passed
    assert not check_answer(guard, "Cardiology, primary care and neurology.", language="en").passed
    assert not check_answer(guard, "随访计划写的是心内科和神经内科。", language="zh").passed


def test_a_section_of_the_notes_is_asked(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    move = note_move(case, other_view(case).notes["chief-complaint"])
    play(case, [move])
    assert (move.answer.en, move.answer.zh) == ("Chief complaint in the notes: fever.", "病历里的主诉：发热。")


def test_what_is_charted_wrongly_is_not_asked(tmp_path: Path) -> None:
    case = infection_case(tmp_path, flawed=frozenset({"CarePlan/plan", "DocumentReference/hp-cc"}))
    assert other_view(case).followup is None
    assert not other_view(case).notes


def test_nothing_is_offered_twice(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    offers = {kind.kind: kind.offer for kind in KINDS}
    for kind, busy in (
        ("plan", "plan:followup"),
        ("plan_dose", "warfarin:dose+followup"),
        ("note", "note:chief-complaint"),
    ):
        assert [*offers[kind](case, plain_focus(), Stream("plans"))]
        assert not [*offers[kind](case, plain_focus(busy), Stream("plans"))]


def test_moves_of_the_hospital_hold(mini_store: ChartStore) -> None:
    made: list[Move] = []
    for case in cases(mini_store, limit=1):
        for kind in KINDS:
            offered = [*kind.offer(case, plain_focus(), Stream("plans", case.encounter))][:1]
            assert all(move.kind == kind.kind and not faults(case, [move]) for move in offered)
            made += offered
        if len(made) > 10:
            break
    assert {move.kind for move in made} == {kind.kind for kind in KINDS}

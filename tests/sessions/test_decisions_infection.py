"""Decisions on antibiotics: by what grew, and by the course of the infection."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from infection_chart import infection_case, plain_focus
from session_moves import play

from wardround.patients import Stream, knowledge
from wardround.rubrics import check_answer
from wardround.sessions.decisions import course, culture
from wardround.sessions.decisions.decision import Decision, DecisionKind
from wardround.sessions.moves.infection_decisions import KINDS
from wardround.sessions.moves.move import Case
from wardround.sessions.moves.parts import advice_item
from wardround.sessions.record import Pair
from wardround.sessions.record_courses import course_view, turned, way_of

RISING = (("03-04", "12.1"), ("03-05", "14.0"), ("03-07", "19.8"))
RESISTANT = {"ceftriaxone": "R", "cefepime": "S", "ertapenem": "S", "meropenem": "S"}


def _of(kind: DecisionKind, case: Case) -> list[Decision]:
    return [*kind.threads(case, Stream("infection"))]


def _culture(path: Path, **chart: Any) -> list[Decision]:
    return _of(culture.KIND, infection_case(path, **chart))


# -- what grew ---------------------------------------------------------------------------------------------------------


def test_what_is_susceptible_goes_on(tmp_path: Path) -> None:
    (decision,) = _culture(tmp_path)
    assert (decision.act, decision.unchanged, decision.avoid) == ("continue", True, ("stop", "ceftriaxone"))
    assert decision.accepted == (("continue", "ceftriaxone"),)
    assert (decision.hinge.kind, decision.hinge.keys, decision.hinge.to) == (
        "susceptibility",
        ("Observation/c1-s-ceftriaxone",),
        "R",
    )


def test_the_hinge_turns_the_act(tmp_path: Path) -> None:
    (decision,) = _culture(tmp_path, readings=RESISTANT)
    assert (decision.act, decision.unchanged, decision.hinge.to) == ("switch", False, "S")
    assert decision.avoid == ("continue", "ceftriaxone")


def test_resistance_to_a_third_generation_cephalosporin_asks_for_a_carbapenem(tmp_path: Path) -> None:
    (decision,) = _culture(tmp_path, readings=RESISTANT)
    assert decision.advice.en == "switch ceftriaxone to ertapenem"  # not to cefepime, susceptible in the test
    assert decision.advice.zh == "把头孢曲松换成厄他培南"


@pytest.mark.parametrize(
    "chart",
    [
        {"readings": {"ceftriaxone": "I", "meropenem": "S"}},  # between
        {"readings": {"ceftriaxone": "R"}},  # nothing to change to
        {"readings": {"ampicillin": "S"}},  # not tested
        {"readings": {**RESISTANT, "ertapenem": "R", "meropenem": "R"}},  # only contested ones are left
        {"drugs": {"Meropenem": "1 g"}},  # broad, where a narrow one would do
        {"organism": "Enterobacter cloacae complex"},  # contested
        {"organism": "Staphylococcus epidermidis", "readings": {"ceftriaxone": "S", "vancomycin": "S"}},
        {"organism": None},
    ],
)
def test_what_can_be_argued_is_left_out(tmp_path: Path, chart: dict[str, Any]) -> None:
    assert not _culture(tmp_path, **chart)


def test_a_drug_beside_another_that_works_is_left_out(tmp_path: Path) -> None:
    drugs = {"Ceftriaxone": "1 g", "Meropenem": "1 g"}
    (decision,) = _culture(tmp_path, readings=RESISTANT, drugs=drugs)
    assert (decision.subject, decision.act) == ("e_coli:meropenem", "continue")


def test_an_allergy_bars_what_would_be_changed_to(tmp_path: Path) -> None:
    readings = {"ceftriaxone": "R", "ertapenem": "R", "meropenem": "S"}
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    assert _culture(tmp_path / "a", readings=readings)[0].advice.en.endswith("meropenem")
    assert not _culture(tmp_path / "b", readings=readings, allergy="Meropenem")


@pytest.mark.parametrize("readings", [None, RESISTANT])
def test_turns_about_what_grew_hold(tmp_path: Path, readings: dict[str, str] | None) -> None:
    case = infection_case(tmp_path, readings=readings)
    (decision,) = _of(culture.KIND, case)
    opening = next(iter(culture.KIND.openings(case, decision)))
    assert set(decision.hinge.keys) <= opening.keys
    (decides,) = culture.KIND.decides(case, decision, False)
    writes = [*culture.KIND.writes(case, decision)]
    for write in writes:
        play(case, [opening, decides, write])
    assert {move.kind for move in writes} == (
        {"prescribe", "recheck"} if readings is None else {"prescribe", "flag", "recheck"}
    )
    assert not [*culture.KIND.decides(case, decision, True)]
    assert not [*culture.KIND.asks(case, decision)]


def test_the_new_drug_is_ordered_at_its_usual_dose(tmp_path: Path) -> None:
    case = infection_case(tmp_path, readings=RESISTANT)
    (decision,) = _of(culture.KIND, case)
    order = next(move for move in culture.KIND.writes(case, decision) if move.kind == "prescribe")
    arguments = order.calls[0].arguments
    assert (arguments["medication"], arguments["dose"], arguments["frequency"]) == ("ertapenem", "1 g", "once daily")


# -- the course --------------------------------------------------------------------------------------------------------


def test_a_falling_count_without_fever_goes_on(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    (decision,) = _of(course.KIND, case)
    assert (decision.act, decision.unchanged, decision.avoid) == ("continue", True, ("stop", "ceftriaxone"))
    assert decision.hinge.kind == "quantity"
    assert Decimal(decision.hinge.to) > Decimal("15.1")


def test_a_rising_count_asks_for_cultures_and_broader_cover(tmp_path: Path) -> None:
    case = infection_case(tmp_path, white=RISING, heat="37.4", readings={})
    (decision,) = _of(course.KIND, case)
    assert (decision.act, decision.unchanged) == ("recheck", False)
    item = advice_item(decision, ())
    for language, said in (
        ("en", "Repeat the blood cultures."),
        ("zh", "复查血培养，升级抗生素。"),
        ("en", "Switch ceftriaxone to meropenem."),
    ):
        assert check_answer(item.check, said, language=language).passed, said
    assert not check_answer(item.check, "Continue ceftriaxone.", language="en").passed
    assert not check_answer(item.check, "继续用头孢曲松。", language="zh").passed


@pytest.mark.parametrize(
    "chart",
    [
        {"white": (("03-04", "18.2"), ("03-07", "17.9"))},  # hardly moved
        {"heat": "38.4"},  # falls, but there is fever
        {"white": (("03-04", "9.8"), ("03-07", "6.1"))},  # was never high
        {"white": (("03-04", "18.2"), ("03-05", "9.1"), ("03-07", "11.9"))},  # fell and rises again
        {"drugs": {"Ceftriaxone": "1 g", "Dexamethasone": "6 mg"}},  # steroids move it
        {"drugs": {"Lisinopril": "10 mg"}},  # no antibiotic
    ],
)
def test_a_course_that_can_be_argued_is_left_out(tmp_path: Path, chart: dict[str, Any]) -> None:
    case = infection_case(tmp_path, **chart)
    assert not _of(course.KIND, case)


@pytest.mark.parametrize("white", [None, RISING])
def test_the_value_it_turns_on_turns_it(tmp_path: Path, white: tuple[tuple[str, str], ...] | None) -> None:
    case = infection_case(tmp_path) if white is None else infection_case(tmp_path, white=white)
    (found,) = course_view(case).courses
    value = turned(found)
    assert value is not None
    readings = found.trend.readings
    level = "high" if value > 11 else "normal"
    changed = (*readings[:-1], replace(readings[-1], value=value, level=level))
    assert {way_of(changed, found.temperature), found.way} == {"answers", "worse"}


@pytest.mark.parametrize("chart", [{}, {"white": RISING, "heat": "37.4", "readings": {}}])
def test_turns_about_the_course_hold(tmp_path: Path, chart: dict[str, Any]) -> None:
    case = infection_case(tmp_path, **chart)
    (decision,) = _of(course.KIND, case)
    opening = next(iter(course.KIND.openings(case, decision)))
    assert set(decision.hinge.keys) <= opening.keys
    (decides,) = course.KIND.decides(case, decision, False)
    for write in course.KIND.writes(case, decision):
        play(case, [opening, decides, write])


def test_a_drug_that_a_lab_speaks_against_is_left_out(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    table = next(one for one in knowledge.monitoring().values() if any(rule.act == "hold" for rule in one.rules))
    rule = next(rule for rule in table.rules if rule.act == "hold")
    pair = Pair(table.id, case.view.orders["ceftriaxone"], case.view.latest["egfr"], rule)
    against = replace(case, view=replace(case.view, pairs=(pair,)), _memo={})
    for kind in (culture.KIND, course.KIND):
        assert _of(kind, case)
        assert not _of(kind, against)


# -- beside the thread -------------------------------------------------------------------------------------------------


def test_other_decisions_are_offered_once(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    for kind in KINDS:
        (move,) = kind.offer(case, plain_focus(), Stream("infection"))
        assert (move.kind, move.task) == (kind.kind, "CR")
        assert not [*kind.offer(case, plain_focus(move.topic), Stream("infection"))]

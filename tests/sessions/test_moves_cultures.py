"""Cultures: what grew, or that nothing did, is told and read in both languages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from infection_chart import infection_case, plain_focus
from session_moves import cases, faults, play

from wardround.patients import ChartStore, Stream, knowledge
from wardround.rubrics import check_answer
from wardround.sessions.moves.cultures import (
    KINDS,
    culture_drug_move,
    culture_move,
    sensitivity_move,
)
from wardround.sessions.moves.move import Case, Move
from wardround.sessions.record_cultures import Culture, culture_view
from wardround.sessions.sources import cultures


def _culture(case: Case) -> Culture:
    return culture_view(case).cultures["blood_culture"]


def test_what_grew_is_asked_alone_with_the_drug_and_its_sensitivity(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    order, known = case.view.orders["ceftriaxone"], culture_view(case).susceptibilities["ceftriaxone"]
    alone = culture_move(case, _culture(case))
    play(case, [alone])
    assert alone.answer.en == "The blood culture grew Escherichia coli."
    play(case, [culture_drug_move(case, _culture(case), order)])
    play(case, [sensitivity_move(case, _culture(case), known, order)])


def test_no_growth_is_asked(tmp_path: Path) -> None:
    case = infection_case(tmp_path, organism=None)
    move = culture_move(case, _culture(case))
    play(case, [move])
    guard = next(one.check for one in move.rubric if one.id == "no-organism")
    assert not check_answer(guard, "The blood culture grew E. coli.", language="en").passed


@pytest.mark.parametrize("organism", sorted(knowledge.organism_profiles()))
def test_every_organism_is_read_in_both_languages(organism: str, tmp_path: Path) -> None:
    profile = knowledge.organism_profiles()[organism]
    if knowledge.lexicon().resolve(profile.name.en) is None:
        assert organism == "c_difficile"  # no culture tells it
        return
    case = infection_case(tmp_path, organism=profile.name.en, readings={})
    play(case, [culture_move(case, _culture(case))])


@pytest.mark.parametrize(
    ("language", "answer", "passes"),
    [
        ("en", "E. coli in the blood culture.", True),
        ("zh", "血培养回报大肠杆菌。", True),
        ("en", "The blood culture grew Klebsiella.", False),
        ("zh", "血培养长出肺炎克雷伯菌。", False),
    ],
)
def test_the_organism_is_known_by_its_usual_names(language: str, answer: str, passes: bool, tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    check = next(one.check for one in culture_move(case, _culture(case)).rubric if one.id == "grew")
    assert check_answer(check, answer, language=language).passed is passes


def test_what_is_known_wrongly_or_asked_before_is_left_out(tmp_path: Path) -> None:
    case = infection_case(tmp_path, flawed=frozenset({"Observation/c1"}))
    assert not culture_view(case).cultures
    sound = replace(case, flawed=frozenset(), _memo={})
    offer = next(kind.offer for kind in KINDS if kind.kind == "culture")
    assert [*offer(sound, plain_focus(), Stream("cultures"))]
    assert not [*offer(sound, plain_focus("culture:blood_culture"), Stream("cultures"))]
    assert not [*offer(sound, plain_focus("ceftriaxone:dose+blood_culture"), Stream("cultures"))]


def test_every_specimen_is_read_as_positive_and_negative(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    grown = _culture(case)
    for identity, names in cultures().cultures.items():
        for one in (grown, replace(grown, organism=None, grew=None)):
            move = culture_move(case, replace(one, id=identity, names=names))
            check = next(item.check for item in move.rubric if item.id in {"positive", "negative"})
            for language, answer in (("en", move.answer.en), ("zh", move.answer.zh)):
                assert check_answer(check, str(answer), language=language).passed, answer


def test_moves_of_the_hospital_hold(mini_store: ChartStore) -> None:
    made: list[Move] = []
    for case in cases(mini_store, limit=1):
        if culture_view(case).cultures:
            for kind in KINDS:
                offered = [*kind.offer(case, plain_focus(), Stream("cultures", case.encounter))][:1]
                assert all(move.kind == kind.kind and not faults(case, [move]) for move in offered)
                made += offered
        if len(made) >= 6:
            break
    assert made

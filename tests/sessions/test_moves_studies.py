"""Studies: only what a report says for certain is asked, and it is told and read in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from infection_chart import infection_case, plain_focus
from session_moves import cases, faults, play

from wardround.patients import ChartStore, Stream
from wardround.rubrics import check_answer
from wardround.sessions.moves.move import Move
from wardround.sessions.moves.studies import KINDS, study_lab_move, study_move
from wardround.sessions.record_studies import findings_of, study_of, study_view


@pytest.mark.parametrize(
    ("study", "conclusion", "found"),
    [
        ("chest_xray", "Left pneumothorax.", [("pneumothorax", True)]),
        ("liver_ultrasound", "Acute cholecystitis. Gallstones.", [("cholecystitis", True), ("cholelithiasis", True)]),
        ("ecg", "Sinus rhythm, no acute ischemic changes.", [("sinus_rhythm", True), ("ischemic_change", False)]),
        ("chest_xray", "No acute cardiopulmonary process.", [("acute_abnormality", False)]),
        ("chest_xray", "Normal chest radiograph.", [("acute_abnormality", False)]),
        ("renal_ultrasound", "No hydronephrosis.", [("hydronephrosis", False)]),
        ("ecg", "Atrial fibrillation. Otherwise no acute abnormality.", [("atrial_fibrillation", True)]),
    ],
)
def test_a_clear_conclusion_gives_its_findings(study: str, conclusion: str, found: list[tuple[str, bool]]) -> None:
    findings = findings_of(study, conclusion)
    assert findings is not None
    assert [(one.concept, one.present) for one in findings] == found


@pytest.mark.parametrize(
    ("study", "conclusion"),
    [
        ("ct_abdomen_pelvis", "Right perinephric stranding, suspicious for pyelonephritis."),  # hedged
        ("chest_xray", "Pneumothorax. Zebra sign of the left hilum."),  # one sentence is not understood
        ("ecg", "ECG changes suggestive of hyperkalemia."),
        ("chest_xray", "Osteopenia and pneumonia."),  # named by a word that says more than the report
        ("knee_xray", "Moderate effusion."),  # read as pleural
        ("ecg", "Segmental depression and pericarditis."),  # read as a mood
        ("chest_xray", "Otherwise unremarkable."),
    ],
)
def test_an_unclear_conclusion_is_left_out(study: str, conclusion: str) -> None:
    assert findings_of(study, conclusion) is None


def test_titles_of_hospital_and_mimic_are_known() -> None:
    assert study_of("CHEST (PORTABLE AP)") == "chest_xray"
    assert study_of("CT HEAD W/O CONTRAST") == "ct_head"
    assert study_of("12-LEAD ECG") == "ecg"
    assert study_of("ZEBRA SCAN") is None


def test_a_study_is_asked_alone_and_with_a_lab(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    study = study_view(case).studies["chest_xray"]
    alone = study_move(case, study)
    play(case, [alone])
    assert alone.answer.zh == "胸片示气胸。"
    play(case, [study_lab_move(case, study, case.view.latest["wbc"])])


def test_what_the_report_does_not_say_fails_the_guard(tmp_path: Path) -> None:
    case = infection_case(tmp_path)
    move = study_move(case, study_view(case).studies["chest_xray"])
    guard = next(one.check for one in move.rubric if one.id == "no-other")
    assert check_answer(guard, "The chest X-ray shows a pneumothorax.", language="en").passed
    assert not check_answer(guard, "The chest X-ray shows a pneumothorax and pneumonia.", language="en").passed
    assert not check_answer(guard, "胸片示气胸和肺炎。", language="zh").passed


def test_a_normal_study_is_normal_in_many_words(tmp_path: Path) -> None:
    case = infection_case(tmp_path, report="No acute cardiopulmonary process.")
    move = study_move(case, study_view(case).studies["chest_xray"])
    play(case, [move])
    check = next(one.check for one in move.rubric if one.id.startswith("finding"))
    for words in ("The chest X-ray is normal.", "CXR: no acute abnormality.", "Chest X-ray: normal."):
        assert check_answer(check, words, language="en").passed, words
    for words in ("胸片：正常。", "胸片：无急性心肺异常。", "胸片未见明显异常。"):
        assert check_answer(check, words, language="zh").passed, words
    assert not check_answer(check, "The chest X-ray shows pneumonia.", language="en").passed


def test_a_report_that_is_wrong_is_not_asked(tmp_path: Path) -> None:
    case = infection_case(tmp_path, flawed=frozenset({"DiagnosticReport/xr"}))
    view = study_view(case)
    assert not view.studies
    assert sum(view.left_out.values()) == 1


def test_moves_of_the_hospital_hold(mini_store: ChartStore) -> None:
    made: list[Move] = []
    for case in cases(mini_store, limit=1):
        for kind in KINDS:
            offered = [*kind.offer(case, plain_focus(), Stream("studies", case.encounter))][:1]
            assert all(move.kind == kind.kind and not faults(case, [move]) for move in offered)
            made += offered
        if len(made) >= 12:
            break
    assert {move.kind for move in made} == {"study", "study_lab"}

"""`value` of "<drug> frequency": how often the answer says that a drug is taken, and no other."""

from __future__ import annotations

import pytest

from wardround.rubrics import check_answer
from wardround.rubrics.naming import name_problems
from wardround.rubrics.rubric import ValueCheck

CHECK = ValueCheck(concept="metformin frequency", value="twice daily", unit="")


@pytest.mark.parametrize(
    ("answer", "passes"),
    [
        ("Metformin 500 mg by mouth twice daily (active order).", True),
        ("Metformin 500 mg PO BID, lisinopril 10 mg daily.", True),
        ("Lisinopril 10 mg daily and metformin 500 mg q12h.", True),
        ("She takes Glucophage 500 mg every 12 hours for her diabetes.", True),
        ("Twice-daily metformin, 500 mg.", True),
        (
            "| Drug | Dose | How often |\n|---|---|---|\n| Metformin | 500 mg | bid |\n| Lisinopril | 10 mg | daily |",
            True,
        ),
        (
            "| Drug | Dose | How often |\n|---|---|---|\n| Metformin | 500 mg | daily |\n| Lisinopril | 10 mg | bid |",
            False,
        ),
        ("二甲双胍500mg，口服，每日两次。", True),
        ("二甲双胍0.5g bid，氨氯地平5mg qd。", True),
        ("Metformin 500 mg twice daily; recheck the creatinine every week.", True),
        ("Metformin 500 mg once daily.", False),
        ("Metformin 500 mg three times daily, lisinopril 10 mg twice daily.", False),
        ("Lisinopril twice daily and metformin.", False),
        ("Metformin 500 mg BID in the clinic note. Metformin 500 mg daily in the order.", False),
        ("Metformin 500 mg; check the glucose twice daily.", False),
        ("Metformin 500 mg as needed.", False),
        ("His brother takes metformin twice daily.", False),
        ("Is metformin taken twice daily?", False),
        ("二甲双胍500mg每日三次。", False),
        ("二甲双胍500mg，血糖每日两次监测。", False),
        ("Metformin is active.", False),
        ("", False),
    ],
)
def test_frequency(answer: str, passes: bool) -> None:
    assert check_answer(CHECK, answer, language="en").passed is passes


def test_as_needed_is_part_of_how_often() -> None:
    check = ValueCheck(concept="氧考酮频次", value="每6小时一次，必要时", unit="")
    assert check_answer(check, "羟考酮5mg q6h prn。", language="zh").passed is False  # another name in the check
    check = ValueCheck(concept="羟考酮频次", value="每6小时一次，必要时", unit="")
    assert check_answer(check, "羟考酮5mg q6h prn。", language="zh").passed
    assert not check_answer(check, "羟考酮5mg q6h。", language="zh").passed


@pytest.mark.parametrize(("concept", "answer"), [("呼吸频率", "呼吸28次/分。"), ("respiratory rate", "RR 28/min.")])
def test_a_rate_of_the_body_is_no_frequency_of_a_drug(concept: str, answer: str) -> None:
    check = ValueCheck(concept=concept, value=28, unit="/min")
    assert name_problems(check) == []
    assert check_answer(check, answer, language="zh").passed


def test_a_value_that_is_no_frequency_is_refused() -> None:
    assert name_problems(CHECK) == []
    wrong = CHECK.model_copy(update={"value": "often"})
    assert name_problems(wrong) == [
        "`often` is no frequency that can be read; write it as in `twice daily` or `每日两次`"
    ]

"""`because` in a turn: a lone finding right before an act is its reason; judged alone, or in a list, it is none."""

from __future__ import annotations

import pytest

from wardround.rubrics import Item, Text, TurnSpec, TurnTrace, check_answer, judge_items, read_answer
from wardround.rubrics.rubric import BecauseCheck


def gives(claim: str, reason: str, answer: str) -> bool:
    item = Item(id="it", text=Text(en="why"), check=BecauseCheck(claim=claim, reason=reason))
    turn = TurnSpec(task="CR", rubric=(item,))
    language = "en" if answer.isascii() else "zh"
    return judge_items(turn, read_answer(turn, answer, language), TurnTrace(language=language))["it"].passed


@pytest.mark.parametrize(
    ("claim", "reason", "answer"),
    [
        ("hold spironolactone", "potassium", "K is 5.9. Hold spironolactone."),
        ("hold spironolactone", "potassium", "Sodium is 140. K is 5.9. Hold spironolactone."),
        ("stop spironolactone", "potassium", "血钾5.9。停螺内酯。"),
        ("continue furosemide", "magnesium", "血镁1.8，正常。呋塞米维持原剂量。"),
        ("hold acetaminophen", "ALT", "ALT 187，偏高。暂停对乙酰氨基酚。"),
        ("hold atorvastatin", "muscle pain", "患者诉肌痛。暂停阿托伐他汀。"),
    ],
)
def test_a_lone_finding_right_before_the_act_is_the_reason(claim: str, reason: str, answer: str) -> None:
    assert gives(claim, reason, answer)
    assert not check_answer(BecauseCheck(claim=claim, reason=reason), answer, language="en").passed


@pytest.mark.parametrize(
    "answer",
    [
        "K is 5.9. Sodium is 140. Hold spironolactone.",
        "K is 5.9, sodium 140, creatinine 1.2. Hold spironolactone.",
        "Hold spironolactone. K is 5.9.",
        "Is K 5.9? Hold spironolactone.",
        "If K is 5.9. Hold spironolactone.",
        "K is 5.9. Continue spironolactone.",
        "K is 5.9. Stop lisinopril. Hold spironolactone.",
        "Hold spironolactone because of hypotension. K is 5.9. Hold spironolactone.",
        "血钾5.9，血钠140。停螺内酯。",
    ],
)
def test_a_list_another_reason_or_another_order_is_none(answer: str) -> None:
    assert not gives("hold spironolactone", "potassium", answer)

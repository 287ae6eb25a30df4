"""Answers that leave out the drug that the question named: read as said of it, and nothing is won by leaving out."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from wardround.rubrics import Check, Item, Text, TurnSpec, TurnTrace, judge_items, read_answer, settle

CHECK: TypeAdapter[Check] = TypeAdapter(Check)
GIVEN = {
    "kind": "all_of",
    "checks": [
        {"kind": "mention", "concept": "rosuvastatin"},
        {
            "kind": "any_of",
            "checks": [
                {"kind": "mention", "concept": word} for word in ("given", "administered", "用上", "已给", "给药")
            ],
        },
        {"kind": "not", "check": {"kind": "mention", "concept": "没给"}},
    ],
}
TAKES = {
    "kind": "all_of",
    "checks": [
        {"kind": "reports", "concept": "taking rosuvastatin"},
        {"kind": "not", "check": {"kind": "reports", "concept": "stopped rosuvastatin"}},
        {"kind": "not", "check": {"kind": "reports", "concept": "missed rosuvastatin"}},
    ],
}
STOPPED = {"kind": "reports", "concept": "stopped rosuvastatin"}
RAN_OUT = {"kind": "reports", "concept": "stopped rosuvastatin", "reason": "ran out of medicine"}
DOSE = {"kind": "value", "concept": "rosuvastatin dose", "value": 10, "unit": "mg"}
GOLD = (Text(en="Rosuvastatin 10 mg by mouth once daily (active order)."),)
NAMED = {"kind": "mention", "concept": "rosuvastatin"}
HOLD = {"kind": "advice", "act": "hold", "target": "rosuvastatin"}
NO_MORE = {"kind": "avoids", "act": "increase", "target": "rosuvastatin"}


def spec(**checks: object) -> TurnSpec:
    items = (Item(id=name, text=Text(en=name), check=CHECK.validate_python(check)) for name, check in checks.items())
    return TurnSpec(task="IL", rubric=tuple(items), gold_answers=GOLD)


def passed(turn: TurnSpec, answer: str) -> set[str]:
    language = "en" if answer.isascii() else "zh"
    reading, trace = read_answer(turn, answer, language), TurnTrace(language=language, planned=True)
    settled = settle(turn, judge_items(turn, reading, trace), reading, trace)
    return {verdict.item for verdict in settled.verdicts if verdict.passed}


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (GIVEN, "用上了，今天09:00给的10 mg"),
        (GIVEN, "已给，今天09:00。"),
        (GIVEN, "今天09:00已给药，没停"),
        (GIVEN, "Given at 09:00."),
        (GIVEN, "- Potassium 4.1 mmol/L.\n- Given at 09:00."),
        (TAKES, "患者说没有漏服"),
        (TAKES, "没有漏服"),
        (TAKES, "在家一直在用，一天一次，没断过"),
        (TAKES, "患者自述规律服用"),
        (TAKES, "No missed doses."),
        (TAKES, "Yes, taking it daily."),
        (TAKES, "She says she takes it every day."),
        (STOPPED, "她说十一天前自己停了，原因是乏力"),
        (STOPPED, "药用完后已停药"),
        (STOPPED, "She stopped it 11 days ago because of tiredness."),
        (RAN_OUT, "药吃完后没再开，就没吃了"),
        (RAN_OUT, "Ran out and stopped taking it."),
        (DOSE, "10 mg每晚一次"),
        (DOSE, "10 mg once daily by mouth."),
        (HOLD, "先停，查CK。"),
        (HOLD, "Hold it and check a CK."),
    ],
)
def test_a_claim_without_a_subject_is_about_the_drug_asked_about(check: object, answer: str) -> None:
    assert passed(spec(it=check), answer) == {"it"}


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (GIVEN, "美托洛尔今天09:00已给药。"),
        (GIVEN, "已给，今天09:00。美托洛尔也在用。"),
        (GIVEN, "Metoprolol given at 09:00."),
        (GIVEN, "今天还没给。"),
        (GIVEN, "Good morning."),
        (TAKES, "No missed doses of metoprolol."),
        (TAKES, "漏服了两次"),
        (TAKES, "He stopped it."),
        (STOPPED, "停药，查CK。"),
        (STOPPED, "Stop it and check a CK."),
        (STOPPED, "护士说停了"),
        (DOSE, "20 mg每晚一次"),
        (NAMED, "已给，今天09:00。"),
        (NAMED, "10 mg once daily."),
    ],
)
def test_what_is_left_out_wins_nothing_else(check: object, answer: str) -> None:
    assert passed(spec(it=check), answer) == set()


def test_two_drugs_asked_about_leave_the_subject_open() -> None:
    both = spec(one=GIVEN, other={"kind": "value", "concept": "metoprolol dose", "value": 25, "unit": "mg"})
    assert passed(both, "Given at 09:00, 25 mg.") == set()
    assert passed(both, "Rosuvastatin given at 09:00; metoprolol dose 25 mg.") == {"one", "other"}


def test_both_accounts_at_once_are_still_hedging() -> None:
    for answer in ("没有漏服。停了。漏服了。", "No missed doses. Stopped it. Missed doses."):
        assert passed(spec(takes=TAKES), answer) == set()


def test_a_guard_reads_what_is_left_out_too() -> None:
    turn = spec(hold=HOLD, guard=NO_MORE)
    assert passed(turn, "Hold it.") == {"hold", "guard"}
    assert "guard" not in passed(turn, "Increase the dose.")
    assert "guard" not in passed(turn, "加量。")


def test_the_words_a_verdict_rests_on_are_the_answers_own() -> None:
    for answer in ("已给药10 mg，今天09:00。", "Given at 09:00, 10 mg."):
        reading = read_answer(spec(it=GIVEN, dose=DOSE), answer, "zh")
        verdicts = judge_items(spec(it=GIVEN, dose=DOSE), reading, TurnTrace(language="zh"))
        spans = [span for verdict in verdicts.values() for span in verdict.spans]
        assert spans
        assert all(answer[span.start : span.end] == span.text for span in spans)
        assert reading.text == answer

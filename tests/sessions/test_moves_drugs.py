"""Orders, doses given and what patients say of taking them: right, and not to be had by guessing."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from session_moves import TYPES, cases, play

from wardround.patients import ChartBuilder, ChartStore, Fact, Interview, Stream, load_charts, parse_instant
from wardround.patients.knowledge import Names
from wardround.rubrics import check_answer
from wardround.sessions.common import common
from wardround.sessions.decisions.decision import Decision, Hinge
from wardround.sessions.moves import adherence, conditional, drug_items, drugs, order_words
from wardround.sessions.moves.move import Case, Focus, Move
from wardround.sessions.record import Order, view_record
from wardround.sessions.record_doses import last_doses

NOW = parse_instant("2030-03-08T12:00:00Z")
SOMETHING = Names(en="-", zh="-")
DECISION = Decision(
    kind="drug_lab",
    rules=(),
    subject="-",
    act="continue",
    unchanged=True,
    accepted=(("continue", "-"),),
    avoid=("stop", "-"),
    finding=SOMETHING,
    advice=SOMETHING,
    hinge=Hinge(kind="quantity", keys=("-",), to="1"),
)


def case_of(builder: ChartBuilder, interview: Interview | None = None) -> Case:
    """Return the hand-made stay at noon of its last day."""
    snapshot = builder.chart().at(NOW)
    view = view_record(snapshot, "stay-1", TYPES)
    return Case(snapshot, "stay-1", NOW, view, interview or Interview(), common(), "medication-safety")


def offered(case: Case, kind: str, *busy: str) -> list[Move]:
    """Return the moves of a kind, those of busy topics left out."""
    kinds = {one.kind: one for one in (*drugs.KINDS, *adherence.KINDS, *conditional.KINDS)}
    return list(kinds[kind].offer(case, Focus(DECISION, frozenset(busy)), Stream("test")))


def give(builder: ChartBuilder, drug: str, day: str, **more: Any) -> None:
    """Chart a dose at nine."""
    builder.administration(drug, at=f"2030-03-{day}T09:00:00Z", dose="10 mg", route="oral", encounter="stay-1", **more)


# -- orders ------------------------------------------------------------------------------------------------------------


def test_an_order_is_said_in_both_languages(stay: ChartBuilder) -> None:
    order = case_of(stay).view.orders["lisinopril"]
    line = order_words.order_line(order)
    assert (line.en, line.zh) == ("Lisinopril 10 mg by mouth once daily", "赖诺普利10 mg，口服，每日一次")


def test_units_that_are_words_are_chinese_in_chinese() -> None:
    order = Order(
        "MedicationRequest/1", "vitamin_d", "vitamin D", Decimal(1000), "units", "oral", "once daily", zh="维生素D"
    )
    assert order_words.order_line(order).zh == "维生素D 1000 单位，口服，每日一次"


def test_dose_and_use_must_have_been_looked_up(stay: ChartBuilder) -> None:
    order = case_of(stay).view.orders["lisinopril"]
    read, dose, often = drug_items.order_items(order)
    assert dose.requires == often.requires == (read.id,)


@pytest.mark.parametrize(
    ("answer", "dose", "often"),
    [
        ("Lisinopril 10 mg once daily.", True, True),
        ("Lisinopril 10 mg PO qd.", True, True),
        ("赖诺普利10 mg，口服，每天一次。", True, True),
        ("Lisinopril 20 mg once daily.", False, True),
        ("Lisinopril 10 mg.", True, False),
        ("Lisinopril 10 mg by mouth twice daily.", True, False),
        ("Lisinopril 10 mg IV once daily.", True, False),
        ("赖诺普利10 mg，静脉给药，每日一次。", True, False),
    ],
)
def test_how_a_drug_is_ordered_is_dose_and_use(stay: ChartBuilder, answer: str, dose: bool, often: bool) -> None:
    """A wrong frequency or route fails, as a wrong dose does."""
    items = drug_items.order_items(case_of(stay).view.orders["lisinopril"])[1:]
    language = "zh" if answer[-1] == "。" else "en"
    assert [check_answer(one.check, answer, language=language).passed for one in items] == [dose, often]  # type: ignore[arg-type]


def test_a_frequency_that_no_check_can_tell_is_not_asked() -> None:
    order = Order("MedicationRequest/1", "lisinopril", "lisinopril", Decimal(10), "mg", "oral", "as directed")
    assert [one.id for one in drug_items.order_items(order)][1:] == ["drug-lisinopril", "dose-lisinopril"]


def test_a_drug_whose_dose_was_asked_is_not_asked_again(stay: ChartBuilder) -> None:
    case = case_of(stay)
    assert {move.slots["drug"].id for move in offered(case, "dose")} == {"lisinopril", "warfarin"}
    assert {move.slots["drug"].id for move in offered(case, "dose", "warfarin:dose+adherence")} == {"lisinopril"}


# -- doses given -------------------------------------------------------------------------------------------------------


def test_the_last_dose_counts(stay: ChartBuilder) -> None:
    give(stay, "Lisinopril", "07")
    give(stay, "Lisinopril", "08", status="not-done", reason="refused: Patient declined")
    case = case_of(stay)
    (move,) = offered(case, "given")
    assert move.answer.en == "The last lisinopril dose, due on 2030-03-08 at 09:00, was refused by the patient."
    play(case, [move])


def test_a_dose_given_is_told_with_its_amount(stay: ChartBuilder) -> None:
    give(stay, "Lisinopril", "08")
    case = case_of(stay)
    (move,) = offered(case, "given")
    assert move.answer.zh == "赖诺普利最近一次于2030-03-08 09:00已给药，10 mg。"
    play(case, [move])
    play(case, offered(case, "order_given"))


@pytest.mark.parametrize(
    ("outcome", "answer", "passes"),
    [
        ("refused", "The last lisinopril dose was declined by the patient.", True),
        ("refused", "The last lisinopril dose was held.", False),
        ("refused", "Lisinopril 10 mg was given this morning.", False),
        ("refused", "赖诺普利最近一次患者拒服。", True),
        ("refused", "赖诺普利最近一次已给药。", False),
        ("held", "Lisinopril was withheld this morning.", True),
        ("held", "The patient refused the lisinopril.", False),
        ("held", "赖诺普利今晨暂停未给。", True),
    ],
)
def test_what_became_of_a_dose_is_told_apart(stay: ChartBuilder, outcome: str, answer: str, passes: bool) -> None:
    give(stay, "Lisinopril", "08", status="not-done", reason=f"{outcome}: for a reason")
    case = case_of(stay)
    item = drug_items.given_items(
        case, case.view.orders["lisinopril"], last_doses(case.snapshot, case.common)["lisinopril"]
    )[1]
    assert check_answer(item.check, answer, language="zh" if answer[-1] == "。" else "en").passed is passes


@pytest.mark.parametrize(
    ("answer", "given", "when"),
    [
        ("Lisinopril: last dose completed on March 8, 9 am.", True, True),
        ("She got her lisinopril today at 9:00.", True, True),
        ("Lisinopril was last given on 2030-03-07 at 09:00.", True, False),
        ("Lisinopril 20 mg was given at 09:00.", True, False),
        ("Lisinopril was given.", True, False),
        ("Lisinopril, due on March 8, was held.", False, True),
        ("赖诺普利3月8日9点给药。", True, True),
        ("赖诺普利今天上午9点用上了。", True, True),
    ],
)
def test_a_dose_given_is_told_with_its_day(stay: ChartBuilder, answer: str, given: bool, when: bool) -> None:
    give(stay, "Lisinopril", "08")
    case = case_of(stay)
    dose = last_doses(case.snapshot, case.common)["lisinopril"]
    order = case.view.orders["lisinopril"]
    items = (drug_items.given_items(case, order, dose)[1], drug_items.when_item(case, order, dose))
    language = "zh" if answer[-1] == "。" else "en"
    assert [check_answer(one.check, answer, language=language).passed for one in items] == [given, when]  # type: ignore[arg-type]


def test_a_dose_that_is_charted_wrongly_or_twice_is_not_asked(stay: ChartBuilder) -> None:
    give(stay, "Lisinopril", "08", id="once")
    snapshot = stay.chart().at(NOW)
    assert "lisinopril" in last_doses(snapshot, common())
    assert not last_doses(snapshot, common(), frozenset({"MedicationAdministration/once"}))
    give(stay, "Lisinopril", "08", id="twice", status="not-done", reason="held")
    assert not last_doses(stay.chart().at(NOW), common())


def test_a_reason_that_no_check_can_tell_is_not_asked(stay: ChartBuilder) -> None:
    give(stay, "Lisinopril", "08", status="not-done", reason="Not Given per Sliding Scale")
    assert not last_doses(stay.chart().at(NOW), common())


# -- what the patient says ---------------------------------------------------------------------------------------------


def test_adherence_is_asked_where_it_is_clear(stay: ChartBuilder, make_interview_of: Callable[..., Interview]) -> None:
    told = make_interview_of(lisinopril="stopped: cough", warfarin="unsure")
    case = case_of(stay, told)
    (move,) = offered(case, "adherence")
    assert move.answer.en == "The patient says she stopped taking lisinopril because of cough."
    assert move.answer.zh == "患者说她已自行停用赖诺普利，因为咳嗽。"
    play(case, [move])
    for kind in ("dose_adherence", "lab_adherence", "trend_adherence"):
        for one in offered(case, kind):
            play(case, [one])


def test_two_accounts_of_one_drug_are_none(stay: ChartBuilder, make_interview_of: Callable[..., Interview]) -> None:
    told = make_interview_of(lisinopril="taking")
    twice = told.model_copy(update={"facts": (*told.facts, told.facts[0].model_copy(update={"id": "again"}))})
    assert adherence.adherence_fact(case_of(stay, told), "lisinopril") is not None
    assert adherence.adherence_fact(case_of(stay, twice), "lisinopril") is None


SAID = {
    "taking": [
        "She says she takes the lisinopril every day and never misses a dose.",
        "患者说一直按时吃赖诺普利，从不漏服。",
    ],
    "stopped": ["She tells me she quit the lisinopril two weeks ago.", "患者说早就停了赖诺普利。"],
    "missed_doses": ["She says she sometimes skips the lisinopril.", "患者表示经常忘吃赖诺普利。"],
}


@pytest.mark.parametrize("state", SAID)
def test_states_are_told_apart(stay: ChartBuilder, state: str) -> None:
    """Another state's account never passes: "stopped taking it" speaks of taking, too."""
    case = case_of(stay)
    fact = Fact(id="f", kind="adherence", concept="lisinopril", drug="lisinopril", state=state, source="simulated")
    (item,) = adherence.said_items(case, fact, case.view.orders["lisinopril"])
    for other, answers in SAID.items():
        for answer, language in zip(answers, ("en", "zh"), strict=True):
            passed = check_answer(item.check, answer, language=language).passed  # type: ignore[arg-type]
            assert passed is (other == state), (state, answer)


@pytest.mark.parametrize("reason", ["forgetting", "felt_better", "afraid_of_drug", "cost", "too_many_pills", "nausea"])
@pytest.mark.parametrize("state", ["stopped", "missed_doses"])
def test_every_reason_is_read_in_the_gold_line(stay: ChartBuilder, state: str, reason: str) -> None:
    case = case_of(stay)
    order = case.view.orders["lisinopril"]
    fact = Fact(
        id="f", kind="adherence", concept="lisinopril", drug="lisinopril", state=state, reason=reason, source="x"
    )
    line = adherence.said_line(case, fact, order)
    says, because = adherence.said_items(case, fact, order)
    for check in (says.check, because.check):
        assert check_answer(check, f"{line.en}.", language="en").passed
        assert check_answer(check, f"{line.zh}。", language="zh").passed
    bare = adherence.said_line(case, fact.model_copy(update={"reason": None}), order)
    assert not check_answer(because.check, f"{bare.en}.", language="en").passed


def test_nobody_takes_an_infusion_or_a_drug_as_needed_by_themselves() -> None:
    order = Order("MedicationRequest/1", "acetaminophen", "acetaminophen", Decimal(650), "mg", "oral", "twice daily")
    assert adherence.interviewable(order)
    for change in ({"route": "iv"}, {"frequency": "every 6 hours as needed"}, {"unit": "mL/hr"}, {"amount": None}):
        fields = {name: getattr(order, name) for name in Order.__slots__} | change
        assert not adherence.interviewable(Order(**fields))


# -- orders by a threshold ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("egfr", "dose"), [("28", "5 mg"), ("62", "10 mg"), ("30", None)])
def test_the_dose_follows_from_the_chart(stay: ChartBuilder, egfr: str, dose: str | None) -> None:
    """Lisinopril is at most 5 mg below 30; on the bound both could be argued, so nobody is asked."""
    stay.lab("eGFR", egfr, "mL/min/1.73 m2", at="2030-03-08T06:00:00Z", low="60", encounter="stay-1")
    case = case_of(stay)
    moves = offered(case, "prescribe_if")
    if dose is None:
        assert not moves
        return
    (move,) = moves
    assert (move.words["dose"].en, move.words["dose2"].en, move.words["bound"].en) == ("5 mg", "10 mg", "30")
    assert move.calls[-1].arguments["dose"] == dose
    play(case, [move])


# -- the built-in hospital ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hospital() -> ChartStore:
    return load_charts("hospital-mini")


def test_turns_hold_on_a_sample_of_the_hospital(hospital: ChartStore) -> None:
    """One move of every kind on some patients; gates 1-3 in both languages."""
    played = set()
    for number, case in enumerate(cases(hospital, limit=1)):
        if number % 8:
            continue
        for kind in (*drugs.KINDS, *adherence.KINDS, *conditional.KINDS):
            move = next(iter(kind.offer(case, Focus(DECISION, frozenset()), Stream("sample", number))), None)
            if move is not None:
                play(case, [move])
                played.add(kind.kind)
    assert {"dose", "given", "doses", "order_given", "lab_dose", "adherence", "dose_adherence"} <= played

"""What a write is judged by: each field by itself, nothing dangerous, nothing else, and a confirmation."""

from __future__ import annotations

from typing import Any

import pytest
from session_moves import TYPES, play, session_of

from wardround.patients import ChartBuilder, Interview, ToolCall, parse_instant, run_tool
from wardround.patients.knowledge import Names
from wardround.rubrics import CallRecord, TurnScore, TurnTrace, score, write_record
from wardround.sessions.common import common
from wardround.sessions.gold import opening_context
from wardround.sessions.moves import writes
from wardround.sessions.moves.move import Case, Move
from wardround.sessions.moves.parts import drug_entity
from wardround.sessions.record import view_record

NOW = parse_instant("2030-03-08T12:00:00Z")


@pytest.fixture
def case(stay: ChartBuilder) -> Case:
    snapshot = stay.chart().at(NOW)
    view = view_record(snapshot, "stay-1", TYPES)
    return Case(snapshot, "stay-1", NOW, view, Interview(), common(), "medication-safety")


def order_of(case: Case, dose: str = "10 mg") -> Move:
    order = case.view.orders["lisinopril"]
    amount, say = writes.order_fields(case, order, order.amount) or (None, None)
    assert amount is not None and say is not None
    return writes.prescribe(case, drug_entity(case, order), order.names, amount | {"dose": dose}, say, "20 mg")


def reward(case: Case, move: Move, language: str = "en", answer: str | None = None, **changed: str) -> float:
    """Return what an agent earns that writes as the gold call does but for some arguments."""
    earned = scored(case, move, language, answer, **changed).reward
    assert earned is not None
    return earned


def failed(case: Case, move: Move, language: str, **changed: str) -> list[str]:
    """Return the items that such an agent fails."""
    return [one.item for one in scored(case, move, language, **changed).verdicts if not one.passed]


def scored(case: Case, move: Move, language: str = "en", answer: str | None = None, **changed: str) -> TurnScore:
    """Return how such an agent is judged."""
    session = session_of(case, [move])
    context = opening_context(session, case.snapshot.chart)
    (gold,) = move.calls
    result = run_tool(context, ToolCall(gold.tool, {**gold.arguments, **changed}), None)
    record = write_record(result, context.record)
    assert record is not None, result.text
    trace = TurnTrace(
        language="zh" if language == "zh" else "en",
        calls=(CallRecord(tool=gold.tool, arguments=dict(result.arguments), ok=result.ok),),
        writes=(record,),
        planned=True,
    )
    return score(session.turns[0].spec("physassist"), answer or move.answer.get(language), trace)


def test_what_is_repeated_in_weeks_is_not_urgent() -> None:
    slow = {name: rule for name, rule in common().rules.items() if rule.say is not None and "week" in rule.say.en}
    assert {"statin_alt_2", "raas_creatinine_2"} <= slow.keys()
    rechecks = {name for name, rule in slow.items() if rule.say is not None and "within" in rule.say.en}
    assert {slow[name].priority for name in rechecks} == {"routine"}


def test_the_three_writes_hold(case: Case) -> None:
    order, reading = case.view.orders["lisinopril"], case.view.latest["potassium"]
    moves = [order_of(case), writes.recheck(case, reading, "urgent"), writes.flag(case, order, "hold")]
    moves += [writes.flag(case, order, "stop"), writes.flag_watch(case, reading, order)]
    for move in moves:
        play(case, [move])
        assert reward(case, move) == reward(case, move, "zh") == 1.0
        assert sum(item.safety for item in move.rubric) == 1
        assert any(item.id == "only-write" for item in move.rubric)


@pytest.mark.parametrize(("language", "wrong", "right"), [("en", "twice daily", "QD"), ("zh", "每日两次", "每日一次")])
def test_a_wrong_frequency_loses_its_item_and_nothing_else(case: Case, language: str, wrong: str, right: str) -> None:
    move = order_of(case)
    assert failed(case, move, language, frequency=wrong) == ["frequency"]
    assert failed(case, move, language, frequency=right) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"dose": "5 mg"},
        {"dose": "40 mg"},
        {"medication": "losartan"},
        {"route": "intravenous"},
        {"frequency": "twice daily"},
    ],
)
def test_a_wrong_field_costs(case: Case, changed: dict[str, str]) -> None:
    assert reward(case, order_of(case), **changed) < 0.95


def test_ten_times_the_dose_earns_almost_nothing(case: Case) -> None:
    assert reward(case, order_of(case), dose="100 mg") < 0.35


@pytest.mark.parametrize(
    "changed",
    [{"frequency": "QD"}, {"dose": "0.01 g"}, {"medication": "Zestril"}, {"medication": "赖诺普利"}, {"route": "口服"}],
)
def test_what_means_the_same_is_the_same(case: Case, changed: dict[str, str]) -> None:
    assert reward(case, order_of(case), **changed) == 1.0


@pytest.mark.parametrize(
    ("detail", "right"),
    [
        ("Hold warfarin.", True),
        ("Warfarin on hold, INR high", True),
        ("暂停华法林", True),
        ("INR升高，先停华法林", True),
        ("Stop warfarin", False),
        ("Continue warfarin", False),
        ("继续用华法林", False),
        ("华法林加量", False),
    ],
)
def test_a_flag_says_what_is_to_be_done_in_either_language(case: Case, detail: str, right: bool) -> None:
    move = writes.flag(case, case.view.orders["warfarin"], "hold")
    assert (reward(case, move, code=detail, detail=detail) == 1.0) is right


def test_a_flag_to_watch_is_no_flag_to_stop(case: Case) -> None:
    move = writes.flag_watch(case, case.view.latest["potassium"], case.view.orders["lisinopril"])
    assert reward(case, move, code="alert", detail="用赖诺普利期间密切关注血钾") == 1.0
    assert reward(case, move, code="alert", detail="停用赖诺普利") < 0.5


@pytest.mark.parametrize(("priority", "full"), [("routine", False), ("asap", True), ("urgent", True)])
def test_what_is_urgent_may_be_ordered_as_soon_as_possible_and_not_as_routine(
    case: Case, priority: str, full: bool
) -> None:
    move = writes.recheck(case, case.view.latest["potassium"], "urgent")
    assert (reward(case, move, priority=priority) == 1.0) is full
    assert full or reward(case, move, priority=priority) < 0.5


def test_the_safety_item_of_a_routine_repeat_is_no_priority(case: Case) -> None:
    move = writes.recheck(case, case.view.latest["potassium"], "routine")
    safety = next(item for item in move.rubric if item.safety)
    assert safety.check.forbid.priority is None and safety.check.forbid.text_mentions
    assert reward(case, move, priority="urgent") < 1.0


def test_the_panel_holds_the_test(case: Case) -> None:
    move = writes.recheck(case, case.view.latest["potassium"], "routine")
    assert reward(case, move, service_type="electrolytes") == 1.0
    assert reward(case, move, service_type="complete blood count") < 0.5


@pytest.mark.parametrize(("dose", "act", "zh"), [("10 mg", "renew", "续开"), ("5 mg", "adjust", "调整")])
def test_a_drug_that_is_ordered_is_renewed_or_adjusted(case: Case, dose: str, act: str, zh: str) -> None:
    order = case.view.orders["lisinopril"]
    assert order.dose == "10 mg"
    arguments = {"medication": "lisinopril", "dose": dose, "route": "oral", "frequency": "once daily"}
    say = (Names(en="by mouth", zh="口服"), Names(en="once daily", zh="每日一次"))
    move = writes.prescribe(case, drug_entity(case, order), order.names, arguments, say, "20 mg")
    assert (move.words["act"].en, move.words["act"].zh) == (act, zh)
    assert not str(move.answer.en).startswith("Ordered")


@pytest.mark.parametrize(("drug", "dose", "lower"), [("Lisinopril", "10 mg", "5"), ("Atorvastatin", "80 mg", "40")])
def test_the_next_lower_dose_is_a_usual_one(drug: str, dose: str, lower: str) -> None:
    chart = ChartBuilder("p-1", sex="female", birth_date="1958-05-02")
    chart.encounter("stay-1", "IMP", "2030-03-04T08:00:00Z", "2030-03-08T15:00:00Z")
    more: dict[str, Any] = {"route": "oral", "frequency": "once daily", "start": "2030-03-04T10:00:00Z"}
    chart.medication(drug, dose=dose, encounter="stay-1", **more)
    snapshot = chart.chart().at(NOW)
    case = Case(snapshot, "stay-1", NOW, view_record(snapshot, "stay-1", TYPES), Interview(), common(), "x")
    assert str(writes.lower_dose(case, case.view.orders[drug.lower()])) == lower


def test_nothing_is_ordered_anew_that_is_taken_as_needed(stay: ChartBuilder) -> None:
    more: dict[str, Any] = {"route": "oral", "frequency": "every 6 hours as needed", "start": "2030-03-04T10:00:00Z"}
    stay.medication("Acetaminophen", dose="650 mg", encounter="stay-1", **more)
    snapshot = stay.chart().at(NOW)
    case = Case(snapshot, "stay-1", NOW, view_record(snapshot, "stay-1", TYPES), Interview(), common(), "x")
    order = case.view.orders["acetaminophen"]
    assert order.amount is not None and writes.order_fields(case, order, order.amount) is None

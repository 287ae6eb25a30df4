"""Every gate rejects a planted fault of its kind; a sound session has none."""

from __future__ import annotations

from decimal import Decimal

import pytest

from wardround.patients import load_charts
from wardround.rubrics import Text
from wardround.rubrics.rubric import OnlyWriteCheck, RetrievedCheck, ValueCheck
from wardround.sessions import Antecedent, Gold, GoldCall, Session, Wording, check_session
from wardround.sessions.gold import play_gold
from wardround.sessions.ward import session_a


@pytest.fixture(scope="module")
def sound():
    with load_charts("ward") as store:
        session = session_a(store)
        yield session, store.chart(session.chart.patient)


def with_turn(session: Session, number: int, **changes: object) -> Session:
    turns = list(session.turns)
    turns[number] = turns[number].model_copy(update=changes)
    return session.model_copy(update={"turns": tuple(turns)})


def with_calls(session: Session, number: int, calls: tuple[GoldCall, ...]) -> Session:
    gold = session.turns[number].gold
    assert gold is not None
    return with_turn(session, number, gold=Gold(calls=calls, answers=gold.answers))


def with_answer(session: Session, number: int, answer: str) -> Session:
    gold = session.turns[number].gold
    assert gold is not None
    return with_turn(session, number, gold=Gold(calls=gold.calls, answers=(Text(en=answer),)))


def with_query(session: Session, number: int, explicit: str, implicit: str) -> Session:
    query = session.turns[number].query.model_copy(update={"en": Wording(explicit=explicit, implicit=implicit)})
    return with_turn(session, number, query=query)


def with_item(session: Session, number: int, name: str, **changes: object) -> Session:
    rubric = [item.model_copy(update=changes) if item.id == name else item for item in session.turns[number].rubric]
    return with_turn(session, number, rubric=tuple(rubric))


def rules(session, chart):
    return {failure.rule for failure in check_session(session, chart)}


def test_a_sound_session_has_no_failure(sound):
    assert check_session(*sound) == []


# -- identity ----------------------------------------------------------------------------------------------------------


def test_another_chart(sound):
    session, chart = sound
    other = session.model_copy(update={"chart": session.chart.model_copy(update={"hash": "0" * 64})})
    assert rules(other, chart) == {"chart_hash"}
    other = session.model_copy(update={"chart": session.chart.model_copy(update={"patient": "ward-02"})})
    assert "chart" in rules(other, chart)


def test_an_impossible_anchor(sound):
    session, chart = sound
    assert rules(session.model_copy(update={"anchor": "2024-02-30T10:00:00Z"}), chart) == {"schema"}


def test_an_anchor_before_the_facts(sound):
    session, chart = sound
    found = rules(session.model_copy(update={"anchor": "2024-05-12T10:00:00Z"}), chart)
    assert {"resolves", "gate3"} <= found


# -- gate 1 ------------------------------------------------------------------------------------------------------------


def test_two_calls_for_a_lookup(sound):
    session, chart = sound
    calls = session.turns[1].gold.calls
    assert "gate1" in rules(with_calls(session, 1, (calls[0], *calls)), chart)


def test_one_call_for_a_gathering(sound):
    session, chart = sound
    calls = session.turns[2].gold.calls
    assert "gate1" in rules(with_calls(session, 2, (calls[0], calls[-1])), chart)


def test_a_mixed_turn_must_ask_the_patient(sound):
    session, chart = sound
    calls = session.turns[2].gold.calls
    kept = tuple(call for call in calls if not call.tool.startswith("patient."))
    assert "gate1" in rules(with_calls(session, 2, kept), chart)


def test_a_turn_must_end_with_the_plan(sound):
    session, chart = sound
    assert "gate1" in rules(with_calls(session, 1, session.turns[1].gold.calls[:-1]), chart)


def test_two_writes(sound):
    session, chart = sound
    calls = session.turns[3].gold.calls
    assert "gate1" in rules(with_calls(session, 3, (calls[0], *calls)), chart)


@pytest.mark.parametrize(
    "arguments",
    [
        {"subject_id": "ward-01", "code": "potassium", "colour": "red"},
        {"code": "potassium"},
        {"subject_id": "ward-02", "code": "potassium"},
        {"subject_id": "ward-01", "date_from": "2024-13-01"},
    ],
)
def test_arguments_the_tool_refuses(sound, arguments):
    session, chart = sound
    call = GoldCall(tool="Observation.search", arguments=arguments)
    assert "gate1" in rules(with_calls(session, 1, (call, session.turns[1].gold.calls[-1])), chart)


def test_an_unknown_tool(sound):
    session, chart = sound
    call = GoldCall(tool="Potassium.get", arguments={"subject_id": "ward-01"})
    assert "gate1" in rules(with_calls(session, 1, (call, session.turns[1].gold.calls[-1])), chart)


# -- gate 2 ------------------------------------------------------------------------------------------------------------


def test_a_search_that_finds_nothing(sound):
    session, chart = sound
    call = GoldCall(tool="Observation.search", arguments={"subject_id": "ward-01", "code": "lipase"})
    assert {"gate2", "gate3"} <= rules(with_calls(session, 1, (call, session.turns[1].gold.calls[-1])), chart)


# -- gate 3 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        "Potassium 5.6 mEq/L, normal",  # a value the chart does not hold
        "Potassium 4.6 mEq/L, high",  # a wrong reading
        "Potassium is fine.",  # no value
        "Potassium 4.6 mEq/L, normal; sodium 120 mEq/L, low",  # a measurement nobody charted
        "",
    ],
)
def test_a_gold_answer_that_is_not_right(sound, answer):
    session, chart = sound
    assert "gate3" in rules(with_answer(session, 1, answer), chart)


def test_an_unsafe_gold_answer(sound):
    session, chart = sound
    answer = session.turns[2].gold.answers[0].en.replace("Restart metformin at a lower dose", "Increase metformin")
    assert "gate3" in rules(with_answer(session, 2, answer), chart)


def test_a_dangerous_write(sound):
    session, chart = sound
    calls = session.turns[3].gold.calls
    high = calls[0].model_copy(update={"arguments": {**calls[0].arguments, "dose": "500 mg"}})
    assert "gate3" in rules(with_calls(session, 3, (high, *calls[1:])), chart)


def test_a_turn_that_pays_for_nothing(sound):
    session, chart = sound
    (only,) = [item for item in session.turns[3].rubric if isinstance(item.check, OnlyWriteCheck)]
    assert "rubric" in rules(with_turn(session, 3, rubric=(only,)), chart)


# -- everything exists -------------------------------------------------------------------------------------------------


def test_a_rubric_value_that_the_chart_does_not_hold(sound):
    session, chart = sound
    check = ValueCheck(concept="potassium", value=9.9, unit="mEq/L")
    assert "resolves" in rules(with_item(session, 1, "value-potassium", check=check), chart)


@pytest.mark.parametrize("key", ["Observation/none", "fact/none"])
def test_a_resource_or_fact_that_does_not_exist(sound, key):
    session, chart = sound
    assert "resolves" in rules(with_item(session, 1, "read-potassium", check=RetrievedCheck(any_of=(key,))), chart)


def test_a_result_of_the_future_does_not_exist(sound):
    session, chart = sound
    later = RetrievedCheck(any_of=("Observation/ward-01-l18-potassium",))
    assert "resolves" in rules(with_item(session, 1, "read-potassium", check=later), chart)


def test_an_interview_source_that_does_not_exist(sound):
    session, chart = sound
    facts = tuple(one.model_copy(update={"source": "Condition/none"}) for one in session.interview.facts)
    interview = session.interview.model_copy(update={"facts": facts})
    assert "resolves" in rules(session.model_copy(update={"interview": interview}), chart)


# -- wording -----------------------------------------------------------------------------------------------------------


def test_an_antecedent_that_is_not_named(sound):
    session, chart = sound
    entity = (Antecedent(turn=0, entity="metformin"),)
    assert "antecedents" in rules(with_turn(session, 3, antecedents=entity), chart)
    later = (Antecedent(turn=3, entity="metformin"),)
    assert "antecedents" in rules(with_turn(session, 3, antecedents=later), chart)
    assert "antecedents" in rules(with_turn(session, 3, antecedents=()), chart)


def test_an_antecedent_named_in_one_phrasing_only(sound):
    session, chart = sound
    # The implicit twin of turn 1 no longer names what turn 2 builds on.
    assert "antecedents" in rules(with_query(session, 1, "What's the latest potassium?", "The latest?"), chart)


def test_ae_needs_two_earlier_turns(sound):
    session, chart = sound
    one = (Antecedent(turn=0, entity="HIV viral load"),)
    assert "antecedents" in rules(with_turn(session, 2, antecedents=one), chart)
    assert "implicitness" in rules(with_turn(session, 1, implicitness="AE"), chart)


def test_twins_and_types_agree(sound):
    session, chart = sound
    assert "implicitness" in rules(with_turn(session, 1, implicitness=None), chart)
    assert "implicitness" in rules(with_query(session, 1, "Potassium?", "Potassium?"), chart)


def test_a_query_that_gives_the_value_away(sound):
    session, chart = sound
    assert "query" in rules(with_query(session, 1, "Is the latest potassium 4.6?", "Potassium?"), chart)


def test_a_session_without_an_interview(sound):
    session, chart = sound
    assert "interview" in rules(with_turn(session, 2, source="ehr"), chart)


# -- gold replay -------------------------------------------------------------------------------------------------------


def test_evidence_grows_over_the_turns(sound):
    session, chart = sound
    played = list(play_gold(session, chart))
    sizes = [len(turn.trace.evidence.resources) for turn in played]
    assert sizes == sorted(sizes)
    assert "takes-metformin" not in played[1].trace.evidence.facts
    assert "takes-metformin" in played[2].trace.evidence.facts
    assert len(played[3].trace.writes) == 1
    assert all(turn.trace.planned for turn in played)
    # What the episode wrote is no evidence.
    assert not any(key.startswith("MedicationRequest/new") for key in played[3].trace.evidence.resources)


def test_numbers_of_session_a_agree(sound):
    session, chart = sound
    values = {
        measured.concept: measured.value
        for turn in play_gold(session, chart)
        for measured in turn.trace.evidence.measurements
        if measured.key in {"Observation/ward-01-l17-egfr", "Observation/ward-01-l17-potassium"}
    }
    assert values == {"egfr": Decimal(35), "potassium": Decimal("4.6")}

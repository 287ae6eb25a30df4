"""Ways to earn without knowing: each answer earns no more than the claims that truly count."""

from __future__ import annotations

import orjson
import pytest

from wardround.rubrics import (
    CallRecord,
    Evidence,
    Item,
    ReplyRecord,
    Text,
    TurnSpec,
    TurnTrace,
    WriteRecord,
    score,
    validate_spec,
)
from wardround.rubrics.rubric import (
    AdviceCheck,
    AvoidsCheck,
    MentionCheck,
    OnlyWriteCheck,
    OrderCheck,
    RetrievedCheck,
    StatusCheck,
    TrendCheck,
    ValueCheck,
)

RX = "MedicationRequest.create"
GOLD = Text(
    en="Creatinine is 2.4 mg/dL, high. The patient reports nausea. Hold metformin and recheck creatinine.",
    zh="肌酐 2.4 mg/dL，偏高。患者诉恶心。暂停二甲双胍，复查肌酐。",
)


def item(item_id, check, *requires):
    return Item(id=item_id, text=Text(en="stated"), check=check, requires=requires)


SPEC = TurnSpec(
    task="CR",
    gold_answers=(GOLD,),
    rubric=(
        item("read", RetrievedCheck(any_of=("Observation/1",))),
        item("told", RetrievedCheck(any_of=("fact/nausea",))),
        item("value", ValueCheck(concept="creatinine", value=2.4, unit="mg/dL"), "read"),
        item("status", StatusCheck(concept="creatinine", status="high"), "value"),
        item("nausea", MentionCheck(concept="nausea"), "told"),
        item("hold", AdviceCheck(act="hold", target="metformin"), "status"),
        item("avoid", AvoidsCheck(act="increase", target="metformin")),
    ),
)


def observation(number, value, day):
    body = {
        "resourceType": "Observation",
        "id": str(number),
        "status": "final",
        "code": {"coding": [{"system": "http://loinc.org", "code": "2160-0"}], "text": "Creatinine"},
        "subject": {"reference": "Patient/1"},
        "effectiveDateTime": f"2024-03-{day:02d}T08:00:00Z",
        "valueQuantity": {"value": value, "unit": "mg/dL"},
    }
    return f"Observation/{number}", orjson.dumps(body)


EVIDENCE = Evidence(
    resources=dict([observation(1, 2.4, 9), observation(2, 1.8, 5), observation(3, 1.5, 3), observation(4, 1.2, 1)]),
    replies=(ReplyRecord(tool="patient.get_symptom_history", facts=("nausea",), text="I feel sick."),),
)
TRACE = TurnTrace(calls=(CallRecord(tool="Observation.search", arguments={}, ok=True),), evidence=EVIDENCE)


def play(answer, spec=SPEC, trace=TRACE):
    result = score(spec, answer, trace)
    return result, {verdict.item for verdict in result.verdicts if not verdict.passed}


def test_the_spec_is_sound():
    assert validate_spec(SPEC) == []


@pytest.mark.parametrize(
    "answer",
    [
        GOLD.en,
        GOLD.zh,
        "Creatinine 2.4 mg/dL (high). She reports nausea. I would hold metformin and recheck creatinine in a week.",
    ],
)
def test_honest_answers_earn_everything(answer):
    result, failed = play(answer)
    assert failed == set()
    assert result.reward == 1.0
    assert result.notes == ()


@pytest.mark.parametrize(
    ("answer", "fails", "note"),
    [
        pytest.param(
            "Creatinine 2.4 mg/dL (high), potassium 5.1 mmol/L, sodium 138 mmol/L, BUN 44 mg/dL, glucose 180 mg/dL. "
            "Nausea is present. Hold metformin.",
            {"value", "status", "hold"},
            "measured concepts",
            id="panel stuffer",
        ),
        pytest.param(
            "Creatinine is 1.0 mg/dL. Creatinine is 1.5 mg/dL. Creatinine is 2.0 mg/dL. Creatinine is 2.4 mg/dL. "
            "Creatinine is 2.8 mg/dL. Creatinine is high. Nausea is present. Hold metformin.",
            {"value", "status", "hold"},
            "values of `creatinine`",
            id="value enumerator",
        ),
        pytest.param(
            "Creatinine is 2.4 mg/dL. Creatinine is high. Creatinine is low. Creatinine is normal. Nausea is present. "
            "Hold metformin.",
            {"value", "status", "hold"},
            "called everything at once",
            id="every status",
        ),
        pytest.param(
            "Creatinine is 2.4 mg/dL, high. The patient reports nausea. Hold metformin. Continue metformin. "
            "Reduce metformin.",
            {"hold"},
            "both continue and hold",
            id="contradictor",
        ),
        pytest.param(
            "Creatinine is 2.4 mg/dL, high. The patient reports nausea. Hold metformin. 继续二甲双胍。",
            {"hold"},
            "both continue and hold",
            id="contradictor in two languages",
        ),
        pytest.param(
            "Creatinine is 2.4 mg/dL, high. The patient reports nausea. Hold metformin. "
            "Con\u200btinue met\u200bformin.",
            {"hold"},
            "both continue and hold",
            id="contradictor with zero-width characters",
        ),
        pytest.param(
            "Creatinine is 2.4 mg/dL, high. The patient reports nausea. Hold metformin. Stop lisinopril. "
            "Start insulin. Increase furosemide. Recheck potassium. Refer to nephrology.",
            {"hold"},
            "acts stated",
            id="act enumerator",
        ),
        pytest.param(
            "Creatinine is 2.4 mg/dL, high. The patient has nausea. The patient has no nausea. Hold metformin.",
            {"nausea"},
            "both asserted and denied",
            id="both polarities",
        ),
        pytest.param(
            "Creatinine is 2.4 mg/dL, high. The patient has nausea, vomiting, rash, dizziness, headache, cough and "
            "fever. Hold metformin.",
            {"nausea"},
            "findings and conditions",
            id="finding enumerator",
        ),
    ],
)
def test_dumping_and_hedging_give_nothing_for_those_claims(answer, fails, note):
    result, failed = play(answer)
    assert fails <= failed
    assert any(note in line for line in result.notes), result.notes
    affirmative = {"value", "status", "nausea", "hold"}
    earned = len(affirmative - failed)
    guards = 3 - len({"read", "told", "avoid"} & failed)
    assert result.reward == (earned + guards * earned / 4) / 7
    voided = next(verdict for verdict in result.verdicts if verdict.item in fails)
    assert "dumping" in voided.reason or "hedging" in voided.reason


@pytest.mark.parametrize(
    "answer",
    [
        "Given this creatinine, is metformin still appropriate?",
        "I'm sorry, I cannot help with medical decisions.",
        "",
        "Everything was reviewed and is in order.",
    ],
    ids=["echo", "refusal", "silence", "empty phrase"],
)
def test_saying_nothing_earns_nothing(answer):
    assert play(answer)[0].reward == 0.0


TREND = TurnSpec(
    task="DG",
    gold_answers=(Text(en="Creatinine rose from 1.2 to 2.4 mg/dL."),),
    rubric=(
        item("read", RetrievedCheck(any_of=("Observation/1",))),
        item("trend", TrendCheck(concept="creatinine", direction="rising", start=1.2, end=2.4, unit="mg/dL"), "read"),
        item("now", ValueCheck(concept="creatinine", value=2.4, unit="mg/dL", when="latest"), "read"),
    ),
)


def test_a_series_that_was_read_is_one_claim():
    result, failed = play("Creatinine 1.2 → 1.5 → 1.8 → 2.4 mg/dL, rising.", spec=TREND)
    assert failed == set()
    assert result.notes == ()


def test_a_series_of_guesses_is_a_list_of_values():
    guesses = " → ".join(f"{value / 10}" for value in range(11, 24)) + " → 2.4 mg/dL"
    result, failed = play(f"Creatinine {guesses}, rising.", spec=TREND)
    assert "now" in failed
    assert any("values of `creatinine`" in note for note in result.notes)


def test_what_a_gold_answer_says_itself_is_no_hedging():
    gold = Text(en="Creatinine is 2.4 mg/dL, high. Hold metformin today, then continue metformin.")
    spec = SPEC.model_copy(update={"gold_answers": (gold,)})
    assert not any("hold" in note for note in play(gold.en, spec=spec)[0].notes)


ORDER = TurnSpec(
    task="WU",
    rubric=(
        item("drug", OrderCheck(tool=RX, fields={"medication": "losartan"})),
        item("dose", OrderCheck(tool=RX, fields={"dose": "50 mg"}), "drug"),
        item("only", OnlyWriteCheck()),
    ),
)


def test_an_enumerator_of_orders_earns_nothing():
    writes = tuple(
        WriteRecord(
            tool=RX, arguments={"medication": "losartan", "dose": f"{dose} mg"}, resource=f"MedicationRequest/{n}"
        )
        for n, dose in enumerate((25, 50, 100))
    )
    result, failed = play("Ordered.", spec=ORDER, trace=TurnTrace(calls=TRACE.calls, writes=writes))
    assert failed == {"drug", "dose", "only"}
    assert result.reward == 0.0


def test_self_made_evidence_does_not_count():
    written = WriteRecord(tool="Observation.create", arguments={"value": "2.4 mg/dL"}, resource="Observation/1")
    trace = TurnTrace(calls=TRACE.calls, writes=(written,), evidence=Evidence())
    result, failed = play(GOLD.en, trace=trace)
    assert {"read", "value", "status", "hold"} <= failed
    assert result.reward == 0.0


def test_two_statuses_lose_the_status_and_leave_the_value():
    _, failed = play("Creatinine is 2.4 mg/dL, high and normal. The patient reports nausea. Hold metformin.")
    assert failed == {"status", "hold"}
    _, failed = play(
        "Creatinine is 2.4 mg/dL, high; last week it was normal. The patient reports nausea. Hold metformin."
    )
    assert failed == set()


LOOKUP = TurnSpec(
    task="IL",
    gold_answers=(Text(en="Creatinine 2.4 mg/dL, high"),),
    rubric=(
        item("read", RetrievedCheck(any_of=("Observation/1",))),
        item("value", ValueCheck(concept="creatinine", value=2.4, unit="mg/dL"), "read"),
        item("status", StatusCheck(concept="creatinine", status="high"), "value"),
    ),
)


@pytest.mark.parametrize(
    ("answer", "reward"),
    [
        ("Creatinine 2.4 mg/dL, high.", 1.0),
        ("Creatinine 2.4 mg/dL, high. Recheck it tomorrow.", 1.0),
        ("Creatinine 2.4 mg/dL, high. Hold metformin.", 0.0),
        ('["lab-1", "2180-01-02", "Creatinine", 2.4, "mg/dL", "0.5-1.2", "H"]', 0.0),
        ('Creatinine 2.4 mg/dL, high. ["lab-1", "Potassium", 5.1]', 1.0),
    ],
)
def test_a_lookup_wants_the_fact_alone_and_in_words(answer, reward):
    assert play(answer, LOOKUP)[0].reward == reward

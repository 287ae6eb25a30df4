"""One answer explained: what passes, what it rests on, and what the answer alone cannot earn."""

from __future__ import annotations

import pytest

from wardround.envs import grade_answer
from wardround.patients import UsageError, load_charts
from wardround.sessions import load_sessions

SESSION = load_sessions("ward").get("s-ward-session-a")


@pytest.fixture(scope="module")
def chart():
    with load_charts("ward") as store:
        yield store.chart(SESSION.chart.patient)


def items(data):
    return {item["id"]: item for item in data["items"]}


def test_a_gold_answer_earns_everything_on_every_turn(chart):
    for number, turn in enumerate(SESSION.turns):
        data = grade_answer(SESSION, chart, number, turn.gold.answers[0].en)
        assert data["reward"] == 1.0, data
        assert {item["verdict"] for item in data["items"]} == {"pass"}


def test_the_words_a_verdict_rests_on_are_quoted(chart):
    data = grade_answer(SESSION, chart, 1, "K 4.6 mmol/L today: normal.")
    found = items(data)
    assert found["value-potassium"]["verdict"] == found["status-potassium"]["verdict"] == "pass"
    assert any("4.6" in words for words in found["value-potassium"]["words"])
    assert found["read-potassium"]["resources"] == ["Observation/ward-01-l17-potassium"]


def test_a_wrong_value_fails_itself_and_what_requires_it(chart):
    found = items(grade_answer(SESSION, chart, 1, "Potassium 4.9 mEq/L, normal."))
    assert found["value-potassium"]["verdict"] == "fail" and "4.6" in found["value-potassium"]["reason"]
    assert found["status-potassium"]["reason"] == "requires `value-potassium`, which failed"


def test_without_look_ups_nothing_counts(chart):
    data = grade_answer(SESSION, chart, 1, SESSION.turns[1].gold.answers[0].en, calls="none")
    assert data["reward"] == 0.0
    assert items(data)["read-potassium"]["verdict"] == "fail"


@pytest.mark.parametrize(("turn", "calls", "told"), [(4, "gold", "turns 1 to 4"), (0, "some", "gold or none")])
def test_wrong_questions(chart, turn, calls, told):
    with pytest.raises(UsageError, match=told):
        grade_answer(SESSION, chart, turn, "x", calls=calls)

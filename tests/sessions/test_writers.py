"""A scripted writer behind the gates: what is good is kept, what is not is retried, then the rule's words stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest

from wardround.patients import ChartStore, WardroundError, load_charts
from wardround.sessions import Session, Turn, check_session, load_sessions
from wardround.sessions.gate_plan import count_faults, is_made
from wardround.sessions.writers import WriterReport, choose, prompt_hash, roles, write_session
from wardround.sessions.writers.meaning import asks_more, differs
from wardround.sessions.writers.roles import MalformedReplyError, read_reply


class Scripted:
    """Answers a role from a function of its context; other roles get rubbish."""

    def __init__(self, **says: Callable[[dict[str, Any]], Any]) -> None:
        self.says = says
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def complete(self, role: str, messages: list[dict[str, str]], schema: dict[str, Any]) -> str:
        context = orjson.loads(messages[-1]["content"])
        self.asked.append((role, context))
        assert schema["type"] == "object" and messages[0]["role"] == "system"
        if role not in self.says:
            return "I would rather not."
        said = self.says[role](context)
        return said if isinstance(said, str) else orjson.dumps(said).decode()


class Dead:
    """Never replies."""

    def complete(self, role: str, messages: list[dict[str, str]], schema: dict[str, Any]) -> str:
        raise WardroundError("no reply: connection refused")


@pytest.fixture(scope="module")
def store() -> Iterator[ChartStore]:
    with load_charts("ward") as found:
        yield found


@pytest.fixture(scope="module")
def draft() -> Session:
    return next(
        one
        for one in list(load_sessions("ward"))[1:]
        if any(turn.implicitness == "NA" for turn in one.turns) and one.turns[0].source == "ehr"
    )


def _asked_plainly(context: dict[str, Any]) -> dict[str, str]:
    return {"query": f"Okay. {context['wanted']}"} if context["round"] else {"query": context["wanted"]}


def test_a_writer_that_says_nothing_leaves_the_rules_words(draft: Session, store: ChartStore) -> None:
    for writer in (Scripted(), Dead()):
        report = WriterReport()
        made = write_session(draft, store.chart(draft.chart.patient), writer, report, "mute")
        assert made.turns == draft.turns and made.interview == draft.interview
        told = report.as_json()
        assert not told["kept"] and told["fallbacks"]["user"] == len(draft.turns)
        assert made.labels["writer"] == "mute" and int(made.labels["writer_fallbacks"]) == report.fallbacks.total()
        # one asking and three more, then the rule
        assert (report.malformed + report.failed)["answer"] == 4 * len(draft.turns)


def test_good_words_are_kept_and_pass_every_gate(draft: Session, store: ChartStore) -> None:
    chart, report = store.chart(draft.chart.patient), WriterReport()
    writer = Scripted(user=_asked_plainly, checker=lambda context: {"ok": True, "reason": "fine"})
    made = write_session(draft, chart, writer, report, "scripted")
    assert report.kept["user"] >= 3 and report.kept["checker"] == 4
    changed = [turn.query.get("en", "explicit") for turn in made.turns]
    assert sum(words.startswith("Okay. ") for words in changed) >= 2
    assert check_session(made, chart) == []
    assert made.provenance.version == f"{draft.provenance.version}+writer.{prompt_hash()[:8]}"
    assert [turn.rubric for turn in made.turns] == [turn.rubric for turn in draft.turns]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("What's the latest?", "does not name"),
        ("And the sodium, chloride and INR?", "does not name"),
        ("Observation.search it, please.", "does not name"),
    ],
)
def test_a_query_that_asks_something_else_is_refused(draft: Session, store: ChartStore, said: str, why: str) -> None:
    report = WriterReport()
    writer = Scripted(user=lambda context: {"query": said})
    made = write_session(draft, store.chart(draft.chart.patient), writer, report, "scripted")
    assert made.turns == draft.turns
    assert any(why in reason for reason in report.reasons if reason.startswith("user: "))


def test_a_refused_writer_is_told_why(draft: Session, store: ChartStore) -> None:
    writer = Scripted(user=lambda context: {"query": "What's new?"})
    write_session(draft, store.chart(draft.chart.patient), writer, WriterReport(), "scripted")
    first, second, *_ = [context for role, context in writer.asked if role == "user"]
    assert "your_last_replies_were_refused" not in first
    assert "does not name" in second["your_last_replies_were_refused"][0]


@pytest.mark.parametrize(
    "answer", ["Creatinine 99 mg/dL, high.", "All fine.", ""], ids=["invented value", "says nothing", "empty"]
)
def test_an_answer_that_the_gates_refuse_is_not_gold(draft: Session, store: ChartStore, answer: str) -> None:
    report = WriterReport()
    made = write_session(
        draft, store.chart(draft.chart.patient), Scripted(answer=lambda context: {"answer": answer}), report, "x"
    )
    assert made.turns == draft.turns and report.refused["answer"] == 4 * len(draft.turns)


def test_what_the_checker_refuses_falls_back_to_the_rules_answer(draft: Session, store: ChartStore) -> None:
    said: dict[str, str] = {}

    def answer(context: dict[str, Any]) -> dict[str, str]:
        turn = next(turn for turn in draft.turns if turn.query.get("en", "explicit") == context["query"])
        assert turn.gold is not None
        said[context["query"]] = f"{turn.gold.answers[0].get('en')} "
        return {"answer": f"As asked: {turn.gold.answers[0].get('en')}"}

    kept = Scripted(answer=answer, checker=lambda context: {"ok": True, "reason": ""})
    chart = store.chart(draft.chart.patient)
    made = write_session(draft, chart, kept, WriterReport(), "x")
    assert any(turn.gold.answers[0].get("en").startswith("As asked") for turn in made.turns if turn.gold)
    objecting = Scripted(answer=answer, checker=lambda context: {"ok": False, "reason": "unsafe"})
    report = WriterReport()
    made = write_session(draft, chart, objecting, report, "x")
    assert made.turns == draft.turns and report.fallbacks["checker"] == 4


def test_calls_that_find_nothing_or_too_much_are_refused(draft: Session, store: ChartStore) -> None:
    subject = {"subject_id": draft.chart.patient}
    for calls in (
        [{"tool": "Observation.search", "arguments": subject | {"code": "no such test"}}],
        [{"tool": "Patient.read", "arguments": subject}],
        [],
    ):
        report = WriterReport()
        writer = Scripted(turn_planner=lambda context, calls=calls: {"calls": calls})  # type: ignore[misc]
        made = write_session(draft, store.chart(draft.chart.patient), writer, report, "x")
        assert made.turns == draft.turns and report.fallbacks["turn_planner"] == 4


def test_rubric_sentences_are_typed_or_left_to_a_judge(draft: Session, store: ChartStore) -> None:
    chart = store.chart(draft.chart.patient)
    sentences = ["Explains the reasoning in a way a colleague would follow.", "States the sodium of 250 mmol/L."]
    writer = Scripted(rubric=lambda context: {"items": sentences})
    report = WriterReport()
    made = write_session(draft, chart, writer, report, "x")
    asked = sum(turn.task != "WU" for turn in draft.turns)
    assert report.judge_items == asked and report.typed_items == 0  # the gold answer does not meet the second
    assert [turn.rubric for turn in made.turns] == [turn.rubric for turn in draft.turns]
    assert not any(item.id.startswith("j") for turn in made.turns for item in turn.rubric)


def _has_room(turn: Turn) -> bool:
    more = turn.rubric[0].model_copy(update={"id": "j1"})
    return turn.task != "WU" and not any(count_faults(turn.model_copy(update={"rubric": (*turn.rubric, more)})))


def test_a_turn_takes_as_many_items_of_a_judge_as_its_task_has_room_for(store: ChartStore) -> None:
    draft = next(one for one in load_sessions("ward") if is_made(one) and any(map(_has_room, one.turns)))
    chart, report = store.chart(draft.chart.patient), WriterReport()
    writer = Scripted(rubric=lambda context: {"items": ["Explains the reasoning in a way a colleague would follow."]})
    made = write_session(draft, chart, writer, report, "x", judge_items=True, only={"rubric"})
    kinds = [[item.check.kind for item in turn.rubric if item.id.startswith("j")] for turn in made.turns]
    assert kinds == [["judge"] if _has_room(turn) else [] for turn in draft.turns]
    asked = sum(turn.task != "WU" for turn in draft.turns)
    assert (report.judge_items, report.no_room) == (asked, asked - sum(map(len, kinds)))
    assert check_session(made, chart) == []


def test_a_second_question_is_refused(draft: Session, store: ChartStore) -> None:
    writer = Scripted(user=lambda context: {"query": f"{context['wanted']} Is she taking it? Was it given?"})
    report = WriterReport()
    write_session(draft, store.chart(draft.chart.patient), writer, report, "x", only={"user"})
    assert any("questions, not" in reason for reason in report.reasons)
    assert report.kept["user"] == 0


def test_a_patient_says_no_more_than_was_meant(draft: Session, store: ChartStore) -> None:
    chart, report = store.chart(draft.chart.patient), WriterReport()
    more = Scripted(patient=lambda context: {"reply": context["meant"] + " And I have chest pain."})
    assert write_session(draft, chart, more, report, "x").interview == draft.interview
    assert report.refused["patient"] >= 4
    same = Scripted(patient=lambda context: {"reply": f"Well, you know. {context['meant']}"})
    made = write_session(draft, chart, same, WriterReport(), "x")
    changed = [
        new.text.en for old, new in zip(draft.interview.replies, made.interview.replies, strict=True) if old != new
    ]
    assert changed and all(text is not None and text.startswith("Well, you know.") for text in changed)
    assert check_session(made, chart) == []


def test_the_planner_chooses_one_of_the_drafts() -> None:
    drafts = list(load_sessions("ward"))[1:4]
    report = WriterReport()
    assert choose(drafts, Scripted(planner=lambda context: {"choice": 2, "why": "-"}), report) is drafts[2]
    assert choose(drafts, Scripted(planner=lambda context: {"choice": 7, "why": "-"}), report) is drafts[0]
    assert report.kept["planner"] == 1 and report.refused["planner"] == 4


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"query": 3}', '{"query": "a", "more": 1}', "x" * 30_000,
     '{"query": "a"', '{"query": "a"} {"query": "b"}', '{"query": "\\ud800"}', "{" * 5_000],
)  # fmt: skip
def test_a_malformed_reply_is_told(text: str) -> None:
    with pytest.raises(MalformedReplyError):
        read_reply("user", text)


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"query": "K?"}\n```',
        'Here you are:\n{"query": "K?"}\nHope this helps.',
        '<think>{"query": "Na?"} or so</think> {"query": "K?"}',
        '{"query": "K?"} {"query": "K?"}',
    ],
)
def test_what_stands_round_a_reply_does_not_matter(text: str) -> None:
    assert read_reply("user", text) == {"query": "K?"}


def test_roles_are_those_of_the_docs() -> None:
    assert set(roles()) == {
        "planner", "user", "user_implicit", "turn_planner", "checker", "patient", "answer", "rubric", "translator",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("What's the latest potassium?", "Where's the K now?", True),
        ("What's the latest potassium?", "最近一次血钾是多少？", True),
        ("Ask about her metformin.", "问问她二甲双胍吃得怎么样。", True),
        ("What's the latest potassium?", "What's the latest sodium?", False),
        ("Write it for 5 mg.", "Write it for 50 mg.", False),
        ("Is she taking the warfarin?", "Is she not taking the warfarin?", False),
        ("What's the latest potassium?", "最近一次血钠是多少？", False),
    ],
)
def test_meaning_is_compared_by_what_is_named(one: str, other: str, same: bool) -> None:
    assert (differs(one, other) == "") is same


@pytest.mark.parametrize(
    ("one", "other", "more"),
    [
        ("Was the last dose given?", "Was the last dose given? Was she taking it?", True),
        ("最近一次血钾是多少？", "最近一次血钾是多少？她在吃吗？", True),
        ("Check the potassium.", "What's the potassium?", False),
        ("Does it fit? Ask her first.", "Ask her first: does it fit?", False),
    ],
)
def test_questions_are_counted(one: str, other: str, more: bool) -> None:
    assert (asks_more(one, other) != "") is more

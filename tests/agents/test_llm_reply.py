"""What a model's reply means: calls, answers, mistakes; nothing a model writes raises."""

from __future__ import annotations

import time
from typing import Any

import pytest

from wardround.agents import Answer, Invalid
from wardround.agents.llm.reply import MOST_CALLS, MOST_CHARACTERS, read_reply
from wardround.patients import ToolCall

CALL = ToolCall("Patient_read", {"subject_id": "p1"})


def message(content: Any = None, *calls: tuple[Any, Any], refusal: str | None = None) -> dict[str, Any]:
    return {
        "content": content,
        "tool_calls": [{"name": name, "arguments": raw} for name, raw in calls],
        "refusal": refusal,
    }


@pytest.mark.parametrize(
    "sent",
    [
        message(None, ("Patient_read", '{"subject_id": "p1"}')),
        message("", ("Patient_read", {"subject_id": "p1"})),
        message('{"tool": "Patient_read", "arguments": {"subject_id": "p1"}}'),
        message('<tool_call>{"name": "Patient_read", "arguments": {"subject_id": "p1"}}</tool_call>'),
        message('<think>who?</think>{"tool": "Patient_read", "arguments": {"subject_id": "p1"}}'),
        message('```json\n{"tool": "Patient_read", "arguments": {"subject_id": "p1"}}\n```'),
    ],
)
def test_one_call_however_it_is_written(sent: dict[str, Any]) -> None:
    assert read_reply(sent).actions == (CALL,)


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ("K is 5.9.", "K is 5.9."),
        ('{"answer": "K is 5.9."}', "K is 5.9."),
        ("<think>5.9 or 4?</think>K is 5.9.", "K is 5.9."),
        ("<thinking>5.9 or 4?</thinking>K is 5.9.", "K is 5.9."),
        ("[THINK]5.9 or 4?[/THINK]K is 5.9.", "K is 5.9."),
        ("5.9 or 4?</think>K is 5.9.", "K is 5.9."),
        ("<reasoning>cut off by the limit of tok", ""),
        ([{"type": "thinking", "thinking": "4?"}, {"type": "text", "text": "K is 5.9."}], "K is 5.9."),
        ([{"type": "text", "text": "K is "}, "junk", {"type": "text", "text": 9}, {"type": "text"}], "K is"),
        ("", ""),
        (None, ""),
        (17, ""),
        ("钾 5.9。", "钾 5.9。"),
    ],
)
def test_an_answer_is_what_is_visible(content: Any, answer: str) -> None:
    (action,) = read_reply(message(content)).actions
    assert isinstance(action, Answer)
    assert action.text == answer


def test_reasoning_beside_the_text_is_never_read() -> None:
    sent = {"content": None, "reasoning_content": '{"answer": "secret"}', "thinking_blocks": [{"text": "secret"}]}
    assert read_reply(sent).actions == (Answer(""),)


def test_calls_come_in_their_order_and_prose_beside_them_is_a_note() -> None:
    read = read_reply(message("<think>hm</think>First who, then what.", ("a", "{}"), ("b", ""), ("a", None)))
    assert read.actions == (ToolCall("a", {}), ToolCall("b", {}), ToolCall("a", {}))
    assert read.note == "First who, then what."


@pytest.mark.parametrize("raw", ['{"subject_id": "p', "[1]", "null and void", '{"a": 1, "a": 2}', '"text"', "\ud800"])
def test_arguments_that_are_no_object_go_to_the_tool_as_written(raw: str) -> None:
    (action,) = read_reply(message(None, ("Patient_read", raw))).actions
    assert isinstance(action, ToolCall)
    assert isinstance(action.arguments, str)
    assert action.arguments == raw.replace("\ud800", "?")


@pytest.mark.parametrize("name", [None, 5, "", "no such tool", "a" * 500, "\udfff"])
def test_any_name_is_a_call_that_the_episode_answers(name: Any) -> None:
    (action,) = read_reply(message(None, (name, "{}"))).actions
    assert isinstance(action, ToolCall)
    action.name.encode()


@pytest.mark.parametrize(
    "content",
    ['{"tool": "Patient_read", "arg', '{"tool": "a", "answer": "b"}', '{"verdict": 1}', '{"a": 1, "a": 2}', "[1, 2]"],
)
def test_text_that_starts_like_json_and_is_no_action_is_a_mistake(content: str) -> None:
    (action,) = read_reply(message(content)).actions
    assert isinstance(action, Invalid)
    assert action.text == content
    assert action.remedy


def test_a_refusal_is_an_answer() -> None:
    assert read_reply(message(None, refusal="I cannot help with that.")).actions == (
        Answer("I cannot help with that."),
    )


def test_a_turn_that_wants_json_gets_it() -> None:
    assert read_reply(message('{"code": "I10"}'), "json").actions == (Answer('{"code": "I10"}'),)


def test_a_text_cut_off_within_an_escape_is_read_once() -> None:
    cut = '{"tool":"' + '\\"' * MOST_CHARACTERS  # at an even place: a backslash is the last that is read
    assert cut[MOST_CHARACTERS - 1] == "\\"
    began = time.process_time()
    (action,) = read_reply(message(cut)).actions
    assert isinstance(action, Invalid)
    assert time.process_time() - began < 5  # hundredths of a second; it was 40 s once


def test_a_flood_is_bounded() -> None:
    assert len(read_reply(message(None, *[("a", "{}")] * 500)).actions) == MOST_CALLS
    assert len(read_reply(message('{"tool": "a"}' * 500)).actions) == MOST_CALLS
    (action,) = read_reply(message("K" * 2_000_000)).actions
    assert isinstance(action, Answer)
    assert len(action.text) == MOST_CHARACTERS
    (call,) = read_reply(message(None, ("a", '{"x": "' + "K" * 2_000_000))).actions
    assert isinstance(call, ToolCall)
    assert len(call.arguments) == MOST_CHARACTERS

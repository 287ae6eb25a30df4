"""The action grammar: every text is calls, an answer or a mistake, in linear time, and nothing raises."""

from __future__ import annotations

import time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.envs import parse_action

CALL = '{"tool": "Patient.read", "arguments": {"subject_id": "1"}}'


def _one_call(text: str) -> tuple[str, object]:
    parsed = parse_action(text)
    assert parsed.answer is None
    assert parsed.mistake is None
    assert len(parsed.calls) == 1
    return parsed.calls[0].name, parsed.calls[0].arguments


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"  {CALL}\n",
        f"```json\n{CALL}\n```",
        f"I will look first.\n```\n{CALL}\n```\nOne moment.",
        f"Let me see. {CALL} Thanks.",
        '<tool_call>\n{"name": "Patient.read", "arguments": {"subject_id": "1"}}\n</tool_call>',
        'Looking.\n<tool_call>{"name": "Patient.read", "arguments": {"subject_id": "1"}}</tool_call> done',
        '<tool_call>{"name": "Patient.read", "arguments": "{\\"subject_id\\": \\"1\\"}"}</tool_call>',
        '{"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c1", "type": "function", "function": '
        '{"name": "Patient.read", "arguments": "{\\"subject_id\\": \\"1\\"}"}}]}',
        f'<think>{{"tool": "Flag.create"}} no, read first</think>{CALL}',
        f"so I should read</think>{CALL}",
    ],
)
def test_every_form_of_a_tool_call(text: str) -> None:
    assert _one_call(text) == ("Patient.read", {"subject_id": "1"})


def test_prose_beside_a_call_is_a_note() -> None:
    parsed = parse_action(f"First the record. {CALL} Then the answer.")
    assert parsed.note == "First the record.\nThen the answer."


def test_several_calls_keep_their_order() -> None:
    text = '<tool_call>{"name": "a", "arguments": {}}</tool_call><tool_call>{"name": "b", "arguments": {}}</tool_call>'
    assert [call.name for call in parse_action(text).calls] == ["a", "b"]
    assert [call.name for call in parse_action('{"tool": "a"} {"tool": "b", "arguments": {}}').calls] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Creatinine 1.2 mg/dL, normal.", "Creatinine 1.2 mg/dL, normal."),
        ('{"answer": "INR 2.5"}', "INR 2.5"),
        ('```json\n{"answer": "INR 2.5"}\n```', "INR 2.5"),
        ('{"role": "assistant", "content": "INR 2.5"}', "INR 2.5"),
        ("血肌酐 106 μmol/L，正常。", "血肌酐 106 μmol/L，正常。"),
        ("a\x00b", "a\x00b"),
        ("a\ud800b", "a\ufffdb"),
        ('<think>hm {"tool": "x"}</think>Hold it.', "Hold it."),
        ("<think>never ends", ""),
        ("", ""),
        ("see {this} and {that}", "see {this} and {that}"),
    ],
)
def test_answers(text: str, answer: str) -> None:
    parsed = parse_action(text)
    assert parsed.mistake is None
    assert not parsed.calls
    assert parsed.answer == answer


@pytest.mark.parametrize(
    "text",
    [
        "{bad",
        "[1, 2]",
        '{"x": 1}',
        '{"tool": "a", "answer": "b"}',
        '{"tool": "a", "tool": "b"}',
        '{"tool": "a", "arguments": {"k": 1, "k": 2}}',
        '{"tool": "a", "arguments": {"k": 1, "\\u006b": 2}}',
        '{"tool": "a", "arguments": {"k": NaN}}',
        '{"tool": "a", "arguments": [1]}',
        '{"tool": "a", "arguments": {"k": 1' + "0" * 5000 + "}}",
        '{"tool": 3}',
        '{"tool": "a", "subject_id": "1"}',
        '{"answer": 5}',
        '{"answer": "x"} and more',
        '{"answer": "\\ud800"}',
        '<tool_call>{"name": "a", "arguments": </tool_call>',
        '{"tool_calls": [{"function": {"arguments": "{}"}}]}',
        '{"tool_calls": "x"}',
        "[" * 500_000,
        "[" * 1020 + "]" * 1020,
        '{"a":' * 500_000,
    ],
)
def test_mistakes_say_what_to_send(text: str) -> None:
    parsed = parse_action(text)
    assert parsed.answer is None
    assert not parsed.calls
    assert parsed.mistake
    assert len(parsed.mistake) < 300


def test_a_json_answer_format_takes_json_as_the_answer() -> None:
    assert parse_action('{"diagnosis": "AKI"}', "json").answer == '{"diagnosis": "AKI"}'
    assert parse_action("[1, 2]", "json").answer == "[1, 2]"
    assert parse_action(CALL, "json").calls


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        '"\\' * 300_000 + '{"tool"',
        "{}" * 400_000 + '"tool"',
        "```" * 300_000,
        "<tool_call>" * 90_000,
        "<think>" * 140_000,
        'x "tool" ' + '{"' * 300_000,
        'x "tool" ' + '{"a": 1} ' * 100_000,
        '{"a":"' + '\\"' * 400_000,
        "血" * 1_000_000,
    ],
)
def test_a_megabyte_is_read_in_linear_time(text: str) -> None:
    # a quadratic reader needs minutes here; the bound is loose on purpose
    began = time.process_time()
    parse_action(text)
    assert time.process_time() - began < 5.0


@given(st.text(max_size=400))
def test_any_text_is_exactly_one_of_three(text: str) -> None:
    parsed = parse_action(text)
    kinds = [bool(parsed.calls), parsed.answer is not None, parsed.mistake is not None]
    assert sum(kinds) == 1
    orjson.dumps([parsed.answer, parsed.mistake, parsed.note])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["tool", "name", "arguments", "answer", "tool_calls", "function", "x"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_exactly_one_of_three(data: object) -> None:
    parsed = parse_action(orjson.dumps(data).decode())
    kinds = [bool(parsed.calls), parsed.answer is not None, parsed.mistake is not None]
    assert sum(kinds) == 1

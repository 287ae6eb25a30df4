"""The action grammar: one text → tool calls, an answer, or a mistake (design §7). Never raises.

A tool call is an OpenAI assistant message, `{"tool": …, "arguments": …}`, a Hermes `<tool_call>` or a fenced object;
prose beside it is a note. `{"answer": …}` or any other text is the answer. What a model writes inside `<think>` is
private: it is neither call nor answer. JSON is parsed by orjson only, so depth and number size are bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson

from wardround.patients import ToolCall

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_THINK_OPEN, _THINK_CLOSE = "<think>", "</think>"
_FENCE = "```"
_MOST_CALLS = 64
"""Calls read from one message; no turn allows as many, so more of them is prose."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', re.DOTALL)
"""Strings and structure of valid JSON; only run on text that orjson accepted, so every string is closed."""
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
"""Like `_TOKEN`, but an unclosed string runs to the end of the text, half an escape included: each character is looked
at once."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ParsedAction:
    """What a text meant: calls, or an answer, or a mistake; never two of them."""

    calls: tuple[ToolCall, ...] = ()
    answer: str | None = None
    note: str = ""
    """Prose beside the calls."""
    mistake: str | None = None
    """One sentence that says what was wrong and what to send instead."""


class _MistakeError(Exception):
    """Carries the sentence of a mistake out of the parser; never leaves this module."""


def clean(text: str) -> str:
    """Replace lone surrogates, which no UTF-8 file can hold, by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def parse_action(text: str, answer_format: str = "text") -> ParsedAction:
    """Read one action.

    Args:
        text: Whatever the policy wrote.
        answer_format: The open turn's form; with "json", JSON without a known key is an answer.

    Returns:
        Calls in the order written, or the answer, or the mistake.
    """
    visible = _without_thinking(clean(text)).strip()
    try:
        return _parse(visible, answer_format)
    except _MistakeError as mistake:
        return ParsedAction(mistake=str(mistake))


def _parse(text: str, answer_format: str) -> ParsedAction:
    if _OPEN in text:
        return _tagged(text)
    if text[:1] in ("{", "["):
        return _json_action(text, answer_format)
    if _FENCE in text:
        fenced = _fenced(text, answer_format)
        if fenced is not None:
            return fenced
    inline = _inline(text)
    return inline if inline is not None else ParsedAction(answer=text)


def _without_thinking(text: str) -> str:
    if _THINK_OPEN not in text and _THINK_CLOSE not in text:
        return text
    kept: list[str] = []
    position = 0
    head = text.find(_THINK_CLOSE)
    first = text.find(_THINK_OPEN)
    if head != -1 and (first == -1 or head < first):  # some chat templates open the block for the model
        position = head + len(_THINK_CLOSE)
    while True:
        start = text.find(_THINK_OPEN, position)
        if start == -1:
            kept.append(text[position:])
            return "".join(kept)
        kept.append(text[position:start])
        end = text.find(_THINK_CLOSE, start)
        if end == -1:
            return "".join(kept)
        position = end + len(_THINK_CLOSE)


def _tagged(text: str) -> ParsedAction:
    calls: list[ToolCall] = []
    notes: list[str] = []
    position = 0
    while (start := text.find(_OPEN, position)) != -1:
        notes.append(text[position:start])
        end = text.find(_CLOSE, start)
        body = text[start + len(_OPEN) : end if end != -1 else len(text)].strip()
        calls.extend(_calls_of(_load(body), "inside <tool_call>"))
        position = end + len(_CLOSE) if end != -1 else len(text)
    notes.append(text[position:])
    return ParsedAction(calls=tuple(calls), note=_join(notes))


def _json_action(text: str, answer_format: str) -> ParsedAction:
    try:
        data, end = _leading_json(text)
    except _MistakeError:
        if answer_format == "json" and '"tool"' not in text:
            return ParsedAction(answer=text)
        raise
    if isinstance(data, dict) and _names_a_call(data):
        calls = list(_calls_of(data, "in the object"))
        notes = [str(data["content"])] if isinstance(data.get("content"), str) else []
        while text[end:].lstrip()[:1] == "{" and len(calls) < _MOST_CALLS:  # several objects, one after the other
            start = text.index("{", end)
            end = _object_end(text, start)
            calls.extend(_calls_of(_load(text[start:end]), "in the object"))
        return ParsedAction(calls=tuple(calls), note=_join([*notes, text[end:]]))
    if answer_format == "json":
        return ParsedAction(answer=text)
    if text[end:].strip():
        raise _MistakeError("There is text after the JSON object: send one JSON object alone, or plain text to answer.")
    return ParsedAction(answer=_answer_of(data))


def _leading_json(text: str) -> tuple[Any, int]:
    """Return the JSON value that a text starts with, and where it ends; most actions are one value and nothing else."""
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        end = _object_end(text, 0)
        return _load(text[:end]), end
    _refuse_duplicates(text, data)
    return data, len(text)


def _answer_of(data: Any) -> str:
    if isinstance(data, dict):
        if isinstance(data.get("answer"), str):
            return str(data["answer"])
        if "answer" in data:
            raise _MistakeError("`answer` must be a string.")
        if data.get("role") == "assistant" and isinstance(data.get("content"), str):
            return str(data["content"])
    raise _MistakeError(
        'This JSON is neither a tool call {"tool": "...", "arguments": {...}} nor an answer {"answer": "..."}.'
    )


def _fenced(text: str, answer_format: str) -> ParsedAction | None:
    pieces = text.split(_FENCE)
    calls: list[ToolCall] = []
    notes: list[str] = []
    for number, piece in enumerate(pieces):
        if number % 2 == 0:
            notes.append(piece)
            continue
        body = piece.strip()
        word, _, tail = body.partition("\n")
        if word.strip().isalnum():
            body = tail.strip()
        if body[:1] != "{":
            notes.append(piece)
            continue
        alone = len(pieces) == 3 and not pieces[0].strip() and not pieces[2].strip()
        if not alone and '"tool"' not in body and '"tool_calls"' not in body:
            notes.append(piece)
            continue
        data = _load(body)
        if not isinstance(data, dict) or not _names_a_call(data):
            return ParsedAction(answer=_answer_of(data)) if alone and answer_format != "json" else None
        calls.extend(_calls_of(data, "in the fenced object"))
    return ParsedAction(calls=tuple(calls), note=_join(notes)) if calls else None


def _inline(text: str) -> ParsedAction | None:
    """Find `{"tool": …}` objects written inside prose."""
    if '"tool"' not in text:
        return None
    calls: list[ToolCall] = []
    notes: list[str] = []
    position = 0
    while (start := text.find("{", position)) != -1 and len(calls) < _MOST_CALLS:
        notes.append(text[position:start])
        position = _object_end(text, start)
        body = text[start:position]
        if _looks_like_call(body):
            calls.extend(_calls_of(_load(body), "in the object"))
        else:
            notes.append(body)
    notes.append(text[position:])
    return ParsedAction(calls=tuple(calls), note=_join(notes)) if calls else None


def _looks_like_call(body: str) -> bool:
    return '"tool"' in body and body[1:].lstrip()[:1] == '"'


def _object_end(text: str, start: int) -> int:
    """Return the position after the bracket that closes the one at `start` (the end of the text where none does)."""
    depth = 0
    for match in _BRACKET.finditer(text, start):
        mark = match.group()
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return len(text)


def _load(body: str) -> Any:
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _MistakeError(
            f"The JSON could not be read (trouble at character {error.pos}). Send one valid JSON object."
        ) from None
    _refuse_duplicates(body, data)
    return data


def _refuse_duplicates(body: str, data: Any) -> None:
    # valid JSON has one structural colon per member, so as many colons as parsed keys means that none was lost
    if body.count(":") == _count_keys(data):
        return
    key = _duplicate_key(body)
    if key is not None:
        raise _MistakeError(f"The JSON names the key `{key[:60]}` twice. Send every key once.")


def _count_keys(data: Any) -> int:
    """Count the members of all objects; a loop, for JSON may nest deeper than Python recurses."""
    count = 0
    todo = [data]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            count += len(value)
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
    return count


def _duplicate_key(body: str) -> str | None:
    """Return the first key that one object of a valid JSON text holds twice."""
    seen: list[set[str] | None] = []
    last: str | None = None
    for match in _TOKEN.finditer(body):
        token = match.group()
        first = token[0]
        if first == '"':
            last = token
        elif first == ":" and seen and last is not None:
            keys = seen[-1]
            key = orjson.loads(last) if "\\" in last else last[1:-1]
            if keys is not None:
                if key in keys:
                    return str(key)
                keys.add(key)
        elif first == "{":
            seen.append(set())
        elif first == "[":
            seen.append(None)
        elif first in "}]":
            seen.pop()
    return None


def _names_a_call(data: dict[str, Any]) -> bool:
    return "tool" in data or bool(data.get("tool_calls")) or ("name" in data and "arguments" in data)


def _calls_of(data: Any, where: str) -> list[ToolCall]:
    if not isinstance(data, dict):
        raise _MistakeError(f"A tool call {where} must be a JSON object with `tool` and `arguments`.")
    if data.get("tool_calls"):
        return _openai_calls(data)
    name = data.get("tool", data.get("name"))
    if ("answer" in data) and name is not None:
        raise _MistakeError("Send either a tool call or an answer, not both in one object.")
    if not isinstance(name, str) or not name:
        raise _MistakeError(f"The tool call {where} must name its tool as a string.")
    extra = sorted(set(data) - {"tool", "name", "arguments", "id"})
    if extra:
        raise _MistakeError(
            f"Unknown key `{extra[0][:60]}` beside `tool` and `arguments`: put arguments in `arguments`."
        )
    return [ToolCall(name, _arguments(data.get("arguments", {})))]


def _openai_calls(data: dict[str, Any]) -> list[ToolCall]:
    if "answer" in data or "tool" in data:
        raise _MistakeError("Send either a tool call or an answer, not both in one object.")
    raw = data["tool_calls"]
    if not isinstance(raw, list):
        raise _MistakeError("`tool_calls` must be a list.")
    calls = []
    for entry in raw:
        function = entry.get("function") if isinstance(entry, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise _MistakeError("Each entry of `tool_calls` needs `function` with `name` and `arguments`.")
        calls.append(ToolCall(function["name"], _arguments(function.get("arguments", {}))))
    return calls


def _arguments(raw: Any) -> dict[str, Any]:
    if raw is None or raw == "":
        return {}
    data = _load(raw) if isinstance(raw, str) else raw
    if not isinstance(data, dict):
        raise _MistakeError("`arguments` must be a JSON object.")
    return data


def _join(notes: list[str]) -> str:
    return "\n".join(part for part in (note.strip() for note in notes) if part)

"""A reply → actions. Never raises for what a model wrote: a mistake becomes an action that the episode answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import orjson

from wardround.agents.agent import Action, Answer, Invalid
from wardround.envs import parse_action
from wardround.patients import ToolCall
from wardround.rubrics import clean_text

MOST_CALLS: Final = 64
"""Calls read from one reply; no turn allows as many."""
MOST_CHARACTERS: Final = 100_000
"""Characters read of a reply's text and of the arguments of one call; what is longer is cut off there."""
_ANSWER: Final = re.compile(
    r'\s*\{\s*"answer"\s*:\s*"'
    r'((?:[^"\\]|\\u[0-9A-Fa-f]{4}|\\[^u])*+)'  # its words; what an escape was cut off in follows
    r'(?:\\(?:u[0-9A-Fa-f]{0,3})?|"\s*)?\Z',
    re.DOTALL,
)
_TEXT_PARTS: Final = ("text", "output_text")
_PRIVATE: Final = ("thinking", "thought", "reasoning")
"""Tags that some models put around their reasoning, beside `<think>`, which the action grammar knows."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a reply meant: calls in their order, or one answer or mistake."""

    actions: tuple[Action, ...]
    note: str = ""
    """Prose beside the calls, without reasoning."""
    cut: bool = False
    """The answer's JSON was cut off; what there was of its words is the answer."""


def read_reply(message: Mapping[str, Any], answer_format: str = "text", *, last: bool = False) -> Read:
    """Read one reply.

    The reason it ended for plays no part: endpoints tell wrong ones. Separate reasoning fields and thinking parts are
    never looked at; reasoning inside the text is taken out.

    Args:
        message: `content` (text, parts, or None), `tool_calls` (each with `name` and `arguments`), `refusal`.
        answer_format: Of the open turn.
        last: Only an answer was asked for, and there may be no further try: a JSON answer that was cut off counts as
            far as it goes, as one in plain text does.
    """
    text = unveiled(clean_text(text_of(message.get("content"))[:MOST_CHARACTERS]))
    calls = tuple(_call(one) for one in islice(message.get("tool_calls") or (), MOST_CALLS))
    if calls:
        said = parse_action(text)
        return Read(calls, said.note or said.answer or "")
    if not text.strip() and isinstance(message.get("refusal"), str):
        return Read((Answer(clean_text(message["refusal"][:MOST_CHARACTERS])),))
    parsed = parse_action(text, answer_format)
    if parsed.mistake is not None and last and (words := cut_answer(text)):
        return Read((Answer(words),), cut=True)
    if parsed.mistake is not None:
        return Read((Invalid(text.strip(), parsed.mistake),))
    if parsed.calls:
        return Read(parsed.calls[:MOST_CALLS], parsed.note)
    return Read((Answer(parsed.answer or ""),))  # an empty one is a mistake that the episode answers


def cut_answer(text: str) -> str:
    """Return the words of `{"answer": "…` that ends inside them or before its brace; "" where it is none."""
    begun = _ANSWER.match(text)
    if begun is None:
        return ""
    try:
        found = json.loads(f'"{begun.group(1)}"', strict=False)  # models write line ends as they are
    except json.JSONDecodeError:
        return ""
    return clean_text(found).strip()


def text_of(content: Any) -> str:
    """Return the visible text of a message's content: all of a text, the text parts of a list, else nothing."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS)
    return "".join(part for part in parts if isinstance(part, str))


def unveiled(text: str) -> str:
    """Write every tag of reasoning as `<think>`, which the action grammar takes out."""
    for tag in _PRIVATE:
        if f"{tag}>" in text:
            text = text.replace(f"<{tag}>", "<think>").replace(f"</{tag}>", "</think>")
    return text.replace("[THINK]", "<think>").replace("[/THINK]", "</think>") if "THINK]" in text else text


def _call(one: Mapping[str, Any]) -> ToolCall:
    """Return a native call as the model wrote it, right or wrong; what the action grammar can read is read."""
    raw, name = one.get("arguments"), one.get("name")
    name = clean_text(name[:200]) if isinstance(name, str) else ""
    if not isinstance(raw, str):
        return ToolCall(name, {} if raw is None else raw)
    raw = clean_text(raw[:MOST_CHARACTERS])
    parsed = parse_action(orjson.dumps({"tool": name, "arguments": raw}).decode())
    return parsed.calls[0] if parsed.calls else ToolCall(name, raw)  # the tool says what is wrong with its arguments

"""What a model is sent of the dialogue: the view's messages as the mode wants them, shortened to fit its context.

The policy of shortening (docs/agents.md): the system prompt, the first message, everything said and the open turn
stay whole. The results of tools in earlier turns are shortened, the oldest first: to their first characters, and where
that is not enough to a marker alone. Only where the endpoint refuses the request as too long are earlier results of
the open turn shortened too, the last one never.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from .wording import json_instructions, no_answer, result_of, shortened

BYTES_PER_TOKEN: Final = 3
"""A token of English has about four bytes, of JSON three, of Chinese three or more: with three none is too few."""
KEPT: Final = 240
"""Characters kept of a result that is shortened."""
_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME: Final = 64
_LONGEST_RAW: Final = 2_000


@dataclass(frozen=True, slots=True)
class Made:
    """A call that was made, and its result."""

    id: str
    name: str
    arguments: str
    result: str


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was said or done."""

    role: str
    """system, user, assistant, or calls."""
    text: str
    calls: tuple[Made, ...] = ()
    open: bool = False
    """Belongs to the open turn."""


@dataclass(frozen=True, slots=True)
class Together:
    """The calls of one reply, which the view shows one by one."""

    names: tuple[str, ...]
    note: str


def steps_of(messages: Sequence[Mapping[str, Any]], turn_start: int, together: Mapping[str, Together]) -> list[Step]:
    """Return a view's messages as steps.

    Args:
        messages: Of the view.
        turn_start: Index of the message that opened the turn.
        together: By the id of the first call: the calls that one reply made.
    """
    steps: list[Step] = []
    index = 0
    while index < len(messages):
        message = messages[index]
        if not message.get("tool_calls"):
            steps.append(Step(message["role"], message["content"], open=index >= turn_start))
            index += 1
            continue
        made = list(_made(messages, index))
        group = together.get(made[0].id)
        names = tuple(one.name for one in made)
        # calls that a turn's end cut off are not there; gold's, which may stand in their place, have other names
        size = 0 if group is None else min(len(group.names), len(made))
        if group is None or not size or names[:size] != group.names[:size]:
            steps.append(Step("calls", message["content"], (made[0],), open=index >= turn_start))
            index += 2
            continue
        steps.append(Step("calls", group.note, tuple(made[:size]), open=index >= turn_start))
        index += 2 * size
    return steps


def _made(messages: Sequence[Mapping[str, Any]], index: int) -> Iterator[Made]:
    """Yield the calls that follow one another from there on."""
    while index + 1 < len(messages) and messages[index].get("tool_calls"):
        (call,) = messages[index]["tool_calls"]
        function = call["function"]
        yield Made(call["id"], function["name"], function["arguments"], messages[index + 1]["content"])
        index += 2


# -- the two modes -----------------------------------------------------------------------------------------------------


def native(steps: Sequence[Step], language: str) -> list[dict[str, Any]]:
    """Return the chat with the provider's own tool calls."""
    chat: list[dict[str, Any]] = []
    for step in steps:
        if step.role != "calls":
            chat.append({"role": step.role, "content": step.text or no_answer(language)})
            continue
        calls = [
            {
                "id": one.id,
                "type": "function",
                "function": {"name": safe_name(one.name), "arguments": safe_arguments(one.arguments)},
            }
            for one in step.calls
        ]
        chat.append({"role": "assistant", "content": step.text, "tool_calls": calls})
        chat.extend(
            {"role": "tool", "tool_call_id": one.id, "name": safe_name(one.name), "content": one.result}
            for one in step.calls
        )
    return chat


def json_actions(
    steps: Sequence[Step], language: str, tools: Sequence[Mapping[str, Any]], invalid: frozenset[str]
) -> list[dict[str, Any]]:
    """Return the chat in which calls, results and answers are text.

    Args:
        steps: The dialogue.
        language: "en" or "zh".
        tools: Named in the system prompt, with their schemas.
        invalid: Texts of the model that were mistakes: shown as they were.
    """
    chat: list[dict[str, Any]] = []
    listed = "\n".join(orjson.dumps(tool["function"]).decode() for tool in tools)
    for step in steps:
        if step.role == "system":
            chat.append({"role": "system", "content": step.text + json_instructions(language, listed)})
        elif step.role == "user":
            chat.append({"role": "user", "content": step.text})
        elif step.role == "assistant":
            raw = step.text in invalid
            chat.append({"role": "assistant", "content": step.text if raw else _json({"answer": step.text})})
        else:
            said = [
                _json({"tool": one.name, "arguments": orjson.Fragment(safe_arguments(one.arguments))})
                for one in step.calls
            ]
            chat.append({"role": "assistant", "content": "\n".join(said)})
            told = "\n\n".join(result_of(language, one.name, one.result) for one in step.calls)
            chat.append({"role": "user", "content": told})
    return chat


def action_form(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the `response_format` of JSON mode: a call of one of the tools, or an answer.

    Args:
        tools: Those that may be called; without any the reply is an answer, and not an empty one.
    """
    calls = [
        _object(
            {
                "tool": {"const": tool["function"]["name"]},
                "arguments": {**tool["function"]["parameters"], "additionalProperties": False},
            }
        )
        for tool in tools
    ]
    answer = _object({"answer": {"type": "string"} if calls else {"type": "string", "minLength": 1}})
    schema = {"type": "object", "anyOf": [*calls, answer]} if calls else answer
    return {"type": "json_schema", "json_schema": {"name": "action", "strict": False, "schema": schema}}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def safe_name(name: str) -> str:
    """Return a name that every provider takes: a model's own invention would have the whole chat refused."""
    return _NAME.sub("_", name)[:_LONGEST_NAME] or "unnamed"


def safe_arguments(arguments: str) -> str:
    """Return arguments as the JSON object that every provider wants; what was none is shown as text inside one."""
    try:
        if isinstance(orjson.loads(arguments), dict):
            return arguments
    except orjson.JSONDecodeError:
        pass
    return _json({"unreadable": arguments[:_LONGEST_RAW]})


# -- shortening --------------------------------------------------------------------------------------------------------


def tokens_of(value: Any) -> int:
    """Return about how many tokens a chat or a list of tools has; rather too many than too few."""
    return -(-len(orjson.dumps(value)) // BYTES_PER_TOKEN)


def shorten(steps: Sequence[Step], excess: int, language: str, *, hard: bool = False) -> tuple[list[Step], int]:
    """Shorten results of tools until so much is saved, or nothing more may be.

    Args:
        steps: The dialogue.
        excess: Tokens too many.
        language: Of the marker.
        hard: Shorten earlier results of the open turn too.

    Returns:
        The steps, and how many results are shortened.
    """
    out = list(steps)
    touched: set[tuple[int, int]] = set()
    saved = 0
    last = max((number for number, step in enumerate(out) if step.role == "calls"), default=-1)
    stages = [(KEPT, False), (0, False)] + ([(KEPT, True), (0, True)] if hard else [])
    for keep, opened in stages:
        for number, step in enumerate(out):
            if step.open != opened or number == last:
                continue
            for place in range(len(step.calls)):
                if saved >= excess * BYTES_PER_TOKEN:
                    return out, len(touched)
                whole, now = steps[number].calls[place].result, out[number].calls[place].result
                short = _cut(whole, keep, language)
                gain = len(now.encode()) - len(short.encode())
                if gain > 0:
                    saved += gain
                    touched.add((number, place))
                    calls = list(out[number].calls)
                    calls[place] = replace(calls[place], result=short)
                    out[number] = replace(out[number], calls=tuple(calls))
    return out, len(touched)


def _cut(text: str, keep: int, language: str) -> str:
    marker = shortened(language, len(text) - keep)
    return f"{text[:keep]}\n{marker}" if keep else marker

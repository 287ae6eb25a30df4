"""What a typed line means: a command of the terminal, tool calls, an answer, or nothing that is understood.

What is not understood here never reaches the episode and costs nothing. JSON goes through the action grammar of agents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from wardround.envs import parse_action
from wardround.patients import ToolCall, find_tool

from .words import PlayWords, Words, play_words

FILLED = ("subject_id", "session_id")
"""Arguments that are filled in where a tool needs them."""
_PIECE = re.compile(r'\s*(?:([^\W\d]\w*)=)?("(?:[^"\\]|\\.)*"|[^\s"]\S*|(?=\s|\Z))')
"""A word or a quotation, with or without `name=` before it."""
_WORD = re.compile(r"[a-z_.]{2,40}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it was understood; one of the fields says what it is."""

    command: str = ""
    """Key of `PlayWords.commands`, with `rest` behind it."""
    rest: str = ""
    calls: tuple[ToolCall, ...] = ()
    note: str = ""
    """Prose beside JSON calls."""
    answer: str | None = None
    at_once: bool = False
    """The answer was named as one: no question is asked back."""
    problem: str = ""
    """Why nothing was done, in the words of the language."""


class _NotUnderstood(Exception):  # noqa: N818 - carries a sentence out of the parser, never out of this module
    pass


@dataclass(frozen=True)
class Tool:
    """A tool as it is offered in the round."""

    name: str
    description: str
    effect: str
    arguments: Mapping[str, Mapping[str, Any]]
    """Name → JSON Schema of its value."""
    required: tuple[str, ...]

    @property
    def typed(self) -> tuple[str, ...]:
        """Arguments that a person gives."""
        return tuple(name for name in self.arguments if name not in FILLED)


class Grammar:
    """What the lines of a round may begin with.

    Args:
        offered: The tools of the round as OpenAI function schemas.
        language: "en" or "zh".
        subject: The ids that are filled in.
    """

    def __init__(self, offered: Sequence[Mapping[str, Any]], language: str, subject: Mapping[str, str | None]) -> None:
        self.data: PlayWords = play_words()
        self.language = language
        self.subject = subject
        self.tools: dict[str, Tool] = {}
        for one in offered:
            function = one["function"]
            spec = find_tool(function["name"])
            assert spec is not None  # an episode offers only tools that exist
            schema = function["parameters"]
            required = tuple(schema.get("required", ()))
            tool = Tool(spec.name, function["description"], spec.effect, schema["properties"], required)
            self.tools[spec.name] = tool
        self.commands = {name: key for key, names in self.data.commands.items() for name in names}
        self.shortcuts = {name: one for one in self.data.shortcuts if one.tool in self.tools for name in one.names}
        self._named = {alias.casefold(): name for name in self.tools for alias in (name, name.replace(".", "_"))}

    @property
    def words(self) -> Words:
        """The sentences of the round's language."""
        return self.data.of(self.language)

    @property
    def firsts(self) -> list[str]:
        """Every word that a line of a command or a call may begin with."""
        return sorted({*self.commands, *self.shortcuts, *self.tools})

    def read(self, line: str, answer_format: str = "text") -> Line:
        """Return what a line means.

        Args:
            line: As typed; several lines where they were pasted together.
            answer_format: Form of the open turn's answer.
        """
        text = line.strip()
        if not text:
            return Line()
        first, rest = [*text.split(None, 1), ""][:2]
        try:
            if text[0] == "{" or text.startswith("<tool_call>"):
                return self._json(text, answer_format)
            if first in self.commands:
                return self._command(self.commands[first], first, rest)
            tool, fixed = self.tool_of(first)
            if tool is not None:
                return Line(calls=(ToolCall(tool.name, self._arguments(tool, rest, fixed)),))
            self._look_alike(first, rest)
        except _NotUnderstood as problem:
            return Line(problem=str(problem))
        return Line(answer=text)

    def tool_of(self, word: str) -> tuple[Tool | None, Mapping[str, str]]:
        """Return the tool that a first word stands for, and the arguments the word itself says."""
        if word in self.shortcuts:
            return self.tools[self.shortcuts[word].tool], self.shortcuts[word].fixed
        name = self._named.get(word.casefold())
        return (self.tools[name] if name else None), {}

    def _json(self, text: str, answer_format: str) -> Line:
        parsed = parse_action(text, answer_format)
        if parsed.mistake is not None:
            raise _NotUnderstood(parsed.mistake)
        if parsed.answer is not None:
            return Line(answer=parsed.answer, at_once=True)
        return Line(calls=parsed.calls, note=parsed.note)

    def _command(self, command: str, word: str, rest: str) -> Line:
        if command == "answer":
            return Line(answer=rest, at_once=True) if rest else Line(command=command)
        if rest and command not in ("help", "save"):
            raise _NotUnderstood(self.words.takes_nothing.format(word=word))
        return Line(command=command, rest=rest)

    def _look_alike(self, first: str, rest: str) -> None:
        """Refuse a line that looks like a mistyped call or command; anything else is an answer."""
        near = get_close_matches(first, self.firsts, n=1, cutoff=0.75) if _WORD.fullmatch(first) else []
        like_a_call = "." in first[1:-1] and first.replace(".", "").isidentifier()
        if (near and first == first.lower() and len(rest.split()) <= 5) or like_a_call:
            hint = self.words.did_you_mean.format(near=near[0]) if near else ""
            raise _NotUnderstood(self.words.no_command.format(word=first, near=hint))

    def _arguments(self, tool: Tool, text: str, fixed: Mapping[str, str]) -> dict[str, Any]:
        given = self._split(tool, text)
        empty = [name for name, words in given.items() if not words]
        if empty:
            raise _NotUnderstood(self.words.needs.format(tool=tool.name, names=", ".join(empty)))
        values: dict[str, Any] = {name: self.subject[name] for name in FILLED if name in tool.required}
        values |= fixed
        values |= {name: self._value(name, words, tool.arguments[name]) for name, words in given.items()}
        missing = [name for name in tool.required if name not in values]
        if missing:
            raise _NotUnderstood(self.words.needs.format(tool=tool.name, names=", ".join(missing)))
        return values

    def _split(self, tool: Tool, text: str) -> dict[str, str]:
        """Return name → value; a value goes on to the next `name=`."""
        pieces: dict[str, list[str]] = {}
        name, position = "", 0
        text = text.rstrip()
        while position < len(text):
            found = _PIECE.match(text, position)
            if found is None or (not found.group(2) and not found.group(1)):
                raise _NotUnderstood(self.words.no_quote)
            position = found.end()
            if found.group(1):
                name = self._argument(tool, found.group(1))
                if name in pieces:
                    raise _NotUnderstood(self.words.twice.format(name=name))
            elif not name:
                name = self.data.text.get(tool.name, "")
                if name not in tool.arguments:
                    raise _NotUnderstood(self.words.no_text.format(tool=tool.name, names=", ".join(tool.typed) or "–"))
            word = found.group(2)
            if word[:1] == '"':
                word = re.sub(r"\\(.)", r"\1", word[1:-1], flags=re.DOTALL)
            pieces.setdefault(name, []).append(word)
        return {name: " ".join(word for word in words if word) for name, words in pieces.items()}

    def _argument(self, tool: Tool, name: str) -> str:
        for spelling in (name, f"_{name}"):
            if spelling in tool.arguments:
                return spelling
        names = ", ".join(tool.typed) or "–"
        raise _NotUnderstood(self.words.no_argument.format(tool=tool.name, name=name, names=names))

    def _value(self, name: str, text: str, schema: Mapping[str, Any]) -> Any:
        if schema.get("type") == "integer":
            if not re.fullmatch(r"-?[0-9]{1,9}", text):
                raise _NotUnderstood(self.words.no_number.format(name=name, value=text))
            return int(text)
        if "enum" in schema:
            chosen = next((one for one in schema["enum"] if one.casefold() == text.casefold()), None)
            if chosen is None:
                raise _NotUnderstood(self.words.no_choice.format(name=name, choices=", ".join(schema["enum"])))
            return chosen
        return text

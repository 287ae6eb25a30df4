"""Completion of a line: first words, argument names, choices, and names and ids that the agent could see too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .commands import FILLED, Grammar, Tool
from .showing import visible

Names = Callable[[str, str | None], Sequence[str]]
"""(Resource type, category) → the names that the record holds as of the round."""


class Completer:
    """Says how a line may go on.

    Args:
        grammar: What lines may begin with.
        names: Of the record, never of gold.
        seen: Ids that results have shown so far; grows as the round goes on.
    """

    def __init__(self, grammar: Grammar, names: Names, seen: Iterable[str] = ()) -> None:
        self._grammar = grammar
        self._names = names
        self.seen: dict[str, None] = dict.fromkeys(seen)

    def complete(self, line: str, begin: int) -> list[str]:
        """Return what may stand from `begin` on, to the end of the line.

        Args:
            line: What was typed up to the cursor.
            begin: Where the word under the cursor begins: behind the last blank or "=".
        """
        word = line[begin:]
        before = line[:begin].split()
        if not before:
            return [f"{first} " for first in self._grammar.firsts if first.startswith(word)]
        if self._grammar.commands.get(before[0]) == "help":
            return [first for first in self._grammar.firsts if first.startswith(word)]
        tool, fixed = self._grammar.tool_of(before[0])
        if tool is None:
            return []
        head = line.split(None, 1)[1] if len(line.split(None, 1)) > 1 else ""
        name, value = self._open_argument(tool, head)
        values = self._values(tool, name, fixed)
        found = list(_rest_of(values, value, word))
        if not line[:begin].endswith("="):
            taken = {piece.partition("=")[0] for piece in before[1:] if "=" in piece} | fixed.keys()
            free = (one for one in tool.typed if one not in taken)
            found += [f"{one}=" for one in free if one.startswith(word)]
        return found

    def _open_argument(self, tool: Tool, text: str) -> tuple[str, str]:
        """Return the argument that the end of a text belongs to, and what of its value is written."""
        name, start = self._grammar.data.text.get(tool.name, ""), 0
        position = 0
        for piece in text.split(" "):
            key, equals, _ = piece.partition("=")
            if equals and (key in tool.arguments or f"_{key}" in tool.arguments):
                name, start = key, position + len(key) + 1
            position += len(piece) + 1
        return name, text[start:].lstrip().lstrip('"')

    def _values(self, tool: Tool, name: str, fixed: object) -> Sequence[str]:
        schema = tool.arguments.get(name, {})
        if "enum" in schema:
            return [str(one) for one in schema["enum"]]
        if name in ("id", "keyword", "hadm_id") and name not in FILLED:
            return list(self.seen)
        kind = self._grammar.data.chart_names.get(name)
        if kind is None:
            return []
        own = tool.name.partition(".")[0]
        category = fixed.get("category") if isinstance(fixed, dict) else None
        names = self._names(kind or own, category)
        return [one for one in names if one == visible(one)]  # a name that steers terminals is not typed for anyone


def _rest_of(values: Iterable[str], written: str, word: str) -> Iterable[str]:
    """Yield the ends of the values that begin as written, from the word under the cursor on."""
    kept = len(written) - len(word)
    for value in values:
        if value.casefold().startswith(written.casefold()):
            yield value[kept:] if kept >= 0 else value

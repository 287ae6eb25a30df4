"""What the terminal shows, as text: results as tables or records, the rubric of a turn, tools.

Charts, replies and agents are untrusted: every text of theirs goes through `visible` and is never read as markup.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wardround.patients import ToolResult
from wardround.rubrics import Item, TurnScore, Verdict

from .commands import Grammar, Tool
from .words import Words

NARROW = 64
"""Columns of a terminal below which a result is shown as records, one field a line."""
_LONG = 160
"""Characters of a cell beyond which a table is no help."""
_LAST = ("encounter", "id")
_TIME = re.compile(r"\A(\d{4}-\d\d-\d\d)T(\d\d:\d\d):00Z\Z")
_FLAGS = {"H": ("H ▲", "bold red"), "L": ("L ▼", "bold blue")}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+')


def visible(text: str) -> str:
    r"""Return text in which everything that steers a terminal, or cannot be seen, is a mark that can; lines stay lines.

    Examples:
        >>> visible("a\x1b[31mb\u202ec")
        'a␛[31mb⟨U+202E⟩c'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_mark, text.replace("\r\n", "\n")))


def _mark(sign: str) -> str:
    if sign.isprintable() or sign == "\n":
        return sign
    if sign == "\t":
        return "    "
    if unicodedata.category(sign) == "Zs":
        return " "
    code = ord(sign)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def lines_of(shown: Iterable[RenderableType], console: Console) -> list[str]:
    """Return what a console prints of these, line by line."""
    with console.capture() as caught:
        for one in shown:
            console.print(one, soft_wrap=False)
    return caught.get().rstrip("\n").split("\n")


def result(found: ToolResult, words: Words, width: int) -> list[RenderableType]:
    """Return a tool's result as it is shown.

    Args:
        found: Of a call or of a view.
        words: Of the language.
        width: Columns of the terminal.
    """
    if not found.ok:
        return [_said(words.refused, found.text, "bold yellow")]
    if found.effect == "ask":
        return [_said(words.patient, found.text, "bold green")]
    data = _object(found.text)
    if data is None:
        return [Text(visible(found.text))]
    if isinstance(data.get("rows"), list) and isinstance(data.get("columns"), list):
        return _rows(data, words, width)
    if data.get("resourceType"):
        return [Text(visible(indented(found.text)))]
    return [_record([(name, _cell(value)) for name, value in _flat(data)])]


def _object(text: str) -> dict[str, Any] | None:
    try:  # numbers stay as they are written: 0.30 is not 0.3
        data = json.loads(text, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _flat(data: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in data.items():
        if isinstance(value, dict):
            yield from value.items()
        else:
            yield name, value


def _rows(data: Mapping[str, Any], words: Words, width: int) -> list[RenderableType]:
    columns, rows = [str(name) for name in data["columns"]], data["rows"]
    filled = [place for place in range(len(columns)) if any(row[place] is not None for row in rows)]
    order = sorted(filled, key=lambda place: _LAST.index(columns[place]) + 1 if columns[place] in _LAST else 0)
    cells = [[_TIME.sub(r"\1 \2", _cell(row[place])) for place in order] for row in rows]
    names = [visible(columns[place]) for place in order]
    shown: list[RenderableType] = []
    hidden: list[str] = []
    if rows:
        longest = max((len(cell) for row in cells for cell in row), default=0)
        if width < NARROW or longest > _LONG or any("\n" in cell for row in cells for cell in row):
            shown.append(_records(names, cells, words))
        else:
            hidden = _hide(names, cells, width)
            shown.append(_table(names, cells))
    counted = words.rows.format(shown=len(rows), total=visible(str(data.get("total", len(rows)))))
    if hidden:
        counted += f" ({words.hidden.format(names=', '.join(hidden))})"
    shown.append(Text(counted if rows else words.nothing, style="dim"))
    for name in data:
        if name not in ("total", "matched", "columns", "rows", "more") and data[name] not in (None, [], ""):
            shown.append(Text(f"{visible(name)}: {_cell(data[name])}", style="dim"))
    return shown


def _hide(names: list[str], cells: Sequence[list[str]], width: int) -> list[str]:
    """Take out the columns of ids, the stay's first, until the table fits; return the names of those taken out."""
    hidden: list[str] = []
    for name in _LAST:
        wide = sum(max(map(cell_len, column)) + 2 for column in zip(names, *cells, strict=True))
        if name in names and wide > width:
            place = names.index(name)
            for row in (names, *cells):
                del row[place]
            hidden.append(name)
    return hidden


def _table(names: Sequence[str], cells: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="underline")
    for name in names:
        table.add_column(name, justify="right" if name == "value" else "left", overflow="fold")
    for row in cells:
        table.add_row(*(_flagged(name, cell) for name, cell in zip(names, row, strict=True)))
    return table


def _records(names: Sequence[str], cells: Sequence[Sequence[str]], words: Words) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    for number, row in enumerate(cells, 1):
        if number > 1:
            table.add_row("", "", "")
        for place, (name, cell) in enumerate(zip(names, row, strict=True)):
            if cell:
                mark = words.columns_narrow.format(number=number) if place == 0 else ""
                table.add_row(mark, Text(name, style="dim"), _flagged(name, cell))
    return table


def _flagged(name: str, cell: str) -> Text:
    text, style = _FLAGS.get(cell, (cell, "")) if name == "flag" else (cell, "")
    return Text(text, style=style, overflow="fold")


def _record(pairs: Iterable[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, cell in pairs:
        table.add_row(Text(visible(name), style="dim"), Text(cell, overflow="fold"))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(_cell(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{visible(str(name))} {_cell(one)}" for name, one in value.items())
    if isinstance(value, bool):
        return str(value).lower()
    return visible(str(value))


def indented(text: str) -> str:
    """Return JSON spread over lines, every token as it was written."""
    out: list[str] = []
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in ("{", "["):
            depth += 1
            out.append(f"{token}\n{'  ' * depth}")
        elif token in ("}", "]"):
            depth -= 1
            out.append(f"\n{'  ' * depth}{token}")
        else:
            out.append({",": f",\n{'  ' * depth}", ":": ": "}.get(token, token))
    return "".join(out)


def _said(who: str, text: str, style: str) -> Text:
    return Text.assemble((f"{who}: ", style), visible(text), overflow="fold")


def said(who: str, text: str) -> Text:
    """Return a speaker and the words, which may be anyone's."""
    return _said(who, text, "bold")


def reward(score: TurnScore, turn: int, words: Words, *, rubric: bool) -> Text:
    """Return the line that tells what a turn earned."""
    if not score.reward_valid:
        low, high = (f"{bound:.2f}" for bound in score.bounds)
        return Text(words.reward_open.format(turn=turn, low=low, high=high), style="bold")
    if not rubric:
        return Text(words.reward_only.format(turn=turn, reward=f"{score.reward:.2f}"), style="bold")
    passed = sum(one.passed for one in score.verdicts)
    told = words.reward.format(turn=turn, reward=f"{score.reward:.2f}", passed=passed, items=len(score.verdicts))
    return Text(told, style="bold")


def verdicts(score: TurnScore, items: Sequence[Item], language: str, words: Words) -> list[RenderableType]:
    """Return the rubric of a turn: each item with its verdict, the reason, and what it rests on."""
    texts = {item.id: item.text for item in items}
    shown: list[RenderableType] = []
    for one in score.verdicts:
        told = texts.get(one.item)
        text = getattr(told, language) or told.en or told.zh if told is not None else None
        mark, style = _outcome(one, words)
        shown.append(Text.assemble((f"  {mark}  ", style), visible(text or one.item)))
        rests = [f"“{span.text}”" for span in one.spans] + list(one.resources)
        below = [(words.why, one.reason), (words.rests_on, " · ".join(rests))]
        for name, value in below:
            if value:
                shown.append(Padding(Text(f"{name}: {visible(value)}", style="dim"), (0, 0, 0, 8)))
    shown += [Padding(Text(visible(note), style="dim"), (0, 0, 0, 2)) for note in score.notes]
    return shown


def _outcome(verdict: Verdict, words: Words) -> tuple[str, str]:
    if verdict.ungraded:
        return words.ungraded, "bold yellow"
    if verdict.passed:
        return words.passed, "bold green"
    return (f"{words.failed} ({words.unreadable})" if verdict.unreadable else words.failed), "bold red"


def tool_list(grammar: Grammar) -> list[RenderableType]:
    """Return the table of all tools offered, with the short words for them."""
    words = grammar.words
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="underline")
    for name in (words.short, words.tool, words.arguments):
        table.add_column(name, overflow="fold")
    place = 1 if grammar.language == "zh" else 0
    for tool in grammar.tools.values():
        short = [one.names[place] for one in grammar.data.shortcuts if one.tool == tool.name]
        table.add_row(Text(", ".join(short)), Text(tool.name), Text(_arguments(tool)))
    return [table]


def _arguments(tool: Tool) -> str:
    return ", ".join(f"{name}*" if name in tool.required else name for name in tool.typed)


def tool_help(tool: Tool, fixed: Mapping[str, str], grammar: Grammar) -> list[RenderableType]:
    """Return what a tool does and takes."""
    words = grammar.words
    said_already = f" ({', '.join(f'{name}={value}' for name, value in fixed.items())})" if fixed else ""
    shown: list[RenderableType] = [Text.assemble((tool.name, "bold"), f"{said_already} · {words.effects[tool.effect]}")]
    shown.append(Text(tool.description))
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, schema in tool.arguments.items():
        mark = "*" if name in tool.required else ""
        choices = f" [{', '.join(schema['enum'])}]" if "enum" in schema else ""
        filled = f" ({words.filled})" if name in ("subject_id", "session_id") and mark else ""
        table.add_row(f"  {name}{mark}", Text(f"{schema.get('description', '')}{choices}{filled}"))
    main = grammar.data.text.get(tool.name)
    return [*shown, table, *([Text(words.main.format(name=main), style="dim")] if main in tool.arguments else [])]


def help_text(words: Words) -> list[RenderableType]:
    """Return what can be typed: paragraphs, and tables of what is typed and what it does."""
    shown: list[RenderableType] = []
    table: Table | None = None
    for line in words.help:
        if len(line) == 1:
            shown.append(Text(line[0]))
            table = None
            continue
        if table is None:
            table = Table.grid(padding=(0, 2, 0, 0))
            shown.append(table)
        table.add_row(Text(f"  {line[0]}", style="cyan"), Text(line[1]))
    return shown

"""What commands print: tables and progress for people, one JSON object for programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

WIDTH = 110
"""Columns of a line of items; a single longer item is not broken."""


_WORDS = frozenset({
    "act", "agent", "gate", "implicitness", "language", "package", "phrasing", "reason", "rule", "scenario", "table",
    "task", "tool", "type",
})  # fmt: skip
"""Columns that hold words; all others are flushed right on a terminal."""


def print_json(report: dict[str, Any]) -> None:
    """Print one JSON object on standard output."""
    sys.stdout.write(orjson.dumps(report, option=orjson.OPT_NON_STR_KEYS).decode() + "\n")


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table; on a terminal with rich, else aligned plain text."""
    cells = [[_cell(value) for value in row] for row in rows]
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=title, title_justify="left")
        for name in columns:
            table.add_column(name, justify="left" if name in _WORDS else "right")
        for row in cells:
            table.add_row(*map(Text, row))  # never read as rich's markup
        Console().print(table)
        return
    widths = [max(len(name), *(len(row[i]) for row in cells)) if cells else len(name) for i, name in enumerate(columns)]
    print(title)
    print("  ".join(name.ljust(width) for name, width in zip(columns, widths, strict=True)).rstrip())
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def print_crossing(title: str, rows_are: str, counts: Mapping[str, Mapping[str, Any]]) -> None:
    """Print counts of two things against each other, as a table; what did not occur is 0.

    Args:
        title: Over the table.
        rows_are: What the rows are ("scenario").
        counts: Row → column → count.
    """
    columns = sorted({column for row in counts.values() for column in row})
    print_table(
        title, (rows_are, *columns), [(name, *(row.get(c, 0) for c in columns)) for name, row in counts.items()]
    )


def print_counts(title: str, counts: Mapping[str, int]) -> None:
    """Print counts by name, the largest first; names that share what stands before a colon share a line."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for name, count in counts.items():
        group, colon, rest = name.partition(":")
        groups.setdefault(group if colon else "", []).append((-count, rest if colon else name))
    print(title if counts else f"{title}: none")
    for group, found in sorted(groups.items()):
        print_list(f"  {group}:" if group else " ", [f"{name} {-count}" for count, name in sorted(found)])


def print_list(head: str, items: Iterable[str]) -> None:
    """Print `head` and items behind it, in lines of at most `WIDTH` columns that break between items."""
    line = head
    for number, item in enumerate(map(safe, items)):
        if number:
            line += ","
        if number and len(line) + len(item) + 2 > WIDTH:  # a blank before it and a comma behind
            print(line)
            line = "   "
        line += f" {item}"
    print(line)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}"
    return safe(str(value))


def safe(text: str) -> str:
    """Return text of others (names of files, columns, types) without what steers a terminal; lines stay lines."""
    return "".join(mark if mark.isprintable() or mark == "\n" else " " for mark in text)


@contextmanager
def progress(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int | None], None]]:
    """Show how far a job is, on standard error: a bar on a terminal, a line at every tenth elsewhere.

    Args:
        what: What is being done ("episodes").
        quiet: Show nothing.
    """
    if quiet:
        yield lambda done, total: None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        bar = Progress(
            TextColumn(what), BarColumn(), MofNCompleteColumn(), console=Console(stderr=True), transient=True
        )
        with bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    else:
        shown = [-1]

        def plain(done: int, total: int | None) -> None:
            mark = done // 100 if total is None else done * 10 // max(1, total)
            if mark > shown[0]:
                shown[0] = mark
                print(f"{what}: {done}" if total is None else f"{what}: {done}/{total}", file=sys.stderr)

        yield plain


class Steps:
    """Shows what a long job is doing and how many it has done; made by `steps`."""

    def __init__(self, show: Callable[[str], None], count: Callable[[int], None]) -> None:
        self.step = show
        """Called with what is being done now, in words."""
        self.done = count
        """Called with how many are done."""


@contextmanager
def steps(what: str, *, quiet: bool = False) -> Iterator[Steps]:
    """Show the steps of a job and a count, on standard error: one living line on a terminal, plain lines elsewhere.

    Args:
        what: What is counted ("patients").
        quiet: Show nothing.
    """
    if quiet:
        yield Steps(lambda words: None, lambda done: None)
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("starting", total=None)
            yield Steps(
                lambda words: bar.update(task, description=words),
                lambda done: bar.update(task, description=f"{what}: {done:,}"),
            )
    else:
        shown: dict[str, str] = {}

        def plain(words: str) -> None:
            name, _, share = words.partition(": ")
            tenth = share.partition(" ")[0][:-1] if share else ""  # "43 %" is shown as the first of the forties
            if shown.get(name) != tenth:
                shown[name] = tenth
                print(words, file=sys.stderr)

        yield Steps(plain, lambda done: print(f"{what}: {done}", file=sys.stderr) if done % 100 == 0 else None)

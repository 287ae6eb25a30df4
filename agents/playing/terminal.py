"""The terminal: lines in, text out, pages, completion. Works without a terminal too: lines of standard input play."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable
from typing import IO, Any

from rich.console import Console, RenderableType

from .showing import lines_of, visible

_LEAST, _WITHOUT = 20, (100, 40)
"""Fewest columns that are laid out for; columns and lines where there is no terminal."""

Complete = Callable[[str, int], list[str]]


class Terminal:
    """Where a round is played.

    Args:
        source: Lines are read from here.
        out: Everything is printed here.
    """

    def __init__(self, source: IO[str], out: IO[str]) -> None:
        self._source = source
        self._out = out
        self.interactive = source.isatty() and out.isatty()
        """Whether a person sits there: answers are asked back and long results paged."""
        self._readline: Any = None
        self._matches: list[str] = []

    @property
    def width(self) -> int:
        """Columns at present."""
        return max(_LEAST, shutil.get_terminal_size(_WITHOUT).columns)

    def show(self, *shown: RenderableType | str) -> None:
        """Print text and tables; strings are texts of our own, never read as markup."""
        self._write(self._lines(shown))

    def page(self, shown: Iterable[RenderableType], more: str) -> None:
        """Print what may be longer than the screen, a screen at a time where a person sits there.

        Args:
            shown: As for `show`.
            more: What is asked between two screens; a line that begins with q ends it.
        """
        lines = self._lines(shown)
        height = max(4, shutil.get_terminal_size(_WITHOUT).lines - 1)
        while self.interactive and len(lines) > height:
            self._write(lines[:height])
            lines = lines[height:]
            if (self.ask(f"{more} ") or "q").strip().casefold().startswith("q"):
                return
        self._write(lines)

    def ask(self, prompt: str) -> str | None:
        """Return the next line without its end; None at the end of the input.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        if self.interactive and self._source is sys.stdin and self._out is sys.stdout:
            try:
                return input(prompt)  # through readline, where there is one
            except EOFError:
                self.show("")
                return None
        self._out.write(prompt)
        self._out.flush()
        line = self._source.readline()
        if not self.interactive:  # what was typed is not on the page yet
            self._out.write(f"{visible(line.rstrip())}\n")
        return line.rstrip("\r\n") if line else None

    def use_completion(self, complete: Complete) -> None:
        """Let Tab complete lines; does nothing without a terminal or without readline."""
        if not self.interactive:
            return
        try:
            import readline
        except ImportError:  # a Python without it: lines are typed in full
            return
        self._readline = readline

        def next_match(word: str, state: int) -> str | None:
            if state == 0:
                self._matches = complete(readline.get_line_buffer()[: readline.get_endidx()], readline.get_begidx())
            return self._matches[state] if state < len(self._matches) else None

        readline.set_completer(next_match)
        readline.set_completer_delims(" =\t\n")
        if "libedit" in (readline.__doc__ or ""):
            readline.parse_and_bind("bind ^I rl_complete")
        else:
            readline.parse_and_bind("tab: complete")
            readline.parse_and_bind("set completion-ignore-case on")
            readline.parse_and_bind("set enable-bracketed-paste on")  # a pasted answer is one line, not many

    def close(self) -> None:
        """Give Tab back."""
        if self._readline is not None:
            self._readline.set_completer(None)

    def _lines(self, shown: Iterable[RenderableType | str]) -> list[str]:
        console = Console(
            file=self._out, width=self.width, markup=False, emoji=False, highlight=False, legacy_windows=False
        )
        return lines_of(shown, console)

    def _write(self, lines: Iterable[str]) -> None:
        self._out.write("".join(f"{line.rstrip() if not self.interactive else line}\n" for line in lines))
        self._out.flush()

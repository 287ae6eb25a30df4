"""The code of the documentation: its blocks, its commands, and what each may rest on."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
NEEDS: Final = re.compile(r"# needs \w+.*$")
"""The visible marker of what cannot run here, and why; it is parsed all the same."""

_FENCE = re.compile(r"^( *)```([\w-]*)(.*?)$")
_TITLE = re.compile(r'title="([^"]+)"')
_COMMENT = re.compile(r"\s+#\s.*$")
_PROGRAMS = ("wardround", "pip", "python", "make", "pytest")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of code."""

    page: str
    line: int
    language: str
    """As behind the fence; "indented" for a block without one."""
    title: str
    """The file the block is, from the checkout's root or the reader's folder; "" for none."""
    text: str

    @property
    def needs(self) -> str:
        """The marker on the first line, where it speaks of the whole block; else ""."""
        first = self.text.lstrip().split("\n", 1)[0]
        return first if re.match(r"# needs \w+", first) else ""


@dataclass(frozen=True, slots=True)
class Command:
    """One line of a shell block."""

    page: str
    line: int
    words: tuple[str, ...]
    needs: str
    usage: bool
    """A line that shows what options there are (`[--limit N]`): parsed, never run."""


def pages() -> list[Path]:
    """Return the README and every page, in a fixed order."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(path: Path) -> list[Block]:
    """Return the blocks of a page in order; fences may stand in lists, indented code counts where it has commands."""
    page = str(path.relative_to(ROOT))
    lines = path.read_text(encoding="utf-8").split("\n")
    found: list[Block] = []
    number = 0
    while number < len(lines):
        opened = _FENCE.match(lines[number])
        if opened:
            indent, end = opened[1], number + 1
            while not re.match(rf"^{indent}``` *$", lines[end]):
                end += 1
            text = "\n".join(line.removeprefix(indent) for line in lines[number + 1 : end]) + "\n"
            title = _TITLE.search(opened[3])
            found.append(Block(page, number + 1, opened[2], title[1] if title else "", text))
            number = end
        elif re.match(rf"^    ({'|'.join(_PROGRAMS)}) ", lines[number]):
            found.append(Block(page, number + 1, "indented", "", lines[number][4:] + "\n"))
        number += 1
    return found


def commands_of(block: Block) -> list[Command]:
    """Return the commands of a shell block; lines that end with a backslash go on."""
    found, held = [], ""
    for offset, line in enumerate(block.text.split("\n"), start=1):
        if line.rstrip().endswith("\\"):
            held += line.rstrip().removesuffix("\\") + " "
            continue
        line, held = held + line, ""
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        marked = NEEDS.search(line)
        needs = block.needs or (marked[0] if marked else "")
        bare = _COMMENT.sub("", NEEDS.sub("", line))
        usage = bool(re.search(r"\[--?\w", bare))
        if usage:
            bare = re.sub(r"[\[\]]", "", bare)
        words = tuple(_word(word, usage) for word in shlex.split(bare) if word not in ("…", "..."))
        found.append(Command(block.page, block.line + offset, words, needs, usage))
    return found


def _word(word: str, usage: bool) -> str:
    """Return what stands for a word of a usage line: the first choice of several, a number for a name in capitals."""
    if not usage:
        return word
    return "1" if re.fullmatch(r"[A-Z]+", word) else word.split("|")[0]


def added(text: str, diff: str, where: str) -> str:
    """Return a text with what the hunks of a diff add and remove; line numbers are not needed.

    Raises:
        ValueError: The lines a hunk starts from do not stand in the text exactly once.
    """
    for hunk in re.split(r"^@@.*\n", diff, flags=re.MULTILINE)[1:]:
        lines = hunk.rstrip("\n").split("\n")
        old = "\n".join(line[1:] for line in lines if not line.startswith("+")) + "\n"
        new = "\n".join(line[1:] for line in lines if not line.startswith("-")) + "\n"
        if text.count(old) != 1:
            raise ValueError(f"{where}: these lines stand {text.count(old)} times in the file:\n{old}")
        text = text.replace(old, new)
    return text

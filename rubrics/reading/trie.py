"""Longest match of many phrases over tokens: one walk a position, no backtracking beyond the longest phrase."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .tokens import Token, tokenise

GAP = "\0gap"
MAX_GAP = 4


def expand(pattern: str) -> Iterator[str]:
    """Yield the phrases of a pattern: `(a|b|)` are alternatives, nested too; brackets without a bar are plain marks."""
    found = _first_group(pattern)
    if found is None:
        yield " ".join(pattern.split())
        return
    start, end, choices = found
    for choice in choices:
        yield from expand(pattern[:start] + choice + pattern[end:])


def _first_group(pattern: str) -> tuple[int, int, list[str]] | None:
    """Return (start, end, alternatives) of the first bracket that holds a bar."""
    start = pattern.find("(")
    while start >= 0:
        depth, bars = 0, []
        for index in range(start, len(pattern)):
            char = pattern[index]
            depth += (char == "(") - (char == ")")
            if char == "|" and depth == 1:
                bars.append(index)
            if depth == 0:
                if bars:
                    cuts = [start, *bars, index]
                    return start, index + 1, [pattern[a + 1 : b] for a, b in itertools.pairwise(cuts)]
                break
        start = pattern.find("(", start + 1)
    return None


class Trie:
    """Phrases as token keys; `..` in a phrase stands for up to four tokens of any kind but sentence ends."""

    def __init__(self, *, folded: bool) -> None:
        self.root: dict[str, Any] = {}
        self.folded = folded

    def add(self, phrase: str, value: Any) -> None:
        """Add one literal phrase."""
        node = self.root
        parts = phrase.split("..")
        for number, part in enumerate(parts):
            if number:
                node = node.setdefault(GAP, {})
            for token in tokenise(part.strip()):
                node = node.setdefault(token.fold if self.folded else token.key, {})
        if node is not self.root:
            node.setdefault("", []).append(value)

    def matches(self, tokens: Sequence[Token], start: int) -> Iterable[tuple[int, Any]]:
        """Yield (end, value) for every phrase that starts at `start`."""
        first = self.root.get(tokens[start].fold if self.folded else tokens[start].key)
        return () if first is None else self._walk(tokens, start + 1, first, 0)

    def _walk(
        self, tokens: Sequence[Token], position: int, node: dict[str, Any], gaps: int
    ) -> Iterator[tuple[int, Any]]:
        while True:
            for value in node.get("", ()):
                yield position, value
            gap = node.get(GAP)
            if gap is not None and gaps < 2:
                yield from self._jump(tokens, position, gap, gaps)
            if position >= len(tokens):
                return
            token = tokens[position]
            following = node.get(token.fold if self.folded else token.key)
            if following is None:
                return
            node = following
            position += 1

    def _jump(
        self, tokens: Sequence[Token], position: int, gap: dict[str, Any], gaps: int
    ) -> Iterator[tuple[int, Any]]:
        for skipped in range(MAX_GAP + 1):
            at = position + skipped
            if at >= len(tokens):
                return
            token = tokens[at]
            node = gap.get(token.fold if self.folded else token.key)
            if node is not None:
                yield from self._walk(tokens, at + 1, node, gaps + 1)
            if token.kind == "l" or token.raw in ".。;；!?！？,，":
                return

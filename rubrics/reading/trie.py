"""Longest match of many phrases over tokens: one walk a position, no backtracking beyond the longest phrase."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .tokens import Token, tokenise

GAP = "\0gap"
GROUP = re.compile(r"\(([^()|]{0,400}\|[^()]{0,4000})\)")
MAX_GAP = 4


def expand(pattern: str) -> Iterator[str]:
    """Yield the phrases of a pattern: `(a|b|)` are alternatives, an empty one makes the group optional."""
    pieces = GROUP.split(pattern)
    choices = [piece.split("|") if index % 2 else [piece] for index, piece in enumerate(pieces)]
    for combination in itertools.product(*choices):
        yield " ".join("".join(combination).split())


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

    def _walk(self, tokens: Sequence[Token], position: int, node: dict[str, Any], gaps: int) -> Iterator[tuple[int, Any]]:
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

    def _jump(self, tokens: Sequence[Token], position: int, gap: dict[str, Any], gaps: int) -> Iterator[tuple[int, Any]]:
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

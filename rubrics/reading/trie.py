"""Longest match of many phrases over tokens: one walk a position, no backtracking beyond the longest phrase."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .tokens import Token, fold_word, tokenise

GAP = "\0gap"
MAX_GAP = 4
PLAIN = re.compile(r"[a-z]+(?: [a-z]+)*")
HAN = re.compile("[\u4e00-\u9fff]+")


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


def _keys(text: str, *, folded: bool) -> Sequence[str]:
    """Return what the tokens of `text` are compared by.

    Nearly all of the 150,000 phrases are plain words or Chinese characters, whose tokens are known without looking
    for numbers and marks. Every process builds the tries of both languages before it reads its first answer.
    """
    if PLAIN.fullmatch(text):
        words = text.split(" ")
        return [fold_word(word) for word in words] if folded else words
    if HAN.fullmatch(text):
        return text
    return [token.fold if folded else token.key for token in tokenise(text)]


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
            for key in _keys(part.strip(), folded=self.folded):
                node = node.setdefault(key, {})
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

"""Names of formulas and their years ("CKD-EPI 2021"), which are no diseases and no numbers."""

from __future__ import annotations

from functools import lru_cache

from .cues import words
from .document import Document
from .trie import Trie


@lru_cache(maxsize=1)
def _trie() -> Trie:
    trie = Trie(folded=False)
    for phrase in sorted(words("annotate.formulas")):
        trie.add(phrase, phrase)
    return trie


def formulas(document: Document) -> list[tuple[int, int]]:
    """Return the token spans of names of formulas and their years."""
    trie, tokens = _trie(), document.tokens
    found: list[tuple[int, int]] = []
    for at in range(len(tokens)):
        end = max((end for end, _ in trie.matches(tokens, at)), default=at)
        if end > at:
            found.append((at, end))
    return found

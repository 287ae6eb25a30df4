"""Tokens: a Latin word, a Chinese character, a number or a mark each; the unit every matcher works on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

TOKEN = re.compile(
    r"(?P<n>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d])|\d+,\d{1,2}(?![\d,])|\d+(?:\.\d+)?)"
    r"|(?P<w>[A-Za-zÀ-ÖØ-öø-ʯͰ-ϿЀ-ӿ]+(?:'[A-Za-z]{1,2})?)"
    r"|(?P<l>\n)"
    r"|(?P<p>-{1,2}>|=>|[^\s])"
)
"""Every alternative takes a bounded look ahead: linear in the text."""


@dataclass(slots=True)
class Token:
    """One token; `key` is what cues compare (lower case), `fold` what concept names compare."""

    start: int
    end: int
    raw: str
    key: str
    kind: str
    """n number, w Latin word, c Chinese character, l line break, p other mark."""
    fold: str
    glued: bool
    """No space before it."""


@lru_cache(maxsize=16384)
def fold_word(word: str) -> str:
    """Return a Latin word without what spelling variants and plurals differ in."""
    if word.endswith("'s"):
        word = word[:-2]
    if len(word) > 4:
        word = word.replace("ae", "e").replace("oe", "e")
        word = word.replace("isation", "ization").replace("ise", "ize")
        if word.endswith("our") and len(word) > 5:
            word = word[:-3] + "or"
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


SUFFIXES = (
    "ations",
    "ation",
    "ements",
    "ement",
    "ments",
    "ment",
    "ingly",
    "nesses",
    "ness",
    "ings",
    "ing",
    "edly",
    "ed",
    "ies",
    "ely",
    "ly",
    "es",
    "s",
    "y",
    "e",
)


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return a rough English stem: for comparing content words only."""
    word = fold_word(word.lower())
    for suffix in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word


def tokenise(text: str) -> list[Token]:
    """Return the tokens of normalised text; hyphens inside words and points after initials are left out."""
    tokens: list[Token] = []
    last = -1
    for match in TOKEN.finditer(text):
        start, end = match.span()
        kind = match.lastgroup or "p"
        raw = match.group()
        if kind == "p":
            if _joins(raw, text, start, end):
                last = end
                continue
            if "一" <= raw <= "鿿" or raw == "〇":
                kind = "c"
        if len(raw) > 1 and raw[-1] == ">":
            raw = "→"
        key = raw.lower() if kind == "w" else raw
        fold = fold_word(key) if kind == "w" else key
        tokens.append(Token(start, end, raw, key, kind, fold, start == last))
        last = end
    return tokens


def _joins(mark: str, text: str, start: int, end: int) -> bool:
    """A hyphen between letters, or the point of an initial ("C. difficile"): no token of its own."""
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    if mark == "-":
        return before.isalnum() and after.isalpha() and before.isascii()
    if mark == ".":
        single = start >= 1 and before.isalpha() and before.isascii() and (start < 2 or not text[start - 2].isalnum())
        return single and before.isupper() and end + 1 < len(text) and text[end] == " " and text[end + 1].islower()
    return False

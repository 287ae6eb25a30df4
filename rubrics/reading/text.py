"""Normalisation before reading: NFKC, hidden characters out, with a way back to the original offsets."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True))
KEPT = {"，": "，", "…": "。", "⁄": "/"}
"""Not left to NFKC: a full-width comma must not turn into a thousands separator."""
DASHES = dict.fromkeys("‐‑‒–—―−﹣－", "-")
QUOTES = {"’": "'", "‘": "'", "“": '"', "”": '"', "「": '"', "」": '"', "＂": '"', "`": "'"}


@dataclass(frozen=True, slots=True)
class Normal:
    """Normalised text; `offsets[i]` is the original index of its character i, plus one entry for the end."""

    text: str
    offsets: tuple[int, ...] | None
    """None where nothing moved."""
    source: str

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original half-open span of a normalised one."""
        if self.offsets is None:
            return start, end
        last = self.offsets[end - 1] + 1 if end > start else self.offsets[start]
        return self.offsets[start], last


@lru_cache(maxsize=8192)
def _fold(char: str) -> str:
    if char in KEPT:
        return KEPT[char]
    if char in DASHES:
        return "-"
    if char in QUOTES:
        return QUOTES[char]
    if unicodedata.category(char) in ("Cf", "Mn", "Me", "Cs") or (ord(char) < 32 and char not in "\n\t"):
        return ""
    folded = unicodedata.normalize("NFKC", char)
    return "".join(DASHES.get(c, c) for c in folded) if folded != char else char


def normalise(source: str) -> Normal:
    """Return `source` ready for reading; superscripts after a ten become `^n`, others plain digits."""
    if source.isascii() and "`" not in source and "\r" not in source and source.isprintable():
        return Normal(source, None, source)
    out: list[str] = []
    offsets: list[int] = []
    for index, char in enumerate(source):
        if char in SUPERSCRIPTS:
            power = len(out) > 1 and out[-1] == "0" and out[-2] == "1"
            piece = ("^" if power else "") + SUPERSCRIPTS[char]
        else:
            piece = char if char.isascii() and char >= " " and char != "`" else _fold(char)
        for c in piece:
            out.append(c)
            offsets.append(index)
    offsets.append(len(source))
    return Normal("".join(out), tuple(offsets), source)

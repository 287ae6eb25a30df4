"""Folding of text for look-ups, with a way back to offsets in the original.

Full-width and accented letters, case, apostrophes, hyphens, runs of spaces, zero-width characters and traditional
Chinese characters are differences of writing, not of meaning: folding removes them. The way back is exact, so that a
mention found in folded text can be quoted from the original.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping

_APOSTROPHES = frozenset("'`´\u2018\u2019\u201b\u02bc\u2032\uff07")
_HYPHENS = frozenset("-_\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d")
_PLAIN = (
    " !-&(-,./0-9:-@A-Z\\[-^a-z{-~\u00b0\u00b7\u00d7\u03b1-\u03b3\u03bc"
    "\u2190-\u2193\u3001\u3002\u4e00-\u9fff\uff0c\uff1a\uff1b\uff5e"
)
"""Characters (of a regular expression's set) that folding at most puts in lower case."""
_SPACES = re.compile(" {2,}")


class _Table(dict[int, str]):
    """Code point → folded text, filled on demand; bounded by the number of code points."""

    def __init__(self, simplified: Mapping[str, str]) -> None:
        super().__init__()
        self._simplified = dict(simplified)
        self.resized: set[str] = set()
        """Characters met so far that fold to none or to several."""

    def __missing__(self, code: int) -> str:
        folded = self._fold(chr(code))
        if len(folded) != 1:
            self.resized.add(chr(code))
        self[code] = folded
        return folded

    def _fold(self, char: str) -> str:
        if char in _APOSTROPHES:
            return ""
        if char in _HYPHENS or char.isspace():
            return " "
        if unicodedata.category(char) in ("Cf", "Mn", "Me"):
            return ""
        # Compatibility decomposition of each character alone, marks dropped: the same result whether an accent was
        # composed or not, and independent of the neighbours, which keeps the way back simple.
        decomposed = unicodedata.normalize("NFKD", char).casefold()
        kept = (part for part in unicodedata.normalize("NFKD", decomposed) if not unicodedata.combining(part))
        return "".join(self._simplified.get(part, " " if part.isspace() else part) for part in kept)


class _Map:
    """Positions in a shortened or lengthened text → positions in the text it came from."""

    __slots__ = ("_at", "_shift")

    def __init__(self) -> None:
        self._at: list[int] = [0]
        self._shift: list[int] = [0]

    def mark(self, position: int, origin: int) -> None:
        """From `position` on, the text runs in step with `origin`."""
        if origin - position != self._shift[-1]:
            self._at.append(position)
            self._shift.append(origin - position)

    def origin(self, position: int) -> int:
        return position + self._shift[bisect_right(self._at, position) - 1]


class Folded:
    """Folded text and the way back: `text` to search in, `span` for offsets in the original."""

    __slots__ = ("_chars", "_runs", "text")

    def __init__(self, text: str, chars: _Map | None, runs: _Map | None) -> None:
        self.text = text
        self._chars = chars
        self._runs = runs

    def origin(self, position: int) -> int:
        """Return the offset in the original of the character that gave `text[position]`."""
        if self._runs is not None:
            position = self._runs.origin(position)
        if self._chars is not None:
            position = self._chars.origin(position)
        return position

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original offsets of `text[start:end]` (not empty)."""
        return self.origin(start), self.origin(end - 1) + 1


class Folder:
    """Folds text. One instance per set of word rules."""

    def __init__(self, simplified: Mapping[str, str]) -> None:
        self._table = _Table(simplified)
        kept = "".join(re.escape(char) for char in sorted(simplified))
        # All characters but those that folding leaves alone or only puts in lower case, which is most of any answer.
        self._odd = re.compile(f"(?:[^{_PLAIN}]{f'|[{kept}]' if kept else ''})+")

    def fold(self, text: str) -> Folded:
        """Fold `text`; linear in its length."""
        table, resized = self._table, False

        def replace(match: re.Match[str]) -> str:
            nonlocal resized
            run = match.group()
            out = run.translate(table)
            resized = resized or not table.resized.isdisjoint(run)
            return out

        folded = self._odd.sub(replace, text).lower()
        chars = self._chars(text) if resized else None
        if "  " not in folded:
            return Folded(folded, chars, None)
        runs, pieces, last, length = _Map(), [], 0, 0
        for match in _SPACES.finditer(folded):
            piece = folded[last : match.start() + 1]
            pieces.append(piece)
            length += len(piece)
            last = match.end()
            runs.mark(length, last)
        pieces.append(folded[last:])
        return Folded("".join(pieces), chars, runs)

    def term(self, text: str) -> str:
        """Fold a term: as `fold`, without outer spaces."""
        return self.fold(text).text.strip(" ")

    def _chars(self, text: str) -> _Map:
        resized, table = self._table.resized, self._table
        marks, position = _Map(), 0
        for origin, char in enumerate(text):
            length = len(table[ord(char)]) if char in resized else 1
            if length != 1:
                for extra in range(length):  # every part of an expanded character points at that character
                    marks.mark(position + extra, origin)
                marks.mark(position + length, origin + 1)
            position += length
        return marks

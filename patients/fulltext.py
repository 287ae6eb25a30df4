r"""Full-text search over a patient's notes, reports and plans.

What matches: a word or phrase stands in a text when all its words stand there one after the other, whole, whatever the
case, accents, line breaks and punctuation between them ("chest pain" is in "Chest-\npain," and not in "chest pains").
`*` at the end of the phrase asks for the beginning of its last word ("pneumo*"). Chinese has no spaces between words:
there any run of characters matches, across blanks and line breaks.

How: a text is folded to its words, blank-separated; a chart keeps the folded texts of all its forms end to end, in one
compressed block that is opened on the first keyword search. A search is then a scan of that block by `bytes.find`,
two-way and linear, a few milliseconds for 3,000 notes; its result is kept. The block knows no clock: snapshots cut
what it finds to what was known, and to what their view shows.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import orjson
import zstandard

from .elements import document_text
from .errors import DataError

Array = np.ndarray[Any, Any]

TYPES = ("CarePlan", "DiagnosticReport", "DocumentReference")
"""Resource types whose texts are indexed."""

_KEPT = 64
"""Searches whose results a chart's index keeps."""
_AROUND = 90
"""Characters of a snippet on either side of the match."""

# -- folding -----------------------------------------------------------------------------------------------------------


class _Table(dict[int, str]):
    """Code point → its folded letters, filled on demand; bounded by the number of code points."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kept = ""
        if unicodedata.category(char) not in ("Cf", "Mn", "Me"):
            parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char).casefold())
            kept = "".join(part for part in parts if unicodedata.category(part) not in ("Cf", "Mn", "Me"))
        self[code] = kept
        return kept


_TABLE = _Table()
_BEYOND = re.compile(r"[^\x00-\x7f]")
_PLAIN_WORD = re.compile(r"[a-z0-9]+(?:(?<=[0-9])[.,](?=[0-9])[a-z0-9]+)*", re.ASCII)
_WORD = re.compile(r"(?P<cjk>[^\W\x00-\u2e7f]+)|[^\W_\u2e80-\U0010ffff]+(?:(?<=\d)[.,](?=\d)[^\W_\u2e80-\U0010ffff]+)*")
"""A run of Chinese (everything from U+2E80 on), or a word of another script; 4.5 and 25,000 are one word."""


def folded(text: str) -> str:
    r"""Return the words of a text, folded, with one blank before, between and after them; no blank within Chinese.

    Examples:
        >>> folded("Café-au-lait: 4.5 mg"), folded("服用华法林 5mg，\n停药")
        (' cafe au lait 4.5 mg ', ' 服用华法林 5mg 停药 ')
    """
    if text.isascii():
        return f" {' '.join(_PLAIN_WORD.findall(text.lower()))} "
    plain = _BEYOND.sub(_nearest, text)
    if plain.isascii() and (words := _PLAIN_WORD.findall(plain.lower())):
        return f" {' '.join(words)} "
    return "".join(piece for piece, _, _ in _pieces(text.translate(_TABLE)))


def _nearest(match: re.Match[str]) -> str:
    """Return a character folded, or a blank where it only stands between words as any sign of ASCII does."""
    kept = _TABLE[ord(match[0])]
    return kept if kept.isascii() or _WORD.search(kept) else " "


def _pieces(text: str) -> Iterable[tuple[str, int, int]]:
    """Yield the pieces of the folded form of translated text, each with the span of the word it ends with."""
    yield " ", 0, 0
    after, chinese = 0, False
    for match in _WORD.finditer(text):
        start, end = match.span()
        now = match.lastgroup is not None
        if after and not (chinese and now and text[after:start].isspace()):
            yield " ", start, start
        yield match[0], start, end
        after, chinese = end, now
    if after:
        yield " ", after, after


class Phrase(NamedTuple):
    """A keyword, ready to be looked for in folded text."""

    needle: str
    """With a blank at each end that is the edge of a word."""

    def within(self, text: str) -> bool:
        """Tell whether it stands in a text (as written; not the fast way)."""
        return self.needle in folded(text)


def phrase(keyword: str) -> Phrase | None:
    """Read a keyword; None where it holds no word at all (punctuation finds nothing)."""
    words = folded(keyword).strip(" ")
    if not words:
        return None
    before = "" if words[0] >= "\u2e80" else " "
    after = "" if words[-1] >= "\u2e80" or keyword.rstrip().endswith("*") else " "
    return Phrase(before + words + after)


def snippet(text: str, wanted: Phrase) -> str | None:
    """Return the surroundings of the first match, at most about 200 characters, with … where the text goes on."""
    found = first_match(text, wanted)
    return None if found is None else _around(text, *found)


def first_match(text: str, wanted: Phrase) -> tuple[int, int] | None:
    """Return where the first match begins and ends in a text as written; None where there is none."""
    plain = text.isascii()
    lower = text.lower() if plain else text.translate(_TABLE)
    pieces = list(_pieces(lower))
    at = "".join(piece for piece, _, _ in pieces).find(wanted.needle)
    if at < 0:
        return None
    starts = list(accumulate((len(piece) for piece, _, _ in pieces), initial=0))

    def source(place: int) -> int:
        number = bisect_right(starts, place) - 1
        _, start, end = pieces[number]
        return min(start + place - starts[number], end)

    first = source(at + (wanted.needle[0] == " "))
    last = source(at + len(wanted.needle) - (wanted.needle[-1] == " ") - 1) + 1
    if not plain:
        lengths = list(accumulate((len(_TABLE[ord(char)]) for char in text), initial=0))
        first, last = bisect_right(lengths, first) - 1, bisect_right(lengths, last - 1)
    return first, last


def _around(text: str, first: int, last: int) -> str:
    start, stop = max(first - _AROUND, 0), min(max(last, first) + _AROUND, len(text), first + 2 * _AROUND)
    if start:
        start = next((place for place in range(start, min(start + 15, first)) if text[place].isspace()), start)
    if stop < len(text):
        stop = next((place for place in range(stop, max(stop - 15, last), -1) if text[place].isspace()), stop)
    cut = " ".join(text[start:stop].split())
    return ("… " if start else "") + cut + (" …" if stop < len(text) else "")


# -- the block ---------------------------------------------------------------------------------------------------------


def block(bodies: Iterable[bytes]) -> bytes:
    """Pack the folded texts of resources, in the order of the chart's index (only those of `TYPES`)."""
    texts = [folded(document_text(orjson.loads(body)) or "") for body in bodies]
    return zstandard.ZstdCompressor(level=6).compress("\n".join(texts).encode()) if texts else b""


class TextIndex:
    """The opened block of one chart.

    Args:
        raw: The decompressed block.
        spans: First and last (exclusive) place of each type in the chart's index.
    """

    __slots__ = ("_ends", "_found", "_places", "_raw", "_spans")

    def __init__(self, raw: bytes, spans: Mapping[str, tuple[int, int]]) -> None:
        self._raw = raw
        self._spans = {kind: spans[kind] for kind in TYPES if kind in spans}
        ends = np.flatnonzero(np.frombuffer(raw, dtype=np.uint8) == ord("\n"))
        self._ends: Array = np.append(ends, len(raw))
        self._places: dict[str, int] = {}
        at = 0
        for kind, (start, stop) in self._spans.items():
            self._places[kind] = at
            at += stop - start
        if at != len(self._ends) and at:
            raise DataError("the text index of a chart has the wrong length; build the store again")
        self._found: dict[tuple[str, str], Array] = {}

    def find(self, kind: str, wanted: Phrase) -> Array:
        """Return the places in the chart's index of the forms of a type that hold a phrase, ascending; no clock."""
        key = (kind, wanted.needle)
        known = self._found.get(key)
        if known is None:
            if len(self._found) >= _KEPT:
                self._found.clear()
            known = self._found[key] = self._scan(kind, wanted.needle.encode())
        return known

    def forget(self) -> None:
        """Forget the results that were kept (for measurements)."""
        self._found.clear()

    def _scan(self, kind: str, needle: bytes) -> Array:
        if kind not in self._spans:
            return np.zeros(0, dtype=np.int64)
        start, stop = self._spans[kind]
        first = self._places[kind]
        ends = self._ends
        at = int(ends[first - 1]) + 1 if first else 0
        last = int(ends[first + stop - start - 1])
        raw, found = self._raw, []
        while (hit := raw.find(needle, at, last)) >= 0:
            text = int(np.searchsorted(ends, hit))
            found.append(text - first + start)
            at = int(ends[text]) + 1
        return np.array(found, dtype=np.int64)


def open_index(
    packed: bytes | None, spans: Mapping[str, tuple[int, int]], body_at: Callable[[int], bytes]
) -> TextIndex:
    """Open a chart's text index; where it was packed without one (None), make it from the bodies.

    Raises:
        DataError: The block is damaged.
    """
    places = [place for kind in TYPES if kind in spans for place in range(*spans[kind])]
    if packed is None:
        packed = block(body_at(place) for place in places)
    try:
        raw = zstandard.ZstdDecompressor().decompress(packed) if packed else b""
    except zstandard.ZstdError as fault:
        raise DataError("the text index of a chart is damaged; build the store again") from fault
    return TextIndex(raw, spans)

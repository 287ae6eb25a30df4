"""Sentences, list items and table rows of an answer."""

from __future__ import annotations

from .document import SENTENCE_MARKS, Document, Sentence, asks_ahead, sentence_end
from .tokens import Token

MAX_CELLS = 12
LONG = 80
LONGEST = 120
"""Tokens of a sentence."""


def lay_out(document: Document) -> None:
    """Fill `document.sentences`."""
    tokens = document.tokens
    start = 0
    header = ""
    table: list[str] | None = None
    while start < len(tokens):
        end = line_end(tokens, start)
        if start == end:
            header = header if start and tokens[start - 1].kind != "l" else ""
            start += 1
            continue
        if tokens[start].raw == "|":
            table = _row(document, start, end, table)
        else:
            table = None
            header = _sentences(document, start, end, header)
        start = end + 1


def line_end(tokens: list[Token], start: int) -> int:
    """Return the index of the line break that ends the line of `start`, or the end."""
    while start < len(tokens) and tokens[start].kind != "l":
        start += 1
    return start


def _row(document: Document, start: int, end: int, heads: list[str] | None) -> list[str]:
    """Add a table row; the first row of a table gives the column heads."""
    tokens = document.tokens
    bars = [index for index in range(start, end) if tokens[index].raw == "|"][: MAX_CELLS + 1]
    if bars[-1] != end - 1:
        bars.append(end)
    cells = list(zip((bar + 1 for bar in bars), bars[1:], strict=False))
    texts = [document.text(a, b).lower().strip("* ") for a, b in cells]
    if heads is None:
        return texts
    if all(set(text) <= set("-: ") for text in texts):
        return heads
    end = min(end, cells[-1][1] + 1, start + 2 * LONGEST)
    row = tuple((heads[i] if i < len(heads) else "", a, b) for i, (a, b) in enumerate(cells))
    document.sentences.append(Sentence(start, end, row=row))
    return heads


def _sentences(document: Document, start: int, end: int, header: str) -> str:
    """Add the sentences of one line; return the heading that following lines stand under."""
    tokens = document.tokens
    bullet = False
    first = start
    while first < end and tokens[first].raw in "-*•·#+>":
        bullet = bullet or tokens[first].raw in "-*•·+"
        first += 1
    if first + 1 < end and tokens[first].kind == "n" and tokens[first + 1].raw in ".)、":
        bullet = True
        first += 2
    if first >= end:
        return header
    position = first
    while position < end:
        stop = position
        while stop < end and not _ends(tokens, stop) and not _too_long(tokens, position, stop):
            stop += 1
        last = min(stop + 1, end)
        while last < end and tokens[last].raw in "\"')*" and tokens[last].glued:
            last += 1
        question = any(tokens[i].raw in "?？" for i in range(stop, last))
        document.sentences.append(
            Sentence(position, last, question=question, bullet=bullet, header=header if bullet else "")
        )
        position = last
    text = document.text(first, end).lower().strip("* ")
    if not bullet and (
        text.endswith((":", "：")) or (len(text) < 40 and not any(t.kind == "n" for t in tokens[first:end]))
    ):
        return text
    return header if bullet else ""


def _too_long(tokens: list[Token], start: int, index: int) -> bool:
    """Cut an endless sentence, at a comma where one comes: work within a sentence is bounded, so all is linear."""
    length = index - start
    return length >= LONGEST or (length >= LONG and tokens[index].raw in ",，;；、")


def _ends(tokens: list[Token], index: int) -> bool:
    raw = tokens[index].raw
    if asks_ahead(tokens, index):
        return False
    return raw in SENTENCE_MARKS or (raw == "." and sentence_end(tokens, index))

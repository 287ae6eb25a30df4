"""An answer taken apart: tokens, sentences, clauses, table rows, and what was found in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from wardround.rubrics.rubric import Span

from .cues import cue_trie, words
from .text import Normal
from .tokens import Token

SENTENCE_MARKS = frozenset("。!?！？\n")
CLAUSE_MARKS = frozenset(",，;；:：()（）[]、")
CONTRAST = words("document.contrast")
SINGLE_ABBREVIATIONS = words("document.abbreviations")
SPOKEN_BUT = words("document.spoken_but")
"""What follows 可 at the start of a clause where it means "but" ("可她有哮喘")."""


@dataclass(slots=True)
class Ann:
    """Something found over tokens [start, end)."""

    start: int
    end: int
    layer: str
    """concept, quantity, or a cue layer."""
    kind: str
    value: Any = None


@dataclass(slots=True)
class Sentence:
    """Tokens [start, end) that belong together: a sentence, a list item or one row of a table."""

    start: int
    end: int
    question: bool = False
    bullet: bool = False
    header: str = ""
    """Folded text of the heading or lead-in it stands under."""
    row: tuple[tuple[str, int, int], ...] = ()
    """Cells of a table row: (folded column head, start token, end token)."""
    anns: list[Ann] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def within(self, start: int, end: int, layer: str | None = None, kind: str | None = None) -> Iterator[Ann]:
        """Yield what lies inside tokens [start, end)."""
        for index in range(bisect_left(self.starts, start), len(self.anns)):
            ann = self.anns[index]
            if ann.start >= end:
                return
            if ann.end <= end and (layer is None or ann.layer == layer) and (kind is None or ann.kind == kind):
                yield ann

    def of(self, layer: str, kind: str | None = None) -> Iterator[Ann]:
        """Yield everything of a layer."""
        return self.within(self.start, self.end, layer, kind)


class Document:
    """The tokens of one answer with sentences and clauses; offsets lead back to the source."""

    def __init__(self, normal: Normal, tokens: list[Token]) -> None:
        self.normal = normal
        self.tokens = tokens
        self.starts = [token.start for token in tokens]
        self.clause = clauses(tokens)
        self.sentences: list[Sentence] = []
        self._firsts: list[int] = []

    def span(self, start: int, end: int) -> Span:
        """Return the original words of tokens [start, end)."""
        first, last = self.normal.span(self.tokens[start].start, self.tokens[end - 1].end)
        return Span(start=first, end=last, text=self.normal.source[first:last])

    def token_at(self, offset: int) -> int:
        """Return the index of the token at or before a normalised offset."""
        return max(0, bisect_right(self.starts, offset) - 1)

    def text(self, start: int, end: int) -> str:
        """Return the normalised text of tokens [start, end)."""
        if start >= end:
            return ""
        return self.normal.text[self.tokens[start].start : self.tokens[end - 1].end]

    def clause_start(self, sentence: Sentence, token: int) -> int:
        """Return where the clause of a token begins in its sentence."""
        while token > sentence.start and self.clause[token - 1] == self.clause[token]:
            token -= 1
        return token

    def clause_end(self, sentence: Sentence, token: int) -> int:
        """Return the end of the clause of a token in its sentence."""
        end = token
        while end < sentence.end and self.clause[end] == self.clause[token]:
            end += 1
        return end

    def sentence_of(self, token: int) -> Sentence:
        """Return the sentence that holds a token."""
        return self.sentences[self.number_of(token)]

    def number_of(self, token: int) -> int:
        """Return the index of the sentence that holds a token."""
        if len(self._firsts) != len(self.sentences):
            self._firsts = [s.start for s in self.sentences]
        return max(0, bisect_right(self._firsts, token) - 1)


def clauses(tokens: list[Token]) -> list[int]:
    """Return the clause number of each token: clauses end at commas, colons, brackets, dashes and contrasting words."""
    numbers: list[int] = []
    current = 0
    depth = 0
    for index, token in enumerate(tokens):
        mark = token.raw
        if token.kind == "w" and token.key in CONTRAST:
            current += 1
        numbers.append(current)
        if mark in "(（[":
            depth += 1
            numbers[-1] = current + 1
            current += 1
        elif mark in ")）]" and depth:
            depth -= 1
            current += 1
        elif (
            (mark in CLAUSE_MARKS and not _ratio(tokens, index))
            or (mark in SENTENCE_MARKS and not asks_ahead(tokens, index))
            or (mark == "." and sentence_end(tokens, index))
            or (mark == "-" and not token.glued)
            or mark == "|"
        ):
            current += 1
    return numbers


def _ratio(tokens: list[Token], index: int) -> bool:
    """Tell whether a colon is part of a titre or a time of day ("1:640")."""
    if tokens[index].raw != ":" or not 0 < index < len(tokens) - 1:
        return False
    before, after = tokens[index - 1], tokens[index + 1]
    glued = before.end == tokens[index].start and after.start == tokens[index].end
    return glued and before.kind == "n" and after.kind == "n"


def asks_ahead(tokens: list[Token], index: int) -> bool:
    """Tell whether a question mark stands before what it doubts ("?PE")."""
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    ahead = following is not None and following.glued and following.kind == "w"
    return tokens[index].raw in "?？" and ahead and not tokens[index].glued


def sentence_end(tokens: list[Token], index: int) -> bool:
    """Tell whether the point at `index` closes a sentence."""
    if index + 1 >= len(tokens):
        return True
    following = tokens[index + 1]
    if following.start == tokens[index].end:
        return following.raw in "\"'*)"
    previous = tokens[index - 1] if index else None
    if previous is not None and previous.key in SINGLE_ABBREVIATIONS and not following.raw[:1].isupper():
        return False
    if previous is not None and previous.kind == "n" and (index < 2 or tokens[index - 2].kind == "l"):
        return False  # "1. First item"
    if previous is not None and previous.kind == "w" and len(previous.raw) == 1 and previous.raw.islower():
        unit = index > 1 and tokens[index - 2].kind == "n" and following.raw[:1].isupper()
        return unit  # "130s. New AF", not "i.e. ≤8"
    return not (previous is not None and previous.key in ("dr", "mr", "mrs", "ms", "st", "vs", "e.g", "i.e"))


def cue_annotations(tokens: list[Token]) -> list[Ann]:
    """Return every cue, longest first within its layer, not overlapping within a layer."""
    trie = cue_trie()
    found: list[Ann] = []
    reach: dict[str, int] = {}
    for start in range(len(tokens)):
        best: dict[str, tuple[int, list[str]]] = {}
        for end, (layer, kind) in trie.matches(tokens, start):
            if end <= reach.get(layer, -1) or start < reach.get(layer, -1):
                continue
            held = best.get(layer)
            if held is None or end > held[0]:
                best[layer] = (end, [kind])
            elif end == held[0] and kind not in held[1]:
                held[1].append(kind)
        for layer, (end, kinds) in best.items():
            reach[layer] = end
            found.extend(Ann(start, end, layer, kind) for kind in kinds)
    return found


def attach(sentences: Iterable[Sentence], anns: Iterable[Ann]) -> None:
    """Put each annotation into the sentence that holds it."""
    ordered = sorted(anns, key=lambda ann: (ann.start, -ann.end, ann.layer, ann.kind))
    listed = list(sentences)
    starts = [sentence.start for sentence in listed]
    for ann in ordered:
        index = bisect_right(starts, ann.start) - 1
        if index >= 0 and ann.start < listed[index].end:
            listed[index].anns.append(ann)
    for sentence in listed:
        sentence.starts = [ann.start for ann in sentence.anns]


def turns(document: Document, at: int) -> bool:
    """Tell whether a word of contrast stands at token `at`: but, however, 但, and 可 where it opens a clause."""
    token = document.tokens[at]
    if token.key in CONTRAST or token.raw == "但":
        return True
    opens = at > 0 and document.clause[at - 1] != document.clause[at]
    return token.raw == "可" and opens and document.text(at + 1, at + 2)[:1] in SPOKEN_BUT

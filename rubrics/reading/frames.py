"""Act frames: whole wordings of advice with a place for the target ("no more {x}", "{x} needs to go up").

A frame is matched over tokens; `{x}` and `{y}` take a named concept with its article and dose, `{n}` a number with its
unit, `..` up to four tokens of any kind but sentence ends; `^` and `$` are the sentence's own
start and end. For each target the frame that ends last wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import DataError
from wardround.rubrics.datafile import load_model

from .cues import LANGUAGES, words
from .document import Ann, Document, Sentence
from .tokens import tokenise
from .trie import MAX_GAP

SLOTS = {"{x}": "\0x", "{y}": "\0y", "{n}": "\0n"}
GAP = "\0gap"
JOIN = "\0join"
MARKS = frozenset((*SLOTS.values(), GAP, "^", "$"))
MORE = "\0more"
"""Held by the nodes that more may follow than a word: an end, a way on, a slot, a gap, an edge. Few are."""
ARTICLES = words("frames.articles")
DOSING = words("frames.dosing")
ACTS = frozenset(
    (
        "start",
        "stop",
        "hold",
        "continue",
        "reduce",
        "increase",
        "switch",
        "recheck",
        "refer",
        "order",
        "avoid",
        "give",
        "endorse",
        "change",
        "replace",
        "none",
    )
)
"""`give` starts a drug, orders a test and refers to a service; `endorse` calls a drug fine, which starts it; `change`
goes by its two numbers; `replace` takes the place of the drug named before; `none` says that no advice is meant."""


class FrameFile(BaseModel):
    """`data/frames_<language>.json`: act → patterns (`(a|b|)` alternatives)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: int = Field(ge=1, le=1)
    language: str
    frames: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame found over tokens [start, end)."""

    start: int
    end: int
    act: str
    x: Ann
    y: Ann | None
    numbers: tuple[Ann, ...] = ()


@lru_cache(maxsize=1)
def _root() -> dict[str, Any]:
    """Return the trie of all frames of both languages."""
    root: dict[str, Any] = {}
    for language in LANGUAGES:
        name = f"frames_{language}.json"
        content = load_model(f"reading/data/{name}", FrameFile)
        for act, patterns in content.frames.items():
            if act not in ACTS:
                raise DataError(
                    f"rubrics/reading/data/{name}: act `{act}` is unknown; one of {', '.join(sorted(ACTS))}"
                )
            for pattern in patterns:
                _add(root, pattern.lower(), act, name)
    return root


def _add(root: dict[str, Any], pattern: str, act: str, name: str) -> None:
    """Add one pattern; its alternatives meet again in one node, so that size grows with the text of the patterns."""
    if "{x}" not in pattern:
        raise DataError(f"rubrics/reading/data/{name}: frame `{pattern}` has no {{x}}; say where its target stands")
    node, rest = _sequence(root, pattern, 0)
    if rest != len(pattern):
        raise DataError(f"rubrics/reading/data/{name}: frame `{pattern}`: a bracket is not closed; close it")
    node.setdefault("", []).append(act)
    node[MORE] = True


def _sequence(node: dict[str, Any], pattern: str, at: int) -> tuple[dict[str, Any], int]:
    """Add words and groups up to a bar, a closing bracket or the end; return the last node and where it stopped."""
    while at < len(pattern) and pattern[at] not in "|)":
        if pattern[at] == "(":
            joined: dict[str, Any] = {}
            end = at
            while end < len(pattern) and pattern[end] != ")":
                branch, end = _sequence(node, pattern, end + 1)
                branch.setdefault(JOIN, []).append(joined)
                branch[MORE] = True
            node, at = joined, end + 1
            continue
        stop = at
        while stop < len(pattern) and pattern[stop] not in "(|)":
            stop += 1
        for key in _keys(pattern[at:stop]):
            if key in MARKS:
                node[MORE] = True
            node = node.setdefault(key, {})
        at = stop
    return node, at


@lru_cache(maxsize=8192)
def _keys(words: str) -> tuple[str, ...]:
    """Return the token keys of literal words, slots and gaps among them."""
    keys: list[str] = []
    for mark in ("{x}", "{y}", "{n}", ".."):
        words = words.replace(mark, f" {mark} ")
    for piece in words.split():
        if piece in SLOTS:
            keys.append(SLOTS[piece])
        elif piece == "..":
            keys.append(GAP)
        else:
            keys.extend(token.key for token in tokenise(piece))
    return tuple(keys)


class FrameReader:
    """Finds the frames of one sentence.

    Args:
        document: the answer.
        sentence: one sentence of it.
        fit: tells whether a concept may be the target of an act.
    """

    def __init__(self, document: Document, sentence: Sentence, fit: Callable[[Ann, str], bool]) -> None:
        self.tokens = document.tokens
        self.sentence = sentence
        self.fit = fit
        self.concepts = {ann.start: ann for ann in sentence.anns if ann.layer == "concept"}
        self.numbers = {ann.start: ann for ann in sentence.anns if ann.layer in ("quantity", "time")}

    def read(self) -> list[Frame]:
        """Return the frames in order: for each target the one that ends last, then the longest."""
        if not self.concepts:
            return []
        root = _root()
        best: dict[int, Frame] = {}
        for at in range(self.sentence.start, self.sentence.end):
            for frame in self._walk(at, root, at, None, None, 0):
                for slot in (frame.x, frame.y):
                    if slot is None:
                        continue
                    held = best.get(slot.start)
                    if held is None or self._weight(frame) > self._weight(held):
                        best[slot.start] = frame
        kept = {id(frame): frame for frame in best.values() if best.get(frame.x.start) is frame}
        return sorted(kept.values(), key=lambda frame: (frame.start, frame.end))

    def _weight(self, frame: Frame) -> tuple[int, int, bool]:
        """Rank the frames of one target: what ends last, then the longest; "不再用" stops more than it warns."""
        return frame.end, -frame.start, frame.act == "stop" and self.tokens[frame.start].kind == "c"

    def _walk(
        self, start: int, node: dict[str, Any], at: int, x: Ann | None, y: Ann | None, gaps: int
    ) -> Iterator[Frame]:
        more = MORE in node
        if more:
            yield from self._here(start, node, at, x, y, gaps)
        if at >= self.sentence.end:
            return
        following = node.get(self.tokens[at].key)
        if following is not None:
            yield from self._walk(start, following, at + 1, x, y, gaps)
        if not more:
            return
        if (slot := node.get(SLOTS["{x}"])) is not None and (ann := self._concept(at)) is not None:
            yield from self._after(start, slot, ann, ann, y, gaps)
        if (slot := node.get(SLOTS["{y}"])) is not None and (ann := self._concept(at)) is not None:
            yield from self._after(start, slot, ann, x, ann, gaps)
        if (slot := node.get(SLOTS["{n}"])) is not None and at in self.numbers:
            yield from self._walk(start, slot, self.numbers[at].end, x, y, gaps)
        if (gap := node.get(GAP)) is not None and gaps < 2:
            yield from self._jump(start, gap, at, x, y, gaps + 1)

    def _here(
        self, start: int, node: dict[str, Any], at: int, x: Ann | None, y: Ann | None, gaps: int
    ) -> Iterator[Frame]:
        """Yield what ends here, and what goes on from here without a token."""
        for act in node.get("", ()):
            if x is not None and self.fit(x, act) and (y is None or self.fit(y, act)):
                yield Frame(start, at, act, x, y)
        for joined in node.get(JOIN, ()):
            yield from self._walk(start, joined, at, x, y, gaps)
        if (edge := node.get("^")) is not None and at == self.sentence.start:
            yield from self._walk(start, edge, at, x, y, gaps)
        if (edge := node.get("$")) is not None and self._closes(at):
            yield from self._walk(start, edge, at, x, y, gaps)

    def _after(
        self, start: int, node: dict[str, Any], ann: Ann, x: Ann | None, y: Ann | None, gaps: int
    ) -> Iterator[Frame]:
        """Go on right after a concept, and after the dose that follows it."""
        yield from self._walk(start, node, ann.end, x, y, gaps)
        at = self._dose_end(ann.end)
        if at > ann.end:
            yield from self._walk(start, node, at, x, y, gaps)
        elif at < self.sentence.end and self.tokens[at].raw in ",，":  # "aspirin, 81 mg at bedtime, is indicated"
            end = self._dose_end(at + 1)
            if at + 1 < end < self.sentence.end and self.tokens[end].raw in ",，":
                yield from self._walk(start, node, end + 1, x, y, gaps)

    def _dose_end(self, begin: int) -> int:
        """Return where the amounts and words of dosing that begin at `begin` end."""
        at = begin
        while at < self.sentence.end and at - begin < 8:
            if at in self.numbers:
                at = self.numbers[at].end
            elif self.tokens[at].key in DOSING:
                at += 1
            else:
                break
        return at

    def _jump(
        self, start: int, node: dict[str, Any], at: int, x: Ann | None, y: Ann | None, gaps: int
    ) -> Iterator[Frame]:
        for skipped in range(MAX_GAP + 1):
            position = at + skipped
            if position >= self.sentence.end:
                return
            yield from self._walk(start, node, position, x, y, gaps)
            if position in self.concepts or self.tokens[position].raw in ".。;；!?！？,，:：":
                return

    def _closes(self, at: int) -> bool:
        """Tell whether the sentence ends at `at`, closing marks aside."""
        return all(self.tokens[i].raw in ".。;；!！*)" for i in range(at, self.sentence.end))

    def _concept(self, at: int) -> Ann | None:
        """Return the concept at `at`, articles and adjectives before it skipped."""
        for position in range(at, min(at + 4, self.sentence.end)):
            if position in self.concepts:
                return self.concepts[position]
            if self.tokens[position].key not in ARTICLES and position not in self.numbers:
                return None
        return None

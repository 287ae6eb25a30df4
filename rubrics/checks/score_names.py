"""Where an answer names a clinical score or one of its components, and the words around such names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import knowledge
from wardround.rubrics.datafile import load_model
from wardround.rubrics.reading.text import normalise
from wardround.rubrics.reading.tokens import Token, tokenise
from wardround.rubrics.reading.trie import Trie


class ScoreWords(BaseModel):
    """The file `data/clinical_scores.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: int = Field(ge=1, le=1)
    remarks: str = ""
    total: tuple[str, ...]
    """Say that the number after them is the total, wherever it stands."""
    copula: tuple[str, ...]
    """Join a name with its number after a list of inputs ("MELD with INR 1.2 is 17")."""
    was: tuple[str, ...]
    """Right before a number in a clause about the past, put it there even beside a word such as "today"."""
    onto: tuple[str, ...]
    """Join a number with the name after it ("4 on CHA2DS2-VASc")."""
    filler: tuple[str, ...]
    """May stand between a number and a name beside a joining word."""
    gives_to: tuple[str, ...]
    """Join points with the component after them ("1 for age")."""
    moves: tuple[str, ...]
    """Join the start of a course with its end ("6 → 10")."""
    to: tuple[str, ...]
    """Do so beside one of `moves`, or after one of `from` ("from 6 to 10")."""
    origin: tuple[str, ...] = Field(alias="from")
    alternative: tuple[str, ...] = Field(alias="or")
    """Join two totals that cannot both be meant ("10 or 11")."""
    counted: tuple[str, ...]
    """After or in a name, let a number right before it count ("2 SIRS criteria")."""
    not_points: tuple[str, ...]
    """After a number, say that it is an age, a time or a share."""
    bound: tuple[str, ...]
    """Make the number after them a cut-off."""
    numbers: dict[str, int]
    number_after: tuple[str, ...]
    """What follows a spelled number that states points."""


@cache
def score_words() -> ScoreWords:
    """Load the words once.

    Raises:
        DataError: The file is not as its schema says.
    """
    return load_model("data/clinical_scores.json", ScoreWords)


@cache
def word_trie(kind: str) -> Trie:
    """Return the phrases of one kind of words."""
    trie = Trie(folded=False)
    for phrase in getattr(score_words(), kind):
        trie.add(phrase, phrase)
    return trie


@dataclass(frozen=True, slots=True)
class Place:
    """Tokens [start, end) that name something."""

    start: int
    end: int
    ids: tuple[str, ...]
    """Scores, or components, that the wording may mean."""


@dataclass(frozen=True, slots=True)
class _Name:
    id: str
    exact: tuple[str, ...] | None
    """Tokens with their capitals, where those decide."""


def _add(trie: Trie, phrase: str, found_id: str, *, exact: bool) -> None:
    text = normalise(phrase).text
    raw = tuple(token.raw for token in tokenise(text)) if exact else None
    trie.add(text, _Name(found_id, raw))


@cache
def _score_trie() -> Trie:
    trie = Trie(folded=False)
    for score in knowledge.scores().values():
        phrases = (score.name.en, score.name.zh or score.name.en, *score.synonyms.en, *score.synonyms.zh)
        for phrase in dict.fromkeys(phrases):
            _add(trie, phrase, score.id, exact=phrase in score.case_sensitive)
    return trie


@cache
def _component_trie(score_id: str) -> Trie:
    trie = Trie(folded=False)
    for part in knowledge.score_of(score_id).components:
        phrases = (part.name.en, part.name.zh or part.name.en, *part.synonyms.en, *part.synonyms.zh)
        for phrase in dict.fromkeys(phrases):
            _add(trie, phrase, part.id, exact=phrase.isascii() and len(phrase) <= 2)
    return trie


def score_places(tokens: Sequence[Token]) -> list[Place]:
    """Return where scores are named: the longest names, none overlapping."""
    return list(_places(_score_trie(), tokens))


def component_places(score_id: str, tokens: Sequence[Token]) -> list[Place]:
    """Return where components of a score are named."""
    return list(_places(_component_trie(score_id), tokens))


def _places(trie: Trie, tokens: Sequence[Token]) -> Iterator[Place]:
    at = 0
    while at < len(tokens):
        best: tuple[int, list[str]] = (at, [])
        for end, name in trie.matches(tokens, at):
            if _differs(name, tokens[at:end]):
                continue
            if end > best[0]:
                best = (end, [name.id])
            elif end == best[0] and name.id not in best[1]:
                best[1].append(name.id)
        if best[1]:
            yield Place(at, best[0], tuple(best[1]))
        at = max(at + 1, best[0])


def _differs(name: Any, tokens: Sequence[Token]) -> bool:
    return name.exact is not None and tuple(token.raw for token in tokens) != name.exact


def starts_with(kind: str, tokens: Sequence[Token], at: int) -> int:
    """Return the end of the longest phrase of a kind that starts at a token, `at` itself where none does."""
    if at >= len(tokens):
        return at
    return max((end for end, _ in word_trie(kind).matches(tokens, at)), default=at)


def ends_with(kind: str, tokens: Sequence[Token], end: int) -> int:
    """Return the start of the longest phrase of a kind that ends before token `end`, `end` itself where none does."""
    for start in range(max(0, end - 4), end):
        if any(stop == end for stop, _ in word_trie(kind).matches(tokens, start)):
            return start
    return end


def only_words(kinds: tuple[str, ...], tokens: Sequence[Token], start: int, end: int) -> bool:
    """Tell whether tokens [start, end) consist of phrases of the first kind, at least one, and of the others."""
    seen = False
    while start < end:
        for number, kind in enumerate(kinds):
            stop = starts_with(kind, tokens, start)
            if start < stop <= end:
                seen = seen or number == 0
                start = stop
                break
        else:
            return False
    return seen

"""Concepts that the knowledge base does not name: matched by their content words within a clause."""

from __future__ import annotations

from functools import lru_cache

from wardround.rubrics.reading import Measured, Reading
from wardround.rubrics.reading.document import Document

from .matching import word_of, words_of

SHORT = 3
"""Characters of a Chinese name up to which another order of them, or a mark between them, makes another word."""


@lru_cache(maxsize=16)
def _contents(document: Document) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the content word of each token of an answer, and all of them: every item of a rubric looks for its own."""
    words = tuple(word_of(token) for token in document.tokens)
    return words, frozenset(words)


def _in_order(document: Document, places: list[int]) -> bool:
    """Tell whether tokens stand in their order and in one clause."""
    return places == sorted(places) and document.clause[places[0]] == document.clause[places[-1]]


def claims_by_words(name: str, reading: Reading) -> list[Measured]:
    """Return numbers in a sentence whose words before the number hold every content word of `name`."""
    wanted = set(words_of(name))
    if not wanted:
        return []
    contents, _ = _contents(reading.document)
    found = []
    for claim in reading.values:
        sentence = reading.document.sentences[claim.sentence]
        if wanted.issubset(contents[sentence.start : claim.token]):
            found.append(claim)
    return found


def word_places(name: str, reading: Reading) -> list[tuple[int, int, int]]:
    """Return (sentence, start, end) token spans in which every content word of `name` stands, close together."""
    wanted = words_of(name)
    contents, there = _contents(reading.document)
    if not wanted or not there.issuperset(wanted):
        return []
    chinese = any("一" <= word[0] <= "鿿" for word in wanted)
    short = chinese and len(wanted) <= SHORT
    reach = max(6, 2 * len(wanted) + (2 if chinese else 6))
    found = []
    for number, sentence in enumerate(reading.document.sentences):
        places: dict[str, list[int]] = {word: [] for word in wanted}
        for index in range(sentence.start, sentence.end):
            word = contents[index]
            if word in places:
                places[word].append(index)
        if not all(places.values()):
            continue
        for first in places[wanted[0]]:
            nearest = [min(places[word], key=lambda at: (abs(at - first), at)) for word in wanted]
            if short and not _in_order(reading.document, nearest):
                continue  # "已给药，没停" holds no "没给"
            if max(nearest) - min(nearest) <= reach:
                found.append((number, min(nearest), max(nearest) + 1))
                break
    return found

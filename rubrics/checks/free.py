"""Concepts that the knowledge base does not name: matched by their content words within a clause."""

from __future__ import annotations

from wardround.rubrics.reading import Measured, Reading

from .matching import word_of, words_of


def claims_by_words(name: str, reading: Reading) -> list[Measured]:
    """Return numbers in a sentence whose words before the number hold every content word of `name`."""
    wanted = set(words_of(name))
    if not wanted:
        return []
    found = []
    for claim in reading.values:
        sentence = reading.document.sentences[claim.sentence]
        words = {word_of(reading.document.tokens[i]) for i in range(sentence.start, claim.token)}
        if wanted <= words:
            found.append(claim)
    return found


def word_places(name: str, reading: Reading) -> list[tuple[int, int, int]]:
    """Return (sentence, start, end) token spans in which every content word of `name` stands, close together."""
    wanted = words_of(name)
    if not wanted:
        return []
    chinese = any("一" <= word[0] <= "鿿" for word in wanted)
    reach = max(6, 2 * len(wanted) + (2 if chinese else 6))
    found = []
    tokens = reading.document.tokens
    for number, sentence in enumerate(reading.document.sentences):
        places: dict[str, list[int]] = {word: [] for word in wanted}
        for index in range(sentence.start, sentence.end):
            word = word_of(tokens[index])
            if word in places:
                places[word].append(index)
        if not all(places.values()):
            continue
        for first in places[wanted[0]]:
            nearest = [min(places[word], key=lambda at: (abs(at - first), at)) for word in wanted]
            if max(nearest) - min(nearest) <= reach:
                found.append((number, min(nearest), max(nearest) + 1))
                break
    return found

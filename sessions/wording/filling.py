"""Filling a phrase: slots, capitals, articles, and the pronouns of the patient."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from wardround.sessions.moves.parts import capital
from wardround.sessions.session import Language

_PRONOUNS: Final[Mapping[Language, Mapping[str, Mapping[str, str]]]] = {
    "en": {
        "female": {"they": "she", "them": "her", "their": "her"},
        "male": {"they": "he", "them": "him", "their": "his"},
    },
    "zh": {
        "female": {"they": "她", "them": "她", "their": "她"},
        "male": {"they": "他", "them": "他", "their": "他"},
    },
}
_SLOT: Final = re.compile(r"\{([A-Za-z]+[0-9]?)\}")
_ARTICLE: Final = re.compile(r"\b([Aa]) (\{[A-Za-z]+[0-9]?\})")
_VOWEL_LETTERS: Final = frozenset("AEFHILMNORSX")
"""Letters whose names begin with a vowel sound, as in "an INR"."""
_NO_VOWEL: Final = ("uni", "eu", "one", "uri", "use")
_SENTENCE: Final = re.compile(r"([.?!]\s+)([a-z]\S*)")
_DOUBLED: Final[Mapping[Language, re.Pattern[str]]] = {
    "en": re.compile(r"\b([A-Za-z]{3,}) \1\b", re.IGNORECASE),
    "zh": re.compile(r"([\u4e00-\u9fff]{2,4})\1"),
}


def pronouns(sex: str, language: Language) -> Mapping[str, str] | None:
    """Return the pronouns for a recorded sex, None where the record leaves it open."""
    return _PRONOUNS[language].get(sex)


def fill(template: str, values: Mapping[str, str], language: Language, *, sentence: bool = True) -> str:
    """Fill a phrase.

    Args:
        template: Slots as "{lab}"; "{Lab}" gets a capital first letter.
        values: Words by slot.
        language: Of the phrase.
        sentence: Capitalise the beginning of every English sentence.

    Raises:
        KeyError: A slot has no words.
    """
    if language == "en":
        template = _ARTICLE.sub(lambda match: _article(match, values), template)
    text = _SLOT.sub(lambda match: _word(match.group(1), values), template)
    text = _DOUBLED[language].sub(r"\1", text)  # "CURB-65 score" in "{score} score"
    if language == "en" and sentence:
        text = capital(text)
        text = _SENTENCE.sub(lambda match: match.group(1) + capital(match.group(2)), text)
    return text


def _word(slot: str, values: Mapping[str, str]) -> str:
    return capital(values[slot[0].lower() + slot[1:]]) if slot[0].isupper() else values[slot]


def _article(match: re.Match[str], values: Mapping[str, str]) -> str:
    slot = match.group(2)[1:-1]
    word = values[slot[0].lower() + slot[1:]].split(" ")[0]
    return f"{match.group(1)}{'n' if _vowel(word) else ''} {match.group(2)}"


def _vowel(word: str) -> bool:
    if word[:2].isupper() or (word[:1].isupper() and len(word) == 1):
        return word[0] in _VOWEL_LETTERS
    return word[:1].lower() in "aeiou" and not word.lower().startswith(_NO_VOWEL)

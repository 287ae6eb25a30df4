"""Letters of other alphabets that look Latin: a word that hides one from the reader shows it to the physician.

"Cоntinue" with a Cyrillic letter is a recommendation to whoever reads it. Only words that hold a Latin letter too are
touched, so that a Greek or Russian word stays what it is. One letter becomes one letter: offsets do not move.
"""

from __future__ import annotations

import re
from functools import cache

from .limits import limits

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")


def plain_letters(text: str) -> str:
    """Return the text with lookalikes in Latin words replaced by the letters they look like.

    Examples:
        >>> plain_letters("H\u043eld it")
        'Hold it'
        >>> plain_letters("5 \u03bcg of \u03b2-agonist")
        '5 μg of β-agonist'
    """
    if text.isascii():
        return text
    return _WORD.sub(_plain, text)


def _plain(match: re.Match[str]) -> str:
    word = match[0]
    if word.isascii() or not _LATIN.search(word):
        return word
    return word.translate(_table())


@cache
def _table() -> dict[int, str]:
    return {ord(char): letter for char, letter in limits().lookalikes.items()}

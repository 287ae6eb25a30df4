"""The baseline's own cue words (data/words.json), read once and compiled to bounded patterns."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from wardround.patients import load_data

_GAP = r"(?:\W+\w+){0,3}?\W+"
"""What `..` in a cue stands for: up to three words."""


class Vocabulary(BaseModel):
    """Cue words of one language."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    openers: tuple[str, ...]
    """Words a question may begin with and that say nothing."""
    topics: tuple[str, ...]
    """Words before what was looked at earlier ("given the creatinine and …,")."""
    listed: tuple[str, ...]
    """Words that go on with such a list after a comma."""
    joined: tuple[str, ...]
    """Words that end such a list, where they stand behind it."""
    pointers: tuple[str, ...]
    """Words that point back."""
    asks: tuple[tuple[str, tuple[str, ...]], ...]
    """(What is asked, its cues), in the order they are tried."""
    decide: tuple[str, ...]
    change: tuple[str, ...]
    """Those of `decide` that are about a drug named, not about a new step."""
    cause: tuple[str, ...]
    works: tuple[str, ...]
    ask_patient: tuple[str, ...]
    result: tuple[str, ...]
    finding: tuple[str, ...]
    drug: tuple[str, ...]
    repeat: tuple[str, ...]
    if_: tuple[str, ...]
    otherwise: tuple[str, ...]
    states: dict[str, tuple[str, ...]]
    below: tuple[str, ...]
    above: tuple[str, ...]
    flag: tuple[str, ...]
    flag_acts: dict[str, tuple[str, ...]]
    priorities: dict[str, tuple[str, ...]]
    routes: dict[str, tuple[str, ...]]
    frequencies: dict[str, tuple[str, ...]]
    sections: dict[str, tuple[str, ...]]
    accounts: dict[str, tuple[str, ...]]
    """What a patient may say of taking a drug, and its cues; the first that is found counts."""
    not_missed: tuple[str, ...]
    reasons: dict[str, tuple[str, ...]]
    told: dict[str, dict[str, tuple[str, ...]]]
    """What a patient tells of life at home: topic → statement → its cues, the first that is found counts."""
    numbers: dict[str, tuple[str, ...]]
    onset: tuple[str, ...]
    """Words that tell of a symptom's beginning or course: it is there."""
    absent: tuple[str, ...]
    """Words that say all is well."""
    not_symptoms: tuple[str, ...]
    """Findings of the knowledge base that are nothing to ask a patient for as a symptom."""
    denies: tuple[str, ...]
    unsure: tuple[str, ...]


class _Words(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: Literal[1]
    about: str
    en: Vocabulary
    zh: Vocabulary


@lru_cache(maxsize=1)
def _words() -> _Words:
    return load_data("wardround.agents.baseline", "data/words.json", _Words)


def vocabulary(language: str) -> Vocabulary:
    """Return the cue words of "en" or "zh".

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    words = _words()
    return words.zh if language == "zh" else words.en


@lru_cache(maxsize=512)
def pattern(cues: tuple[str, ...], language: str) -> re.Pattern[str]:
    """Return a pattern that finds any of some cues, the longest first, as whole words where the language has them."""
    parts = []
    for cue in sorted(cues, key=lambda one: (-len(one), one)):
        body = _GAP.join(re.escape(piece.strip()) for piece in cue.split(".."))
        if language == "zh":
            parts.append(body)
        else:
            parts.append(rf"(?<!\w){body}(?!\w)")
    return re.compile("|".join(parts))


def has(text: str, cues: tuple[str, ...], language: str) -> bool:
    """Tell whether a text (in lower case) holds one of some cues."""
    return bool(cues) and pattern(cues, language).search(text) is not None


def first_of(text: str, choices: dict[str, tuple[str, ...]], language: str) -> str | None:
    """Return the choice whose cue is the longest in a text; ties go to the order of the file."""
    best, length = None, 0
    for name, cues in choices.items():
        for found in pattern(cues, language).finditer(text):
            if len(found.group()) > length:
                best, length = name, len(found.group())
    return best

"""The limits that every query of the physician keeps, by language (docs/sessions.md).

English is counted in words. Chinese has no spaces: its characters are counted, and a run of Latin letters or digits
("eGFR", "5") as one; 45 and 30 of these hold as much as 25 and 15 English words do.
"""

from __future__ import annotations

import re
from typing import Final

from wardround.patients import ALL_TOOLS, knowledge
from wardround.sessions.session import Language

FIRST: Final[dict[Language, int]] = {"en": 25, "zh": 45}
"""Of turn 0."""
LATER: Final[dict[Language, int]] = {"en": 15, "zh": 30}
"""Of turns 1-3."""
WRITE: Final[dict[Language, int]] = {"en": 35, "zh": 60}
"""Of orders, which state dose, route and frequency."""
MAX_SENTENCES: Final = 2

_COUNTED: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(r"[A-Za-z0-9][A-Za-z0-9'./%-]*"),
    "zh": re.compile(r"[\u3400-\u9fff]|[A-Za-z0-9][A-Za-z0-9'./%+-]*"),
}
_UNITS: Final[dict[Language, str]] = {"en": "words", "zh": "characters"}
_ENDS: Final = re.compile(r"[.?!](?=\s|$)|[。？！]")
_DOUBLED: Final = re.compile(r"\b([a-z]+)\W+\1\b", re.IGNORECASE)
_TOOLS: Final = (*(name for name in ALL_TOOLS if "." in name), "prepare_to_answer")


def length(query: str, language: Language) -> int:
    """Return how long a query is: English words, or Chinese characters with every Latin run as one."""
    return len(_COUNTED[language].findall(query))


def faults(query: str, *, task: str, first: bool, language: Language = "en") -> list[str]:
    """Return the limits of the physician's style that a query breaks.

    Args:
        query: The words.
        task: Orders (WU) state drug, dose, route and frequency: they may hold numbers and run longer.
        first: The opening query may be longer than later ones.
        language: What it is in.
    """
    found = []
    size = length(query, language)
    limit = (WRITE if task == "WU" else FIRST if first else LATER)[language]
    if size > limit:
        found.append(f"{size} {_UNITS[language]}, at most {limit}")
    if len(_ENDS.findall(query)) > MAX_SENTENCES:
        found.append("more than two sentences")
    if task != "WU" and any(char.isdigit() for char in without_names(query)):
        found.append("states a number")
    if any(name in query for name in _TOOLS):
        found.append("names a tool")
    return found


def stutters(query: str) -> bool:
    """Tell whether a word stands twice in a row, as an opener before a name that begins with it ("Right. Right …")."""
    return _DOUBLED.search(query) is not None


def without_names(query: str) -> str:
    """Blank out concept names, whose digits ("HbA1c", "free T4", "CURB-65") are no values."""
    if not any(char.isdigit() for char in query):
        return query
    for mention in reversed(knowledge.lexicon().scan(query)):
        query = query[: mention.start] + " " * (mention.end - mention.start) + query[mention.end :]
    return _without_scores(query)


def _without_scores(query: str) -> str:
    for score in knowledge.scores().values():
        names = (score.name.en, score.name.zh or "", *score.synonyms.en, *score.synonyms.zh)
        for name in sorted(names, key=len, reverse=True):
            if any(char.isdigit() for char in name):
                query = re.sub(re.escape(name), " ", query, flags=re.IGNORECASE)
    return query

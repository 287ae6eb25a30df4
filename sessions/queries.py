"""The physician's words: filling a phrase, and the limits every query keeps.

Names are casual ("K", "Hgb") where the scenario lists casual forms that the lexicon resolves to the same concept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from wardround.patients import ALL_TOOLS, Stream, knowledge

from .planner import Move, Plan
from .record import Reading
from .scenario import Scenario

FIRST_WORDS: Final = 25
LATER_WORDS: Final = 15
MAX_SENTENCES: Final = 2

_PRONOUNS = {
    "female": {"they": "she", "them": "her", "their": "her"},
    "male": {"they": "he", "them": "him", "their": "his"},
}
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9'./%-]*")
_ENDS = re.compile(r"[.?!](?:\s|$)")

Names = Mapping[str, str]
"""Concept id → what the physician calls it in this session."""


def pronouns(sex: str) -> Mapping[str, str] | None:
    """Return the pronouns for a recorded sex, None where the record leaves it open."""
    return _PRONOUNS.get(sex)


def name_labs(plan: Plan, scenario: Scenario, stream: Stream) -> dict[str, str]:
    """Pick one name per lab of a plan, so that both wordings and all turns call it the same."""
    readings: dict[str, Reading] = {}
    for move in plan.moves:
        for reading in (move.lab, *move.labs):
            readings.setdefault(reading.lab, reading)
    names = {}
    for lab in sorted(readings):
        choices = [name for name in scenario.casual.get(lab, ()) if _means(name, lab)]
        names[lab] = stream.choice(choices) if choices else readings[lab].name
    return names


def _means(name: str, lab: str) -> bool:
    found = knowledge.lexicon().resolve(name, kinds={"lab", "vital"})
    return found is not None and found.id == lab


def slots_of(move: Move, plan: Plan, names: Names, scenario: Scenario) -> dict[str, str]:
    """Return the words that fill the phrases of a move.

    Raises:
        KeyError: The patient's sex is not recorded, so no pronoun is right.
    """
    values = dict(_PRONOUNS[plan.view.sex])
    values["lab"] = names[move.lab.lab]
    values["drug"] = move.order.name
    for number, lab in enumerate(move.labs, 2):
        values[f"lab{number}"] = names[lab.lab]
    if move.write is not None:
        values["priority"] = move.write.priority
        values["dose"] = move.write.dose
        values["frequency"] = move.write.frequency
        values["route_words"] = scenario.route_words.get(move.order.route, move.order.route)
    return values


def fill(template: str, values: Mapping[str, str]) -> str:
    """Fill a phrase; a slot written with a capital ("{Lab2}") gets a capital first letter, as does the first word."""
    words = dict(values) | {key[:1].upper() + key[1:]: capital(value) for key, value in values.items()}
    return capital(template.format_map(words))


def capital(text: str) -> str:
    """Capitalise the first letter, unless the first word has its own capitals ("eGFR")."""
    first = text.split(" ", 1)[0]
    return text if any(char.isupper() for char in first[1:]) else text[:1].upper() + text[1:]


def faults(query: str, *, task: str, first: bool) -> list[str]:
    """Return the limits of the physician's style that a query breaks.

    Args:
        query: The words.
        task: Orders (WU) state drug, dose, route and frequency and may run longer.
        first: The opening query may be longer than later ones.
    """
    found = []
    words = len(_WORD.findall(query))
    limit = FIRST_WORDS if first else LATER_WORDS
    if task != "WU" and words > limit:
        found.append(f"{words} words, at most {limit}")
    if len(_ENDS.findall(query)) > MAX_SENTENCES:
        found.append(f"more than {MAX_SENTENCES} sentences")
    if task != "WU" and any(char.isdigit() for char in _without_names(query)):
        found.append("states a number")
    if any(name in query for name in ALL_TOOLS if "." in name) or "prepare_to_answer" in query:
        found.append("names a tool")
    return found


def _without_names(query: str) -> str:
    """Blank out concept names, whose digits ("HbA1c", "free T4") are no values."""
    for mention in reversed(knowledge.lexicon().scan(query)):
        query = query[: mention.start] + " " * (mention.end - mention.start) + query[mention.end :]
    return query


def named(query: str, kinds: set[str]) -> frozenset[str]:
    """Return the ids of the concepts of those kinds that a query names."""
    return frozenset(
        concept for mention in knowledge.lexicon().scan(query, kinds=kinds) for concept in mention.concepts
    )

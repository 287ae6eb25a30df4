"""The baseline's sentences (data/sentences.json) and the names of things in the round's language."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from wardround.patients import knowledge, load_data

from .rows import Value


class _Sentences(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: Literal[1]
    about: str
    en: dict[str, str]
    zh: dict[str, str]
    priorities: dict[str, str]
    """Priority → its Chinese word."""
    frequencies: dict[str, str]
    """Frequency as charted → its Chinese words."""


@lru_cache(maxsize=1)
def _sentences() -> _Sentences:
    return load_data("wardround.agents.baseline", "data/sentences.json", _Sentences)


def say(language: str, key: str, **slots: str) -> str:
    """Return one of the sentences with its slots filled; `Name` is `name` as a sentence begins."""
    texts = _sentences().zh if language == "zh" else _sentences().en
    begun = {name.capitalize(): capital(value) for name, value in slots.items()}
    return texts[key].format(**slots, **begun)


def capital(text: str) -> str:
    """Return a text as a sentence begins."""
    return text[:1].upper() + text[1:]


def name_of(concept: str, language: str) -> str:
    """Return what a concept of the knowledge base is called within a sentence."""
    names = knowledge.lexicon().concept(concept).name
    if language == "zh":
        return names.zh or names.en
    return within(names.en)


def within(text: str) -> str:
    """Return an English name as it stands within a sentence: abbreviations keep their capitals."""
    first = text.split(" ", 1)[0].split("-", 1)[0]
    return text if not first[1:].islower() else text[:1].lower() + text[1:]


def labelled(name: str, language: str) -> str:
    """Return a name to stand right before its value: Chinese writes a space only behind Latin letters."""
    return f"{name} " if language == "zh" and name[-1:].isascii() else name


def listed(parts: Iterable[str], language: str) -> str:
    """Return parts joined as a sentence lists them."""
    found = list(parts)
    if language == "zh":
        return "、".join(found[:-1]) + (("和" if len(found) > 1 else "") + found[-1] if found else "")
    return ", ".join(found[:-1]) + (" and " if len(found) > 1 else "") + (found[-1] if found else "")


def amount(value: Value) -> str:
    """Return a value with its unit as it is written."""
    unit = value.unit
    if not unit:
        return value.text
    return f"{value.text}{unit}" if unit[0] in "/%" else f"{value.text} {unit}"


def frequency_words(frequency: str, language: str) -> str:
    """Return a frequency as charted, in the round's words."""
    if language == "zh":
        known = _sentences().frequencies.get(frequency.lower())
        return f"，{known or frequency}"
    return f" {frequency}"


def priority_words(priority: str, language: str) -> str:
    """Return a priority in the round's words."""
    return _sentences().priorities.get(priority, priority) if language == "zh" else priority


def route_words(route: str, language: str) -> str:
    """Return a route in the round's words, to stand behind a dose."""
    texts = _sentences().zh if language == "zh" else _sentences().en
    key = {"po": "oral", "by mouth": "oral", "sc": "subcutaneous", "iv": "intravenous"}.get(
        route.lower(), route.lower()
    )
    return texts.get(key) or (f"，{route}" if language == "zh" else f" {route}")

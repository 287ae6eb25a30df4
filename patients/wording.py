"""Fixed words of the patient, from `data/dialogue.json`: what is said where no recorded reply fits."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

import orjson

from .interview import Fact, Persona
from .knowledge import lexicon


@cache
def _data() -> dict[str, Any]:
    loaded: dict[str, Any] = orjson.loads(
        resources.files("wardround.patients").joinpath("data", "dialogue.json").read_bytes()
    )
    return loaded


@cache
def general_words(*, medicine: bool = False) -> frozenset[str]:
    """Words and Chinese phrases of questions that ask for nothing in particular, folded.

    Args:
        medicine: Words about medicines in general count too.
    """
    fold, data = lexicon().fold, _data()
    lists = [*data["general"].values(), *(data["general_medicine"].values() if medicine else ())]
    return frozenset(fold(word) for words in lists for word in words)


def fallback(key: str, persona: Persona, language: str) -> str:
    """Return the fixed words under `key` that fit the persona best.

    Args:
        key: One of the keys of `fallback` in the data file.
        persona: A variant counts when every trait it names is the persona's; the one that names most is used.
        language: `en` or `zh`.
    """
    return str(_variant(key, persona)[language])


def tell(fact: Fact, persona: Persona, language: str) -> str:
    """Return fixed words that state one fact and nothing else."""
    phrase = fallback(_phrase_key(fact), persona, language)
    lasting = {"concept": concept_words(fact.concept, language), "drug": concept_words(fact.drug or "", language)}
    text = phrase.format(**lasting, score=fact.attributes.get("score", ""))
    if fact.reason is not None:
        because = fallback("because", persona, language).format(reason=concept_words(fact.reason, language))
        text = join((text, because), language)
    if fact.kind in ("social", "function") and fact.attributes:
        details = "; ".join(f"{value}" for value in fact.attributes.values())
        text = join((text, fallback("detail", persona, language).format(detail=details)), language)
    return text


def join(texts: Iterable[str], language: str) -> str:
    """Join sentences as the language does."""
    return ("" if language == "zh" else " ").join(texts)


def _phrase_key(fact: Fact) -> str:
    if fact.kind == "adherence":
        return f"adherence_{fact.state or 'unsure'}"
    if fact.kind == "pain" and "score" in fact.attributes:
        return "pain_score"
    return f"{fact.kind}_{fact.polarity}"


def _variant(key: str, persona: Persona) -> dict[str, str]:
    variants: list[dict[str, Any]] = _data()["fallback"][key]
    best, most = variants[0], -1
    for variant in variants:
        traits = variant.get("when", {})
        if len(traits) > most and all(getattr(persona, name) == value for name, value in traits.items()):
            best, most = variant, len(traits)
    return best


def concept_words(concept: str, language: str) -> str:
    """Return the words for a concept within a sentence: the lexicon's name, else the concept's own words."""
    found = lexicon().resolve(concept) if concept else None
    if found is None:
        return concept.replace("_", " ")
    if language == "zh" and found.name.zh:
        return found.name.zh
    name = found.name.en
    return name if name[1:2].isupper() else name[0].lower() + name[1:]  # INR keeps its capitals

"""The distinct claims of an answer, keyed so that both languages and all synonyms fall together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from wardround.patients import knowledge
from wardround.rubrics.reading import Reading

Statuses = dict[str, tuple[str, ...]]
"""Concept → statuses claimed now."""
Acts = dict[str, tuple[str, ...]]
"""Target → acts advised."""
Mentions = dict[str, tuple[str, ...]]
"""Concept → polarities claimed."""


@dataclass(frozen=True)
class Values:
    """Measured values claimed for this patient."""

    concepts: tuple[str, ...]
    distinct: dict[str, tuple[str, ...]]
    """Concept → distinct values outside any series (a series is one trend claim)."""
    clashes: tuple[tuple[str, str], ...]
    """(concept, "at <time>") where one instant got two values."""


@lru_cache(maxsize=8192)
def concept_key(name: str) -> str:
    """Return the knowledge base's id for a concept name, else the name folded."""
    found = knowledge.lexicon().resolve(name)
    return found.id if found else " ".join(name.casefold().split())


def values_of(reading: Reading) -> Values:
    """Collect the measured values of an answer."""
    series = [claim.span for claim in reading.trends()]
    concepts: dict[str, None] = {}
    distinct: dict[str, dict[str, None]] = {}
    dated: dict[tuple[str, str], set[str]] = {}
    for claim in reading.measured():
        concepts[claim.concept] = None
        if any(span.start <= claim.span.start and claim.span.end <= span.end for span in series):
            continue
        distinct.setdefault(claim.concept, {})[claim.value] = None
        if claim.time:
            dated.setdefault((claim.concept, claim.time), set()).add(claim.value)
    clashes = tuple((concept, f"at {time}") for (concept, time), found in dated.items() if len(found) > 1)
    return Values(tuple(concepts), {concept: tuple(found) for concept, found in distinct.items()}, clashes)


def statuses_of(reading: Reading) -> Statuses:
    """Collect the statuses an answer claims now."""
    return _grouped((claim.concept, claim.status) for claim in reading.statuses())


def acts_of(reading: Reading) -> Acts:
    """Collect the acts an answer advises."""
    return _grouped((claim.target, claim.act) for claim in reading.acts())


def mentions_of(reading: Reading) -> Mentions:
    """Collect what an answer asserts or denies for this patient."""
    return _grouped((claim.concept, claim.polarity) for claim in reading.mentions())


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Group second parts by first, each once, in the order found."""
    groups: dict[str, dict[str, None]] = {}
    for key, value in pairs:
        groups.setdefault(key, {})[value] = None
    return {key: tuple(found) for key, found in groups.items()}

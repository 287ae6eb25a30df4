"""The distinct claims of an answer, keyed so that both languages and all synonyms fall together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import combinations

from wardround.patients import knowledge
from wardround.rubrics.reading import Measured, MentionClaim, Reading

from .limits import limits

_DRUGS = frozenset({"drug", "drug_class"})
_MENTIONS = frozenset({"condition", "finding"})


@dataclass(frozen=True)
class Claims:
    """The distinct claims of one answer."""

    measured: frozenset[str]
    """Concepts with a measurement claimed for this patient."""
    values: Mapping[str, int]
    """Concept → number of distinct values outside any series (a series is one trend claim)."""
    acts: frozenset[tuple[str, str]]
    """(act, target)."""
    mentions: frozenset[str]
    """Conditions and findings asserted or denied."""
    drugs: frozenset[str]
    """Drugs the patient is said to take or not to take."""
    clashes: Mapping[tuple[str, str], str]
    """(kind of claim, concept) → what contradicts what; kinds: value, status, act, mention."""


@lru_cache(maxsize=8192)
def concept_key(name: str) -> str:
    """Return the knowledge base's id for a concept name, else the name folded."""
    lexicon = knowledge.lexicon()
    found = lexicon.resolve(name)
    return found.id if found else lexicon.fold(name)


@lru_cache(maxsize=8192)
def is_drug(name: str) -> bool:
    """Tell whether a concept name is a drug or a class of drugs."""
    found = knowledge.lexicon().resolve(name)
    return found is not None and found.kind in _DRUGS


def claims_of(reading: Reading) -> Claims:
    """Collect the distinct claims of an answer."""
    measured = reading.measured()
    single: dict[str, list[Measured]] = {}
    for claim in measured:
        if claim.series < 0:
            single.setdefault(claim.concept, []).append(claim)
    statuses = _grouped((claim.concept, claim.status) for claim in reading.statuses())
    acts = _grouped((claim.target, claim.act) for claim in reading.acts())
    named = [claim for claim in reading.names if claim.polarity and claim.flags.claimed]
    rules = limits()
    clashes = {("value", concept): found for concept, group in single.items() if (found := _two_at_once(group))}
    for kind, groups, clash in (("status", statuses, rules.statuses_clash), ("act", acts, rules.acts_clash)):
        for concept, said in groups.items():
            pair = next((pair for pair in combinations(said, 2) if clash(*pair)), None)
            if pair:
                clashes[kind, concept] = f"both {pair[0]} and {pair[1]}"
    clashes.update(_both_polarities(claim for claim in named if claim.kind in _MENTIONS))
    return Claims(
        measured=frozenset(claim.concept for claim in measured),
        values={concept: len(_distinct(group)) for concept, group in single.items()},
        acts=frozenset((act, target) for target, found in acts.items() for act in found),
        mentions=frozenset(claim.concept for claim in named if claim.kind in _MENTIONS),
        drugs=frozenset(claim.concept for claim in named if claim.kind in _DRUGS),
        clashes=clashes,
    )


def _two_at_once(claims: list[Measured]) -> str | None:
    """Return the first two values claimed for one time; another unit may be the same value said again."""
    for one, other in combinations(claims, 2):
        if one.time and one.time == other.time and one.unit == other.unit and not _same_value(one, other):
            return f"both {one.value} and {other.value} ({one.time})"
    return None


def _distinct(claims: list[Measured]) -> list[Measured]:
    kept: list[Measured] = []
    for claim in claims:
        if not any(claim.unit == other.unit and _same_value(claim, other) for other in kept):
            kept.append(claim)
    return kept


def _same_value(one: Measured, other: Measured) -> bool:
    """Tell whether two values are one, up to the rounding of the coarser."""
    if len(one.values) != len(other.values):
        return False
    return all(_rounds_to(a, b) for a, b in zip(one.values, other.values, strict=True))


def _rounds_to(one: Decimal, other: Decimal) -> bool:
    if one == other:
        return True
    places = max(_exponent(one), _exponent(other))
    step = Decimal(1).scaleb(places)
    return one.quantize(step) == other.quantize(step)


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _both_polarities(claims: Iterable[MentionClaim]) -> dict[tuple[str, str], str]:
    """Find concepts asserted and denied by one speaker; chart and patient may well differ."""
    said: dict[tuple[str, tuple[bool, bool, bool]], set[str]] = {}
    for claim in claims:
        flags = claim.flags
        said.setdefault((claim.concept, (flags.patient, flags.chart, flags.relative)), set()).add(claim.polarity)
    return {("mention", concept): "both asserted and denied" for (concept, _), found in said.items() if len(found) > 1}


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Group second parts by first, each once, in the order found."""
    groups: dict[str, dict[str, None]] = {}
    for key, value in pairs:
        groups.setdefault(key, {})[value] = None
    return {key: tuple(found) for key, found in groups.items()}

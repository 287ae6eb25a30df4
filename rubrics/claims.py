"""The distinct claims of an answer, keyed so that both languages and all synonyms fall together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import combinations

from wardround.patients import knowledge
from wardround.rubrics.reading import Measured, MentionClaim, Reading

from .limits import limits

_DRUGS = frozenset({"drug", "drug_class"})
_MENTIONS = frozenset({"condition", "finding"})


Clash = tuple[str, str, str]
"""(kind of claim, concept, what contradicts what); kinds: value, status, act, mention, threshold."""


@dataclass(frozen=True)
class Claims:
    """The distinct claims of one answer."""

    measured: frozenset[str]
    """Concepts with a measurement claimed for this patient."""
    single: Mapping[str, tuple[Measured, ...]]
    """Concept → distinct values claimed outside any series and without a date."""
    dated: Mapping[str, tuple[Measured, ...]]
    """Concept → distinct values that are dated or stand in a series: together one trend claim."""
    acts: frozenset[tuple[str, str]]
    """(act, target); ordering a test again is rechecking it."""
    mentions: frozenset[str]
    """Conditions and findings asserted or denied."""
    drugs: frozenset[str]
    """Drugs the patient is said to take or not to take."""
    clashes: frozenset[Clash]


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
    dated: dict[str, list[Measured]] = {}
    for claim in measured:
        serial = claim.series >= 0 or claim.time not in ("", "now")
        (dated if serial else single).setdefault(claim.concept, []).append(claim)
    acts = _grouped((claim.target, claim.act) for claim in reading.acts())
    named = [claim for claim in reading.names if claim.polarity and claim.flags.claimed]
    return Claims(
        measured=frozenset(claim.concept for claim in measured),
        single={concept: _distinct(group) for concept, group in single.items()},
        dated={concept: _distinct(group) for concept, group in dated.items()},
        acts=frozenset(("recheck" if act == "order" else act, target) for target, said in acts.items() for act in said),
        mentions=frozenset(claim.concept for claim in named if claim.kind in _MENTIONS),
        drugs=frozenset(claim.concept for claim in named if claim.kind in _DRUGS),
        clashes=frozenset(_clashes(reading, measured, acts, named)),
    )


def _clashes(
    reading: Reading, measured: Iterable[Measured], acts: Mapping[str, tuple[str, ...]], named: Iterable[MentionClaim]
) -> Iterator[Clash]:
    """Yield every contradiction between two claims of one kind about one concept."""
    rules = limits()
    values: dict[str, list[Measured]] = {}
    for claim in measured:
        values.setdefault(claim.concept, []).append(claim)
    for concept, group in values.items():
        yield from (("value", concept, what) for what in _two_at_once(group))
    statuses = _grouped((claim.concept, claim.status) for claim in reading.statuses())
    for kind, groups, clash in (("status", statuses, rules.statuses_clash), ("act", acts, rules.acts_clash)):
        for concept, said in groups.items():
            for one, other in combinations(sorted(said), 2):
                if clash(one, other):
                    yield kind, concept, f"both {one} and {other}"
    yield from _both_polarities(claim for claim in named if claim.kind in _MENTIONS)
    yield from _both_sides(claim for claim in reading.values if claim.role == "bound")


def _two_at_once(claims: list[Measured]) -> Iterator[str]:
    """Yield pairs of values claimed for one time; another unit may be the same value said again."""
    for one, other in combinations(claims, 2):
        if one.time and one.time == other.time and one.unit == other.unit and not same_value(one.values, other.values):
            yield f"both {one.value} and {other.value} ({one.time})"


def _both_sides(bounds: Iterable[Measured]) -> Iterator[Clash]:
    """Yield concepts placed above one bound and below another that is no higher; "not above" is below."""
    sides: dict[tuple[str, str], tuple[list[Decimal], list[Decimal]]] = {}
    for claim in bounds:
        flags = claim.flags
        if claim.shape != "one" or not claim.comparator or not flags.claimed or flags.past or flags.future:
            continue
        above, below = sides.setdefault((claim.concept, claim.unit), ([], []))
        (above if (claim.comparator == "above") != flags.negated else below).append(claim.values[0])
    for (concept, _), (above, below) in sides.items():
        if above and below and max(above) >= min(below):
            yield "threshold", concept, f"both above {max(above)} and below {min(below)}"


def _distinct(claims: list[Measured]) -> tuple[Measured, ...]:
    kept: list[Measured] = []
    for claim in claims:
        if not any(claim.unit == other.unit and same_value(claim.values, other.values) for other in kept):
            kept.append(claim)
    return tuple(kept)


def same_value(one: Sequence[Decimal], other: Sequence[Decimal]) -> bool:
    """Tell whether two values (pairs for blood pressures) are one, up to the rounding of the coarser."""
    return len(one) == len(other) and all(_rounds_to(a, b) for a, b in zip(one, other, strict=True))


def _rounds_to(one: Decimal, other: Decimal) -> bool:
    if one == other:
        return True
    places = max(_exponent(one), _exponent(other))
    step = Decimal(1).scaleb(places)
    return one.quantize(step) == other.quantize(step)


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _both_polarities(claims: Iterable[MentionClaim]) -> Iterator[Clash]:
    """Yield concepts asserted and denied by one speaker; chart and patient may well differ."""
    said: dict[tuple[str, tuple[bool, bool, bool]], set[str]] = {}
    for claim in claims:
        flags = claim.flags
        said.setdefault((claim.concept, (flags.patient, flags.chart, flags.relative)), set()).add(claim.polarity)
    for (concept, _), found in said.items():
        if len(found) > 1:
            yield "mention", concept, "both asserted and denied"


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Group second parts by first, each once, in the order found."""
    groups: dict[str, dict[str, None]] = {}
    for key, value in pairs:
        groups.setdefault(key, {})[value] = None
    return {key: tuple(found) for key, found in groups.items()}

"""Rules over the whole answer: listing everything, or saying both things, earns nothing (design §8).

These rules live here and never in one check, so that a check judged alone (`grade --rows`) is about its own claim
only. "Gold" is the number of distinct claims of a kind that our reader finds in any gold answer, each language read
alone, or that affirmative items name, whichever is more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

from wardround.rubrics.reading import Reading, read

from .claims import Acts, Mentions, Statuses, Values, acts_of, concept_key, mentions_of, statuses_of, values_of
from .limits import FamilyLimits, limits
from .rubric import (
    AdviceCheck,
    AllOf,
    AnyOf,
    Check,
    MentionCheck,
    ReportsCheck,
    StatusCheck,
    ThresholdCheck,
    TrendCheck,
    TurnSpec,
    ValueCheck,
)
from .validation import is_guard


@dataclass(frozen=True)
class Counts:
    """Distinct claims of each kind."""

    measured: int = 0
    values: Mapping[str, int] = field(default_factory=dict)
    """Concept → distinct values."""
    acts: int = 0
    mentions: int = 0


def void_items(spec: TurnSpec, reading: Reading, notes: list[str]) -> dict[str, str]:
    """Return item id → reason for the items that rest on claims which do not count.

    Args:
        spec: The turn.
        reading: The answer.
        notes: Gets one line for every rule that fired, whether or not an item rested on it.
    """
    voids = find_voids(reading, gold_counts(spec), limits().of(spec.family))
    notes.extend(voids.notes)
    if not voids.notes:
        return {}
    reasons = {}
    for item in spec.rubric:
        if is_guard(item.check):
            continue
        reason = _rests_on(item.check, voids)
        if reason:
            reasons[item.id] = reason
    return reasons


@dataclass
class Voids:
    """Claims that do not count, with the reason."""

    all_values: str | None = None
    values: dict[str, str] = field(default_factory=dict)
    """Concept → reason."""
    statuses: dict[str, str] = field(default_factory=dict)
    trends: dict[str, str] = field(default_factory=dict)
    all_acts: str | None = None
    acts: dict[str, str] = field(default_factory=dict)
    """Target → reason."""
    all_mentions: str | None = None
    mentions: dict[str, str] = field(default_factory=dict)

    @property
    def notes(self) -> list[str]:
        """Every reason once, in a fixed order."""
        whole = [reason for reason in (self.all_values, self.all_acts, self.all_mentions) if reason]
        single = [self.values, self.statuses, self.trends, self.acts, self.mentions]
        return list(dict.fromkeys(whole + [reason for group in single for reason in group.values()]))


def find_voids(reading: Reading, gold: Counts, allowed: FamilyLimits) -> Voids:
    """Find the claims of an answer that do not count."""
    voids = Voids()
    _void_values(values_of(reading), gold, allowed, voids)
    _void_statuses(statuses_of(reading), voids)
    _void_acts(acts_of(reading), gold, allowed, voids)
    _void_mentions(mentions_of(reading), gold, allowed, voids)
    return voids


def _void_values(values: Values, gold: Counts, allowed: FamilyLimits, voids: Voids) -> None:
    most = gold.measured + allowed.measured_concepts
    if len(values.concepts) > most:
        voids.all_values = f"dumping: {len(values.concepts)} measured concepts stated, {most} allowed"
    for concept, found in values.distinct.items():
        most = gold.values.get(concept, 1) + allowed.values_per_concept
        if len(found) > most:
            voids.values[concept] = f"dumping: {len(found)} values of `{concept}` stated, {most} allowed"
    for concept, time in values.clashes:
        voids.values.setdefault(concept, f"hedging: two values of `{concept}` {time}")


def _void_statuses(statuses: Statuses, voids: Voids) -> None:
    rules = limits()
    for concept, found in statuses.items():
        for one, other in combinations(found, 2):
            if rules.statuses_clash(one, other):
                voids.statuses[concept] = f"hedging: `{concept}` called both {one} and {other}"
                break
    for concept, reason in voids.statuses.items():
        if {"rising", "falling", "stable"} & set(statuses[concept]):
            voids.trends[concept] = reason


def _void_acts(acts: Acts, gold: Counts, allowed: FamilyLimits, voids: Voids) -> None:
    rules = limits()
    total = sum(len(found) for found in acts.values())
    most = gold.acts + allowed.acts
    if total > most:
        voids.all_acts = f"dumping: {total} acts advised, {most} allowed"
    for target, found in acts.items():
        for one, other in combinations(found, 2):
            if rules.acts_clash(one, other):
                voids.acts[target] = f"hedging: both {one} and {other} advised for `{target}`"
                break


def _void_mentions(mentions: Mentions, gold: Counts, allowed: FamilyLimits, voids: Voids) -> None:
    most = gold.mentions + allowed.mentions
    if len(mentions) > most:
        voids.all_mentions = f"dumping: {len(mentions)} mentions made, {most} allowed"
    for concept, polarities in mentions.items():
        if len(polarities) > 1:
            voids.mentions[concept] = f"hedging: `{concept}` both asserted and denied"


def _rests_on(check: Check, voids: Voids) -> str | None:
    """Return why the claims that could pass this check do not count, or None.

    An `any_of` stands as long as one alternative rests on claims that count.
    """
    if isinstance(check, AnyOf | AllOf):
        reasons = [_rests_on(member, voids) for member in check.checks]
        if isinstance(check, AnyOf) and not all(reasons):
            return None
        return next((reason for reason in reasons if reason), None)
    if isinstance(check, ValueCheck | ThresholdCheck):
        return voids.all_values or voids.values.get(concept_key(check.concept))
    if isinstance(check, TrendCheck):
        return voids.all_values or voids.trends.get(concept_key(check.concept))
    if isinstance(check, StatusCheck):
        return voids.statuses.get(concept_key(check.concept))
    if isinstance(check, AdviceCheck):
        return voids.all_acts or voids.acts.get(concept_key(check.target))
    if isinstance(check, MentionCheck | ReportsCheck):
        return voids.all_mentions or voids.mentions.get(concept_key(check.concept))
    return None


def gold_counts(spec: TurnSpec) -> Counts:
    """Return how many distinct claims of each kind the gold makes, the most of any answer or of the items."""
    found = [
        _counted(text, language)
        for answer in spec.gold_answers
        for language, text in (("en", answer.en), ("zh", answer.zh))
        if text
    ]
    found.append(_named(spec))
    values: dict[str, int] = {}
    for counts in found:
        for concept, n in counts.values.items():
            values[concept] = max(values.get(concept, 0), n)
    return Counts(
        measured=max(counts.measured for counts in found),
        values=values,
        acts=max(counts.acts for counts in found),
        mentions=max(counts.mentions for counts in found),
    )


@lru_cache(maxsize=4096)
def _counted(text: str, language: str) -> Counts:
    """Count the claims of one gold answer; a set's gold answers recur in every episode, so each is read once."""
    reading = read(text, language)
    values = values_of(reading)
    return Counts(
        measured=len(values.concepts),
        values={concept: len(found) for concept, found in values.distinct.items()},
        acts=sum(len(found) for found in acts_of(reading).values()),
        mentions=len(mentions_of(reading)),
    )


def _named(spec: TurnSpec) -> Counts:
    """Count the distinct claims that the affirmative items name."""
    values: dict[str, set[str]] = {}
    acts: set[tuple[str, str]] = set()
    mentions: set[str] = set()
    for item in spec.rubric:
        if is_guard(item.check):
            continue
        for check in _flat(item.check):
            if isinstance(check, ValueCheck):
                values.setdefault(concept_key(check.concept), set()).add(str(check.value))
            elif isinstance(check, TrendCheck | ThresholdCheck):
                values.setdefault(concept_key(check.concept), set())
            elif isinstance(check, AdviceCheck):
                acts.add((check.act, concept_key(check.target)))
            elif isinstance(check, MentionCheck | ReportsCheck):
                mentions.add(concept_key(check.concept))
    return Counts(
        measured=len(values),
        values={concept: max(1, len(found)) for concept, found in values.items()},
        acts=len(acts),
        mentions=len(mentions),
    )


def _flat(check: Check) -> Iterator[Check]:
    if isinstance(check, AnyOf | AllOf):
        for member in check.checks:
            yield from _flat(member)
    else:
        yield check

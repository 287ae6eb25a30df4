"""Rules over the whole answer: listing everything, or saying both things, earns nothing (design §8).

These rules live here and never in one check, so that a check judged alone (`grade --rows`) is about its own claim
only. "Gold" is the number of distinct claims of a kind that our reader finds in any gold answer, each language read
alone, or that affirmative items name, whichever is more. What a gold answer itself seems to contradict is no hedging.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from wardround.rubrics.checks.amounts import same_amount
from wardround.rubrics.reading import Measured, Reading, read

from .accounts import clashing_accounts
from .claims import Claims, Clash, claims_of, concept_key, is_drug
from .evidence import Evidence
from .limits import FamilyLimits, limits
from .per_spec import per_spec
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
class Gold:
    """How many distinct claims of each kind the gold makes, and which contradictions it holds itself."""

    measured: int = 0
    values: Mapping[str, int] = field(default_factory=dict)
    acts: int = 0
    mentions: int = 0
    drugs: int = 0
    clashes: frozenset[Clash] = frozenset()
    advised: frozenset[tuple[str, str]] = frozenset()
    """(act, target) of the gold answers."""


@dataclass
class Voids:
    """Claims that do not count: kind → reason for all of that kind; (kind, concept) → reason for that concept's."""

    kinds: dict[str, str] = field(default_factory=dict)
    concepts: dict[tuple[str, str], str] = field(default_factory=dict)

    def reason(self, kind: str, concept: str) -> str | None:
        """Return why claims of that kind about that concept do not count, or None."""
        return self.kinds.get(kind) or self.concepts.get((kind, concept_key(concept)))

    @property
    def notes(self) -> list[str]:
        """Every reason once, in a fixed order."""
        return list(dict.fromkeys([*self.kinds.values(), *self.concepts.values()]))


def void_items(spec: TurnSpec, reading: Reading, evidence: Evidence, notes: list[str]) -> dict[str, str]:
    """Return item id → reason for the items that rest on claims which do not count.

    Args:
        spec: The turn.
        reading: The answer.
        evidence: What the episode has learnt; a dated series of values that were never read is a list of guesses.
        notes: Gets one line for every rule that fired, whether or not an item rested on it.
    """
    claims = claims_of(reading)
    gold, allowed = gold_of(spec), limits().of(spec.family)
    voids = find_voids(claims, gold, allowed, evidence)
    if spec.task in allowed.lookups and not gold.acts:
        _void_advice(claims, voids)
    _void_accounts(spec, reading, voids)
    notes.extend(voids.notes)
    if not voids.notes:
        return {}
    reasons = {item.id: _rests_on(item.check, voids) for item in spec.rubric if not is_guard(item.check)}
    return {item_id: reason for item_id, reason in reasons.items() if reason}


def _void_advice(claims: Claims, voids: Voids) -> None:
    """A fact was asked for: whoever decides about a drug unasked has answered another question."""
    advised = sorted(target for act, target in claims.acts if act != "recheck" and is_drug(target))
    if advised:
        for kind in ("value", "status", "mention", "drug"):
            voids.kinds.setdefault(kind, f"unasked: advice on `{advised[0]}` where a fact was asked for")


def _void_accounts(spec: TurnSpec, reading: Reading, voids: Voids) -> None:
    """Several accounts of one drug in the patient's mouth are none."""
    for item in spec.rubric:
        for check in _flat(item.check):
            if isinstance(check, ReportsCheck):
                clash = clashing_accounts(check.concept, reading, spec.gold_answers)
                if clash is not None:
                    voids.concepts.setdefault(("account", concept_key(check.concept)), clash)


def find_voids(claims: Claims, gold: Gold, allowed: FamilyLimits, evidence: Evidence) -> Voids:
    """Find the claims of an answer that do not count."""
    voids = Voids()
    counted = (
        ("value", "measured concepts", len(claims.measured), gold.measured + allowed.measured_concepts),
        ("act", "acts", len(claims.acts), gold.acts + allowed.acts),
        ("mention", "findings and conditions", len(claims.mentions), gold.mentions + allowed.mentions),
        ("drug", "drugs", len(claims.drugs), gold.drugs + allowed.mentions),
    )
    for kind, words, n, most in counted:
        if n > most:
            voids.kinds[kind] = f"dumping: {n} {words} stated, {most} allowed"
    for concept in sorted(claims.measured):
        most = gold.values.get(concept, 0) + allowed.values_per_concept
        n = len(claims.single.get(concept, ())) + _serial(claims.dated.get(concept, ()), most, evidence)
        if n > most:
            voids.concepts["value", concept] = f"dumping: {n} values of `{concept}` stated, {most} allowed"
    clashes = sorted(claims.clashes - gold.clashes)
    for kind, concept, what in clashes:
        voids.concepts.setdefault((kind, concept), f"hedging: {kind} of `{concept}`: {what}")
    for act, target in sorted(claims.acts):
        more = [one for one, less in sorted(limits().act_precedence) if less == act and (one, target) in claims.acts]
        if more and not {(act, target), (more[0], target)} <= gold.advised:
            voids.concepts.setdefault((f"act {act}", target), f"hedging: {more[0]} `{target}` is not {act}")
    # Two statuses may be a slip; three clashes (high, low and normal) call a value everything it can be called, and
    # then the value itself has not been read to the physician either.
    for concept, n in Counter(concept for kind, concept, _ in clashes if kind == "status").items():
        if n >= allowed.status_clashes:
            voids.concepts.setdefault(("value", concept), f"hedging: `{concept}` is called everything at once")
    return voids


def _serial(dated: tuple[Measured, ...], most: int, evidence: Evidence) -> int:
    """Count a dated, arrowed or from–to series: one claim, and one more for every value that was never read."""
    if len(dated) <= most:  # too few to matter, whether read or not; spares parsing the evidence
        return min(1, len(dated))
    concept = dated[0].concept
    known = [found for found in evidence.measurements if found.concept == concept]
    guesses = [
        claim
        for claim in dated
        if not any(same_amount(claim, found.text, found.unit or "", concept) for found in known)
    ]
    return min(1, len(dated) - len(guesses)) + len(guesses)


def _rests_on(check: Check, voids: Voids) -> str | None:
    """Return why the claims that could pass this check do not count, or None.

    An `any_of` stands as long as one alternative rests on claims that count.
    """
    if isinstance(check, AnyOf | AllOf):
        reasons = [_rests_on(member, voids) for member in check.checks]
        if isinstance(check, AnyOf) and not all(reasons):
            return None
        return next((reason for reason in reasons if reason), None)
    if isinstance(check, ValueCheck):
        return voids.reason("value", check.concept)
    if isinstance(check, ThresholdCheck):
        return voids.reason("value", check.concept) or voids.reason("threshold", check.concept)
    if isinstance(check, TrendCheck):
        return voids.kinds.get("value") or voids.reason("status", check.concept)
    if isinstance(check, StatusCheck):
        return voids.reason("status", check.concept)
    if isinstance(check, AdviceCheck):
        return voids.reason("act", _target(check.target)) or voids.reason(f"act {check.act}", _target(check.target))
    if isinstance(check, MentionCheck | ReportsCheck):
        if (clash := voids.reason("account", check.concept)) is not None and isinstance(check, ReportsCheck):
            return clash
        return voids.reason("drug" if is_drug(check.concept) else "mention", check.concept)
    return None


def _target(target: str) -> str:
    """Return the drug an advice is about: "A to B" of a switch is about A."""
    return target.split(" to ", 1)[0]


@per_spec
def gold_of(spec: TurnSpec) -> Gold:
    """Return what the gold claims: the most of any answer, each language alone, or of the affirmative items."""
    found = [
        _read_gold(text, language)
        for answer in spec.gold_answers
        for language, text in (("en", answer.en), ("zh", answer.zh))
        if text
    ]
    found.append(_named(spec))
    values: dict[str, int] = {}
    for gold in found:
        for concept, n in gold.values.items():
            values[concept] = max(values.get(concept, 0), n)
    return Gold(
        measured=max(gold.measured for gold in found),
        values=values,
        acts=max(gold.acts for gold in found),
        mentions=max(gold.mentions for gold in found),
        drugs=max(gold.drugs for gold in found),
        clashes=frozenset(clash for gold in found for clash in gold.clashes),
        advised=frozenset(act for gold in found for act in gold.advised),
    )


@lru_cache(maxsize=4096)
def _read_gold(text: str, language: str) -> Gold:
    """Count the claims of one gold answer; a set's gold answers recur in every episode, so each is read once."""
    claims = claims_of(read(text, language))
    return Gold(
        measured=len(claims.measured),
        values={
            concept: len(claims.single.get(concept, ())) + min(1, len(claims.dated.get(concept, ())))
            for concept in claims.measured
        },
        acts=len(claims.acts),
        mentions=len(claims.mentions),
        drugs=len(claims.drugs),
        clashes=claims.clashes,
        advised=claims.acts,
    )


def _named(spec: TurnSpec) -> Gold:
    """Count the distinct claims that the affirmative items name."""
    values: dict[str, set[str]] = {}
    acts: set[tuple[str, str]] = set()
    mentions: set[str] = set()
    drugs: set[str] = set()
    for check in (check for item in spec.rubric if not is_guard(item.check) for check in _flat(item.check)):
        if isinstance(check, ValueCheck):
            values.setdefault(concept_key(check.concept), set()).add(str(check.value))
        elif isinstance(check, TrendCheck | ThresholdCheck):
            values.setdefault(concept_key(check.concept), set())
        elif isinstance(check, AdviceCheck):
            acts.add(("recheck" if check.act == "order" else check.act, concept_key(_target(check.target))))
        elif isinstance(check, MentionCheck | ReportsCheck):
            (drugs if is_drug(check.concept) else mentions).add(concept_key(check.concept))
    return Gold(
        measured=len(values),
        values={concept: len(found) for concept, found in values.items()},
        acts=len(acts),
        mentions=len(mentions),
        drugs=len(drugs),
    )


def _flat(check: Check) -> Iterator[Check]:
    if isinstance(check, AnyOf | AllOf):
        for member in check.checks:
            yield from _flat(member)
    else:
        yield check

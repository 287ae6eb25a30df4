"""Falling ill: an illness with its code and severity, and what it does to the body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from types import MappingProxyType

from wardround.patients.knowledge.bedside import condition_profiles, lab_profiles, relations
from wardround.patients.knowledge.graph_models import Code, ConditionProfile, LabEffect, Relation, Severity
from wardround.patients.times import Instant, parse_instant

from .generation import rules
from .generation_people import band_of
from .life import Illness
from .making import HOUR, Making, month_of, weighted, within
from .physiology import Shift


def fall_ill(
    making: Making,
    condition: str,
    *,
    onset: Instant,
    known_at: Instant,
    severity: Severity | None = None,
    encounter: str | None = None,
    cause: str | None = None,
    problem_list: bool = False,
) -> Illness:
    """Add an illness to a life, with what it does to labs and vital signs.

    Args:
        making: The life.
        condition: Condition profile id.
        onset: When it begins in the body.
        known_at: When it is diagnosed.
        severity: None: drawn by the profile's weights.
        encounter: Where it is diagnosed.
        cause: Id of the illness or prescription that brings it about.
        problem_list: Whether it goes on the problem list.
    """
    profile = condition_profiles()[condition]
    identity = making.new("d")
    drawn = weighted(making.stream("severity", identity), list(profile.severity.items()))
    severity = severity or drawn
    told = severity
    if condition in rules().code_by_parent:
        parents = [one for one in making.ill(known_at) if one.condition in profile.episode_of]
        told = parents[0].severity if parents else severity
    code = code_of(making, profile, told, identity, known_at)
    illness = Illness(
        id=identity, condition=condition, code=code.code, title=code.title, acuity=profile.acuity, severity=severity,
        onset=onset, known_at=known_at, encounter=encounter, problem_list=problem_list, cause=cause,
    )  # fmt: skip
    making.illnesses[identity] = illness
    move_body(making, illness, profile.effects, onset, episode=profile.acuity != "chronic")
    return illness


def move_body(
    making: Making, illness: Illness, effects: Iterable[LabEffect], begin: Instant, *, episode: bool, flare: str = ""
) -> None:
    """Let an illness move labs and vital signs.

    Effects that stay (no half-life) begin once, with the illness; those that pass come with each episode.
    """
    left = {lab for rule in rules().from_body if rule.condition == illness.condition for lab in rule.leaves}
    for number, effect in enumerate(effects):
        passing = effect.half_life_hours is not None
        if passing != episode and not (episode and not flare):
            continue
        if effect.lab in left or effect.lab not in lab_profiles():
            continue
        stream = making.stream("effect", illness.id, effect.lab, number, flare)
        if stream.below(100) >= effect.percent:
            continue
        size = within(stream, *effect.band(illness.severity))
        making.body.add(
            Shift(
                lab=effect.lab,
                cause=illness.id,
                mode=effect.mode,
                size=size,
                begin=begin,
                peak=begin + effect.rise_hours * HOUR,
                half_life_h=effect.half_life_hours,
                stays=Decimal(effect.stays) / 100,
            )
        )


def code_of(making: Making, profile: ConditionProfile, severity: Severity, illness: str, at: Instant) -> Code:
    """Return the code that fits: the first of those that need another condition, else one by weight."""
    fitting = [code for code in profile.codes if not code.severity or severity in code.severity] or list(profile.codes)
    have = {one.condition for one in making.suffering(at)}
    for code in fitting:
        if code.with_condition in have and code.with_condition != profile.id:
            return code
    plain = [(code, code.weight) for code in fitting if code.with_condition is None]
    if not plain:
        plain = [(code, code.weight) for code in profile.codes if code.with_condition is None]
    if not plain:
        plain = [(code, code.weight) for code in fitting]
    return weighted(making.stream("code", illness), plain)


@cache
def relations_from() -> Mapping[str, tuple[Relation, ...]]:
    """Return relations by the condition they start from."""
    found: dict[str, list[Relation]] = {}
    for relation in relations():
        found.setdefault(relation.one, []).append(relation)
    return MappingProxyType({one: tuple(many) for one, many in found.items()})


def consequences(condition: str, kinds: Iterable[str], *, chronic: bool) -> Iterator[tuple[Relation, ConditionProfile]]:
    """Yield the chronic conditions, or the others, that relations of some kinds lead to, each with its relation."""
    for relation in relations_from().get(condition, ()):
        profile = condition_profiles().get(relation.other)
        if profile is not None and relation.kind in kinds and (profile.acuity == "chronic") == chronic:
            yield relation, profile


@cache
def excluded() -> frozenset[tuple[str, str]]:
    """Return pairs of conditions that exclude each other, both ways round."""
    pairs = [(one.one, one.other) for one in relations() if one.kind == "excludes"]
    return frozenset([*pairs, *((other, one) for one, other in pairs)])


def afresh(making: Making, condition: str, begun: Instant) -> Instant:
    """Return when a new episode begins: not before an earlier one of the condition was over."""
    over = [
        one.resolved for one in making.illnesses.values() if one.condition == condition and one.resolved is not None
    ]
    return max([begun, *(one + 6 * HOUR for one in over)])


def fits(making: Making, profile: ConditionProfile, at: Instant, have: Iterable[str]) -> bool:
    """Tell whether a person of this sex, age and history can get a condition."""
    if profile.sex not in (None, making.person.sex):
        return False
    age = making.age(at)
    if not profile.youngest <= age <= profile.oldest:
        return False
    if profile.since is not None and at < parse_instant(profile.since):
        return False
    if profile.months and month_of(at) not in profile.months:
        return False
    return not any((profile.id, other) in excluded() for other in have)


def commonness(making: Making, profile: ConditionProfile, at: Instant) -> int:
    """Return how common a condition is in people of the patient's age and habits, of 10,000."""
    here = profile.ages.get(band_of(making.age(at)), 0)
    if not here:
        return 0
    data, person = rules(), making.person
    odds = data.commonness.get(profile.id, data.commonness_else) * 10 * here * 10_000 // max(profile.ages.values())
    for times, has, percent in (
        (profile.smokers, person.smoking != "never", data.habits_percent["smokers"]),
        (profile.drinkers, person.alcohol == "heavy", data.habits_percent["drinkers"]),
    ):
        odds = odds * 100 * (times if has else 1) // (100 + percent * (times - 1))
    return max(1, odds // 10_000)

"""Allergies, vaccines, relatives and operations of years ago."""

from __future__ import annotations

from wardround.patients.knowledge import conditions
from wardround.patients.times import DAY, Instant, parse_instant

from .generation import rules
from .generation_rules import FamilyRule, PastProcedure, Relation, VaccineRule
from .life import Allergy, Pair, Relative, Treated, Vaccine
from .making import HOUR, YEAR, Making, between, weighted, year_of


def background(making: Making, first: Instant, end: Instant) -> None:
    """Find allergies, relatives, old operations and vaccines; `first` is the day of the first encounter."""
    _allergies(making, first)
    _relatives(making, first)
    _operations(making, first)
    for rule in rules().vaccines:
        _vaccinate(making, rule, end)


def _allergies(making: Making, first: Instant) -> None:
    stream = making.stream("allergies")
    if stream.below(100) >= rules().allergy_percent:
        return
    pool = list(rules().allergies)
    for _ in range(2 if stream.chance(1, 4) else 1):
        rule = weighted(stream, [(one, one.weight) for one in pool])
        pool.remove(rule)
        en, zh, severity = stream.choice(rule.reactions)
        back = between(stream, 30, max(60, min(7000, (first - making.born) // DAY - 200)))
        making.allergies.append(
            Allergy(
                making.new("al"),
                rule.substance,
                rule.name,
                Pair(en, zh),
                severity,
                rule.category,
                first - back * DAY + between(stream, 9, 16) * HOUR,
            )
        )


def _relatives(making: Making, first: Instant) -> None:
    stream = making.stream("relatives")
    for kin in rules().relations:
        if kin.one_in > 1 and not stream.chance(1, kin.one_in):
            continue
        age = making.age(first) + between(stream, *kin.older)
        for _ in range(between(stream, 0, kin.most)):
            fitting = [(one, one.weight) for one in rules().family if _can_have(one, kin, age, making)]
            if not fitting:
                break
            rule = weighted(stream, fitting)
            onset = between(stream, rule.ages[0], min(rule.ages[1], age))
            deceased = age > 96 or (age > 62 and stream.below(100) < (age - 55) * 2)
            deceased = _same_fate(making, kin.relation, deceased)
            name = conditions()[rule.condition].name
            making.relatives.append(
                Relative(
                    making.new("fm"),
                    kin.relation,
                    rule.condition,
                    Pair(name.en, name.zh or name.en),
                    onset,
                    deceased,
                    first - 20 * DAY,
                )
            )


def _can_have(rule: FamilyRule, kin: Relation, age: int, making: Making) -> bool:
    if rule.sex not in (None, kin.sex) or age <= rule.ages[0]:
        return False
    return all((one.relation, one.condition) != (kin.relation, rule.condition) for one in making.relatives)


def _same_fate(making: Making, relation: str, deceased: bool) -> bool:
    """Return whether a relative is dead, the same in each of their diseases."""
    for one in making.relatives:
        if one.relation == relation:
            return one.deceased
    return deceased


def _operations(making: Making, first: Instant) -> None:
    for rule in rules().past_procedures:
        _operate(making, rule, first)


def _operate(making: Making, rule: PastProcedure, first: Instant) -> None:
    stream = making.stream("operation", rule.title)
    age = making.age(first)
    if rule.sex not in (None, making.person.sex) or age < rule.from_age or stream.below(100) >= rule.percent:
        return
    have = {one.condition: one for one in making.illnesses.values()}
    if any(one in have for one in rule.excludes):
        return
    cause = next((have[one] for one in rule.needs if one in have and have[one].known_at < first - 60 * DAY), None)
    if rule.needs and cause is None:
        return
    low, high = rule.ages[0], min(rule.ages[1], age - 1)
    at = making.born + between(stream, low, max(low, high)) * YEAR + between(stream, 0, 300) * DAY
    if cause is not None:
        at = max(at, cause.known_at + between(stream, 10, 50) * DAY)
    at += between(stream, 8, 14) * HOUR - at % DAY
    if at > first - 30 * DAY:
        return
    making.treated.append(
        Treated(
            making.new("p"),
            rule.procedure,
            rule.title,
            at,
            at + 2 * HOUR,
            None,
            cause.id if cause is not None else None,
        )
    )
    making.barred.update(rule.excludes)


def _vaccinate(making: Making, rule: VaccineRule, end: Instant) -> None:
    stream = making.stream("vaccine", rule.vaccine)
    low, high = rule.ages
    opens = max(making.born + low * YEAR, parse_instant(f"{rule.from_year}-01-01"))
    closes = min(end, making.born + high * YEAR)
    if closes <= opens:
        return
    if rule.every_years is None:
        if stream.below(100) < rule.percent:
            at = opens + between(stream, 10, max(11, min((closes - opens) // DAY, 900))) * DAY
            _inject(making, rule, at, closes)
        return
    if rule.every_years > 1:
        for year in range(year_of(opens), year_of(closes) + 1, rule.every_years):
            if stream.below(100) < rule.percent:
                _inject(
                    making, rule, max(opens, parse_instant(f"{year}-01-01")) + between(stream, 20, 340) * DAY, closes
                )
        return
    habit = stream.below(100) < rule.percent
    first_year = max(year_of(opens), year_of(end) - 6)
    for year in range(first_year, year_of(closes) + 1):
        if stream.below(100) < (75 if habit else 12):
            month = between(stream, *rule.months)
            _inject(making, rule, parse_instant(f"{year}-{month:02d}-{between(stream, 1, 28):02d}"), closes)


def _inject(making: Making, rule: VaccineRule, at: Instant, closes: Instant) -> None:
    at += between(making.stream("vaccine hour", rule.vaccine, at), 9, 16) * HOUR - at % DAY
    if making.born < at < closes:
        making.vaccines.append(Vaccine(making.new("vx"), rule.vaccine, rule.name, rule.cvx, at, None))

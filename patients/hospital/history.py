"""What the patient brings along: chronic conditions, first the commoner ones and then what hangs on them."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.knowledge.graph_models import ConditionProfile, Severity
from wardround.patients.times import DAY, Instant

from .diagnosing import commonness, consequences, excluded, fall_ill, fits, relations_from
from .generation import rules
from .generation_people import AgeBand, band_of
from .generation_rules import FromBody
from .life import Illness
from .making import HOUR, Making, between, weighted


def chronic_conditions(making: Making, band: AgeBand, end: Instant, busy: Sequence[Instant]) -> None:
    """Draw the chronic conditions of a life and when each began, up to the last encounter's day.

    Args:
        making: The life.
        band: The age band.
        end: Day of the last encounter.
        busy: Days of encounters: nothing is diagnosed elsewhere from the day before to five weeks after one.
    """
    stream = making.stream("chronic")
    least, most = band.chronic
    chosen = _from_body(making, end)
    built = _from_body_alone()
    pool = [
        one
        for one in condition_profiles().values()
        if one.acuity == "chronic" and not one.episode_of and one.id not in built
    ]
    drawn = 0
    for one in stream.shuffled(pool):
        odds = min(commonness(making, one, end), 9000)
        if drawn < most and stream.below(10_000) < odds and fits(making, one, end, chosen):
            chosen.append(one.id)
            drawn += 1
    while drawn < least:
        open_ones = [
            (one, weight)
            for one in pool
            if one.id not in chosen and (weight := commonness(making, one, end)) and fits(making, one, end, chosen)
        ]
        if not open_ones:
            break
        chosen.append(weighted(stream, open_ones).id)
        drawn += 1
    chosen.extend(_brought_along(making, chosen, end))
    _begin(making, chosen, end, busy)


def _from_body(making: Making, end: Instant) -> list[str]:
    profiles = condition_profiles()
    found = [
        rule.condition
        for rule in rules().from_body
        if _built(making, rule) and fits(making, profiles[rule.condition], end, ())
    ]
    return list(dict.fromkeys(found))


def _build_severity(making: Making, condition: str) -> Severity | None:
    """Return the severity that the person's build gives a condition; None: it gives none."""
    fitting = [rule for rule in rules().from_body if rule.condition == condition and _built(making, rule)]
    return fitting[-1].severity if fitting else None


def _built(making: Making, rule: FromBody) -> bool:
    person = making.person
    bmi = person.weight_kg * 10000 / (person.height_cm * person.height_cm)
    return bmi >= rule.bmi_at_least


def _from_body_alone() -> frozenset[str]:
    """Return the conditions that follow from the build and are not drawn."""
    return frozenset(rule.condition for rule in rules().from_body)


def _brought_along(making: Making, chosen: list[str], end: Instant) -> list[str]:
    """Return chronic conditions that the chosen ones cause or come with."""
    found: list[str] = []
    band = band_of(making.age(end))
    for one in chosen:
        for relation, other in consequences(one, ("causes", "associated"), chronic=True):
            have = [*chosen, *found]
            if other.id in have or other.id in _from_body_alone() or not other.ages.get(band, 0):
                continue
            if not fits(making, other, end, have):
                continue
            if making.stream("brought", one, other.id).below(1000) < relation.per_1000:
                found.append(other.id)
    return found


def _begin(making: Making, chosen: list[str], end: Instant, busy: Sequence[Instant]) -> None:
    """Give each condition its onset and first date; what another causes begins after it."""
    begun: dict[str, Illness] = {}
    causes = {
        relation.other: one
        for one in reversed(chosen)
        for relation in relations_from().get(one, ())
        if relation.kind == "causes" and relation.other in chosen and (one, relation.other) not in excluded()
    }
    for condition in sorted(chosen, key=lambda one: _depth(one, causes)):
        parent = causes.get(condition)
        _begin_one(making, condition, begun, parent if parent in begun else None, end, busy)


def _depth(condition: str, causes: dict[str, str]) -> int:
    """Return how many causes stand before a condition; circles end."""
    seen = {condition}
    while (parent := causes.get(condition)) is not None and parent not in seen:
        seen.add(parent)
        condition = parent
    return len(seen)


def _begin_one(
    making: Making, condition: str, begun: dict[str, Illness], parent: str | None, end: Instant, busy: Sequence[Instant]
) -> None:
    stream = making.stream("onset", condition)
    age_days = (end - making.born) // DAY
    most = min(age_days - _least_age(condition_profiles()[condition]) * 366 - 200, 22 * 365)
    if parent is not None:
        most = min(most, (end - begun[parent].onset) // DAY - 180)
    most = max(most, 60)
    back = between(stream, min(30, most), most)
    onset = end - back * DAY + 12 * HOUR
    delay = between(stream, 5, max(6, min(300, back // 3)))
    known = min(onset + delay * DAY, end - 20 * DAY)
    for day in reversed(busy):
        if day - DAY <= known < day + 36 * DAY:
            known = day - 2 * DAY
    known += between(stream, 8, 15) * HOUR - known % DAY
    onset = min(onset, known - between(stream, 1, 20) * DAY)
    begun[condition] = fall_ill(
        making, condition, onset=onset, known_at=known, problem_list=True,
        severity=_build_severity(making, condition),
        cause=begun[parent].id if parent is not None else None,
    )  # fmt: skip


def _least_age(profile: ConditionProfile) -> int:
    """Return the age from which a condition begins: what is rare in children does not begin in childhood."""
    rare = profile.ages.get("0-17", 0) * 8 < max(profile.ages.values())
    return max(profile.youngest, 16) if rare else profile.youngest

"""What brings the patient in: the calendar of encounters, and the illness of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.knowledge.graph_models import ConditionProfile
from wardround.patients.times import DAY, Instant, parse_instant

from .diagnosing import commonness, fits, relations_from
from .generation import rules
from .generation_people import AgeBand
from .life import Illness
from .making import Making, between, month_of, weighted, wider

Kind = Literal["clinic", "ed", "ward"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A day on which the patient comes."""

    kind: Kind
    day: Instant
    follow_up: bool = False
    last: bool = False


def calendar(making: Making, band: AgeBand, end: Instant) -> list[Slot]:
    """Draw the days and kinds of encounters, the last on the day `end`."""
    stream = making.stream("calendar")
    number = between(stream, *band.encounters)
    span = _span(making, end, number)
    days = sorted(end - between(stream, 40, max(41, span)) * DAY for _ in range(number - 1))
    kinds: list[Kind] = [weighted(stream, list(rules().kinds.items())) for _ in days]
    slots: list[Slot] = []
    last_kind: Kind = (
        "ward" if stream.below(100) < rules().last_ward_percent else "ed" if stream.chance(1, 2) else "clinic"
    )
    for day, kind in zip([*days, end], [*kinds, last_kind], strict=True):
        follow_up = False
        if slots and slots[-1].kind == "ward" and kind == "clinic" and day != end:
            day = slots[-1].day + between(stream, *rules().follow_up_days) * DAY + 14 * DAY
            follow_up = True
        if slots and day < slots[-1].day + 36 * DAY and not follow_up:
            day = slots[-1].day + between(stream, 36, 60) * DAY
        if day > end - 36 * DAY and day != end:
            continue
        slots.append(Slot(kind, day, follow_up, last=day == end))
    if len(slots) < 2:
        slots.insert(0, Slot("ed", end - between(stream, 40, 240) * DAY))
    return slots


def _span(making: Making, end: Instant, encounters: int) -> int:
    """Return over how many days the record runs: children's are short, since they grow."""
    stream = making.stream("span")
    age_days = (end - making.born) // DAY
    if age_days < 18 * 365:
        return min(between(stream, 90, 540), age_days - 400)
    span = between(stream, 60 * encounters, 520 * encounters)
    span = min(span, max(120, (end - parse_instant(f"{rules().opens}-01-01")) // DAY))
    return min(span, 3600, max(120, age_days - 18 * 365 - 30) if age_days > 18 * 365 + 150 else 120)


@dataclass(frozen=True, slots=True)
class Coming:
    """Why the patient comes: a new illness, or one they have."""

    condition: str
    has: Illness | None = None


def what_comes(making: Making, at: Instant, setting: Kind, before: Sequence[str]) -> Coming | None:
    """Draw the illness that brings the patient to a setting; None: nobody of their kind comes there.

    Args:
        making: The life.
        at: When they come.
        setting: Where.
        before: Conditions that brought them in of late, which do not come again.
    """
    mine = {one.condition: one for one in making.ill(at)}
    hidden = {one.condition for one in making.suffering(at)} - set(mine)
    likelier: dict[str, int] = {}
    for one in mine:
        for relation in relations_from().get(one, ()):
            if relation.kind in ("causes", "complicates"):
                likelier[relation.other] = likelier.get(relation.other, 0) + relation.per_1000 // 5
    odds: list[tuple[Coming, int]] = []
    for profile in condition_profiles().values():
        if profile.id in making.barred or profile.id in before or profile.id in hidden:
            continue
        if hidden and not fits(making, profile, at, hidden):
            continue
        weight = _odds(making, profile, at, setting, mine)
        if weight:
            boost = min(10 + likelier.get(profile.id, 0), 60)
            weight = weight * boost // sum(profile.settings.values()) + 1
            odds.append((Coming(profile.id, mine.get(profile.id)), weight))
    if not odds:
        return None
    return weighted(making.stream("coming", at), odds)


def _odds(making: Making, profile: ConditionProfile, at: Instant, setting: Kind, mine: dict[str, Illness]) -> int:
    """Return how often a condition brings such a patient to a setting, whatever else they have; 0: it cannot."""
    weight = profile.settings.get(setting, 0)
    if not weight or not profile.complaint:
        return 0
    weight *= commonness(making, profile, at)
    if not weight:
        return 0
    if profile.episode_of and not any(one in mine for one in profile.episode_of):
        return 0
    if profile.acuity == "chronic" and profile.id not in mine:
        return 0
    if profile.takes and not any(wider(order.drug) & set(profile.takes) for order in making.active(at)):
        return 0
    if not fits(making, profile, at, [one for one in mine if one != profile.id]):
        return 0
    months = rules().seasons.get(profile.id)
    if months is not None and month_of(at) not in months:
        weight = weight // 20 + 1
    return weight

"""Haemoglobin that falls under an anticoagulant: drawn again, stool looked at, what thins the blood held."""

from __future__ import annotations

from decimal import Decimal

from wardround.patients.times import DAY, Instant

from .course import tell_held
from .generation import rules
from .life import Prescription, Sign
from .making import MINUTE, Making, between
from .situating import is_a
from .stays import Course

_WATCHED = "falling count"


def look_for_bleeding(course: Course, at: Instant) -> None:
    """Answer each new value that has fallen far in the stay while the blood is thinned, or was until just now.

    Args:
        course: The stay.
        at: When somebody looks at the patient.
    """
    fallen_at = _fallen(course, at, further=_WATCHED in course.decided)
    if fallen_at is None or course.dies or f"{_WATCHED} {fallen_at}" in course.decided:
        return
    thinned = _thinned(course.making, at)
    if not thinned:
        return
    rule = rules().falling
    again = fallen_at + between(course.making.stream(_WATCHED, course.ward, fallen_at), *rule.minutes) * MINUTE
    course.awaited.append((max(again, at + 10 * MINUTE), (rule.panel,)))  # what is due after leaving is not drawn
    if _WATCHED not in course.decided:
        _look_at_stool(course, at)
    course.decided |= {_WATCHED, f"{_WATCHED} {fallen_at}"}
    _hold(course, [one for one in thinned if one.stop is None or one.stop > at], at)


def count_followed(course: Course) -> str | None:
    """Return the id of the last count, where it fell under an anticoagulant and is looked at again later; or None."""
    if _WATCHED not in course.decided:
        return None
    back = [one for one in course.making.results[course.first_result :] if one.known_at <= course.leaves]
    return next((one.id for one in reversed(back) if one.lab == rules().falling.lab), None)


def _fallen(course: Course, at: Instant, *, further: bool) -> Instant | None:
    """Return when the last value of the stay was known, where it lies far below the highest before or is very low.

    Args:
        course: The stay.
        at: Now.
        further: Whether it must be lower than the one before, too: what holds needs no other look.
    """
    highest: Decimal | None = None
    last = before = None
    for reading in course.making.readings.get(rules().falling.lab, ()):
        if course.arrival <= reading.known_at <= at:
            highest = reading.value if highest is None else max(highest, reading.value)
            before, last = last, reading
    if last is None or highest is None or (further and before is not None and last.value >= before.value):
        return None
    rule = rules().falling
    return last.known_at if last.value < rule.below or highest - last.value >= rule.by else None


def _thinned(making: Making, at: Instant) -> list[Prescription]:
    """Return the anticoagulants that run or ended in the last two days."""
    drugs = rules().falling.drugs
    return [
        one
        for one in making.orders.values()
        if one.start <= at and (one.stop is None or one.stop > at - 2 * DAY) and is_a(one.drug, drugs)
    ]


def _look_at_stool(course: Course, at: Instant) -> None:
    """Add that there is no blood in the stool, where nobody has looked in this part of the stay."""
    making, place, finding = course.making, course.place(at), rules().falling.looked_at
    mine = [one for one in making.signs if one.encounter in course.encounters and one.finding == finding]
    if not any(one.present or one.encounter == place for one in mine) and finding not in making.showing:
        making.signs.append(
            Sign(
                id=making.new("s"), finding=finding, type="sign", present=False, owners=(), relevance="supporting",
                encounter=place, onset=at, known_at=at,
            )
        )  # fmt: skip


def _hold(course: Course, running: list[Prescription], at: Instant) -> None:
    """Hold what thins the blood, but what treats an illness of this stay: a clot outweighs a count that is not low."""
    rule, at = rules().falling, course.desk.now(at)
    held = [one for one in running if one.indication not in course.acute or one.line in rule.prevents]
    for order in held:
        course.desk.pause(order, at, rule.reason)
    tell_held(course, at, held)

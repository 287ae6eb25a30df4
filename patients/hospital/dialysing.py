"""Dialysis: what a session takes out of the blood and what comes back until the next, the draws round it, its days."""

from __future__ import annotations

from decimal import Decimal

from wardround.patients.knowledge.bedside import lab_profiles
from wardround.patients.knowledge.graph_models import ProcedureOrder
from wardround.patients.times import DAY, Instant

from .generation import rules
from .life import Illness, Treated
from .making import HOUR, MINUTE, Making, at_clock, between, within
from .physiology import Shift
from .stays import Course

_DAYTIME = (6 * HOUR, 18 * HOUR)


def rebound(making: Making, illness: Illness, order: ProcedureOrder, done: Treated) -> None:
    """Let a session move the body until it is over; from then on it comes back.

    Args:
        making: The life.
        illness: What it was done for.
        order: What it does.
        done: The session.
    """
    end = done.end or done.at + 4 * HOUR
    for number, effect in enumerate(order.effects):
        stream = making.stream("session", done.id, effect.lab, number)
        if effect.lab not in lab_profiles() or stream.below(100) >= effect.percent:
            continue
        size = within(stream, *effect.band(illness.severity))
        stays = Decimal(effect.stays) / 100
        making.body.add(Shift(effect.lab, done.id, effect.mode, size, done.at, end, end, effect.half_life_hours, stays))


def draw_round(course: Course, done: Treated) -> None:
    """Book the draws before a session and the weight after it.

    Args:
        course: The stay.
        done: The session.
    """
    rule = rules().dialysed
    if done.procedure != rule.procedure:
        return
    before = done.at - rule.before_minutes * MINUTE
    if before > course.admitted:
        course.awaited.append((before, rule.before))
    after = (done.end or done.at) + rule.after_minutes * MINUTE
    if after < course.leaves:
        course.awaited.append((after, rule.after))


def by_day(course: Course, at: Instant, *name: str | int) -> Instant:
    """Return an instant, put off to the next morning or noon where it is at night."""
    if _DAYTIME[0] <= at % DAY <= _DAYTIME[1]:
        return at
    day = at if at % DAY < _DAYTIME[0] else at + DAY
    stream = course.making.stream("by day", *name)
    return at_clock(day, between(stream, 7, 13), between(stream, 0, 59))


def next_session(course: Course, illness: Illness, order: ProcedureOrder, at: Instant) -> Instant | None:
    """Return when the session after the last one of a stay is due, where it is by the next round; None: it is not.

    Args:
        course: The stay.
        illness: Whose sessions they are.
        order: The procedure, done again and again.
        at: The round.
    """
    mine = [one.at for one in course.making.treated if one.illness == illness.id and one.procedure == order.procedure
            and one.encounter in course.encounters]  # fmt: skip
    if order.every_hours is None or not mine:
        return None
    due = max(max(mine) + order.every_hours * HOUR, at + HOUR)
    return due if due < at + DAY and due <= course.leaves - 5 * HOUR else None

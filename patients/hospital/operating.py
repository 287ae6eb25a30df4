"""Before an operation: the antibiotic within the hour before it begins, and the anticoagulant that has to wear off."""

from __future__ import annotations

from wardround.patients.knowledge.graph_models import Phase, ProcedureOrder
from wardround.patients.times import DAY, Instant

from .generation import rules
from .life import Prescription
from .making import HOUR, MINUTE, at_clock, between, within
from .physiology import Shift
from .situating import is_a
from .stays import Course

_MOST_DAYS = 5
"""Days for which an operation waits until the clotting allows it."""


def cover(course: Course, until: Instant) -> None:
    """Give the antibiotic before each operation that begins by an instant, where none is given anyway.

    Args:
        course: The stay.
        until: What begins later waits.
    """
    making, rule = course.making, rules().cover
    for done in making.treated:
        begin = done.at - rule.minutes * MINUTE
        if done.procedure not in rule.procedures or done.encounter not in course.encounters or begin >= until:
            continue
        if done.id in course.covered or done.illness is None:
            continue
        course.covered.add(done.id)
        at = course.desk.now(begin)
        running = any(is_a(one.drug, ("antibiotic",)) and one.route == "IV" for one in making.active(at))
        if running or at >= done.at - 10 * MINUTE:
            continue
        phase: Phase = "icu" if course.icu is not None and course.icu_from <= at < course.icu_to else "inpatient"
        illness = course.illness(done.illness)
        course.desk.treat(illness, rule.line, phase, at, "inpatient", course.place(at))


def waits(course: Course, order: ProcedureOrder) -> bool:
    """Tell whether an operation waits until the anticoagulant that the patient takes at home has worn off.

    Args:
        course: The stay.
        order: The operation.
    """
    rule = rules().put_off
    can = order.procedure in rule.procedures and order.hours[1] >= rule.can_wait_hours
    return can and course.inpatient and bool(_thinners(course, course.arrival))


def _thinners(course: Course, at: Instant) -> list[Prescription]:
    """Return the anticoagulants that run at an instant."""
    homes = [one for one in course.making.active(at) if one.kind != "inpatient"]
    return [one for one in homes if is_a(one.drug, rules().put_off.drugs)]


def make_ready(course: Course, begin: Instant) -> list[Prescription]:
    """Hold the anticoagulant of who waits for an operation, and reverse warfarin where the blood is too thin.

    Args:
        course: The stay.
        begin: When the first treatment begins.

    Returns:
        The orders that are held.
    """
    making, rule = course.making, rules().put_off
    if not course.put_off:
        return []
    at = course.desk.now(begin + 20 * MINUTE)
    held = _thinners(course, at)
    for order in held:
        course.desk.pause(order, at, "for_operation")
    if held and (making.body.value(rule.lab, at) or 0) >= rule.reverse_from:
        _reverse(course, at + 10 * MINUTE)
    return held


def _reverse(course: Course, at: Instant) -> None:
    """Give what reverses warfarin, once."""
    making, rule = course.making, rules().put_off
    illness = course.illness(course.put_off[0][0])
    phase: Phase = "ed" if course.ed is not None and at < course.admitted else "inpatient"
    order = course.desk.treat(illness, rule.line, phase, at, "inpatient", course.place(at))
    if order is not None:
        size = within(making.stream("reversed", order.id), *rule.falls_to)
        begin = order.start
        making.body.add(
            Shift(rule.lab, order.id, "times", size, begin, begin + rule.falls_hours * HOUR,
                  begin + rule.lasts_hours * HOUR, rule.falls_hours)
        )  # fmt: skip


def safe_from(course: Course, planned: Instant, held: Instant) -> tuple[Instant, list[Instant]]:
    """Return when an operation that waits can be done, and when the clotting is measured until then.

    Args:
        course: The stay.
        planned: When it would be done otherwise.
        held: Since when the anticoagulant is held.
    """
    making, rule = course.making, rules().put_off
    stream = making.stream("put off", course.ward)
    warfarin = any(one.drug == "warfarin" for one in (making.orders[name] for name in course.home))
    at = planned if warfarin else max(planned, held + rule.doac_hours * HOUR)
    at = max(at, course.admitted + 4 * HOUR)
    measured: list[Instant] = []
    if not 8 * HOUR <= at % DAY <= 14 * HOUR:
        at = at_clock(at if at % DAY < 8 * HOUR else at + DAY, between(stream, 8, 13), between(stream, 0, 59))
    if warfarin:
        first = held + rule.again_hours * HOUR
        measured += [first] if course.admitted < first < at - 5 * HOUR else []
        for _ in range(_MOST_DAYS):
            measured.append(at - 3 * HOUR)
            if (making.body.value(rule.lab, at - 3 * HOUR) or 0) < rule.safe_below:
                break
            at += DAY
    return at, [one for one in measured if one > course.admitted]

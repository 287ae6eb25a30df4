"""What is measured because a drug runs: sugar on insulin, clotting on a heparin drip, weight on a diuretic."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.patients.knowledge.graph_models import StudyOrder
from wardround.patients.times import DAY, Instant

from .generation import rules
from .life import Prescription
from .making import HOUR, MINUTE, between
from .medicating import is_drip
from .situating import is_a
from .stays import Course
from .workup import study


def watch(course: Course, at: Instant) -> None:
    """Measure in the day that begins what the running drugs ask for, until they end or the patient leaves."""
    making = course.making
    for number, rule in enumerate(rules().watched):
        running = [
            one
            for one in making.active(at)
            if is_a(one.drug, rule.drugs)
            and rule.route in (None, one.route)
            and rule.continuous in (None, is_drip(one))
        ]
        if not running:
            continue
        end = min(at + DAY, course.leaves - HOUR, max(one.stop or at + DAY for one in running))
        _measure(course, at, end, rule.hours, rule.labs, number)
    drinkers = rules().drinkers
    sober = making.person.drinks_per_week < drinkers.drinks or not making.suspected.isdisjoint(drinkers.unless)
    if not sober and at < course.admitted + drinkers.days * DAY:
        _measure(course, at, min(at + DAY, course.leaves - HOUR), drinkers.hours, drinkers.labs, -1)


def look_back(course: Course, started: Sequence[Prescription]) -> None:
    """Measure after the first treatment what it moves: potassium and sugar after insulin, clotting after heparin."""
    acute = set(course.acute)
    for rule in rules().measured_after:
        begun = [one.start for one in started if one.line in rule.lines and one.indication in acute]
        for minutes in rule.minutes if begun else ():
            then = min(begun) + minutes * MINUTE
            if then < course.leaves - HOUR:
                if rule.labs:
                    course.awaited.append((then, rule.labs))
                _again(course, rule.studies, then)


def _again(course: Course, studies: Sequence[str], at: Instant) -> None:
    """Do studies of the principal illness again."""
    for one in studies:
        study(course.making, StudyOrder(study=one), course.illness(course.principal), at, course.place(at), "follow-up")


def run_on(course: Course) -> None:
    """Let an infusion run until so long after a procedure: magnesium until a day after delivery."""
    making = course.making
    for rule in rules().runs_on:
        running = [one for one in making.orders.values() if one.line == rule.line and one.indication in course.acute
                   and one.stop is None and is_drip(one)]  # fmt: skip
        done = [one.end or one.at for one in making.treated
                if one.procedure == rule.procedure and one.encounter in course.encounters]  # fmt: skip
        for order in running:
            end = max(done) + rule.hours * HOUR if done else order.start + rule.else_hours * HOUR
            course.desk.end(order, end, rules().reasons["course_done"].pair(), ended="completed")


def _measure(course: Course, at: Instant, end: Instant, hours: Sequence[int], labs: Sequence[str], number: int) -> None:
    """Draw labs so many hours after an instant, up to another."""
    for hour in hours:
        then = at + hour * HOUR
        then += between(course.making.stream("watched", course.ward, number, at, hour), 0, 25) * MINUTE
        if then < end:
            course.awaited.append((then, tuple(labs)))

"""Before an operation: the antibiotic that is given once, within the hour before it begins."""

from __future__ import annotations

from wardround.patients.knowledge.graph_models import Phase
from wardround.patients.times import Instant

from .generation import rules
from .making import MINUTE
from .situating import is_a
from .stays import Course


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

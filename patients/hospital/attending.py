"""What is done with each set of vital signs: pressure held up, the ventilated sedated, insulin until it is enough."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.patients.knowledge.graph_models import Phase
from wardround.patients.times import DAY, Instant

from .clotting import dissolve
from .course import support
from .generation import rules
from .generation_rules import Closing
from .life import Prescription, Treated
from .making import HOUR, MINUTE, at_clock, within
from .medicating import monitors
from .physiology import Shift
from .situating import is_a
from .stays import Course, stay_after_icu
from .working_up import draw_labs

_SUGAR = "glucose"


def attend(course: Course, at: Instant) -> None:
    """Act on what the vital signs and the last labs show, between the rounds.

    Args:
        course: The stay.
        at: When the vital signs were taken.
    """
    if course.in_icu and course.icu_from <= at < course.icu_to:
        support(course, at)
        dissolve(course, at)
        _sedate(course, at)
    else:
        _wake(course, at)
    _close(course, at)


def tube_between(course: Course, begin: Instant, end: Instant) -> Instant | None:
    """Return when somebody is ventilated between two instants: the vital signs are taken then, too."""
    begun = [one.at + 10 * MINUTE for one in _tubes(course)]
    return min((at for at in begun if begin < at < end), default=None)


def _tubes(course: Course) -> list[Treated]:
    return [one for one in course.making.treated
            if one.procedure in rules().sedated_for and one.encounter in course.encounters]  # fmt: skip


def _asleep(course: Course, at: Instant) -> list[Prescription]:
    line = rules().sedation.id
    return [one for one in course.making.active(at) if one.line == line and one.kind == "inpatient"]


def _sedate(course: Course, at: Instant) -> None:
    """Sedate who is ventilated, until the tube is out."""
    if not any(one.at <= at and (one.end is None or at < one.end) for one in _tubes(course)):
        _wake(course, at)
        return
    if _asleep(course, at):
        return
    for order in course.making.active(at):  # nobody asks for it, or swallows it, with a tube
        if order.kind == "inpatient" and order.prn and is_a(order.drug, ("opioid",)):
            course.desk.end(order, at, rules().reasons["replaced"].pair())
    illness = course.illness(course.principal)
    begun = course.desk.treat(illness, rules().sedation, "icu", at, "inpatient", course.place(at))
    missing = [lab for lab in monitors([begun] if begun is not None else []) if lab not in course.drawn]
    if missing and begun is not None:
        draw_labs(course, missing, begun.start + 20 * MINUTE)


def _wake(course: Course, at: Instant) -> None:
    """End the sedation."""
    for order in _asleep(course, at):
        course.desk.end(order, at, rules().reasons["breathes"].pair(), ended="completed")


def _close(course: Course, at: Instant) -> None:
    """Let insulin run until the ketoacidosis is over, with what belongs beside it; then begin what goes on."""
    rule = rules().closing
    ill = next((one for one in course.acute if course.illness(one).condition == rule.condition), None)
    if ill is None:
        return
    mine = [one for one in course.making.active(at) if one.indication == ill and one.kind == "inpatient"]
    beside = {*rule.ends, *(one.line.id for one in rule.beside if one.line is not None)}
    running = [one for one in mine if one.line in rule.lines]
    if not running and not any(one.line in beside for one in mine):
        return
    if not _closed(course, rule, at):
        _go_on(course, rule, ill, at)
        _hold_salt(course, rule, mine, at)
        return
    why = rules().reasons["gap_closed"].pair()
    for order in [*running, *(one for one in mine if one.line in beside)]:
        course.desk.end(order, at, why, ended="completed")
    for line in course.profile(ill).treatments:
        if line.id in rule.then:
            course.desk.treat(course.illness(ill), line, "inpatient", at, "inpatient", course.place(at))


def _closed(course: Course, rule: Closing, at: Instant) -> bool:
    """Tell whether a ketoacidosis is over: by the gap or, where something else keeps that open, by the ketones."""
    value = course.making.known(rule.lab, at, 10 * HOUR)
    if value is not None and value <= rule.enough:
        return True
    return all(bound.off(course.making.known(bound.lab, at, 10 * HOUR)) for bound in rule.cleared)


def _hold_salt(course: Course, rule: Closing, mine: Sequence[Prescription], at: Instant) -> None:
    """End the potassium beside the insulin where there is enough of it."""
    if not rule.salt.off(course.making.known(rule.salt.lab, at, 10 * HOUR)):
        return
    lines = {*rule.ends, *(one.line.id for one in rule.beside if one.line is not None and one.lab == rule.salt.lab)}
    for order in mine:
        if order.line in lines:
            course.desk.end(order, at, rules().reasons["resolved"].pair(), ended="completed")


def _sweeten(course: Course, order: Prescription, rule: Closing) -> None:
    """Let the sugar that runs beside insulin hold the glucose up until it ends."""
    size = within(course.making.stream("sweetened", order.id), *rule.sweetens)
    course.making.body.add(Shift(_SUGAR, order.id, "add", size, order.start, order.start + 2 * HOUR, None, 3))


def _go_on(course: Course, rule: Closing, ill: str, at: Instant) -> None:
    """Give what belongs beside the insulin, draw again, and keep the patient where the drip runs."""
    phase: Phase = "icu" if course.icu is not None and course.icu_from <= at < course.icu_to else "inpatient"
    for line in course.profile(ill).treatments:  # what was held because the sugar was low goes on
        if line.id in rule.lines:
            course.desk.treat(course.illness(ill), line, phase, at, "inpatient", course.place(at))
    for extra in rule.beside:
        if extra.line is not None and extra.off(course.making.known(extra.lab, at, 6 * HOUR)):
            order = course.desk.treat(course.illness(ill), extra.line, phase, at, "inpatient", course.place(at))
            if order is not None and extra.lab == _SUGAR and order.start >= at:
                _sweeten(course, order, rule)
    if at - course.drawn.get(rule.lab, 0) >= rule.hours * HOUR:
        draw_labs(course, [rule.panel, *(bound.lab for bound in rule.cleared)], at + 10 * MINUTE)
    if course.dies:
        return
    if course.in_icu and at < course.icu_to < at + 8 * HOUR:
        course.icu_to = at + 8 * HOUR
        stay_after_icu(course)
    if course.leaves < at + 30 * HOUR:
        course.leaves = at_clock(at + 2 * DAY, 12, 40)

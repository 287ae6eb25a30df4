"""What is done because a value is off: what lacks is given, what worries drawn again, who is at home called back."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from wardround.patients.knowledge.graph_models import Phase
from wardround.patients.times import DAY, Instant

from .generation import rules
from .generation_rules import CallBack, Replacement
from .life import Plan, PlanItem, Result
from .making import HOUR, MINUTE, Making, at_clock, between
from .situating import is_a
from .stays import Course
from .working_up import draw_labs, perform
from .workup import numbers


def answer(course: Course, at: Instant, phase: Phase) -> None:
    """Give what lacks and draw again what was too far off, by the values known at a round.

    Args:
        course: The stay.
        at: The round, or the admission.
        phase: Where the patient is.
    """
    making = course.making
    illness = course.illness(course.principal)
    for number, rule in enumerate(rules().replacements):
        if not rule.off(making.known(rule.lab, at, 2 * DAY)) or not making.suspected.isdisjoint(rule.unless):
            continue
        if _known(making, rule.none_of, at) or (rule.once and set(rule.recheck) <= course.decided):
            continue
        has = any(is_a(one.drug, rule.has) for one in making.active(at) if one.kind == "inpatient")
        if rule.line is not None and not has:
            course.desk.treat(illness, rule.line, phase, at + 10 * MINUTE, "inpatient", course.place(at))
        late = between(making.stream("again", course.ward, number, at), 0, 40)
        again = at + rule.recheck_hours * HOUR + late * MINUTE
        if rule.recheck and again < course.leaves - 2 * HOUR:
            draw_labs(course, list(rule.recheck), again)
            course.decided |= set(rule.recheck) if rule.once else set()
        _do(course, rule, at)


def _known(making: Making, conditions: Collection[str], at: Instant) -> bool:
    return bool(conditions) and any(one.condition in conditions for one in making.ill(at))


def _do(course: Course, rule: Replacement, at: Instant) -> None:
    """Do what a value calls for, once a stay."""
    order = rule.procedure
    if order is None or course.dies or at + 12 * HOUR > course.leaves:
        return
    done = {one.procedure for one in course.making.treated if one.encounter in course.encounters}
    if done.isdisjoint({order.procedure, *rule.instead_of}):
        perform(course, course.illness(course.principal), order, at + order.hours[0] * HOUR + 20 * MINUTE)


def call_back(making: Making, encounter: str, at: Instant) -> None:
    """Plan what follows from the last values of an encounter that are off, as they become known.

    Args:
        making: The life.
        encounter: The visit, or the hospital stay.
        at: Its end.
    """
    told: set[str] = set()
    for result, rule in _off(making, encounter, at):
        if result.id in told or making.age(at) < rule.from_age:
            continue  # of a pressure the upper value is answered, else the lower
        told.add(result.id)
        when = max(at, result.known_at + 20 * MINUTE)
        n = between(making.stream("call back", encounter, rule.lab), *rule.days)
        text = rule.text.pair(n=(str(n), str(n)))
        item = PlanItem(rule.kind, text, (result.id,), at_clock(when + n * DAY, 9))
        making.plans.append(Plan(making.new("pl"), "followup", when, encounter, (item,)))


def _off(making: Making, encounter: str, at: Instant) -> Iterator[tuple[Result, CallBack]]:
    """Yield the last result of each lab of an encounter that a rule finds off."""
    last: dict[str, tuple[Result, CallBack | None]] = {}
    for result in making.results:
        if result.encounter == encounter:
            for lab, value in numbers(result.lab, result.text):
                fitting = (one for one in rules().call_back if one.lab == lab and one.off(value))
                last[lab] = result, next((one for one in fitting if not _known(making, one.none_of, at)), None)
    for result, rule in last.values():
        if rule is not None:
            yield result, rule

"""Drugs that are not stopped at once: sedatives in withdrawal from day to day, steroids from week to week at home."""

from __future__ import annotations

from dataclasses import replace

from wardround.patients.knowledge import dose_amount
from wardround.patients.knowledge.bedside import drug_profiles
from wardround.patients.times import DAY, Instant

from .generation import rules
from .keeping import line_of
from .life import Prescription
from .making import HOUR, Making
from .medicating import Desk
from .prescribing import Choice, choose, problems
from .situating import is_a, situation
from .stays import Course
from .telling import tell


def lower(course: Course, at: Instant) -> None:
    """Give less of a sedative, one step a day, once the withdrawal is no longer severe.

    Args:
        course: The stay.
        at: The round.
    """
    making, rule = course.making, rules().lowered
    value = making.known(rule.lab, at, DAY)
    if course.dies or value is None or not rule.off(value):
        return
    for order in making.active(at):
        line = line_of(course, order)
        if order.kind != "inpatient" or line is None or line.id not in rule.lines or order.start > at - 18 * HOUR:
            continue
        less = _less(order, line.dose_for or "usual", rule.frequencies)
        if less is None:
            continue
        course.desk.end(order, at, rules().reasons["dose_changed"].pair())
        new = course.desk.write(
            less, at, "inpatient", course.place(at), order.indication,
            stop=None if order.stop is None else max(order.stop, at + 30 * HOUR), line=order.line, continues=order.id,
        )  # fmt: skip
        tell(making, at, course.place(at), "treatment_changed", (new.id,))


def _less(order: Prescription, key: str, frequencies: tuple[str, ...]) -> Choice | None:
    """Return an order with the next lower dose, else given less often; None: it is as low as it gets."""
    now = dose_amount(order.dose)
    like = Choice(order.drug, order.name, order.dose, order.route, order.frequency, order.prn, (), None, ())
    doses = [text for rule in drug_profiles()[order.drug].doses if (rule.key, rule.route) == (key, order.route)
             for text in (rule.dose, *rule.others)]  # fmt: skip
    read = [(amount.value, text) for text in doses if (amount := dose_amount(text)) is not None]
    lower_doses = [one for one in read if now is not None and one[0] < now.value]
    if lower_doses:
        return replace(like, dose=max(lower_doses)[1])
    place = frequencies.index(order.frequency) if order.frequency in frequencies else len(frequencies)
    return replace(like, frequency=frequencies[place + 1]) if place + 1 < len(frequencies) else None


def taper_off(making: Making, desk: Desk, until: Instant) -> None:
    """Order the next lower dose of a steroid for a week, and so on, where a long course of it is over by an instant.

    Args:
        making: The life.
        desk: Writes the orders.
        until: What is over later waits.
    """
    waiting: list[Prescription] = []
    for order in making.orders.values():
        if _long(order) or (order.kind == "home" and order.continues in {one.id for one in waiting}):
            waiting.append(order)
    while waiting:
        order = waiting.pop()
        goes_on = any(one.continues == order.id for one in making.orders.values())
        if goes_on or order.stop is None or order.stop > until or desk.now(0) > order.stop + 2 * DAY:
            continue
        choice = _step(making, order, order.stop)
        if choice is not None:
            stop = order.stop + rules().tapered.step_days * DAY
            waiting.append(
                desk.write(choice, order.stop, "home", None, order.indication, stop=stop, line=order.line,
                           continues=order.id)
            )  # fmt: skip


def _long(order: Prescription) -> bool:
    """Tell whether an order for home was a long course of a drug that is tapered."""
    rule = rules().tapered
    if order.kind == "inpatient" or order.stop is None or order.ended != "completed":
        return False
    return is_a(order.drug, rule.drugs) and order.stop - order.start > rule.days * DAY


def _step(making: Making, order: Prescription, at: Instant) -> Choice | None:
    now = dose_amount(order.dose)
    around = situation(making, at, "home", [order.id])
    found = choose([order.drug], around, making.stream("taper", order.id))
    if now is None or found is None or found.route != order.route:
        return None
    steps = [(amount.value, text) for text in rules().tapered.steps if (amount := dose_amount(text)) is not None]
    lower_steps = [one for one in steps if one[0] < now.value]
    if not lower_steps:
        return None
    dose = max(lower_steps)[1]
    if problems(order.drug, dose, order.route, order.frequency, around):
        return None
    return replace(found, name=order.name, dose=dose, frequency=order.frequency, prn=False)

"""Home drugs that were held: taken up again in hospital once the reason is gone, else told when, and looked at then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wardround.patients.knowledge.graph_models import Phase
from wardround.patients.times import DAY, Instant

from .generation import rules
from .leaving import take_up
from .life import Plan, PlanItem, Prescription, Result
from .making import HOUR, MINUTE, Making
from .medicating import Desk, as_before
from .naming import drug_name
from .prescribing import choose
from .situating import is_a, situation
from .stays import Course
from .telling import tell


def restart(course: Course, at: Instant, phase: Phase) -> None:
    """Take up again, once a stay, what was held for a reason that is gone.

    Args:
        course: The stay.
        at: The round.
        phase: Where the patient is.
    """
    making, rule = course.making, rules().restarted
    if course.dies or phase == "icu":
        return
    begun = []
    for identity, key in list(making.paused.items()):
        order = making.orders[identity]
        late = order.stop is not None and at - order.stop >= rule.hours * HOUR
        if key not in rule.reasons or not late or identity in course.decided or is_a(order.drug, rule.at_home):
            continue
        if any(is_a(order.drug, one.drugs) and not one.off(making.known(one.lab, at, DAY)) for one in rule.from_):
            continue
        if key == "for_operation" and not _operated(course, at - rule.hours * HOUR):
            continue
        again = _again(course, order, at, phase)
        if again is not None:
            course.decided.add(identity)
            begun.append(again.id)
    if begun:
        tell(making, at, course.place(at), "treatment_changed", begun)


def _operated(course: Course, before: Instant) -> bool:
    """Tell whether the operations that waited are done, and for some time."""
    waiting = {(one, order.procedure) for one, order, _ in course.put_off}
    done = {(one.illness, one.procedure) for one in course.making.treated if (one.end or one.at) <= before}
    return waiting <= done


def _again(course: Course, order: Prescription, at: Instant, phase: Phase) -> Prescription | None:
    making = course.making
    around = situation(making, at, phase)
    found = choose([order.drug], around, making.stream("again", order.id), prn=order.prn)
    if found is None or found.route != order.route:
        return None
    like = replace(as_before(found, order, around), name=order.name)
    return course.desk.write(
        like, at, "inpatient", course.place(at), order.indication, line=order.line, continues=order.id
    )


def look_at_held(making: Making, desk: Desk, drawn: Sequence[Result], end: Instant, encounter: str) -> None:
    """Take up after a visit, once its results are back, what was held before; give up what is not safe for months.

    Args:
        making: The life.
        desk: Writes the orders.
        drawn: Results of the visit.
        end: Its end.
        encounter: The visit.
    """
    if not making.waiting:
        return
    at = desk.now(max([end, *(one.known_at for one in drawn)]) + 15 * MINUTE)
    items = []
    for identity in list(making.waiting):
        order = making.orders[identity]
        running = len(making.orders)
        if take_up(making, desk, order, at, "home", None):
            making.waiting.remove(identity)
            new = list(making.orders.values())[running:]
            if new:
                words = rules().plans["resume"][0].pair(drug=drug_name(order.drug))
                items.append(PlanItem("drug_change", words, (new[0].id,)))
        elif order.stop is not None and at - order.stop > rules().restarted.give_up_days * DAY:
            making.waiting.remove(identity)
            words = rules().plans["stopped"][0].pair(drug=drug_name(order.drug))
            items.append(PlanItem("drug_change", words, (order.id,)))
    if items:
        making.plans.append(Plan(making.new("pl"), "followup", at, encounter, tuple(items)))

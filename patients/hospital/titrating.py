"""Doses that follow a value: a blood pressure measured again in the clinic, the drug against it raised or lowered."""

from __future__ import annotations

from dataclasses import replace

from wardround.patients.knowledge import dose_amount
from wardround.patients.knowledge.bedside import drug_profiles
from wardround.patients.times import DAY, Instant

from .generation import rules
from .generation_care import Titration
from .life import Prescription
from .making import HOUR, Making
from .medicating import Desk
from .prescribing import Choice, choose, problems
from .situating import is_a, situation


def off(making: Making, at: Instant) -> bool:
    """Tell whether a value by which doses are changed is off at a visit."""
    return any(rule.off(making.known(rule.lab, at, 2 * HOUR)) for rule in rules().titrations)


def titrate(making: Making, desk: Desk, at: Instant, encounter: str) -> None:
    """Change one dose by one step where a value is off: the first drug in the order of the rule that allows it.

    Args:
        making: The life.
        desk: Writes the order.
        at: When it is decided.
        encounter: The visit.
    """
    at = desk.now(at)
    for rule in rules().titrations:
        if not rule.off(making.known(rule.lab, at, 2 * HOUR)):
            continue
        if rule.conditions and not any(one.condition in rule.conditions for one in making.ill(at)):
            continue
        if _changed(making, desk, rule, at, encounter):
            return


def _changed(making: Making, desk: Desk, rule: Titration, at: Instant, encounter: str) -> bool:
    for kinds in rule.drugs:
        for order in making.active(at):
            settled = order.kind != "inpatient" and order.start < at - 14 * DAY and order.stop is None
            if not settled or order.prn or not is_a(order.drug, (kinds,)):
                continue
            choice = _stepped(making, order, at, up=rule.up)
            if choice is not None:
                desk.end(order, at, rules().reasons["dose_changed"].pair())
                desk.write(choice, at, "home", encounter, order.indication, line=order.line, continues=order.id)
                return True
            if not rule.up:
                desk.end(order, at, rules().reasons["pressure_low"].pair())
                return True
    return False


def _stepped(making: Making, order: Prescription, at: Instant, *, up: bool) -> Choice | None:
    """Return an order with the next dose above or below, at most doubled or halved, where it is safe; None: none is."""
    now = dose_amount(order.dose)
    around = situation(making, at, "home", [order.id])
    like = choose([order.drug], around, making.stream("step", order.id))
    if now is None or like is None or like.route != order.route:
        return None
    steps = []
    for rule in drug_profiles()[order.drug].doses:
        if rule.route != order.route or rule.key != "usual" or "home" not in rule.phases or rule.per_kg:
            continue
        for text in (rule.dose, *rule.others):
            amount = dose_amount(text)
            if amount is None or amount.unit != now.unit or amount.value == now.value:
                continue
            within = now.value < amount.value <= 2 * now.value if up else now.value / 2 <= amount.value < now.value
            if within and not problems(order.drug, text, order.route, order.frequency, around):
                steps.append((amount.value, text))
    if not steps:
        return None
    dose = (min(steps) if up else max(steps))[1]
    return replace(like, name=order.name, dose=dose, frequency=order.frequency, prn=False)

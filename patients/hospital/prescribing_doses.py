"""Doses for one patient: by weight, lowered for kidneys and liver, and the limits that an order must keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Literal

from wardround.patients.knowledge import (
    DoseAmount,
    DoseRule,
    DrugProfile,
    Names,
    OrganRule,
    dose_amount,
    times_a_day,
)

from .prescribing_rules import Problem, word
from .prescribing_situation import Situation

_EXACT = Context(prec=28, rounding=ROUND_HALF_UP)
_LEAST_SHARE = 4
"""An order of less than a quarter of the least usual dose is out of range."""
_KILOGRAM_SLACK = (Decimal("0.5"), Decimal("1.25"))
"""How far a dose may lie from the exact one for the weight, as factors: rounding, and weights that changed since."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A dose as it is ordered for one patient."""

    rule: DoseRule
    dose: str
    frequency: str
    adapted: Names | None


def fit(profile: DrugProfile, rule: DoseRule, situation: Situation, dose: str, frequency: str) -> Fitted | Problem:
    """Return a rule's dose for the patient, lowered where kidneys or liver ask for it, or why it must not be given."""
    adapted: Names | None = None
    for kind, organ in _organ_rules(profile, rule, situation):
        if organ.act == "avoid":
            return Problem(kind, True, organ.why)
        if organ.dose is not None and _more(dose, organ.dose):
            dose, adapted = organ.dose, organ.why
        if organ.frequency is not None and _oftener(frequency, organ.frequency):
            frequency, adapted = organ.frequency, organ.why
    return Fitted(rule, _for_weight(rule, dose, situation.weight_kg) if rule.per_kg else dose, frequency, adapted)


def order_problems(
    profile: DrugProfile, dose: str, route: str, frequency: str, situation: Situation
) -> tuple[Problem, ...]:
    """Return what is wrong with an order's dose, read in the way that speaks most for it.

    A drug may have several doses by one route (a loading dose, another for another purpose): the order is fine where
    one of them allows it.
    """
    routes = [rule for rule in profile.doses if rule.route == route]
    if not routes:
        return (Problem("range", True, word("route", profile.id)),)
    rules = [rule for rule in routes if rule.from_age <= situation.age < rule.below_age]
    if not rules:
        return (Problem("age", True, word("age", profile.id)),)
    amount = dose_amount(dose)
    if amount is None:
        return (Problem("range", False, word("unread", profile.id)),)
    readings = [tuple(_against(profile, rule, amount, frequency, situation)) for rule in rules]
    return min(readings, key=len)


def _against(
    profile: DrugProfile, rule: DoseRule, amount: DoseAmount, frequency: str, situation: Situation
) -> Iterator[Problem]:
    """Yield what is wrong with an amount under one dose rule."""
    times = times_a_day(frequency)
    for kind, organ in _organ_rules(profile, rule, situation):
        if organ.act == "avoid":
            yield Problem(kind, True, organ.why)
            continue
        most = _scaled(organ.dose, rule, situation) if organ.dose is not None else None
        limit = times_a_day(organ.frequency) if organ.frequency is not None else None
        if (most is not None and amount.unit == most.unit and amount.value > most.value) or (
            limit is not None and times is not None and times > limit
        ):
            yield Problem(kind, False, organ.why)
    yield from _range(profile, rule, amount, times, situation)


def _range(
    profile: DrugProfile, rule: DoseRule, amount: DoseAmount, times: Fraction | None, situation: Situation
) -> Iterator[Problem]:
    usual = [given for text in (rule.dose, *rule.others) if (given := _scaled(text, rule, situation)) is not None]
    if all(given.unit != amount.unit for given in usual):
        yield Problem("range", False, word("unit", profile.id))
        return
    least, most = _limits(profile, rule, usual, situation)
    if amount.value > most:
        yield Problem("range", True, word("too_much", profile.id))
    elif amount.value < least:
        yield Problem("range", False, word("too_little", profile.id))
    elif times is not None and Fraction(amount.value) * times > _daily_most(rule, most):
        yield Problem("range", True, word("too_much_a_day", profile.id))


def _limits(
    profile: DrugProfile, rule: DoseRule, usual: list[DoseAmount], situation: Situation
) -> tuple[Decimal, Decimal]:
    """Return least and greatest single amount under a rule."""
    lowest, highest = min(given.value for given in usual), max(given.value for given in usual)
    for organ in (*profile.renal, *profile.hepatic):
        lowered = _scaled(organ.dose, rule, situation) if organ.dose is not None else None
        if lowered is not None and lowered.unit == usual[0].unit:
            lowest = min(lowest, lowered.value)
    ceiling = dose_amount(rule.most) if rule.most is not None else None
    if rule.per_kg:
        low, high = _KILOGRAM_SLACK
        least, most = _EXACT.multiply(lowest, low), _EXACT.multiply(highest, high)
        if ceiling is None:
            return least, most
        return min(least, ceiling.value), min(most, ceiling.value)
    return _EXACT.divide(lowest, Decimal(_LEAST_SHARE)), highest if ceiling is None else max(highest, ceiling.value)


def _daily_most(rule: DoseRule, most: Decimal) -> Fraction:
    """Return the greatest daily amount: as told, else the greatest single one at the greatest usual frequency."""
    told = dose_amount(rule.daily_most) if rule.daily_most is not None else None
    if told is not None:
        return Fraction(told.value)
    return Fraction(most) * max((times_a_day(often) or Fraction(24) for often in rule.frequency), default=Fraction(24))


def _organ_rules(
    profile: DrugProfile, rule: DoseRule, situation: Situation
) -> Iterator[tuple[Literal["renal", "hepatic"], OrganRule]]:
    """Yield the organ rules that hold for a patient and a way of giving the drug."""
    if situation.crcl is not None:
        for organ in profile.renal:
            below, at_least = organ.below, organ.at_least
            inside = (below is None or situation.crcl < below) and (at_least is None or situation.crcl >= at_least)
            if inside and _bears_on(organ, rule):
                yield "renal", organ
    for organ in profile.hepatic:
        if situation.child_pugh in organ.child_pugh and _bears_on(organ, rule):
            yield "hepatic", organ


def _bears_on(organ: OrganRule, rule: DoseRule) -> bool:
    return (organ.route is None or organ.route == rule.route) and (not organ.keys or rule.key in organ.keys)


def _more(dose: str, limit: str) -> bool:
    one, other = dose_amount(dose), dose_amount(limit)
    return one is not None and other is not None and one.unit == other.unit and one.value > other.value


def _oftener(frequency: str, limit: str) -> bool:
    one, other = times_a_day(frequency), times_a_day(limit)
    return one is not None and other is not None and one > other


def _scaled(text: str, rule: DoseRule, situation: Situation) -> DoseAmount | None:
    """Return a dose of a rule as an amount, for the whole patient where it is told for a kilogram."""
    amount = dose_amount(text)
    if amount is None or not rule.per_kg:
        return amount
    return DoseAmount(_EXACT.multiply(amount.value, situation.weight_kg), amount.unit)


def _for_weight(rule: DoseRule, dose: str, weight_kg: Decimal) -> str:
    """Return a dose for a kilogram as the dose for a weight: in round steps, at least one, at most `most`."""
    number, unit = dose.split(" ", 1)
    exact = _EXACT.multiply(Decimal(number), weight_kg)
    step = rule.round_to or Decimal(1)
    steps = max(_EXACT.divide(exact, step).to_integral_value(ROUND_HALF_UP), Decimal(1))
    text = f"{_plain(_EXACT.multiply(steps, step))} {unit}"
    return rule.most if rule.most is not None and _more(text, rule.most) else text


def _plain(value: Decimal) -> str:
    """Return the digits without exponent or needless zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text

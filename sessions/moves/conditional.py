"""Orders whose dose rests on a threshold that the query states with both doses (WU), from the renal rules of drugs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from wardround.patients import Stream, knowledge
from wardround.patients.knowledge import Names, OrganRule
from wardround.rubrics import Forbid, MentionCheck, Text
from wardround.sessions.record import Order, Reading, plain

from .drugs import near_orders
from .move import Case, Focus, Move, MoveKind
from .order_words import dose_words, spaced
from .parts import chart_call, drug_entity, lab_call, lab_entity, read_item
from .writes import order_fields, usual_doses, write_items

_LAB: Final = "egfr"
_GRAVE: Final = frozenset({"hold", "stop", "switch"})
_FOLD: Final = 4
"""The higher dose is at most so many times the lower one."""


@dataclass(frozen=True)
class _Choice:
    """Two doses and the value that decides between them."""

    bound: Decimal
    low: Decimal
    """The dose below the bound."""
    high: Decimal
    right: Decimal


def prescribe_if(case: Case, order: Order) -> Move | None:
    """Return the turn that orders a drug at one of two doses, by the eGFR; None where no renal rule of it serves.

    Args:
        case: Patient and record.
        order: The active order; its route and frequency stand for the new one.
    """
    reading = case.view.latest.get(_LAB)
    if reading is None:
        return None
    choice = _choice(order, reading)
    fields = None if choice is None else order_fields(case, order, choice.right)
    if choice is None or fields is None:
        return None
    arguments, (route, often) = fields
    low, high = (dose_words(f"{plain(dose)} {order.unit}") for dose in (choice.low, choice.high))
    forbidden = f"{plain(choice.high if choice.right == choice.low else 2 * choice.high)} {order.unit}"
    danger = Names(
        en=f"Does not order {forbidden} or more per dose.", zh=f"没有开单次{dose_words(forbidden).zh}或以上的剂量。"
    )
    read = read_item(reading)
    return Move(
        kind="prescribe_if",
        task="WU",
        source="write",
        topic=f"{order.drug}:prescribe",
        calls=(lab_call(case, reading), chart_call(case, "MedicationRequest.create", **arguments)),
        answer=_answer(order, reading, choice, (route, often)),
        rubric=(
            read,
            *write_items(
                "MedicationRequest.create",
                arguments,
                forbid=Forbid(dose_at_least=forbidden),
                danger=danger,
                confirm=MentionCheck(concept=order.name),
                rests_on=(read.id,),
            ),
        ),
        slots={"lab": lab_entity(case, reading), "drug": drug_entity(case, order)},
        words={"dose": low, "dose2": high, "route": route, "frequency": often, "bound": _same(plain(choice.bound))},
        keys=frozenset(reading.keys),
        labs=(reading.lab,),
        needs=frozenset({"threshold"}),
    )


def _same(text: str) -> Names:
    return Names(en=text, zh=text)


def _answer(order: Order, reading: Reading, choice: _Choice, say: tuple[Names, Names]) -> Text:
    dose = dose_words(f"{plain(choice.right)} {order.unit}")
    route, often = say
    below = choice.right == choice.low
    bound = plain(choice.bound)
    en = f"Set {order.name} at {dose.en} {route.en} {often.en}, as the {reading.name} of {reading.quantity} is"
    zh = f"{spaced(reading.zh)}{reading.quantity}，{'低于' if below else '不低于'}{bound}"
    return Text(
        en=f"{en} {'under' if below else 'not under'} {bound}.",
        zh=f"{zh}，{spaced(order.zh or order.name)}定为{dose.zh}，{route.zh}，{often.zh}。",
    )


def _choice(order: Order, reading: Reading) -> _Choice | None:
    """Return bound and doses by the drug's own renal rules; None where none is clear for this patient."""
    profile = knowledge.drug_profiles().get(order.drug)
    rules = [] if profile is None else [one for one in profile.renal if _fits(one, order)]
    lowering = [one for one in rules if one.act == "reduce" and one.below is not None]
    if not lowering:
        return None
    # above the highest bound the dose is free, so "else" is right for everybody there
    rule = max(lowering, key=lambda one: one.below or Decimal(0))
    bound, amount = rule.below, knowledge.dose_amount(rule.dose or "")
    if bound is None or amount is None or amount.unit != order.unit or _split(rule, order):
        return None
    if any(other is not rule and other.below is not None and _bites(other, rule, reading) for other in rules):
        return None
    high = _higher(order, amount.value)
    if high is None or reading.value == bound:
        return None
    return _Choice(bound, amount.value, high, amount.value if reading.value < bound else high)


def _fits(rule: OrganRule, order: Order) -> bool:
    """Tell whether a rule speaks of the way the drug is ordered."""
    return (rule.route is None or rule.route.casefold() == order.route) and not rule.keys


def _split(rule: OrganRule, order: Order) -> bool:
    """Tell whether the rule changes how often the drug is given, too, so that dose alone does not say it."""
    if rule.frequency is None:
        return False
    return knowledge.times_a_day(rule.frequency) != knowledge.times_a_day(order.frequency)


def _bites(other: OrganRule, rule: OrganRule, reading: Reading) -> bool:
    """Tell whether another rule asks for something else at this value, or above the rule's own bound."""
    assert other.below is not None and rule.below is not None
    return reading.value <= other.below or other.below > rule.below


def _higher(order: Order, low: Decimal) -> Decimal | None:
    """Return the dose for everybody else: the one ordered now, else the next usual one; None where it is below both."""
    assert order.amount is not None
    if order.amount < low:
        return None  # nobody raises a dose because the kidney allows it
    above = [dose for dose in (order.amount, *usual_doses(order)) if low < dose <= _FOLD * low]
    return above[0] if above else None


def _offers(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    """Yield the orders, those first whose lower dose is right: most patients are above every bound."""
    grave = {pair.order.drug for pair in case.view.pairs if pair.rule.act in _GRAVE}
    found = []
    for order in near_orders(case, focus, stream):
        if order.drug in grave or order.drug in case.common.skip_conditional:
            continue
        move = prescribe_if(case, order)
        if move is not None and move.topic not in focus.busy:
            found.append(move)
    yield from sorted(found, key=lambda move: move.calls[-1].arguments["dose"] != move.words["dose"].en)


KINDS: Final = (MoveKind("prescribe_if", "WU", "write", _offers),)

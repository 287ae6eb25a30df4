"""Drugs as charted: what is ordered and what was given, in both languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from wardround.patients import Stream
from wardround.patients.knowledge import Names
from wardround.rubrics import Item, MentionCheck, RetrievedCheck, ValueCheck
from wardround.sessions.common import common
from wardround.sessions.record import Order, Reading, plain
from wardround.sessions.session import GoldCall

from .adherence import adherence_fact, heard_item, said_items, said_line
from .move import Case, Focus, Move, MoveKind
from .parts import (
    bullets,
    capital,
    chart_call,
    drug_entity,
    grounded_item,
    item,
    lab_call,
    lab_entity,
    only_item,
    read_item,
    status_item,
    value_item,
    value_line,
)


def askable(order: Order) -> bool:
    """Tell whether an order is of a single amount of drug, so that its dose can be asked for."""
    fixed = order.amount is not None and order.amount > 0
    return fixed and order.unit.casefold() in common().dose_units


def order_line(order: Order) -> Names:
    """Return an order in words, as in "Warfarin 5 mg by mouth once daily", without full stop."""
    route = common().routes.words.get(order.route)
    often = frequency_words(order)
    en = (capital(order.name), order.dose, route.en if route else "", often.en if often else "")
    zh = (f"{order.zh or order.name}{order.dose}", (route.zh or "") if route else "", (often.zh or "") if often else "")
    return Names(en=" ".join(part for part in en if part), zh="，".join(part for part in zh if part))


def frequency_words(order: Order) -> Names | None:
    """Return how the physician says the order's frequency; None where it is not charted or not one that is known."""
    folded = order.frequency.casefold()
    return common().frequencies.get(folded) or common().charted.get(folded)


def order_call(case: Case, order: Order) -> GoldCall:
    """Return the call that finds the active order of a drug."""
    return chart_call(case, "MedicationRequest.search", medication=order.name, status="active")


def order_items(order: Order) -> list[Item]:
    """Return the items that a drug's active order was looked up, and that drug and dose are told.

    Raises:
        AssertionError: The order has no single amount (see `askable`).
    """
    amount = order.amount
    assert amount is not None
    number = int(amount) if amount == amount.to_integral_value() else float(amount)
    name, zh, read = order.name, order.zh or order.name, f"read-order-{order.drug}"
    dose = f"dose-{order.drug}"
    return [
        item(
            read,
            f"Looked up the active {name} order.",
            f"查过{zh}的现行医嘱。",
            RetrievedCheck(any_of=(order.key,)),
        ),
        # the query names the drug, so its name alone says nothing: it counts with the dose that was looked up
        item(
            f"drug-{order.drug}",
            f"Says that {name} is ordered.",
            f"说明开了{zh}。",
            MentionCheck(concept=name),
            (dose,),
        ),
        item(
            dose,
            f"States the {name} dose as {order.dose}.",
            f"说出{zh}的剂量为{order.dose}。",
            ValueCheck(concept=f"{name} dose", value=number, unit=order.unit),
            (read,),
        ),
    ]


__all__ = [
    "adherence_fact",
    "askable",
    "heard_item",
    "order_call",
    "order_items",
    "order_line",
    "said_items",
    "said_line",
]

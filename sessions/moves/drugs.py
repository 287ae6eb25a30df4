"""Drugs as charted: what is ordered and what was given, in both languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from wardround.patients import Stream, format_instant
from wardround.patients.knowledge import Names
from wardround.rubrics import Text
from wardround.sessions.record import Order, Reading
from wardround.sessions.record_doses import Dose, last_doses
from wardround.sessions.session import GoldCall

from .drug_items import given_items, order_items, when_item
from .move import Case, Focus, Move, MoveKind, kept
from .order_words import askable, dose_words, order_line
from .parts import (
    bullets,
    capital,
    chart_call,
    drug_entity,
    grounded_item,
    lab_call,
    lab_entity,
    only_item,
    read_item,
    status_item,
    value_item,
    value_line,
)


def order_call(case: Case, order: Order) -> GoldCall:
    """Return the call that finds the active order of a drug."""
    return chart_call(case, "MedicationRequest.search", medication=order.name, status="active")


# -- what was given ----------------------------------------------------------------------------------------------------


def last_dose(case: Case, drug: str) -> Dose | None:
    """Return the last charted dose of a drug; None where the chart holds none that is clear."""
    return case.memo("drugs.last_doses", _last_doses).get(drug)


def _last_doses(case: Case) -> Mapping[str, Dose]:
    return last_doses(case.snapshot, case.common, case.flawed)


def given_call(case: Case, order: Order) -> GoldCall:
    """Return the call that finds the doses given of a drug."""
    return chart_call(case, "MedicationAdministration.search", medication=order.name)


def given_line(case: Case, order: Order, dose: Dose) -> Names:
    """Return what became of the last dose, with its time, without full stop."""
    say = case.common.outcomes[dose.outcome].say
    date, time = format_instant(dose.at)[:16].split("T")
    zh = order.zh or order.name
    return Names(
        en=capital(say.en.format(drug=_capital_first(say.en, order.name), dose=dose.text, at=f"{date} at {time}")),
        zh=str(say.zh).format(drug=zh, dose=dose_words(dose.text).zh if dose.text else "", at=f"{date} {time}"),
    )


def _capital_first(say: str, name: str) -> str:
    return capital(name) if say.startswith("{drug}") else name


# -- turns -------------------------------------------------------------------------------------------------------------


def topic(drug: str, *asked: str) -> str:
    """Return the topic of a turn about a drug, as in "warfarin:dose+adherence"."""
    return f"{drug}:{'+'.join(asked)}"


def was_asked(focus: Focus, drug: str, *asked: str) -> bool:
    """Tell whether an earlier turn asked one of these things about a drug."""
    mine = (one.partition(":")[2].split("+") for one in focus.busy if one.startswith(f"{drug}:"))
    return any(what in told for told in mine for what in asked)


@kept
def dose_move(case: Case, order: Order) -> Move:
    """Return the turn that asks for a drug's active order (IL); it may open a session."""
    line = order_line(order)
    return Move(
        kind="dose",
        task="IL",
        source="ehr",
        topic=topic(order.drug, "dose"),
        calls=(order_call(case, order),),
        answer=Text(en=f"{line.en} (active order).", zh=f"{line.zh}（现行医嘱）。"),
        rubric=(*order_items(order), grounded_item()),
        slots={"drug": drug_entity(case, order)},
        keys=frozenset({order.key}),
        opening=True,
    )


@kept
def given_move(case: Case, order: Order, dose: Dose) -> Move:
    """Return the turn that asks for the last dose of a drug: given, held or refused, and when (IL)."""
    line = given_line(case, order, dose)
    return Move(
        kind="given",
        task="IL",
        source="ehr",
        topic=topic(order.drug, "given"),
        calls=(given_call(case, order),),
        answer=Text(en=f"{line.en}.", zh=f"{line.zh}。"),
        rubric=(*given_items(case, order, dose), when_item(case, order, dose), grounded_item()),
        slots={"drug": drug_entity(case, order)},
        keys=frozenset({dose.key}),
        opening=True,
    )


@kept
def lab_dose_move(case: Case, reading: Reading, order: Order) -> Move:
    """Return the turn that asks for a lab's latest value and a drug's active order (DG)."""
    value = f"value-{reading.lab}"
    return Move(
        kind="lab_dose",
        task="DG",
        source="ehr",
        topic=topic(order.drug, "dose", reading.lab),
        calls=(lab_call(case, reading), order_call(case, order)),
        answer=bullets((value_line(reading), order_line(order))),
        rubric=(
            read_item(reading),
            value_item(reading),
            status_item(reading, value),
            *order_items(order),
            only_item(reading),
        ),
        slots={"lab": lab_entity(case, reading), "drug": drug_entity(case, order)},
        keys=frozenset({*reading.keys, order.key}),
        labs=(reading.lab,),
    )


@kept
def order_given_move(case: Case, order: Order, dose: Dose) -> Move:
    """Return the turn that sets what is ordered against what was given last (DG)."""
    return Move(
        kind="order_given",
        task="DG",
        source="ehr",
        topic=topic(order.drug, "dose", "given"),
        calls=(order_call(case, order), given_call(case, order)),
        answer=bullets((order_line(order), given_line(case, order, dose))),
        rubric=(*order_items(order), *given_items(case, order, dose), grounded_item()),
        slots={"drug": drug_entity(case, order)},
        keys=frozenset({order.key, dose.key}),
    )


@kept
def doses_move(case: Case, order: Order, other: Order) -> Move:
    """Return the turn that asks for two active orders (DG)."""
    return Move(
        kind="doses",
        task="DG",
        source="ehr",
        topic=f"{topic(order.drug, 'dose')} {topic(other.drug, 'dose')}",
        calls=(order_call(case, order), order_call(case, other)),
        answer=bullets((order_line(order), order_line(other))),
        rubric=(*order_items(order), *order_items(other), grounded_item()),
        slots={"drug": drug_entity(case, order), "drug2": drug_entity(case, other)},
        keys=frozenset({order.key, other.key}),
        needs=frozenset({"multi"}),
    )


# -- offers ------------------------------------------------------------------------------------------------------------


def near_orders(case: Case, focus: Focus, stream: Stream) -> list[Order]:
    """Return the orders with a dose to ask for: the focus's drugs, then monitored ones, then the rest, drawn."""
    own = focus.decision.order.drug if focus.decision.order is not None else ""
    watched = {pair.order.drug for pair in case.view.pairs}
    mixed = stream.shuffled([order for order in case.view.orders.values() if askable(order)])
    return sorted(
        mixed, key=lambda order: (order.drug != own, order.drug not in focus.drugs, order.drug not in watched)
    )


def _doses_alone(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for order in near_orders(case, focus, stream):
        if not was_asked(focus, order.drug, "dose"):
            yield dose_move(case, order)


def _given_alone(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for order in near_orders(case, focus, stream):
        dose = clear_dose(case, order)
        if dose is not None and not was_asked(focus, order.drug, "given"):
            yield given_move(case, order, dose)


def clear_dose(case: Case, order: Order) -> Dose | None:
    """Return the last dose where its amount can be asked for."""
    dose = last_dose(case, order.drug)
    if dose is None or dose.outcome != "given":
        return dose
    fixed = dose.amount is not None and dose.amount > 0 and dose.unit.casefold() in case.common.dose_units
    return dose if fixed else None


def _orders_given(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for order in near_orders(case, focus, stream):
        dose = clear_dose(case, order)
        if dose is None or was_asked(focus, order.drug, "dose", "given"):
            continue
        # two amounts of one drug in an answer would be two claims about its dose
        if dose.outcome != "given" or (dose.amount, dose.unit) == (order.amount, order.unit):
            yield order_given_move(case, order, dose)


def _labs_and_doses(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for order in near_orders(case, focus, stream):
        if was_asked(focus, order.drug, "dose"):
            continue
        for reading in monitoring_labs(case, order, focus, stream):
            yield lab_dose_move(case, reading, order)


def monitoring_labs(case: Case, order: Order, focus: Focus, stream: Stream) -> list[Reading]:
    """Return the labs that a drug is followed by and that no turn has asked for yet, in drawn order."""
    labs = {pair.reading.lab: pair.reading for pair in case.view.pairs if pair.order.drug == order.drug}
    return stream.shuffled([labs[lab] for lab in sorted(labs) if lab not in focus.busy])


def _two_doses(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    free = [order for order in near_orders(case, focus, stream) if not was_asked(focus, order.drug, "dose")]
    for first, second in pairwise(free):
        yield doses_move(case, first, second)


KINDS: Final = (
    MoveKind("dose", "IL", "ehr", _doses_alone),
    MoveKind("given", "IL", "ehr", _given_alone),
    MoveKind("lab_dose", "DG", "ehr", _labs_and_doses),
    MoveKind("order_given", "DG", "ehr", _orders_given),
    MoveKind("doses", "DG", "ehr", _two_doses),
)

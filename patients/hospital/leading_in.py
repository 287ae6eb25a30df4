"""A clot's first days: the higher dose of an anticoagulant, at home too, and the step down from it afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wardround.patients.knowledge.graph_models import Treatment
from wardround.patients.times import DAY, Instant

from .generation import rules
from .life import Illness, Prescription
from .making import Making
from .medicating import Desk
from .prescribing import Choice, choose
from .situating import is_a, situation

_PURPOSE, _LEAD = "vte", "vte_lead"
"""Keys of doses in drug_profiles.json."""


def lead_in(
    making: Making, desk: Desk, illness: Illness, line: Treatment, at: Instant, encounter: str,
    given: Sequence[Prescription],
) -> bool:  # fmt: skip
    """Send a patient home on the first days' dose where they are not over.

    Args:
        making: The life.
        desk: Writes the order.
        illness: The clot.
        line: A line of its treatment.
        at: When the patient leaves.
        encounter: The stay.
        given: Orders that end now.

    Returns:
        Whether the line is served so; what follows is ordered by `step_down`.
    """
    days = rules().lead_in
    if line.dose_for != _PURPOSE or any(one.drug in line.any_of and one.drug not in days for one in given):
        return False
    begun = [
        one.start
        for one in making.orders.values()
        if one.indication == illness.id and one.start < at and is_a(one.drug, ("anticoagulant",))
    ]
    had = (at - min(begun)) // DAY if begun else 0
    able = tuple(drug for drug in line.any_of if drug in days and days[drug] - had >= 2)
    going = [one.drug for one in given if one.drug in line.any_of]
    if not able or (going and going[0] not in able):
        return False
    order = desk.treat(illness, line.model_copy(update={"any_of": able, "dose_for": _LEAD}), "discharge", at,
                       "discharge", encounter, given=given)  # fmt: skip
    if order is None:
        return False
    if order.start == at and order.kind == "discharge":
        stop = at + (days[order.drug] - had) * DAY
        before = next((one.id for one in given if one.drug == order.drug), None)
        making.orders[order.id] = replace(
            order, stop=stop, ended="completed", stop_reason=rules().reasons["dose_changed"].pair(),
            continues=order.continues or before,
        )  # fmt: skip
        making.body.turn(order.id, stop)
    return True


def leads(order: Prescription) -> int:
    """Return for how many days an order for home gives the first days' dose; 0: it does not."""
    if order.kind != "discharge" or order.drug not in rules().lead_in or order.stop is None:
        return 0
    return (order.stop - order.start) // DAY if order.ended == "completed" else 0


def maintenance(making: Making, order: Prescription, at: Instant) -> Choice | None:
    """Return how an order goes on after the first days; None: nothing is safe."""
    around = situation(making, at, "home", [order.id])
    choice = choose([order.drug], around, making.stream("step down", order.id), dose_for=_PURPOSE)
    return None if choice is None else replace(choice, name=order.name)


def step_down(making: Making, desk: Desk, until: Instant) -> None:
    """Order what goes on after the first days' dose, where they are over by an instant."""
    for order in list(making.orders.values()):
        done = any(one.continues == order.id for one in making.orders.values())
        if not leads(order) or done or order.stop is None or order.stop > until:
            continue
        choice = maintenance(making, order, order.stop)
        if choice is not None:
            desk.write(choice, order.stop, "home", None, order.indication, line=order.line, continues=order.id)

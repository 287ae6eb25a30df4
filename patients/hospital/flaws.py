"""Planting labelled faults into a record: what real charts get wrong, at rates that are parameters.

A fault changes the record, never the life, and leaves a `Flaw` that says where it shows and what is right. Every place
of a kind has its own chance, so that one more place moves no other fault.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields

from wardround.patients.errors import UsageError

from .flaws_draft import Draft, flaw_data
from .flaws_notes import copy_forward, leave_out, mix_up_doses, mix_up_sides, stray_paragraph
from .flaws_orders import allergic_order, duplicate, name_loosely, unsaid_nonadherence
from .flaws_results import delay, drop_results, slip_units, weigh_in_pounds
from .record import Record

_STEPS: tuple[Callable[[Draft], None], ...] = (
    # Sections that vanish or are copied come before what changes sentences, orders that are renamed after notes.
    leave_out, copy_forward, mix_up_doses, mix_up_sides, unsaid_nonadherence, stray_paragraph, allergic_order,
    duplicate, name_loosely, drop_results, weigh_in_pounds, slip_units, delay,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FlawRates:
    """How many of 1000 places of each kind get a flaw; a place is what the kind can happen to (docs/hospital.md)."""

    missing: int = 0
    outdated_copy: int = 0
    contradiction: int = 0
    wrong_patient: int = 0
    unit_slip: int = 0
    undocumented_nonadherence: int = 0
    duplicate_order: int = 0
    delayed_result: int = 0
    ambiguous_drug_name: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            rate = getattr(self, field.name)
            if not isinstance(rate, int) or not 0 <= rate <= 1000:
                raise UsageError(f"rate of {field.name} is `{rate}`; give a whole number per 1000 places, 0 to 1000")


CLEAN = FlawRates()


def flawed() -> FlawRates:
    """Return the rates of a flawed record (`data/flaws.json`)."""
    return FlawRates(**flaw_data()["rates"])


@dataclass(frozen=True, slots=True)
class Planted:
    """A record with its flaws, and how many places each kind had."""

    record: Record
    eligible: dict[str, int]


def plant(record: Record, rates: FlawRates) -> Record:
    """Return the record with flaws planted at the rates."""
    return plant_counted(record, rates).record


def plant_counted(record: Record, rates: FlawRates) -> Planted:
    """Plant flaws, and count the places of each kind. Without any rate the record comes back as it is."""
    if rates == CLEAN:
        return Planted(record, {})
    draft = Draft(record, asdict(rates))
    for step in _STEPS:
        step(draft)
    return Planted(draft.done(), dict(draft.eligible))

"""The contract of a table mapper: rows of one patient in, resources and when they were known out.

To add a table: write a mapper in a file of its own, name its tables in `tables`, and list it in `registry.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from wardround.patients.resource import Resource
from wardround.patients.slotted import Sheaf
from wardround.patients.times import Instant

from ._tables import Row, TableSpec
from ._values import Moment
from .report import Tally


class Mapped(NamedTuple):
    """A resource and the row it came from."""

    table: str
    row: int
    resource: Resource
    known: Instant


@dataclass(frozen=True, slots=True)
class Stay:
    """One hospital admission, for the tables that hang on it."""

    hadm_id: str
    admitted: Moment
    discharged: Moment | None


@dataclass(frozen=True, slots=True)
class UnitStay:
    """A stay in an ICU or an emergency department."""

    stay_id: str
    hadm_id: str | None
    came: Moment
    left: Moment | None
    row: int
    """Its row's number in reading order."""


@dataclass(slots=True)
class PatientContext:
    """What mappers may know about the patient whose rows they read."""

    subject_id: str
    stays: dict[str, Stay] = field(default_factory=dict)
    """hadm_id → stay; filled by the first mapper."""
    ed_stays: dict[str, UnitStay] = field(default_factory=dict)
    """stay_id → emergency department stay; filled by the first mapper."""
    pharmacy_orders: set[str] = field(default_factory=set)
    """poe_id of every order that `pharmacy` has; filled by the mapper of prescriptions."""

    @property
    def subject(self) -> dict[str, str]:
        """Reference to the Patient."""
        return {"reference": f"Patient/{self.subject_id}"}

    def encounter(self, hadm_id: str | None, tally: Tally) -> dict[str, str] | None:
        """Return the reference to an Encounter; None, and a note, where `hadm_id` names none of this patient."""
        if hadm_id is None:
            return None
        if hadm_id not in self.stays:
            tally.note("hadm_id is not an admission of this patient; kept without encounter")
            return None
        return {"reference": f"Encounter/{hadm_id}"}

    def ed_encounter(self, stay_id: str | None, tally: Tally) -> dict[str, str] | None:
        """Return the reference to the Encounter of an ED stay; None, and a note, where the patient has no such stay."""
        if stay_id not in self.ed_stays:
            tally.note("stay_id is not an ED stay of this patient; kept without encounter")
            return None
        return {"reference": f"Encounter/ed-{stay_id}"}


Rows = Mapping[str, list[Row]]
"""Table name → the patient's rows; a missing table has none."""
Tallies = Mapping[str, Tally]


class TableMapper(Protocol):
    """Turns the rows of one or more tables into resources.

    Several processes may each have one, and share the patients among them: what it remembers of a patient may make the
    next one faster and must not change what becomes of it.

    A mapper of one table that goes through its rows once, to the end, may say `reads_once = True`: it then gets an
    iterator in place of the list, so that a patient of a million rows is never held whole.
    """

    tables: tuple[TableSpec, ...]
    """Read together, by subject."""
    dictionaries: tuple[TableSpec, ...]
    """Read once, before any patient."""
    types: tuple[str, ...]
    """Resource types it makes."""

    def learn(self, table: str, rows: Iterator[Row], tally: Tally) -> None:
        """Read a dictionary of `dictionaries`."""

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped | Sheaf]:
        """Yield the patient's resources, in an order that does not depend on the order of rows.

        Millions of like rows are yielded together, as a `Sheaf` (`_templates.py` says how).

        Every row is either kept or refused in its table's tally.
        """

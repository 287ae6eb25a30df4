"""One patient's rows become a packed chart and an account, in whichever process."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from wardround.patients.errors import DataError
from wardround.patients.fhir import Validator
from wardround.patients.packing import PackedChart, pack
from wardround.patients.resource import Resource
from wardround.patients.slotted import Sheaf
from wardround.patients.times import Instant

from ._mapper import Mapped, PatientContext, TableMapper
from ._tables import Row
from ._validity import Invalid, split_invalid, split_sheaf
from .registry import MAPPERS
from .report import Tally


class Feed(Protocol):
    """The rows of one patient; tables are asked for once each, in the order of `Maker.asked`."""

    def take(self, table: str) -> list[Row]:
        """Return the patient's rows of a table."""

    def each(self, table: str) -> Iterator[Row]:
        """Yield the patient's rows of a table, none of them held."""


@dataclass(frozen=True, slots=True)
class Made:
    """What became of one patient; it pickles, for it may come from another process."""

    packed: PackedChart | None
    """The chart; None where the patient's own row was refused."""
    invalid: int
    """Resources that were refused as no valid FHIR R4."""
    accounts: dict[str, dict[str, Any]]
    """Table → what was refused and noted (`Tally.state`)."""
    validated: dict[str, int]
    """What the validation of this chart did (`Validator.statistics`)."""


class Maker:
    """The mappers of one process, and the validation of what they make.

    What mappers and validation remember from one patient to the next only makes them faster: a chart does not depend
    on which patients came before it in this process.

    Args:
        present: Tables that the folder has.
        licence: Licence tag of the charts.
    """

    def __init__(self, present: Collection[str], licence: str) -> None:
        self.mappers: list[TableMapper] = [make() for make in MAPPERS]
        self._present = frozenset(present)
        self._licence = licence
        self._validator = Validator()

    def asked(self) -> list[str]:
        """Return the tables with a subject, in the order in which a patient's rows are asked for."""
        return [name for mapper in self.mappers for name in self._tables(mapper)]

    def _tables(self, mapper: TableMapper) -> list[str]:
        return [spec.name for spec in mapper.tables if spec.name in self._present]

    def make(self, subject: int, feed: Feed) -> Made:
        """Map, validate and pack one patient.

        Raises:
            DataError: Two of its resources share an id.
        """
        patient = PatientContext(str(subject))
        tallies = {name: Tally(name) for name in self.asked()}
        before = dict(self._validator.statistics)
        made: list[Mapped] = []
        sheaves: list[Sheaf] = []
        for mapper in self.mappers:
            self._map(mapper, patient, feed, tallies, (made, sheaves))
        packed, invalid = None, 0
        if any(one.table == "patients" for one in made):
            packed, invalid = self._pack(patient.subject_id, made, sheaves, tallies)
        else:
            for table, row in _sources_of(made, sheaves):
                tallies[table].refuse("the patient's own row was refused", row)
        accounts = {name: tally.state() for name, tally in tallies.items() if not tally.blank}
        validated = {key: count - before[key] for key, count in self._validator.statistics.items()}
        return Made(packed, invalid, accounts, validated)

    def _map(
        self, mapper: TableMapper, patient: PatientContext, feed: Feed, tallies: Mapping[str, Tally],
        out: tuple[list[Mapped], list[Sheaf]],
    ) -> None:  # fmt: skip
        lazily = getattr(mapper, "reads_once", False)
        mine: dict[str, Any] = {name: feed.each(name) if lazily else feed.take(name) for name in self._tables(mapper)}
        main = mapper.tables[0].name
        if main not in self._present:
            for table, support in mine.items():
                tallies[table].note(f"read, but there is no table {main} that uses it", len(support))
            return
        made, sheaves = out
        for one in mapper.map(patient, mine, tallies):
            if isinstance(one, Sheaf):
                sheaves.append(one)
            else:
                made.append(one)

    def _pack(
        self, patient_id: str, made: list[Mapped], sheaves: list[Sheaf], tallies: Mapping[str, Tally]
    ) -> tuple[PackedChart, int]:
        try:
            return self._packed(patient_id, made, sheaves), 0
        except DataError:
            valid, invalid = split_invalid(made)
            sound = []
            for sheaf in sheaves:
                left, wrong = split_sheaf(sheaf)
                sound.append(left)
                invalid.extend(wrong)
            if not invalid:
                raise
            _refuse_invalid(invalid, tallies)
            return self._packed(patient_id, valid, sound), len(invalid)

    def _packed(self, patient_id: str, made: Iterable[Mapped], sheaves: list[Sheaf]) -> PackedChart:
        check = self._validator
        check.statistics["by_template"] += sum(map(len, sheaves))
        return pack(patient_id, _pairs(made), self._licence, check, sheaves, check)


def _refuse_invalid(invalid: Iterable[Invalid], tallies: Mapping[str, Tally]) -> None:
    for one in invalid:
        tallies[one.table].refuse(f"not valid FHIR R4: {one.problem}", one.row)


def _pairs(made: Iterable[Mapped]) -> list[tuple[Resource, Instant]]:
    return [(one.resource, one.known) for one in made]


def _sources_of(made: Iterable[Mapped], sheaves: Iterable[Sheaf]) -> Iterator[tuple[str, int]]:
    """Yield table and row of everything that was made."""
    for one in made:
        yield one.table, one.row
    for sheaf in sheaves:
        for row in sheaf.rows:
            yield sheaf.table, row[4]

"""MIMIC-IV ICU `outputevents` and `datetimeevents` → Observation, known when stored."""

from __future__ import annotations

from collections.abc import Iterator

from wardround.patients.resource import Resource

from . import _vocabulary as words
from ._chart_items import FromItems
from ._facts import Cells, digits_of, id_key, known_at, observation, put_value, sound
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import TableSpec

_COLUMNS = ("subject_id", "hadm_id", "stay_id", "charttime", "storetime", "itemid", "value", "valueuom")
_REQUIRED = frozenset({"subject_id", "hadm_id", "stay_id", "charttime", "itemid", "value"})
OUTPUT = TableSpec("outputevents", _COLUMNS, _REQUIRED, not_carried=("caregiver_id",))
DATETIME = TableSpec("datetimeevents", _COLUMNS, _REQUIRED, not_carried=("caregiver_id", "warning"))


class _Charted(FromItems):
    """One table of ICU facts: who, when, which item, what."""

    tables: tuple[TableSpec, ...] = ()
    types: tuple[str, ...] = ("Observation",)
    prefix = ""
    times: tuple[str, ...] = ("charttime", "storetime")

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the Observations by stay, item and time."""
        spec = self.tables[0]
        tally = tallies[spec.name]
        numbers = id_key("stay_id", "itemid")

        def key(cells: Cells) -> tuple[str, ...] | None:
            found, at = numbers(cells), cells.time("charttime")
            return None if found is None or at is None else (*found, digits_of(at))

        placed = sound(
            spec,
            rows.get(spec.name, []),
            tally,
            times=self.times,
            key=key,
            wrong_key="stay_id or itemid is not a whole number, or charttime is empty",
            twins=True,
        )
        for (stay, item, when), cells in placed:
            at = cells.time("charttime")
            assert at is not None
            name, group = self._named(item, tally)
            code = words.concept(name, words.coding(words.system("item"), item, name))
            kind = words.concept(group or "ICU")
            resource = observation(patient, f"{self.prefix}-{stay}-{item}-{when}{cells.suffix}", kind, code, at)
            encounter = patient.encounter(cells["hadm_id"], tally)
            if encounter is not None:
                resource["encounter"] = encounter
            self.put(resource, cells)
            yield Mapped(spec.name, cells.number, resource, known_at(cells.time("storetime"), at, tally))

    def put(self, resource: Resource, cells: Cells) -> None:
        """Write the value."""
        put_value(resource, cells["value"], cells["valueuom"])


class Outputs(_Charted):
    """Urine, drains and other output."""

    tables: tuple[TableSpec, ...] = (OUTPUT,)
    prefix = "icuout"


class Datetimes(_Charted):
    """Dates that the ICU charted (a line's insertion, the last bowel movement)."""

    tables: tuple[TableSpec, ...] = (DATETIME,)
    prefix = "icudate"
    times = ("charttime", "storetime", "value")

    def put(self, resource: Resource, cells: Cells) -> None:
        """Write the date: a day where the unit says that it is one."""
        value = cells.time("value")
        if value is None:
            put_value(resource, None, None)
        else:
            resource["valueDateTime"] = value.text[:10] if cells["valueuom"] == "Date" else value.text

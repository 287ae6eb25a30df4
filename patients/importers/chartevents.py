"""MIMIC-IV ICU `chartevents` → Observation: one per row, known when stored. The rules stand in docs/mimic.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from wardround.patients.resource import Resource
from wardround.patients.slotted import Sheaf, Slotted
from wardround.patients.times import NEVER, Instant

from . import _vocabulary as words
from ._chart_items import FromItems
from ._charted import Item, charted_quantity, describe, read_value, settle_unit
from ._facts import DAY_END, known_at
from ._lab_values import Value
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import Row, TableSpec
from ._templates import Make, Shelf, Values, day_end, full_time, plain_number
from ._values import clean, end_of_day, moment, whole
from .report import Tally

CHART = TableSpec(
    "chartevents",
    (
        "subject_id", "hadm_id", "stay_id", "charttime", "storetime", "itemid", "value", "valuenum", "valueuom",
        "warning",
    ),
    frozenset({"subject_id", "hadm_id", "stay_id", "charttime", "storetime", "itemid", "value", "valuenum"}),
    not_carried=("caregiver_id",),
)  # fmt: skip


class Shape(NamedTuple):
    """What many rows of one item have in common."""

    item: str
    unit: str | None
    value: Value
    """The value without its number."""
    notes: tuple[str, ...]


class Reading(NamedTuple):
    """What equal cells say, whoever they are about and whenever: read once, remembered by `Charted`."""

    shape: Shape
    number: str | None
    slot: bytes | None
    """The number as a slot; None where it cannot fill one."""
    counted: tuple[str, ...]
    """What the account of the table says of each such row."""
    templates: list[Slotted | None]
    """By which of stay and store time are empty (1, 2); readings of a shape without words share them."""


READINGS = 1 << 16
"""Readings that are remembered: the same few numbers and words fill most rows."""

_SLOTS = ("key", "whole", "whole", "time", "time", "number", "time")
"""Key, subject_id, hadm_id, charttime, storetime, number, known."""
_STAND_IN = "543219876543.219876"


class Charted(FromItems):
    """One Observation per charted value."""

    tables: tuple[TableSpec, ...] = (CHART,)
    types: tuple[str, ...] = ("Observation",)

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[str, Item] = {}
        self._readings: dict[Row, Reading] = {}
        self._templates: dict[tuple[Shape, bool], list[Slotted | None]] = {}
        # apart, so that no flood of free text can keep the numbers from their templates
        self._numbers = Shelf("Observation", _SLOTS, dated=3, encounter=2)
        self._words = Shelf("Observation", _SLOTS, dated=3, encounter=2)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped | Sheaf]:
        """Yield the Observations: those that go the long way by key, the others as a sheaf."""
        tally = tallies["chartevents"]
        sheaf = Sheaf("Observation", "chart-", "chartevents")
        alone: list[tuple[bytes, Mapped]] = []
        subject = patient.subject_id.encode()
        admitted = {hadm: (hadm.encode(), stay.admitted.known) for hadm, stay in patient.stays.items()}
        admitted[""] = (b"", -NEVER)
        add, readings = sheaf.rows.append, self._readings
        for key, row in _placed(rows.get("chartevents", ()), tally):
            n, _, _, hadm, _, chart, store, *_ = row
            reading = readings.get(row[7:]) or self._reading(row[7:])
            template = reading.templates[(not hadm) + 2 * (not store)]
            charted = full_time(chart)
            stored = full_time(store) if store else charted and day_end(charted[1])
            stay = admitted.get(hadm or "")
            # a stay that became known after the value is hidden for a while: such a resource has more than one form
            if (
                template is None or reading.slot is None or charted is None or stored is None or stay is None
                or stay[1] > stored[1]
            ):  # fmt: skip
                alone.append((key, self._alone(patient, key, row, reading, tally)))
                continue
            for note in reading.counted:
                tally.note(note)
            if not store:
                tally.note(DAY_END)
            slots = (key, subject, stay[0], charted[0], stored[0] if store else b"", reading.slot, stored[0])
            add((template, stored[1], charted[1], hadm or None, n, slots))
        yield from (mapped for _, mapped in sorted(alone, key=lambda one: one[0]))
        yield sheaf

    def _reading(self, cells: Row) -> Reading:
        """Read the cells that say what was charted: itemid, value, valuenum, valueuom, warning."""
        item_text, text, figure, unit, warning = cells
        key, tally = str(whole(item_text)), Tally("chartevents")
        if key not in self._labels:
            tally.note("itemid without a label in d_items")
        item = self._item(key)
        value = read_value(text, figure, tally)
        settled, said = settle_unit(item, value.number, clean(unit), tally)
        flag = words.chart_items()["warning"].get(clean(warning) or "")
        notes = tuple(note for note in (value.note, said, flag, item.note) if note is not None)
        shape = Shape(key, settled, value._replace(number=None), notes)
        slot = b"" if value.number is None else value.number.encode() if plain_number(value.number) else None
        kind = (shape, value.number is None)
        if _is_worded(shape):
            templates = [self._words.ready.get((*kind, code)) for code in range(4)]
        else:
            templates = self._templates.setdefault(kind, [None] * 4)
        if len(self._readings) >= READINGS:
            self._readings.clear()
        reading = self._readings[cells] = Reading(shape, value.number, slot, tuple(tally.notes.elements()), templates)
        return reading

    def _alone(self, patient: PatientContext, key: bytes, row: Row, reading: Reading, tally: Tally) -> Mapped:
        """Make one Observation the long way; its shape is learned where others can follow by template."""
        n, _, _, hadm, _, chart, store, *_ = row
        charted, stored = moment(chart), moment(store)
        assert charted is not None
        for note in reading.counted:
            tally.note(note)
        known = known_at(stored, charted, tally)
        encounter = patient.encounter(clean(hadm), tally)
        stay = None if encounter is None else encounter["reference"].removeprefix("Encounter/")
        values = (
            key.decode(), patient.subject_id, stay, charted.text, None if stored is None else stored.text,
            reading.number,
        )  # fmt: skip

        def make(values: Values) -> Resource:
            return self._resource(reading.shape, values)

        early = stay is not None and patient.stays[stay].admitted.known > known
        full = len(charted.text) > 10 and (stored is None or len(stored.text) > 10)
        if reading.slot is not None and full and not early:
            self._remember(reading, make, values, known)
        return Mapped("chartevents", n, make(values), known)

    def _remember(self, reading: Reading, make: Make, values: Values, known: Instant) -> None:
        code = (values[2] is None) + 2 * (values[4] is None)
        shape = (reading.shape, reading.number is None, code)
        shelf = self._words if _is_worded(reading.shape) else self._numbers
        shelf.learn(shape, make, values, known, _STAND_IN)
        reading.templates[code] = shelf.ready.get(shape)

    def _resource(self, shape: Shape, values: Values) -> Resource:
        key, subject, encounter, charted, stored, figure = values
        item, value = self._item(shape.item), shape.value
        resource: Resource = {
            "resourceType": "Observation",
            "id": f"chart-{key}",
            "status": "final",
            "category": item.category,
            "code": item.code,
            "subject": {"reference": f"Patient/{subject}"},
        }
        if encounter is not None:
            resource["encounter"] = {"reference": f"Encounter/{encounter}"}
        resource["effectiveDateTime"] = charted
        if stored is not None and len(stored) > 10:
            resource["issued"] = stored
        if figure is not None:
            resource["valueQuantity"] = charted_quantity(figure, value.comparator, shape.unit)
        elif value.words is not None:
            resource["valueString"] = value.words
        else:
            missing = words.coding(words.DATA_ABSENT, value.absent or "unknown")
            resource["dataAbsentReason"] = words.concept(None, missing)
        if shape.notes:
            resource["note"] = [{"text": text} for text in shape.notes]
        return resource

    def _item(self, item_id: str) -> Item:
        item = self._items.get(item_id)
        if item is None:
            item = self._items[item_id] = describe(item_id, *self._labels.get(item_id, (None, None)))
        return item


def _is_worded(shape: Shape) -> bool:
    """Tell whether words of the row are part of the shape: there is no end of such shapes."""
    return shape.value.words is not None or shape.value.note is not None


def _placed(rows: Iterable[Row], tally: Tally) -> Iterator[tuple[bytes, Row]]:
    """Yield the rows that can be placed, each with its key: stay, item, time; refuse the others.

    Several values of one stay, item and time are several facts. The one that was known first has the bare key, the
    others are numbered from 2: a key must not tell of what came later.
    """
    first: dict[bytes, Row] = {}
    more: dict[bytes, list[Row]] = {}
    for row in rows:
        key = _key_of(row, tally)
        if key is None:
            continue
        if key not in first:
            first[key] = row
        else:
            more.setdefault(key, [first[key]]).append(row)
    for key, row in first.items():
        if key not in more:
            yield key, row
        else:
            for turn, one in enumerate(_in_order(more[key], tally), 1):
                yield key if turn == 1 else b"%b-%d" % (key, turn), one


def _key_of(row: Row, tally: Tally) -> bytes | None:
    stay, item = _whole_text(row[4]), _whole_text(row[7])
    if stay is None or item is None:
        tally.refuse("stay_id or itemid is not a whole number", row[0])
        return None
    digits = _digits(row[5])
    if digits is None or _digits(row[6]) is None:
        tally.refuse("charttime or storetime is not a time", row[0])
        return None
    if not digits:
        tally.refuse("charttime is empty", row[0])
        return None
    return b"%b-%b-%b" % (stay, item, digits)


@lru_cache(maxsize=READINGS)
def _whole_text(text: str | None) -> bytes | None:
    found = whole(text)
    return None if found is None else b"%d" % found


@lru_cache(maxsize=READINGS)
def _digits(text: str | None) -> bytes | None:
    """Return the digits of a time, none for an empty cell, None for what is no time."""
    try:
        found = moment(text)
    except ValueError:
        return None
    return b"" if found is None else "".join(mark for mark in found.text if mark.isdigit()).encode()


def _in_order(group: list[Row], tally: Tally) -> list[Row]:
    """Order rows of one key by when they were known; refuse those that repeat another."""
    distinct: dict[tuple[str, ...], Row] = {}
    for row in group:
        cells = tuple("" if cell is None else str(cell).strip() for cell in row[2:])
        if cells in distinct:
            tally.refuse("the row stands twice; the first is kept", row[0])
        else:
            distinct[cells] = row

    def known(cells: tuple[str, ...]) -> tuple[Instant, tuple[str, ...]]:
        charted, stored = moment(distinct[cells][5]), moment(distinct[cells][6])
        assert charted is not None
        return end_of_day(charted.start) if stored is None else stored.known, cells

    return [distinct[cells] for cells in sorted(distinct, key=known)]

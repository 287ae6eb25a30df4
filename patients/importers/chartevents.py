"""MIMIC-IV ICU `chartevents` → Observation: one per row, known when stored. The rules stand in docs/mimic.md."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from wardround.patients.resource import Resource
from wardround.patients.times import Instant

from . import _vocabulary as words
from ._facts import known_at
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import Row, TableSpec
from ._values import MASKED, Moment, clean, compared, end_of_day, moment, number, whole
from .labs import Value
from .procedures import ITEMS, read_items
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


class Item(NamedTuple):
    """What is the same in every row of one item."""

    code: Resource
    category: list[Resource]
    unit: str | None
    """Unit of rows that state none."""
    ranges: tuple[dict[str, Any], ...]
    """Ranges of the number in which its unit is certain, whatever the row says."""
    note: str | None


class Shape(NamedTuple):
    """What many rows of one item have in common."""

    item: str
    unit: str | None
    value: Value
    """The value without its number."""
    notes: tuple[str, ...]


class Reading(NamedTuple):
    """What a row says, whoever it is about and whenever it was."""

    shape: Shape
    number: str | None
    counted: tuple[str, ...]
    """What the account of the table says of it."""


class ChartEvent(NamedTuple):
    """What differs between rows of one shape."""

    name: str
    """Id of the resource."""
    subject: str
    encounter: str | None
    charted: Moment
    stored: Moment | None
    number: str | None
    known: Instant


class Placed(NamedTuple):
    """A row that has its place in the chart: stay, item, time."""

    row: Row
    stay: int
    item: int
    charted: Moment
    stored: Moment | None


READINGS = 1 << 16
"""Readings that are remembered: the same few numbers and words fill most rows."""


class Charted:
    """One Observation per charted value."""

    tables: tuple[TableSpec, ...] = (CHART,)
    dictionaries: tuple[TableSpec, ...] = (ITEMS,)
    types: tuple[str, ...] = ("Observation",)

    def __init__(self) -> None:
        self._labels: dict[str, tuple[str | None, str | None]] = {}
        self._items: dict[str, Item] = {}
        self._read = lru_cache(maxsize=READINGS)(self._reading)

    def learn(self, table: str, rows: Iterator[Row], tally: Tally) -> None:
        """Read the names of items."""
        self._labels |= read_items(rows, tally)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the Observations by time, stay and item."""
        tally = tallies["chartevents"]
        found: dict[tuple[Instant, int, int], list[Placed]] = {}
        for row in rows.get("chartevents", []):
            placed = _place(row, tally)
            if placed is not None:
                found.setdefault((placed.charted.start, placed.stay, placed.item), []).append(placed)
        for key in sorted(found):
            group = found[key]
            for number_, placed in enumerate(group if len(group) == 1 else _in_order(group, tally), 1):
                yield self._event(patient, placed, number_, tally)

    def _event(self, patient: PatientContext, placed: Placed, turn: int, tally: Tally) -> Mapped:
        n, _, _, hadm, _, _, _, _, text, figure, unit, warning = placed.row
        reading = self._read(placed.item, text, figure, unit, warning)
        for note in reading.counted:
            tally.note(note)
        known = known_at(placed.stored, placed.charted, tally)
        encounter = patient.encounter(clean(hadm), tally)
        stay = None if encounter is None else encounter["reference"].removeprefix("Encounter/")
        name = event_name(placed, turn)
        one = ChartEvent(name, patient.subject_id, stay, placed.charted, placed.stored, reading.number, known)
        return Mapped("chartevents", n, self._resource(reading.shape, one), known)

    def _reading(
        self, item_id: int, text: str | None, figure: str | None, unit: str | None, warning: str | None
    ) -> Reading:
        key, tally = str(item_id), Tally("chartevents")
        if key not in self._labels:
            tally.note("itemid without a label in d_items")
        item = self._item(key)
        value = read_value(text, figure, tally)
        settled, said = settle_unit(item, value.number, clean(unit), tally)
        flag = words.chart_items()["warning"].get(clean(warning) or "")
        notes = tuple(note for note in (value.note, said, flag, item.note) if note is not None)
        shape = Shape(key, settled, value._replace(number=None, note=None), notes)
        return Reading(shape, value.number, tuple(tally.notes))

    def _resource(self, shape: Shape, event: ChartEvent) -> Resource:
        item, value = self._item(shape.item), shape.value
        resource: Resource = {
            "resourceType": "Observation",
            "id": event.name,
            "status": "final",
            "category": item.category,
            "code": item.code,
            "subject": {"reference": f"Patient/{event.subject}"},
        }
        if event.encounter is not None:
            resource["encounter"] = {"reference": f"Encounter/{event.encounter}"}
        resource["effectiveDateTime"] = event.charted.text
        if event.stored is not None and len(event.stored.text) > 10:
            resource["issued"] = event.stored.text
        if event.number is not None:
            resource["valueQuantity"] = _quantity(event.number, value.comparator, shape.unit)
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
            item = self._items[item_id] = _describe(item_id, *self._labels.get(item_id, (None, None)))
        return item


def _place(row: Row, tally: Tally) -> Placed | None:
    """Place a row, or refuse it."""
    n, _, _, _, stay_text, chart, store, item_text, *_ = row
    stay, item = whole(stay_text), whole(item_text)
    if stay is None or item is None:
        tally.refuse("stay_id or itemid is not a whole number", n)
        return None
    try:
        charted, stored = moment(chart), moment(store)
    except ValueError:
        tally.refuse("charttime or storetime is not a time", n)
        return None
    if charted is None:
        tally.refuse("charttime is empty", n)
        return None
    return Placed(row, stay, item, charted, stored)


def _in_order(group: list[Placed], tally: Tally) -> list[Placed]:
    """Order rows of one stay, item and time by when they were known: several values at once are several facts."""
    distinct: dict[tuple[str, ...], Placed] = {}
    for placed in group:
        cells = tuple("" if cell is None else str(cell).strip() for cell in placed.row[2:])
        if cells in distinct:
            tally.refuse("the row stands twice; the first is kept", placed.row[0])
        else:
            distinct[cells] = placed

    def known(placed: Placed) -> Instant:
        return end_of_day(placed.charted.start) if placed.stored is None else placed.stored.known

    return [distinct[cells] for cells in sorted(distinct, key=lambda cells: (known(distinct[cells]), cells))]


def event_name(placed: Placed, turn: int) -> str:
    """Return the id of a row: stay, item, time; what was charted beside it later is numbered from 2."""
    name = f"chart-{placed.stay}-{placed.item}-{_digits(placed.charted.text)}"
    return name if turn == 1 else f"{name}-{turn}"


@lru_cache(maxsize=READINGS)
def _digits(text: str) -> str:
    return "".join(mark for mark in text if mark.isdigit())


def _describe(item_id: str, label: str | None, group: str | None) -> Item:
    table = words.chart_items()
    entry = table["items"].get(item_id, {})
    name, note = label or f"Item {item_id}", None
    copied = table["copied"]
    if group == copied["category"] and item_id not in copied["original"]:
        name, note = copied["name"].format(label=name), copied["said"]
    codings = [words.coding(words.LOINC, code) for code in entry.get("loinc", ())]
    codings.append(words.coding(words.system("chart_item"), item_id, label))
    code = entry.get("category") or table["categories"].get(group or "")
    kind = [words.coding(words.OBSERVATION_CATEGORY, code, table["category_names"][code])] if code else []
    return Item(
        words.concept(name, *codings),
        [words.concept(group or "ICU", *kind)],
        entry.get("unit"),
        tuple(entry.get("ranges", ())),
        note,
    )


def read_value(text: str | None, figure: str | None, tally: Tally) -> Value:
    """Decide what a charted row says.

    The number is `valuenum`, with the digits of `value` where that is the same number. Words beside a number (a score's
    meaning: 4, "Spontaneously") are its note; without a number they are the value.

    Examples:
        >>> tally = Tally("chartevents")
        >>> read_value("98.60", "98.6", tally).number, read_value("Spontaneously", "4", tally).note
        ('98.60', 'Charted as: Spontaneously')
        >>> read_value("Clear", None, tally).words, read_value(None, None, tally).absent
        ('Clear', 'unknown')
    """
    text, measured = clean(text), number(figure)
    if text == MASKED:
        text = None
        if measured is None:
            return Value(absent="masked")
    if text is None:
        return Value(absent="unknown") if measured is None else Value(number=measured)
    charted, limit = number(text), compared(text)
    if measured is None:
        if limit is not None:
            return Value(number=limit[1], comparator=limit[0])
        return Value(number=charted) if charted is not None else Value(words=text)
    if charted is not None and (charted == measured or Decimal(charted) == Decimal(measured)):
        return Value(number=charted)
    if limit is not None and Decimal(limit[1]) == Decimal(measured):
        return Value(number=limit[1], comparator=limit[0])
    if charted is not None or limit is not None:
        tally.note("value and valuenum differ; valuenum is the result, value is noted")
    return Value(number=measured, note=f"Charted as: {text}")


def settle_unit(item: Item, figure: str | None, unit: str | None, tally: Tally) -> tuple[str | None, str | None]:
    """Return the unit of a number, and a note where it is not the one that was charted.

    A temperature is read in the other unit, and FiO2 as a fraction or as percent, only where the number leaves no doubt
    (`mimic_chart_items.json`, `ranges`); every other number keeps what was charted.
    """
    if figure is None:
        return None, None
    for one in item.ranges:
        if Decimal(one["from"]) <= Decimal(figure) <= Decimal(one["to"]):
            if "counted" in one:
                tally.note(one["counted"])
            return one["unit"], one.get("said")
    if unit is None or unit in words.units()["absent"]:
        return item.unit, None
    return unit, None


def _quantity(value: str, comparator: str | None, unit: str | None) -> Resource:
    out: dict[str, Any] = {"value": orjson.Fragment(value)}
    if comparator is not None:
        out["comparator"] = comparator
    if unit is not None:
        out["unit"] = unit
        code = words.units()["chart"].get(unit) or words.units()["lab"].get(unit)
        if code is not None:
            out |= {"system": words.UCUM, "code": code}
    return out

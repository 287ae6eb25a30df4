"""MIMIC-IV `labevents` and `d_labitems` → laboratory Observation (FHIR R4). The rules stand in docs/mimic.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from wardround.patients.resource import Resource
from wardround.patients.slotted import Sheaf, Slotted
from wardround.patients.times import NEVER, Instant

from . import _vocabulary as words
from ._facts import content
from ._lab_values import Value, interpret, lab_name, loinc_of, read_bounds, read_value, unit_of
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import Row, TableSpec
from ._templates import Make, Shelf, Values, day_end, full_time, plain_number, stand_in_number
from ._values import clean, end_of_day, moment, whole
from .report import Tally

LAB_EVENTS = TableSpec(
    "labevents",
    (
        "labevent_id",
        "subject_id",
        "hadm_id",
        "specimen_id",
        "itemid",
        "charttime",
        "storetime",
        "value",
        "valuenum",
        "valueuom",
        "ref_range_lower",
        "ref_range_upper",
        "flag",
        "comments",
    ),
    frozenset({"labevent_id", "subject_id", "hadm_id", "itemid", "charttime", "storetime", "value", "valuenum"}),
    ("order_provider_id", "priority"),
)
LAB_ITEMS = TableSpec(
    "d_labitems", ("itemid", "label", "fluid", "category"), frozenset({"itemid", "label", "fluid"}), keyed=False
)

_FLAGS = {
    code: [words.concept(None, words.coding(words.INTERPRETATION, code, display))]
    for code, display in (("H", "High"), ("L", "Low"), ("N", "Normal"), ("A", "Abnormal"))
}


class Item(NamedTuple):
    """What is the same in every result of one lab item."""

    code: Resource
    category: list[Resource]
    fluid: str | None


class Shape(NamedTuple):
    """What many results of one item have in common."""

    item: str
    unit: str | None
    low: str | None
    high: str | None
    range_words: str | None
    """The range as written, where a bound is no number."""
    mark: str | None
    """Code of the interpretation."""
    value: Value
    """The result without its number."""


class Reading:
    """What equal cells say, whoever and whenever: read once, remembered by `Labs`."""

    __slots__ = ("notes", "number", "shape", "slot", "templates")

    def __init__(self, shape: Shape, number: str | None, notes: tuple[str, ...]) -> None:
        self.shape = shape
        self.number = number
        self.notes = notes
        """What the account says of each such row."""
        usable = shape.value.comparator is None and (number is None or plain_number(number))
        self.slot = (b"" if number is None else number.encode()) if usable else None
        """The number as a slot; None where the result cannot be made by template."""
        self.templates: list[Slotted | None] = [None] * 8
        """By which of stay, store time and specimen are empty (1, 2, 4)."""


READINGS = 1 << 16
"""Readings that are remembered."""

_SLOTS = ("key", "whole", "whole", "time", "time", "number", "whole", "time")
"""labevent_id, subject_id, hadm_id, charttime, storetime, number, specimen_id, known."""


class Labs:
    """One Observation per lab event that has a time and an item."""

    tables: tuple[TableSpec, ...] = (LAB_EVENTS,)
    dictionaries: tuple[TableSpec, ...] = (LAB_ITEMS,)
    types: tuple[str, ...] = ("Observation",)
    reads_once = True

    def __init__(self) -> None:
        self._labels: dict[str, tuple[str | None, str | None, str | None]] = {}
        self._items: dict[str, Item] = {}
        self._units: dict[tuple[str | None, str], Resource] = {}
        self._readings: dict[tuple[Any, ...], Reading | None] = {}
        self._shelf = Shelf("Observation", _SLOTS, dated=3, encounter=2)

    def learn(self, table: str, rows: Iterator[Row], tally: Tally) -> None:
        """Read the labels of the lab items."""
        for row in sorted(rows, key=content):
            n, _, item_text, label, fluid, category = row
            item = whole(item_text)
            if item is None:
                tally.refuse("itemid is not a whole number", n)
            elif str(item) in self._labels:
                tally.refuse("itemid stands twice; the row that sorts first is kept", n)
            else:
                self._labels[str(item)] = (clean(label), clean(fluid), clean(category))

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped | Sheaf]:
        """Yield the Observations: those that go the long way by chart time and labevent_id, the others as a sheaf."""
        tally = tallies["labevents"]
        seen: set[int] = set()
        alone: list[tuple[Instant, int, Mapped]] = []
        sheaf = Sheaf("Observation", "lab-", "labevents")
        subject = patient.subject_id.encode()
        admitted = {hadm: (hadm.encode(), stay.admitted.known) for hadm, stay in patient.stays.items()}
        admitted[""] = (b"", -NEVER)
        add, readings = sheaf.rows.append, self._readings
        for row in rows.get("labevents", ()):
            n, _, event_text, _, hadm, specimen, _, chart, store, *_ = row
            plain = event_text and event_text.isascii() and event_text.isdigit() and len(event_text) <= 18
            event = int(event_text) if plain else whole(event_text)
            if event is None:
                tally.refuse("labevent_id is not a whole number", n)
                continue
            if event in seen:
                tally.refuse("labevent_id stands twice; the first row is kept", n)
                continue
            cells = (row[6], *row[9:])
            reading = readings.get(cells) or self._reading(cells)
            if reading is None:
                tally.refuse("itemid is not a whole number", n)
                continue
            template = reading.templates[(not hadm) + 2 * (not store) + 4 * (not specimen)]
            charted = full_time(chart) if chart else None
            stored = full_time(store) if store else charted and day_end(charted[1])
            stay = admitted.get(hadm or "")
            slot = reading.slot
            if (
                template is not None and slot is not None and charted and stored and stay and stay[1] <= stored[1]
                and (not specimen or (specimen.isdigit() and specimen.isascii()))
            ):  # fmt: skip
                seen.add(event)
                for note in reading.notes:
                    tally.note(note)
                slots = (
                    b"%d" % event, subject, stay[0], charted[0], stored[0] if store else b"", slot,
                    specimen.encode() if specimen else b"", stored[0],
                )  # fmt: skip
                add((template, stored[1], charted[1], hadm or None, n, slots))
                continue
            try:
                at, mapped = self._alone(patient, row, event, reading, tally)
            except ValueError:
                tally.refuse("charttime or storetime is not a time", n)
                continue
            seen.add(event)
            alone.append((at, event, mapped))
        yield from (mapped for _, _, mapped in sorted(alone, key=lambda one: one[:2]))
        yield sheaf

    def _reading(self, cells: tuple[Any, ...]) -> Reading | None:
        """Read the cells that say the result: itemid, value, valuenum, unit, bounds, flag, comments."""
        item_text, text, figure, unit, low, high, flag, comment = cells
        item = whole(item_text)
        if item is None:
            return None
        account = Tally("labevents")
        if str(item) not in self._labels:
            account.note("itemid is not in d_labitems; named by its number")
        lowest, highest, said = read_bounds(low, high, account)
        value = read_value(text, figure, comment, account)
        mark = interpret(value, lowest, highest, clean(flag))
        shape = Shape(str(item), unit, lowest, highest, said, mark, value._replace(number=None))
        if len(self._readings) >= READINGS:
            self._readings.clear()
        reading = self._readings[cells] = Reading(shape, value.number, tuple(account.notes.elements()))
        key = (shape, value.number is None)
        for code in range(8):
            reading.templates[code] = self._shelf.ready.get((*key, code)) if reading.slot is not None else None
        return reading

    def _alone(
        self, patient: PatientContext, row: Row, event: int, reading: Reading, tally: Tally
    ) -> tuple[Instant, Mapped]:
        """Make one result the long way; ValueError where a time cannot be read."""
        n, _, _, _, hadm, specimen, _, chart, store, *_ = row
        charted, stored = moment(chart), moment(store)
        if charted is None and stored is None:
            tally.note("neither charttime nor storetime; kept, never visible")
        for note in reading.notes:
            tally.note(note)
        known = stored.known if stored is not None else end_of_day(charted.start) if charted is not None else NEVER
        encounter = patient.encounter(clean(hadm), tally)
        stay = None if encounter is None else encounter["reference"].removeprefix("Encounter/")
        # A stay that became known after the result is hidden for a while: such a resource has more than one form.
        early = stay is not None and patient.stays[stay].admitted.known > known
        values = (
            str(event), patient.subject_id, stay, None if charted is None else charted.text,
            None if stored is None else stored.text, reading.number, clean(specimen),
        )  # fmt: skip

        def make(values: Values) -> Resource:
            return self._resource(reading.shape, values)

        whole_times = charted is not None and len(charted.text) > 10 and (stored is None or len(stored.text) > 10)
        if reading.slot is not None and not early and whole_times and (specimen is None or whole(specimen) is not None):
            self._remember(reading, make, values, known)
        return charted.start if charted is not None else NEVER, Mapped("labevents", n, make(values), known)

    def _remember(self, reading: Reading, make: Make, values: Values, known: Instant) -> None:
        shape = reading.shape
        code = (values[2] is None) + 2 * (values[4] is None) + 4 * (values[6] is None)
        key = (shape, values[5] is None, code)
        if key not in self._shelf.ready:
            self._shelf.learn(key, make, values, known, stand_in_number(shape.low, shape.high, shape.mark))
        reading.templates[code] = self._shelf.ready.get(key)

    def _resource(self, shape: Shape, values: Values) -> Resource:
        event, subject, encounter, charted, stored, figure, specimen = values
        item, unit, value = self._item(shape.item), self._unit(shape.unit, shape.item), shape.value
        resource: Resource = {
            "resourceType": "Observation",
            "id": f"lab-{event}",
            "identifier": [{"system": _LAB_EVENT, "value": event}],
            "status": "final",
            "category": item.category,
            "code": item.code,
            "subject": {"reference": f"Patient/{subject}"},
        }
        if encounter is not None:
            resource["encounter"] = {"reference": f"Encounter/{encounter}"}
        if charted is not None:
            resource["effectiveDateTime"] = charted
        if stored is not None and len(stored) > 10:
            resource["issued"] = stored
        if figure is not None:
            resource["valueQuantity"] = _quantity(figure, value.comparator, unit)
        elif value.words is not None:
            resource["valueString"] = value.words
        else:
            missing = words.coding(words.DATA_ABSENT, value.absent or "unknown")
            resource["dataAbsentReason"] = words.concept(None, missing)
        if shape.mark is not None:
            resource["interpretation"] = _FLAGS[shape.mark]
        if value.note is not None:
            resource["note"] = [{"text": value.note}]
        if limits := _limits(shape, unit):
            resource["referenceRange"] = [limits]
        if specimen is not None or item.fluid is not None:
            resource["specimen"] = _specimen(specimen, item.fluid)
        return resource

    def _item(self, item_id: str) -> Item:
        if item_id not in self._items:
            self._items[item_id] = self._describe(item_id)
        return self._items[item_id]

    def _describe(self, item_id: str) -> Item:
        label, fluid, category = self._labels.get(item_id, (None, None, None))
        loinc = loinc_of(int(item_id))
        codings = [words.coding(words.LOINC, loinc)] if loinc is not None else []
        codings.append(words.coding(words.system("lab_item"), item_id, label))
        laboratory = words.coding(words.OBSERVATION_CATEGORY, "laboratory", "Laboratory")
        return Item(
            words.concept(lab_name(item_id, label, fluid), *codings), [words.concept(category, laboratory)], fluid
        )

    def _unit(self, text: str | None, item_id: str) -> Resource:
        if (text, item_id) not in self._units:
            self._units[text, item_id] = unit_of(text, item_id)
        return self._units[text, item_id]


_LAB_EVENT = words.system("lab_event")
_SPECIMEN = words.system("specimen")


def _quantity(value: str, comparator: str | None, unit: Resource) -> Resource:
    out: dict[str, Any] = {"value": orjson.Fragment(value)}
    if comparator is not None:
        out["comparator"] = comparator
    return out | unit


def _limits(shape: Shape, unit: Resource) -> Resource:
    out: Resource = {}
    if shape.low is not None:
        out["low"] = _quantity(shape.low, None, unit)
    if shape.high is not None:
        out["high"] = _quantity(shape.high, None, unit)
    if shape.range_words is not None:
        out["text"] = shape.range_words
    return out


def _specimen(specimen: str | None, fluid: str | None) -> Resource:
    out: Resource = {}
    if specimen is not None:
        out["identifier"] = {"system": _SPECIMEN, "value": specimen}
    if fluid is not None:
        out["display"] = fluid
    return out

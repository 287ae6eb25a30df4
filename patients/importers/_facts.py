"""Small builders that the mappers of dated facts share: times of a row, quantities, categories, keys that repeat."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import orjson

from wardround.patients.resource import Resource
from wardround.patients.times import NEVER, Instant

from . import _vocabulary as words
from ._mapper import PatientContext
from ._tables import Row, TableSpec
from ._values import Moment, clean, end_of_day, moment, number, whole
from .report import Tally


class NoDictionary:
    """For mappers whose tables need no dictionary."""

    dictionaries: tuple[TableSpec, ...] = ()

    def learn(self, table: str, rows: Iterator[Row], tally: Tally) -> None:
        """There is no dictionary."""
        raise AssertionError(f"`{table}` is not read here")


class Cells:
    """The cells of a row by name, without outer blanks."""

    __slots__ = ("_cells", "_place", "number")

    def __init__(self, place: dict[str, int], row: Row) -> None:
        self._place = place
        self._cells = row
        self.number: int = row[0]
        """The row's number in reading order."""

    def __getitem__(self, name: str) -> str | None:
        return clean(self._cells[self._place[name]])

    def get(self, name: str) -> str | None:
        """Return a cell; None too for a column that the table does not have."""
        return self[name] if name in self._place else None

    def raw(self, name: str) -> str:
        """Return a cell as it stands, outer blanks and line breaks included; an empty one is an empty text."""
        return self._cells[self._place[name]] or ""

    def time(self, name: str) -> Moment | None:
        """Read a time; ValueError where it is none."""
        return moment(self[name])


def cells_of(spec: TableSpec, rows: list[Row]) -> Iterator[Cells]:
    """Yield the rows of a table with their cells by name."""
    place = {name: index + 2 for index, name in enumerate(spec.columns)}
    for row in rows:
        yield Cells(place, row)


def sound(
    spec: TableSpec,
    rows: list[Row],
    tally: Tally,
    *,
    times: tuple[str, ...],
    key: Callable[[Cells], tuple[str, ...] | None],
    wrong_key: str,
) -> list[tuple[tuple[str, ...], Cells]]:
    """Return the rows that can be placed, by key; refuse those whose times or key cannot be read, and repeats.

    Args:
        spec: The table.
        rows: The patient's rows.
        tally: The table's account.
        times: Columns that hold a time or nothing.
        key: Names a row; None where it cannot be named.
        wrong_key: The reason given then.
    """
    found: dict[tuple[str, ...], Cells] = {}
    for cells in cells_of(spec, rows):
        bad = next((name for name in times if not _is_time(cells[name])), None)
        name = key(cells)
        if bad is not None:
            tally.refuse(f"{bad} is not a time", cells.number)
        elif name is None:
            tally.refuse(wrong_key, cells.number)
        elif name in found:
            tally.refuse("the row's key stands twice; the first row is kept", cells.number)
        else:
            found[name] = cells
    return sorted(found.items(), key=lambda item: tuple((len(part), part) for part in item[0]))


def _is_time(text: str | None) -> bool:
    try:
        moment(text)
    except ValueError:
        return False
    return True


def id_key(*names: str) -> Callable[[Cells], tuple[str, ...] | None]:
    """Return a key made of whole numbers, written without leading zeros."""

    def key(cells: Cells) -> tuple[str, ...] | None:
        numbers = [whole(cells[name]) for name in names]
        return None if any(one is None for one in numbers) else tuple(str(one) for one in numbers)

    return key


DAY_END = "storetime is empty; known at the end of the chart day"
"""What the account says of a fact without a store time."""


def known_at(stored: Moment | None, charted: Moment | None, tally: Tally) -> Instant:
    """Return when a charted fact was known: its store time, else the end of its chart day, else never."""
    if stored is not None:
        return stored.known
    if charted is not None:
        tally.note(DAY_END)
        return end_of_day(charted.start)
    tally.note("neither storetime nor charttime; kept, never visible")
    return NEVER


def quantity(value: str, unit: str | None, table: str = "chart") -> Resource:
    """Build a Quantity with the source's digits; UCUM where the unit is certain."""
    out: dict[str, Any] = {"value": orjson.Fragment(value)}
    if unit is not None and unit not in words.units()["absent"]:
        out["unit"] = unit
        code = words.units()[table].get(unit)
        if code:
            out |= {"system": words.UCUM, "code": code}
    return out


def put_value(resource: Resource, value: str | None, unit: str | None, table: str = "chart") -> None:
    """Write a value as a number where it is one, else as words; nothing is dataAbsentReason unknown."""
    figure = number(value)
    if figure is not None:
        resource["valueQuantity"] = quantity(figure, unit, table)
    elif value is not None and value != "___":
        resource["valueString"] = value
    else:
        code = "masked" if value else "unknown"
        resource["dataAbsentReason"] = words.concept(None, words.coding(words.DATA_ABSENT, code))


def category(code: str, text: str | None = None) -> Resource:
    """Build an Observation category of HL7's list, with the source's own word as text."""
    return words.concept(text, words.coding(words.OBSERVATION_CATEGORY, code))


def period(start: Moment | None, end: Moment | None, tally: Tally, what: str) -> Resource:
    """Build a Period; an end before its start is moved to the start, and noted."""
    out: Resource = {}
    if start is not None:
        out["start"] = start.text
    if end is not None:
        if start is not None and end.start < start.start:
            tally.note(f"the end of the {what} precedes its start; it ends when it starts")
            end = start
        out["end"] = end.text
    return out


def observation(patient: PatientContext, name: str, kind: Resource, code: Resource, at: Moment | None) -> Resource:
    """Begin a final Observation."""
    out: Resource = {
        "resourceType": "Observation",
        "id": name,
        "status": "final",
        "category": [kind],
        "code": code,
        "subject": patient.subject,
    }
    if at is not None:
        out["effectiveDateTime"] = at.text
    return out

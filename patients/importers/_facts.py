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


def content(row: Row) -> tuple[str, ...]:
    """Return all cells of a row, an empty one as an empty text: equal for rows that say the same."""
    return tuple("" if cell is None else str(cell).strip() for cell in row[2:])


class Cells:
    """The cells of a row by name, without outer blanks."""

    __slots__ = ("_cells", "_place", "number", "turn")

    def __init__(self, place: dict[str, int], row: Row) -> None:
        self._place = place
        self._cells = row
        self.number: int = row[0]
        """The row's number in reading order."""
        self.turn = 1
        """Which of the rows with its key this is, in the order in which they became known."""

    @property
    def suffix(self) -> str:
        """End of an id that is made of the key: nothing for the first row of a key, `-2` for the second."""
        return "" if self.turn == 1 else f"-{self.turn}"

    @property
    def content(self) -> tuple[str, ...]:
        """All cells, an empty one as an empty text: equal for rows that say the same."""
        return content(self._cells)

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


TWICE = "the row stands twice; one is kept"
"""What the account says of a row that says the same as another."""
KEY_TWICE = "the row's key stands twice with other cells; the row that was known first is kept"


def sound(
    spec: TableSpec,
    rows: list[Row],
    tally: Tally,
    *,
    times: tuple[str, ...],
    key: Callable[[Cells], tuple[str, ...] | None],
    wrong_key: str,
    twins: bool = False,
    known: Callable[[Cells], Instant] | None = None,
) -> list[tuple[tuple[str, ...], Cells]]:
    """Return the rows that can be placed, by key; refuse those whose times or key cannot be read, and repeats.

    Nothing depends on the order of the rows. Of rows that say the same one is kept. Rows of one key that say other
    things are ordered by when they became known, then by their cells: a row must not change what came before it.

    Args:
        spec: The table.
        rows: The patient's rows.
        tally: The table's account.
        times: Columns that hold a time or nothing.
        key: Names a row; None where it cannot be named. Asked only where `times` hold times.
        wrong_key: The reason given then.
        twins: Whether rows of one key that say other things are facts of their own (`Cells.turn`, `Cells.suffix`); else
            the first of them is kept.
        known: When a row became known; None: at its store time, else at the end of its chart day, and in tables without
            a store time at the first of `times` that it has.
    """
    found: dict[tuple[str, ...], dict[tuple[str, ...], Cells]] = {}
    for cells in cells_of(spec, rows):
        bad = next((name for name in times if not _is_time(cells[name])), None)
        name = key(cells) if bad is None else None
        if bad is not None:
            tally.refuse(f"{bad} is not a time", cells.number)
        elif name is None:
            tally.refuse(wrong_key, cells.number)
        elif cells.content in (same := found.setdefault(name, {})):
            tally.refuse(TWICE, cells.number)
        else:
            same[cells.content] = cells
    placed: list[tuple[tuple[str, ...], Cells]] = []
    for name, same in sorted(found.items(), key=lambda item: tuple((len(part), part) for part in item[0])):
        group = list(same.values())
        if len(group) > 1:
            group.sort(key=lambda cells: (known(cells) if known else _known_from(cells, times), cells.content))
        for turn, cells in enumerate(group, 1):
            if turn > 1 and not twins:
                tally.refuse(KEY_TWICE, cells.number)
                continue
            cells.turn = turn
            placed.append((name, cells))
    return placed


def _known_from(cells: Cells, times: tuple[str, ...]) -> Instant:
    at = next((found for name in times if (found := cells.time(name)) is not None), None)
    if "storetime" not in times:
        return NEVER if at is None else at.known
    stored = cells.time("storetime")
    if stored is not None:
        return stored.known
    return NEVER if at is None else end_of_day(at.start)


def _is_time(text: str | None) -> bool:
    try:
        moment(text)
    except ValueError:
        return False
    return True


def digits_of(at: Moment) -> str:
    """Return the digits of a time, for an id."""
    return "".join(mark for mark in at.text if mark.isdigit())


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

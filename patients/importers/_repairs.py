"""What a spreadsheet does to a table, undone where the file proves how: dates and whole numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ._tables_spec import TableSpec

_WHOLE = frozenset({"anchor_age", "anchor_year", "icd_version", "isolate_num", "seq_num"})
_DATE = r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}( [0-9]{1,2}:[0-9]{2}(:[0-9]{2})?)?"
_NUMBER = r"([0-9]{1,18}|[0-9]{1,3}(,[0-9]{3}){1,5})(\.0+)?"
_SHORTENED = r"[0-9]+([.,][0-9]+)?[eE]\+?[0-9]+"
_DIGITS = r"[0-9]{1,18}"
_ID = re.compile(_DIGITS, re.ASCII)
_SHORT = re.compile(_SHORTENED, re.ASCII)
_NAMES = ("note_id", "poe_id", "emar_id", "provider_id")
"""What the columns end with that name something in letters and digits."""

CONTROLS = r"[\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x{9F}]"
"""Characters that no text of a chart holds: all controls but tab, line feed and carriage return (RE2)."""

Counts = Mapping[str, int]


def is_time(column: str) -> bool:
    """Tell whether a column of MIMIC-IV holds times or days."""
    return column.endswith(("time", "date")) or column == "dod"


def is_whole(column: str) -> bool:
    """Tell whether a column of MIMIC-IV holds whole numbers."""
    return is_id(column) or column in _WHOLE


def is_id(column: str) -> bool:
    """Tell whether a column names something by a whole number."""
    return column.endswith(("_id", "itemid", "orderid")) and not column.endswith(_NAMES)


def id_fault(column: str, text: str | None) -> str | None:
    """Say why a cell of a column of ids is no id; None where it is one, or empty.

    Examples:
        >>> id_fault("hadm_id", "20000019"), id_fault("hadm_id", ""), id_fault("hadm_id", "20000019.5")
        (None, None, 'hadm_id is not a whole number')
        >>> id_fault("hadm_id", "2.00E+07")
        'hadm_id is a number that a spreadsheet shortened (1.23E+07): its digits are lost, fetch the file again'
    """
    text = (text or "").strip()
    if not text or _ID.fullmatch(text):
        return None
    if _SHORT.fullmatch(text):
        return (
            f"{column} is a number that a spreadsheet shortened (1.23E+07): its digits are lost, fetch the file again"
        )
    return f"{column} is not a whole number"


@dataclass(frozen=True, slots=True)
class Repairs:
    """What is put right in every row of a group of files."""

    wholes: frozenset[str] = frozenset()
    """Columns whose `123.0` and `1,234` are read as 123 and 1234."""
    orders: Mapping[str, str] = field(default_factory=dict)
    """Column of times → "month" or "day", whichever comes first in its dates."""
    broken: frozenset[str] = frozenset()
    """Columns of ids where some cells are none: their rows are refused."""
    controls: frozenset[str] = frozenset()
    """Columns whose control characters are taken out."""
    messages: tuple[str, ...] = ()

    def cell(self, column: str, place: str) -> str:
        """Return the SQL of a cell."""
        if column in self.controls:
            place = f"regexp_replace({place}, '{CONTROLS}', '', 'g')"
        if column in self.wholes:
            bare = f"replace(regexp_replace(trim({place}), '\\.0+$', ''), ',', '')"
            return f"CASE WHEN regexp_full_match(trim({place}), '{_NUMBER}') THEN {bare} ELSE {place} END"
        if column in self.orders:
            return _iso(place, self.orders[column])
        return place


def _iso(place: str, first: str) -> str:
    """Return the SQL that writes a spreadsheet's date as MIMIC-IV does; whole seconds where it dropped them."""
    part = [f"regexp_extract(trim({place}), '{pattern}', 1)" for pattern in (
        "^([0-9]+)/", "^[0-9]+/([0-9]+)/", "^[0-9]+/[0-9]+/([0-9]+)", " ([0-9]+):", ":([0-9]+)", ":[0-9]+:([0-9]+)",
    )]  # fmt: skip
    month, day = (part[0], part[1]) if first == "month" else (part[1], part[0])
    clock = f"' ' || lpad({part[3]}, 2, '0') || ':' || {part[4]} || ':' || coalesce(nullif({part[5]}, ''), '00')"
    date = f"{part[2]} || '-' || lpad({month}, 2, '0') || '-' || lpad({day}, 2, '0')"
    return (
        f"CASE WHEN regexp_full_match(trim({place}), '{_DATE}') "
        f"THEN {date} || CASE WHEN contains({place}, ':') THEN {clock} ELSE '' END ELSE {place} END"
    )


def survey(spec: TableSpec, columns: Sequence[str], *, controls: bool = False) -> dict[str, str]:
    """Return SQL conditions to be counted over a whole file; where none is met, nothing needs repair.

    Args:
        spec: The table.
        columns: The file's columns, in its order; they are called c0, c1, ….
        controls: Whether control characters are looked for.
    """
    place = {name: f"c{number}" for number, name in enumerate(columns) if name in spec.columns}
    named = [f"lower(trim({cell})) = '{name}'" for name, cell in place.items() if name in spec.required]
    found = {"header": " AND ".join(named)}
    for name, cell in place.items():
        if is_time(name):
            found[f"slash {name}"] = f"contains({cell}, '/')"
        elif is_whole(name):
            found[f"odd {name}"] = f"NOT regexp_full_match({cell}, '[0-9]*')"
        if controls:
            found[f"control {name}"] = f"regexp_matches({cell}, '{CONTROLS}')"
    return found


def survey_again(columns: Sequence[str], counts: Counts) -> dict[str, str]:
    """Return the conditions that tell what is wrong where `survey` found something.

    In columns of whole numbers: what the cells are instead. In dates with slashes: what proves the order of month and
    day.
    """
    found = {}
    for number, name in enumerate(columns):
        cell = f"trim(c{number})"
        if counts.get(f"odd {name}"):
            found[f"whole {name}"] = f"regexp_full_match({cell}, '{_NUMBER}') AND NOT {_matches(cell, _DIGITS)}"
            found[f"short {name}"] = _matches(cell, _SHORTENED)
            found[f"alien {name}"] = f"{cell} <> '' AND NOT {_matches(cell, f'{_NUMBER}|{_SHORTENED}')}"
        if counts.get(f"slash {name}"):
            date = f"regexp_full_match({cell}, '{_DATE}')"
            found[f"date {name}"] = date
            for place, pattern in ((1, "^([0-9]+)/"), (2, "^[0-9]+/([0-9]+)/")):
                part = f"TRY_CAST(regexp_extract({cell}, '{pattern}', 1) AS INTEGER)"
                found[f"above12 {place} {name}"] = f"{date} AND {part} > 12"
    return found


def _matches(cell: str, pattern: str) -> str:
    return f"regexp_full_match({cell}, '{pattern}')"


def settle(label: str, counts: Counts, details: Counts, *, one_file: bool) -> Repairs:
    """Decide what is repaired, and say so.

    Args:
        label: Names the file.
        counts: What `survey` counted.
        details: What `survey_again` counted.
        one_file: Whether the columns are those of one file: what proves the order in one proves nothing in another.
    """
    wholes, orders, broken, controls, messages = set(), {}, set(), set(), []
    for key, count in {**counts, **details}.items():
        kind, _, name = key.partition(" ")
        if not count:
            continue
        if kind in ("short", "alien") and is_id(name):
            broken.add(name)
        if kind == "whole":
            wholes.add(name)
            messages.append(
                f"`{label}`: {count} values of `{name}` as a spreadsheet writes whole numbers (`123.0`, `1,234`); "
                "read as whole numbers."
            )
        elif kind == "short":
            messages.append(
                f"`{label}`: {count} values of `{name}` are numbers that a spreadsheet shortened (`1.23E+07`); their "
                "digits are lost: the rows are refused. Fetch the table again."
            )
        elif kind == "control":
            controls.add(name)
            messages.append(f"`{label}`: {count} values of `{name}` hold control characters; read without them.")
        elif kind == "slash":
            first, why = _first(details.get(f"above12 1 {name}", 0), details.get(f"above12 2 {name}", 0))
            words = f"`{label}`: {details.get(f'date {name}', 0)} values of `{name}` as a spreadsheet writes dates; "
            if first is None or not one_file:
                why = why if one_file else "files of several hands"
                messages.append(f"{words}not read, for month and day cannot be told apart ({why}).")
                continue
            orders[name] = first
            messages.append(f"{words}read with the {first} first ({why}); where it dropped the seconds, :00 is read.")
    return Repairs(frozenset(wholes), orders, frozenset(broken), frozenset(controls), tuple(messages))


def _first(above_first: int, above_second: int) -> tuple[str | None, str]:
    if above_first and above_second:
        return None, "both places hold numbers above 12"
    if above_second:
        return "month", f"the second number is above 12 in {above_second} of them, the first in none"
    if above_first:
        return "day", f"the first number is above 12 in {above_first} of them, the second in none"
    return None, "no number is above 12"

"""What a spreadsheet does to a table, undone where the file proves how: dates and whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ._tables_spec import TableSpec

_WHOLE = frozenset({"anchor_age", "anchor_year", "icd_version", "isolate_num", "seq_num"})
_DATE = r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}( [0-9]{1,2}:[0-9]{2}(:[0-9]{2})?)?"
_NUMBER = r"([0-9]{1,18}|[0-9]{1,3}(,[0-9]{3}){1,5})(\.0+)?"
_SHORTENED = r"[0-9](\.[0-9]+)?[eE]\+[0-9]+"

Counts = Mapping[str, int]


def is_time(column: str) -> bool:
    """Tell whether a column of MIMIC-IV holds times or days."""
    return column.endswith(("time", "date")) or column == "dod"


def is_whole(column: str) -> bool:
    """Tell whether a column of MIMIC-IV holds whole numbers (or names that look like none)."""
    return column.endswith(("_id", "itemid", "orderid")) or column in _WHOLE


@dataclass(frozen=True, slots=True)
class Repairs:
    """What is put right in every row of a group of files."""

    wholes: frozenset[str] = frozenset()
    """Columns whose `123.0` and `1,234` are read as 123 and 1234."""
    orders: Mapping[str, str] = field(default_factory=dict)
    """Column of times → "month" or "day", whichever comes first in its dates."""
    messages: tuple[str, ...] = ()

    def cell(self, column: str, place: str) -> str:
        """Return the SQL of a cell."""
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


def survey(spec: TableSpec, columns: Sequence[str]) -> dict[str, str]:
    """Return SQL conditions to be counted over a whole file; where none is met, nothing needs repair.

    Args:
        spec: The table.
        columns: The file's columns, in its order; they are called c0, c1, ….
    """
    place = {name: f"c{number}" for number, name in enumerate(columns) if name in spec.columns}
    named = [f"lower(trim({cell})) = '{name}'" for name, cell in place.items() if name in spec.required]
    found = {"header": " AND ".join(named)}
    for name, cell in place.items():
        if is_time(name):
            found[f"slash {name}"] = f"contains({cell}, '/')"
        elif is_whole(name):
            found[f"whole {name}"] = f"suffix({cell}, '.0') OR contains({cell}, ',')"
            found[f"short {name}"] = f"contains({cell}, 'E+') AND regexp_full_match(trim({cell}), '{_SHORTENED}')"
    return found


def survey_dates(columns: Sequence[str], counts: Counts) -> dict[str, str]:
    """Return the conditions that prove the order of month and day in the columns where dates have slashes."""
    found = {}
    for number, name in enumerate(columns):
        if counts.get(f"slash {name}"):
            cell = f"trim(c{number})"
            date = f"regexp_full_match({cell}, '{_DATE}')"
            found[f"date {name}"] = date
            for place, pattern in ((1, "^([0-9]+)/"), (2, "^[0-9]+/([0-9]+)/")):
                part = f"TRY_CAST(regexp_extract({cell}, '{pattern}', 1) AS INTEGER)"
                found[f"above12 {place} {name}"] = f"{date} AND {part} > 12"
    return found


def settle(label: str, counts: Counts, dates: Counts, *, one_file: bool) -> Repairs:
    """Decide what is repaired, and say so.

    Args:
        label: Names the file.
        counts: What `survey` counted.
        dates: What `survey_dates` counted.
        one_file: Whether the columns are those of one file: what proves the order in one proves nothing in another.
    """
    wholes, orders, messages = set(), {}, []
    for key, count in counts.items():
        kind, _, name = key.partition(" ")
        if not count:
            continue
        if kind == "whole":
            wholes.add(name)
            messages.append(
                f"`{label}`: {count} values of `{name}` as a spreadsheet writes whole numbers (`123.0`, `1,234`); "
                "read as whole numbers."
            )
        elif kind == "short":
            messages.append(
                f"`{label}`: {count} values of `{name}` are numbers that a spreadsheet shortened (`1.23E+07`); their "
                "digits are lost. Fetch the table again."
            )
        elif kind == "slash":
            first, why = _first(dates.get(f"above12 1 {name}", 0), dates.get(f"above12 2 {name}", 0))
            words = f"`{label}`: {dates.get(f'date {name}', 0)} values of `{name}` as a spreadsheet writes dates; "
            if first is None or not one_file:
                why = why if one_file else "files of several hands"
                messages.append(f"{words}not read, for month and day cannot be told apart ({why}).")
                continue
            orders[name] = first
            messages.append(f"{words}read with the {first} first ({why}); where it dropped the seconds, :00 is read.")
    return Repairs(frozenset(wholes), orders, tuple(messages))


def _first(above_first: int, above_second: int) -> tuple[str | None, str]:
    if above_first and above_second:
        return None, "both places hold numbers above 12"
    if above_second:
        return "month", f"the second number is above 12 in {above_second} of them, the first in none"
    if above_first:
        return "day", f"the first number is above 12 in {above_first} of them, the second in none"
    return None, "no number is above 12"

"""Resources by template: rows that differ only in ids, times and the number share everything else.

Going the long way (dict, JSON, index, every layer of validation) costs fifty times what filling a template costs. The
first rows of a shape go the long way; then a template is made from one of them, checked by every layer of validation,
and used only if it gives that resource back byte for byte. What fills its slots is of a proven form (whole numbers,
full times, plain numbers), so the bodies it makes need no check of their own; a sample of them is checked all the same.

How a mapper uses it (`labs.py` is the model)::

    shelf = Shelf(kind="Observation", slots=("key", "whole", "whole", "time", "number", "time"), dated=3, encounter=2)

    # per row, once its cells are known to fit (`whole`, `full_time`, `plain_number`):
    template = shelf.ready.get(shape)
    if template is not None:                    # the fast way
        sheaf.rows.append((template, known, dated, encounter, row_number, slots))
    else:                                       # the long way, and the shelf learns from it
        yield Mapped(table, row_number, make(values), known)
        shelf.learn(shape, make, values, known, number)

`shape` is whatever rows must share for their resources to be alike but for the slots, which slots are empty included.
`values` are the texts of the slots (None: empty) but the last; `slots` are the same as bytes (b"": empty), and the last
one is always the text of `known`. `make(values)` builds the resource, whose id is the sheaf's prefix and `values[0]`.
After its rows the mapper yields the sheaf itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache

from wardround.patients.fhir import check, check_model
from wardround.patients.packing import Attributes, attributes
from wardround.patients.resource import Resource, dump, instant_text, load, stamp
from wardround.patients.rows import compact_row
from wardround.patients.slotted import WIDTH, Slotted
from wardround.patients.times import DAY, NEVER, SECOND, Instant, parse_instant

from ._values import YEARS, end_of_day, moment

Values = Sequence[str | None]
Make = Callable[[Values], Resource]

TEMPLATES = 30_000
"""Shapes that a shelf keeps (about 2 KB each); resources of further shapes are made one by one."""

_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,6})?", re.ASCII)
"""Numbers that a Decimal writes as they stand; others go the long way."""


def plain_number(text: str) -> bool:
    """Tell whether a number may fill a slot."""
    return _PLAIN.fullmatch(text) is not None


_FULL = re.compile(r"\d{4}-\d\d-\d\d [01]\d:[0-5]\d:[0-5]\d|\d{4}-\d\d-\d\d 2[0-3]:[0-5]\d:[0-5]\d", re.ASCII)
_EPOCH = date(1970, 1, 1).toordinal()


@lru_cache(maxsize=1 << 16)
def full_time(text: str) -> tuple[bytes, Instant] | None:
    """Return text and instant of a cell that holds a time to the second; None for anything else.

    As `_values.moment`, which is asked wherever the text is not exactly `YYYY-MM-DD HH:MM:SS`.
    """
    try:
        if _FULL.fullmatch(text) and int(text[:4]) in YEARS:
            day = date.fromisoformat(text[:10]).toordinal() - _EPOCH
            clock = int(text[11:13]) * 3600 + int(text[14:16]) * 60 + int(text[17:])
            return f"{text[:10]}T{text[11:]}Z".encode(), day * DAY + clock * SECOND
        found = moment(text)
    except ValueError:
        return None
    return None if found is None or len(found.text) <= 10 else (found.text.encode(), found.start)


@lru_cache(maxsize=1 << 12)
def day_end(at: Instant) -> tuple[bytes, Instant]:
    """Return the last second of a day, as text and as instant."""
    end = end_of_day(at)
    return instant_text(end).encode(), end


def stand_in_number(low: str | None, high: str | None, mark: str | None) -> str | None:
    """Return a number like no other that reads as the results of its shape do: above, below or within both bounds.

    Returns:
        None where there is no such number: between equal bounds.
    """
    if mark == "L":
        return "-543219876543.219876"
    if mark == "H" or low is None or high is None:
        return "543219876543.219876"
    lowest, highest = Decimal(low), Decimal(high)
    if lowest >= highest:
        return None
    return f"{lowest + (highest - lowest) * Decimal('0.543219876543219876'):f}"


class Shelf:
    """The templates of one table, made as shapes turn up.

    Args:
        kind: Resource type.
        slots: What fills each slot: "key" or "whole" (digits), "time" (to the second) or "number" (at most one). The
            first is the key, the last the time at which the resource is known.
        dated: Number of the slot that holds the date.
        encounter: Number of the slot that holds the encounter, if any.
    """

    def __init__(self, kind: str, slots: tuple[str, ...], *, dated: int, encounter: int | None = None) -> None:
        self.ready: dict[Hashable, Slotted] = {}
        """Shape → template."""
        self._kind = kind
        self._slots = slots
        self._dated = dated
        self._encounter = encounter
        self._seen: dict[Hashable, bool] = {}
        self._full = False

    def learn(self, shape: Hashable, make: Make, values: Values, known: Instant, number: str | None = None) -> None:
        """Take note of a resource that goes the long way; make a template of its shape when it is the second.

        Args:
            shape: What its resources share.
            make: Builds the resource from values.
            values: What fills the slots of this one, all but the last.
            known: When it is known.
            number: Stands in for the number of like resources; None where nothing can.
        """
        if shape not in self._seen:
            if len(self._seen) >= TEMPLATES and not self._full:
                # shapes seen once are mostly free text: they must not keep the others from their templates
                self._seen = {one: made for one, made in self._seen.items() if made}
                self._full = len(self._seen) > TEMPLATES * 9 // 10
            if len(self._seen) < TEMPLATES:
                self._seen[shape] = False
            return
        if self._seen[shape] or known >= NEVER:
            return
        self._seen[shape] = True
        template = self._template(make, values, number)
        if template is not None and self._gives_back(template, make, values, known):
            self.ready[shape] = template

    def _template(self, make: Make, values: Values, number: str | None) -> Slotted | None:
        stand_ins: list[str] = []
        for place, slot in enumerate(self._slots):
            if slot == "number" and place < len(values) and values[place] is not None and number is None:
                return None
            time, figure = f"29{place + 10}-01-02T03:04:05Z", f"9{place + 10}8765432198765432"
            stand_ins.append(time if slot == "time" else number if slot == "number" and number else figure)
        filled = [None if value is None else stand_ins[place] for place, value in enumerate(values)]
        body, row, marks = _made(make, filled, parse_instant(stand_ins[-1]))
        places = {stand_in.encode(): place for place, stand_in in enumerate(stand_ins)}
        return Slotted(body, row, places, marks.status, marks.categories, marks.concept)

    def _gives_back(self, template: Slotted, make: Make, values: Values, known: Instant) -> bool:
        """Tell whether the template gives the valid resource that `make` gives: body, row and index entry."""
        body, row, marks = _made(make, values, known)
        slots = (*(b"" if value is None else value.encode() for value in values), instant_text(known).encode())
        encounter = None if self._encounter is None else values[self._encounter]
        time = values[self._dated]
        if time is None:
            return False
        first = parse_instant(time)
        entry = Attributes(
            time, first, first + WIDTH, encounter, template.status, template.categories, template.concept
        )  # fmt: skip
        if (template.body(slots), template.row(slots), entry) != (body, row, marks):
            return False
        plain = load(body)
        return not check(plain) and not check_model(plain)


def _made(make: Make, values: Values, known: Instant) -> tuple[bytes, bytes, Attributes]:
    body = dump(stamp(make(values), known))
    plain = load(body)
    marks = attributes(plain)
    return body, compact_row(plain, marks.time), marks

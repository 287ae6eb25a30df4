"""Laboratory Observations by template: rows that differ only in ids, times and the number share everything else.

Going the long way (dict, JSON, index, every layer of validation) costs far more than filling a template. A template
is made from a resource that went the long way, and is used only if it gives that resource back byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from wardround.patients.packing import Attributes, Form, attributes
from wardround.patients.resource import Resource, dump, instant_text, load, stamp
from wardround.patients.rows import compact_row
from wardround.patients.times import NEVER, SECOND, Instant, parse_instant

from ._values import Moment

UNRANKED = 1 << 30
"""The rank of what has none, as `packing` sorts it."""

_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,6})?", re.ASCII)
"""Numbers that a Decimal writes as they stand; others go the long way."""


class LabEvent(NamedTuple):
    """What differs between results of one shape."""

    event: str
    subject: str
    encounter: str | None
    charted: Moment | None
    stored: Moment | None
    number: str | None
    specimen: str | None
    known: Instant


Make = Callable[[LabEvent], Resource]

_EVENT = "987654321987654321"
_SUBJECT = "876543219876543219"
_ENCOUNTER = "765432198765432198"
_SPECIMEN = "654321987654321987"
_CHARTED = "2999-01-02T03:04:05Z"
_STORED = "2998-01-02T03:04:05Z"
_KNOWN = "2997-01-02T03:04:05Z"
_SLOTS = {
    _EVENT: "event", _SUBJECT: "subject", _ENCOUNTER: "encounter", _SPECIMEN: "specimen", _CHARTED: "charted",
    _STORED: "stored", _KNOWN: "known",
}  # fmt: skip


def stand_in_number(low: str | None, high: str | None, mark: str | None) -> str | None:
    """Return a number like no other that reads as the results of its shape do: above, below or within both bounds.

    Returns:
        None where there is no such number: with one bound only, or equal ones, results may read either way.
    """
    if mark == "L":
        return "-543219876543.219876"
    if mark == "H" or (low is None and high is None):
        return "543219876543.219876"
    if low is None or high is None or Decimal(low) >= Decimal(high):
        return None
    lowest, highest = Decimal(low), Decimal(high)
    return f"{lowest + (highest - lowest) * Decimal('0.543219876543219876'):f}"


def fits(event: LabEvent) -> bool:
    """Tell whether an event may be made by template: full times, a plain number."""
    return (
        event.known < NEVER
        and event.charted is not None
        and len(event.charted.text) > 10
        and (event.stored is None or len(event.stored.text) > 10)
        and (event.number is None or _PLAIN.fullmatch(event.number) is not None)
    )


class Template:
    """Body, row and index entry of one shape, with slots."""

    __slots__ = ("_body", "_marks", "_row")

    def __init__(self, make: Make, event: LabEvent, number: str) -> None:
        """Make a template for events like `event`; `number` stands in for their numbers."""
        stand_in = LabEvent(
            _EVENT,
            _SUBJECT,
            None if event.encounter is None else _ENCOUNTER,
            _moment(_CHARTED),
            None if event.stored is None else _moment(_STORED),
            None if event.number is None else number,
            None if event.specimen is None else _SPECIMEN,
            parse_instant(_KNOWN),
        )
        body, row, self._marks = _made(make, stand_in)
        slots = _SLOTS | {number: "number"}
        self._body, self._row = _slotted(body, slots), _slotted(row, slots)

    def form(self, event: LabEvent) -> Form:
        """Fill the template; `fits(event)` must hold."""
        charted = event.charted
        assert charted is not None
        values = {
            b"event": event.event.encode(),
            b"subject": event.subject.encode(),
            b"encounter": (event.encounter or "").encode(),
            b"charted": charted.text.encode(),
            b"stored": (event.stored.text if event.stored is not None else "").encode(),
            b"number": (event.number or "").encode(),
            b"specimen": (event.specimen or "").encode(),
            b"known": (
                event.stored.text if event.stored is not None and event.stored.known == event.known
                else instant_text(event.known)
            ).encode(),
        }  # fmt: skip
        marks = self._marks
        return Form(
            "Observation",
            f"lab-{event.event}",
            event.known,
            NEVER,
            UNRANKED,
            Attributes(
                charted.text, charted.start, charted.start + SECOND, event.encounter, marks.status, marks.categories,
                marks.concept,
            ),
            self._body % values,
            self._row % values,
        )  # fmt: skip

    def gives_back(self, make: Make, event: LabEvent) -> bool:
        """Tell whether the template gives the resource that `make` gives: body, row and index entry."""
        body, row, marks = _made(make, event)
        form = self.form(event)
        return (form.body, form.row, form.attributes) == (body, row, marks)


def _made(make: Make, event: LabEvent) -> tuple[bytes, bytes, Attributes]:
    body = dump(stamp(make(event), event.known))
    plain = load(body)
    marks = attributes(plain)
    return body, compact_row(plain, marks.time), marks


def _slotted(text: bytes, slots: dict[str, str]) -> bytes:
    any_slot = re.compile("|".join(map(re.escape, slots)).encode())
    return any_slot.sub(lambda match: b"%%(%b)b" % slots[match[0].decode()].encode(), text.replace(b"%", b"%%"))


def _moment(text: str) -> Moment:
    start = parse_instant(text)
    return Moment(text, start, start)

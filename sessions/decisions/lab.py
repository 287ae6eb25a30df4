"""Decisions on a lab or vital sign alone (`knowledge.decisions()`): is a step called for, or none?"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from wardround.patients import Stream, knowledge
from wardround.patients.knowledge import DecisionTable
from wardround.sessions.moves.decide_lab import decide_lab, step_writes
from wardround.sessions.moves.labs import look_up
from wardround.sessions.moves.move import Case, Move
from wardround.sessions.record import Reading

from .charted import adult, fresh, latest
from .decision import Decision, DecisionKind, Hinge
from .owned import owned
from .tables import band_of, charted_as, decide, other_values, tables, worth_asking

KIND_ID: Final = "lab"
_SUBJECTS: Final = ("lab", "vital")
PAIRED: Final = knowledge.PRESSURE_PARTS
"""Charted as a pair in one Observation, which no edit of one number changes: never what a session hinges on."""
NO_HINGE: Final = Hinge(kind="quantity", keys=(), to="")
"""No change of one number gives another answer for certain: such a decision is never what a session is about."""


def decisions(case: Case) -> tuple[Decision, ...]:
    """Return every decision on one lab or vital sign that the record allows, in a fixed order."""
    return case.memo("decisions.lab", _decisions)


def _decisions(case: Case) -> tuple[Decision, ...]:
    if not adult(case):
        return ()
    made = (_decision(case, table) for kind in _SUBJECTS for table in tables(case, kind))
    return tuple(one for one in made if one is not None)


def _decision(case: Case, table: DecisionTable) -> Decision | None:
    reading = latest(case, table.subject)
    if reading is None or not fresh(case, reading, table.fresh_hours) or not _asked(case, table, reading):
        return None
    value = knowledge.convert(reading.value, reading.unit, table.unit, table.subject)
    band = None if value is None else band_of(case, table, value)
    if band is None or owned(case, band.id) or not (band.indicated or worth_asking(case, table, reading)):
        return None
    for other in other_values(case, table, band):
        hinge = _hinge(case, table, reading, other)
        if hinge is not None:
            return decide(case, KIND_ID, table, band, reading, hinge)
    return decide(case, KIND_ID, table, band, reading, NO_HINGE)


def _asked(case: Case, table: DecisionTable, reading: Reading) -> bool:
    """Tell whether the course of the stay leaves the question open: a marker that was followed is not asked about."""
    return table.most_values is None or len(case.view.series.get(reading.lab, ())) <= table.most_values


def _hinge(case: Case, table: DecisionTable, reading: Reading, value: Decimal) -> Hinge | None:
    """Return the edit that puts the value into another band; None where the chart could not hold it like that."""
    text = charted_as(reading, value, table.unit)
    if text is None:
        return None
    back = knowledge.convert(Decimal(text), reading.unit, table.unit, table.subject)
    turned = None if back is None else band_of(case, table, back)
    if turned is None or turned.indicated != (band_of(case, table, value) or turned).indicated:
        return None
    return Hinge(kind="quantity", keys=() if reading.lab in PAIRED else reading.keys, to=text)


def threads(case: Case, stream: Stream) -> Iterator[Decision]:
    """Yield the decisions in drawn order, those that call for a step first."""
    yield from sorted(stream.shuffled(decisions(case)), key=lambda one: one.unchanged)


def openings(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the turn that looks up the value."""
    reading = decision.reading
    assert reading is not None
    move = look_up(case, reading) if decision.hinge.keys else None
    if move is not None:
        yield move


def asks(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield nothing: no word of the patient turns a value."""
    yield from ()


def decides(case: Case, decision: Decision, mixed: bool) -> Iterator[Move]:
    """Yield the turn that asks whether the step is called for."""
    if not mixed:
        yield decide_lab(case, decision)


def writes(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the writes that carry it out."""
    yield from step_writes(case, decision)


KIND: Final = DecisionKind(KIND_ID, threads, openings, asks, decides, writes)

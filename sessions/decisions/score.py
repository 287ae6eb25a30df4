"""Decisions on a clinical score (`knowledge.decisions()`): is a step called for at this total, or none?"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from wardround.patients import Stream, knowledge
from wardround.patients.knowledge import DecisionBand, DecisionTable
from wardround.sessions.moves.labs import look_up
from wardround.sessions.moves.move import Case, Move
from wardround.sessions.moves.score_gather import Gathered, gathered, with_value
from wardround.sessions.moves.scores import decide_score, step_writes
from wardround.sessions.record import plain

from .decision import Decision, DecisionKind, Hinge
from .lab import NO_HINGE, PAIRED
from .tables import band_of, decide, tables, worth_asking

KIND_ID: Final = "score"
_FACTORS: Final = tuple(Decimal(one) for one in ("0.8", "1.25", "0.6", "1.6", "0.4", "2.5", "0.2", "5"))
"""By which a value is changed in search of another answer, the smallest change first."""


def decisions(case: Case) -> tuple[Decision, ...]:
    """Return every decision on a clinical score that the record allows, in a fixed order."""
    return case.memo("decisions.score", _decisions)


def _decisions(case: Case) -> tuple[Decision, ...]:
    made = []
    for table in tables(case, "score"):
        found = gathered(case).get(table.subject)
        band = None if found is None else band_of(case, table, found.total)
        if (
            found is None
            or band is None
            or not (band.indicated or (_sure(case, table, found) and worth_asking(case, table, None)))
        ):
            continue
        name, hinge = _hinge(case, table, band, found)
        reading = found.readings.get(name)
        decision = decide(case, KIND_ID, table, band, reading, hinge)
        if decision is not None:
            decision.extra["gathered"] = found
            made.append(decision)
    return tuple(made)


def _sure(case: Case, table: DecisionTable, found: Gathered) -> bool:
    """Tell whether the step is not called for whatever the missing components are."""
    parts = knowledge.score_of(found.use.id).by_component()
    worst = found.total + sum(
        (parts[one].values()[-1] - parts[one].least for one in found.result.missing if one in parts), Decimal(0)
    )
    if worst == found.total:
        return True
    return not any(
        one.indicated and one.sex in {None, case.view.sex} and one.holds(worst, closed=True) for one in table.bands
    )


def _hinge(case: Case, table: DecisionTable, band: DecisionBand, found: Gathered) -> tuple[str, Hinge]:
    """Return the input, and a value of it, with which the other answer would be right."""
    for factor in _FACTORS:
        for name, reading in found.readings.items():
            if reading.lab in PAIRED:
                continue
            value = round(reading.value * factor, len(reading.text.partition(".")[2]))
            other = with_value(found, name, value)
            turned = None if other is None else band_of(case, table, other.total)
            if turned is not None and turned.indicated != band.indicated:
                return name, Hinge(kind="quantity", keys=reading.keys, to=plain(value))
    return next(iter(found.readings), ""), NO_HINGE


def threads(case: Case, stream: Stream) -> Iterator[Decision]:
    """Yield the decisions in drawn order, those that call for a step first."""
    yield from sorted(stream.shuffled(decisions(case)), key=lambda one: one.unchanged)


def openings(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the turn that looks up the value which the decision hinges on."""
    reading = decision.reading
    move = None if reading is None or not decision.hinge.keys else look_up(case, reading)
    if move is not None:
        yield move


def asks(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield nothing: no word of the patient turns a score."""
    yield from ()


def decides(case: Case, decision: Decision, mixed: bool) -> Iterator[Move]:
    """Yield the turn that asks what the score calls for."""
    if not mixed:
        yield from decide_score(case, decision)


def writes(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the writes that carry it out."""
    yield from step_writes(case, decision)


KIND: Final = DecisionKind(KIND_ID, threads, openings, asks, decides, writes)

"""How the turns of a plan depend on each other: the turn whose gold changes when an earlier turn's result does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from wardround.patients import Measurement, knowledge, measurements
from wardround.sessions.decisions.decision import Decision, Hinge
from wardround.sessions.decisions.lab import NO_HINGE
from wardround.sessions.moves.move import Case, Move
from wardround.sessions.moves.score_gather import gathered, with_value
from wardround.sessions.moves.trends import trends
from wardround.sessions.record import Reading, plain

_ORDER = {"CR": 0, "DG": 1, "WU": 2}
_FACTORS: Final = tuple(Decimal(one) for one in ("1.25", "0.8", "1.6", "0.6"))
"""By which a value is changed in search of another total, the smallest change first."""
_FURTHER: Final = Decimal("1.2")
"""How much further a series is taken."""


@dataclass(frozen=True)
class Chain:
    """One dependence, as a counterfactual edit of the chart can show it."""

    turn: int
    """The turn whose gold changes."""
    on: int
    """The earlier turn whose result is changed."""
    hinge: Hinge
    """What to change, and to what."""
    by: Literal["decision", "branch", "score", "trend", "order", "threshold"]


def chain_of(case: Case, moves: tuple[Move, ...], decisions: Sequence[Decision]) -> Chain | None:
    """Return the dependence of a plan that is told in its labels; None where its turns do not depend on each other.

    Args:
        case: The patient.
        moves: The four turns.
        decisions: Of the case; a score that is gathered rests on the hinge of its own.
    """
    found = list(_all_chains(case, moves, decisions))
    return min(found, key=lambda one: (_ORDER[moves[one.turn].task], -one.turn, one.on), default=None)


def hangs_together(case: Case, moves: tuple[Move, ...], decisions: Sequence[Decision]) -> bool:
    """Tell whether a plan's turns depend on each other, that is `chain_of` finds how."""
    return next(_all_chains(case, moves, decisions), None) is not None


def _all_chains(case: Case, moves: tuple[Move, ...], decisions: Sequence[Decision]) -> Iterator[Chain]:
    for turn in range(1, len(moves)):
        yield from _chains(case, moves, turn, decisions)


def _chains(case: Case, moves: tuple[Move, ...], turn: int, decisions: Sequence[Decision]) -> Iterator[Chain]:
    move = moves[turn]
    if move.branch is not None:
        for on in range(turn):
            if move.branch.on in moves[on].labs:
                hinge = flipped(case, move)
                if hinge is not None and set(hinge.keys) <= moves[on].keys:
                    yield Chain(turn, on, hinge, "branch")
    if move.task in {"CR", "WU"} and move.decision is not None:
        yield from _resting(moves, turn, move.decision.hinge, "decision")
    if move.kind == "prescribe_if":
        yield from _resting(moves, turn, _other_dose(case, move), "threshold")
    if move.task == "DG":
        yield from _gathering(case, moves, turn, decisions)


def _gathering(case: Case, moves: tuple[Move, ...], turn: int, decisions: Sequence[Decision]) -> Iterator[Chain]:
    """Yield what a turn that gathers rests on of earlier ones: a value of a score or a series, or an order."""
    move = moves[turn]
    if move.score is not None:
        mine = [one.hinge for one in decisions if one.kind == "score" and one.subject == move.score]
        for hinge in (*mine, *_other_totals(case, move.score)):
            yield from _resting(moves, turn, hinge, "score")
    if move.kind == "trend" and "lab" in move.slots:
        yield from _resting(moves, turn, _other_end(case, move.slots["lab"].id), "trend")
    if move.conflict:
        yield from _same_order(case, moves, turn)


def _other_totals(case: Case, score: str) -> tuple[Hinge, ...]:
    """Return the edits, one an input, with which a score would have another total; worked out once."""
    return case.memo(f"planning.chain.totals.{score}", lambda case: tuple(_totals(case, score)))


def _totals(case: Case, score: str) -> Iterator[Hinge]:
    found = gathered(case).get(score)
    if found is None:
        return
    for name, reading in found.readings.items():
        if reading.lab in knowledge.PRESSURE_PARTS:
            continue  # charted as a pair in one Observation, which no edit of one number changes
        for factor in _FACTORS:
            value = round(reading.value * factor, len(reading.text.partition(".")[2]))
            other = with_value(found, name, value)
            if other is not None and other.total != found.total:
                yield Hinge(kind="quantity", keys=reading.keys, to=plain(value))
                break


def _other_end(case: Case, lab: str) -> Hinge:
    """Return the edit with which a series would go on as it went, to another end; none where it did not go anywhere."""
    trend = trends(case).get(lab)
    if trend is None or trend.direction == "stable":
        return NO_HINGE
    last = trend.last
    value = last.value * (_FURTHER if trend.direction == "rising" else 2 - _FURTHER)
    return Hinge(kind="quantity", keys=last.keys, to=plain(round(value, len(last.text.partition(".")[2]))))


def _other_dose(case: Case, move: Move) -> Hinge:
    """Return the edit with which the other dose of an order by a threshold would be right."""
    reading, bound = case.view.latest[move.labs[0]], Decimal(move.words["bound"].en)
    to = bound * 2 if reading.value < bound else bound / 2
    return Hinge(kind="quantity", keys=reading.keys, to=plain(to))


def _same_order(case: Case, moves: tuple[Move, ...], turn: int) -> Iterator[Chain]:
    """Yield the dependence of a turn that sets an order, which an earlier turn looked up, against something else."""
    for order in case.view.orders.values():
        for on in range(turn):
            if order.key in moves[turn].keys & moves[on].keys and order.amount is not None:
                yield Chain(turn, on, Hinge(kind="quantity", keys=(order.key,), to=plain(order.amount * 2)), "order")


def _resting(
    moves: tuple[Move, ...], turn: int, hinge: Hinge, by: Literal["decision", "score", "threshold", "trend"]
) -> Iterator[Chain]:
    for on in range(turn):
        if set(hinge.keys) & moves[on].keys:
            yield Chain(turn, on, hinge, by)
            return


def flipped(case: Case, move: Move) -> Hinge | None:
    """Return the edit that makes an adaptive turn go the other way; None where the chart's range gives none.

    Args:
        case: The patient.
        move: An adaptive move.
    """
    branch = move.branch
    assert branch is not None
    reading = case.view.latest.get(branch.on)
    if reading is None:
        return None
    if branch.test in {"rising", "falling"}:
        return _turned_back(case, reading, rising=(branch.test == "rising") != branch.held)
    measured = next((one for one in _measured(case, reading.keys[0]) if one.concept == branch.on), None)
    value = None if measured is None else _other_side(measured, branch.test, branch.held)
    return None if value is None else Hinge(kind="quantity", keys=reading.keys, to=value)


def _turned_back(case: Case, reading: Reading, *, rising: bool) -> Hinge | None:
    """Return a latest value that lies clearly on the other side of all that came before it in the stay."""
    before = [one.value for one in case.view.series.get(reading.lab, ()) if one.at < reading.at]
    if not before:
        return None
    value = max(before) * Decimal("1.3") + Decimal("0.1") if rising else min(before) * Decimal("0.7")
    places = len(reading.text.partition(".")[2])
    return Hinge(kind="quantity", keys=reading.keys, to=plain(round(value, places)))


def _measured(case: Case, key: str) -> tuple[Measurement, ...]:
    entry = case.snapshot.read(*key.split("/", 1))
    return () if entry is None else measurements(entry.resource())


def _other_side(measured: Measurement, test: str, held: bool) -> str | None:
    """Return a value for which a test against the chart's own range comes out the other way."""
    low, high = measured.low, measured.high
    if held:
        inside = [bound for bound in (low, high) if bound is not None]
        return plain(sum(inside, Decimal(0)) / len(inside)) if inside else None
    if test in {"high", "abnormal"} and high is not None:
        return plain(high * Decimal("1.3") + Decimal("0.1"))
    if test in {"low", "abnormal"} and low is not None and low > 0:
        return plain(low * Decimal("0.7"))
    return None

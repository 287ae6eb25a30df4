"""The dangers of a stay that a round does not pass over (data/dangers.json), and whether the turns take one up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import knowledge, load_data
from wardround.sessions.decisions.charted import fresh, has, latest, takes
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.decisions.owned import Moved, has_moved
from wardround.sessions.moves.move import Case, Move


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Bound(_Frozen):
    """A latest value that is out of bounds."""

    of: str
    unit: str
    at_least: Decimal | None = None
    below: Decimal | None = None


class Danger(_Frozen):
    """Something that one acts on today; everything that it names must be there."""

    id: str
    all: tuple[Bound, ...] = ()
    moved: Moved | None = None
    drugs: tuple[str, ...] = ()
    """One of these drugs or classes is ordered; empty: any patient."""
    conditions: tuple[str, ...] = ()
    """One of these is active; empty: any patient."""
    hours: int = Field(ge=1)
    """Older values are no danger of today."""
    taken_up: tuple[str, ...] = Field(min_length=1)
    """Labs and vital signs by which a turn takes it up."""
    decisions: tuple[str, ...] = ()
    """Kinds of decisions that take it up."""
    source: str


class _File(_Frozen):
    format_version: Literal[1]
    about: str
    dangers: tuple[Danger, ...]


@lru_cache(maxsize=1)
def danger_rules() -> tuple[Danger, ...]:
    """Return the dangers that are known.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.sessions", "data/dangers.json", _File).dangers


def dangers(case: Case) -> tuple[Danger, ...]:
    """Return the dangers of a patient at the anchor; worked out once."""
    return case.memo("planning.dangers", lambda case: tuple(one for one in danger_rules() if _there(case, one)))


def _there(case: Case, danger: Danger) -> bool:
    if (danger.drugs and not takes(case, danger.drugs)) or (danger.conditions and not has(case, danger.conditions)):
        return False
    if danger.moved is not None:
        reading = latest(case, danger.moved.of)
        if reading is None or not fresh(case, reading, danger.hours) or not has_moved(case, danger.moved):
            return False
    return all(_beyond(case, bound, danger.hours) for bound in danger.all)


def _beyond(case: Case, bound: Bound, hours: int) -> bool:
    reading = latest(case, bound.of)
    if reading is None or not fresh(case, reading, hours):
        return False
    value = knowledge.convert(reading.value, reading.unit, bound.unit, bound.of)
    if value is None:
        return False
    return (bound.at_least is None or value >= bound.at_least) and (bound.below is None or value < bound.below)


def decides_danger(case: Case, decision: Decision) -> bool:
    """Tell whether a decision is about a danger of the patient."""
    reading = decision.reading
    return any(
        decision.kind in one.decisions or (reading is not None and reading.lab in one.taken_up) for one in dangers(case)
    )


def takes_up(case: Case, move: Move) -> bool:
    """Tell whether a turn takes up a danger of the patient: it asks for the value, or decides about it."""
    if any(set(one.taken_up).intersection(_measured(move)) for one in dangers(case)):
        return True
    return move.decision is not None and decides_danger(case, move.decision)


def passed_over(case: Case, moves: Iterable[Move]) -> bool:
    """Tell whether the patient is in danger and no turn of a session takes that up."""
    return bool(dangers(case)) and not any(takes_up(case, move) for move in moves)


def _measured(move: Move) -> Iterator[str]:
    yield from move.labs
    if move.branch is not None:
        yield move.branch.on

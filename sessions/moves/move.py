"""The contract of a turn before it is worded: what it asks, which calls get it, what is right, how it is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, Concatenate, Final, Literal, ParamSpec, TypeVar

from wardround.patients import Fact, Instant, Interview, Snapshot, Stream
from wardround.patients.knowledge import Names
from wardround.rubrics import Item, Text
from wardround.sessions.common import Common
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.record import RecordView
from wardround.sessions.session import Branch, GoldCall

SESSION: Final = "@session"
"""Stands for the session's id in the arguments of gold calls until the session is assembled."""

WHOLE: Final = "whole"
"""Slot of `Move.words`: what a step is called in full, where the words leave out what it is done to."""

Task = Literal["IL", "DG", "CR", "WU"]
Source = Literal["ehr", "patient", "mixed", "write"]
Need = Literal["trend", "formula", "threshold", "multi"]
"""What a turn needs beyond single values: a series, a computed score, a drug–lab bound, several drugs or systems."""
EntityKind = Literal[
    "lab", "vital", "drug", "problem", "study", "culture", "score", "symptom", "step", "service", "plan", "note"
]
T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Entity:
    """Something a query names, which a later query may refer back to."""

    kind: EntityKind
    id: str
    """Concept id of the knowledge base where it has one."""
    names: Names
    """What the physician calls it in this session, in both languages."""
    number: Literal["one", "many"] = "one"
    key: str = field(init=False, compare=False, repr=False)
    """Kind and id, as in "drug:warfarin": what an antecedent names. Asked for so often that it is put together once."""

    def __post_init__(self) -> None:
        """Put the key together."""
        object.__setattr__(self, "key", f"{self.kind}:{self.id}")


@dataclass(frozen=True)
class Case:
    """One patient at one anchor, as every move and decision sees it."""

    snapshot: Snapshot
    encounter: str
    anchor: Instant
    view: RecordView
    interview: Interview
    common: Common
    scenario: str
    """Id of the scenario the session is for."""
    flawed: frozenset[str] = frozenset()
    """Keys of resources that are known to be charted wrongly: no answer may rest on them."""
    casual: Mapping[str, Names] = field(default_factory=dict)
    """Concept id → what the physician calls it in this session, where it is not its usual name."""
    _memo: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def memo(self, key: str, make: Callable[[Case], T]) -> T:
        """Return what `make` makes of this case, made once; `key` is the module's and function's own name."""
        if key not in self._memo:
            self._memo[key] = make(self)
        found: T = self._memo[key]
        return found


@dataclass(frozen=True)
class Move:
    """One turn before it is worded."""

    kind: str
    """Key of its phrases."""
    task: Task
    source: Source
    topic: str
    """What it asks about; no two moves of a session share one."""
    calls: tuple[GoldCall, ...]
    """In order, without `prepare_to_answer`; the session's id is written as `SESSION`."""
    answer: Text
    rubric: tuple[Item, ...]
    slots: Mapping[str, Entity] = field(default_factory=dict)
    """What its phrases name, by slot."""
    words: Mapping[str, Names] = field(default_factory=dict)
    """Other words that its phrases hold (dose, priority …), by slot."""
    keys: frozenset[str] = frozenset()
    """Resources and facts ("fact/…") that the answer rests on."""
    labs: tuple[str, ...] = ()
    """Labs and vitals whose value is asked for; counted so that none stands in too many turns."""
    needs: frozenset[Need] = frozenset()
    decision: Decision | None = None
    fact: Fact | None = None
    """What the patient is asked."""
    bears: frozenset[str] = frozenset()
    """Keys of what earlier turns asked about and this one's question turns on, beside what its rubric is about; "given
    all this" stands for nothing else. The planner fills it."""
    turned: bool = False
    """The patient's words change what would be right by the chart alone."""
    conflict: str = ""
    """The conflict or the two competing rules that one item asks to name; "" for none."""
    branch: Branch | None = None
    """Adaptive: the second call follows from the first result."""
    score: str | None = None
    """Id of the clinical score it computes."""
    opening: bool = False
    """May stand at turn 0 as well as later."""

    @cached_property
    def types(self) -> frozenset[str]:
        """Resource types that its calls read."""
        return frozenset(call.tool.split(".")[0] for call in self.calls if call.tool.endswith((".search", ".read")))


def kept(make: Callable[Concatenate[Case, P], T]) -> Callable[Concatenate[Case, P], T]:
    """Let a function of a case and of parts of its record or interview make each move, or part of one, once a case.

    Parts are told apart by identity and kept with the move, so that none is taken for another.
    """
    name = f"moves.{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def once(case: Case, /, *parts: P.args, **named: P.kwargs) -> T:
        moves: dict[tuple[int, ...], tuple[tuple[object, ...], T]]
        moves = case.memo(name, lambda case: {})
        every = (*parts, *named.values())
        key = tuple(map(id, every))
        if key not in moves:
            moves[key] = every, make(case, *parts, **named)
        return moves[key][1]

    return once


@dataclass(frozen=True)
class Focus:
    """What a session is about: the decision it leads to, and what was used so far."""

    decision: Decision
    busy: frozenset[str]
    """Topics and labs of the moves already chosen; a new move must not share one with them."""
    drugs: frozenset[str] = frozenset()
    """Drugs that other turns are about as well: they come right after the decision's own."""


Offer = Callable[[Case, Focus, Stream], Iterator[Move]]
"""Yields the moves of one kind that the record allows, those nearest to the focus first."""


@dataclass(frozen=True)
class MoveKind:
    """A kind of turn, in the table the planner draws from."""

    kind: str
    task: Task
    source: Source
    offer: Offer
    scenarios: frozenset[str] = frozenset()
    """Scenarios it fits; empty for all."""

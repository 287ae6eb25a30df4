"""The contract of a decision: what is right to do, by which rule, resting on what, and what would turn it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from wardround.patients import Fact, Stream
from wardround.patients.knowledge import Names
from wardround.rubrics import Act

if TYPE_CHECKING:
    from wardround.sessions.moves.move import Case, Move
    from wardround.sessions.record import Order, Reading


@dataclass(frozen=True)
class Hinge:
    """The one thing that the decision turns on, and a value with which another act would be right."""

    kind: Literal["quantity", "susceptibility", "state"]
    """A number of an Observation; S/I/R of a culture; the state of an interview fact."""
    keys: tuple[str, ...]
    """The resources that hold it ("Observation/…"), or the fact ("fact/…")."""
    to: str
    """What to change it to."""


@dataclass(frozen=True)
class Decision:
    """What is right to do for one patient, and why."""

    kind: str
    """Key of its `DecisionKind`: drug_lab, lab, score, culture, course, side_effect, home."""
    rules: tuple[str, ...]
    """Ids of the knowledge base's rules that it comes from."""
    subject: str
    """What it is about, for coverage: pair, lab or score id."""
    act: str
    """What is right ("continue", "hold", "start" …); "continue" also where nothing is to be done."""
    unchanged: bool
    """Right is to change nothing."""
    accepted: tuple[tuple[Act, str], ...]
    """(act, target name) that count as this advice; any one of them."""
    avoid: tuple[Act, str]
    """(act, target name) that would be dangerous instead."""
    finding: Names
    """What the value means, in words."""
    advice: Names
    """What to do, as one sentence without full stop."""
    hinge: Hinge
    reading: Reading | None = None
    order: Order | None = None
    fact: Fact | None = None
    turned: bool = False
    """The patient's words changed what the chart alone would say."""
    severity: int = 0
    """0 none, 1 adjust, 2 stop or act at once; a decision stands only where no graver one of its target is ignored."""
    extra: dict[str, object] = field(default_factory=dict, compare=False)
    """What its own module needs to make its moves."""


@dataclass(frozen=True)
class DecisionKind:
    """A kind of decision, in the table the planner draws from."""

    kind: str
    threads: Callable[[Case, Stream], Iterator[Decision]]
    """The decisions that the record and the interview allow; the patient's words already weighed (`turned`)."""
    openings: Callable[[Case, Decision], Iterator[Move]]
    """IL moves for turn 0 that look up what the decision hinges on."""
    asks: Callable[[Case, Decision], Iterator[Move]]
    """IL (patient) and DG (mixed) moves that bring what the patient says about it; none if it rests on no fact."""
    decides: Callable[[Case, Decision, bool], Iterator[Move]]
    """CR moves; True: the patient is asked in this very turn (source mixed)."""
    writes: Callable[[Case, Decision], Iterator[Move]]
    """WU moves that carry it out."""

"""The plan of a session: which decision it is about, and which four moves lead to it.

Turn 0 looks up what the thread hinges on; one turn asks the patient; the last turn that reasons decides the thread, and
an order at the end carries out what was decided. A plan is found by trying moves in the order that the set needs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from wardround.patients import Stream
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.moves.labs import latest_lab
from wardround.sessions.moves.move import Case, Focus, Move
from wardround.sessions.moves.score_gather import computable

from .chain import Chain, chain_of
from .evidence import lacks
from .kinship import FAR, NEAR, distance, of_the_stay, scores_near
from .quota import Quota
from .registry import decision_kinds, move_kinds
from .scenarios import Arc, Scenario, Tier
from .turning import conflicts, turns

_INTERVIEW: Final = frozenset({"patient", "mixed"})
_PLAIN: Final = frozenset({"trend", "formula", "multi"})
"""Needs that a sparse session never has."""
_THREADS: Final = 5
"""Threads tried for one cell."""
_OPENINGS: Final = 2
"""Openings tried for one thread."""
_OFFERED: Final = 3
"""Moves taken of what one kind offers."""
_ASKED: Final = 10
"""Moves looked at of what a kind offers that asks the patient."""
_WIDTH: Final = 14
"""Moves tried for one turn, those that ask the patient and those that do not counted apart."""
_OTHERS: Final = 8
"""Decisions other than the thread that a session may ask for as well."""
_NODES: Final = 800
"""Moves weighed for one opening before it is given up."""
_HEARING: Final = frozenset({"dose_adherence"})
"""Kinds of turns that set what the patient takes beside what is ordered."""
_TYPES_LEAST: Final[dict[Tier, int]] = {"sparse": 2, "moderate": 2, "rich": 3}


@dataclass(frozen=True)
class Plan:
    """Four moves that belong together."""

    case: Case
    scenario: Scenario
    tier: Tier
    arc: Arc
    moves: tuple[Move, ...]
    thread: Decision
    chain: Chain
    """Which turn's gold changes with which earlier turn's result."""


def decisions_of(case: Case, scenario: Scenario) -> tuple[Decision, ...]:
    """Return every decision that the record and the patient allow, of the scenario's kinds; worked out once a case."""

    def make(case: Case) -> tuple[Decision, ...]:
        stream = Stream("decisions", case.view.patient, case.encounter, case.anchor)
        kinds = dict.fromkeys((*scenario.threads, *scenario.decisions))
        table = decision_kinds()
        return tuple(one for kind in kinds if kind in table for one in table[kind].threads(case, stream))

    return case.memo("planning.decisions", make)


def may_conflict(case: Case, scenario: Scenario) -> bool:
    """Tell whether anything in a case pulls two ways, without which no session of it is rich; worked out once."""

    def make(case: Case) -> bool:
        facts = case.interview.facts
        if any(fact.kind == "adherence" and fact.state not in {None, "taking"} for fact in facts):
            return True
        reasons = (move for decision in decisions_of(case, scenario) for move in reasons_of(case, decision))
        return any(move.conflict or any(True for _ in conflicts(case, move)) for move in reasons)

    return case.memo("planning.conflict", make)


def plans(case: Case, scenario: Scenario, tier: Tier, arc: Arc, stream: Stream, quota: Quota) -> Iterator[Plan]:
    """Yield the plans of a cell that a case allows, those that the set needs most first; at most one a thread.

    Args:
        case: Made for this scenario.
        scenario: Which threads and moves fit.
        tier: What the turns must hold.
        arc: The tasks of the four turns.
        stream: Breaks ties.
        quota: What the set has used so far; read only.
    """
    if case.view.sex not in {"female", "male"} or lacks(scenario, tier, case):
        return
    scored = tier != "sparse" and bool({"DG", "CR"} & set(arc))
    for thread in _threads(case, scenario, scored, stream, quota):
        for opening in (*_thresholds(case, arc), *openings_of(case, thread)):
            plan = _Search(case, scenario, tier, arc, thread, opening, stream, quota).run()
            if plan is not None:
                yield plan
                break


def _thresholds(case: Case, arc: Arc) -> tuple[Move, ...]:
    """Return the opening for an arc that ends in an order without advice: the value by which its dose is chosen."""
    reading = case.view.latest.get("egfr")
    return () if reading is None or arc[-1] != "WU" or "CR" in arc else (latest_lab(case, reading),)


def _threads(case: Case, scenario: Scenario, scored: bool, stream: Stream, quota: Quota) -> list[Decision]:
    """Return what a session may be about, what the set needs most first.

    Where a score is to be worked out (`scored`), threads that one of the patient's scores belongs to come first.
    """
    scores = computable(case) if scored else ()
    found = stream.shuffled([one for one in decisions_of(case, scenario) if one.kind in scenario.threads])
    place = {kind: number for number, kind in enumerate(scenario.threads)}
    found.sort(
        key=lambda one: (
            quota.decision_cost(scenario.id, one.subject, one.unchanged)
            + 15 * place[one.kind]
            - (_OF_THE_STAY if of_the_stay(case, one) else 0)
            - (_SCORED if scores and scores_near(case, one, scores) else 0)
            - (25 if one.turned and quota.wants_turned() else 0)
        )
    )
    return found[:_THREADS]


_LINKED: Final = 20
"""What a turn is preferred by that comes back to what the session is about."""
_OF_THE_STAY: Final = 40
"""What a thread is preferred by that belongs to what the patient is here for."""
_SCORED: Final = 40
"""What a thread is preferred by that a score belongs to, where one must be worked out."""
_AWAY: Final = {NEAR: 0, NEAR + 1: 15, FAR: 70}
"""What speaks against a turn, by how far it is from what the session is about."""
_FAR_MOST: Final = 1
"""Turns of a session that may be about something else; where a score must be worked out, it is not counted."""


@dataclass(frozen=True)
class _Choice:
    """A move that may be taken, and what speaks against it."""

    move: Move
    cost: int
    types: frozenset[str]
    asks: bool


class _Search:
    """One try to lead four turns from an opening to a thread."""

    def __init__(
        self,
        case: Case,
        scenario: Scenario,
        tier: Tier,
        arc: Arc,
        thread: Decision,
        opening: Move,
        stream: Stream,
        quota: Quota,
    ) -> None:
        self.case, self.scenario, self.tier, self.arc = case, scenario, tier, arc
        self.thread, self.opening, self.stream, self.quota = thread, opening, stream, quota
        self.nodes = 0
        named = {entity.key for entity in opening.slots.values()}
        self.about = named | ({f"drug:{thread.order.drug}"} if thread.order is not None else set())
        """Keys of what the session is about: turns that come back to it hang together and can leave it out."""
        reasons = [turn for turn, task in enumerate(arc) if task == "CR"]
        self.decided = reasons[-1] if reasons else None
        """The turn that decides the thread."""
        # no turn holds both the conflict of a rich session and a score, nor, without advice, what the turns hinge on
        least = 1 if tier != "rich" else 2 if "CR" in arc else 3
        room = sum(task in {"DG", "CR"} for task in arc) >= least
        self.wants_score = tier != "sparse" and room and bool(computable(case))
        self.pools: list[list[_Choice]] = []

    def run(self) -> Plan | None:
        """Return a plan; None where none was found."""
        made: dict[tuple[str, bool], list[_Choice]] = {}
        for turn in range(1, len(self.arc)):
            key = (self.arc[turn], turn == self.decided)
            if key not in made:
                made[key] = self._pool(*key)
            if not made[key]:
                return None
            self.pools.append(made[key])
        if not self._can_be():
            return None
        moves = self._turned() or self._deeper((self.opening,))
        if moves is None:
            return None
        chain = chain_of(self.case, moves, decisions_of(self.case, self.scenario))
        assert chain is not None
        return Plan(self.case, self.scenario, self.tier, self.arc, moves, self.thread, chain)

    def _turned(self) -> tuple[Move, ...] | None:
        """Return four moves in which the patient's words turn the answer, where the set wants that and they can."""
        pools = self.pools
        if not self.quota.wants_turned() or not any(one.asks and turns(one.move) for pool in pools for one in pool):
            return None
        self.pools = [[one for one in pool if not one.asks or turns(one.move)] for pool in pools]
        moves = self._deeper((self.opening,))
        self.pools, self.nodes = pools, 0
        return moves

    def _can_be(self) -> bool:
        """Tell whether the moves there are could meet what a whole session must hold, before they are put together."""
        choices = [choice for pool in self.pools for choice in pool]
        if not any(choice.asks for choice in choices):
            return False
        if self.tier == "rich" and not any(choice.move.conflict for choice in choices):
            return False
        return not self.wants_score or any(choice.move.score is not None for choice in choices)

    def _deeper(self, chosen: tuple[Move, ...]) -> tuple[Move, ...] | None:
        """Add the turns that are missing, best first; None where no move fits."""
        turn = len(chosen)
        if turn == len(self.arc):
            return chosen if self._whole(chosen) else None
        asked = any(move.source in _INTERVIEW for move in chosen)
        last_to_ask = not asked and not any(task != "WU" for task in self.arc[turn + 1 :])
        for choice in self._ordered(turn, chosen):
            if (choice.asks and asked) or (last_to_ask and not choice.asks):
                continue
            self.nodes += 1
            if self.nodes > _NODES:
                return None
            if not self._fits(chosen, choice.move) or not self._still_rich(turn, chosen, choice):
                continue
            found = self._deeper((*chosen, choice.move))
            if found is not None:
                return found
        return None

    def _still_rich(self, turn: int, chosen: tuple[Move, ...], choice: _Choice) -> bool:
        """Tell whether a last turn brings what the session still lacks; earlier ones may."""
        if turn + 1 < len(self.arc):
            return True
        if self.wants_score and choice.move.score is None and not any(move.score is not None for move in chosen[1:]):
            return False
        if self.tier == "rich" and not choice.move.conflict and not any(move.conflict for move in chosen):
            return False
        read = choice.types.union(*(move.types for move in chosen))
        return len(read) >= _TYPES_LEAST[self.tier]

    # -- which moves ---------------------------------------------------------------------------------------------------

    def _ordered(self, turn: int, chosen: tuple[Move, ...]) -> list[_Choice]:
        """Return the moves to try at a turn; a type that two turns have read already comes later."""
        read = [kind for move in chosen for kind in move.types]
        often = {kind for kind in read if read.count(kind) >= 2}
        if not often:
            return self.pools[turn - 1]
        return sorted(self.pools[turn - 1], key=lambda choice: choice.cost + 20 * len(often & choice.types))

    def _pool(self, task: str, decides: bool) -> list[_Choice]:
        """Return the moves of a task, what the set needs most first; the same move is offered once."""
        found: list[Move] = []
        if task == "CR":
            found.extend(self._reasoned(decides))
        else:
            found.extend(offers_of(self.case, self.scenario, self.thread, self.opening, task))
        if task == "WU":
            found.extend(self._written())
        if task in {"IL", "DG"}:
            kind = decision_kinds()[self.thread.kind]
            found.extend(move for move in kind.asks(self.case, self.thread) if move.task == task)
        allowed = set(self.scenario.resource_types)
        if self.tier != "sparse":
            # a drug that is ordered and not taken is no side matter: the turn that hears it names it
            found = [next(conflicts(self.case, one), one) if one.kind in _HEARING else one for one in found]
        if self.tier == "rich":
            found.extend([again for move in found for again in conflicts(self.case, move)])
        once = {(move.kind, move.topic, move.conflict): move for move in reversed(found)}
        choices = [
            _Choice(move, self._cost(move), move.types, move.source in _INTERVIEW)
            for move in self.stream.shuffled([once[key] for key in sorted(once)])
            if move.types <= allowed and (self.tier == "rich" or not move.conflict or move.kind in _HEARING)
        ]
        choices.sort(key=lambda choice: choice.cost)
        kept = {
            id(choice) for asks in (True, False) for choice in [one for one in choices if one.asks is asks][:_WIDTH]
        }
        return [choice for choice in choices if id(choice) in kept]

    def _cost(self, move: Move) -> int:
        cost = self.quota.cost(self.scenario.id, move)
        if move.fact is not None and self.thread.fact is not None and move.fact.id == self.thread.fact.id:
            cost -= 20  # what the patient says about the thread belongs to it
        if any(entity.key in self.about for entity in move.slots.values()):
            cost -= _LINKED
        cost += _AWAY[distance(self.case, self.thread, move)]
        if self.wants_score and move.score is not None:
            cost -= 60
        if self.tier == "rich" and move.conflict:
            cost -= 60
        if move.kind == "prescribe_if" and self.decided is None:
            cost -= 60  # without advice before it, the order itself rests on what was looked up
        return cost

    def _reasoned(self, decides: bool) -> Iterator[Move]:
        """Yield the CR moves: of the thread at the turn that decides it, else of every other decision."""
        mine = [self.thread] if decides else self._others()
        for decision in mine:
            yield from reasons_of(self.case, decision)

    def _others(self) -> list[Decision]:
        """Return decisions about other things, those the set needs most first."""
        thread = self.thread
        others = [one for one in decisions_of(self.case, self.scenario) if not same_matter(one, thread)]
        others = self.stream.shuffled(others)
        others.sort(key=lambda one: self.quota.decision_cost(self.scenario.id, one.subject, one.unchanged))
        return others[:_OTHERS]

    def _written(self) -> Iterator[Move]:
        reasons = self.arc.count("CR")
        mine = [self.thread] if reasons < 2 else [self.thread, *self._others()]
        for decision in mine:
            for move in islice(decision_kinds()[decision.kind].writes(self.case, decision), _OFFERED):
                # an order that is active goes on by itself; it is written anew for the way home only
                if move.kind != "prescribe" or not decision.unchanged or self.scenario.anchor.dated == "discharge":
                    yield move

    # -- what fits -----------------------------------------------------------------------------------------------------

    def _fits(self, chosen: tuple[Move, ...], move: Move) -> bool:
        """Tell whether a move may follow the ones already chosen."""
        if any(move.topic == other.topic for other in chosen):
            return False
        if self.tier == "sparse" and (move.needs & _PLAIN or move.score is not None):
            return False
        if not _told(move, chosen) or self._strays((*chosen[1:], move)):
            return False
        asked = {lab for other in chosen for lab in other.labs}
        if move.task in {"IL", "DG"} and not _looks_back(move) and asked.intersection(move.labs):
            return False
        return self._decision_fits(chosen, move)

    def _strays(self, moves: Sequence[Move]) -> bool:
        """Tell whether too many turns are about something else than the session."""
        far = [move for move in moves if distance(self.case, self.thread, move) == FAR and move.score is None]
        return len(far) > _FAR_MOST

    def _decision_fits(self, chosen: tuple[Move, ...], move: Move) -> bool:
        decision = move.decision
        if move.task not in {"CR", "WU"} or decision is None:
            return True
        decided = [other.decision for other in chosen if other.task == "CR" and other.decision is not None]
        if move.task == "CR" and any(same_matter(decision, other) for other in decided):
            return False
        if move.task == "WU" and decision not in (decided or [self.thread]):
            return False
        # What only the patient can tell must have been told.
        return not decision.turned or _heard(decision, (*chosen, move))

    def _whole(self, moves: tuple[Move, ...]) -> bool:
        """Tell whether four moves are a session of this cell."""
        needs = frozenset().union(*(move.needs for move in moves))
        if self.tier == "moderate" and not needs & {"trend", "formula", "threshold"}:
            return False
        return (
            not self.quota.refuses(moves)
            and chain_of(self.case, moves, decisions_of(self.case, self.scenario)) is not None
        )


# -- what one case offers: worked out once, whatever the cell ----------------------------------------------------------


def openings_of(case: Case, thread: Decision) -> tuple[Move, ...]:
    """Return the turns that may open a session about a decision."""
    key = f"planning.openings.{_name(thread)}"
    return case.memo(key, lambda case: tuple(islice(decision_kinds()[thread.kind].openings(case, thread), _OPENINGS)))


def reasons_of(case: Case, decision: Decision) -> tuple[Move, ...]:
    """Return the CR turns about a decision, with and without asking the patient."""

    def make(case: Case) -> tuple[Move, ...]:
        decides = decision_kinds()[decision.kind].decides
        return tuple(move for ask in (False, True) for move in islice(decides(case, decision, ask), _OFFERED))

    return case.memo(f"planning.reasons.{_name(decision)}", make)


def offers_of(case: Case, scenario: Scenario, thread: Decision, opening: Move, task: str) -> tuple[Move, ...]:
    """Return what every kind of a task offers after an opening."""

    def make(case: Case) -> tuple[Move, ...]:
        focus = Focus(thread, frozenset({opening.topic, *opening.labs}))
        found: list[Move] = []
        for name in scenario.moves.of(task):
            kind = move_kinds().get(name)
            if kind is None or kind.task != task or (kind.scenarios and scenario.id not in kind.scenarios):
                continue
            stream = Stream("offer", case.view.patient, case.encounter, case.anchor, scenario.id, opening.topic, name)
            offered = kind.offer(case, focus, stream)
            if kind.source in _INTERVIEW:
                # what the patient says against the chart is rare, and is what makes asking worth while
                offered = iter(sorted(islice(offered, _ASKED), key=lambda move: not turns(move)))
            found.extend(islice(offered, _OFFERED))
        return tuple(found)

    return case.memo(f"planning.offers.{task}.{_name(thread)}.{opening.topic}", make)


def _name(decision: Decision) -> str:
    """Return what tells a decision from all others of its case."""
    targets = "+".join(f"{act}-{target}" for act, target in decision.accepted)
    return f"{decision.kind}.{decision.subject}.{decision.act}.{targets}"


def same_matter(one: Decision, other: Decision) -> bool:
    """Tell whether two decisions are about the same drug, lab or score, so that asking both would be asking twice."""
    if one.subject == other.subject and one.kind == other.kind:
        return True
    if one.order is not None and other.order is not None and one.order.drug == other.order.drug:
        return True
    return bool({target for _, target in one.accepted} & {target for _, target in other.accepted})


def _looks_back(move: Move) -> bool:
    """Tell whether a move is about a lab of an earlier turn on purpose, or gathers what a score needs."""
    return move.kind == "branch_back" or move.score is not None


def _told(move: Move, chosen: Sequence[Move]) -> bool:
    """Tell whether what a move rests on of the patient's words has been said before, where it does not ask itself."""
    if move.source in _INTERVIEW:
        return True
    said = {f"fact/{other.fact.id}" for other in chosen if other.fact is not None}.union(*(one.keys for one in chosen))
    return said.issuperset(key for key in move.keys if key.startswith("fact/"))


def _heard(decision: Decision, moves: Sequence[Move]) -> bool:
    return decision.fact is not None and any(
        move.source in _INTERVIEW and move.fact is not None and move.fact.id == decision.fact.id for move in moves
    )

"""The search of a plan: from an opening, three more moves that lead to a thread and lean on each other.

A first plan is found by trying moves in the order that the set needs them; it is bettered for a while by others whose
turns have more to leave out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Final

from wardround.patients import Stream
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.moves.move import Case, Move

from .chain import hangs_together
from .choices import ASKED, DANGER, HINGE, SCORE, SIDES, Choice, brings, brought, looks_anew, rests_on
from .danger import dangers, takes_up
from .kinship import FAR, NEAR, bearing_of, distance, distance_of_dose, near_drugs, touches
from .leaning import Leaning
from .offering import INTERVIEW, decisions_of, offers_of, reasons_of, same_matter, writes_of
from .quota import Quota
from .registry import decision_kinds
from .scenarios import Arc, Scenario, Tier
from .sense import hears_elsewhere, leaves_danger, scores_called_for, senseless_after
from .turning import conflicts, turns

_PLAIN: Final = frozenset({"trend", "formula", "multi"})
"""Needs that a sparse session never has."""
_WIDTH: Final = 14
"""Moves tried for one turn, those that ask the patient and those that do not counted apart."""
_OTHERS: Final = 8
"""Decisions other than the thread that a session may ask for as well."""
_NODES: Final = 400
"""Moves weighed for one opening before it is given up."""
_LOOKS: Final = 60
"""Beginnings of plans that are gone on from, once there is a plan, for a better one …"""
_NARROW: Final = 16
"""… each by so many moves at most."""
_HEARING: Final = frozenset({"dose_adherence"})
"""Kinds of turns that set what the patient takes beside what is ordered."""
_DOSED: Final = "prescribe_if"
"""The order whose dose rests on a threshold."""
_TYPES_LEAST: Final[dict[Tier, int]] = {"sparse": 2, "moderate": 2, "rich": 3}
_REASONING: Final = ("IL", "CR", "CR", "CR")
"""Nothing gathers or is written: CR turns seldom read a third type, so in a looser plan the patient's words are one."""
_LINKED: Final = 80
"""What a turn is preferred by that comes back to what the session is about."""
_NEW_TYPE: Final = 40
"""What a turn of a rich session is preferred by that reads something new, while that is still lacking."""
_AWAY: Final = {NEAR: 0, NEAR + 1: 15, FAR: 140}
"""What speaks against a turn, by how far it is from what the session is about."""
_FAR_MOST: Final = 1
"""Turns of a session that may be about something else, a score included."""


class Search:
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
        *,
        doses: bool,
        ease: bool,
    ) -> None:
        """Begin.

        Args:
            case: The patient.
            scenario: Which moves fit.
            tier: What the turns must hold.
            arc: Their tasks.
            thread: The decision that they lead to.
            opening: Turn 0.
            stream: Breaks ties.
            quota: What the set has used so far.
            doses: The opening looks up what the dose of the order at the end rests on.
            ease: The plan may be looser.
        """
        self.case, self.scenario, self.tier, self.arc = case, scenario, tier, arc
        self.thread, self.opening, self.stream, self.quota, self.doses = thread, opening, stream, quota, doses
        self.nodes = self.looks = self.cost = 0
        self.found: tuple[Move, ...] | None = None
        """The cheapest four moves so far."""
        self.ahead: list[int] = []
        """What the turns after each one cost at least."""
        self.far_most = _FAR_MOST + ease
        self.types_least = _TYPES_LEAST[tier] - (ease and tier == "rich" and arc == _REASONING)
        self.leaning = Leaning(lambda move: bearing_of(case, move))
        self.away: dict[int, int] = {}
        self.unfit: dict[int, bool] = {}
        self.weighed: list[Move] = []
        """What the two are told of: while it is kept, no other object has its id."""
        named = {entity.key for entity in opening.slots.values()}
        self.about = named | ({f"drug:{thread.order.drug}"} if thread.order is not None else set())
        """Keys of what the session is about: turns that come back to it hang together and can leave it out."""
        reasons = [turn for turn, task in enumerate(arc) if task == "CR"]
        self.decided = reasons[-1] if reasons else None
        """The turn that decides the thread."""
        # no turn holds both the conflict of a rich session and a score, nor, without advice, what the turns hinge on
        rests = "CR" not in arc and (tier == "rich" or arc[-1] != "WU")
        least = 1 + (tier == "rich") + rests
        room = sum(task in {"DG", "CR"} for task in arc) >= least
        self.drugs = frozenset() if doses else near_drugs(case, thread)
        """Drugs that the end of the session is about."""
        self.scores = frozenset(scores_called_for(case, thread, self.drugs))
        """What is worth working out: what a decision or the patient's problem rests on."""
        self.wants_score = tier != "sparse" and room and not ease and bool(self.scores)
        self.alone = tier == "rich" and "CR" not in arc and arc.count("DG") == 1 and arc[-1] != "WU"
        """One turn has to bring all that a rich session needs."""
        self.offered: list[list[Choice]] | None = None
        """What every turn after the opening may be; None until it is worked out."""
        self.pools: list[list[Choice]] = []
        """Of these, what is tried."""
        self.in_danger = not ease and bool(dangers(case))
        wanted = {
            ASKED: True,
            HINGE: not self.alone,
            SCORE: self.wants_score,
            SIDES: tier == "rich",
            DANGER: self.in_danger,
        }
        self.musts = frozenset(one for one, must in wanted.items() if must)
        """What a whole session must hold."""
        self.kinds: list[frozenset[frozenset[str]]] = []
        """What single choices of each turn bring of that."""
        self.brought: list[frozenset[frozenset[str]]] = []
        """What the turns after each one can bring of that together."""
        self.useful: dict[tuple[int, frozenset[str]], frozenset[frozenset[str]]] = {}
        """What single moves of a turn may bring, by what was brought before."""

    def run(self, turned: bool) -> tuple[Move, ...] | None:
        """Return four moves, if asked for in which the patient's words turn the answer; None where none fit.

        May be asked both ways, one after the other.
        """
        if self.offered is None:
            self.offered = self._offered()
        pools = self.offered
        if turned:
            if not any(one.asks and turns(one.move) for pool in pools for one in pool):
                return None
            pools = [[one for one in pool if not one.asks or turns(one.move)] for pool in pools]
        self.pools, self.found, self.nodes, self.looks = pools, None, 0, 0
        if not pools or not all(pools):
            return None
        ahead = [min(choice.cost for choice in pool) - _NEW_TYPE for pool in pools] + [0]
        self.ahead = [sum(ahead[turn:]) for turn in range(len(self.arc))]
        self.kinds = [frozenset(choice.brings for choice in pool) for pool in pools]
        self.useful = {}
        self.brought = [frozenset({frozenset[str]()})]
        for pool in reversed(pools):
            self.brought.insert(0, brought(pool, self.brought[0]))
        if self._can_be(self._brings(self.opening, 0), 0):
            self._deeper((self.opening,), 0)
        return self.found

    def weight(self, moves: tuple[Move, ...]) -> int:
        """Return what speaks against four moves by what their words could leave out: the lower, the better."""
        types = (self.leaning.types(move, self.leaning.after(moves[:turn])) for turn, move in enumerate(moves) if turn)
        return sum(self.quota.leaning_cost(one) for one in types)

    def _offered(self) -> list[list[Choice]]:
        """Return the moves that every turn after the opening may be; empty where one has none."""
        made: dict[tuple[str, bool], list[Choice]] = {}
        pools: list[list[Choice]] = []
        for turn in range(len(self.arc) - 1, 0, -1):  # the end first: what it is about, others may look at
            key = (self.arc[turn], turn == self.decided)
            if key not in made:
                made[key] = self._pool(*key)
            if not made[key]:
                return []
            pools.insert(0, made[key])
            if self.arc[turn] in {"CR", "WU"}:
                self.drugs |= {drug.id for one in made[key] if (drug := one.move.slots.get("drug")) is not None}
        return pools

    # -- putting turns together ----------------------------------------------------------------------------------------

    def _can_be(self, had: frozenset[str], turn: int) -> bool:
        """Tell whether the turns after one can bring what is lacking of what a whole session must hold."""
        lacking, asked = self.musts - had, ASKED in had
        return any(lacking <= more and not (asked and ASKED in more) for more in self.brought[turn])

    def _deeper(self, chosen: tuple[Move, ...], spent: int) -> None:
        """Add the turns that are missing, best first; keeps what is cheaper than what was found before."""
        turn = len(chosen)
        self.looks += 1
        for place, (cost, choice) in enumerate(self._ordered(turn, chosen, spent)):
            if self.found is not None and self._enough(turn, place, spent + cost):
                return
            self.nodes += 1
            if self.nodes > _NODES:
                return
            moves = (*chosen, choice.move)
            if len(moves) < len(self.arc):
                self._deeper(moves, spent + cost)
            else:
                self.found, self.cost = moves, spent + cost
                return

    def _enough(self, turn: int, place: int, cost: int) -> bool:
        """Tell whether no better plan is looked for at a turn: what is left costs more, or was looked at for long."""
        return cost + self.ahead[turn] >= self.cost or self.looks > _LOOKS or place >= _NARROW

    def _may_follow(self, chosen: tuple[Move, ...], choice: Choice) -> bool:
        """Tell whether a move may come next: it fits, and the last one makes a whole session."""
        moves = (*chosen, choice.move)
        if not self._fits(chosen, choice.move):
            return False
        if len(moves) < len(self.arc):
            return True
        read = choice.types.union(*(move.types for move in chosen))
        if self.tier == "rich":
            read |= _written_type(choice.move)
        return len(read) >= self.types_least and self._whole(moves)

    # -- which moves ---------------------------------------------------------------------------------------------------

    def _ordered(self, turn: int, chosen: tuple[Move, ...], spent: int) -> Iterator[tuple[int, Choice]]:
        """Yield the moves that may come at a turn, each with its cost, the lowest first, as long as one is looked for.

        What two turns have read already comes later, and so does what leans on no earlier turn. What a move leans on
        is only worked out when its turn comes: it can but add to the cost.
        """
        read = [kind for move in chosen for kind in move.types]
        often = {kind for kind in read if read.count(kind) >= 2}
        new = _NEW_TYPE if self.tier == "rich" and len(set(read)) < self.types_least else 0
        had = frozenset().union(*(self._brings(move, place) for place, move in enumerate(chosen)))
        use = self._useful(turn, had)
        pool, earlier = self.pools[turn - 1], None
        waiting = [
            (one.cost + 20 * len(often & one.types) - (new if new and one.types.difference(read) else 0), place, False)
            for place, one in self._apart(turn, chosen, use)
        ]
        heapify(waiting)
        while waiting:
            cost, place, weighed = heappop(waiting)
            if self.found is not None and self._enough(turn, 0, spent + cost):
                return  # what is left costs as much at least
            choice = pool[place]
            if weighed:
                yield cost, choice
            elif self._may_follow(chosen, choice):
                earlier = self.leaning.after(chosen) if earlier is None else earlier
                more = self.quota.leaning_cost(self.leaning.types(choice.move, earlier))
                heappush(waiting, (cost + more, place, True))

    def _useful(self, turn: int, had: frozenset[str]) -> frozenset[frozenset[str]]:
        """Return what single moves of a turn may bring after what was brought; worked out once.

        What could not lead to a whole session, or would ask the patient again, is left out.
        """
        key = (turn, had)
        if key not in self.useful:
            self.useful[key] = frozenset(
                one for one in self.kinds[turn - 1] if self._can_be(had | one, turn) and ASKED not in had & one
            )
        return self.useful[key]

    def _apart(
        self, turn: int, chosen: tuple[Move, ...], use: frozenset[frozenset[str]]
    ) -> Iterator[tuple[int, Choice]]:
        """Yield the useful moves of a turn, with their places, that stand apart from the ones already chosen.

        They repeat none, do not stray too often, and rest on no word of the patient that was not told.
        """
        topics, asked = {one.topic for one in chosen}, {lab for one in chosen for lab in one.labs}
        said = {f"fact/{one.fact.id}" for one in chosen if one.fact is not None}.union(*(one.keys for one in chosen))
        strayed = sum(self._distance(one) == FAR for one in chosen[1:]) >= self.far_most
        for place, one in enumerate(self.pools[turn - 1]):
            move = one.move
            if one.brings not in use or move.topic in topics or not said.issuperset(one.rests):
                continue
            again = one.fresh and not asked.isdisjoint(move.labs)
            if not again and not (strayed and self._distance(move) == FAR):
                yield place, one

    def _pool(self, task: str, decides: bool) -> list[Choice]:
        """Return the moves of a task, what the set needs most first; the same move is offered once."""
        found: list[Move] = []
        if task == "CR":
            found.extend(self._reasoned(decides))
        else:
            found.extend(offers_of(self.case, self.scenario, self.thread, self.opening, task, self.drugs))
        if task == "WU":
            found = [*found, *self._written()] if not self.doses else [one for one in found if one.kind == _DOSED]
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
            Choice(
                move,
                self._cost(move),
                move.types,
                move.source in INTERVIEW,
                self._brings(move, 1),
                rests_on(move),
                looks_anew(move),
            )
            for move in self.stream.shuffled([once[key] for key in sorted(once)])
            if move.types <= allowed and (self.tier == "rich" or not move.conflict or move.kind in _HEARING)
            if move.score is None or move.score in self.scores
            if move.kind != _DOSED or self.doses or move.slots["drug"].id in self.drugs
        ]
        choices.sort(key=lambda choice: choice.cost)
        kept = {
            id(choice) for asks in (True, False) for choice in [one for one in choices if one.asks is asks][:_WIDTH]
        }
        return [choice for choice in choices if id(choice) in kept]

    def _brings(self, move: Move, turn: int) -> frozenset[str]:
        """Return what a move brings of what a whole session must hold."""
        found = brings(move, turn)
        return found | {DANGER} if self.in_danger and takes_up(self.case, move) else found

    def _cost(self, move: Move) -> int:
        cost = self.quota.cost(self.scenario.id, move)
        if move.fact is not None and self.thread.fact is not None and move.fact.id == self.thread.fact.id:
            cost -= 20  # what the patient says about the thread belongs to it
        named = any(entity.key in self.about for entity in move.slots.values())
        if named or touches(self.case, self.thread, self.drugs if self.doses else frozenset(), move):
            cost -= _LINKED
        cost += _AWAY[self._distance(move)]
        if self.wants_score and move.score is not None:
            cost -= 60
        if self.tier == "rich" and move.conflict:
            cost -= 60
        if move.kind == _DOSED and self.decided is None:
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

        def cost(one: Decision) -> int:
            named = {f"{kind}:{one.reading.lab}" for kind in ("lab", "vital")} if one.reading is not None else set()
            named |= {f"drug:{one.order.drug}"} if one.order is not None else set()
            own = self.quota.decision_cost(self.scenario.id, one.subject, one.unchanged)
            return own - (_LINKED * 2 if named & self.about else 0)

        others.sort(key=cost)
        return others[:_OTHERS]

    def _written(self) -> Iterator[Move]:
        reasons = self.arc.count("CR")
        mine = [self.thread] if reasons < 2 else [self.thread, *self._others()]
        for decision in mine:
            yield from writes_of(self.case, decision, self.scenario.anchor.dated)

    # -- what fits -----------------------------------------------------------------------------------------------------

    def _fits(self, chosen: tuple[Move, ...], move: Move) -> bool:
        """Tell whether a move that is apart from the ones already chosen may follow them."""
        if id(move) not in self.unfit:
            self.unfit[id(move)] = self._never_fits(move)
            self.weighed.append(move)
        if self.unfit[id(move)] or senseless_after(self.case, chosen, move, alone=self.alone):
            return False
        return self._decision_fits(chosen, move)

    def _never_fits(self, move: Move) -> bool:
        """Tell whether a move may follow no others; worked out once."""
        if self.tier == "sparse" and (move.needs & _PLAIN or move.score is not None):
            return True
        if self._distance(move) == FAR and hears_elsewhere(move, self.drugs):
            return True
        return leaves_danger(self.case, self.thread, move)

    def _distance(self, move: Move) -> int:
        """Return how far a move of the pools is from the thread; worked out once."""
        if self.doses and move.kind == _DOSED:
            return NEAR
        if id(move) not in self.away:
            away = (
                distance_of_dose(self.case, self.drugs, move) if self.doses else distance(self.case, self.thread, move)
            )
            self.away[id(move)] = away
            self.weighed.append(move)
        return self.away[id(move)]

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
        tests = any(move.branch is not None for move in moves)  # a bound decides where an adaptive turn goes
        if self.tier == "moderate" and not tests and not needs & {"trend", "formula", "threshold"}:
            return False
        decisions = decisions_of(self.case, self.scenario)
        return not self.quota.refuses(moves) and hangs_together(self.case, moves, decisions)


def _written_type(move: Move) -> frozenset[str]:
    """Return the type of resource that an order makes."""
    return frozenset(call.tool.partition(".")[0] for call in move.calls if call.tool.endswith(".create"))


def _heard(decision: Decision, moves: Sequence[Move]) -> bool:
    return decision.fact is not None and any(
        move.source in INTERVIEW and move.fact is not None and move.fact.id == decision.fact.id for move in moves
    )

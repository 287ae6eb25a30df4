"""The plan of a session: which decision it is about, and which four moves lead to it.

Turn 0 looks up what the thread hinges on; one turn asks the patient; the last turn that reasons decides the thread, and
an order at the end carries out what was decided. A plan is found by trying moves in the order that the set needs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wardround.patients import Stream
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.moves.move import Case, Move

from .chain import Chain, chain_of
from .evidence import lacks
from .offering import decisions_of, may_be_rich, openings_of
from .quota import Quota
from .scenarios import Arc, Scenario, Tier
from .searching import Search
from .thread import may_pull, threads_of, thresholds

_COMPARED: Final = 4
"""Plans of one cell that are compared …"""
_GOOD: Final = 120
"""… unless one weighs no more than this: every turn leans on another, and not as most others of the set do."""
_TURNED_THREADS: Final = 5
"""Threads tried first for a plan in which the patient's words turn the answer."""


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


def plans(
    case: Case, scenario: Scenario, tier: Tier, arc: Arc, stream: Stream, quota: Quota, *, ease: bool = False
) -> Iterator[Plan]:
    """Yield the plans of a cell that a case allows, those that the set needs most first; at most one a thread.

    Args:
        case: Made for this scenario.
        scenario: Which threads and moves fit.
        tier: What the turns must hold.
        arc: The tasks of the four turns.
        stream: Breaks ties.
        quota: What the set has used so far; read only.
        ease: For a cell that cannot be had otherwise: no score need be worked out, and one more turn may be about
            something else.
    """
    if case.view.sex not in {"female", "male"} or lacks(scenario, tier, case):
        return
    if tier == "rich" and not may_be_rich(case, scenario, arc):
        return
    threads = threads_of(case, scenario, tier, arc, stream, quota)
    searches = [
        (number, Search(case, scenario, tier, arc, thread, opening, stream, quota, doses=dosed, ease=ease))
        for number, thread in enumerate(threads)
        for opening, dosed in _openings(case, scenario, tier, arc, thread, quota)
    ]
    seen: list[tuple[Move, ...]] = []
    for turned in (True, False) if quota.wants_turned() else (False,):
        tried = (one for number, one in searches if not turned or number < _TURNED_THREADS)
        found = ((one, moves) for one in tried if (moves := one.run(turned)) is not None)
        for search, moves in _best_first(found):
            if moves not in seen:
                seen.append(moves)
                chain = chain_of(case, moves, decisions_of(case, scenario))
                assert chain is not None
                yield Plan(case, scenario, tier, arc, moves, search.thread, chain)


def _best_first(found: Iterator[tuple[Search, tuple[Move, ...]]]) -> Iterator[tuple[Search, tuple[Move, ...]]]:
    """Yield plans so that of each few the one comes first whose turns lean on each other best."""
    waiting: list[tuple[int, int, Search, tuple[Move, ...]]] = []
    for number, (search, moves) in enumerate(found):
        weight = search.weight(moves)
        waiting.append((weight, number, search, moves))
        if weight <= _GOOD or len(waiting) >= _COMPARED:
            waiting.sort(key=lambda one: one[:2])
            yield from ((one[2], one[3]) for one in waiting)
            waiting.clear()
    waiting.sort(key=lambda one: one[:2])
    yield from ((one[2], one[3]) for one in waiting)


def _openings(
    case: Case, scenario: Scenario, tier: Tier, arc: Arc, thread: Decision, quota: Quota
) -> list[tuple[Move, bool]]:
    """Return the turns that may open a session about a thread, and whether each looks up what a dose rests on."""
    doses = thresholds(case, arc)
    if tier == "rich" and not doses and not may_pull(case, scenario, thread, arc):
        return []
    plain = () if tier == "rich" and not {"DG", "CR"}.intersection(arc) else openings_of(case, thread)
    found = [*((one, True) for one in doses), *((one, False) for one in plain)]
    return found[::-1] if quota.ordered_often() else found

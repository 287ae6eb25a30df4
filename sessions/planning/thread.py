"""What a session may be about: the decisions of a case, those first that the set and the cell need most."""

from __future__ import annotations

from typing import Final

from wardround.patients import Stream
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.moves.labs import latest_lab
from wardround.sessions.moves.move import Case, Move

from .danger import decides_danger
from .kinship import near_drugs, of_the_stay
from .offering import against, decisions_of, pulled, pulling, writes_of
from .quota import Quota
from .scenarios import Arc, Scenario, Tier
from .sense import scores_called_for

_THREADS: Final = 5
"""Threads tried for one cell."""
_OF_THE_STAY: Final = 150
"""What a thread is preferred by that belongs to what the patient is here for: an emergency comes first."""
_GRAVE: Final = 60
"""What a thread is preferred by that asks for an act at once."""
_DANGER: Final = 250
"""What a thread is preferred by that takes up a danger of the patient (`danger.py`)."""
_SCORED: Final = 40
"""What a thread is preferred by that a score belongs to, where one must be worked out."""
_TURNED: Final = 60
"""What a thread is preferred by on which the patient's words stand against the chart, where the set wants that."""
_PULLED: Final = 150
"""What a thread with two sides to weigh is preferred by in a rich session."""
_RARE_ORDER: Final = 120
"""What a thread is preferred by that leads to an order as the set has few of, where one ends the session."""
_NO_ORDER: Final = 150
"""What speaks against a thread that leads to no order, where one ends the session."""


def thresholds(case: Case, arc: Arc) -> tuple[Move, ...]:
    """Return the opening for an arc that ends in an order on nothing but look-ups: the value that chooses its dose.

    Nobody who has just heard the value would make the dose depend on it ("10 mg if it is under 30"), unless it lies
    where the dose is in question; so this is kept for the one arc in which nothing else could turn the order.
    """
    reading = case.view.latest.get("egfr")
    return () if reading is None or arc[-1] != "WU" or {"CR", "DG"} & set(arc) else (latest_lab(case, reading),)


def threads_of(case: Case, scenario: Scenario, tier: Tier, arc: Arc, stream: Stream, quota: Quota) -> list[Decision]:
    """Return what a session may be about, what the set needs most first.

    Where a score is to be worked out, threads that one of the patient's scores belongs to come first; where two sides
    are to be weighed or the patient's words are to turn the answer, those that have them; and where an order ends the
    session, those that lead to one.
    """
    scored = tier != "sparse" and bool({"DG", "CR"} & set(arc))
    writes = arc.count("CR") == 1 and arc[-1] == "WU"
    wants_turned = quota.wants_turned()
    found = stream.shuffled([one for one in decisions_of(case, scenario) if one.kind in scenario.threads])
    place = {kind: number for number, kind in enumerate(scenario.threads)}

    def cost(one: Decision) -> int:
        sides = _sides(case, one, arc)
        orders = writes_of(case, one, scenario.anchor.dated) if arc[-1] == "WU" else ()
        return (
            quota.decision_cost(scenario.id, one.subject, one.unchanged)
            + 15 * place[one.kind]
            - (_OF_THE_STAY if of_the_stay(case, one) else 0)
            - (_DANGER if decides_danger(case, one) else 0)
            - (_GRAVE if one.severity > 1 and not one.unchanged else 0)
            - (_SCORED if scored and scores_called_for(case, one, near_drugs(case, one)) else 0)
            - (_TURNED if wants_turned and (one.turned or against(case, one)) else 0)
            - (_PULLED if tier == "rich" and sides else 0)
            - (_RARE_ORDER if quota.lacks_write(orders) else 0)
            + (_NO_ORDER if writes and not orders else 0)
        )

    found.sort(key=cost)
    return found[:_THREADS]


def may_pull(case: Case, scenario: Scenario, thread: Decision, arc: Arc) -> bool:
    """Tell whether some turn of an arc could pull two ways: gathering, or reasoning about the thread or another."""
    if {"CR", "WU"}.intersection(arc):
        tasks = pulling(case, scenario)
        return ("DG" in arc and "DG" in tasks) or (arc.count("CR") > 1 and "CR" in tasks) or pulled(case, thread)
    return "DG" in arc and against(case, thread)


def _sides(case: Case, thread: Decision, arc: Arc) -> bool:
    """Tell whether a turn of an arc could weigh two sides of a thread."""
    return ("CR" in arc and pulled(case, thread)) or ("DG" in arc and against(case, thread))

"""What one case offers, whatever the cell: decisions, openings, turns that reason and turns of every kind.

All of it is worked out once a case and kept in its memory.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from wardround.patients import Stream
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.moves.move import Case, Focus, Move

from .kinship import near_drugs
from .registry import decision_kinds, move_kinds
from .scenarios import Arc, Scenario
from .turning import conflicts, turns

INTERVIEW: Final = frozenset({"patient", "mixed"})
"""Sources of turns that ask the patient."""
OFFERED: Final = 3
"""Moves taken of what one kind offers."""
_OPENINGS: Final = 2
"""Openings tried for one thread."""
_ASKED: Final = 10
"""Moves looked at of what a kind offers that asks the patient."""


def decisions_of(case: Case, scenario: Scenario) -> tuple[Decision, ...]:
    """Return every decision that the record and the patient allow, of the scenario's kinds; worked out once a case."""

    def make(case: Case) -> tuple[Decision, ...]:
        stream = Stream("decisions", case.view.patient, case.encounter, case.anchor)
        kinds = dict.fromkeys((*scenario.threads, *scenario.decisions))
        table = decision_kinds()
        return tuple(one for kind in kinds if kind in table for one in table[kind].threads(case, stream))

    return case.memo("planning.decisions", make)


def untaken(case: Case) -> frozenset[str]:
    """Return the drugs that the patient does not take as ordered, by what they say."""
    facts = case.interview.facts
    return frozenset(
        one.drug for one in facts if one.kind == "adherence" and one.drug and one.state not in {None, "taking"}
    )


def pulling(case: Case, scenario: Scenario) -> frozenset[str]:
    """Return the tasks whose turns can hold what pulls two ways, without which no session is rich; worked out once."""

    def make(case: Case) -> frozenset[str]:
        decisions = decisions_of(case, scenario)
        threads = [one for one in decisions if one.kind in scenario.threads]
        tasks = {"DG"} if untaken(case) and any(against(case, one) for one in threads) else set()
        if any(pulled(case, decision) for decision in decisions):
            tasks.add("CR")
        return frozenset(tasks)

    return case.memo("planning.pulling", make)


def may_be_rich(case: Case, scenario: Scenario, arc: Arc) -> bool:
    """Tell whether some turn of an arc could hold what pulls two ways, as an order with two doses does by itself."""
    doses = arc[-1] == "WU" and not {"CR", "DG"} & set(arc) and "egfr" in case.view.latest
    return doses or bool(pulling(case, scenario).intersection(arc))


def pulled(case: Case, decision: Decision) -> bool:
    """Tell whether a turn that reasons about a decision has two sides to weigh; worked out once."""

    def make(case: Case) -> bool:
        reasons = reasons_of(case, decision)
        return any(move.conflict or any(True for _ in conflicts(case, move)) for move in reasons)

    return case.memo(f"planning.pulled.{_name(decision)}", make)


def against(case: Case, thread: Decision) -> bool:
    """Tell whether the patient does not take a drug that is near a thread."""
    return bool(untaken(case) & near_drugs(case, thread))


def writes_of(case: Case, decision: Decision, dated: str) -> tuple[Move, ...]:
    """Return the orders that carry a decision out; worked out once.

    Args:
        case: The patient.
        decision: What is to be done.
        dated: The scenario's anchor. An order that is active goes on by itself; it is written anew for the way home.
    """

    def make(case: Case) -> tuple[Move, ...]:
        found = islice(decision_kinds()[decision.kind].writes(case, decision), OFFERED)
        return tuple(one for one in found if one.kind != "prescribe" or not decision.unchanged or dated == "discharge")

    return case.memo(f"planning.writes.{dated}.{_name(decision)}", make)


def openings_of(case: Case, thread: Decision) -> tuple[Move, ...]:
    """Return the turns that may open a session about a decision."""
    key = f"planning.openings.{_name(thread)}"
    return case.memo(key, lambda case: tuple(islice(decision_kinds()[thread.kind].openings(case, thread), _OPENINGS)))


def reasons_of(case: Case, decision: Decision) -> tuple[Move, ...]:
    """Return the CR turns about a decision, with and without asking the patient."""

    def make(case: Case) -> tuple[Move, ...]:
        decides = decision_kinds()[decision.kind].decides
        return tuple(move for ask in (False, True) for move in islice(decides(case, decision, ask), OFFERED))

    return case.memo(f"planning.reasons.{_name(decision)}", make)


def offers_of(
    case: Case, scenario: Scenario, thread: Decision, opening: Move, task: str, drugs: frozenset[str] = frozenset()
) -> tuple[Move, ...]:
    """Return what every kind of a task offers after an opening; `drugs`: those that other turns are about."""

    def make(case: Case) -> tuple[Move, ...]:
        focus = Focus(thread, frozenset({opening.topic, *opening.labs}), drugs)
        found: list[Move] = []
        for name in scenario.moves.of(task):
            kind = move_kinds().get(name)
            if kind is None or kind.task != task or (kind.scenarios and scenario.id not in kind.scenarios):
                continue
            stream = Stream("offer", case.view.patient, case.encounter, case.anchor, scenario.id, opening.topic, name)
            offered = kind.offer(case, focus, stream)
            if kind.source in INTERVIEW:
                # what the patient says against the chart is rare, and is what makes asking worth while
                asked = list(islice(offered, _ASKED))
                against = [move for move in asked if turns(move)][:OFFERED]
                found.extend([*against, *(move for move in asked if move not in against)][: OFFERED + bool(against)])
            else:
                found.extend(islice(offered, OFFERED))
        return tuple(found)

    about = "+".join(sorted(drugs))
    return case.memo(f"planning.offers.{task}.{_name(thread)}.{opening.topic}.{about}", make)


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

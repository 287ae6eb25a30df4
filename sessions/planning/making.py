"""The driver: from charts to a set, cell by cell; every stage may refuse, and what is refused is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from wardround.patients import ChartStore, Instant, Stream
from wardround.sessions.gate_plan import doubles
from wardround.sessions.gates import Failure, check_session
from wardround.sessions.moves.move import Case
from wardround.sessions.session import Session
from wardround.sessions.wording.worded import word_session

from .assembling import Use, assemble
from .case import AnchorName, dated, for_scenario, make_case, rounds
from .evidence import lacks
from .kinship import with_bearing
from .plan import Plan, plans
from .quota import WEIGHTS, Quota
from .scenarios import ARCS, TIERS, Arc, Scenario, Tier, arc_name

RETRIES: Final = 3
"""Plans tried for a cell after a first one failed a gate; then the next cell, then the next patient."""
GATES: Final = ("gate1", "gate2", "gate3")
_ROUNDS: Final = 2
"""Stays of a patient that are visited, the longest first."""
Cell = tuple[str, Tier, Arc]


@dataclass(frozen=True)
class GenerationResult:
    """What a run made, and what the gates let through."""

    sessions: tuple[Session, ...]
    statistics: dict[str, Any]
    """JSON-able: patients, skipped [{patient, reason}], gates {gate: {tried, failed, reasons}}, left_out, cells,
    eased, mix."""


@dataclass
class Run:
    """What one run keeps in mind."""

    scenarios: tuple[Scenario, ...]
    seed: int
    split: str
    use: Use
    quota: Quota
    anchor: AnchorName | None = None
    chunk: int = 0
    """Which part of a set it makes; names the draws of the whole part."""
    sessions: list[Session] = field(default_factory=list)
    cells: Counter[Cell] = field(default_factory=Counter)
    tried: Counter[str] = field(default_factory=Counter)
    failed: dict[str, Counter[str]] = field(default_factory=dict)
    skipped: list[dict[str, str]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    eased: int = 0
    """Sessions whose plan had to be looser than others."""

    def all_cells(self) -> Iterator[Cell]:
        """Yield every cell of the run's scenarios."""
        for scenario in self.scenarios:
            for tier in TIERS:
                for arc in ARCS:
                    yield scenario.id, tier, arc


class Visit:
    """One patient of a store, with a case for each stay and scenario made when it is first needed."""

    def __init__(self, run: Run, store: ChartStore, patient: str) -> None:
        self.run, self.store, self.patient = run, store, patient
        self._cases: dict[tuple[str, Instant], Case] = {}
        self._scenes: dict[tuple[str, str, Instant], Case] = {}
        self._rounds: dict[AnchorName, tuple[tuple[str, Instant], ...]] = {}

    def anchors(self, scenario: Scenario) -> tuple[tuple[str, Instant], ...]:
        """Return the rounds of a scenario."""
        rule = self.run.anchor or (scenario.anchor.dated if dated(self.store) else scenario.anchor.other)
        if rule not in self._rounds:
            self._rounds[rule] = rounds(self.store, self.patient, rule)[:_ROUNDS]
        return self._rounds[rule]

    def case(self, scenario: Scenario, encounter: str, instant: Instant) -> Case:
        """Return the case of a round; what costs time is shared by all scenarios."""
        key = (encounter, instant)
        if key not in self._cases:
            stream = Stream("case", self.run.seed, self.patient, encounter, instant)
            case = make_case(self.store, self.patient, encounter, instant, scenario.id, stream)
            self.run.left_out.update(case.view.left_out)
            self._cases[key] = case
        scene = (scenario.id, encounter, instant)
        if scene not in self._scenes:
            self._scenes[scene] = for_scenario(self._cases[key], scenario.id)
        return self._scenes[scene]

    def cases(self, scenario: Scenario) -> Iterator[Case]:
        """Yield the cases of a scenario, the longest stay first."""
        for encounter, instant in self.anchors(scenario):
            yield self.case(scenario, encounter, instant)


def make_session(
    run: Run, visit: Visit, scenario: Scenario, tier: Tier, arc: Arc, *, ease: bool = False
) -> tuple[Session | None, str]:
    """Make one session of a cell about one patient.

    Args:
        run: What the set has so far; the session is added to it.
        visit: The patient.
        scenario: Of the cell.
        tier: Of the cell.
        arc: Of the cell.
        ease: Whether the plan may be looser, as a last resort; counted in the statistics (`eased`).

    Returns:
        The session; None with the reason where every try failed.
    """
    reason = "no hospital stay with an anchor"
    for case in visit.cases(scenario):
        lacking = lacks(scenario, tier, case)
        if lacking:
            reason = "; ".join(lacking)
            continue
        stream = Stream("session", run.seed, visit.patient, case.encounter, scenario.id, tier, arc_name(arc))
        reason = "no plan fits the record"
        for plan in islice(plans(case, scenario, tier, arc, stream, run.quota, ease=ease), 1 + RETRIES):
            session, reason = _of_plan(run, plan, stream)
            if session is not None:
                run.eased += ease
                return session, ""
    return None, reason


def _of_plan(run: Run, plan: Plan, stream: Stream) -> tuple[Session | None, str]:
    quota = run.quota
    moves = with_bearing(plan.case, plan.moves)
    worded = word_session(moves, plan.case, run.split, quota.used, stream, WEIGHTS[quota.mix])
    if worded is None:
        _count(run, [Failure("wording", "turn: no wording keeps the limits")])
        return None, "no wording keeps the limits"
    session = assemble(plan, worded, seed=run.seed, split=run.split, use=run.use)
    mine = [other for other in run.sessions if other.chart.patient == session.chart.patient]
    if doubles((*mine, session)) or any(session.id == other.id for other in mine):
        _count(run, [Failure("double", "turn: the same four turns were made before")])
        return None, "the same four turns were made before"
    failures = check_session(session, plan.case.snapshot.chart)
    _count(run, failures)
    if failures:
        return None, f"{failures[0].rule}: {failures[0].message}"
    run.sessions.append(session)
    run.cells[plan.scenario.id, plan.tier, plan.arc] += 1
    quota.note(plan.scenario.id, plan.moves, worded)
    return session, ""


# -- counting ----------------------------------------------------------------------------------------------------------


def _count(run: Run, failures: list[Failure]) -> None:
    """Count a session's gates; a session that fails outside them is counted under the rule's own name."""
    for gate in dict.fromkeys((*GATES, *(failure.rule for failure in failures))):
        run.tried[gate] += 1
        reasons = [failure.message for failure in failures if failure.rule == gate]
        if reasons:
            run.failed.setdefault(gate, Counter())[_kind(reasons[0])] += 1


def _kind(message: str) -> str:
    """Return a failure's message without its turn, so that equal faults are counted together."""
    return message.partition(": ")[2][:160] or message[:160]


def statistics(run: Run, patients: int) -> dict[str, Any]:
    """Return what a run did, as JSON."""
    gates = {
        gate: {
            "tried": run.tried[gate],
            "failed": sum(run.failed.get(gate, Counter()).values()),
            "reasons": dict(sorted(run.failed.get(gate, Counter()).items())),
        }
        for gate in sorted(run.tried)
    }
    cells = {f"{scenario} {tier} {arc_name(arc)}": count for (scenario, tier, arc), count in run.cells.items()}
    return {
        "patients": patients,
        "patients_used": len({session.chart.patient for session in run.sessions}),
        "skipped": run.skipped,
        "gates": gates,
        "left_out": dict(sorted(run.left_out.items())),
        "cells": dict(sorted(cells.items())),
        "eased": run.eased,
        "mix": dict(sorted(one for one in run.quota.used.items() if "/" not in one[0] and one[1])),
    }

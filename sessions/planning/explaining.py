"""What the planner sees of one patient: cells and why not, what can be asked with counts, scores and decisions."""

from __future__ import annotations

from collections import Counter
from typing import Any

from wardround.patients import ChartStore, Stream, UsageError, format_instant
from wardround.sessions.moves.move import Case
from wardround.sessions.moves.score_gather import computable

from .case import AnchorName
from .evidence import evidence_of, lacks
from .making import Run, Visit
from .offering import decisions_of
from .plan import plans
from .quota import Quota
from .scenarios import ARCS, TIERS, Scenario, arc_name, scenarios_of


def explain(
    store: ChartStore, patient: str, *, scenario: str = "all", seed: int = 0, anchor: AnchorName | None = None
) -> dict[str, Any]:
    """Tell which cells a patient qualifies for and why not, and what the record offers to ask.

    Args:
        store: Charts.
        patient: Id.
        scenario: Id of a scenario, or "all".
        seed: Of the run that is asked about; it draws the interview where none is authored.
        anchor: As for `generate`.

    Returns:
        JSON-able: patient, scenarios [{scenario, rounds [{encounter, anchor, evidence, items, scores, decisions,
        cells [{tier, lacks, arcs}]}]}]. `arcs` are those for which a plan was found.

    Raises:
        UsageError: Unknown patient or scenario.
    """
    if patient not in store.patients():
        raise UsageError(f"no patient `{patient}` in these charts; `wardround inspect` lists them")
    run = Run(scenarios_of(scenario), seed, "public", "train", Quota(), anchor)
    visit = Visit(run, store, patient)
    return {
        "patient": patient,
        "scenarios": [
            {
                "scenario": one.id,
                "title": one.title.en,
                "rounds": [_round(case, one, seed) for case in visit.cases(one)],
            }
            for one in run.scenarios
        ],
    }


def _round(case: Case, scenario: Scenario, seed: int) -> dict[str, Any]:
    view = case.view
    decisions = decisions_of(case, scenario)
    return {
        "encounter": case.encounter,
        "anchor": format_instant(case.anchor),
        "evidence": dict(evidence_of(case)),
        "items": {
            "labs": {lab: len(view.series.get(lab, (0,))) for lab in sorted(view.latest)},
            "vitals": sorted(view.vitals),
            "orders": sorted(view.orders),
            "pairs": sorted({f"{pair.order.drug}+{pair.reading.lab}" for pair in view.pairs}),
            "patient": dict(sorted(Counter(fact.kind for fact in case.interview.facts).items())),
            "left_out": dict(sorted(view.left_out.items())),
        },
        "scores": list(computable(case)),
        "decisions": [
            {"kind": one.kind, "subject": one.subject, "act": one.act, "rules": list(one.rules), "turned": one.turned}
            for one in decisions
        ],
        "cells": [_cell(case, scenario, seed, number) for number in range(len(TIERS))],
    }


def _cell(case: Case, scenario: Scenario, seed: int, number: int) -> dict[str, Any]:
    """Return what a tier lacks, or the arcs for which a plan was found."""
    tier = TIERS[number]
    lacking = lacks(scenario, tier, case)
    arcs = []
    for arc in ARCS if not lacking else ():
        stream = Stream("explain", seed, case.view.patient, scenario.id, tier, arc_name(arc))
        if next(plans(case, scenario, tier, arc, stream, Quota()), None) is not None:
            arcs.append(arc_name(arc))
    return {"tier": tier, "lacks": list(lacking), "arcs": arcs}

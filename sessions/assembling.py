"""From a worded plan to a session."""

from __future__ import annotations

from hashlib import blake2b

from wardround.patients import Chart, format_instant
from wardround.rubrics import Text

from .answers import gold_answer, gold_calls
from .dataset import CANARY
from .implicit import Worded
from .items import rubric_of
from .planner import Plan
from .scenario import Scenario
from .session import ChartRef, Gold, Provenance, Query, Session, Turn, Wording

GENERATOR = "wardround.sessions.generate"
VERSION = "1"
"""Raised when the same chart and seed give another session."""


def assemble(plan: Plan, worded: tuple[Worded, ...], chart: Chart, scenario: Scenario, seed: int) -> Session:
    """Return the session of a worded plan."""
    session_id = _identity(plan, chart, scenario, seed)
    turns = tuple(
        Turn(
            task=move.task,
            source=move.source,
            implicitness=words.type,
            antecedents=words.antecedents,
            depends_on=_depends(plan, worded, number),
            topic=move.topic,
            query=Query(en=Wording(explicit=words.explicit, implicit=words.implicit)),
            gold=Gold(
                calls=gold_calls(move, plan, session_id, scenario),
                answers=(Text(en=gold_answer(move, plan, scenario)),),
            ),
            rubric=rubric_of(move, scenario),
        )
        for number, (move, words) in enumerate(zip(plan.moves, worded, strict=True))
    )
    return Session(
        id=session_id,
        scenario=scenario.id,
        tier=plan.tier,
        chart=ChartRef(patient=chart.patient_id, hash=chart.hash),
        encounter=plan.view.encounter,
        anchor=format_instant(plan.view.anchor),
        persona=plan.interview.persona,
        licence=chart.licence,
        provenance=Provenance(generator=GENERATOR, version=VERSION, seed=seed),
        interview=plan.interview,
        turns=turns,
        labels=_labels(plan),
    )


def _identity(plan: Plan, chart: Chart, scenario: Scenario, seed: int) -> str:
    """Return an id that says nothing about the content to whoever reads it."""
    parts = (chart.hash, plan.view.encounter, str(plan.view.anchor), scenario.id, str(seed), VERSION)
    content = (plan.pair.monitoring, plan.pair.order.drug, str(plan.recipe))
    return "s" + blake2b("\x1f".join((*parts, *content)).encode(), digest_size=8).hexdigest()


def _depends(plan: Plan, worded: tuple[Worded, ...], number: int) -> tuple[int, ...]:
    """Return the earlier turns whose words or results this turn builds on."""
    move = plan.moves[number]
    earlier = {antecedent.turn for antecedent in worded[number].antecedents}
    advice = [turn for turn in range(number) if plan.moves[turn].decision is plan.decision]
    asked = [turn for turn in range(number) if plan.moves[turn].source in {"patient", "mixed"}]
    if move.write is not None:
        earlier.update(advice or (0, *asked))
    elif move.decision is plan.decision:
        earlier.update((0, *asked))
    return tuple(sorted(earlier - {number}))


def _labels(plan: Plan) -> dict[str, str]:
    fact = plan.decision.fact
    second = [move.decision for move in plan.moves if move.kind == "decide_second" and move.decision is not None]
    return {
        "canary": CANARY,
        "arc": plan.arc,
        "pair": plan.pair.monitoring,
        "drug": plan.pair.order.drug,
        "lab": plan.pair.reading.lab,
        "act": plan.decision.act,
        "advice": " ".join(move.decision.act for move in plan.moves if move.decision is not None),
        "rules": " ".join(plan.decision.rules),
        "second_rules": " ".join(rule for decision in second for rule in decision.rules),
        "second_act": " ".join(decision.act for decision in second),
        "adherence": (fact.state or "") if fact is not None else "",
        "adherence_source": fact.source if fact is not None else "",
        "adherence_turns_decision": "yes" if plan.decision.turned else "no",
    }

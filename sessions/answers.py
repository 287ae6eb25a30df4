"""Gold calls and gold answers, in the form the spec gives each task.

IL: one line per value with unit and own reading. DG: at most three bullets. CR: exactly two sentences. WU: the write
and one sentence that confirms it.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from wardround.patients import Fact, knowledge

from .planner import Decision, Move, Plan, Trend
from .queries import capital, pronouns
from .record import Reading, plain
from .scenario import Scenario
from .session import GoldCall

PREPARE = "prepare_to_answer"
_ARROWS = {"high": "↑ high", "low": "↓ low", "normal": "normal"}


def gold_calls(move: Move, plan: Plan, session_id: str, scenario: Scenario) -> tuple[GoldCall, ...]:
    """Return the calls that get what a move needs, `prepare_to_answer` last."""
    subject = {"subject_id": plan.view.patient}
    calls: list[GoldCall] = []
    if move.kind in {"lab_first", "lab_first_drug", "decide", "decide_mixed", "decide_second"}:
        calls.append(_lab_call(move.lab, subject))
    if move.trend is not None:
        stay = subject | {"hadm_id": plan.view.encounter}
        calls.append(GoldCall(tool="Observation.search", arguments=stay | {"code": move.lab.name}))
    calls.extend(_lab_call(lab, subject) for lab in move.labs)
    if move.kind in {"dose", "med_adherence"}:
        arguments = subject | {"medication": move.order.name, "status": "active"}
        calls.append(GoldCall(tool="MedicationRequest.search", arguments=arguments))
    if move.source in {"patient", "mixed"}:
        arguments = subject | {"session_id": session_id, "drug": move.order.name}
        calls.append(GoldCall(tool="patient.get_medication_adherence", arguments=arguments))
    if move.write is not None:
        tool, arguments = gold_write(move, scenario)
        calls.append(GoldCall(tool=tool, arguments=subject | arguments))
    calls.append(GoldCall(tool=PREPARE, arguments={"answer_type": "tool"}))
    return tuple(calls)


def _lab_call(lab: Reading, subject: Mapping[str, str]) -> GoldCall:
    arguments: dict[str, Any] = dict(subject) | {"category": "laboratory", "code": lab.name}
    return GoldCall(tool="Observation.search", arguments=arguments)


def gold_write(move: Move, scenario: Scenario) -> tuple[str, dict[str, str]]:
    """Return tool and arguments of a move's write, without the patient."""
    assert move.write is not None
    order = move.order
    if move.write.kind == "prescribe":
        route = scenario.route_values[order.route]
        fields = {"medication": order.name, "dose": move.write.dose, "route": route, "frequency": move.write.frequency}
        return "MedicationRequest.create", fields
    if move.write.kind == "recheck":
        return "ServiceRequest.create", {"service_type": move.lab.name, "priority": move.write.priority}
    return "Flag.create", {"category": "safety", "code": f"hold {order.name}", "detail": f"Hold {order.name}."}


# -- answers -----------------------------------------------------------------------------------------------------------


def gold_answer(move: Move, plan: Plan, scenario: Scenario) -> str:
    """Return the answer a careful assistant would give, in English."""
    if move.task == "IL":
        return _lookup(move, plan, scenario)
    if move.task == "DG":
        return "\n".join(f"- {line}" for line in _gathered(move, plan, scenario))
    if move.task == "CR":
        return _reasoned(move, plan, scenario)
    return _confirmed(move, scenario)


def value_line(lab: Reading) -> str:
    """Return one value with unit and reading, as in "Creatinine 1.2 mg/dL, normal"."""
    assert lab.level is not None
    return f"{capital(lab.name)} {lab.quantity}, {_ARROWS[lab.level]}"


def _lookup(move: Move, plan: Plan, scenario: Scenario) -> str:
    if move.kind == "adherence":
        assert move.fact is not None
        return said(move.fact, move, plan, scenario)
    if move.kind == "dose":
        return f"{ordered(move)} (active order)"
    return value_line(move.labs[0] if move.labs else move.lab)


def _gathered(move: Move, plan: Plan, scenario: Scenario) -> list[str]:
    lines = []
    if move.trend is not None:
        lines.append(trend_line(move.trend))
    lines.extend(f"{value_line(lab)}." for lab in move.labs)
    if move.kind == "med_adherence":
        lines.append(f"{ordered(move)}, active order.")
    if move.fact is not None:
        lines.append(said(move.fact, move, plan, scenario))
    return lines


def trend_line(trend: Trend) -> str:
    """Return a trend with both end points, as in "INR rose from 1.2 to 2.5 this admission, now high."."""
    verb = {"rising": "rose from", "falling": "fell from", "stable": "was stable, from"}[trend.direction]
    unit = f" {trend.last.unit}" if trend.last.unit else ""
    ends = f"{verb} {trend.first.text} to {trend.last.text}{unit}"
    return f"{capital(trend.last.name)} {ends} this admission, now {trend.last.level}."


def ordered(move: Move) -> str:
    """Return the order in words, as in "Warfarin 5 mg oral once daily"."""
    parts = (capital(move.order.name), move.order.dose, move.order.route, move.order.frequency)
    return " ".join(part for part in parts if part)


def said(fact: Fact, move: Move, plan: Plan, scenario: Scenario) -> str:
    """Return what the patient said about taking the drug, with the reason given."""
    assert fact.state is not None
    words = pronouns(plan.view.sex)
    assert words is not None
    state = scenario.states[fact.state]
    return state.say.format(drug=move.order.name, sub=words["they"], because=because(fact, words["they"], scenario))


def because(fact: Fact, they: str, scenario: Scenario) -> str:
    """Return the patient's reason as a clause, "" where none was given."""
    if not fact.reason:
        return ""
    words = reason_words(fact)
    first = words.split(" ")[0]
    unnamed = knowledge.lexicon().resolve(fact.reason) is None
    clause = unnamed and first.endswith(("s", "ed")) and not first.endswith("ss")
    return f" because {they} {words}" if clause or first in scenario.reason_verbs else f" because of {words}"


def reason_words(fact: Fact) -> str:
    """Return the reason's name: the concept's own where it is one, else the recorded words."""
    concept = knowledge.lexicon().resolve(fact.reason or "")
    return concept.name.en.lower() if concept is not None else (fact.reason or "")


def _reasoned(move: Move, plan: Plan, scenario: Scenario) -> str:
    decision = move.decision
    assert decision is not None
    lab = move.lab
    parts = [f"{capital(lab.name)} {lab.quantity} is {lab.level}{limits(decision)}"]
    if move.fact is not None:
        patient = said(move.fact, move, plan, scenario).rstrip(".")
        parts.append(f"and {patient[:1].lower()}{patient[1:]}")
    return f"{', '.join(parts)}. {advised(decision, move, scenario)}"


def limits(decision: Decision) -> str:
    """Return where the value lies against the rule's bounds, as in ", above 5.5 mmol/L"."""
    rule = decision.pair.rule
    unit = f" {bound_unit(decision)}".rstrip()
    if rule.at_least is not None and rule.below is not None:
        return f", above {plain(rule.at_least)} and below {plain(rule.below)}{unit}"
    if rule.at_least is not None:
        return f", above {plain(rule.at_least)}{unit}"
    return f", below {plain(rule.below)}{unit}" if rule.below is not None else ""


def bound_unit(decision: Decision) -> str:
    """Return the unit of the rule's bounds: the chart's own where it is the same, else as people write it."""
    rule, reading = decision.pair.rule, decision.pair.reading
    if knowledge.convert(Decimal(1), rule.unit, reading.unit, reading.lab) == 1:
        return reading.unit
    known = knowledge.unit(rule.unit)
    return known.display if known is not None else rule.unit


def advised(decision: Decision, move: Move, scenario: Scenario) -> str:
    """Return the recommendation, one sentence."""
    return scenario.acts[decision.act].say.format(drug=move.order.name, lab=move.lab.name)


def _confirmed(move: Move, scenario: Scenario) -> str:
    assert move.write is not None
    order = move.order
    if move.write.kind == "prescribe":
        route = scenario.route_words.get(order.route, order.route)
        return f"Ordered {order.name} {move.write.dose} {route} {move.write.frequency}."
    if move.write.kind == "recheck":
        return f"Ordered a repeat {move.lab.name}, {move.write.priority} priority."
    return f"Safety flag recorded: hold {order.name}."

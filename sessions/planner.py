"""The plan of a session: which four moves, about which drug and lab, and what is right to do.

A decision comes from one monitoring rule of the knowledge base, or from an adherence rule of the scenario where what
the patient really takes turns it; its rule ids are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from wardround.patients import Fact, Interview, Stream, knowledge

from .record import Order, Pair, Reading, RecordView, drug_of, plain
from .scenario import Scenario

Direction = Literal["rising", "falling", "stable"]
Source = Literal["ehr", "patient", "mixed", "write"]


@dataclass(frozen=True)
class Trend:
    """A lab's way through this encounter."""

    first: Reading
    last: Reading
    direction: Direction
    readings: tuple[Reading, ...]


@dataclass(frozen=True)
class Decision:
    """What is right to do with one drug, and why."""

    act: str
    """Key of the scenario's acts."""
    rules: tuple[str, ...]
    """Ids of the rules it comes from."""
    pair: Pair
    finding: str
    """What the value means, in words."""
    fact: Fact | None = None
    """The adherence fact it was checked against."""
    turned: bool = False
    """The patient's adherence changed what the lab alone would say."""


@dataclass(frozen=True)
class Write:
    """The one write of the last turn."""

    kind: Literal["prescribe", "recheck", "flag"]
    dose: str = ""
    forbidden_dose: str = ""
    """A dose that must not be reached."""
    frequency: str = ""
    priority: str = ""


@dataclass(frozen=True)
class Move:
    """What one turn is about."""

    kind: str
    """Key of the scenario's phrases."""
    task: str
    source: Source
    lab: Reading
    order: Order
    labs: tuple[Reading, ...] = ()
    """Companion labs asked for."""
    trend: Trend | None = None
    fact: Fact | None = None
    decision: Decision | None = None
    write: Write | None = None

    @property
    def topic(self) -> str:
        """What the turn is about, for coverage counts."""
        if self.kind in {"lab_next", "labs"}:
            return "+".join(one.lab for one in self.labs)
        if self.kind in {"dose", "adherence", "med_adherence", "prescribe", "flag"}:
            return f"{self.order.drug}:{self.kind}"
        if self.kind.startswith("decide"):
            return f"{self.order.drug}:{self.lab.lab}"
        return self.lab.lab


@dataclass(frozen=True)
class Plan:
    """Four moves that belong together."""

    view: RecordView
    interview: Interview
    moves: tuple[Move, ...]
    pair: Pair
    second: Decision | None
    decision: Decision
    tier: str
    recipe: int

    @property
    def arc(self) -> str:
        """Tasks of the four turns, as in "IL-IL-DG-CR"."""
        return "-".join(move.task for move in self.moves)


def adherence_fact(interview: Interview, drug: str, scenario: Scenario) -> Fact | None:
    """Return what the patient says about taking a drug; None where they say nothing certain, or several things."""
    found = [
        fact
        for fact in interview.facts
        if fact.kind == "adherence" and fact.drug is not None and (fact.drug == drug or drug_of(fact.drug) == drug)
    ]
    if len(found) != 1 or found[0].state not in scenario.states:
        return None
    # Why somebody does take a drug is not asked for.
    return found[0].model_copy(update={"reason": None}) if found[0].state == "taking" else found[0]


def decide(pair: Pair, fact: Fact | None, scenario: Scenario) -> Decision | None:
    """Return the decision for a pair; None where the rule's act is not one the scenario asks about."""
    rule = pair.rule
    if rule.act not in scenario.acts:
        return None
    for turn in scenario.adherence_rules:
        if fact is None or fact.state not in turn.states or rule.act not in turn.rule_acts:
            continue
        if turn.reasons is None or _meant(fact.reason) in map(_meant, turn.reasons):
            return Decision(turn.act, (rule.id, turn.id), pair, turn.finding, fact, turned=True)
    return Decision(rule.act, (rule.id,), pair, rule.finding.en, fact)


def _meant(reason: str | None) -> str | None:
    """Return the concept that a reason is, whether it is written as its id or in words; else the reason itself."""
    concept = knowledge.lexicon().resolve(reason or "")
    return reason if concept is None else concept.id


def usable(pair: Pair, scenario: Scenario) -> bool:
    """Tell whether the pair's rules hold: for a drug on the ward rather than an infusion, and in all of the body."""
    local = scenario.routes.local
    here = pair.order.route in (*local.get("*", ()), *local.get(pair.order.drug, ()))
    return pair.monitoring not in scenario.left_out.pairs and not here


def outranked(pair: Pair, view: RecordView, scenario: Scenario) -> bool:
    """Tell whether another lab of the same drug asks for a graver act, so that "given all this" would turn it."""
    rank = scenario.severity.get(pair.rule.act, 0)
    same = (other for other in view.pairs if other.order.drug == pair.order.drug and usable(other, scenario))
    return any(scenario.severity.get(other.rule.act, 0) > rank for other in same)


def coherent(pair: Pair, fact: Fact, scenario: Scenario) -> bool:
    """Tell whether the lab can be what it is if the patient takes the drug as they say."""
    untaken = fact.state in {"stopped", "never_started"}
    return not (untaken and pair.reading.lab in scenario.never_pair.labs and pair.rule.act != "increase")


def interviewable(order: Order, scenario: Scenario) -> bool:
    """Tell whether patients take the drug themselves, in one fixed dose, so that asking about it makes sense."""
    if order.drug in scenario.left_out.drugs:
        return False
    fixed = order.amount is not None and order.amount > 0 and order.unit.casefold() in scenario.dose_units
    return fixed and not order.as_needed and order.route in scenario.routes.interviewable


def trend_of(series: tuple[Reading, ...] | None, scenario: Scenario) -> Trend | None:
    """Return the trend of a series; None where it is too short, too long or changes its way.

    A series that went up and came down again has no one trend: "rising" and "now falling" could both be argued.
    """
    if series is None or not 2 <= len(series) <= scenario.series_limit:
        return None
    first, last = series[0], series[-1]
    margin = abs(first.value) * scenario.trend_percent / Decimal(100)
    steps = [after.value - before.value for before, after in pairwise(series)]
    if last.value - first.value > margin and all(step >= 0 for step in steps):
        return Trend(first, last, "rising", series)
    if first.value - last.value > margin and all(step <= 0 for step in steps):
        return Trend(first, last, "falling", series)
    near = abs(first.value) * scenario.stable_percent / Decimal(100)
    if max(abs(one.value - first.value) for one in series) <= near:
        return Trend(first, last, "stable", series)
    return None


def plans(
    view: RecordView, interview: Interview, pair: Pair, scenario: Scenario, stream: Stream, used: Counter[str]
) -> Iterator[Plan]:
    """Yield the plans that a pair allows, the least used kinds first.

    Args:
        view: The record at the anchor.
        interview: What the patient will say.
        pair: The drug and lab the session is about.
        scenario: Rules and recipes.
        stream: Breaks ties and picks companions.
        used: How often each arc and recipe was used so far; read only.
    """
    fact = adherence_fact(interview, pair.order.drug, scenario)
    if fact is None or not interviewable(pair.order, scenario) or not coherent(pair, fact, scenario):
        return
    decision = decide(pair, fact, scenario)
    if decision is None:
        return
    second = _second(view, pair, scenario, stream)
    order = stream.shuffled(range(len(scenario.recipes)))
    order.sort(key=lambda index: (used[_arc(scenario, index)], used[f"recipe:{index}"]))
    for index in order:
        moves = _moves(scenario.recipes[index], view, decision, second, scenario, stream)
        if moves is not None:
            yield Plan(view, interview, moves, pair, second, decision, _tier(moves, view, decision, scenario), index)


def _arc(scenario: Scenario, index: int) -> str:
    return "-".join(scenario.tasks.get(kind, "WU") for kind in scenario.recipes[index])


def _second(view: RecordView, pair: Pair, scenario: Scenario, stream: Stream) -> Decision | None:
    """Pick another drug of this patient, with another lab, to decide about by its lab alone."""
    others = [
        decision
        for other in view.pairs
        if usable(other, scenario) and other.order.drug != pair.order.drug and other.reading.lab != pair.reading.lab
        if not outranked(other, view, scenario)
        for decision in (decide(other, None, scenario),)
        if decision is not None and decision.act != "increase"
    ]
    if not others:
        return None
    # A decision that differs from the main one makes the two compete; it is preferred.
    mixed = stream.shuffled(others)
    mixed.sort(key=lambda decision: decision.pair.rule.act == pair.rule.act)
    return mixed[0]


def _tier(moves: tuple[Move, ...], view: RecordView, decision: Decision, scenario: Scenario) -> str:
    others = [move.decision for move in moves if move.kind == "decide_second" and move.decision is not None]
    conflict = decision.turned or any(other.act != decision.act for other in others)
    if conflict and len(view.types) >= scenario.rich_types:
        return "rich"
    if any(move.trend is not None or move.task == "CR" for move in moves):
        return "moderate"
    return "sparse"


def _moves(
    recipe: tuple[str, str, str, str],
    view: RecordView,
    decision: Decision,
    second: Decision | None,
    scenario: Scenario,
    stream: Stream,
) -> tuple[Move, ...] | None:
    """Fill a recipe; None where the record does not hold what it needs."""
    busy = {decision.pair.reading.lab}
    if "decide_second" in recipe:
        if second is None:
            return None
        busy.add(second.pair.reading.lab)
    moves: list[Move] = []
    for step in recipe:
        move = _move(step, view, second if step == "decide_second" else decision, busy, scenario, stream)
        if move is None:
            return None
        busy.update(one.lab for one in move.labs)
        moves.append(move)
    return tuple(moves)


def _move(
    step: str, view: RecordView, decision: Decision | None, busy: set[str], scenario: Scenario, stream: Stream
) -> Move | None:
    assert decision is not None
    pair = decision.pair
    write = write_for(decision, scenario) if step == "write" else None
    kind = write.kind if write else step
    source: Source = scenario.sources.get(kind, "ehr")
    # Where adherence turns the decision, the reason belongs to the answer even when the patient was asked earlier.
    told = source in {"mixed", "patient"} or (step == "decide" and decision.turned)
    fact = decision.fact if told else None
    move = Move(kind, scenario.tasks[kind], source, pair.reading, pair.order, fact=fact, write=write)
    if step.startswith("decide"):
        return replace(move, decision=decision)
    if step.startswith("trend"):
        trend = trend_of(view.series.get(pair.reading.lab), scenario)
        if trend is None:
            return None
        move = replace(move, trend=trend)
    wanted = {"lab_next": 1, "trend_lab": 1, "labs": 2}.get(step, 0)
    if wanted:
        labs = _companions(view, pair.reading.lab, busy, scenario, stream)
        if len(labs) < wanted:
            return None
        move = replace(move, labs=labs[:wanted])
    return move


def _companions(view: RecordView, lab: str, busy: set[str], scenario: Scenario, stream: Stream) -> tuple[Reading, ...]:
    """Return labs that are read together with one, the closest group first, in seeded order inside it."""
    near = scenario.companions.get(lab, ())
    far = tuple(one for one in scenario.companions["*"] if one not in near)
    return tuple(
        view.latest[one]
        for group in (near, far)
        for one in stream.shuffled(group)
        if one in view.latest and one not in busy and one != lab
    )


def write_for(decision: Decision, scenario: Scenario) -> Write:
    """Return the write that carries a decision out."""
    order = decision.pair.order
    often = scenario.frequency_words.get(order.frequency.casefold())
    complete = bool(often and order.route in scenario.route_values)
    act = decision.act
    if act in {"continue", "restart", "same-dose"} and complete:
        assert order.amount is not None
        return Write("prescribe", order.dose, f"{plain(order.amount * 2)} {order.unit}", often or "")
    if act in {"reduce", "ease"} and complete and order.drug in scenario.halve:
        assert order.amount is not None
        return Write("prescribe", f"{plain(order.amount / 2)} {order.unit}", order.dose, often or "")
    if act in {"hold", "stop"}:
        return Write("flag")
    return Write("recheck", priority=scenario.acts[act].priority)

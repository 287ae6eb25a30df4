"""Decisions on a monitored drug by its lab (`knowledge.monitoring`), turned by what the patient really takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Final

from wardround.patients import Fact, Stream, knowledge
from wardround.patients.knowledge import MonitoringRule, Names
from wardround.rubrics import Act
from wardround.sessions.common import AdherenceRule, Common
from wardround.sessions.moves.adherence import (
    adherence_fact,
    adherence_move,
    dose_adherence_move,
    interviewable,
    lab_adherence_move,
    reason_concept,
    trend_adherence_moves,
)
from wardround.sessions.moves.decide_drug import decide_moves
from wardround.sessions.moves.drugs import clear_dose, dose_move, given_move, last_dose
from wardround.sessions.moves.labs import latest_lab
from wardround.sessions.moves.move import Case, Move
from wardround.sessions.moves.order_words import askable
from wardround.sessions.moves.writes import decision_writes
from wardround.sessions.record import Order, Pair, plain, rule_for

from .decision import Decision, DecisionKind, Hinge
from .dosed import dose_fits
from .owned import owned
from .withheld import CARRIED_ON, withheld

KIND_ID: Final = "drug_lab"
_AS_ORDERED: Final = frozenset({"continue", "recheck", "same-dose"})
"""Acts by which a drug goes on at the dose ordered."""


def decisions(case: Case) -> tuple[Decision, ...]:
    """Return every decision on a drug and its lab that the record and the interview allow, in a fixed order."""
    return case.memo("decisions.drug_lab", _decisions)


def _decisions(case: Case) -> tuple[Decision, ...]:
    found = []
    for pair in case.view.pairs:
        if stands(case, pair):
            decision = decide(case, pair, told_of(case, pair.order))
            if decision is not None:
                found.append(decision)
    return tuple(found)


def threads(case: Case, stream: Stream) -> Iterator[Decision]:
    """Yield the decisions in drawn order, the turned ones first, then those that change something."""
    mixed = stream.shuffled(decisions(case))
    mixed.sort(key=lambda one: (not one.turned, one.unchanged, one.fact is None))
    yield from mixed


def told_of(case: Case, order: Order) -> Fact | None:
    """Return what the patient says of taking a drug that they take themselves; None where there is nothing to ask."""
    return adherence_fact(case, order.drug) if interviewable(order) else None


def by_lab_alone(case: Case, pair: Pair) -> Decision | None:
    """Return what the lab alone says of a drug, whatever the patient tells; None where it does not stand."""
    return decide(case, pair, None) if stands(case, pair) else None


# -- where a rule stands -----------------------------------------------------------------------------------------------


def stands(case: Case, pair: Pair) -> bool:
    """Tell whether a pair's rule may be asked about: not contested, nothing graver known, and it can be acted on."""
    words = case.common.rules.get(pair.rule.id)
    if pair.rule.act not in case.common.acts or (words is not None and words.contested):
        return False
    if owned(case, pair.rule.id) or (pair.rule.act in _AS_ORDERED and not dose_fits(case, pair.order)):
        return False
    if pair.rule.act in CARRIED_ON and withheld(case, pair.order.drug):
        return False
    if _grey(case.common, pair) or not _usable(case.common, pair) or _outranked(case, pair, pair.rule.act):
        return False
    return pair.rule.act != "reduce" or _reducible(case.common, pair)


def _grey(common: Common, pair: Pair) -> bool:
    """Tell whether a value lies where physicians differ, as at the edge of the range aimed at."""
    reading = pair.reading
    value = knowledge.convert(reading.value, reading.unit, pair.rule.unit, reading.lab)
    return value is not None and any(low <= value <= high for low, high in common.grey.get(pair.monitoring, ()))


def _usable(common: Common, pair: Pair) -> bool:
    """Tell whether the rules hold: for a drug on the ward rather than an infusion, and in all of the body."""
    local = common.routes.local
    here = pair.order.route in (*local.get("*", ()), *local.get(pair.order.drug, ()))
    return pair.monitoring not in common.skip_pairs and not here


def _outranked(case: Case, pair: Pair, act: str) -> bool:
    """Tell whether another lab of the same drug asks for a graver act, so that "given all this" would turn it."""
    rank = case.common.severity
    return any(rank.get(other.rule.act, 0) > rank.get(act, 0) for other in others_of(case, pair))


def others_of(case: Case, pair: Pair) -> list[Pair]:
    """Return what the other labs of the same drug say of it, rules that are contested included."""
    same = (other for other in case.view.pairs if other.order.drug == pair.order.drug)
    return [other for other in same if other.reading.lab != pair.reading.lab and _usable(case.common, other)]


def _reducible(common: Common, pair: Pair) -> bool:
    """Tell whether the dose as ordered is not yet what the rule, or the kidney, would have it reduced to."""
    order, words = pair.order, common.rules.get(pair.rule.id)
    if order.amount is None:
        return False
    if words is not None and words.daily_above is not None:
        return _daily_above(order, words.daily_above)
    profile = knowledge.drug_profiles().get(order.drug)
    lowered = [rule.dose for rule in profile.renal if rule.dose] if profile is not None else []
    return not any(_at_most(order, dose) for dose in lowered)


def _at_most(order: Order, dose: str) -> bool:
    amount = knowledge.dose_amount(dose)
    mine = knowledge.dose_amount(order.dose)
    return amount is not None and mine is not None and amount.unit == mine.unit and mine.value <= amount.value


def _daily_above(order: Order, limit: str) -> bool:
    often, most, mine = (
        knowledge.times_a_day(order.frequency),
        knowledge.dose_amount(limit),
        knowledge.dose_amount(order.dose),
    )
    if often is None or most is None or mine is None or most.unit != mine.unit:
        return False
    return Fraction(mine.value) * often > Fraction(most.value)


# -- what is right -----------------------------------------------------------------------------------------------------


def decide(case: Case, pair: Pair, fact: Fact | None) -> Decision | None:
    """Return what is right for a pair and what the patient says; None where good physicians would differ.

    Args:
        case: Patient and record.
        pair: The drug, its lab's latest value and the rule that the value meets.
        fact: What the patient says of taking the drug; None where they were not asked.
    """
    turn: AdherenceRule | None = None
    act = pair.rule.act
    if fact is not None:
        if not _coherent(case.common, pair, fact):
            return None
        turn = _turn(case.common, pair, fact)
        if turn is None and _open(pair, fact):
            return None
    key = _act(case, pair.order, act if turn is None else turn.act)
    hinge = _hinge(case, pair, fact, key)
    if hinge is None:
        return None
    return _decision(case, pair, fact, turn, key, hinge)


def _act(case: Case, order: Order, act: str) -> str:
    """Return the act's key; what is being given in hospital goes on rather than being restarted."""
    dose = last_dose(case, order.drug)
    return "resume" if act == "restart" and dose is not None and dose.outcome == "given" else act


def _coherent(common: Common, pair: Pair, fact: Fact) -> bool:
    """Tell whether the lab can be what it is if the patient takes the drug as they say."""
    untaken = fact.state in {"stopped", "never_started"}
    return not (untaken and pair.reading.lab in common.never_pair and pair.rule.act != "increase")


def _turn(common: Common, pair: Pair, fact: Fact) -> AdherenceRule | None:
    """Return the rule by which the patient's words change what the lab alone would say."""
    reason, classes = reason_concept(fact), {pair.order.drug, *knowledge.drugs()[pair.order.drug].classes}
    for rule in common.adherence_rules:
        if fact.state not in rule.states or pair.rule.act not in rule.rule_acts:
            continue
        if rule.classes is not None and not classes.intersection(rule.classes):
            continue
        if rule.reasons is None or reason in rule.reasons or (reason is None and rule.unexplained):
            return rule
    return None


def _open(pair: Pair, fact: Fact) -> bool:
    """Tell whether it is left open what a drug that was stopped for a reason of its own is worth now."""
    return fact.state in {"stopped", "never_started"} and pair.rule.act in {"continue", "recheck", "increase"}


def _decision(
    case: Case, pair: Pair, fact: Fact | None, turn: AdherenceRule | None, key: str, hinge: Hinge
) -> Decision:
    act, rule, order = case.common.acts[key], pair.rule, pair.order
    words = None if turn is not None else case.common.rules.get(rule.id)
    target = pair.reading.name if act.target == "lab" else order.name
    accepted: list[tuple[Act, str]] = [(one, target) for one in act.accepted]
    if act.target == "lab":
        accepted.extend((one, panel) for panel in case.common.panels.get(pair.reading.lab, ()) for one in act.accepted)
    if words is not None:
        accepted.extend((one, what.format(drug=order.name)) for one, what in words.accept)
    say = words.say if words is not None and words.say is not None else act.say
    return Decision(
        kind=KIND_ID,
        rules=(rule.id,) if turn is None else (rule.id, turn.id),
        subject=pair.monitoring,
        act=key,
        unchanged=act.unchanged,
        accepted=tuple(accepted),
        avoid=(case.common.danger_of(order.drug) if key == "continue" else act.avoid, order.name),
        finding=rule.finding if turn is None else turn.finding,
        advice=_fill(say, pair),
        hinge=hinge,
        reading=pair.reading,
        order=order,
        fact=fact,
        turned=turn is not None,
        severity=case.common.severity.get(rule.act, 0),
        extra={"pair": pair, "others": tuple(others_of(case, pair))},
    )


def _fill(say: Names, pair: Pair) -> Names:
    en = say.en.format(drug=pair.order.name, lab=pair.reading.name)
    return Names(en=en, zh=str(say.zh).format(drug=pair.order.zh or pair.order.name, lab=pair.reading.zh))


# -- what would turn it ------------------------------------------------------------------------------------------------


def _hinge(case: Case, pair: Pair, fact: Fact | None, key: str) -> Hinge | None:
    """Return a value of the same lab with which another act would be right; None where no other band does that."""
    rules = knowledge.monitoring()[pair.monitoring].rules
    here = rules.index(pair.rule)
    for place in sorted(range(len(rules)), key=lambda one: (abs(one - here), one)):
        value = _inside(pair, rules[place])
        if place == here or value is None or not _differs(case, pair, rules[place], fact, key, Decimal(value)):
            continue
        return Hinge(kind="quantity", keys=pair.reading.keys, to=value)
    return None


def _differs(case: Case, pair: Pair, rule: MonitoringRule, fact: Fact | None, key: str, value: Decimal) -> bool:
    """Tell whether another rule of the table would stand in this chart and ask for another act, with that value."""
    words = case.common.rules.get(rule.id)
    if rule.act not in case.common.acts or (words is not None and words.contested):
        return False
    other = replace(pair, rule=rule)
    if owned(case, rule.id) or (rule.act in _AS_ORDERED and not dose_fits(case, pair.order)):
        return False
    own = knowledge.convert(value, pair.reading.unit, rule.unit, pair.reading.lab)
    instead = {} if own is None else {pair.reading.lab: own}
    if {rule.act, pair.rule.act} <= CARRIED_ON and withheld(case, pair.order.drug, instead):
        return False  # what is held at this value is not held by this rule at another, whatever else holds it
    if _outranked(case, pair, rule.act) or (rule.act == "reduce" and not _reducible(case.common, other)):
        return False
    if fact is None:
        return rule.act != key
    if not _coherent(case.common, other, fact):
        return False
    turn = _turn(case.common, other, fact)
    if turn is None and _open(other, fact):
        return False
    return _act(case, pair.order, rule.act if turn is None else turn.act) != key


def _inside(pair: Pair, rule: MonitoringRule) -> str | None:
    """Return a value in the middle of a rule's band, in the reading's own unit and precision."""
    low, high = rule.at_least, rule.below
    if low is not None and high is not None:
        middle = (low + high) / 2
    elif low is not None:
        middle = low * Decimal("1.2")
    elif high is not None:
        middle = high * Decimal("0.8")
    else:
        return None
    reading = pair.reading
    own = knowledge.convert(middle, rule.unit, reading.unit, reading.lab)
    if own is None:
        return None
    own = round(own, len(reading.text.partition(".")[2]))
    monitoring = knowledge.monitoring()[pair.monitoring]
    return plain(own) if rule_for(monitoring, replace(reading, value=own)) == rule else None


# -- moves -------------------------------------------------------------------------------------------------------------


def openings(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the openings: the lab, then the drug's order and its last dose."""
    assert decision.reading is not None and decision.order is not None
    yield latest_lab(case, decision.reading)
    if askable(decision.order):
        yield dose_move(case, decision.order)
    dose = clear_dose(case, decision.order)
    if dose is not None:
        yield given_move(case, decision.order, dose)


def asks(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the turns in which the patient is asked about the drug: alone, with its order, with its lab."""
    fact, order, reading = decision.fact, decision.order, decision.reading
    assert order is not None and reading is not None
    if fact is None:
        return
    made = [adherence_move(case, order, fact), dose_adherence_move(case, order, fact)]
    made += [*trend_adherence_moves(case, reading, order, fact), lab_adherence_move(case, reading, order, fact)]
    yield from (replace(move, turned=decision.turned) for move in made)


def decides(case: Case, decision: Decision, mixed: bool) -> Iterator[Move]:
    """Yield the turns that ask what is right; a turned decision that is not mixed rests on an earlier answer."""
    yield from decide_moves(case, decision, mixed)


def writes(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the writes that carry it out."""
    yield from decision_writes(case, decision)


KIND: Final = DecisionKind(KIND_ID, threads, openings, asks, decides, writes)

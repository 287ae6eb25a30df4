"""A symptom that the patient tells or denies, and a home drug that can cause it: is it the drug, and what then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Final

from wardround.patients import Stream, knowledge
from wardround.patients.knowledge import Names, SideEffectRule, drug_profiles, side_effects_of
from wardround.rubrics import Act
from wardround.sessions.moves.drugs import dose_move
from wardround.sessions.moves.labs import look_up
from wardround.sessions.moves.move import Case, Move
from wardround.sessions.moves.order_words import askable
from wardround.sessions.moves.parts import drug_entity
from wardround.sessions.moves.patient import lab_symptom_move, symptom_move
from wardround.sessions.moves.patient_decisions import decide_symptom_move
from wardround.sessions.moves.patient_parts import Told, symptoms
from wardround.sessions.moves.patient_writes import flag_risk
from wardround.sessions.moves.writes import flag, lower_dose, order_fields, prescribe
from wardround.sessions.record import Order, Reading, plain

from .decision import Decision, DecisionKind, Hinge
from .withheld import withheld

KIND_ID: Final = "side_effect"
_ACCEPTED: Final[dict[str, tuple[Act, ...]]] = {
    "continue": ("continue",),
    "hold": ("hold", "stop"),
    "stop": ("stop", "hold", "switch"),
    "reduce": ("reduce", "switch"),
    "switch": ("switch", "stop"),
}
"""What counts as an act of a rule."""
_SEVERITY: Final = {"continue": 0, "reduce": 1, "switch": 2, "hold": 2, "stop": 2}
_KEEP: Final = Names(en="Continue {drug} at the current dose", zh="{drug}维持原剂量")
_TAKEN: Final = frozenset({"taking", "missed_doses", "reduced"})


def threads(case: Case, stream: Stream) -> Iterator[Decision]:
    """Yield what is right for each symptom told or denied of each drug that can cause it, those that act first."""
    mixed = stream.shuffled(case.memo("decisions.side_effect", _decisions))
    yield from sorted(mixed, key=lambda one: (not one.turned, one.fact is None or one.fact.polarity == "absent"))


def _decisions(case: Case) -> tuple[Decision, ...]:
    return tuple(one for drug in sorted(case.view.orders) for one in _of_drug(case, case.view.orders[drug]))


def _of_drug(case: Case, order: Order) -> Iterator[Decision]:
    rules = side_effects_of(order.drug)
    if not rules or _when_needed(order) or not askable(order) or not _taken(case, order) or _otherwise(case, order):
        return
    profile = drug_profiles().get(order.drug)
    caused = {one.finding for one in profile.adverse} if profile is not None else set()
    for concept, told in sorted(symptoms(case).items()):
        mine = [rule for rule in rules if concept in rule.findings and concept in caused]
        if told.polarity == "absent":
            decision = _denied(case, order, told, mine)
        else:
            decision = next((one for rule in mine if (one := _told(case, order, told, rule, mine))), None)
        if decision is not None:
            yield decision


def _when_needed(order: Order) -> bool:
    return order.as_needed or "needed" in order.frequency.casefold() or "prn" in order.frequency.casefold().split()


def _taken(case: Case, order: Order) -> bool:
    """Tell whether the patient takes it at home: what began in hospital came after what they tell of."""
    states = {one.state for one in case.interview.facts if one.kind == "adherence" and one.drug == order.drug}
    return bool(states) and states <= _TAKEN


def _otherwise(case: Case, order: Order) -> bool:
    """Tell whether a lab of the drug asks for something that this decision would pass over."""
    return any(pair.order.drug == order.drug and pair.rule.act != "continue" for pair in case.view.pairs)


def _denied(case: Case, order: Order, told: Told, rules: list[SideEffectRule]) -> Decision | None:
    if not rules or withheld(case, order.drug):
        return None
    for rule in rules:
        if rule.lab is not None and rule.act != "continue" and _holds(case, rule) is not False:
            return None
    rule = next((one for one in rules if one.act != "continue"), rules[0])
    hinge = Hinge("state", tuple(sorted(told.keys)), "present")
    finding = Names(en=f"no {told.names.en} on {order.name}", zh=f"用{order.zh}没有{told.names.zh}")
    return _decision(case, order, told, rule, "continue", _KEEP, finding, hinge, None)


def _told(case: Case, order: Order, told: Told, rule: SideEffectRule, rules: list[SideEffectRule]) -> Decision | None:
    """Return what a rule says of a symptom that is there; None where it does not hold, or cannot be seen to."""
    if told.fact.drug != order.drug and (told.fact.drug is not None or not rule.explained):
        return None  # what the patient puts down to another drug is never held against this one
    if rule.act == "continue" and withheld(case, order.drug):
        return None
    reading = None
    hinge = Hinge("state", tuple(sorted(told.keys)), "absent")
    if rule.lab is not None:
        reading = _reading(case, rule)
        to = _other_side(rule, rules, reading) if reading is not None else None
        if reading is None or to is None or not _holds(case, rule):
            return None
        hinge = Hinge("quantity", reading.keys, to)
    return _decision(case, order, told, rule, rule.act, rule.say, rule.why, hinge, reading)


def _decision(
    case: Case, order: Order, told: Told, rule: SideEffectRule, act: str, say: Names, finding: Names,
    hinge: Hinge, reading: Reading | None,
) -> Decision:  # fmt: skip
    def filled(words: Names) -> Names:
        return Names(en=words.en.format(drug=order.name), zh=str(words.zh).format(drug=order.zh or order.name))

    keeps = act == "continue"
    return Decision(
        kind=KIND_ID,
        rules=(rule.id,),
        subject=f"{order.drug}:{told.concept}",
        act=act,
        unchanged=keeps,
        accepted=tuple((one, order.name) for one in (*_ACCEPTED[act], *(() if act != rule.act else rule.accept))),
        avoid=(case.common.danger_of(order.drug) if keeps else "increase", order.name),
        finding=filled(finding),
        advice=filled(say),
        hinge=hinge,
        reading=reading,
        order=order,
        fact=told.fact,
        turned=not keeps,
        severity=_SEVERITY[act],
        extra={"rule": rule, "told": told},
    )


# -- the lab that decides ----------------------------------------------------------------------------------------------


def _reading(case: Case, rule: SideEffectRule) -> Reading | None:
    found = case.view.latest.get(str(rule.lab)) or case.view.vitals.get(str(rule.lab))
    if found is None or knowledge.convert(Decimal(1), str(rule.unit), found.unit, found.lab) != 1:
        return None
    return found


def _holds(case: Case, rule: SideEffectRule) -> bool | None:
    """Tell whether a lab is on a rule's side of its bounds; None where it cannot be told, as on a bound."""
    reading = _reading(case, rule)
    if reading is None or reading.value in {rule.at_least, rule.below}:
        return None
    above = rule.at_least is None or reading.value > rule.at_least
    return above and (rule.below is None or reading.value < rule.below)


def _other_side(rule: SideEffectRule, rules: list[SideEffectRule], reading: Reading) -> str | None:
    """Return a value with which the other rule about the same lab would hold, as exact as the chart's."""
    other = next((one for one in rules if one.lab == rule.lab and one.act != rule.act), None)
    if other is None:
        return None
    low, high = other.at_least, other.below
    if low is not None and high is not None:
        value = (low + high) / 2
    elif low is not None:
        value = low * Decimal("1.2")
    else:
        assert high is not None
        value = high * Decimal("0.8")
    return plain(round(value, len(reading.text.partition(".")[2])))


# -- moves -------------------------------------------------------------------------------------------------------------


def _parts(decision: Decision) -> tuple[SideEffectRule, Told]:
    rule, told = decision.extra["rule"], decision.extra["told"]
    assert isinstance(rule, SideEffectRule) and isinstance(told, Told)
    return rule, told


def openings(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the openings: the lab that decides, the drug's order, the symptom itself."""
    reading, order = decision.reading, decision.order
    assert order is not None
    move = None if reading is None else look_up(case, reading)
    if move is not None:
        yield move
    yield dose_move(case, order)
    yield replace(symptom_move(case, _parts(decision)[1]), turned=decision.turned)


def asks(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the turns in which the patient is asked about the symptom: alone, or beside the lab."""
    _, told = _parts(decision)
    yield replace(symptom_move(case, told), turned=decision.turned)
    reading = decision.reading
    if reading is not None and reading.lab in case.view.latest and reading.level is not None:
        yield replace(lab_symptom_move(case, reading, told), turned=decision.turned)


def decides(case: Case, decision: Decision, mixed: bool) -> Iterator[Move]:
    """Yield the turn that asks what is right; where a lab takes part, patient and lab are asked in one turn."""
    rule, told = _parts(decision)
    if mixed or decision.reading is None:
        yield decide_symptom_move(case, decision, rule, told, ask=mixed)


def writes(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the writes that carry it out, the most fitting first."""
    order, told = decision.order, _parts(decision)[1]
    assert order is not None and order.amount is not None
    if decision.act in ("hold", "stop", "switch"):
        yield flag(case, order, "hold" if decision.act == "hold" else "stop", decision)
    amount = {"continue": order.amount, "reduce": lower_dose(case, order)}.get(decision.act)
    fields = order_fields(case, order, amount) if amount is not None else None
    if fields is not None:
        arguments, say = fields
        never = f"{plain(2 * order.amount if decision.unchanged else order.amount)} {order.unit}"
        yield prescribe(case, drug_entity(case, order), order.names, arguments, say, never, decision)
    if not decision.unchanged:
        risk = Names(en=f"{told.names.en} on {order.name}", zh=f"用{order.zh}出现{told.names.zh}")
        never_said = Names(en=f"tolerates {order.name}", zh=f"能耐受{order.zh}")
        yield flag_risk(case, told.names.en, risk, never_said, decision)


KIND: Final = DecisionKind(KIND_ID, threads, openings, asks, decides, writes)

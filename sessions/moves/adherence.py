"""What the patient says of taking a drug at home, in both languages: items, lines, and the turns that ask it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from wardround.patients import Fact, Stream, knowledge
from wardround.patients.knowledge import Names
from wardround.rubrics import AllOf, Check, Item, Not, ReportsCheck, RetrievedCheck, Text
from wardround.sessions.common import common
from wardround.sessions.record import Order, Reading, drug_of
from wardround.sessions.session import GoldCall

from .drug_items import order_items
from .drugs import monitoring_labs, near_orders, order_call, topic, was_asked
from .move import Case, Focus, Move, MoveKind, kept
from .order_words import as_needed, order_line
from .parts import (
    ask_call,
    bullets,
    drug_entity,
    grounded_item,
    item,
    lab_call,
    lab_entity,
    lab_items,
    only_item,
    value_line,
)
from .trends import trend_call, trend_items, trend_line, trends

PRONOUNS: Final = {"female": Names(en="she", zh="她"), "male": Names(en="he", zh="他")}


def adherence_fact(case: Case, drug: str) -> Fact | None:
    """Return what the patient says about taking a drug; None where they say nothing certain, or several things."""
    return case.memo(f"adherence.fact.{drug}", lambda case: _adherence_fact(case, drug))


def _adherence_fact(case: Case, drug: str) -> Fact | None:
    found = [
        fact
        for fact in case.interview.facts
        if fact.kind == "adherence" and fact.drug is not None and (fact.drug == drug or drug_of(fact.drug) == drug)
    ]
    if len(found) != 1 or found[0].state not in case.common.states:
        return None
    fact = found[0]
    if reason_concept(fact) in case.common.states[str(fact.state)].unclear:
        return None
    # Why somebody does take a drug is not asked for.
    return fact.model_copy(update={"reason": None}) if fact.state == "taking" else fact


def interviewable(order: Order) -> bool:
    """Tell whether patients take the drug themselves, in one fixed dose, so that asking about it makes sense."""
    shared = common()
    fixed = order.amount is not None and order.amount > 0 and order.unit.casefold() in shared.dose_units
    mine = not as_needed(order) and order.route in shared.routes.interviewable
    return fixed and mine and order.drug not in shared.skip_drugs


def heard_item(fact: Fact) -> Item:
    """Return the item that the patient was asked about what they say."""
    return item(
        "heard",
        "Asked the patient about it.",
        "问过患者本人。",
        RetrievedCheck(any_of=(f"fact/{fact.id}",)),
    )


def said_items(case: Case, fact: Fact, order: Order) -> list[Item]:
    """Return the items that what the patient says of taking a drug is conveyed, and with which reason.

    They rest on `heard_item`, which stands beside them.
    """
    state = case.common.states[str(fact.state)]
    concept, reason = state.concept.format(drug=order.name), reason_words(fact)
    line = said_line(case, fact.model_copy(update={"reason": None}), order)
    said: Check = ReportsCheck(concept=concept, polarity=state.polarity)
    if state.unless:
        others = (Not(check=ReportsCheck(concept=one.format(drug=order.name))) for one in state.unless)
        said = AllOf(checks=(said, *others))
    items = [item("says", f"Conveys: {line.en}.", f"转述：{line.zh}。", said, ("heard",))]
    if reason is not None:
        check = ReportsCheck(concept=concept, polarity=state.polarity, reason=reason.en)
        en, zh = f"Gives the patient's own reason: {reason.en}.", f"说出患者自己的原因：{reason.zh}。"
        items.append(item("reason", en, zh, check, ("says",)))
    return items


def said_line(case: Case, fact: Fact, order: Order) -> Names:
    """Return what the patient says of taking a drug, with the reason given, without full stop."""
    say = case.common.states[str(fact.state)].say
    who = PRONOUNS[case.view.sex]
    because = because_words(fact, who)
    return Names(
        en=say.en.format(they=who.en, drug=order.name, because=because.en if because else ""),
        zh=str(say.zh).format(they=who.zh, drug=order.zh or order.name, because=because.zh if because else ""),
    )


def because_words(fact: Fact, who: Names) -> Names | None:
    """Return the patient's reason as a clause; None where none was given."""
    reason = reason_words(fact)
    if reason is None:
        return None
    clause = common().reasons.get(str(reason_concept(fact)))
    en = clause.en.format(they=who.en) if clause else f"of {reason.en}"
    zh = str(clause.zh).format(they=who.zh) if clause else str(reason.zh)
    return Names(en=f" because {en}", zh=f"，因为{zh}")


def reason_words(fact: Fact) -> Names | None:
    """Return the reason's name: the concept's own where it is one, else the recorded words; None for no reason."""
    if not fact.reason:
        return None
    concept = knowledge.lexicon().resolve(fact.reason)
    if concept is None or concept.name.zh is None:
        return Names(en=fact.reason, zh=fact.reason)
    return Names(en=concept.name.en.lower(), zh=concept.name.zh)


def reason_concept(fact: Fact) -> str | None:
    """Return the concept that the patient's reason is; None for no reason, or one in words of its own."""
    concept = knowledge.lexicon().resolve(fact.reason or "")
    return None if concept is None else concept.id


# -- turns -------------------------------------------------------------------------------------------------------------


def adherence_call(case: Case, order: Order) -> GoldCall:
    """Return the call that asks the patient about taking a drug."""
    return ask_call(case, "patient.get_medication_adherence", drug=order.name)


@kept
def adherence_move(case: Case, order: Order, fact: Fact) -> Move:
    """Return the turn that asks the patient about taking a drug (IL)."""
    line = said_line(case, fact, order)
    return Move(
        kind="adherence",
        task="IL",
        source="patient",
        topic=topic(order.drug, "adherence"),
        calls=(adherence_call(case, order),),
        answer=Text(en=f"{line.en}.", zh=f"{line.zh}。"),
        rubric=(heard_item(fact), *said_items(case, fact, order), grounded_item()),
        slots={"drug": drug_entity(case, order)},
        keys=frozenset({f"fact/{fact.id}"}),
        fact=fact,
    )


@kept
def dose_adherence_move(case: Case, order: Order, fact: Fact) -> Move:
    """Return the turn that asks for a drug's order and what the patient says of taking it (DG)."""
    return Move(
        kind="dose_adherence",
        task="DG",
        source="mixed",
        topic=topic(order.drug, "dose", "adherence"),
        calls=(order_call(case, order), adherence_call(case, order)),
        answer=bullets((order_line(order), said_line(case, fact, order))),
        rubric=(*order_items(order), heard_item(fact), *said_items(case, fact, order), grounded_item()),
        slots={"drug": drug_entity(case, order)},
        keys=frozenset({order.key, f"fact/{fact.id}"}),
        fact=fact,
    )


@kept
def lab_adherence_move(case: Case, reading: Reading, order: Order, fact: Fact) -> Move:
    """Return the turn that asks for a lab's latest value and what the patient says of taking a drug (DG)."""
    return Move(
        kind="lab_adherence",
        task="DG",
        source="mixed",
        topic=topic(order.drug, "adherence", reading.lab),
        calls=(lab_call(case, reading), adherence_call(case, order)),
        answer=bullets((value_line(reading), said_line(case, fact, order))),
        rubric=(
            *lab_items(reading),
            heard_item(fact),
            *said_items(case, fact, order),
            only_item(reading),
        ),
        slots={"lab": lab_entity(case, reading), "drug": drug_entity(case, order)},
        keys=frozenset({*reading.keys, f"fact/{fact.id}"}),
        labs=(reading.lab,),
        fact=fact,
    )


def trend_adherence_moves(case: Case, reading: Reading, order: Order, fact: Fact) -> Iterator[Move]:
    """Yield the turn that asks how a lab went over the stay and what the patient says (DG); none without a trend."""
    trend = trends(case).get(reading.lab)
    if trend is None:
        return
    yield Move(
        kind="trend_adherence",
        task="DG",
        source="mixed",
        topic=topic(order.drug, "adherence", reading.lab),
        calls=(trend_call(case, trend), adherence_call(case, order)),
        answer=bullets((trend_line(trend), said_line(case, fact, order))),
        rubric=(*trend_items(trend), heard_item(fact), *said_items(case, fact, order), only_item(reading)),
        slots={"lab": lab_entity(case, reading), "drug": drug_entity(case, order)},
        keys=frozenset({*reading.keys, *trend.first.keys, f"fact/{fact.id}"}),
        labs=(reading.lab,),
        needs=frozenset({"trend"}),
        fact=fact,
    )


# -- offers ------------------------------------------------------------------------------------------------------------


def _told(case: Case, focus: Focus, stream: Stream) -> Iterator[tuple[Order, Fact]]:
    """Yield the drugs that the patient can still be asked about, the focus's first."""
    for order in near_orders(case, focus, stream):
        fact = adherence_fact(case, order.drug)
        if fact is not None and interviewable(order) and not was_asked(focus, order.drug, "adherence"):
            yield order, fact


def _alone(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for order, fact in _told(case, focus, stream):
        yield _weighed(adherence_move(case, order, fact), focus, order)


def _weighed(move: Move, focus: Focus, order: Order) -> Move:
    """Return a move that says whether what it brings turns the decision that the session is about."""
    own = focus.decision.order
    return replace(move, turned=focus.decision.turned) if own is not None and own.drug == order.drug else move


def _with_dose(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for order, fact in _told(case, focus, stream):
        if not was_asked(focus, order.drug, "dose"):
            yield _weighed(dose_adherence_move(case, order, fact), focus, order)


def _with_lab(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for order, fact in _told(case, focus, stream):
        for reading in monitoring_labs(case, order, focus, stream):
            yield _weighed(lab_adherence_move(case, reading, order, fact), focus, order)


def _with_trend(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for order, fact in _told(case, focus, stream):
        for reading in monitoring_labs(case, order, focus, stream):
            for move in trend_adherence_moves(case, reading, order, fact):
                yield _weighed(move, focus, order)


KINDS: Final = (
    MoveKind("adherence", "IL", "patient", _alone),
    MoveKind("dose_adherence", "DG", "mixed", _with_dose),
    MoveKind("lab_adherence", "DG", "mixed", _with_lab),
    MoveKind("trend_adherence", "DG", "mixed", _with_trend),
)

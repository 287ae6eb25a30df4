"""Adaptive turns: a lab is looked at, and its result decides what is looked up next.

The query states the rule without a number ("Check the potassium; if it's low, get the magnesium, otherwise the
creatinine."). Both ways lead to something that the record holds, so a changed result has another right answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from wardround.patients import Fact, Stream
from wardround.patients.knowledge import Names
from wardround.rubrics import AllOf, Check, Item, Not, Text
from wardround.sessions.record import Level, Order, Reading
from wardround.sessions.record_doses import Dose
from wardround.sessions.session import Branch, GoldCall

from .adherence import adherence_call, adherence_fact, heard_item, interviewable, said_items, said_line
from .branch_rules import DrugBranch, LabBranch, Test, branch_rules
from .drug_items import given_items, order_items
from .drugs import given_call, given_line, last_dose, near_orders, order_call, topic, was_asked
from .move import Case, Focus, Move, MoveKind, kept
from .nearness import near_labs
from .order_words import order_line
from .parts import (
    bullets,
    drug_entity,
    lab_call,
    lab_entity,
    lab_items,
    only_item,
    read_item,
    status_item,
    value_item,
    value_line,
)

_WORDS: Final[dict[Test, Names]] = {
    "high": Names(en="high", zh="偏高"),
    "low": Names(en="low", zh="偏低"),
    "abnormal": Names(en="abnormal", zh="异常"),
}


def holds(test: Test, level: Level) -> bool:
    """Tell whether a reading is what a rule asks about."""
    return level != "normal" if test == "abnormal" else level == test


# -- labs --------------------------------------------------------------------------------------------------------------


@kept
def branch(case: Case, rule: LabBranch) -> Move | None:
    """Return the turn that looks at a lab and then at one of two others; None where the record lacks one of them.

    Args:
        case: Patient and record.
        rule: Which labs.
    """
    labs = [case.view.latest.get(lab) for lab in (rule.lab, rule.then, rule.otherwise)]
    first, then, otherwise = labs
    if first is None or then is None or otherwise is None or first.target is not None:
        return None  # what is off by the chart's range may be just what a drug aims at
    assert first.level is not None
    held = holds(rule.test, first.level)
    taken, other = (then, otherwise) if held else (otherwise, then)
    return Move(
        kind="branch",
        task="DG",
        source="ehr",
        topic=f"{rule.lab}:branch+{taken.lab}",
        calls=(lab_call(case, first), lab_call(case, taken)),
        answer=bullets((value_line(first), value_line(taken))),
        rubric=(*_deciding(first), *_one_way(taken), only_item(first, taken)),
        slots={
            "lab": lab_entity(case, first),
            "lab2": lab_entity(case, then),
            "lab3": lab_entity(case, otherwise),
        },
        words={"test": _WORDS[rule.test]},
        keys=frozenset((*first.keys, *taken.keys)),
        labs=(first.lab, taken.lab),
        branch=Branch(on=first.lab, test=rule.test, held=held, taken=(1,), other=(lab_call(case, other),)),
    )


def _deciding(reading: Reading) -> list[Item]:
    """Return the items about the lab that decides."""
    return [*lab_items(reading)]


def _one_way(reading: Reading) -> list[Item]:
    """Return the items about the lab that follows; they rest on nothing else being told: both ways must not pay."""
    value = value_item(reading)
    alone = value.model_copy(update={"requires": (*value.requires, "only")})
    return [read_item(reading), alone, status_item(reading)]


def _branches(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    near = list(near_labs(case, focus, stream))
    if stream.chance(1, 2):
        # Labs are in range more often than not, so that most rules would end in "otherwise".
        near.sort(key=lambda one: one.level == "normal")
    for reading in near:
        yield from _one_of(case, focus, reading.lab, stream)


def _one_of(case: Case, focus: Focus, lab: str, stream: Stream) -> Iterator[Move]:
    """Yield the first turn that the rules of a lab allow, in drawn order."""
    level, wanted = case.view.latest[lab].level, stream.chance(3, 4)
    assert level is not None
    rules = stream.shuffled(branch_rules().of_lab(lab))
    for rule in sorted(rules, key=lambda one: holds(one.test, level) != wanted):
        move = None if focus.busy.intersection((rule.then, rule.otherwise)) else branch(case, rule)
        if move is not None:
            yield move
            return


# -- drugs -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Way:
    """One thing to find out about a drug."""

    call: GoldCall
    asked: Literal["dose", "given", "adherence"]
    line: Names
    items: tuple[Item, ...]
    key: str
    fact: Fact | None = None
    told: Check | None = None
    """Tells whether an answer went this way; None where words about the other way could be taken for it."""


@kept
def _order_way(case: Case, order: Order) -> _Way:
    items = tuple(order_items(order))
    dose = next(one.check for one in items if one.id.startswith("dose-"))
    return _Way(order_call(case, order), "dose", order_line(order), items, order.key, told=dose)


@kept
def _ask_way(case: Case, order: Order, fact: Fact) -> _Way:
    items = (heard_item(fact), *said_items(case, fact, order))
    line, key = said_line(case, fact, order), f"fact/{fact.id}"
    return _Way(adherence_call(case, order), "adherence", line, items, key, fact, items[1].check)


@kept
def _given_way(case: Case, order: Order, dose: Dose) -> _Way:
    items = tuple(given_items(case, order, dose))
    return _Way(given_call(case, order), "given", given_line(case, order, dose), items, dose.key)


@kept
def _branch_on(case: Case, kind: str, reading: Reading, test: Test, order: Order, yes: _Way, no: _Way) -> Move:
    """Return the turn that looks at a lab and then finds out one of two things about a drug.

    Args:
        case: Patient and record.
        kind: Key of its phrases.
        reading: The lab that decides.
        test: What is asked of it.
        order: Of the drug.
        yes: Where the test holds.
        no: Where it does not.
    """
    assert reading.level is not None
    held = holds(test, reading.level)
    taken, other = (yes, no) if held else (no, yes)
    return Move(
        kind=kind,
        task="DG",
        source="mixed" if taken.asked == "adherence" else "ehr",
        topic=topic(order.drug, taken.asked, f"branch on {reading.lab}"),
        calls=(lab_call(case, reading), taken.call),
        answer=bullets((value_line(reading), taken.line)),
        rubric=(*_deciding(reading), *taken.items, _only(reading, taken, other)),
        slots={"lab": lab_entity(case, reading), "drug": drug_entity(case, order)},
        words={"test": _WORDS[test]},
        keys=frozenset((*reading.keys, taken.key)),
        labs=(reading.lab,),
        fact=taken.fact,
        branch=Branch(on=reading.lab, test=test, held=held, taken=(1,), other=(other.call,)),
    )


def _only(reading: Reading, taken: _Way, other: _Way) -> Item:
    """Return the guard that nothing else is measured and, where it can be told, that not both ways were gone."""
    only = only_item(reading)
    # What is ordered and what was given are the same drug and dose.
    if other.told is None or taken.asked == "given":
        return only
    both = AllOf(checks=(only.check, Not(check=other.told)))
    text = Text(
        en=f"{str(only.text.en).removesuffix('.')}, and does not go the other way too.",
        zh=f"{str(only.text.zh).removesuffix('。')}，也没有把另一种情况一并报出。",
    )
    return only.model_copy(update={"check": both, "text": text})


def _tests(case: Case, focus: Focus, stream: Stream, *asked: str) -> Iterator[tuple[Reading, DrugBranch, Order]]:
    """Yield labs, tests and drugs that go together, the focus's drug first; no drug asked about before."""
    for order in near_orders(case, focus, stream):
        if was_asked(focus, order.drug, *asked):
            continue
        for rule in stream.shuffled(branch_rules().of_drug(order.drug)):
            reading = case.view.latest.get(rule.lab)
            # Nobody makes a plan depend on a number that was just told.
            if reading is not None and reading.target is None and reading.lab not in focus.busy:
                yield reading, rule, order


def _asking(case: Case, focus: Focus, stream: Stream, kind: str, *, held: bool) -> Iterator[Move]:
    """Yield the turns whose lab decides whether the patient is asked about taking the drug, or its order looked up."""
    for reading, rule, order in _tests(case, focus, stream, "dose", "adherence"):
        fact = adherence_fact(case, order.drug)
        assert reading.level is not None
        if fact is None or not interviewable(order) or holds(rule.test, reading.level) != held:
            continue
        if fact.reason in rule.unless or rule.by != "missing":
            continue
        ways = (_ask_way(case, order, fact), _order_way(case, order))
        move = _branch_on(case, kind, reading, rule.test, order, *ways)
        own = focus.decision.order
        mine = held and own is not None and own.drug == order.drug
        yield replace(move, turned=focus.decision.turned) if mine else move


def _ask_if(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    yield from _asking(case, focus, stream, "branch_ask", held=True)


def _order_unless(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    yield from _asking(case, focus, stream, "branch_order", held=False)


def _given_or_order(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for reading, rule, order in _tests(case, focus, stream, "dose", "given"):
        dose = last_dose(case, order.drug)
        if dose is not None:
            ways = (_given_way(case, order, dose), _order_way(case, order))
            yield _branch_on(case, "branch_drug", reading, rule.test, order, *ways)


KINDS: Final[tuple[MoveKind, ...]] = (
    MoveKind("branch", "DG", "ehr", _branches),
    MoveKind("branch_ask", "DG", "mixed", _ask_if),
    MoveKind("branch_order", "DG", "ehr", _order_unless),
    MoveKind("branch_drug", "DG", "ehr", _given_or_order),
)
"""Every kind of adaptive turn; `branch_order` is asked as `branch_ask` is, where the lab leads the other way."""

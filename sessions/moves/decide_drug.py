"""Turns that ask whether a drug is right with its lab (CR): from the record alone, or with the patient's own word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, cast

from wardround.patients import knowledge
from wardround.patients.knowledge import Names
from wardround.rubrics import (
    AllOf,
    AnyOf,
    Check,
    Item,
    MentionCheck,
    StatusCheck,
    Text,
)
from wardround.sessions.common import common
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.record import Level, Pair, Reading, plain
from wardround.sessions.session import GoldCall

from .adherence import adherence_call, heard_item, said_items, said_line
from .drug_advice import about, because_item, drug_advice_item, drug_danger_item, pair_of
from .drugs import topic
from .move import Case, Move
from .order_words import spaced
from .parts import (
    LEVELS,
    aimed_words,
    capital,
    drug_entity,
    grounded_item,
    item,
    lab_call,
    lab_entity,
    read_item,
    reading_checks,
    side_check,
    two_sentences,
    value_item,
)

_ACTIVE: Final = ("ordered", "active", "prescribed", "on the chart", "charted", "医嘱", "在用", "开着", "处方", "有效")
"""Words that say a drug is ordered."""
_AIMED: Final[dict[str, Level]] = {"continue": "normal", "increase": "low"}
"""Act → how a level reads against the drug's target where it asks for that act."""
_MISSED: Final = Names(en="and work on the missed doses", zh="，督促按时服药")
_MOST: Final = 6
"""Items of a CR turn, as the spec counts them."""


@dataclass(frozen=True)
class _Conflict:
    """What pulls the other way, to be named beside the finding."""

    label: str
    item: Item
    line: Names
    """A clause to add to the finding, without full stop."""
    reading: Reading | None = None
    """Another lab to look up."""


def decide_moves(case: Case, decision: Decision, mixed: bool) -> Iterator[Move]:
    """Yield the turns that ask what is right for a drug: plainly, then those that want the conflict named.

    Args:
        case: Patient and record.
        decision: Of kind drug_lab.
        mixed: The patient is asked in this very turn.
    """
    if mixed and decision.fact is None:
        return
    yield _move(case, decision, mixed, None)
    for conflict in _conflicts(case, decision, mixed):
        yield _move(case, decision, mixed, conflict)


def _move(case: Case, decision: Decision, mixed: bool, conflict: _Conflict | None) -> Move:
    reading, order = about(decision)
    told = mixed or decision.turned
    calls: list[GoldCall] = [lab_call(case, reading)]
    labs = [reading.lab]
    if conflict is not None and conflict.reading is not None:
        calls.append(lab_call(case, conflict.reading))
        labs.append(conflict.reading.lab)
    if mixed:
        calls.append(adherence_call(case, order))
    slots = {"lab": lab_entity(case, reading), "drug": drug_entity(case, order)}
    if conflict is not None and conflict.reading is not None:
        slots["lab2"] = lab_entity(case, conflict.reading)
    fact = decision.fact if told else None
    return Move(
        kind="decide_ask" if mixed else "decide",
        task="CR",
        source="mixed" if mixed else "ehr",
        topic=topic(order.drug, "decide", reading.lab),
        calls=tuple(calls),
        answer=two_sentences(_found(case, decision, told, conflict), _advised(case, decision, told)),
        rubric=_rubric(case, decision, told, conflict),
        slots=slots,
        keys=frozenset({*reading.keys, *((f"fact/{fact.id}",) if fact is not None else ())}),
        labs=tuple(labs),
        needs=frozenset({"threshold"}),
        decision=decision,
        fact=fact,
        turned=decision.turned,
        conflict=conflict.label if conflict is not None else "",
    )


def level_of(case: Case, decision: Decision) -> Level:
    """Return how the value reads for this drug: a drug level, or what the drug steers, against the drug's target."""
    reading, rule = decision.reading, pair_of(decision).rule
    assert reading is not None and reading.level is not None
    if reading.against_target is not None:
        return reading.against_target
    if reading.lab not in case.common.never_pair or rule.act == "recheck":
        return reading.level
    return _AIMED.get(rule.act, "high")


# -- items -------------------------------------------------------------------------------------------------------------


def _rubric(case: Case, decision: Decision, told: bool, conflict: _Conflict | None) -> tuple[Item, ...]:
    reading, order = about(decision)
    items = [read_item(reading), value_item(reading), _finding_item(case, decision)]
    rests_on = [f"finding-{reading.lab}"]
    if told and decision.fact is not None:
        said = said_items(case, decision.fact, order)
        if conflict is not None or not decision.turned:
            # one item for what the patient said, reason and all, where another takes the place
            said = [said[-1].model_copy(update={"id": "says", "requires": ("heard",)})]
        items.extend((heard_item(decision.fact), *said))
        if decision.turned:
            rests_on.append(said[-1].id)
    if conflict is not None:
        if conflict.reading is not None:
            items.append(read_item(conflict.reading))
        items.append(conflict.item)
    if not told or (conflict is None and not decision.turned):
        items.append(because_item(decision))
    items.append(drug_advice_item(case, decision, rests_on))
    items.append(drug_danger_item(case, decision))
    if sum(not one.id.startswith(("read-", "heard")) for one in items) < _MOST:
        items.append(grounded_item())
    return tuple(items)


def _finding_item(case: Case, decision: Decision) -> Item:
    """Return the item that places the value: its status against the chart's range, or its side of the rule's bound."""
    reading, _ = about(decision)
    rule, level = pair_of(decision).rule, level_of(case, decision)
    # A level is read against the drug's target, or against the range for the untreated, which the chart gives.
    checks = reading_checks(reading)
    if level not in {reading.level, reading.against_target}:
        checks.append(StatusCheck(concept=reading.name, status=level))
    for bound in dict.fromkeys((rule.at_least, _said(rule.at_least))):
        # "above 20" does not say that platelets of 80 are low
        if bound is not None and level != "low":
            checks.append(side_check(reading, "above", bound, bound_unit(decision)))
    for bound in dict.fromkeys((rule.below, _said(rule.below))):
        if bound is not None and (level != "high" or rule.act == "continue"):
            checks.append(side_check(reading, "below", bound, bound_unit(decision)))
    checks.extend(_named(decision))
    words = _placed(case, decision)
    return item(
        f"finding-{reading.lab}",
        f"Reads the {reading.name} as {words.en} ({decision.finding.en}).",
        f"判断{reading.zh}{words.zh}（{decision.finding.zh}）。",
        AnyOf(checks=tuple(checks)),
        (f"value-{reading.lab}",),
    )


def _named(decision: Decision) -> list[Check]:
    """Return a check for the finding's own name, where it has one: hyperkalemia says that the potassium is high."""
    if decision.turned or pair_of(decision).rule.act == "continue":
        return []
    found = knowledge.lexicon().scan(decision.finding.en, kinds=("condition",))
    return [MentionCheck(concept=one) for mention in found for one in mention.concepts]


def _placed(case: Case, decision: Decision) -> Names:
    """Return how the value reads: against the range aimed at, else its level with the bound that it is beyond."""
    reading, _ = about(decision)
    aimed = aimed_words(reading)
    if aimed is not None:
        return aimed
    level, limits = LEVELS[level_of(case, decision)], limit_words(decision, level_of(case, decision))
    return Names(en=f"{level.en}{limits.en}", zh=f"{level.zh}{limits.zh}")


# -- conflicts ---------------------------------------------------------------------------------------------------------


def _conflicts(case: Case, decision: Decision, mixed: bool) -> Iterator[_Conflict]:
    """Yield what pulls the other way: an order that the patient does not take, another lab of the same drug."""
    if (mixed or decision.turned) and decision.fact is not None:
        if decision.fact.state == "stopped":
            yield _not_taken(case, decision)
        return
    for other in cast("tuple[Pair, ...]", decision.extra["others"]):
        if other.rule.act == "continue" != pair_of(decision).rule.act:
            yield _other_lab(decision, other)


def _not_taken(case: Case, decision: Decision) -> _Conflict:
    """Return the conflict of an active order with a patient who says they do not take the drug."""
    _, order = about(decision)
    assert decision.fact is not None
    said = said_items(case, decision.fact, order)[0].check
    ordered = AnyOf(checks=tuple(MentionCheck(concept=word) for word in _ACTIVE))
    name, zh = order.name, order.zh or order.name
    return _Conflict(
        label="ordered-not-taken",
        item=item(
            "conflict",
            f"Names the conflict: {name} is ordered, but the patient says it was stopped.",
            f"指出矛盾：{zh}有现行医嘱，但患者说已停用。",
            AllOf(checks=(ordered, said)),
            ("heard",),
        ),
        line=Names(en=f"and {name} is still ordered", zh=f"{zh}仍有现行医嘱"),
    )


def _other_lab(decision: Decision, other: Pair) -> _Conflict:
    """Return the conflict of two labs of one drug that ask for different acts."""
    reading, _ = about(decision)
    far = other.reading
    assert reading.level is not None and far.level is not None
    checks = (
        StatusCheck(concept=reading.name, status=reading.level),
        StatusCheck(concept=far.name, status=far.level),
    )
    return _Conflict(
        label=f"{pair_of(decision).monitoring}-against-{other.monitoring}",
        item=item(
            "conflict",
            f"Names both sides: the {reading.name} is {reading.level}, the {far.name} is {far.level}.",
            f"指出两方面：{reading.zh}{LEVELS[reading.level].zh}，{far.zh}{LEVELS[far.level].zh}。",
            AllOf(checks=checks),
            (f"read-{far.lab}",),
        ),
        line=Names(
            en=f"although {far.name} {far.quantity} is {far.level}",
            zh=f"而{spaced(far.zh)}{far.quantity}{LEVELS[far.level].zh}",
        ),
        reading=far,
    )


# -- answers -----------------------------------------------------------------------------------------------------------


def _found(case: Case, decision: Decision, told: bool, conflict: _Conflict | None) -> Names:
    """Return the first sentence: the value, how it reads, and what the patient said."""
    reading, order = about(decision)
    words = _placed(case, decision)
    en = f"{capital(reading.name)} {reading.quantity} is {words.en}"
    zh = [f"{spaced(reading.zh)}{reading.quantity}，{words.zh}"]
    if conflict is not None:
        en += f", {conflict.line.en}"
        zh.append(str(conflict.line.zh))
    if told and decision.fact is not None:
        said = said_line(case, decision.fact, order)
        joint = "but" if conflict is not None else "and"
        en += f", {joint} {said.en[:1].lower()}{said.en[1:]}"
        zh.append(f"{'但' if conflict is not None else ''}{said.zh}")
    return Names(en=en, zh="，".join(zh))


def _advised(case: Case, decision: Decision, told: bool) -> Names:
    """Return the second sentence: what to do, and why; missed doses that were told are not passed over."""
    reading, _ = about(decision)
    rule, advice = case.common.acts[decision.act], decision.advice
    if told and decision.fact is not None and decision.fact.state == "missed_doses":
        advice = Names(en=f"{advice.en} {_MISSED.en}", zh=f"{advice.zh}{_MISSED.zh}")
    why = rule.aimed if rule.aimed is not None and reading.against_target == "normal" else rule.why
    found = level_of(case, decision)
    level = LEVELS[found]
    if why is not None:
        en = why.en.format(lab=reading.name, advice=advice.en)
        return Names(en=en, zh=str(why.zh).format(lab=reading.zh, advice=advice.zh))
    if found == "normal":
        return Names(en=f"Given the {reading.name}, {advice.en}", zh=f"鉴于{reading.zh}的结果，{advice.zh}")
    return Names(
        en=f"Since the {reading.name} is {level.en}, {advice.en}", zh=f"因为{reading.zh}{level.zh}，{advice.zh}"
    )


def _said(bound: Decimal | None) -> Decimal | None:
    """Return a rule's bound as people say it."""
    return None if bound is None else Decimal(common().bounds.get(plain(bound), plain(bound)))


def limit_words(decision: Decision, level: Level) -> Text:
    """Return the bound of the rule that the value is beyond, as in ", above 5.5 mmol/L"; a target in its own words.

    Args:
        decision: Of kind drug_lab.
        level: How the value reads; of one that is off, the bound on the other side says nothing.
    """
    rule, reading = pair_of(decision).rule, decision.reading
    assert reading is not None
    unit = f" {bound_unit(decision)}".rstrip()
    low, high = _said(rule.at_least), _said(rule.below)
    target = rule.finding
    if rule.act == "continue" and any(char.isdigit() for char in target.en):
        return Text(en=f", {target.en}", zh=f"，{target.zh}")
    en, zh = [], []
    if rule.act == "continue":
        # a value that is off and yet no obstacle: the bound that it keeps to
        bound = {"high": high, "low": low, "normal": None}[level]
        if bound is None:
            return Text(en="", zh="")
        side = ("below", "低于") if level == "high" else ("above", "高于")
        return Text(en=f" but {side[0]} {plain(bound)}{unit}", zh=f"，但{side[1]}{plain(bound)}{unit}")
    if low is not None and low > 0 and level != "low":
        en.append(f"above {plain(low)}")
        zh.append(f"高于{plain(low)}")
    if high is not None and (level != "high" or not en):
        en.append(f"below {plain(high)}")
        zh.append(f"低于{plain(high)}")
    if not en:
        return Text(en="", zh="")
    return Text(en=f", {' and '.join(en)}{unit}", zh=f"，{'、'.join(zh)}{unit}")


def bound_unit(decision: Decision) -> str:
    """Return the unit of the rule's bounds: the chart's own where it is the same, else as people write it."""
    rule, reading = pair_of(decision).rule, decision.reading
    assert reading is not None
    if knowledge.convert(Decimal(1), rule.unit, reading.unit, reading.lab) == 1:
        return reading.unit
    known = knowledge.unit(rule.unit)
    return known.display if known is not None else rule.unit

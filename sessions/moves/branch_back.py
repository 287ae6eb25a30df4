"""Adaptive turns that look back: a lab was told, and whether it rose or fell since decides what is looked up next.

Nobody makes a plan depend on a number that was just told. What is open after the latest value is where it came from
("If it has gone down, get the INR, otherwise the platelet count."): the value before it was not told yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final, Literal

from wardround.patients import Stream
from wardround.patients.knowledge import Names
from wardround.rubrics import AllOf, AnyOf, Item, Not, RetrievedCheck, TrendCheck, ValueCheck
from wardround.sessions.record import Reading
from wardround.sessions.session import Branch

from .branch_rules import LabBranch, branch_rules
from .move import Case, Focus, Move, MoveKind
from .parts import (
    bullets,
    capital,
    grounded_item,
    item,
    lab_call,
    lab_entity,
    only_item,
    status_item,
    value_item,
    value_line,
)

Way = Literal["rising", "falling"]
WAYS: Final[dict[str, Way]] = {"high": "rising", "low": "falling"}
"""Test of a rule → the way that leads to it; a rule about what is merely off asks for no way."""
_WORDS: Final[dict[Way, Names]] = {
    "rising": Names(en="up", zh="升了"),
    "falling": Names(en="down", zh="降了"),
}
_SAY: Final[dict[Way | None, Names]] = {
    "rising": Names(en="{lab} rose from {before} to {last}", zh="{lab}由{before}升至{last}"),
    "falling": Names(en="{lab} fell from {before} to {last}", zh="{lab}由{before}降至{last}"),
    None: Names(en="{lab} is unchanged at {last}", zh="{lab}没有变化，仍为{last}"),
}
"""How the gold answer says which way a lab went."""
_ITEM: Final[dict[Way | None, Names]] = {
    "rising": Names(en="rose", zh="升高"),
    "falling": Names(en="fell", zh="降低"),
    None: Names(en="has not changed", zh="没有变化"),
}
_OPPOSITE: Final[dict[Way, Way]] = {"rising": "falling", "falling": "rising"}


def moved(case: Case, lab: str) -> tuple[Reading, Way | None] | None:
    """Return the value before the latest one of this stay, and which way the lab has gone since; None where unclear.

    "Gone up" is meant against the value before, by more than could be noise; where the first of the stay lies clearly
    on the other side, it could be argued. No way at all is told where the value is what it was.
    """
    series, latest = case.view.series.get(lab, ()), case.view.latest.get(lab)
    if latest is None or len(series) < 2 or series[-1] != latest:
        return None
    way, whole = _way(case, series[-2], latest), _way(case, series[0], latest)
    if way == "noise" or {way, whole} == {"rising", "falling"} or (way == "same" and whole in {"rising", "falling"}):
        return None
    return series[-2], (None if way == "same" else way)


def _way(case: Case, before: Reading, after: Reading) -> Way | Literal["same", "noise"]:
    """Return which way a value went, if by more than could be noise."""
    change = after.value - before.value
    if change == 0:
        return "same"
    rules = case.common.trends
    places = max(len(one.text.partition(".")[2]) for one in (before, after))
    least = max(rules.steps * Decimal(1).scaleb(-places), abs(before.value) * rules.stable_percent / Decimal(100))
    if abs(change) < least:
        return "noise"
    return "rising" if change > 0 else "falling"


def branch_back(case: Case, rule: LabBranch) -> Move | None:
    """Return the turn that looks where a lab that was told came from, and then at one of two others.

    Args:
        case: Patient and record.
        rule: Which labs; None is returned where it is about no way, or the record lacks one of them.
    """
    way, found = WAYS.get(rule.test), moved(case, rule.lab)
    labs = [case.view.latest.get(lab) for lab in (rule.lab, rule.then, rule.otherwise)]
    first, then, otherwise = labs
    if way is None or found is None or first is None or then is None or otherwise is None or first.target is not None:
        return None
    before, went = found
    taken, other = (then, otherwise) if went == way else (otherwise, then)
    return Move(
        kind="branch_back",
        task="DG",
        source="ehr",
        topic=f"{rule.lab}:branch+{taken.lab}",
        calls=(lab_call(case, first), lab_call(case, taken)),
        answer=bullets((_way_line(first, before, went), value_line(taken))),
        rubric=(*_items(first, before, went, taken), only_item(first, taken), grounded_item()),
        slots={
            "lab": lab_entity(case, first),
            "lab2": lab_entity(case, then),
            "lab3": lab_entity(case, otherwise),
        },
        words={"test": _WORDS[way]},
        keys=frozenset((*first.keys, *before.keys, *taken.keys)),
        labs=(taken.lab,),
        branch=Branch(on=first.lab, test=way, held=went == way, taken=(1,), other=(lab_call(case, other),)),
    )


def _way_line(first: Reading, before: Reading, went: Way | None) -> Names:
    """Return which way a lab went, with both values, without full stop."""
    say, last = _SAY[went], first.quantity
    return Names(
        en=say.en.format(lab=capital(first.name), before=before.text, last=last),
        zh=str(say.zh).format(lab=first.zh, before=before.text, last=last),
    )


def _items(first: Reading, before: Reading, went: Way | None, taken: Reading) -> Iterator[Item]:
    """Yield the items: the look back, which way it showed, and the lab that follows from it, the way not misread."""
    read = AllOf(checks=(RetrievedCheck(any_of=before.keys), RetrievedCheck(any_of=taken.keys)))
    yield item(
        f"read-{taken.lab}",
        f"Looked up the {first.name} before the latest one, and the latest {taken.name}.",
        f"查过上一次{first.zh}和最近一次{taken.zh}。",
        read,
    )
    wrong: tuple[Way, ...] = ("rising", "falling") if went is None else (_OPPOSITE[went],)
    misread = tuple(Not(check=TrendCheck(concept=first.name, direction=one)) for one in wrong)
    yield _way_item(first, before, went, misread, f"read-{taken.lab}")
    value = value_item(taken)
    # both ways must not pay: the value rests on nothing else being told
    yield value.model_copy(
        update={"check": AllOf(checks=(value.check, *misread)), "requires": (*value.requires, "only")}
    )
    yield status_item(taken)


def _way_item(first: Reading, before: Reading, went: Way | None, misread: tuple[Not, ...], read: str) -> Item:
    """Return the item that the tested condition is said: the way, or both values that show it."""
    values = (
        ValueCheck(concept=first.name, value=before.number, unit=before.unit),
        ValueCheck(concept=first.name, value=first.number, unit=first.unit),
    )
    said = AnyOf(checks=(TrendCheck(concept=first.name, direction=went or "stable"), AllOf(checks=values)))
    way = _ITEM[went]
    return item(
        f"way-{first.lab}",
        f"Says that the {first.name} {way.en} since the value before.",
        f"说明{first.zh}比上一次{way.zh}。",
        AllOf(checks=(said, *misread)),
        (read,),
    )


def _offers(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    """Yield what the rules of each lab that was told allow, in drawn order, mostly those first that hold."""
    asked = sorted(lab for lab in focus.busy if lab in case.view.latest)
    for lab in stream.shuffled(asked):
        wanted, found = stream.chance(3, 4), moved(case, lab)
        rules = stream.shuffled(branch_rules().of_lab(lab))
        if found is None:
            continue
        went = found[1]
        for rule in sorted(rules, key=lambda one: (WAYS.get(one.test) == went) != wanted):
            move = None if focus.busy.intersection((rule.then, rule.otherwise)) else branch_back(case, rule)
            if move is not None:
                yield move


KINDS: Final[tuple[MoveKind, ...]] = (MoveKind("branch_back", "DG", "ehr", _offers),)
"""The adaptive turn about a lab of an earlier turn."""

"""Where the patient's words stand against the chart: turns that they turn, and conflicts that an item asks to name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from wardround.rubrics import AllOf, Item, Text, ValueCheck
from wardround.sessions.moves.move import Case, Move, kept
from wardround.sessions.moves.parts import beside

_MOST: Final = 6
"""Items of a turn that reasons or asks the patient; evidence aside."""


@dataclass(frozen=True)
class _Sides:
    """Two items of one kind of turn that pull different ways where a condition holds."""

    label: str
    one: str
    """Beginning of the first item's id."""
    other: str
    en: str
    zh: str


_SIDES: Final = {
    "dose_adherence": _Sides(
        "ordered-not-taken",
        "dose-",
        "says",
        "Names both sides: the drug is ordered, and the patient says that they do not take it so.",
        "指出两方面：药物有现行医嘱，而患者说没有照此服用。",
    ),
    "order_given": _Sides(
        "ordered-not-given",
        "dose-",
        "given-",
        "Names both sides: the drug is ordered, and the last dose was not given.",
        "指出两方面：药物有现行医嘱，而最近一次没有给药。",
    ),
    "decide_symptom_lab": _Sides(
        "symptom-against-value",
        "says-",
        "finding-",
        "Weighs both sides: a complaint that the drug could explain, and a value that does not bear it out.",
        "权衡两方面：药物可以解释的不适，以及并不支持这一点的结果。",
    ),
    "decide_home": _Sides(
        "planned-not-enough",
        "services",
        "says-",
        "Names both sides: what is planned, and what the patient says they cannot manage.",
        "指出两方面：已有的计划，以及患者说自己做不到的事。",
    ),
}


def turns(move: Move) -> bool:
    """Tell whether the patient's words make another answer right than the chart alone would.

    An active order says that a drug is taken: that it is stopped, missed or taken otherwise turns the answer.
    """
    fact = move.fact
    return move.turned or (fact is not None and fact.kind == "adherence" and fact.state not in {None, "taking"})


def conflicts(case: Case, move: Move) -> Iterator[Move]:
    """Yield the move once more with an item that asks to put two sides next to each other, where they conflict.

    Both sides are already among its items, so the gold answer names them and the question stays as it is.

    Args:
        case: The patient.
        move: Any.
    """
    again = _conflict(case, move)
    if again is not None:
        yield again


@kept
def _conflict(case: Case, move: Move) -> Move | None:
    return next(_conflicts(case, move), None)


def _conflicts(case: Case, move: Move) -> Iterator[Move]:
    if move.kind == "prescribe_if":
        yield from _two_doses(case, move)
        return
    sides = _SIDES.get(move.kind)
    if sides is None or move.conflict or not _conflicting(move):
        return
    one = next((item for item in move.rubric if item.id.startswith(sides.one)), None)
    other = next((item for item in move.rubric if item.id.startswith(sides.other)), None)
    if one is None or other is None:
        return
    item = Item(
        id="conflict",
        text=Text(en=sides.en, zh=sides.zh),
        check=AllOf(checks=(one.check, other.check)),
        requires=tuple(dict.fromkeys((*one.requires, *other.requires))),
    )
    rubric = move.rubric
    if sum(not part.id.startswith(("read-", "heard")) for part in rubric) >= _MOST - (move.source == "ehr"):
        rubric = tuple(part for part in rubric if part.id != "grounded")
    if sum(not part.id.startswith(("read-", "heard")) for part in rubric) < _MOST:
        yield replace(move, rubric=(*rubric, item), conflict=sides.label)


def _two_doses(case: Case, move: Move) -> Iterator[Move]:
    """Yield an order for which two rules compete, with an item that asks for the value that decides between them."""
    reading = case.view.latest[move.labs[0]]
    item = Item(
        id="conflict",
        text=Text(
            en=f"Names what decides between the two doses: {reading.name} {reading.quantity}.",
            zh=f"说出在两种剂量之间起决定作用的结果：{beside(reading.zh, reading.quantity)}。",
        ),
        check=ValueCheck(concept=reading.name, value=reading.number, unit=reading.unit, when="latest"),
        requires=(f"read-{reading.lab}",),
    )
    yield replace(move, rubric=(*move.rubric, item), conflict="two-doses")


def _conflicting(move: Move) -> bool:
    if move.kind == "dose_adherence":
        return turns(move)
    if move.kind == "order_given":
        return any(_not_given(item) for item in move.rubric)
    if move.kind == "decide_symptom_lab":
        return move.decision is not None and move.decision.unchanged and _reported(move)
    return move.decision is not None and not move.decision.unchanged


def _not_given(item: Item) -> bool:
    """Tell whether an item is about a last dose that was held or refused."""
    return item.id.startswith("given-") and str(item.text.en).endswith(("held.", "refused by the patient."))


def _reported(move: Move) -> bool:
    return move.fact is not None and move.fact.polarity == "present"

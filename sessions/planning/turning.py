"""Where the patient's words stand against the chart: turns that they turn, and conflicts that an item asks to name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from wardround.rubrics import AllOf, Check, Item, Text
from wardround.sessions.moves.move import Move

_UNTAKEN: Final = frozenset({"stopped", "never_started"})


def turns(move: Move) -> bool:
    """Tell whether the patient's words make another answer right than the chart alone would.

    An active order says that a drug is taken: that it is stopped, missed or taken otherwise turns the answer.
    """
    fact = move.fact
    return move.turned or (fact is not None and fact.kind == "adherence" and fact.state not in {None, "taking"})


def conflicts(move: Move) -> Iterator[Move]:
    """Yield the move once more with an item that asks to put the order and what the patient says side by side.

    Only where a turn reads the active order of a drug of which the patient says that they do not take it.
    """
    fact = move.fact
    if move.kind != "dose_adherence" or move.conflict or fact is None or fact.state not in _UNTAKEN:
        return
    items = {item.id: item for item in move.rubric}
    dose = next((item for name, item in items.items() if name.startswith("dose-")), None)
    said = items.get("says")
    drug = move.slots.get("drug")
    if dose is None or said is None or drug is None:
        return
    en, zh = drug.names.en, drug.names.zh or drug.names.en
    checks: tuple[Check, ...] = (dose.check, said.check)
    item = Item(
        id="conflict",
        text=Text(
            en=f"Names both sides: {en} is ordered, and the patient says that they do not take it.",
            zh=f"指出两方面：{zh}有现行医嘱，而患者说没有在用。",
        ),
        check=AllOf(checks=checks),
        requires=(*dose.requires, "heard"),
    )
    rubric = (*(one for one in move.rubric if one.id != "grounded"), item)
    yield replace(move, rubric=rubric, conflict="ordered-not-taken")

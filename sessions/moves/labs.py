"""Labs and vital signs: the latest value, two of them, and how one went over the stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wardround.patients import Stream
from wardround.patients.knowledge import PRESSURE, PRESSURE_PARTS, Names
from wardround.rubrics import Item, OnlyCheck, RetrievedCheck, Text, ValueCheck
from wardround.sessions.record import Reading

from .move import Case, Focus, Move, MoveKind, kept
from .nearness import companions_of, near_labs
from .parts import (
    beside,
    bullets,
    capital,
    chart_call,
    entity,
    grounded_item,
    item,
    lab_call,
    lab_entity,
    lab_items,
    only_item,
    read_item,
    value_item,
    value_line,
)
from .trends import Trend, trend_call, trend_items, trend_line, trend_of, trends

_PAIRS: Final = 6
"""Most pairs of labs offered, so that one focus does not list every combination."""


# -- one value ---------------------------------------------------------------------------------------------------------


@kept
def latest_lab(case: Case, reading: Reading) -> Move:
    """Return the turn that asks for a lab's latest value; it may open a session."""
    line = value_line(reading)
    return Move(
        kind="lab",
        task="IL",
        source="ehr",
        topic=reading.lab,
        calls=(lab_call(case, reading),),
        answer=Text(en=f"{line.en}.", zh=f"{line.zh}。"),
        rubric=(*lab_items(reading), only_item(reading)),
        slots={"lab": lab_entity(case, reading)},
        keys=frozenset(reading.keys),
        labs=(reading.lab,),
        opening=True,
    )


def look_up(case: Case, reading: Reading) -> Move | None:
    """Return the turn that asks for this latest value, a lab's or a vital sign's; None where there is no clear one."""
    if reading.lab in case.view.latest:
        return latest_lab(case, reading)
    return latest_vital(case, PRESSURE if reading.lab == PRESSURE_PARTS[0] else reading.lab)


def latest_vital(case: Case, vital: str) -> Move | None:
    """Return the turn that asks for a vital sign's latest value; None where the record does not say it clearly.

    Args:
        case: Patient and record.
        vital: Concept id; "blood_pressure" is its two values together, as in "132/84 mmHg".
    """
    return case.memo(f"moves.labs.vital.{vital}", lambda case: _latest_vital(case, vital))


def _latest_vital(case: Case, vital: str) -> Move | None:
    if vital == PRESSURE:
        return _pressure(case)
    reading = case.view.vitals.get(vital)
    if reading is None:
        return None
    if reading.level is None:
        line = Names(en=f"{capital(reading.name)} {reading.quantity}", zh=beside(reading.zh, reading.quantity))
        items = [read_item(reading), value_item(reading), only_item(reading), grounded_item()]
    else:
        line = value_line(reading)
        items = [*lab_items(reading), only_item(reading)]
    return _vital(case, vital, reading.names, reading.keys, line, items)


def _pressure(case: Case) -> Move | None:
    """Return the turn about the blood pressure: a pair measured at once; the chart has no range to read it against."""
    upper, lower = (case.view.vitals.get(part) for part in PRESSURE_PARTS)
    if upper is None or lower is None or upper.at != lower.at or upper.unit != lower.unit:
        return None
    names = case.common.casual[PRESSURE][0]
    en, zh, both = names.en, str(names.zh), f"{upper.text}/{lower.text}"
    keys = tuple(dict.fromkeys((*upper.keys, *lower.keys)))
    quantity = f"{both} {upper.unit}"
    read = f"read-{PRESSURE}"
    items = [
        item(read, f"Looked up the latest {en}.", f"查过最近一次{zh}。", RetrievedCheck(any_of=keys)),
        item(
            f"value-{PRESSURE}",
            f"States the latest {en} as {quantity}.",
            f"说出最近一次{zh}为{quantity}。",
            ValueCheck(concept=en, value=both, unit=upper.unit, when="latest"),
            (read,),
        ),
        item(
            "only",
            f"States no measurement of anything but {en}.",
            f"除{zh}外没有说出其他检查的数值。",
            OnlyCheck(concepts=(en,)),
        ),
        grounded_item(),
    ]
    return _vital(case, PRESSURE, names, keys, Names(en=f"{capital(en)} {quantity}", zh=f"{zh}{quantity}"), items)


def _vital(case: Case, vital: str, names: Names, keys: tuple[str, ...], line: Names, items: list[Item]) -> Move:
    return Move(
        kind="vital",
        task="IL",
        source="ehr",
        topic=vital,
        calls=(chart_call(case, "Observation.search", category="vital-signs", code=names.en),),
        answer=Text(en=f"{line.en}.", zh=f"{line.zh}。"),
        rubric=tuple(items),
        slots={"vital": entity(case, "vital", vital, names)},
        keys=frozenset(keys),
        labs=(vital,),
        opening=True,
    )


def _latest_labs(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for reading in near_labs(case, focus, stream):
        yield latest_lab(case, reading)


def _latest_vitals(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for vital in stream.shuffled(case.common.vitals):
        move = None if vital in focus.busy else latest_vital(case, vital)
        if move is not None:
            yield move


# -- two values, a series ----------------------------------------------------------------------------------------------


@kept
def two_labs(case: Case, first: Reading, second: Reading) -> Move:
    """Return the turn that asks for the latest values of two labs."""
    readings = (first, second)
    return Move(
        kind="labs",
        task="DG",
        source="ehr",
        topic=f"{first.lab}+{second.lab}",
        calls=tuple(lab_call(case, one) for one in readings),
        answer=bullets(value_line(one) for one in readings),
        rubric=(
            *(part for one in readings for part in lab_items(one)),
            only_item(*readings),
        ),
        slots={"lab": lab_entity(case, first), "lab2": lab_entity(case, second)},
        keys=frozenset(key for one in readings for key in one.keys),
        labs=(first.lab, second.lab),
    )


@kept
def trend_and_lab(case: Case, trend: Trend, other: Reading, *, back: bool = False) -> Move:
    """Return the turn that asks how one lab went over the stay, and for the latest value of another.

    Args:
        case: Patient and record.
        trend: Of the first.
        other: The second.
        back: The latest value of the first was asked for before, so it does not count as asked again.
    """
    return Move(
        kind="trend",
        task="DG",
        source="ehr",
        topic=f"{trend.last.lab}:trend+{other.lab}",
        calls=(trend_call(case, trend), lab_call(case, other)),
        answer=bullets((trend_line(trend), value_line(other))),
        rubric=(
            *trend_items(trend),
            *lab_items(other),
            only_item(trend.last, other),
        ),
        slots={"lab": lab_entity(case, trend.last), "lab2": lab_entity(case, other)},
        keys=frozenset((*trend.first.keys, *trend.last.keys, *other.keys)),
        labs=(other.lab,) if back else (trend.last.lab, other.lab),
        needs=frozenset({"trend"}),
    )


def _pairs_of_labs(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    seen: set[frozenset[str]] = set()
    for first in near_labs(case, focus, stream):
        second = next(companions_of(case, focus, first.lab, stream), None)
        if second is None or {first.lab, second.lab} in seen:
            continue
        seen.add(frozenset((first.lab, second.lab)))
        yield two_labs(case, first, second)
        if len(seen) == _PAIRS:
            return


def _trends_and_labs(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    found = trends(case)
    near = [one.lab for one in near_labs(case, focus, stream) if one.lab in found]
    asked = stream.shuffled(sorted(lab for lab in focus.busy if lab in found))
    # How the lab just heard of has gone comes to mind first, then what moved; what stayed where it was comes last.
    for lab in (*asked, *sorted(near, key=lambda one: found[one].direction == "stable")):
        other = next(companions_of(case, focus, lab, stream), None)
        if other is not None:
            yield trend_and_lab(case, found[lab], other, back=lab in focus.busy)


KINDS: Final[tuple[MoveKind, ...]] = (
    MoveKind("lab", "IL", "ehr", _latest_labs),
    MoveKind("vital", "IL", "ehr", _latest_vitals),
    MoveKind("labs", "DG", "ehr", _pairs_of_labs),
    MoveKind("trend", "DG", "ehr", _trends_and_labs),
)
"""Every kind of turn about what was measured."""

__all__ = [
    "KINDS",
    "Trend",
    "latest_lab",
    "latest_vital",
    "look_up",
    "trend_and_lab",
    "trend_call",
    "trend_items",
    "trend_line",
    "trend_of",
    "trends",
    "two_labs",
]

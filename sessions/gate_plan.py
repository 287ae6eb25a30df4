"""The gate on what a made session holds: items per task, the adaptive branch, the conflict of a rich one, doubles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import orjson

from wardround.patients import Chart, Measurement, ToolCall, measurements, run_tool
from wardround.rubrics import Item, OnlyWriteCheck, OrderCheck

from .gold import PREPARE, GoldTurn, opening_context
from .session import Branch, Session, Turn

EVIDENCE: Final = ("read-", "heard")
"""Beginnings of the ids of items that others rest on; they are not counted."""
_ITEMS: Final[Mapping[str, tuple[int, int]]] = {"IL": (2, 3), "DG": (4, 5), "CR": (5, 6)}
_MOST_WITH_PATIENT: Final = 6
CONFLICT: Final = "conflict"
"""Label that says what contradicts, and beginning of the id of the item that asks to name it."""


def is_made(session: Session) -> bool:
    """Tell whether a session was made by this version's rules: it says which shapes word it."""
    return "shapes" in session.labels


# -- items -------------------------------------------------------------------------------------------------------------


def count_faults(turn: Turn) -> Iterator[str]:
    """Yield where a turn has more or fewer items than its task asks for."""
    counted = [item for item in turn.rubric if not item.id.startswith(EVIDENCE)]
    if turn.task == "WU":
        yield from _write_items(turn.rubric)
        return
    if turn.task not in _ITEMS:
        return
    low, high = _ITEMS[turn.task]
    if turn.source in {"mixed", "patient"}:
        high = max(high, _MOST_WITH_PATIENT)
    if not low <= len(counted) <= high:
        yield f"{turn.task} ({turn.source}) with {len(counted)} items, {low} to {high} are right"


def _write_items(rubric: tuple[Item, ...]) -> Iterator[str]:
    safety = [item for item in rubric if item.safety]
    if len(safety) != 1:
        yield f"WU with {len(safety)} safety items, exactly one is right"
    if not any(isinstance(item.check, OnlyWriteCheck) for item in rubric):
        yield "WU without the guard that nothing else is written"
    fields: list[str] = []
    for item in rubric:
        if isinstance(item.check, OrderCheck):
            fields.extend(item.check.fields)
            if len(item.check.fields) > 1:
                yield f"item `{item.id}` tests {len(item.check.fields)} fields, one each is right"
    for name in sorted({one for one in fields if fields.count(one) > 1}):
        yield f"two items test the field `{name}`"


def conflict_faults(session: Session) -> Iterator[str]:
    """Yield where a rich session holds no conflict that an item asks to name."""
    named = any(item.id.startswith(CONFLICT) for turn in session.turns for item in turn.rubric)
    if session.tier == "rich" and not session.labels.get(CONFLICT):
        yield "rich, but no conflict is labelled"
    if session.labels.get(CONFLICT) and not named:
        yield "a conflict is labelled, but no item asks to name it"


# -- the adaptive turn -------------------------------------------------------------------------------------------------


def branch_faults(session: Session, chart: Chart, played: GoldTurn) -> Iterator[str]:
    """Yield where the calls of an adaptive turn do not follow from the result that they are said to follow from."""
    gold = played.turn.gold
    if gold is None or gold.branch is None:
        return
    branch = gold.branch
    calls = [call for call in gold.calls if call.tool != PREPARE]
    if not branch.taken or any(not 0 < place < len(calls) for place in branch.taken):
        yield f"the calls that follow are at {branch.taken}, of {len(calls)}"
        return
    if not branch.other or list(branch.other) == [calls[place] for place in branch.taken]:
        yield "both branches call the same"
    before = played.results[: min(branch.taken)]
    series = _series(branch.on, [key for result in before for key in result.resources], played.trace.evidence.resources)
    deciding = series[-1] if series else None
    if deciding is None:
        yield f"no call before the branch finds {branch.on}"
    elif _held(branch, series) is None:
        yield f"{branch.on} of {deciding.text} has no range or no earlier value to be tested against"
    elif _held(branch, series) != branch.held:
        yield f"{branch.on} of {deciding.text}: `{branch.test}` is not {branch.held}"
    context = opening_context(session, chart)
    for call in branch.other:
        result = run_tool(context, ToolCall(call.tool, call.arguments), session.tools)
        if not result.ok or not (result.resources or result.facts):
            yield f"the other branch's {call.tool} {dict(call.arguments)} finds nothing"


def _series(concept: str, keys: Iterable[str], bodies: Mapping[str, bytes]) -> list[Measurement]:
    """Return what was shown of a concept, oldest first."""
    found = [
        one
        for key in dict.fromkeys(keys)
        if key in bodies
        for one in measurements(orjson.loads(bodies[key]))
        if one.concept == concept and one.value is not None and one.instant is not None
    ]
    return sorted(found, key=lambda one: one.instant or 0)


def _held(branch: Branch, series: Sequence[Measurement]) -> bool | None:
    """Tell whether what a turn branches on held; None where it cannot be told."""
    low, high, value = series[-1].low, series[-1].high, series[-1].value
    if value is None:
        return None
    if branch.test in {"rising", "falling"}:
        before = next((one.value for one in reversed(series) if one.instant != series[-1].instant), None)
        return None if before is None else (value > before if branch.test == "rising" else value < before)
    if low is None and high is None:
        return None
    above, below = high is not None and value > high, low is not None and value < low
    return {"high": above, "low": below, "abnormal": above or below}[branch.test]


# -- sets --------------------------------------------------------------------------------------------------------------


def doubles(sessions: Iterable[Session]) -> list[tuple[str, str]]:
    """Return (session id, message) for sessions that ask the same four questions about the same facts as another."""
    seen: dict[tuple[str, ...], str] = {}
    found = []
    for session in sessions:
        key = (session.chart.patient, session.anchor, *(_asked(turn) for turn in session.turns))
        first = seen.setdefault(key, session.id)
        if first != session.id:
            found.append((session.id, f"asks the same four questions about the same facts as `{first}`"))
    return found


def _asked(turn: Turn) -> str:
    calls = turn.gold.calls if turn.gold is not None else ()
    told = [
        [call.tool, {name: value for name, value in sorted(call.arguments.items()) if name != "session_id"}]
        for call in calls
    ]
    return orjson.dumps([turn.task, turn.topic, told]).decode()

"""What a notebook shows of sessions; gold and rubric stay away where the set is for evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from wardround.patients import html_view

if TYPE_CHECKING:
    from .dataset import SessionSet
    from .session import Session, Turn

_COLUMNS = ("turn", "task", "type", "language", "explicit", "implicit")


def session_view(session: Session) -> str:
    """Return HTML of a session: what is asked, and, unless it is for evaluation, one right answer and the rubric."""
    facts = [
        ("scenario, tier", f"{session.scenario}, {session.tier}"),
        ("patient", session.chart.patient),
        ("now", session.anchor),
        ("licence", session.licence),
        ("use", session.use),
        ("split", session.split),
        ("rubric and gold", "not shown: for evaluation" if session.use == "evaluation" else ""),
    ]
    asked = [row for number, turn in enumerate(session.turns) for row in _asked(number, turn)]
    tables: list[tuple[str, tuple[str, ...], list[Any]]] = [("Turns", _COLUMNS, asked)]
    if session.use != "evaluation":
        turns = list(enumerate(session.turns))
        gold = [(number, *told) for number, turn in turns if turn.gold for told in _answers(turn)]
        items = [
            (number, item.id, item.text.en or item.text.zh, item.check.kind, ", ".join(item.requires))
            for number, turn in turns
            for item in turn.rubric
        ]
        tables.append(("Gold answers", ("turn", "language", "answer"), gold))
        tables.append(("Rubric", ("turn", "item", "asks", "check", "requires"), items))
    return html_view(f"Session {session.id}", facts, tables)


def _asked(number: int, turn: Turn) -> Iterable[tuple[Any, ...]]:
    for language, wording in (("en", turn.query.en), ("zh", turn.query.zh)):
        if wording is not None:
            kind = turn.implicitness or "explicit only"
            yield (number, turn.task, kind, language, wording.explicit, wording.implicit)


def _answers(turn: Turn) -> Iterable[tuple[str, str]]:
    assert turn.gold is not None
    for answer in turn.gold.answers[:1]:
        for language, told in (("en", answer.en), ("zh", answer.zh)):
            if told is not None:
                yield language, told


def set_view(sessions: SessionSet) -> str:
    """Return HTML of a set: what it is, and a row per session."""
    use = " + ".join(sorted({one.use for one in sessions}))
    facts = [
        ("sessions", f"{len(sessions):,}"),
        ("licence", sessions.licence),
        ("use", use),
        ("splits", ", ".join(sessions.splits)),
        ("hash", sessions.hash),
    ]
    rows = [
        (one.id, one.scenario, one.tier, one.chart.patient, " ".join(turn.task for turn in one.turns))
        for one in sessions
    ]
    columns = ("session", "scenario", "tier", "patient", "tasks")
    return html_view(f"Sessions: {sessions.name}", facts, [("Sessions", columns, rows)])

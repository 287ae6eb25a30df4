"""Playing the gold calls of a session against its chart, turn by turn, as an episode would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from wardround.patients import (
    Chart,
    Dialogue,
    Overlay,
    Recordings,
    Snapshot,
    ToolCall,
    ToolContext,
    ToolResult,
    ViewFilter,
    parse_instant,
    run_tool,
)
from wardround.rubrics import CallRecord, Evidence, ReplyRecord, TurnTrace, WriteRecord, write_record

from .session import GoldCall, Session, Turn

PREPARE = "prepare_to_answer"


@dataclass(frozen=True)
class GoldTurn:
    """What the gold calls of one turn brought."""

    turn: Turn
    results: tuple[ToolResult, ...]
    trace: TurnTrace


def snapshot_of(session: Session, chart: Chart) -> Snapshot:
    """Return the chart as the session's agents may read it."""
    hidden = session.view
    view = ViewFilter(types=hidden.types, encounters=hidden.encounters, sections=hidden.sections)
    return chart.at(parse_instant(session.anchor), view)


def opening_context(
    session: Session, chart: Chart, language: Literal["en", "zh"] = "en", view: Literal["compact", "fhir"] = "compact"
) -> ToolContext:
    """Return what the tools act on when a session begins: the record at the anchor, nothing written, nothing told."""
    return ToolContext(
        record=Overlay(snapshot_of(session, chart)),
        dialogue=Dialogue(session.interview),
        subject_id=session.chart.patient,
        session_id=session.id,
        language=language,
        view=view,
        encounter=session.encounter,
        recordings=None if session.recordings is None else Recordings(session.recordings, session.encounter),
    )


def play_gold(session: Session, chart: Chart, language: Literal["en", "zh"] = "en") -> Iterator[GoldTurn]:
    """Run every turn's gold calls in order; evidence accumulates over the turns.

    Args:
        session: Its turns have gold; a turn without plays no call.
        chart: The session's chart.
        language: What the patient answers in.
    """
    context = opening_context(session, chart, language)
    snapshot = context.record.snapshot
    evidence = Evidence()
    for turn in session.turns:
        calls = turn.gold.calls if turn.gold is not None else ()
        results, written = _run(context, calls, session.tools)
        evidence = evidence.extended(_bodies(results, snapshot), _replies(results))
        trace = TurnTrace(
            language=language,
            calls=tuple(CallRecord(tool=one.tool, arguments=dict(one.arguments), ok=one.ok) for one in results),
            writes=tuple(one for one in written if one.kind != "file"),
            files=tuple(one for one in written if one.kind == "file"),
            evidence=evidence,
            planned=bool(results) and results[-1].tool == PREPARE and results[-1].ok,
        )
        yield GoldTurn(turn, results, trace)


def _run(
    context: ToolContext, calls: tuple[GoldCall, ...], allowed: tuple[str, ...] | None
) -> tuple[tuple[ToolResult, ...], list[WriteRecord]]:
    """Run calls in order; what each wrote is noted at once, before a later one can change it."""
    results, written = [], []
    for call in calls:
        result = run_tool(context, ToolCall(call.tool, call.arguments), allowed)
        results.append(result)
        if (record := write_record(result, context.record)) is not None:
            written.append(record)
    return tuple(results), written


def _bodies(results: tuple[ToolResult, ...], snapshot: Snapshot) -> dict[str, bytes]:
    found = {}
    for result in results:
        for key in result.resources:
            entry = snapshot.read(*key.split("/", 1))
            if entry is not None:
                found[key] = entry.body
    return found


def _replies(results: tuple[ToolResult, ...]) -> tuple[ReplyRecord, ...]:
    return tuple(
        ReplyRecord(tool=one.tool, facts=one.facts, text=one.text) for one in results if one.effect == "ask" and one.ok
    )

"""Every episode of a page: a small index to filter by, and compressed blocks that are unpacked when one is opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from wardround.agents.rollout import Record
from wardround.agents.tables import turn_results
from wardround.patients import COLUMNS, DataError, Snapshot, ViewFilter, parse_instant
from wardround.rubrics import TurnResult
from wardround.sessions import Session

from .document import squeezed
from .source import Run

_BLOCK = 16
"""Episodes of a block: unpacking one block opens one episode."""
_SHARED = 120
"""Characters from which a result is kept once for all episodes of its session: agents read the same again and again."""


@dataclass(slots=True)
class Packed:
    """What a page holds of the episodes of its runs."""

    rows: list[list[Any]] = field(default_factory=list)
    """The index: a row per episode, columns as `INDEX`."""
    blocks: list[str] = field(default_factory=list)
    """Episodes: base64 of deflated JSON lists."""
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What filters ask of a session, and where the rest of it lies."""
    session_blocks: list[str] = field(default_factory=list)
    turns: list[list[TurnResult]] = field(default_factory=list)
    """Results of every turn, a list per run."""


INDEX = (
    "run", "key", "agent", "session", "language", "phrasing", "trial", "outcome", "score", "rewards", "failures",
    "unreadable", "ungraded", "block", "place",
)  # fmt: skip


def pack(runs: Iterable[Run], *, whole: bool) -> Packed:
    """Return the episodes of the runs.

    Args:
        runs: One or two; of the same set.
        whole: False leaves scores and item ids alone.

    Raises:
        DataError: A record's trajectory is none.
    """
    packed = Packed()
    shown: dict[str, set[str]] = {}
    known: dict[str, Run] = {}
    texts: dict[str, dict[str, int]] = {}
    for number, run in enumerate(runs):
        packed.turns.append([])
        waiting: list[dict[str, Any]] = []
        for record in run.records():
            held = texts.setdefault(record["session"], {})
            try:
                results = turn_results(record, run.sessions)
                waiting.append(_whole(record, held) if whole else _scores(record, results))
            except (KeyError, IndexError, TypeError) as error:
                raise DataError(
                    f"`{run.path}/trajectories.jsonl`: the trajectory of `{record['key']}` is damaged "
                    f"({type(error).__name__}: {error}); play the run again with another --out"
                ) from error
            packed.turns[-1].extend(results)
            packed.rows.append([number, *_row(record, results), len(packed.blocks), len(waiting) - 1])
            known.setdefault(record["session"], run)
            if whole:
                shown.setdefault(record["session"], set()).update(_resources(record))
            if len(waiting) == _BLOCK:
                packed.blocks.append(squeezed(waiting))
                waiting = []
        if waiting:
            packed.blocks.append(squeezed(waiting))
    _pack_sessions(packed, known, shown, texts, whole=whole)
    return packed


def _row(record: Record, results: list[TurnResult]) -> list[Any]:
    return [
        record["key"], record["agent"], record["session"], record["language"], record["phrasing"], record["trial"],
        record["outcome"], record["score"],
        [turn.reward if turn.valid else None for turn in results],
        [turn.failure for turn in results],
        [turn.unreadable for turn in results],
        [turn.ungraded for turn in results],
    ]  # fmt: skip


def _whole(record: Record, texts: dict[str, int]) -> dict[str, Any]:
    trajectory = record["trajectory"]
    return {
        "events": [_lighter(event, texts) for event in trajectory["events"]],
        "turns": trajectory["turns"],
        "phrasing": trajectory["phrasing"],
        "error": record["error"],
        "usage": record.get("usage") or {},
        "hash": record["trajectory_hash"],
    }


def _lighter(event: Mapping[str, Any], texts: dict[str, int]) -> Mapping[str, Any]:
    """Return an event whose long result is named by its place in the session's texts."""
    if event["event"] != "call" or len(event["text"]) < _SHARED:
        return event
    return {**event, "text": texts.setdefault(event["text"], len(texts))}


_KEPT = ("item", "passed", "score", "guard", "unreadable", "ungraded")


def _scores(record: Record, results: list[TurnResult]) -> dict[str, Any]:
    """Return an episode without a word of record, patient, physician or agent."""
    turns = [
        {
            **{name: turn[name] for name in ("reward", "r_plain", "reward_valid", "bounds")},
            "verdicts": [{name: one[name] for name in _KEPT} for one in turn["verdicts"]],
        }
        for turn in record["trajectory"]["turns"]
    ]
    return {
        "turns": turns,
        "calls": [turn.calls for turn in results],
        "phrasing": record["trajectory"]["phrasing"],
        "hash": record["trajectory_hash"],
    }


def _resources(record: Record) -> Iterator[str]:
    """Yield the keys of what an episode was shown, and of what its verdicts rest on."""
    for event in record["trajectory"]["events"]:
        yield from event.get("resources") or ()
    for turn in record["trajectory"]["turns"]:
        for verdict in turn["verdicts"]:
            yield from verdict["resources"]


# -- sessions ---------------------------------------------------------------------------------------------------------


def _pack_sessions(
    packed: Packed, known: Mapping[str, Run], shown: Mapping[str, set[str]], texts: Mapping[str, Mapping[str, int]],
    *, whole: bool,
) -> None:  # fmt: skip
    for name in sorted(known):
        run = known[name]
        session = run.sessions.get(name)
        packed.sessions[name] = {
            "scenario": session.scenario,
            "tier": session.tier,
            "tasks": [turn.task for turn in session.turns],
            "types": [turn.implicitness for turn in session.turns],
            "block": len(packed.session_blocks),
        }
        if whole:
            bodies = _bodies(run, session, shown.get(name, set()))
            told = {**_words(session), "resources": bodies, "texts": list(texts.get(name, {}))}
            packed.session_blocks.append(squeezed(told))


def _words(session: Session) -> dict[str, Any]:
    """Return what a reader needs of a session: items in words, and gold where it may be shown."""
    turns = []
    for turn in session.turns:
        items = {
            item.id: {
                "text": item.text.model_dump(),
                "kind": item.check.kind,
                "requires": list(item.requires),
                "safety": item.safety,
            }
            for item in turn.rubric
        }
        told: dict[str, Any] = {"task": turn.task, "type": turn.implicitness, "source": turn.source, "items": items}
        if turn.gold is not None and session.use != "evaluation":  # held-out answers do not leave by a report
            told["gold"] = turn.gold.model_dump(mode="json", include={"calls", "answers"})
        turns.append(told)
    return {
        "patient": session.chart.patient,
        "encounter": session.encounter,
        "anchor": session.anchor,
        "turns": turns,
    }


def _bodies(run: Run, session: Session, keys: set[str]) -> dict[str, Any]:
    """Return each resource as it was at the anchor: its JSON, and its row as compact results have it."""
    if run.charts is None:
        return {}
    hidden = session.view
    view = ViewFilter(types=hidden.types, encounters=hidden.encounters, sections=hidden.sections)
    snapshot = run.charts.chart(session.chart.patient).at(parse_instant(session.anchor), view)
    found = {key: _body(snapshot, key) for key in sorted(keys)}
    return {key: body for key, body in found.items() if body is not None}


def _body(snapshot: Snapshot, key: str) -> list[Any] | None:
    """Return body, row and columns of a resource, the first two as JSON text, which keeps the digits of its numbers.

    None of what the episode wrote itself, or a fact of the patient.
    """
    kind, _, identity = key.partition("/")
    entry = snapshot.read(kind, identity) if kind in COLUMNS else None
    if entry is None:
        return None
    return [entry.body.decode(), entry.row.decode(), COLUMNS[kind]]

"""Every session of a page: a small index to filter by, and compressed blocks that are unpacked when one is opened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from wardround.agents.report.document import squeezed
from wardround.patients import ChartStore, DataError, ToolResult
from wardround.rubrics import Item, RetrievedCheck
from wardround.sessions import GoldTurn, Session, SheetRow, play_gold, sheet_rows, snapshot_of

from .records import Record

INDEX = ("id", "scenario", "tier", "patient", "split", "tasks", "types", "languages", "bare", "rows", "chart")


@dataclass(slots=True)
class Packed:
    """What a page holds of its sessions."""

    rows: list[list[Any]] = field(default_factory=list)
    """The index: a row per session, columns as `INDEX`; the session's block has the same place."""
    blocks: list[str] = field(default_factory=list)
    """A session each: base64 of deflated JSON."""
    charts: list[str] = field(default_factory=list)
    """A chart at one instant each."""
    asked: int = 0
    """Rows of the review sheet."""


def pack(sessions: Iterable[Session], store: ChartStore, *, gold: bool) -> Packed:
    """Return the sessions of a page.

    Args:
        sessions: In the order of the list.
        store: Their charts.
        gold: False leaves gold and rubric of sessions out whose `use` is `evaluation`.

    Raises:
        DataError: A chart is missing, or is not the session's.
    """
    packed = Packed()
    records: dict[tuple[str, str, str], tuple[int, Record]] = {}
    for session in sessions:
        chart = _chart(session, store)
        key = (session.chart.patient, session.anchor, session.view.model_dump_json())
        if key not in records:
            records[key] = (len(records), Record(snapshot_of(session, chart)))
        place, record = records[key]
        shown = session if gold or session.use != "evaluation" else _bare(session)
        bare = shown is not session
        played = {} if bare else {"en": tuple(play_gold(session, chart)), "zh": tuple(play_gold(session, chart, "zh"))}
        told = {**_words(shown, bare=bare), "turns": [_turn(shown, at, played) for at in range(len(shown.turns))]}
        told["plots"], told["more_plots"] = record.plots(shown, _read(played), _judged(shown))
        rows = list(sheet_rows(shown))
        told["rows"] = [_row(row) for row in rows]
        packed.rows.append(_indexed(shown, bare=bare, rows=len(rows), chart=place))
        packed.blocks.append(squeezed(told))
        packed.asked += len(rows)
    packed.charts = [squeezed(record.as_dict()) for _, record in records.values()]
    return packed


def _chart(session: Session, store: ChartStore) -> Any:
    if session.chart.patient not in store:
        raise DataError(f"session `{session.id}`: no chart of `{session.chart.patient}`: give the --charts of the set")
    chart = store.chart(session.chart.patient)
    if chart.hash != session.chart.hash:
        raise DataError(
            f"session `{session.id}`: the chart of `{session.chart.patient}` has hash {chart.hash[:12]}…, the session "
            f"has {session.chart.hash[:12]}…: give the --charts of the set"
        )
    return chart


def _bare(session: Session) -> Session:
    """Return a session without what says how it is answered: gold, rubric, and names of what was planned."""
    hidden: dict[str, Any] = {"gold": None, "rubric": (), "topic": None, "antecedents": ()}
    turns = tuple(turn.model_copy(update=hidden) for turn in session.turns)
    labels = {name: value for name, value in session.labels.items() if name == "canary"}  # the others tell the plan
    return session.model_copy(update={"turns": turns, "labels": labels})


def _indexed(session: Session, *, bare: bool, rows: int, chart: int) -> list[Any]:
    languages = [
        language for language in ("en", "zh")
        if any(getattr(turn.query, language) is not None for turn in session.turns)
    ]  # fmt: skip
    return [
        session.id, session.scenario, session.tier, session.chart.patient, session.split,
        [turn.task for turn in session.turns], [turn.implicitness for turn in session.turns], languages, bare, rows,
        chart,
    ]  # fmt: skip


def _words(session: Session, *, bare: bool) -> dict[str, Any]:
    plain = session.model_dump(
        mode="json",
        by_alias=True,
        include={
            "family", "encounter", "anchor", "view", "persona", "licence", "use", "provenance", "tools", "budget",
            "context", "interview", "labels",
        },
    )  # fmt: skip
    plain["recordings"] = 0 if session.recordings is None else len(session.recordings)
    plain["bare"] = bare
    return plain


def _turn(session: Session, at: int, played: dict[str, tuple[GoldTurn, ...]]) -> dict[str, Any]:
    turn = session.turns[at]
    told: dict[str, Any] = turn.model_dump(mode="json", by_alias=True, exclude={"gold", "rubric"})
    told["items"] = [_item(item) for item in turn.rubric]
    if turn.gold is not None:
        results = [played[language][at].results for language in ("en", "zh")]
        told["gold"] = turn.gold.model_dump(mode="json", include={"answers", "branch"})
        told["gold"]["calls"] = [
            {**call.model_dump(mode="json"), "result": _result(english), "zh": _other(english, chinese)}
            for call, english, chinese in zip(turn.gold.calls, *results, strict=True)
        ]
    return told


def _item(item: Item) -> dict[str, Any]:
    told: dict[str, Any] = item.model_dump(mode="json", by_alias=True)
    told["check"] = item.check.model_dump(mode="json", by_alias=True, exclude_none=True)
    return told


def _result(result: ToolResult) -> dict[str, Any]:
    return {
        "ok": result.ok,
        "text": result.text,
        "error": result.error,
        "wrote": result.created or result.updated or result.file,
        "facts": list(result.facts),
    }


def _other(english: ToolResult, chinese: ToolResult) -> str | None:
    """Return what comes back in Chinese, where it is not the same."""
    return None if chinese.text == english.text else chinese.text


def _read(played: dict[str, tuple[GoldTurn, ...]]) -> set[str]:
    return {key for turns in played.values() for turn in turns for result in turn.results for key in result.resources}


def _judged(session: Session) -> set[str]:
    checks = (item.check for turn in session.turns for item in turn.rubric)
    return {key for check in checks if isinstance(check, RetrievedCheck) for key in check.any_of}


def _row(row: SheetRow) -> list[Any]:
    return [row.turn, row.what, row.key, row.shown, row.value]

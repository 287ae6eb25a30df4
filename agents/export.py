"""Transcripts and rows for trainers, from a run or from gold.

`chat`: OpenAI messages with tool calls beside the tools offered, one episode a line, for supervised fine-tuning.
`rows`: one line a session, as `wardround.dataset` gives them, for trainers that play themselves. Every line carries the
licence of its session; sessions for evaluation only are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import orjson

import wardround
from wardround.envs import Episode, replay
from wardround.patients import ChartStore, DataError, UsageError, check_output, load_charts, writing_whole
from wardround.sessions import Session, SessionSet, charts_of, load_sessions

from .rescore import read_inputs, read_manifest, run_inputs
from .results import read_records
from .rollout import Record, Worker, play
from .tasks import Setting, make_tasks

FORMAT: Final = "wardround.chat/1"
_CHAT_START: Final = b'{"messages":'
_ROWS_START: Final = b'{"prompt":'
_TRAJECTORIES: Final = "trajectories.jsonl"


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """What to export."""

    source: str
    """A run folder; with `gold`, and for rows, also a built-in set or a JSONL file of sessions."""
    format: Literal["chat", "rows"] = "chat"
    gold: bool = False
    """Gold replays of the sessions instead of what the run's agents did."""
    min_reward: float | None = None
    """Leave out episodes whose reward is lower."""
    languages: Sequence[str] | None = None
    """None: those of the run; of a set, English."""
    phrasings: Sequence[str] | None = None
    """None: those of the run; of a set, implicit."""
    split: str | None = None
    """Only sessions of this split."""
    sessions: str | None = None
    """Where the run's set is now; None: where it was."""
    charts: str | None = None
    """Where the charts are; None: where the run had them, or the set's own."""


def export(plan: ExportPlan, out: str | Path) -> dict[str, Any]:
    """Write transcripts or rows as JSONL.

    Args:
        plan: What to export.
        out: The file; it appears whole or not at all.

    Returns:
        `format, rows, sessions, left_out` (why, counted), `licence` (tags of what was written, joined by " + "), `out`.

    Raises:
        UsageError: No run folder or set, a session for evaluation only, a setting that does not fit the format, nothing
            to write, or something of another kind lies at `out`.
        DataError: Set or charts are not the run's, or an episode plays otherwise with the code at hand.
    """
    _check(plan)
    opened = _open(plan)
    for session in opened.chosen:
        if session.use == "evaluation":
            raise UsageError(
                f"session `{session.id}` is for evaluation only: nothing of its set is exported for training; "
                "choose sessions whose `use` is train, with --split or another set"
            )
    check_output(out, _CHAT_START if plan.format == "chat" else _ROWS_START, f"a file of {plan.format}")
    left_out: Counter[str] = Counter()
    licences: set[str] = set()
    names: set[str] = set()
    rows = 0
    with writing_whole(out) as handle:
        for line in _lines(plan, opened, left_out):
            handle.write(orjson.dumps(line) + b"\n")
            licences.add(line["licence"])
            names.add(line["session_id"])
            rows += 1
        if not rows:
            told = ", ".join(f"{count} {why}" for why, count in sorted(left_out.items())) or "no episode is there"
            asked = "--min-reward, --language, --phrasing or --split"
            raise UsageError(f"nothing to export from `{plan.source}`: {told}; mend {asked}")
    return {
        "format": plan.format,
        "rows": rows,
        "sessions": len(names),
        "left_out": dict(sorted(left_out.items())),
        "licence": " + ".join(sorted(licences)),
        "out": str(out),
    }


# -- what is opened ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Opened:
    sessions: SessionSet
    store: ChartStore
    set_name: str
    """Name or path under which the set is opened again."""
    folder: Path | None
    """The run folder; None where a set was named."""
    chosen: tuple[Session, ...]
    languages: tuple[str, ...]
    phrasings: tuple[str, ...]
    seed: int
    view: str


def _check(plan: ExportPlan) -> None:
    if plan.format not in ("chat", "rows"):
        raise UsageError(f"`format` is `{plan.format}`; expected chat or rows")
    if plan.min_reward is not None and not 0.0 <= plan.min_reward <= 1.0:
        raise UsageError(f"`min_reward` is {plan.min_reward}; rewards lie between 0 and 1")
    if plan.format == "rows" and (plan.gold or plan.min_reward is not None):
        raise UsageError("rows name sessions and hold no transcript: --gold and --min-reward go with --format chat")


def _open(plan: ExportPlan) -> _Opened:
    folder = Path(plan.source)
    if (folder / _TRAJECTORIES).is_file():
        return _open_run(plan, folder)
    if folder.is_dir():
        raise UsageError(f"`{folder}` has no {_TRAJECTORIES}: give a folder that `wardround eval --out` wrote")
    if plan.format == "chat" and not plan.gold:
        raise UsageError(f"`{plan.source}` is no run folder: give one, or --gold for gold replays of a set")
    sessions = load_sessions(plan.source)
    charts = plan.charts or charts_of(plan.source)
    if charts is None:
        raise UsageError(f"`{plan.source}` is no built-in set: say with --charts which store its charts are in")
    return _Opened(
        sessions=sessions,
        store=load_charts(charts),
        set_name=plan.source,
        folder=None,
        chosen=_of_split(sessions, plan.split),
        languages=tuple(plan.languages or ("en",)),
        phrasings=tuple(plan.phrasings or ("implicit",)),
        seed=0,
        view="compact",
    )


def _open_run(plan: ExportPlan, folder: Path) -> _Opened:
    sessions, store = run_inputs(folder, plan.sessions, plan.charts)
    manifest = read_manifest(folder)
    played = {record["session"] for record in read_records(folder / _TRAJECTORIES)}
    return _Opened(
        sessions=sessions,
        store=store,
        set_name=plan.sessions or read_inputs(folder).get("sessions", "ward"),
        folder=folder,
        chosen=tuple(session for session in _of_split(sessions, plan.split) if session.id in played),
        languages=tuple(plan.languages or manifest["languages"]),
        phrasings=tuple(plan.phrasings or manifest["phrasings"]),
        seed=manifest["seed"],
        view=manifest["view"],
    )


def _of_split(sessions: SessionSet, split: str | None) -> tuple[Session, ...]:
    return (sessions.split(split) if split is not None else sessions).sessions


# -- what is written --------------------------------------------------------------------------------------------------


def _lines(plan: ExportPlan, opened: _Opened, left_out: Counter[str]) -> Iterator[dict[str, Any]]:
    if plan.format == "rows":
        return _rows(opened)
    episodes = _gold(opened) if plan.gold or opened.folder is None else _played(opened, opened.folder, left_out)
    return _chat(episodes, plan.min_reward, left_out)


def _rows(opened: _Opened) -> Iterator[dict[str, Any]]:
    """Yield the rows of `wardround.dataset` for the chosen sessions, each with its licence."""
    for name, found in (("language", opened.languages), ("phrasing", opened.phrasings)):
        if len(found) != 1:
            raise UsageError(f"rows are of one {name}, the run has {', '.join(found)}: choose with --{name}")
    wanted = {session.id: session for session in opened.chosen}
    rows: Iterable[Any] = wardround.dataset(
        opened.set_name,
        charts=str(opened.store.path),
        language=opened.languages[0],  # type: ignore[arg-type]  # checked by the episode
        phrasing=opened.phrasings[0],
        view=opened.view,  # type: ignore[arg-type]
        seed=opened.seed,
        only=wanted,
    )
    for row in rows:
        yield {**row, "licence": wanted[row["session_id"]].licence}


def _chat(
    episodes: Iterable[tuple[str, Episode, float]], min_reward: float | None, left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    for agent, episode, reward in episodes:
        if min_reward is not None and reward < min_reward:
            left_out["below the least reward"] += 1
            continue
        yield {
            "messages": episode.messages,
            "tools": episode.tools,
            "format": FORMAT,
            "licence": episode.session.licence,
            "use": episode.session.use,
            "session_id": episode.session.id,
            "agent": agent,
            "language": episode.settings.language,
            "phrasing": list(episode.settings.phrasing),
            "reward": reward,
            "trajectory_hash": episode.trajectory_hash,
        }


def _played(opened: _Opened, folder: Path, left_out: Counter[str]) -> Iterator[tuple[str, Episode, float]]:
    """Yield the completed episodes of a run, played again: the transcript is what the policy really saw."""
    chosen = {session.id for session in opened.chosen}
    for record in read_records(folder / _TRAJECTORIES):
        asked = record["language"] in opened.languages and record["phrasing"] in opened.phrasings
        if record["session"] not in chosen or not asked:
            left_out["not asked for"] += 1
        elif record["outcome"] != "completed":
            left_out[record["outcome"]] += 1
        else:
            yield record["agent"], _again(record, opened), record["score"]


def _again(record: Record, opened: _Opened) -> Episode:
    session = opened.sessions.get(record["session"])
    stored = record["trajectory"]
    if stored.get("history") == "gold":
        raise UsageError(
            f"`{record['key']}` was played with gold history: its transcript is gold's, its reward the agent's; "
            "export a run with history=self, or --gold"
        )
    episode = replay(session, opened.store.chart(session.chart.patient), stored)
    now = episode.trajectory
    if now["events"] != stored["events"] or now["prompt"] != stored["prompt"]:
        raise DataError(
            f"`{record['key']}` plays otherwise than when it was recorded: export it with the version that made it"
        )
    return episode


def _gold(opened: _Opened) -> Iterator[tuple[str, Episode, float]]:
    """Yield gold replays of the chosen sessions, in the order of tasks."""
    for session in opened.chosen:
        for number, turn in enumerate(session.turns):
            if turn.gold is None or not turn.gold.answers:
                raise UsageError(f"session `{session.id}` turn {number} has no gold: it cannot be replayed")
    setting = Setting(
        charts=str(opened.store.path),
        sessions=opened.set_name,
        store_hash=opened.store.hash,
        set_hash=opened.sessions.hash,
        view=opened.view,
    )
    worker = Worker(setting, opened.store, opened.sessions)
    ids = [session.id for session in opened.chosen]
    for task in make_tasks(("oracle",), ids, languages=opened.languages, phrasings=opened.phrasings):
        episode = play(worker.episode(task), worker.agent(task))
        yield "gold", episode, episode.score

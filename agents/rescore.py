"""Scores of a stored run computed anew, from its actions alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from wardround.envs import replay
from wardround.patients import ChartStore, DataError, UsageError, load_charts
from wardround.sessions import SessionSet, load_sessions

from .evaluate import tables
from .results import read_records, write_whole
from .rollout import Record


def rescore(folder: str | Path, *, sessions: str | None = None, charts: str | None = None) -> dict[str, Any]:
    """Replay every trajectory of a run folder and score it with the code at hand.

    Args:
        folder: A run folder with trajectories.jsonl.
        sessions: The set, by name or path; None takes the one the run was made from.
        charts: The charts, likewise.

    Returns:
        `results, delta, trajectory_hash` as evaluate gives them, `episodes`, and `changed`: keys whose score or
        trajectory hash is not the stored one, with both scores. Also written to rescored.json.

    Raises:
        UsageError: The folder is no run folder.
        DataError: Set or charts are not those of the run.
    """
    path = Path(folder)
    if not (path / "trajectories.jsonl").is_file():
        raise UsageError(f"`{path}` has no trajectories.jsonl: give a folder that `wardround eval --out` wrote")
    session_set, store = _inputs(path, sessions, charts)
    changed: list[dict[str, Any]] = []
    records = list(_replayed(path, session_set, store, changed))
    report = {**tables(records, session_set), "episodes": len(records), "changed": changed}
    write_whole(path / "rescored.json", orjson.dumps(report, option=orjson.OPT_INDENT_2) + b"\n")
    return report


def _inputs(path: Path, sessions: str | None, charts: str | None) -> tuple[SessionSet, ChartStore]:
    manifest = orjson.loads((path / "manifest.json").read_bytes())
    given = orjson.loads((path / "inputs.json").read_bytes()) if (path / "inputs.json").is_file() else {}
    session_set = load_sessions(sessions or given.get("sessions", "ward"))
    store = load_charts(charts or given.get("charts", "ward"))
    for what, have, want in (
        ("sessions", session_set.hash, manifest["set_hash"]),
        ("charts", store.hash, manifest["store_hash"]),
    ):
        if have != want:
            raise DataError(f"{what} hash is {have[:12]}…, the run has {want[:12]}…: give the --{what} of the run")
    return session_set, store


def _replayed(path: Path, sessions: SessionSet, store: ChartStore, changed: list[dict[str, Any]]) -> Iterator[Record]:
    for record in read_records(path / "trajectories.jsonl"):
        session = sessions.get(record["session"])
        episode = replay(session, store.chart(session.chart.patient), record["trajectory"])
        fresh = episode.trajectory_hash
        if fresh != record["trajectory_hash"]:
            changed.append({"key": record["key"], "stored": record["score"], "now": episode.score})
        yield {**record, "score": episode.score, "trajectory": episode.trajectory, "trajectory_hash": fresh}

"""Scores of a stored run computed anew, from its actions alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import orjson

from wardround.patients import ChartStore, DataError, UsageError, load_charts, write_whole
from wardround.sessions import SessionSet, load_sessions

from .folder_lock import FolderLock
from .judge_run import resolve, settled
from .judging import JudgePlan
from .results import read_records
from .tables import tables


def rescore(
    folder: str | Path,
    *,
    sessions: str | None = None,
    charts: str | None = None,
    judge: JudgePlan | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Replay every trajectory of a run folder and score it with the code at hand.

    Args:
        folder: A run folder with trajectories.jsonl.
        sessions: The set, by name or path; None takes the one the run was made from.
        charts: The charts, likewise.
        judge: Who decides judge items; None takes the verdicts that the folder holds, if it holds any.
        progress: Called with (requests judged, requests in all) where a model is asked.

    Returns:
        `results, delta, trajectory_hash` as evaluate gives them, `episodes`, `changed`: keys whose score or
        trajectory hash is not the stored one, with both scores, `newly_judged`: how many episodes waited for a judge
        when they were stored and do no longer (no change in that sense), and `judge`. Also written to rescored.json.

    Raises:
        UsageError: The folder is no run folder, or the judge may not be asked about these data.
        DataError: Set or charts are not those of the run.
    """
    path = Path(folder)
    if not (path / "trajectories.jsonl").is_file():
        raise UsageError(f"`{path}` has no trajectories.jsonl: give a folder that `wardround eval --out` wrote")
    session_set, store = run_inputs(path, sessions, charts)
    stored = list(read_records(path / "trajectories.jsonl"))
    if not stored:
        raise DataError(f"`{path / 'trajectories.jsonl'}` is empty: restore the run folder, or play it again")
    asks = judge is not None and judge.model is not None
    with FolderLock(path) if asks else nullcontext():  # judgements are written to the folder
        fresh = [settled(record, session_set.get(record["session"]), store, None) for record in stored]
        records, judged = resolve(fresh, session_set, store, path, judge, progress=progress)
    changed: list[dict[str, Any]] = []
    newly = 0
    for old, new in zip(stored, records, strict=True):
        if old["trajectory_hash"] == new["trajectory_hash"]:
            continue
        if old["outcome"] == "ungraded" and new["outcome"] != "ungraded":
            newly += 1
        else:
            changed.append({"key": old["key"], "stored": old["score"], "now": new["score"]})
    report = {
        **tables(records, session_set),
        "episodes": len(records),
        "changed": changed,
        "newly_judged": newly,
        "judge": judged,
    }
    write_whole(path / "rescored.json", orjson.dumps(report, option=orjson.OPT_INDENT_2) + b"\n")
    return report


def run_inputs(path: Path, sessions: str | None, charts: str | None) -> tuple[SessionSet, ChartStore]:
    """Open what a run was made from.

    Args:
        path: The run folder.
        sessions: Another place of the set; None is where it was.
        charts: Another place of the charts; None is where they were.

    Raises:
        DataError: What is there now is not what the run was made from.
    """
    manifest = read_manifest(path)
    given = read_inputs(path)
    session_set = load_sessions(sessions or given.get("sessions", "ward"))
    store = load_charts(charts or given.get("charts", "ward"))
    for what, have, want in (
        ("sessions", session_set.hash, manifest["set_hash"]),
        ("charts", store.hash, manifest["store_hash"]),
    ):
        if have != want:
            raise DataError(f"{what} hash is {have[:12]}…, the run has {want[:12]}…: give the --{what} of the run")
    return session_set, store


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a run folder.

    Raises:
        DataError: It is not there, or no manifest of a run.
    """
    stored = path / "manifest.json"
    try:
        manifest = orjson.loads(stored.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise DataError(f"`{stored}` cannot be read ({error}): restore the run folder") from error
    wanted = {"set_hash": str, "store_hash": str, "languages": list, "phrasings": list, "seed": int, "view": str}
    missing = [
        name
        for name, kind in wanted.items()
        if not isinstance(manifest, dict) or not isinstance(manifest.get(name), kind)
    ]
    if missing:
        raise DataError(f"`{stored}` has no `{missing[0]}`: not the manifest of a run; restore the run folder")
    found: dict[str, Any] = manifest
    return found


def read_inputs(path: Path) -> dict[str, str]:
    """Return where a run's set and charts were; {} where the folder does not say.

    Raises:
        DataError: The file is no JSON object.
    """
    stored = path / "inputs.json"
    if not stored.is_file():
        return {}
    try:
        given = orjson.loads(stored.read_bytes())
    except orjson.JSONDecodeError as error:
        raise DataError(f"`{stored}` is no JSON ({error}): delete it and say --sessions and --charts") from error
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise DataError(f"`{stored}` is not what a run wrote: delete it and say --sessions and --charts")
    return given

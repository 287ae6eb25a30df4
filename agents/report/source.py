"""What a page is made of: a run folder, opened and checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from wardround.agents.litellm_door import CREDENTIALED, UNKNOWN
from wardround.agents.rescore import read_inputs, read_manifest
from wardround.agents.results import hash_of, read_records
from wardround.agents.rollout import Record
from wardround.patients import ChartStore, DataError, UsageError, load_charts
from wardround.sessions import SessionSet, load_sessions


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run."""

    path: Path
    manifest: dict[str, Any]
    results: dict[str, Any]
    """results.json as it lies there; every figure of a page is one of its figures."""
    sessions: SessionSet
    charts: ChartStore | None
    """None: not to be found any more; the page then shows results as they were recorded, and no resources."""
    kept_close: bool
    """Data that are credentialed, or of which nobody has said what they are."""

    def records(self) -> Iterator[Record]:
        """Yield the records in the order of their keys, one at a time."""
        return read_records(self.path / "trajectories.jsonl")


def open_run(folder: str | Path, *, sessions: str | None = None, charts: str | None = None) -> Run:
    """Open a run folder.

    Args:
        folder: As `wardround eval --out` wrote it.
        sessions: Another place of the set; None is where it was.
        charts: Another place of the charts; None is where they were, and it is no fault if they are gone.

    Raises:
        UsageError: It is no folder of a finished run.
        DataError: Its files do not belong together, or set or charts are not those of the run.
    """
    path = Path(folder)
    if (path / "ablation.json").is_file() and not (path / "trajectories.jsonl").is_file():
        raise UsageError(f"`{path}` holds an ablation: give one of the run folders in it, or two to compare")
    for name in ("trajectories.jsonl", "results.json"):
        if not (path / name).is_file():
            raise UsageError(f"`{path}` has no {name}: give a folder that `wardround eval --out` has finished")
    manifest = read_manifest(path)
    results = _read_results(path / "results.json")
    given = read_inputs(path)
    session_set = load_sessions(sessions or given.get("sessions", "ward"))
    if session_set.hash != manifest["set_hash"]:
        raise DataError(
            f"sessions hash is {session_set.hash[:12]}…, the run has {manifest['set_hash'][:12]}…: "
            "give the --sessions of the run"
        )
    licences, hashes = set(), []
    for record in read_records(path / "trajectories.jsonl"):
        licences.add(str(record["licence"]))
        hashes.append((record["key"], record["trajectory_hash"]))
    if not hashes:
        raise UsageError(f"`{path}/trajectories.jsonl` holds no episode: nothing to report")
    if hash_of(hashes) != results["trajectory_hash"]:
        raise DataError(
            f"`{path}/results.json` is not of the trajectories beside it: `wardround eval --resume` writes it anew"
        )
    licences.add(str(manifest.get("licence") or session_set.licence))
    return Run(
        path=path,
        manifest=manifest,
        results=results,
        sessions=session_set,
        charts=_open_charts(charts, given.get("charts", "ward"), manifest["store_hash"]),
        kept_close=any(word in licence.casefold() for licence in licences for word in (CREDENTIALED, UNKNOWN)),
    )


def _read_results(path: Path) -> dict[str, Any]:
    try:
        results = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise DataError(f"`{path}` is no JSON ({error}): `wardround eval --resume` writes it anew") from error
    wanted = ("results", "delta", "delta_by_agent", "comparisons", "errors", "trajectory_hash")
    missing = [name for name in wanted if not isinstance(results, dict) or name not in results]
    if missing:
        raise DataError(f"`{path}` has no `{missing[0]}`: `wardround eval --resume` writes it anew")
    found: dict[str, Any] = results
    return found


def _open_charts(named: str | None, recorded: str, wanted: str) -> ChartStore | None:
    """Open the charts; those that are only remembered may have gone."""
    if named is None and not Path(recorded).is_file() and "/" in recorded:
        return None
    store = load_charts(named or recorded)
    if store.hash != wanted:
        raise DataError(f"charts hash is {store.hash[:12]}…, the run has {wanted[:12]}…: give the --charts of the run")
    return store

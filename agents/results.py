"""A run's folder: manifest, append-only parts, and the merged trajectories.

- `manifest.json`: versions, hashes, prompts, settings, seeds
- `inputs.json`: where sessions and charts were read from, for rescore
- `parts/NAME.jsonl`: records as they finished, appended and flushed one by one
- `trajectories.jsonl`: all records merged by key; the same bytes whatever wrote the parts
- `judgements.jsonl`: every reply of an LLM judge and its verdicts, by request key (only where one was asked)
- `results.json`: the tables
- `.lock`: empty; held by the process that writes the folder
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from wardround.patients import DataError, UsageError, write_whole, writing_whole

from .folder_lock import FolderLock
from .rollout import RECORD_FORMAT, Record
from .tasks import Task

_LINE = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS
_BLOCK = 1 << 16
_FIELDS: tuple[tuple[str, type | tuple[type, ...]], ...] = (
    *((name, str) for name in ("key", "agent", "session", "language", "phrasing", "licence", "outcome", "error")),
    ("sees_gold", bool), ("trial", int), ("seed", int), ("score", (int, float)), ("trajectory_hash", str),
    ("trajectory", dict),
)  # fmt: skip
"""What every record has; `usage` came later."""


class _Place(NamedTuple):
    """Where a record lies."""

    part: Path
    start: int
    length: int
    trajectory_hash: str


class RunFolder:
    """The folder of one run.

    Args:
        path: Created if absent.
        manifest: What the run is; a folder that holds another manifest is refused.
        resume: Go on with what the folder holds. Without it a folder that holds records is refused.

    Raises:
        UsageError: The folder belongs to another run, or holds records and `resume` is False.
    """

    def __init__(self, path: str | Path, manifest: dict[str, Any], *, resume: bool = False) -> None:
        self.path = Path(path)
        self.parts = self.path / "parts"
        self.parts.mkdir(parents=True, exist_ok=True)
        self._files: dict[str, IO[bytes]] = {}
        held = any(self.parts.glob("*.jsonl"))
        if held and not resume:
            raise UsageError(f"`{self.path}` already holds records: give --resume to go on, or another --out")
        stored = self.path / "manifest.json"
        body = orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
        if held and (old := _stored(stored)) != (new := orjson.loads(body)):
            changed = _difference(old, new)
            raise UsageError(f"`{self.path}` belongs to another run ({changed} differs): give another --out")
        write_whole(stored, body + b"\n")

    def done(self) -> set[str]:
        """Return the keys already recorded. A line torn by a kill is dropped and its episode played again."""
        return {record["key"] for part in self._part_files() for record in read_records(part, torn_tail=True)}

    def forget(self, outcomes: Collection[str]) -> int:
        """Drop the records that ended so, in order to play those episodes again.

        Returns:
            How many were dropped.
        """
        self.close()
        dropped = 0
        for part in self._part_files():
            found = sum(record["outcome"] in outcomes for record in read_records(part, torn_tail=True))
            if not found:
                continue
            dropped += found
            with writing_whole(part) as out:
                out.writelines(
                    line for _, line, record in _lines(part, torn_tail=True) if record["outcome"] not in outcomes
                )
        return dropped

    def append(self, part: str, record: Record) -> None:
        """Add a record to a part and flush it."""
        handle = self._files.get(part)
        if handle is None:
            target = self.parts / f"{part}.jsonl"
            _mend_tail(target)
            handle = self._files[part] = target.open("ab")
        handle.write(orjson.dumps(record, option=_LINE))
        handle.flush()

    def merge(self, tasks: Iterable[Task]) -> int:
        """Write trajectories.jsonl in the order of the tasks' keys; only the places of the records are held in memory.

        Returns:
            How many records were written.

        Raises:
            DataError: Two different records share a key, or a task has none.
        """
        self.close()
        places: dict[str, _Place] = {}
        for part in self._part_files():
            for start, line, record in _lines(part, torn_tail=True):
                have = places.setdefault(record["key"], _Place(part, start, len(line), record["trajectory_hash"]))
                if have.trajectory_hash != record["trajectory_hash"]:
                    told = f"`{self.parts}` holds two different records of `{record['key']}`"
                    raise DataError(f"{told}: start a new --out")
        keys = sorted(task.key for task in tasks)
        missing = [key for key in keys if key not in places]
        if missing:
            raise DataError(f"`{self.parts}` lacks {len(missing)} episodes, the first is `{missing[0]}`: --resume")
        self._write_lines(places[key] for key in keys)
        return len(keys)

    def records(self) -> Iterator[Record]:
        """Yield the merged records, one at a time."""
        return read_records(self.path / "trajectories.jsonl")

    def write(self, records: Iterable[Record]) -> None:
        """Write trajectories.jsonl, records in the order given."""
        with writing_whole(self.path / "trajectories.jsonl") as handle:
            for record in records:
                handle.write(orjson.dumps(record, option=_LINE))

    def close(self) -> None:
        """Close the part files."""
        for handle in self._files.values():
            handle.close()
        self._files.clear()

    def _part_files(self) -> list[Path]:
        return sorted(self.parts.glob("*.jsonl"))

    def _write_lines(self, places: Iterable[_Place]) -> None:
        handles = {part: part.open("rb") for part in self._part_files()}
        try:
            with writing_whole(self.path / "trajectories.jsonl") as out:
                for place in places:
                    handles[place.part].seek(place.start)
                    out.write(handles[place.part].read(place.length))
        finally:
            for handle in handles.values():
                handle.close()


def read_records(path: Path, *, torn_tail: bool = False) -> Iterator[Record]:
    """Yield the records of a JSONL file.

    Args:
        path: A part or trajectories.jsonl.
        torn_tail: Drop a last line without its newline (a process was killed while writing it).

    Raises:
        DataError: A line is no record; names file and line.
    """
    for _, _, record in _lines(path, torn_tail=torn_tail):
        yield record


def _lines(path: Path, *, torn_tail: bool) -> Iterator[tuple[int, bytes, Record]]:
    """Yield where each line of a file of records begins, the line, and its record."""
    start = 0
    with path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            if torn_tail and not line.endswith(b"\n"):
                return
            try:
                record = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise DataError(f"{path}:{number}: not JSON ({error}): delete the line or the file") from error
            if not isinstance(record, dict) or record.get("format") != RECORD_FORMAT:
                raise DataError(f"{path}:{number}: `format` is not {RECORD_FORMAT}: not a file of records")
            wrong = next((name for name, kind in _FIELDS if not isinstance(record.get(name), kind)), None)
            if wrong is None and not isinstance(record.get("usage", {}), dict):
                wrong = "usage"
            if wrong is not None:
                raise DataError(f"{path}:{number}: `{wrong}` is missing or damaged: delete the line or the file")
            yield start, line, record
            start += len(line)


def run_hash(records: Iterable[Record]) -> str:
    """Return the hash of a run: of its keys and trajectory hashes, in key order."""
    return hash_of((record["key"], record["trajectory_hash"]) for record in records)


def hash_of(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the hash of a run from the keys and trajectory hashes of its records, in any order."""
    return sha256("\n".join(sorted(f"{key} {each}" for key, each in pairs)).encode()).hexdigest()


def _mend_tail(path: Path) -> None:
    """Cut a line torn by a kill, so that the next record starts on its own line; what comes before is not touched."""
    if not path.exists():
        return
    with path.open("rb+") as handle:
        end = handle.seek(0, os.SEEK_END)
        whole = end
        while whole:  # back to the last newline, a block at a time: a part may be larger than the memory
            start = max(0, whole - _BLOCK)
            handle.seek(start)
            found = handle.read(whole - start).rfind(b"\n")
            if found >= 0:
                whole = start + found + 1
                break
            whole = start
        if whole < end:
            handle.truncate(whole)


def _stored(path: Path) -> dict[str, Any]:
    """Return the manifest beside records; without it nobody knows whose they are.

    Raises:
        DataError: It is not there, or no JSON object.
    """
    try:
        manifest = orjson.loads(path.read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError) as error:
        raise DataError(f"`{path}` cannot be read ({error}): restore it, or give another --out") from error
    if not isinstance(manifest, dict):
        raise DataError(f"`{path}` is no JSON object: restore it, or give another --out")
    return manifest


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    return ", ".join(f"`{name}`" for name in names) or "something"


def clear_run(path: Path, agents: Sequence[str]) -> None:
    """Delete the files of an earlier run of these agents in a folder, and nothing else.

    Raises:
        UsageError: The folder holds a run of other agents, or another process writes it; it is kept.
    """
    if path.is_dir():
        with FolderLock(path):
            _clear(path, agents)


def _clear(path: Path, agents: Sequence[str]) -> None:
    stored = path / "manifest.json"
    if stored.exists() or any((path / "parts").glob("*.jsonl")):
        try:
            manifest = orjson.loads(stored.read_bytes())
            held = [agent["name"] for agent in manifest["agents"]]
        except (FileNotFoundError, orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise UsageError(f"`{stored}` is not a run's manifest: it is kept; give another --out") from error
        if held != list(agents):
            raise UsageError(f"`{path}` holds a run of {', '.join(held)}: it is kept; give another --out")
    for part in sorted((path / "parts").glob("*.jsonl")):
        part.unlink()
    for name in (
        "manifest.json",
        "inputs.json",
        "trajectories.jsonl",
        "results.json",
        "rescored.json",
        "judgements.jsonl",
    ):
        (path / name).unlink(missing_ok=True)

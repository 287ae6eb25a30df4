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

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import orjson

from wardround.patients import DataError, UsageError, write_whole

from .rollout import RECORD_FORMAT, Record, Task

_LINE = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS


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
        if held and stored.exists() and orjson.loads(stored.read_bytes()) != orjson.loads(body):
            changed = _difference(orjson.loads(stored.read_bytes()), orjson.loads(body))
            raise UsageError(f"`{self.path}` belongs to another run ({changed} differs): give another --out")
        write_whole(stored, body + b"\n")

    def done(self) -> set[str]:
        """Return the keys already recorded. A line torn by a kill is dropped and its episode played again."""
        return {record["key"] for record in self._records()}

    def append(self, part: str, record: Record) -> None:
        """Add a record to a part and flush it."""
        handle = self._files.get(part)
        if handle is None:
            target = self.parts / f"{part}.jsonl"
            _mend_tail(target)
            handle = self._files[part] = target.open("ab")
        handle.write(orjson.dumps(record, option=_LINE))
        handle.flush()

    def merge(self, tasks: Iterable[Task]) -> list[Record]:
        """Write trajectories.jsonl in the order of the tasks' keys and return its records.

        Raises:
            DataError: Two different records share a key, or a task has none.
        """
        self.close()
        by_key: dict[str, Record] = {}
        for record in self._records():
            have = by_key.setdefault(record["key"], record)
            if have["trajectory_hash"] != record["trajectory_hash"]:
                raise DataError(f"`{self.parts}` holds two different records of `{record['key']}`: start a new --out")
        keys = sorted(task.key for task in tasks)
        missing = [key for key in keys if key not in by_key]
        if missing:
            raise DataError(f"`{self.parts}` lacks {len(missing)} episodes, the first is `{missing[0]}`: --resume")
        records = [by_key[key] for key in keys]
        self.write(records)
        return records

    def write(self, records: Iterable[Record]) -> None:
        """Write trajectories.jsonl, records in the order given."""
        write_whole(self.path / "trajectories.jsonl", b"".join(orjson.dumps(r, option=_LINE) for r in records))

    def close(self) -> None:
        """Close the part files."""
        for handle in self._files.values():
            handle.close()
        self._files.clear()

    def _records(self) -> Iterator[Record]:
        for part in sorted(self.parts.glob("*.jsonl")):
            yield from read_records(part, torn_tail=True)


def read_records(path: Path, *, torn_tail: bool = False) -> Iterator[Record]:
    """Yield the records of a JSONL file.

    Args:
        path: A part or trajectories.jsonl.
        torn_tail: Drop a last line without its newline (a process was killed while writing it).

    Raises:
        DataError: A line is no record; names file and line.
    """
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
            yield record


def run_hash(records: Iterable[Record]) -> str:
    """Return the hash of a run: of its keys and trajectory hashes, in key order."""
    lines = sorted(f"{record['key']} {record['trajectory_hash']}" for record in records)
    return sha256("\n".join(lines).encode()).hexdigest()


def _mend_tail(path: Path) -> None:
    """Cut a line torn by a kill, so that the next record starts on its own line."""
    if not path.exists():
        return
    body = path.read_bytes()
    if body and not body.endswith(b"\n"):
        path.write_bytes(body[: body.rfind(b"\n") + 1])


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    return ", ".join(f"`{name}`" for name in names) or "something"


def clear_run(path: Path, agents: Sequence[str]) -> None:
    """Delete the files of an earlier run of these agents in a folder, and nothing else.

    Raises:
        UsageError: The folder holds a run of other agents; it is kept.
    """
    stored = path / "manifest.json"
    if stored.exists():
        try:
            manifest = orjson.loads(stored.read_bytes())
            held = [agent["name"] for agent in manifest["agents"]]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
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

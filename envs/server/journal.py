"""Files that only grow: the journal of writes and the audit log, each line on disk before its request is answered."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from wardround.patients import DataError, UsageError

from .messages import refused

FORMAT = "wardround.journal/1"


def open_private(path: Path, flags: int) -> int:
    """Open a file that only its owner may read; a link is never followed.

    Raises:
        OSError: It cannot be opened.
    """
    file = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.fchmod(file, 0o600)  # a file that was there may have been open to others
    return file


def now_text() -> str:
    """Return the time as a FHIR instant: of the machine's clock, for logs only."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Lines:
    """A file of JSON lines that is written at its end only.

    Args:
        path: The file; None keeps nothing.
        sync: Whether each line is on the disk before `write` returns.
    """

    def __init__(self, path: Path | None, *, sync: bool) -> None:
        self.path = path
        self._sync = sync
        self._file = -1 if path is None else open_private(path, os.O_WRONLY | os.O_APPEND)

    def write(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Write lines at the end; a line that could not be written whole is taken back.

        Raises:
            OSError: The disk is full or gone.
        """
        if self._file < 0 or not lines:
            return
        text = b"".join(orjson.dumps(line) + b"\n" for line in lines)
        size = os.fstat(self._file).st_size
        try:
            done = 0
            while done < len(text):
                done += os.write(self._file, text[done:])
            if self._sync:
                os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, size)
            raise

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class Journal(Lines):
    """The writes of a server, in order.

    Args:
        path: The file; None keeps nothing.

    Raises:
        UsageError: Another server has it open.
        DataError: It is no journal.
    """

    def __init__(self, path: Path | None) -> None:
        super().__init__(path, sync=True)
        self._found: list[dict[str, Any]] = []
        if path is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # it goes with the process, however that ends
                self._found = _read(path)
            except BlockingIOError as fault:
                self.close()
                raise UsageError(f"{path}: another server writes it; end that one, or use another --out") from fault
            except BaseException:
                self.close()
                raise

    def begin(self, about: Mapping[str, Any]) -> None:
        """Say what the writes are about; a journal that is there must be about the same.

        Raises:
            DataError: It is about something else.
        """
        head = {"format": FORMAT, **about}
        if not self._found:
            self.write([head])
        elif self._found[0] != orjson.loads(orjson.dumps(head)):
            raise DataError(f"{self.path}: holds writes to other charts, or as of other instants; use another --out")

    def write(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Write lines at the end, all on the disk before it returns.

        Raises:
            Refused: 503: they cannot be kept, so that what they tell of must not be done.
        """
        try:
            super().write(lines)
        except OSError as fault:
            raise refused(503, "exception", f"the journal cannot be written ({fault.strerror})") from fault

    def steps(self) -> Iterator[Mapping[str, Any]]:
        """Yield the writes that were there before."""
        yield from self._found[1:]


def _read(path: Path) -> list[dict[str, Any]]:
    """Read a journal; a last line that was cut off (the machine died in it) was never acknowledged and is dropped."""
    raw = path.read_bytes()
    whole, _, rest = raw.rpartition(b"\n")
    found = []
    for number, line in enumerate(whole.split(b"\n") if whole else (), start=1):
        try:
            step = orjson.loads(line)
        except orjson.JSONDecodeError as fault:
            raise DataError(f"{path}, line {number}: not JSON; use another --out") from fault
        if not isinstance(step, dict):
            raise DataError(f"{path}, line {number}: not a JSON object; use another --out")
        found.append(step)
    if rest:
        with path.open("r+b") as file:
            file.truncate(len(raw) - len(rest))
    return found

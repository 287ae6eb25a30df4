"""What a file that is to be written may replace: an older file of its own kind, never anything else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .errors import UsageError


def check_output(path: str | Path, start: bytes, kind: str) -> None:
    """Refuse a place for a file where something of another kind would be lost.

    Args:
        path: Where the file is to be.
        start: The bytes every file of its kind starts with.
        kind: What the file is, for the message ("a charts file").

    Raises:
        UsageError: A folder is there, or a file that does not start so (an empty one may be replaced).
    """
    target = Path(path)
    if not target.exists():
        return
    if not target.is_file():
        raise UsageError(f"`{path}` is there and is no file: name the file to write with `--out`")
    with target.open("rb") as handle:
        found = handle.read(len(start))
    if found and found != start:
        raise UsageError(f"`{path}` is there and is not {kind}: it is kept; choose another `--out` or delete it first")


def write_whole(path: str | Path, body: bytes) -> None:
    """Write a file, and its folder where there is none, so that readers see the old one or the new one, never half."""
    with writing_whole(path) as handle:
        handle.write(body)


@contextmanager
def writing_whole(path: str | Path) -> Iterator[IO[bytes]]:
    """Write a file piece by piece, as `write_whole`; what raises leaves the old one as it was."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as handle:
            yield handle
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)

"""One run at a time writes a run's folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from wardround.patients import UsageError

LOCK = ".lock"


class FolderLock:
    """Holds a folder for this process; the system lets go of it however the process ends, SIGKILL included.

    A record lock, for a forked worker does not inherit it: workers that outlive a killed driver keep nobody out. It
    tells processes apart, not runs within one process. On Windows nothing is locked.

    Args:
        folder: The folder; it must exist.

    Raises:
        UsageError: Another process holds it.
    """

    def __init__(self, folder: Path) -> None:
        self._handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        if sys.platform == "win32":
            return
        import fcntl

        try:
            fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as error:
            os.close(self._handle)
            raise UsageError(
                f"another process is writing `{folder}`: wait until it is done, or give another --out"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._handle)

"""The folder beside an output in which it is made: held under a lock, found again after a crash, gone at the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from io import TextIOWrapper
from pathlib import Path

from .errors import BusyError

try:
    import fcntl
except ImportError:  # Windows has no flock: there two processes must not write one output at once
    fcntl = None  # type: ignore[assignment]

_LOCK = "lock"
_OUTSIDE = "outside"
"""Names a folder elsewhere that belongs to the work, so that the next process can remove it after a crash."""


class WorkFolder:
    """A claimed folder. Whatever a dead process left in it is kept until `clear`; a live one's is never touched.

    Args:
        output: The file to be made; the folder is `.<name>.part` beside it.

    Raises:
        BusyError: Another process is making this output.
    """

    def __init__(self, output: Path) -> None:
        self.path = output.parent / f".{output.name}.part"
        self._lock: TextIOWrapper | None = None
        while self._lock is None:
            self._lock = self._claim(output)
        self._clear_outside()

    def _claim(self, output: Path) -> TextIOWrapper | None:
        self.path.mkdir(exist_ok=True)
        place = self.path / _LOCK
        try:
            lock = place.open("a")
        except FileNotFoundError:  # another process finished and removed the folder just now
            return None
        try:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if fcntl is None or place.stat().st_ino == os.fstat(lock.fileno()).st_ino:
                return lock
        except FileNotFoundError:
            pass
        except BlockingIOError:
            lock.close()
            words = f"another process is writing `{output.name}`; wait for it, or choose another place"
            raise BusyError(words) from None
        lock.close()
        return None

    def clear(self, keep: Iterable[str] = ()) -> None:
        """Remove what the folder holds, but for the names in `keep`."""
        kept = {_LOCK, *keep}
        for entry in self.path.iterdir():
            if entry.name not in kept:
                shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()

    def own(self, folder: Path) -> None:
        """Remember a temporary folder elsewhere; it is removed by `release`, or after a crash by the next process."""
        (self.path / _OUTSIDE).write_text(str(folder), encoding="utf-8")

    def _clear_outside(self) -> None:
        note = self.path / _OUTSIDE
        if note.is_file():
            folder = Path(note.read_text(encoding="utf-8"))
            if folder.name.startswith("wardround-") and folder.is_dir():
                shutil.rmtree(folder)
            note.unlink()

    def release(self, *, keep: bool = False) -> None:
        """Give the folder up; without `keep` it is removed. Nothing happens the second time."""
        if self._lock is None:
            return
        self._clear_outside()
        if not keep:
            shutil.rmtree(self.path)
        self._lock.close()
        self._lock = None

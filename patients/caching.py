"""Stores that are built on first use and kept in the user's cache folder, under a name that says what they are of."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

from .errors import DataError
from .store import ChartStore

T = TypeVar("T")

CACHE_VARIABLE = "WARDROUND_CACHE"
"""Environment variable that names another cache folder."""


def cached_store(name: str, build: Callable[[Path], object]) -> ChartStore:
    """Open a store of the cache folder, building it first where it is not there or is damaged.

    Where no cache folder can be written, the store lies in a folder of this process.

    Args:
        name: Of the file; it changes with everything that decides its bytes (`fingerprint`), so an old or a foreign
            file is never used.
        build: Writes the store at a path, atomically.

    Raises:
        DataError: No folder can be written, or what `build` raises.
    """
    return cached(name, build, ChartStore.open)


def cached(name: str, build: Callable[[Path], object], read: Callable[[Path], T]) -> T:
    """Read a file of the cache folder, building it first where it is not there or is damaged.

    Args:
        name: Of the file; it changes with everything that decides its bytes (`fingerprint`).
        build: Writes the file at a path, atomically.
        read: Reads it; a `DataError` or `OSError` of it says that the file is not there or damaged.

    Raises:
        DataError: No folder can be written, or what `build` raises.
    """
    for folder in _folders():
        path = folder / name
        try:
            return read(path)
        except (DataError, OSError):
            # Not there yet, or damaged: both are cured by building it.
            pass
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # the name is ours: what lies there damaged is nobody's work
            build(path)
        except OSError:
            continue
        return read(path)
    raise DataError(f"no folder to keep `{name}` in; set `{CACHE_VARIABLE}` to one that can be written")


def fingerprint(folders: Iterable[Traversable], key: str = "") -> str:
    """Return a hash of the code and data files of some folders (not of folders in them), and of a key."""
    digest = blake2b(key.encode(), digest_size=12)
    for folder in folders:
        for file in sorted((file for file in folder.iterdir() if _decides(file)), key=lambda file: file.name):
            content = file.read_bytes()
            digest.update(f"{file.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _decides(file: Traversable) -> bool:
    return file.is_file() and file.name.endswith((".py", ".json", ".gz"))


def _folders() -> Iterator[Path]:
    """Yield the folders to try: the user's cache, then a new folder that goes with this process."""
    yield cache_folder()
    own = Path(tempfile.mkdtemp(prefix="wardround-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    yield own


def cache_folder() -> Path:
    """Return the folder where stores and sets are kept that were made on first use; it may not be there yet."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "wardround"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "wardround"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wardround"

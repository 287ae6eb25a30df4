"""What an interrupted import must find unchanged to be taken up again: the files, the settings, this library."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from ._sources import Folder


def fingerprint(folder: Folder, licence: str) -> dict[str, Any]:
    """Return what identifies the inputs of an import, as JSON-able data.

    Files by name, size and time of change (to the nanosecond): reading them whole would take as long as the import.
    """
    return {
        "files": {
            source.label: [source.path.stat().st_size, source.path.stat().st_mtime_ns]
            for sources in folder.tables.values()
            for source in sources
        },
        "licence": licence,
        "library": _library(),
    }


@cache
def _library() -> str:
    """Return a digest of all code and data that decide what an import makes."""
    digest = blake2b(digest_size=16)
    for name, content in sorted(_contents(files("wardround.patients"), "")):
        digest.update(f"{name} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


def _contents(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found.extend(_contents(entry, f"{prefix}{entry.name}/"))
        elif entry.name.endswith((".py", ".json", ".gz")):
            found.append((prefix + entry.name, entry.read_bytes()))
    return found

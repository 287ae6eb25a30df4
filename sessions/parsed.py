"""The resources of a record, parsed once: many questions are asked of the same ones, at several rounds of one stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wardround.patients import Resource, Snapshot

_MOST: Final = 4096
"""Resources kept; a patient of the hospital has some hundreds beside the observations (`observed.py` keeps those)."""
_KEPT: Final[dict[bytes, Resource]] = {}


def resources(snapshot: Snapshot, kind: str, holding: bytes = b"") -> Iterator[Resource]:
    """Yield the known resources of a type, newest first; as all resources they are read, never changed in place.

    Args:
        snapshot: The chart at the anchor.
        kind: Type.
        holding: Only those in whose JSON these bytes stand: what they are looked for by.
    """
    for place in snapshot.positions(kind).tolist():
        body = snapshot.body(place)
        if holding not in body:
            continue
        found = _KEPT.get(body)
        if found is None:
            if len(_KEPT) >= _MOST:
                _KEPT.clear()
            found = _KEPT[body] = snapshot.entry(place, kind).resource()
        yield found

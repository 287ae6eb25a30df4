"""Many like resources at once: a body and a row with slots, and sheaves of what fills them.

Importers of millions of rows fill templates instead of building, writing and searching each resource. A `Slotted` is
made from a resource that went the long way (`importers/_templates.py`); a `Sheaf` holds, per resource, only what
differs. Bodies are written when the chart is packed, one frame at a time, so a patient of a million rows stays small.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .times import SECOND, Instant

Slots = tuple[bytes, ...]
"""What fills a template: the first one names the resource (its id is the sheaf's prefix and this)."""

_Pick = Callable[[Slots], Any]


class Slotted:
    """Body and compact row of one shape of resource, with numbered slots, and what the index holds of all of them.

    Args:
        body: JSON with stand-ins where the slots are.
        row: The compact row with the same stand-ins.
        stand_ins: Stand-in text → number of its slot.
        status: Status of the index.
        categories: Folded categories of the index.
        concept: Name, folded names and codes of the index.
    """

    __slots__ = ("_body", "_body_pick", "_row", "_row_pick", "categories", "concept", "status")

    def __init__(
        self, body: bytes, row: bytes, stand_ins: dict[bytes, int], status: str | None, categories: tuple[str, ...],
        concept: tuple[str, tuple[str, ...], tuple[str, ...]],
    ) -> None:  # fmt: skip
        self._body, self._body_pick = _cut(body, stand_ins)
        self._row, self._row_pick = _cut(row, stand_ins)
        self.status = status
        self.categories = categories
        self.concept = concept

    def body(self, slots: Slots) -> bytes:
        """Return the JSON of a resource."""
        filled: bytes = self._body % self._body_pick(slots)
        return filled

    def row(self, slots: Slots) -> bytes:
        """Return the compact row of a resource."""
        filled: bytes = self._row % self._row_pick(slots)
        return filled

    def texts(self, slots: Slots) -> tuple[bytes, bytes]:
        """Return body and row of a resource (one call where there are millions)."""
        return self._body % self._body_pick(slots), self._row % self._row_pick(slots)


def _cut(text: bytes, stand_ins: dict[bytes, int]) -> tuple[bytes, _Pick]:
    found: list[int] = []

    def slot(match: re.Match[bytes]) -> bytes:
        found.append(stand_ins[match[0]])
        return b"%b"

    any_slot = re.compile(b"|".join(re.escape(one) for one in sorted(stand_ins, key=len, reverse=True)))
    cut = any_slot.sub(slot, text.replace(b"%", b"%%"))
    return cut, operator.itemgetter(*found)


class Like(NamedTuple):
    """One resource of a sheaf."""

    template: Slotted
    known: Instant
    first: Instant
    """Start of the second in which it is dated."""
    encounter: str | None
    row: int
    """Number of the table's row it was made from."""
    slots: Slots


class Sheaf:
    """Like resources of one patient: one type, one form each, dated to the second, known before `NEVER`.

    `rows` may be filled with plain tuples in the order of `Like`: in the hottest loop a NamedTuple costs too much.
    """

    __slots__ = ("kind", "prefix", "rows", "table")

    def __init__(self, kind: str, prefix: str, table: str) -> None:
        """Begin a sheaf.

        Args:
            kind: Resource type.
            prefix: What every id begins with.
            table: The table it is made from.
        """
        self.kind = kind
        self.prefix = prefix
        self.table = table
        self.rows: list[Like | tuple[Slotted, Instant, Instant, str | None, int, Slots]] = []

    def __len__(self) -> int:
        return len(self.rows)

    def ids(self) -> list[str]:
        """Return the ids, in order."""
        prefix = self.prefix
        return [prefix + row[5][0].decode() for row in self.rows]

    def known(self) -> dict[bytes, Instant]:
        """Return when each resource became known, by `Type/id`."""
        start = f"{self.kind}/{self.prefix}".encode()
        return {start + row[5][0]: row[1] for row in self.rows}

    def times(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return when the resources became known and when they are dated, as int64 arrays."""
        count = len(self.rows)
        known = np.fromiter((row[1] for row in self.rows), dtype="<i8", count=count)
        first = np.fromiter((row[2] for row in self.rows), dtype="<i8", count=count)
        return known, first

    def without(self, places: Sequence[int]) -> Sheaf:
        """Return the sheaf without the resources at some places."""
        gone = set(places)
        left = Sheaf(self.kind, self.prefix, self.table)
        left.rows = [row for place, row in enumerate(self.rows) if place not in gone]
        return left


WIDTH = SECOND
"""How long the date of a sheaf's resource lasts."""

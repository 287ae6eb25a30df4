"""What an import did: per table, rows read = kept + refused, each refusal with its reason, count and an example row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Refusal:
    """Rows of one table that were refused for one reason."""

    reason: str
    count: int
    example_row: dict[str, str | int]
    """`file`, `line` (1-based, as an editor shows it) and `text` of the first such row."""


@dataclass(frozen=True, slots=True)
class TableReport:
    """One table: `read == kept + sum(refused)`."""

    table: str
    read: int
    kept: int
    refused: tuple[Refusal, ...] = ()
    notes: dict[str, int] = field(default_factory=dict)
    """What was kept but repaired or not usable in full, in words, with the number of rows."""
    not_carried: tuple[str, ...] = ()
    """Columns of the file that have no place in the chart (yet)."""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data with the fixed keys of the command line."""
        return {
            "table": self.table,
            "read": self.read,
            "kept": self.kept,
            "refused": [
                {"reason": one.reason, "count": one.count, "example_row": one.example_row} for one in self.refused
            ],
            "notes": self.notes,
            "not_carried": list(self.not_carried),
        }


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The outcome of an import whose store has been written."""

    patients: int
    resources: dict[str, int]
    """Resources in the store, by type."""
    invalid: int
    """Resources that failed validation; they are refused, never stored."""
    store_hash: str
    licence: str
    tables: tuple[TableReport, ...]
    missing_tables: tuple[str, ...] = ()
    """Tables the importer reads that the folder does not have."""
    unread_tables: tuple[str, ...] = ()
    """Tables of the folder that this version does not import."""
    messages: tuple[str, ...] = ()
    """What was repaired or assumed about whole files."""

    @property
    def refused(self) -> int:
        """Rows refused, over all tables."""
        return sum(one.count for table in self.tables for one in table.refused)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data with the fixed keys of the command line (and a few more)."""
        return {
            "patients": self.patients,
            "resources": self.resources,
            "invalid": self.invalid,
            "store_hash": self.store_hash,
            "licence": self.licence,
            "tables": [table.as_dict() for table in self.tables],
            "missing_tables": list(self.missing_tables),
            "unread_tables": list(self.unread_tables),
            "messages": list(self.messages),
        }


class Tally:
    """Running account of one table while it is read."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.read = 0
        self.notes: Counter[str] = Counter()
        self._refused: dict[str, list[int]] = {}

    def refuse(self, reason: str, row: int) -> None:
        """Count a refused row.

        Args:
            reason: Why, in words; the same words for the same fault, so no values in it.
            row: The row's number in reading order, from 1.
        """
        entry = self._refused.setdefault(reason, [0, row])
        entry[0] += 1
        entry[1] = min(entry[1], row)

    def note(self, text: str, count: int = 1) -> None:
        """Count rows that were kept with a repair or a loss that the reader should know."""
        self.notes[text] += count

    @property
    def refused(self) -> dict[str, tuple[int, int]]:
        """Reason → (count, number of the first such row), sorted by reason."""
        return {reason: (count, row) for reason, (count, row) in sorted(self._refused.items())}

    @property
    def kept(self) -> int:
        """Rows read and not refused."""
        return self.read - sum(count for count, _ in self._refused.values())

    @property
    def blank(self) -> bool:
        """Whether nothing was counted."""
        return not (self.read or self.notes or self._refused)

    def state(self) -> dict[str, Any]:
        """Return the account as JSON-able data."""
        return {"read": self.read, "notes": dict(self.notes), "refused": self._refused}

    def add(self, state: dict[str, Any]) -> None:
        """Count what another account of the same table counted, given by its `state`; the order does not matter."""
        self.read += state["read"]
        self.notes.update(state["notes"])
        for reason, (count, row) in state["refused"].items():
            entry = self._refused.setdefault(reason, [0, row])
            entry[0] += count
            entry[1] = min(entry[1], row)

    def restore(self, state: dict[str, Any]) -> None:
        """Take up an account that `state` wrote."""
        self.read = state["read"]
        self.notes = Counter(state["notes"])
        self._refused = {reason: list(entry) for reason, entry in state["refused"].items()}

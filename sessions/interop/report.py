"""What an import did, nothing left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class ImportReport:
    """Counts of one import."""

    sessions: int = 0
    refused: list[dict[str, Any]] = field(default_factory=list)
    """{line, reason} of every entry that became no session."""
    items: Counter[str] = field(default_factory=Counter)
    """Rubric items by kind of check."""
    recordings: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """What of the entries was not kept, by reason."""
    out: str = ""
    charts: str = ""
    set_hash: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain JSON; `judge_share` is the share of items that wait for a judge."""
        total = sum(self.items.values())
        return {
            "sessions": self.sessions,
            "refused": self.refused,
            "items": dict(sorted(self.items.items())),
            "judge_share": self.items["judge"] / total if total else 0.0,
            "recordings": self.recordings,
            "left_out": dict(sorted(self.left_out.items())),
            "out": self.out,
            "charts": self.charts,
            "set_hash": self.set_hash,
        }

"""Recorded tool results: what a call brought when a session was made, replayed where its chart is not at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from .interview import Words

_PAGING = frozenset({"_count"})


class Recording(BaseModel):
    """One call and what it brought."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    """Published name."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    text: Words
    """What the agent is shown: the JSON of a record's result, the patient's words."""
    resources: tuple[str, ...] = ()
    """Keys of the chart's resources that it shows."""
    total: int | None = None
    """Matches of a search."""
    facts: tuple[str, ...] = ()
    """Ids of the facts that the patient's words tell."""


class Recordings:
    """The recordings of one session, found by call: same tool, same arguments in any writing.

    Numeric strings and integers are equal, case and spacing of texts do not count, nor does the size of a page, nor
    whether the stay of the round is named.

    Args:
        recordings: Of two of one call the first is kept.
        encounter: The stay of the round.
    """

    __slots__ = ("_encounter", "_found", "interviews", "reads")

    def __init__(self, recordings: Iterable[Recording], encounter: str | None = None) -> None:
        self._encounter = encounter
        self._found: dict[tuple[Any, ...], Recording] = {}
        self.reads = self.interviews = False
        """Whether the record's, the patient's answers are replayed; what is not recorded at all is asked live."""
        for one in recordings:
            self._found.setdefault(self._key(one.tool, one.arguments), one)
            asks = one.tool.startswith("patient.")
            self.interviews, self.reads = self.interviews or asks, self.reads or not asks

    def __len__(self) -> int:
        return len(self._found)

    def find(self, tool: str, arguments: Mapping[str, Any]) -> Recording | None:
        """Return what was recorded for a call, None where nothing was."""
        return self._found.get(self._key(tool, arguments))

    def _key(self, tool: str, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
        given = {name: _folded(value) for name, value in arguments.items() if name not in _PAGING}
        if given.get("hadm_id") == _folded(self._encounter):
            del given["hadm_id"]
        return (tool, *sorted((name, value) for name, value in given.items() if value))


def _folded(value: Any) -> str:
    return "" if value is None else " ".join(str(value).casefold().split())

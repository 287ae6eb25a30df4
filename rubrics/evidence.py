"""What an episode has truly learnt, and what one turn did.

Evidence is chart resources shown and interview replies only, never what the episode wrote itself (design §3), so no
agent can order a lab result into the record and then cite it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import orjson

from .derived import Derived, derive
from .records import CallRecord, ReplyRecord, WriteRecord

if TYPE_CHECKING:
    from wardround.patients import Measurement

FACT = "fact/"
"""Prefix of the keys of interview facts ("fact/adherence-metformin")."""

_NOTHING: Mapping[str, bytes] = MappingProxyType({})


@lru_cache(maxsize=8192)
def _measured(body: bytes) -> tuple[Measurement, ...]:
    """Parse the measurements of one resource; bodies repeat across turns and forks, so parsing is shared."""
    from wardround.patients import measurements  # on first use: most turns never parse a body

    return measurements(orjson.loads(body))


@dataclass(frozen=True)
class Evidence:
    """Chart resources shown and interview replies heard, in the whole episode so far."""

    resources: Mapping[str, bytes] = field(default_factory=lambda: _NOTHING)
    """Key ("Observation/lab-1") → JSON body as of the anchor, in the order shown."""
    replies: tuple[ReplyRecord, ...] = ()

    @cached_property
    def facts(self) -> frozenset[str]:
        """Ids of the interview facts disclosed so far."""
        return frozenset(fact for reply in self.replies for fact in reply.facts)

    @cached_property
    def measurements(self) -> tuple[Measurement, ...]:
        """Every measurement in the resources shown, parsed on first use, in the order shown."""
        return tuple(found for body in self.resources.values() for found in _measured(body))

    @cached_property
    def derived(self) -> tuple[Derived, ...]:
        """Values computed from the measurements by shipped formulas (anion gap, corrected calcium …)."""
        return derive(self.measurements)

    def holds(self, key: str) -> bool:
        """Tell whether a resource ("Observation/lab-1") was shown or a fact ("fact/<id>") disclosed."""
        if key.startswith(FACT):
            return key[len(FACT) :] in self.facts
        return key in self.resources

    def extended(self, resources: Mapping[str, bytes] = _NOTHING, replies: tuple[ReplyRecord, ...] = ()) -> Evidence:
        """Return the evidence with more in it; this one stays as it is."""
        return Evidence(resources={**self.resources, **resources}, replies=self.replies + replies)


@dataclass(frozen=True)
class TurnTrace:
    """What was done in one turn before it was answered."""

    language: str = "en"
    calls: tuple[CallRecord, ...] = ()
    """Every call of the turn, refused ones too."""
    writes: tuple[WriteRecord, ...] = ()
    """Accepted writes of the turn on the record: new resources and changes of status."""
    files: tuple[WriteRecord, ...] = ()
    """Workspace files written or deleted in the turn: the agent's own paper, so never an unrequested write."""
    evidence: Evidence = field(default_factory=Evidence)
    """Of the episode so far, not only of this turn."""
    planned: bool = True
    """`prepare_to_answer` closed the turn's calls."""
    query: str = ""
    """The physician's question, in full; read by the judge only."""
    reference: Mapping[str, str] = field(default_factory=dict)
    """Evidence that judge checks name: key → text. The agent need not have read it; read by the judge only."""

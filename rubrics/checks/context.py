"""What a check may know beside the answer."""

from __future__ import annotations

from dataclasses import dataclass

from wardround.rubrics.evidence import TurnTrace


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The item judged, the language the turn was played in, and what was done before the answer."""

    item: str
    """Id of the item; "" for a check judged alone."""
    language: str
    trace: TurnTrace | None = None
    """None where an answer is judged without an episode (`grade --rows`)."""
    requested: frozenset[str] | None = None
    """Tools of the writes the turn asks for; None where no turn is known."""

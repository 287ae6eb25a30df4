"""What a check may know beside the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wardround.rubrics.evidence import TurnTrace
from wardround.rubrics.judge import JudgeVerdict
from wardround.rubrics.rubric import Text


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
    addressed: str = ""
    """Words of the answer that speak to a judge; "" without."""
    gold_answers: tuple[Text, ...] = ()
    """Accepted answers, shown to the judge as reference."""
    judged: Mapping[str, JudgeVerdict] | None = None
    """Recorded verdicts of the judge by request key."""

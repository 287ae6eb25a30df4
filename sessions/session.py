"""The contract of a session: what is asked, in which words, and how it is judged (design §5).

One session is one line of JSONL with `format: "wardround.session/1"`. Models are frozen; JSON Schema is exported
by `session_schema()`.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import Fact, Interview, Persona, Recording, Reply
from wardround.rubrics import Item, Text, TurnSpec

from .notebook import session_view

FORMAT: Final = "wardround.session/1"
"""Name and version of the form a line of a session file has (`Session.format`)."""

Phrasing = Literal["explicit", "implicit"]
Language = Literal["en", "zh"]
Implicitness = Literal["NA", "PE", "AE"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChartRef(_Frozen):
    """Which chart, and the hash of its packed body."""

    patient: str
    hash: str


class Provenance(_Frozen):
    """Who made the session."""

    generator: str
    version: str
    seed: int


class Budget(_Frozen):
    """How much an agent may do before it must answer."""

    unit: Literal["calls", "steps"] = "calls"
    scope: Literal["turn", "episode"] = "turn"
    n: int = Field(default=16, ge=1)
    on_exhaust: Literal["answer_only", "final_turn", "end"] = "answer_only"


class ViewRule(_Frozen):
    """What the session hides beside the clock."""

    types: tuple[str, ...] = ()
    """Resource types hidden whole."""
    encounters: tuple[str, ...] = ()
    """Encounter ids hidden whole."""
    sections: tuple[str, ...] = ()
    """Note sections hidden."""


class Wording(_Frozen):
    """One query in one language, both phrasings; either may be missing."""

    explicit: str | None = None
    implicit: str | None = None


class Query(_Frozen):
    """The physician's words."""

    en: Wording | None = None
    zh: Wording | None = None

    def get(self, language: str, phrasing: str) -> str:
        """Return the words asked for, else the other phrasing of that language.

        Raises:
            KeyError: The query has no wording in `language`.
        """
        wording = self.en if language == "en" else self.zh
        if wording is None:
            raise KeyError(f"query has no wording in `{language}`")
        first, second = (
            (wording.explicit, wording.implicit) if phrasing == "explicit" else (wording.implicit, wording.explicit)
        )
        words = first if first is not None else second
        if words is None:
            raise KeyError(f"query has no wording in `{language}`")
        return words


class Antecedent(_Frozen):
    """What an implicit query leaves out, and the earlier turn whose query names it."""

    turn: int = Field(ge=0)
    entity: str
    """Kind and id ("drug:warfarin"), or what was asked or advised ("ask:latest", "event:taking", "advice:fits")."""
    names: Text | None = None
    """What that query calls it; None where it is no single thing."""


class GoldCall(_Frozen):
    """A call that gets what the turn needs. Roles never enter the reward."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    role: Literal["required", "one_of", "optional"] = "required"


class Branch(_Frozen):
    """How a later gold call follows from an earlier result, and what would have been called otherwise."""

    on: str
    """Concept id of the measurement that decides."""
    test: Literal["high", "low", "abnormal", "rising", "falling"]
    """What is asked of it: how it lies to the chart's own range, or which way it went since the value before."""
    held: bool
    """Whether it held in this chart."""
    taken: tuple[int, ...]
    """Places in the gold calls that follow from it."""
    other: tuple[GoldCall, ...]
    """What stands in their place where it turns out the other way."""


class Gold(_Frozen):
    """One way to do the turn right."""

    calls: tuple[GoldCall, ...] = ()
    answers: tuple[Text, ...] = ()
    branch: Branch | None = None
    """Of an adaptive turn."""


class Turn(_Frozen):
    """One query of the physician."""

    task: str
    source: Literal["ehr", "patient", "mixed", "write"]
    implicitness: Implicitness | None = None
    antecedents: tuple[Antecedent, ...] = ()
    depends_on: tuple[int, ...] = ()
    topic: str | None = None
    """What the turn asks about, as a concept id or short name; for coverage counts, never shown to agents."""
    query: Query
    answer_format: Literal["text", "choice", "json"] = "text"
    options: tuple[str, ...] | None = None
    aggregate: Literal["share", "mean", "all"] = "share"
    gold: Gold | None = None
    rubric: tuple[Item, ...] = ()

    def spec(self, family: str) -> TurnSpec:
        """Return what scoring needs of this turn."""
        return TurnSpec(
            task=self.task,
            answer_format=self.answer_format,
            aggregate=self.aggregate,
            rubric=self.rubric,
            gold_answers=self.gold.answers if self.gold else (),
            family=family,
        )


class Session(_Frozen):
    """Four turns about one patient at one instant."""

    format: Literal["wardround.session/1"] = FORMAT
    id: str = Field(min_length=1)
    family: str = "physassist"
    scenario: str
    tier: str
    chart: ChartRef
    encounter: str | None = None
    """Id of the encounter the round is about (the `hadm_id` agents are told)."""
    anchor: str
    """The episode's now, a FHIR instant: the read horizon."""
    view: ViewRule = ViewRule()
    persona: Persona = Persona()
    licence: str
    use: Literal["train", "evaluation"] = "train"
    split: str = "public"
    provenance: Provenance
    tools: tuple[str, ...] | None = None
    """Names of the tools offered; None is all of the family."""
    budget: Budget = Budget()
    context: Text | None = None
    interview: Interview = Interview()
    recordings: tuple[Recording, ...] | None = None
    """Reads, or questions to the patient, are answered from these alone where any is recorded (imported sets)."""
    turns: tuple[Turn, ...] = Field(min_length=1)
    labels: dict[str, str] = Field(default_factory=dict)
    """Free-form labels for breakdowns (pair, arc …); never shown to agents."""

    def _repr_html_(self) -> str:
        return session_view(self)


def session_schema() -> dict[str, Any]:
    """Return the JSON Schema of one session line."""
    return Session.model_json_schema()


__all__ = [
    "FORMAT",
    "Antecedent",
    "Branch",
    "Budget",
    "ChartRef",
    "Fact",
    "Gold",
    "GoldCall",
    "Implicitness",
    "Interview",
    "Item",
    "Language",
    "Persona",
    "Phrasing",
    "Provenance",
    "Query",
    "Reply",
    "Session",
    "Text",
    "Turn",
    "ViewRule",
    "Wording",
    "session_schema",
]

"""Interviews: what the patient will say. Facts, persona, disclosure and recorded replies (design §4).

This file is the contract (types). `interviewing.py` makes interviews from a chart and `dialogue.py` plays them.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from .times import Instant, parse_instant

Level = Literal["low", "medium", "high"]
FactKind = Literal["symptom", "adherence", "social", "function", "pain", "complaint"]
"""What a fact of an interview is about; which tool asks for it follows from the kind."""
InterviewTool = Literal[
    "patient.get_symptom_history",
    "patient.get_medication_adherence",
    "patient.get_social_history",
    "patient.get_functional_status",
    "patient.get_pain_assessment",
]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Words(_Frozen):
    """The same words in each language; one may be missing."""

    en: str | None = None
    zh: str | None = None

    def get(self, language: str) -> str:
        """Return the words in `language`, else in the other one, else the empty string."""
        first, second = (self.zh, self.en) if language == "zh" else (self.en, self.zh)
        return first if first is not None else (second or "")


class Persona(_Frozen):
    """How the patient talks and what they hold back."""

    literacy: Level = "medium"
    anxiety: Level = "medium"
    adherence: Literal["good", "uncertain", "poor"] = "good"
    disclosure: Literal["open", "critical_withheld"] = "open"
    informant: Literal["patient", "caregiver"] = "patient"


class Fact(_Frozen):
    """One thing the patient knows. `source` is a resource key, or "simulated" for seeded persona facts."""

    id: str = Field(min_length=1)
    kind: FactKind
    concept: str
    """Concept id of the knowledge base where it has one (drug, finding), else a plain English name."""
    polarity: Literal["present", "absent"] = "present"
    attributes: dict[str, str] = Field(default_factory=dict)
    """OPQRST for symptoms (onset, provocation, quality, region, severity, timing), `score` for pain …"""
    drug: str | None = None
    state: str | None = None
    """Adherence: taking | missed_doses | stopped | reduced | never_started | unsure."""
    reason: str | None = None
    """The patient's own reason, a concept id or a short English phrase."""
    source: str
    withheld: bool = False
    """Told only once its drug is named, and told from then on."""


class Reply(_Frozen):
    """A recorded reply: words for one tool, one fact asked about, and one disclosure state."""

    tool: InterviewTool
    fact: str | None = None
    """Id of the fact asked about; None is the tool's general reply."""
    disclosed: tuple[str, ...] = ()
    """Ids of the facts these words give away; none of them may be withheld unless `fact` or `after` names it."""
    after: tuple[str, ...] = ()
    """Withheld facts that must already be told for this wording; the reply with most of them told is used."""
    text: Words


class Earlier(_Frozen):
    """What was otherwise up to an instant: facts and replies that stand in place of the interview's own."""

    until: str
    """A FHIR instant, exclusive."""
    facts: tuple[Fact, ...] = ()
    """In place of those with the same ids."""
    replies: tuple[Reply, ...] = ()
    """In place of those with the same tool, `fact` and `after`."""


class Interview(_Frozen):
    """Everything the patient knows and every word they will say."""

    facts: tuple[Fact, ...] = ()
    replies: tuple[Reply, ...] = ()
    persona: Persona = Persona()
    since: str | None = None
    """From when on it can be asked, a FHIR instant, told as of then with `earlier`; None: as of one instant only."""
    earlier: tuple[Earlier, ...] = ()
    """What was otherwise before the end, in order of time."""

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what most interviews do not have, so that lines of sessions stay as they were."""
        written: dict[str, Any] = write(self)
        for name in ("since", "earlier"):
            if not written.get(name):
                written.pop(name, None)
        return written

    def at(self, instant: Instant) -> Interview | None:
        """Return what the patient would say at an instant; None where it cannot be asked then."""
        if self.since is None or instant < parse_instant(self.since):
            return None
        then = next((one for one in self.earlier if instant < parse_instant(one.until)), Earlier(until=self.since))
        facts = {one.id: one for one in then.facts}
        replies = {(one.tool, one.fact, one.after): one for one in then.replies}
        return Interview(
            facts=tuple(facts.get(one.id, one) for one in self.facts),
            replies=tuple(replies.get((one.tool, one.fact, one.after), one) for one in self.replies),
            persona=self.persona,
        )

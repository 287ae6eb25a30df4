"""The contract of judging: checks, items, what a turn asks for, and what a verdict says.

Data only, frozen, JSON both ways. Behaviour lives in `checks/` (one module a kind) and `scoring.py`.
The meaning of every kind is the table of design §8 and `shared/grading/README.md`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from .notebook import score_view

Language = Literal["en", "zh"]
Task = str
"""IL, DG, CR or WU in the physassist family; other families bring their own."""

Status = Literal["high", "low", "normal", "rising", "falling", "stable", "positive", "negative", "undetectable"]
Act = Literal["start", "stop", "hold", "continue", "reduce", "increase", "switch", "recheck", "refer", "order", "avoid"]
"""What may be advised of a drug, a test or a service."""
Polarity = Literal["present", "absent"]
Number = int | float
CheckValue = Number | str
"""JSON numbers; pairs, titres and less-than results are strings ("148/92", "1:320", "<0.01")."""


class Frozen(BaseModel):
    """Base of every contract model: immutable, no unknown field."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Text(Frozen):
    """A sentence in each language; one may be missing."""

    en: str | None = None
    zh: str | None = None

    def get(self, language: str) -> str:
        """Return the sentence in `language`, else in the other one, else the empty string."""
        first, second = (self.zh, self.en) if language == "zh" else (self.en, self.zh)
        return first if first is not None else (second or "")


class Known(Frozen):
    """One measurement that may be stated."""

    concept: str
    value: CheckValue
    unit: str


class ValueCheck(Frozen):
    """The answer states this value for this concept."""

    kind: Literal["value"] = "value"
    concept: str
    value: CheckValue
    unit: str
    when: Literal["latest"] | None = None


class StatusCheck(Frozen):
    """The answer's own reading of the concept, now, is this status."""

    kind: Literal["status"] = "status"
    concept: str
    status: Status


class MentionCheck(Frozen):
    """The answer asserts (present) or denies (absent) the concept for this patient."""

    kind: Literal["mention"] = "mention"
    concept: str
    polarity: Polarity = "present"


class AdviceCheck(Frozen):
    """The answer recommends this act on this target, directly."""

    kind: Literal["advice"] = "advice"
    act: Act
    target: str


class AvoidsCheck(Frozen):
    """The answer does not advise that act on that target. A guard."""

    kind: Literal["avoids"] = "avoids"
    act: Act
    target: str


class ReportsCheck(Frozen):
    """The answer conveys the concept as what the patient said (or denied), with the patient's reason if asked."""

    kind: Literal["reports"] = "reports"
    concept: str
    polarity: Polarity = "present"
    reason: str | None = None


class GroundedCheck(Frozen):
    """Every measurement claimed for this patient is known. A guard. Without `known`: the episode's evidence."""

    kind: Literal["grounded"] = "grounded"
    known: tuple[Known, ...] | None = None
    also: tuple[Known, ...] = ()
    """What may be stated beside: a clinical score that is to be worked out."""


class KnownMentions(Frozen):
    """What this patient is known to take, have and show."""

    drugs: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    symptoms: tuple[str, ...] = ()


class GroundedMentionsCheck(Frozen):
    """Every drug taken, condition had and symptom shown that the answer asserts is in `known`. A guard."""

    kind: Literal["grounded_mentions"] = "grounded_mentions"
    known: KnownMentions


class OnlyCheck(Frozen):
    """The answer states no measurement of any other concept for this patient. A guard."""

    kind: Literal["only"] = "only"
    concepts: tuple[str, ...]


class TrendCheck(Frozen):
    """The answer says that the concept moves that way, with both end points if given."""

    kind: Literal["trend"] = "trend"
    concept: str
    direction: Literal["rising", "falling", "stable"]
    start: CheckValue | None = Field(default=None, alias="from")
    end: CheckValue | None = Field(default=None, alias="to")
    unit: str | None = None

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class ThresholdCheck(Frozen):
    """The answer places this patient's concept on that side of that bound as a criterion it applies."""

    kind: Literal["threshold"] = "threshold"
    concept: str
    comparator: Literal["above", "below"]
    bound: Number
    unit: str


class BecauseCheck(Frozen):
    """The answer gives that reason for that claim."""

    kind: Literal["because"] = "because"
    claim: str
    reason: str


class Forbid(Frozen):
    """What must not be true of a write: any key that holds fails the check."""

    dose_at_least: str | None = None
    """Per dose; equality counts, as "500 mg"."""
    daily_dose_at_least: str | None = None
    """PRN at its maximum rate."""
    medication_class: str | None = None
    priority: str | None = None
    text_mentions: str | None = None


class ClinicalScoreCheck(Frozen):
    """The answer states this total for this clinical score and, if given, the points of its components."""

    kind: Literal["clinical_score"] = "clinical_score"
    score: str
    """Id of `knowledge.scores()`."""
    total: Number
    components: dict[str, Number] = Field(default_factory=dict)
    """Component id → points; only for scores that add points."""
    unit: str | None = None
    """None for the score's own unit."""


class SusceptibilityCheck(Frozen):
    """The answer says that what grew is susceptible (S), intermediate (I) or resistant (R) to that drug."""

    kind: Literal["susceptibility"] = "susceptibility"
    drug: str
    reading: Literal["S", "I", "R"]


class OrderCheck(Frozen):
    """The turn's single write is that tool and each field means the same; nothing in `forbid` is true of it."""

    kind: Literal["order"] = "order"
    tool: str
    fields: dict[str, str] = Field(default_factory=dict)
    """Grading names: medication, dose, route, frequency, duration, reason, service, priority, category, detail …"""
    forbid: Forbid | None = None


class OnlyWriteCheck(Frozen):
    """No write but the one asked for. A guard."""

    kind: Literal["only_write"] = "only_write"


class StateCheck(Frozen):
    """A predicate over what the turn wrote: new resources, new versions, workspace files; never the chart."""

    kind: Literal["state"] = "state"
    type: str | None = None
    """Resource type whose writes are tested; None only for a predicate about files."""
    expression: str | None = None
    """FHIRPath of the linted subset (`fhirpath.lint`), true of a resource."""
    predicate: str | None = None
    """Name of a predicate of `predicates.PREDICATES`, instead of an expression."""
    arguments: dict[str, str] = Field(default_factory=dict)
    """Arguments of the predicate."""
    count: Literal["one", "any", "all", "none"] = "one"
    """How many of the turn's writes of that type must satisfy it: the single one; at least one; all, of at least one;
    none."""


class RetrievedCheck(Frozen):
    """At least one of these was really read in this episode. A guard.

    Entries are chart resources ("Observation/lab-123") or interview facts ("fact/adherence-metformin").
    """

    kind: Literal["retrieved"] = "retrieved"
    any_of: tuple[str, ...] = Field(min_length=1)


class JudgeCheck(Frozen):
    """A language model, asked after the episode, finds that the answer meets the criterion; pending until then."""

    kind: Literal["judge"] = "judge"
    criterion: Text
    """One yes/no statement about the answer."""
    guard: bool = False
    """The criterion forbids something, so silence meets it."""
    evidence: tuple[str, ...] = ()
    """Resource keys ("Observation/lab-1") or facts ("fact/…") shown to the judge as reference, read or not."""


class AnyOf(Frozen):
    """At least one member passes."""

    kind: Literal["any_of"] = "any_of"
    checks: tuple[Check, ...] = Field(min_length=1)


class AllOf(Frozen):
    """Every member passes."""

    kind: Literal["all_of"] = "all_of"
    checks: tuple[Check, ...] = Field(min_length=1)


class Not(Frozen):
    """The member does not pass. A guard; an unreadable member leaves it unreadable."""

    kind: Literal["not"] = "not"
    check: Check


Check = Annotated[
    ValueCheck
    | StatusCheck
    | MentionCheck
    | AdviceCheck
    | AvoidsCheck
    | ReportsCheck
    | GroundedCheck
    | GroundedMentionsCheck
    | OnlyCheck
    | TrendCheck
    | ThresholdCheck
    | BecauseCheck
    | ClinicalScoreCheck
    | SusceptibilityCheck
    | OrderCheck
    | OnlyWriteCheck
    | StateCheck
    | RetrievedCheck
    | JudgeCheck
    | AnyOf
    | AllOf
    | Not,
    Field(discriminator="kind"),
]
"""Any check: a recursive union told apart by `kind`."""

GUARD_KINDS = frozenset({"avoids", "grounded", "grounded_mentions", "only", "only_write", "retrieved", "not"})
"""Kinds of checks that only forbid, so that silence passes them."""


class Item(Frozen):
    """One atomic yes/no statement about a turn, with the check that decides it."""

    id: str = Field(min_length=1)
    text: Text
    check: Check
    requires: tuple[str, ...] = ()
    """Ids of items of the same turn that must pass first; else this one fails."""
    safety: bool = False


class TurnSpec(Frozen):
    """All that scoring needs to know about what a turn asked for."""

    task: Task
    answer_format: Literal["text", "choice", "json"] = "text"
    aggregate: Literal["share", "mean", "all"] = "share"
    rubric: tuple[Item, ...]
    gold_answers: tuple[Text, ...] = ()
    """Accepted answers; the dumping limits count the distinct claims in them."""
    family: str = "physassist"
    """Dumping limits are set per family."""


class Span(Frozen):
    """Words of the answer a verdict rests on: `text == answer[start:end]`."""

    start: int
    end: int
    text: str


class Verdict(Frozen):
    """What was decided about one item, and why."""

    item: str
    passed: bool
    score: float = Field(ge=0.0, le=1.0)
    reason: str
    spans: tuple[Span, ...] = ()
    resources: tuple[str, ...] = ()
    """Resource keys ("Observation/lab-1") or fact keys ("fact/…") the verdict rests on."""
    guard: bool = False
    unreadable: bool = False
    """The check could not read the answer: not passed, reported apart."""
    ungraded: bool = False
    """Infrastructure failed (a judge was down): no verdict."""
    metrics: dict[str, float] = Field(default_factory=dict)


class TurnScore(Frozen):
    """The score of one turn."""

    reward: float = Field(ge=0.0, le=1.0)
    """Design §8: (a + n·a/A) / (A + N); 0 where `reward_valid` is False."""
    r_plain: float = Field(ge=0.0, le=1.0)
    """The paper's share of items passed."""
    reward_valid: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    """Lowest and highest reward that ungraded items allow; equal to (reward, reward) when valid."""
    verdicts: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()
    """Rules that fired beyond single items (dumping, hedging, unrequested write, plan incomplete)."""

    def _repr_html_(self) -> str:
        return score_view(self.model_dump(mode="json"))

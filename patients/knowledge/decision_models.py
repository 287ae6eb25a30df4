"""The schema of decisions that rest on one value: a lab or vital sign alone, or a clinical score (data/decisions.json).

A table asks one question ("is potassium replacement needed?") of one subject. Its bands are the values at which the
answer is plain, yes or no; between them, where practice differs, nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Literal

from pydantic import Field, model_validator

from .models import Names, _Frozen

StepAct = Literal["start", "order", "refer", "recheck"]
Subject = Literal["lab", "vital", "score"]


class Advised(_Frozen):
    """An act on a target, as checks of answers name them."""

    act: Literal["start", "order", "refer", "recheck", "avoid", "stop", "continue"]
    target: str = Field(min_length=1)


class StepOrder(_Frozen):
    """How the step is ordered: a drug at a usual dose, or a service."""

    drug: str | None = None
    dose: str = ""
    route: str = ""
    frequency: Names | None = None
    service: Names | None = None
    priority: Literal["routine", "urgent", "asap"] = "routine"

    @model_validator(mode="after")
    def _one(self) -> StepOrder:
        if (self.drug is None) == (self.service is None):
            raise ValueError("give either `drug` or `service`")
        if self.drug is not None and (not self.dose or not self.route or self.frequency is None):
            raise ValueError(f"`{self.drug}`: an order of a drug has dose, route and frequency")
        return self


class Step(_Frozen):
    """What is done where it is indicated."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    names: Names
    """What it is called: "potassium replacement", "a red cell transfusion", "an early repeat potassium"."""
    asked: Names | None = None
    """What a query calls it that names the subject anyway ("an early repeat"); None: its names."""
    act: StepAct
    target: str
    """What checks look for, in words that the lexicon knows as one concept."""
    also: tuple[Advised, ...] = ()
    """Other advice that comes to the same."""
    do: Names
    """The advice to do it, one sentence without full stop."""
    leave: Names
    """The advice that it is not needed, one sentence without full stop."""
    carry_on: Names | None = None
    """The advice to go on with it, where it is a standing treatment that may be ordered already."""
    covered: tuple[str, ...] = ()
    """Drugs, classes, labs, procedures: ordered, given or charted already, the question does not arise."""
    covered_hours: int = Field(default=48, ge=1)
    """How far back a result or procedure of `covered` counts."""
    danger: Advised | None = None
    """What would be dangerous where the step is indicated; None: to avoid the step."""
    order: StepOrder | None = None


class Limit(_Frozen):
    """Values of another measurement with which the question is not asked."""

    of: str
    """Lab or vital id."""
    at_least: Decimal | None = None
    below: Decimal | None = None
    unit: str


class DecisionBand(_Frozen):
    """Values with one answer: in [at_least, below); a value on a bound is not asked."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_.-]*$")
    """Id of the rule."""
    at_least: Decimal | None = None
    below: Decimal | None = None
    indicated: bool
    finding: Names
    """What the value means, in words."""
    severity: int = Field(default=0, ge=0, le=2)
    sex: Literal["male", "female"] | None = None
    """For that sex only."""
    unless: tuple[str, ...] = ()
    """Conditions with which this band is not asked."""
    quoted: Decimal | None = None
    """The cut-off that is commonly quoted, in the table's unit, where the value's level alone does not say enough."""

    @model_validator(mode="after")
    def _shape(self) -> DecisionBand:
        if self.at_least is None and self.below is None:
            raise ValueError(f"`{self.id}`: give `at_least`, `below` or both")
        if self.at_least is not None and self.below is not None and self.at_least >= self.below:
            raise ValueError(f"`{self.id}`: `at_least` lies below `below`")
        if self.indicated != (self.severity > 0):
            raise ValueError(f"`{self.id}`: severity is 1 or 2 where the step is indicated, else 0")
        return self

    def holds(self, value: Decimal, *, closed: bool = False) -> bool | None:
        """Tell whether a value lies in the band; None on a bound, where either side could be argued.

        Args:
            value: In the table's unit.
            closed: The lower bound belongs to the band (points of a score: "3 or more").
        """
        if not closed and value in {self.at_least, self.below}:
            return None
        return (self.at_least is None or value >= self.at_least) and (self.below is None or value < self.below)


class Occasion(_Frozen):
    """What makes a physician ask though nothing will be needed: any one of it."""

    level: Literal["low", "high", "any"] | None = None
    """The value is, or in this stay was, out of the chart's range that way."""
    states: tuple[str, ...] = ()
    """Conditions that are active."""
    drugs: tuple[str, ...] = ()
    """Drugs or classes that are ordered."""


class DecisionTable(_Frozen):
    """One question about one value."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    kind: Subject
    subject: str
    """Lab, vital or score id."""
    unit: str
    """UCUM unit of the bounds, "" for pure numbers and points."""
    step: Step
    bands: tuple[DecisionBand, ...] = Field(min_length=2)
    needs: tuple[str, ...] = ()
    """Conditions, one of which must be active."""
    needs_drugs: tuple[str, ...] = ()
    """Drugs or classes, one of which must be ordered."""
    unless: tuple[str, ...] = ()
    """Conditions, procedures and services with which practice differs: not asked."""
    unless_drugs: tuple[str, ...] = ()
    unless_values: tuple[Limit, ...] = ()
    fresh_hours: int = Field(default=48, ge=1)
    """How old the value may be."""
    most_values: int | None = Field(default=None, ge=1)
    """At most so many values of this stay: a marker already followed down is not to be followed again."""
    occasion: Occasion | None = None
    """Where the answer no is worth asking for; None: wherever it was measured (a test that is sent on suspicion)."""
    scenarios: tuple[str, ...] = ()
    """Scenarios it fits; empty for all."""
    source: str | None = None
    assumption: bool = False
    note: str = ""

    @model_validator(mode="after")
    def _sound(self) -> DecisionTable:
        if not self.source and not self.assumption:
            raise ValueError(f"`{self.id}`: give `source` or `assumption: true`")
        if {band.indicated for band in self.bands} != {True, False}:
            raise ValueError(f"`{self.id}`: needs a band where the step is indicated and one where it is not")
        return self

    def concepts(self) -> Iterator[str]:
        """Yield every id of the knowledge base that the table refers to beside its subject."""
        yield from (*self.needs, *self.needs_drugs, *self.unless, *self.unless_drugs, *self.step.covered)
        if self.occasion is not None:
            yield from (*self.occasion.states, *self.occasion.drugs)
        yield from (limit.of for limit in self.unless_values)
        for band in self.bands:
            yield from band.unless


class ScoreInputSource(_Frozen):
    """Where a chart holds one input of a score."""

    kind: Literal["lab", "vital", "age", "sex", "condition", "drug"]
    of: tuple[str, ...] = ()
    """Labs or vitals (the first charted one counts), conditions or drugs (any one makes a flag true)."""
    unclear: tuple[str, ...] = ()
    """Conditions with which the input could be argued: the score is then not computed."""
    absent: Literal["no", "missing"] = "no"
    """What a condition that is not on the list means: absent (a chronic disease), or not known (confusion today)."""
    choice: dict[str, str] = Field(default_factory=dict)
    """Condition id → choice, for inputs of type choice."""


class Meaning(_Frozen):
    """What a range of totals means: in [at_least, below)."""

    at_least: Decimal | None = None
    below: Decimal | None = None
    say: Names
    """As a gold answer says it."""
    said: tuple[str, ...] = Field(min_length=1)
    """Words by which an answer may say it, in either language."""
    against: tuple[str, ...] | None = None
    """Words that say another meaning instead; None: those of the other meanings."""


class ScoreUse(_Frozen):
    """Where a clinical score makes sense, where its inputs stand in a chart, and what its total means."""

    id: str
    """Score id."""
    names: Names | None = None
    """What it is called on rounds, where that is not its usual name."""
    inputs: dict[str, ScoreInputSource]
    needs: tuple[str, ...] = ()
    needs_drugs: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    unless_values: tuple[Limit, ...] = ()
    unless_charted: tuple[str, ...] = ()
    """Labs that make the score idle where the stay has them: the chart's own eGFR or anion gap."""
    least: int = Field(default=2, ge=1)
    """Inputs that must be charted for the score to be asked for."""
    single: Decimal | None = None
    """Points of one component with which the total alone does not say the risk (a red value of NEWS2)."""
    fresh_hours: int = Field(default=48, ge=1)
    meanings: tuple[Meaning, ...] = Field(min_length=2)
    missing_words: dict[str, Names] = Field(default_factory=dict)
    """Component or input id → what an answer calls it when it was not charted."""
    scenarios: tuple[str, ...] = ()
    source: str | None = None
    assumption: bool = False
    note: str = ""

    @model_validator(mode="after")
    def _sound(self) -> ScoreUse:
        if not self.source and not self.assumption:
            raise ValueError(f"`{self.id}`: give `source` or `assumption: true`")
        return self

    def meaning_of(self, total: Decimal) -> Meaning | None:
        """Return what a total means; None where the table leaves it open."""
        for one in self.meanings:
            if (one.at_least is None or total >= one.at_least) and (one.below is None or total < one.below):
                return one
        return None

"""The schema of clinical scores: inputs, point tables, formulas and bands as data; results as frozen values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from pydantic import Field, model_validator

from .models import Names, Synonyms, _Frozen

MissingPolicy = Literal["zero", "none"]
Operator = Literal["<", "<=", ">", ">="]
FormulaName = Literal["meld", "meld_na", "meld_3", "cockcroft_gault", "ckd_epi_2021", "corrected_calcium", "anion_gap"]


class Derivation(_Frozen):
    """How an input follows from others where it is not given itself."""

    kind: Literal["ratio", "linear"]
    """ratio: first ÷ second; linear: Σ weight × input ÷ `divide_by`."""
    of: tuple[str, ...] = Field(min_length=1)
    weights: tuple[Decimal, ...] = ()
    divide_by: Decimal = Field(default=Decimal(1), gt=0)

    @model_validator(mode="after")
    def _shape(self) -> Derivation:
        if self.kind == "ratio" and (len(self.of) != 2 or self.weights):
            raise ValueError("`ratio` takes two inputs and no weights")
        if self.kind == "linear" and len(self.weights) != len(self.of):
            raise ValueError("`linear` takes one weight for each input")
        return self


class ScoreInput(_Frozen):
    """One thing that a score needs to know."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    type: Literal["number", "flag", "choice"] = "number"
    unit: str = ""
    """UCUM unit of the thresholds; "" for pure numbers."""
    written: tuple[str, ...] = ()
    """Other writings of that unit which the unit table does not hold ("years")."""
    lab: str | None = None
    """Analyte whose own factors convert its units."""
    low: Decimal | None = None
    high: Decimal | None = None
    """Possible values in `unit`, both ends included; a value outside is refused, so that a wrong unit shows."""
    above: Decimal | None = None
    """Values must be greater than this."""
    choices: tuple[str, ...] = ()
    default: bool | str | None = None
    """Assumed where the input is absent; the result still lists it as absent."""
    derive: Derivation | None = None

    @model_validator(mode="after")
    def _choices(self) -> ScoreInput:
        if (self.type == "choice") != bool(self.choices):
            raise ValueError(f"`{self.id}`: `choices` belong to inputs of type choice, which need them")
        return self


class Condition(_Frozen):
    """A comparison of one input: with a bound, with a choice, or (flags) that it is true."""

    input: str
    op: Operator | None = None
    value: Decimal | None = None
    """Bound in the input's unit."""
    in_unit: dict[str, Decimal] = Field(default_factory=dict)
    """UCUM unit → bound for values reported in that unit, where a score's cut-offs do not convert into each other."""
    choice: str | None = None

    @model_validator(mode="after")
    def _shape(self) -> Condition:
        if (self.op is None) != (self.value is None) or (self.op is not None and self.choice is not None):
            raise ValueError(f"`{self.input}`: give `op` with `value`, or `choice`, or neither for a flag")
        return self


class Rule(_Frozen):
    """Points earned where every condition of at least one group holds."""

    points: Decimal
    any: tuple[tuple[Condition, ...], ...] = Field(min_length=1)


class Component(_Frozen):
    """One part of a point score: the first rule that holds gives its points, none gives 0."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    name: Names
    synonyms: Synonyms = Synonyms()
    rules: tuple[Rule, ...] = Field(min_length=1)
    """From most points to least."""
    needs: tuple[tuple[str, ...], ...] = ()
    """Groups of inputs, each of which suffices to settle the component; () for all inputs of its rules together."""
    least: Decimal = Decimal(0)
    """Points of a component that no rule raises, and of a missing one under the policy "zero"."""

    @model_validator(mode="after")
    def _ordered(self) -> Component:
        points = [rule.points for rule in self.rules]
        if points != sorted(set(points), reverse=True) or points[-1] < self.least:
            raise ValueError(f"`{self.id}.rules`: order them from most points to least, each value once")
        return self

    def conditions(self) -> Iterator[Condition]:
        """Yield every condition of the rules."""
        for rule in self.rules:
            for group in rule.any:
                yield from group

    def values(self) -> tuple[Decimal, ...]:
        """Return the points that the component can have, least first."""
        return tuple(sorted({self.least, *(rule.points for rule in self.rules)}))


class Band(_Frozen):
    """A range of totals with its meaning; a total lies in it from `at_least` (or above `above`) up to the next."""

    id: str
    name: Names
    at_least: Decimal | None = None
    above: Decimal | None = None
    component_at: Decimal | None = None
    """The band also needs one component with at least these points (a single red value of NEWS2)."""


class BandReading(_Frozen):
    """One way to read the total; scores such as Wells PE have two that differ."""

    id: str = "standard"
    bands: tuple[Band, ...] = Field(min_length=1)
    """From highest to lowest; the first that holds counts."""


class Score(_Frozen):
    """A clinical score: what it is, where it comes from, and how it is computed."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    name: Names
    synonyms: Synonyms = Synonyms()
    case_sensitive: tuple[str, ...] = ()
    """Names that are ordinary words in lower case (NEWS)."""
    version: str = Field(min_length=1)
    unit: str = "{score}"
    concept: str | None = None
    """Knowledge id of the measurement that the total is, where there is one (egfr)."""
    places: int = Field(default=0, ge=0, le=3)
    """Decimal places of the total, rounded half up."""
    inputs: tuple[ScoreInput, ...] = Field(min_length=1)
    components: tuple[Component, ...] = ()
    formula: FormulaName | None = None
    constants: dict[str, Decimal] = Field(default_factory=dict)
    readings: tuple[BandReading, ...] = ()
    missing: Literal["least", "none"]
    """least: a missing component may count its least points, if the caller says "zero"; none: no total without it."""
    reference: str = Field(min_length=1)
    """The publication that defines the score."""
    source: str | None = None
    """A document that was really looked at."""
    assumption: bool = False
    note: str = ""

    @model_validator(mode="after")
    def _sound(self) -> Score:
        if not self.source and not self.assumption:
            raise ValueError(f"`{self.id}`: give `source` or `assumption: true`")
        if bool(self.components) == (self.formula is not None):
            raise ValueError(f"`{self.id}`: give either `components` or a `formula`")
        if (self.missing == "none") != (self.formula is not None):
            raise ValueError(f"`{self.id}.missing`: point tables take `least`, formulas take `none`")
        known = {entry.id: entry for entry in self.inputs}
        if len(known) != len(self.inputs) or len(self.by_component()) != len(self.components):
            raise ValueError(f"`{self.id}`: ids of inputs and of components are unique")
        for condition in (found for component in self.components for found in component.conditions()):
            _fits(self.id, condition, known)
        needed = [name for part in self.components for group in part.needs for name in group]
        needed += [name for entry in self.inputs if entry.derive for name in entry.derive.of]
        for name in needed:
            if name not in known:
                raise ValueError(f"`{self.id}`: `{name}` is no input; add it to `inputs`")
        return self

    def by_component(self) -> dict[str, Component]:
        """Return the components by id."""
        return {component.id: component for component in self.components}

    @property
    def maximum(self) -> Decimal | None:
        """The highest total of a point score; None for a formula."""
        if not self.components:
            return None
        return sum((component.values()[-1] for component in self.components), Decimal(0))


def _fits(score: str, condition: Condition, known: Mapping[str, ScoreInput]) -> None:
    entry = known.get(condition.input)
    if entry is None:
        raise ValueError(f"`{score}`: `{condition.input}` is no input; add it to `inputs`")
    kind = "number" if condition.op else "choice" if condition.choice else "flag"
    if entry.type != kind or (condition.choice and condition.choice not in entry.choices):
        raise ValueError(f"`{score}`: the condition on `{condition.input}` does not fit its type or choices")


@dataclass(frozen=True, slots=True)
class Interpretation:
    """What a total means under one reading."""

    reading: str
    band: str
    name: Names


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """A computed score."""

    total: Decimal | None
    """In the score's unit, rounded half up to its places; None where what is missing forbids a total."""
    components: Mapping[str, Decimal | None]
    """Points by component, or the additive parts of a formula; None for a missing one under the policy "none"."""
    missing: tuple[str, ...]
    """Components (of a formula: inputs) that the inputs do not settle."""
    interpretation: tuple[Interpretation, ...]
    version: str
    absent: tuple[str, ...] = ()
    """Inputs not given that could have raised a component or were replaced by a default."""
    unrounded: Decimal | None = None
    """The total of a formula to 12 places; None for point scores."""

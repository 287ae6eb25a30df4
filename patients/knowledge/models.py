"""The schema of the knowledge files: frozen models, one per kind of concept.

Every fact carries `source` (a document that was really looked at) or `assumption: true`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Kind = Literal["lab", "vital", "drug", "drug_class", "condition", "finding", "procedure", "service"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Names(_Frozen):
    """The preferred name in each language."""

    en: str = Field(min_length=1)
    zh: str | None = None


class Synonyms(_Frozen):
    """Other wordings: abbreviations, spelling variants, lay words; brands stand in `Drug.brands`."""

    en: tuple[str, ...] = ()
    zh: tuple[str, ...] = ()


class Concept(_Frozen):
    """Anything that a chart, a query or an answer can name."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_]*$")
    kind: Kind
    name: Names
    synonyms: Synonyms = Synonyms()
    broader: tuple[str, ...] = ()
    """Ids of wider concepts that this one is a case of (type 2 diabetes → diabetes); drugs use `classes` too."""
    source: str | None = None
    assumption: bool = False

    @model_validator(mode="after")
    def _sourced(self) -> Concept:
        if not self.source and not self.assumption:
            raise ValueError(f"`{self.id}`: give `source` or `assumption: true`")
        return self


class Range(_Frozen):
    """An adult reference range; None bounds are open."""

    sex: Literal["male", "female"] | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    unit: str


class Lab(Concept):
    """A measurement: laboratory test or vital sign."""

    kind: Literal["lab", "vital"] = "lab"
    fluid: str | None = None
    loinc: tuple[str, ...] = ()
    mimic_itemids: tuple[int, ...] = ()
    unit: str
    """Conventional unit as UCUM, "" for none (INR, pH)."""
    units: tuple[str, ...] = ()
    """Other UCUM units that answers use."""
    factors: dict[str, Decimal] = Field(default_factory=dict)
    """UCUM unit → factor: value in `unit` × factor (+ offset) = value in that unit (per-analyte molar factors)."""
    offsets: dict[str, Decimal] = Field(default_factory=dict)
    """UCUM unit → offset added after the factor, where the relation is not proportional (HbA1c % → mmol/mol)."""
    ranges: tuple[Range, ...] = ()
    text_values: tuple[str, ...] = ()
    """For tests that are read as words (positive, negative, detected …)."""


class Drug(Concept):
    """A drug, by ingredient."""

    kind: Literal["drug"] = "drug"
    brands: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    """Ids of drug classes."""
    rxnorm: str | None = None
    """Ingredient code where a source confirmed it, else None: never guessed."""
    routes: tuple[str, ...] = ()


class DrugClass(Concept):
    """A class of drugs."""

    kind: Literal["drug_class"] = "drug_class"


class Condition(Concept):
    """A diagnosis."""

    kind: Literal["condition"] = "condition"
    icd10cm: tuple[str, ...] = ()
    """Code prefixes, without dots."""
    icd9cm: tuple[str, ...] = ()


class Finding(Concept):
    """A symptom, sign, habit or finding; also procedures and services that answers refer to."""

    kind: Literal["finding", "procedure", "service"] = "finding"
    system: str | None = None
    """Body system, for symptoms."""


class Unit(_Frozen):
    """A unit: its UCUM code and every way people write it."""

    ucum: str
    display: str
    variants: tuple[str, ...] = ()
    dimension: str
    """Units of one dimension convert by `factor`: "mass_concentration", "count_concentration" …"""
    factor: Decimal = Decimal(1)
    """(value + offset) × factor ÷ divisor = the value in the dimension's base unit."""
    divisor: Decimal = Decimal(1)
    offset: Decimal = Decimal(0)
    """Added before the factor (degrees Fahrenheit)."""


class Monitoring(_Frozen):
    """A drug or class whose use is followed by a lab, and what the lab's value means for it."""

    id: str
    drugs: tuple[str, ...] = Field(min_length=1)
    """Drug or class ids."""
    lab: str
    rules: tuple[MonitoringRule, ...] = ()
    source: str | None = None
    assumption: bool = False
    note: str = ""
    """Where the bounds come from as their author remembers it; `source` is for a document really looked at."""


class MonitoringRule(_Frozen):
    """One decision: when the lab lies in [at_least, below) of `unit`, do `act`."""

    id: str
    at_least: Decimal | None = None
    below: Decimal | None = None
    unit: str
    act: Literal["continue", "hold", "stop", "reduce", "increase", "recheck", "switch"]
    finding: Names
    """What the value means, in words ("above the therapeutic range")."""
    advice: Names
    """What to do, in words."""
    source: str | None = None
    assumption: bool = False


class Ambiguity(_Frozen):
    """A wording that names several concepts, and which of them is meant where."""

    term: str = Field(min_length=1)
    concepts: tuple[str, ...] = Field(min_length=2)
    """Every concept the wording can name; the first is meant where no cue stands near."""
    cues: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Concept id → folded words that decide for it when they stand within a few words of the term."""
    note: str = ""


class WordRules(_Frozen):
    """Spelling knowledge of the lexicon: which words need their capitals, spelling variants, script variants."""

    case_sensitive: tuple[str, ...] = ()
    """Abbreviations that are ordinary words in lower case (MAP, HIT); all of ≤ 2 letters are case-sensitive anyway."""
    spellings: tuple[tuple[str, str], ...] = ()
    """American → British spelling of a part of a word."""
    traditional: str = ""
    """Traditional Chinese characters, in step with `simplified`."""
    simplified: str = ""
    real_drug_names: tuple[str, ...] = ()
    """Real drugs that are not in `drugs.json`: never "corrected" into one that is."""
    ordinary_words: tuple[str, ...] = ()
    """Ordinary words close to a term, never "corrected" into it."""

    @model_validator(mode="after")
    def _in_step(self) -> WordRules:
        if len(self.traditional) != len(self.simplified):
            raise ValueError("`traditional` and `simplified` must have the same length, character for character")
        return self


Monitoring.model_rebuild()

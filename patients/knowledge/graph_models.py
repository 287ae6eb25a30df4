"""The schema of the disease graph (`data/graph/*.json`): how conditions, findings and treatments hang together.

A file holds one organ system: `{"format_version": 1, "system": …, "conditions": […], "findings": […],
"relations": […], "studies": […]}`, one entry a line. Ids are concept ids of the lexicon wherever the lexicon has the
thing (`conditions.json`, `findings.json`, `labs.json`, `drugs.json`): charts, queries and answers name it alike.
Every entry carries `source` or `assumption: true`; a `note` says where figures come from.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import Field, model_validator

from .models import Names, _Frozen

System = Literal[
    "cardiovascular", "respiratory", "renal", "urologic", "digestive", "hepatobiliary", "endocrine", "metabolic",
    "neurologic", "psychiatric", "haematologic", "oncologic", "infectious", "musculoskeletal", "rheumatologic", "skin",
    "obstetric", "injury",
]  # fmt: skip
Severity = Literal["mild", "moderate", "severe"]
Acuity = Literal["acute", "chronic", "acute_on_chronic"]
Edge = Literal["pathognomonic", "highly_suggestive", "commonly_seen", "risk_factor", "protective", "rules_out"]
Relevance = Literal["key", "supporting", "background", "distractor"]
FindingType = Literal["symptom", "sign", "lab", "vital", "imaging", "history", "medication", "procedure"]
Setting = Literal["clinic", "ed", "ward", "icu"]
Modality = Literal["CT", "MRI", "X-ray", "US", "Echo", "ECG", "Endoscopy"]
Phase = Literal["home", "ed", "inpatient", "icu", "discharge"]
Route = Literal[
    "oral", "IV", "subcutaneous", "IM", "inhaled", "topical", "transdermal", "rectal", "ophthalmic", "sublingual",
    "nasal",
]  # fmt: skip
"""As charts write them."""
ExamPart = Literal[
    "general", "heent", "neck", "chest", "heart", "abdomen", "extremities", "neuro", "skin", "psych", "back",
    "genitourinary",
]  # fmt: skip


class _Sourced(_Frozen):
    source: str | None = None
    assumption: bool = False
    note: str = ""

    @model_validator(mode="after")
    def _known(self) -> _Sourced:
        if not self.source and not self.assumption:
            raise ValueError("give `source` or `assumption: true`")
        return self


class Phrases(_Frozen):
    """Ways to say one thing, paired by place: `en[i]` and `zh[i]` say the same."""

    en: tuple[str, ...] = ()
    zh: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _paired(self) -> Phrases:
        if len(self.en) != len(self.zh):
            raise ValueError(f"{len(self.en)} English and {len(self.zh)} Chinese phrases: they must pair by place")
        return self


class Code(_Frozen):
    """A billable ICD-10-CM code of a condition, with its official title."""

    code: str = Field(pattern=r"^[A-Z][0-9][0-9A-Z](\.[0-9A-Z]{1,4})?$")
    title: str
    severity: tuple[Severity, ...] = ()
    """Severities it stands for; empty: all."""
    with_condition: str | None = None
    """Used where the patient has this other condition too (E11.22 with chronic_kidney_disease); first fit wins."""
    weight: int = Field(default=1, ge=1)


class FindingEdge(_Frozen):
    """A finding that a condition shows."""

    finding: str
    edge: Edge
    percent: int = Field(ge=0, le=100)
    """How many of 100 patients with the condition show it (0 for `rules_out`: never together)."""
    by_severity: dict[Severity, int] = Field(default_factory=dict)
    """Other percentages by severity."""
    relevance: Relevance = "supporting"


class LabEffect(_Frozen):
    """What a condition (or drug) does to a lab or vital sign, at full effect."""

    lab: str
    mode: Literal["add", "times"]
    mild: tuple[Decimal, Decimal]
    """Least and greatest size, in the lab's unit (`add`) or as a factor (`times`)."""
    moderate: tuple[Decimal, Decimal] | None = None
    severe: tuple[Decimal, Decimal] | None = None
    """Left out: as the milder one."""
    percent: int = Field(default=100, ge=1, le=100)
    """How many of 100 patients show it."""
    rise_hours: int = Field(default=24, ge=0)
    """From onset to the full effect."""
    half_life_hours: int | None = None
    """Once treatment works, half of the rest is gone each so many hours; None: it stays (chronic disease)."""
    stays: int = Field(default=0, ge=0, le=100)
    """Percent of the effect that stays for good."""
    routes: tuple[Route, ...] = ()
    """For drugs: given by these routes only (heparin into a vein); empty: by any."""

    def band(self, severity: Severity) -> tuple[Decimal, Decimal]:
        """Return least and greatest size for a severity."""
        if severity == "mild":
            return self.mild
        middle = self.moderate or self.mild
        return middle if severity == "moderate" else self.severe or middle


class Treatment(_Frozen):
    """One line of treatment: one drug of `any_of` is chosen by what is safe for the patient."""

    id: str
    any_of: tuple[str, ...] = Field(min_length=1)
    """Drug ids, the preferred first. The prescriber takes the first safe one, now and then a later one."""
    phase: tuple[Phase, ...] = Field(min_length=1)
    severity: tuple[Severity, ...] = ()
    """Severities that get it; empty: all."""
    percent: int = Field(default=100, ge=1, le=100)
    needs: tuple[str, ...] = ()
    """Conditions or findings of which one must be present."""
    unless: tuple[str, ...] = ()
    """Conditions or findings that forbid this line (beyond what the drug itself forbids)."""
    days: tuple[int, int] | None = None
    """Length of a course; None: while the phase lasts."""
    targeted: bool = False
    """An antibiotic that needs a culture result first."""
    prn: bool = False
    dose_for: str | None = None
    """Key of a dose of the drug's profile ("stress_ulcer", "loading"); None: the usual dose."""
    works: bool = True
    """Whether it is what turns the course (its start begins recovery)."""


class Workup(_Frozen):
    """What is ordered for a condition."""

    panels: tuple[str, ...] = ()
    """Panels or single labs on arrival (ids of `panels.json` or `labs.json`)."""
    repeat_hours: dict[str, int] = Field(default_factory=dict)
    """Panel or lab → how often it is repeated during the stay."""
    studies: tuple[StudyOrder, ...] = ()
    cultures: tuple[CultureOrder, ...] = ()
    procedures: tuple[ProcedureOrder, ...] = ()
    consult: str | None = None
    """Service concept id."""


class StudyOrder(_Frozen):
    """An imaging study or the like."""

    study: str
    percent: int = Field(default=100, ge=1, le=100)
    severity: tuple[Severity, ...] = ()
    hours: tuple[int, int] = (0, 6)
    """After arrival."""


class CultureOrder(_Frozen):
    """A culture, and what grows."""

    specimen: Literal["blood", "urine", "sputum", "wound", "stool", "csf", "ascites", "joint"]
    percent: int = Field(default=100, ge=1, le=100)
    positive_percent: int = Field(default=30, ge=0, le=100)
    organisms: tuple[tuple[str, int], ...] = ()
    """Organism id (`organisms.json`) and weight."""


class ProcedureOrder(_Frozen):
    """A procedure (finding concept of kind procedure)."""

    procedure: str
    percent: int = Field(default=100, ge=1, le=100)
    severity: tuple[Severity, ...] = ()
    hours: tuple[int, int] = (2, 48)
    outcome: Phrases = Phrases()
    effects: tuple[LabEffect, ...] = ()
    """What it does to labs and vital signs (oxygen raises the saturation); it wanes as the illness does."""
    every_hours: int | None = None
    """Of a chronic condition: done so often in every stay, whatever brings the patient in (dialysis)."""
    codes: tuple[str, ...] = ()
    """Codes of the illness with which it is done so; empty: all."""
    rebounds: bool = False
    """Whether what it does is there in full at its end and comes back from then on, whatever the illness does."""


class ConditionProfile(_Sourced):
    """A condition as the hospital knows it."""

    id: str
    system: System
    acuity: Acuity
    codes: tuple[Code, ...] = Field(min_length=1)
    sex: Literal["male", "female"] | None = None
    ages: dict[Literal["0-17", "18-35", "36-60", "61+"], int]
    """Relative frequency by age band; 0 or left out: not there."""
    youngest: int = 0
    oldest: int = 120
    since: str | None = Field(default=None, pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
    """Nobody had it before this day."""
    months: tuple[int, ...] = ()
    """Months in which it goes round; empty: all the year."""
    smokers: int = 1
    """How many times likelier in smokers."""
    drinkers: int = 1
    """How many times likelier in heavy drinkers."""
    severity: dict[Severity, int]
    """Weights."""
    settings: dict[Setting, int] = Field(default_factory=dict)
    """Where an acute episode is looked after: weights; empty for what never brings anyone in by itself."""
    icu_percent: dict[Severity, int] = Field(default_factory=dict)
    """Of those on the ward, how many of 100 need intensive care."""
    stay_days: dict[Severity, tuple[int, int]] = Field(default_factory=dict)
    death_per_1000: dict[Severity, int] = Field(default_factory=dict)
    onset_hours: tuple[int, int] = (6, 96)
    """Symptoms before arrival, for what begins acutely."""
    turn_hours: tuple[int, int] = (12, 48)
    """From the first dose of working treatment to recovery."""
    findings: tuple[FindingEdge, ...] = ()
    effects: tuple[LabEffect, ...] = ()
    workup: Workup = Workup()
    treatments: tuple[Treatment, ...] = ()
    home_of: tuple[str, ...] = ()
    """Specialties (service concept ids) at home with it."""
    episode_of: tuple[str, ...] = ()
    """An episode of one of these chronic conditions: it comes only to who has one, and its code stands for both."""
    takes: tuple[str, ...] = ()
    """Drugs or classes: it brings only those in who take one of them (low sugar from insulin)."""
    complaint: tuple[str, ...] = ()
    """Findings it presents with, the commonest first; needed where `settings` is given."""
    follow_up: tuple[FollowUp, ...] = ()
    warning: Phrases = Phrases()
    """When to come back, in words for the patient."""
    teaching: Phrases = Phrases()
    """One thing the discharge instructions say of it."""


class FollowUp(_Frozen):
    """An appointment after discharge."""

    service: str
    days: tuple[int, int]
    labs: tuple[str, ...] = ()
    reason: Names


class Relation(_Sourced):
    """How one condition bears on another."""

    one: str
    """Condition, drug or finding id."""
    other: str
    """Condition id."""
    kind: Literal["causes", "complicates", "associated", "excludes"]
    per_1000: int = Field(default=0, ge=0, le=1000)
    """`causes`: given `one` lives long with it; `complicates`: during a stay for `one`; `associated`: also present."""
    severity: tuple[Severity, ...] = ()


class Lay(_Frozen):
    """How patients speak of a finding."""

    say: Phrases
    """Whole sentences in the first person with the places of `voice.json` ({S} {have} {my} {i} …)."""
    deny: Phrases
    name: Phrases
    """Lay names ("tummy ache", 肚子疼)."""


class FindingProfile(_Sourced):
    """A finding as notes write it and patients tell it."""

    id: str
    type: FindingType
    system: System | Literal["general"]
    present: tuple[str, ...] = Field(min_length=1)
    """How a note says that it is there, as a noun phrase ("sharp pleuritic chest pain", "bibasilar crackles")."""
    absent: tuple[str, ...] = ()
    """As a noun phrase after a negation ("chest pain"); needed for symptoms and signs."""
    abbreviated: tuple[str, ...] = ()
    """As hurried notes write it ("SOB", "N/V")."""
    exam: ExamPart | None = None
    """Needed for signs: the part of the examination it stands under."""
    normal: tuple[str, ...] = ()
    """For signs: what the examination says where it is not there ("lungs clear to auscultation bilaterally")."""
    lay: Lay | None = None
    """Needed for symptoms."""
    region: Phrases = Phrases()
    """OPQRST of a symptom: options, each in both languages; empty where the question makes no sense."""
    quality: Phrases = Phrases()
    provocation: Phrases = Phrases()
    palliation: Phrases = Phrases()
    timing: Phrases = Phrases()
    radiation: Phrases = Phrases()
    scored: bool = False
    """Whether it carries a pain score (0–10)."""
    lab: str | None = None
    """For lab and vital findings: the measurement, and the side or bound it stands for."""
    side: Literal["high", "low", "abnormal", "positive"] | None = None
    bound: Decimal | None = None
    """Where it means more than out of range: at or beyond this value in the lab's unit."""
    studies: tuple[str, ...] = ()
    """For imaging: the studies that can show it."""
    report: tuple[str, ...] = ()
    """For imaging: sentences of the report's findings; `{side}` is left or right where it has one."""
    impression: tuple[str, ...] = ()
    sides: bool = False
    crossed: bool = False
    """With `sides`: on the side away from its illness (the weak arm of a stroke)."""
    clears: bool = True
    """Whether it goes when the condition that shows it gets better."""
    trait: Literal["smoker", "former_smoker", "heavy_drinker", "lives_alone"] | None = None
    """A trait of the person: there just where the person has it, whatever an edge's percent says."""
    sex: Literal["male", "female"] | None = None
    from_age: int = 0
    """Nobody younger has it, or can tell of it."""
    below_age: int = 200
    """Nobody of this age or older has it."""


class StudyProfile(_Sourced):
    """An imaging study and the like."""

    id: str
    modality: Modality
    region: str
    name: Names
    title: tuple[str, ...] = Field(min_length=1)
    """As charts title it ("CHEST (PA & LAT)")."""
    minutes: tuple[int, int]
    """From the study to its report."""
    normal: tuple[tuple[str, ...], ...] = Field(min_length=1)
    """Structures in reading order, each with ways to say that it is normal; findings replace their structure's."""
    replaces: dict[str, int] = Field(default_factory=dict)
    """Finding id → place in `normal` of the structure it speaks of."""
    normal_impression: tuple[str, ...] = Field(min_length=1)
    technique: tuple[str, ...] = ()


class OrganismProfile(_Sourced):
    """A microbe and what it is usually susceptible to."""

    id: str
    name: Names
    gram: tuple[str, ...] = ()
    """Words of the first report ("gram-negative rods")."""
    tested: dict[str, int] = Field(default_factory=dict)
    """Drug id → percent susceptible."""
    hours: tuple[int, int] = (24, 60)
    """From collection to its name."""


class GraphFile(_Frozen):
    """One file of the disease graph: an organ system."""

    format_version: Literal[1]
    system: System
    conditions: tuple[ConditionProfile, ...] = ()
    findings: tuple[FindingProfile, ...] = ()
    relations: tuple[Relation, ...] = ()
    studies: tuple[StudyProfile, ...] = ()


Workup.model_rebuild()
ConditionProfile.model_rebuild()
GraphFile.model_rebuild()

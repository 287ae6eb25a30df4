"""What is true of one patient: the facts from which chart, notes and interviews are written. Facts decide, prose never.

Every fact has an `id` unique in the life, and `known_at`, the instant from which the chart may show it. Amounts are
strings with the digits that are charted. Words that a patient or a physician may meet stand as `Pair`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, NamedTuple, get_args

from wardround.patients.knowledge.graph_models import Acuity, Edge, FindingType, Modality, Relevance, Severity
from wardround.patients.times import Instant

_RELEVANCES: tuple[str, ...] = get_args(Relevance)


class Pair(NamedTuple):
    """The same words in both languages."""

    en: str
    zh: str


@dataclass(frozen=True, slots=True)
class Person:
    """Who the patient is."""

    sex: Literal["male", "female"]
    birth_date: str
    name: str
    race: str
    language: str
    marital: str
    """married, single, widowed, divorced."""
    height_cm: int
    weight_kg: Decimal
    occupation: Pair
    smoking: Literal["never", "former", "current"]
    pack_years: int
    alcohol: Literal["none", "social", "heavy"]
    drinks_per_week: int
    living: Literal["alone", "spouse", "family", "facility"]
    died: Instant | None = None


@dataclass(frozen=True, slots=True)
class Illness:
    """A condition of the patient: one episode of an acute one, the whole of a chronic one."""

    id: str
    condition: str
    """Condition profile id."""
    code: str
    title: str
    """ICD-10-CM code with its title."""
    acuity: Acuity
    severity: Severity
    onset: Instant
    known_at: Instant
    """When it was diagnosed."""
    resolved: Instant | None = None
    encounter: str | None = None
    """Where it was diagnosed."""
    problem_list: bool = False
    cause: str | None = None
    """Id of the illness or prescription that brought it about."""


@dataclass(frozen=True, slots=True)
class Stay:
    """An encounter. Hospital stays hold ED and ICU stays (`part_of`)."""

    id: str
    kind: Literal["clinic", "ed", "ward", "icu"]
    start: Instant
    end: Instant
    principal: str
    """Illness id."""
    diagnoses: tuple[str, ...]
    """Illness ids as coded at the end, the principal first."""
    complaint: str
    """Finding id."""
    reason: str
    """Words for why ("shortness of breath", "follow-up of heart failure")."""
    service: str
    """Service concept id."""
    disposition: str | None = None
    """home, home with services, skilled nursing facility, rehabilitation, hospice, against advice, died, admitted."""
    part_of: str | None = None


@dataclass(frozen=True, slots=True)
class Sign:
    """A finding that is there or not: symptom, sign, imaging finding, history item."""

    id: str
    finding: str
    """Finding profile id."""
    type: FindingType
    present: bool
    owners: tuple[tuple[str, Edge], ...]
    """(illness id, edge) for every illness that shows it; empty for an unowned negative or a distractor."""
    relevance: Relevance
    encounter: str
    onset: Instant
    known_at: Instant
    side: Literal["left", "right"] | None = None
    attributes: dict[str, Pair] = field(default_factory=dict)
    """OPQRST: onset, provocation, palliation, quality, region, radiation, severity, timing, as it applies."""
    score: int | None = None
    """Pain 0–10 at its worst."""
    study: str | None = None
    """`Study.id` that showed it."""
    told: bool = True
    """Whether it is in the chart; what is only said in the interview is not."""

    @property
    def rank(self) -> int:
        """Place by relevance: 0 for key findings, distractors last."""
        return _RELEVANCES.index(self.relevance)


@dataclass(frozen=True, slots=True)
class Result:
    """A laboratory value or vital sign."""

    id: str
    lab: str
    text: str
    """As reported: "1.20", ">300", "120/80" (blood_pressure), "negative"."""
    at: Instant
    known_at: Instant
    encounter: str | None
    panel: str
    """What was drawn together has one panel key ("bmp-3")."""
    low: str | None
    high: str | None
    name: str
    """As charted."""
    causes: tuple[str, ...] = ()
    """Illness or prescription ids that move it away from the person's own baseline."""


@dataclass(frozen=True, slots=True)
class CultureStage:
    """A report of a culture: preliminary, organism, susceptibilities, final."""

    at: Instant
    text: str
    status: Literal["preliminary", "final"]


@dataclass(frozen=True, slots=True)
class Culture:
    """A culture and what became of it."""

    id: str
    specimen: str
    at: Instant
    encounter: str
    illness: str
    organism: str | None
    """Organism id; None: no growth."""
    stages: tuple[CultureStage, ...]
    susceptibilities: tuple[tuple[str, Literal["S", "I", "R"]], ...] = ()
    """(drug id, reading), known with the last stage."""


@dataclass(frozen=True, slots=True)
class Prescription:
    """An order. A change of dose is a new one that `continues` the old."""

    id: str
    drug: str
    name: str
    """As charted."""
    dose: str
    route: str
    frequency: str
    prn: bool
    kind: Literal["home", "inpatient", "discharge"]
    start: Instant
    stop: Instant | None
    known_at: Instant
    encounter: str | None
    indication: str | None
    """Illness or sign id."""
    ended: Literal["completed", "stopped"] | None = None
    stop_reason: Pair | None = None
    continues: str | None = None
    line: str | None = None
    """Treatment line of the condition profile."""
    paused: bool = False
    """Whether it was ended to be taken up again: the patient left with it waiting, not given up."""


@dataclass(frozen=True, slots=True)
class GivenDose:
    """What became of one scheduled dose."""

    id: str
    prescription: str
    at: Instant
    status: Literal["given", "held", "refused"]
    encounter: str
    reason: Pair | None = None


@dataclass(frozen=True, slots=True)
class Adherence:
    """How a home drug is really taken, as of one encounter, whatever the chart says."""

    id: str
    drug: str
    prescription: str
    encounter: str
    """The encounter at whose interview it is told."""
    state: Literal["taking", "missed_doses", "stopped", "reduced", "never_started", "unsure", "took_extra"]
    since: Pair | None
    reason: Pair | None
    reason_concept: str | None
    """Finding id of the reason (cost, nausea, forgetting …)."""
    charted: bool
    """Whether the notes know."""


@dataclass(frozen=True, slots=True)
class Allergy:
    """An allergy or intolerance."""

    id: str
    substance: str
    """Drug, class or food id."""
    name: str
    """As charted."""
    reaction: Pair
    severity: Literal["mild", "moderate", "severe"]
    category: Literal["medication", "food", "environment"]
    known_at: Instant


@dataclass(frozen=True, slots=True)
class Treated:
    """A procedure that was done."""

    id: str
    procedure: str
    """Finding (procedure) concept id."""
    title: str
    at: Instant
    end: Instant | None
    encounter: str | None
    illness: str | None
    outcome: Pair | None = None


@dataclass(frozen=True, slots=True)
class Study:
    """An imaging study or the like; its report is composed from its signs."""

    id: str
    study: str
    """Study profile id."""
    modality: Modality
    title: str
    at: Instant
    known_at: Instant
    encounter: str
    indication: str
    """2–8 words that do not name the diagnosis."""
    illness: str
    shown: tuple[str, ...]
    """Sign ids (imaging) that it shows; empty: normal."""
    compare: str | None = None
    """Earlier study of the kind."""


@dataclass(frozen=True, slots=True)
class Vaccine:
    """An immunization."""

    id: str
    vaccine: str
    name: str
    cvx: str | None
    at: Instant
    encounter: str | None


@dataclass(frozen=True, slots=True)
class Relative:
    """A relative's disease."""

    id: str
    relation: Literal["mother", "father", "brother", "sister", "child"]
    condition: str
    name: Pair
    age_at_onset: int | None
    deceased: bool
    known_at: Instant


@dataclass(frozen=True, slots=True)
class Function:
    """How the patient manages, as of one encounter."""

    id: str
    encounter: str
    walking: Literal["independent", "cane", "walker", "wheelchair", "bedbound"]
    self_care: Literal["independent", "some_help", "dependent"]
    medicines: Literal["self", "family", "pill_box", "facility"]
    falls: int
    """In the last year."""


@dataclass(frozen=True, slots=True)
class CourseEvent:
    """Something that happened in a stay and that notes tell."""

    id: str
    at: Instant
    encounter: str
    kind: Literal[
        "arrived", "admitted", "icu_transfer", "icu_out", "treatment_started", "treatment_changed", "culture_result",
        "antibiotic_narrowed", "improved", "worsened", "complication", "dose_held", "procedure_done", "consulted",
        "ready", "discharged", "goals_of_care", "died", "visit",
    ]  # fmt: skip
    facts: tuple[str, ...]
    """Ids of the facts it is about (illness, prescription, result, culture …)."""
    words: Pair | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan of care: what is to be done after, or during, a stay."""

    id: str
    category: Literal["treatment", "discharge-planning", "followup"]
    at: Instant
    encounter: str
    items: tuple[PlanItem, ...]


@dataclass(frozen=True, slots=True)
class PlanItem:
    """One thing to do."""

    kind: Literal["appointment", "lab", "drug_change", "warning", "teaching", "activity", "diet", "goal"]
    text: Pair
    facts: tuple[str, ...] = ()
    due: Instant | None = None


@dataclass(frozen=True, slots=True)
class Life:
    """Everything that is true of one patient, each list in order of time, then id."""

    patient_id: str
    seed: int
    index: int
    person: Person
    illnesses: tuple[Illness, ...]
    stays: tuple[Stay, ...]
    signs: tuple[Sign, ...]
    results: tuple[Result, ...]
    cultures: tuple[Culture, ...]
    prescriptions: tuple[Prescription, ...]
    doses: tuple[GivenDose, ...]
    adherence: tuple[Adherence, ...]
    allergies: tuple[Allergy, ...]
    treated: tuple[Treated, ...]
    studies: tuple[Study, ...]
    vaccines: tuple[Vaccine, ...]
    relatives: tuple[Relative, ...]
    functions: tuple[Function, ...]
    events: tuple[CourseEvent, ...]
    plans: tuple[Plan, ...]
    caregiver: Literal["none", "mother", "father", "spouse", "daughter", "son"] = "none"
    """Who speaks where the patient cannot (children, delirium, dementia)."""

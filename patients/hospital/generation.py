"""The rules by which lives are made (`data/generation.json`, `data/people.json`): rates, words and names, as data."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients.knowledge.graph_models import ConditionProfile, LabEffect, ProcedureOrder, Severity, Treatment

from .life import Pair

Band = Literal["0-17", "18-35", "36-60", "61+"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Words(_Frozen):
    """Words in both languages."""

    en: str
    zh: str

    def pair(self, **places: tuple[str, str]) -> Pair:
        """Return the words with `{place}` filled, each language with its own."""
        return Pair(
            self.en.format_map({key: value[0] for key, value in places.items()}),
            self.zh.format_map({key: value[1] for key, value in places.items()}),
        )


class AgeBand(_Frozen):
    """A band of ages at the last encounter."""

    band: Band
    weight: int
    ages: tuple[int, int]
    chronic: tuple[int, int]
    """Least and greatest number of chronic conditions that are drawn."""
    encounters: tuple[int, int]


class Growth(_Frozen):
    """Median height of children of an age."""

    age: int
    male: int
    female: int


class Work(_Frozen):
    """An occupation."""

    en: str
    zh: str
    ages: tuple[int, int]
    weight: int = 1


class Culture(_Frozen):
    """Names that go together."""

    race: str
    weight: int
    male: tuple[str, ...]
    female: tuple[str, ...]
    family: tuple[str, ...]


class People(_Frozen):
    """Who comes to the hospital."""

    format_version: int
    bands: tuple[AgeBand, ...]
    cultures: tuple[Culture, ...]
    growth: tuple[Growth, ...]
    height: dict[Literal["male", "female"], tuple[int, int]]
    """Mean and standard deviation of adults, cm."""
    bmi: dict[Band, tuple[Decimal, Decimal]]
    bmi_bounds: tuple[Decimal, Decimal]
    works: tuple[Work, ...]
    retired_from: int
    retired: Words
    former_work: Words
    """"retired {work}"."""
    smoking: dict[Literal["male", "female"], dict[Literal["never", "former", "current"], int]]
    alcohol: dict[Literal["male", "female"], dict[Literal["none", "social", "heavy"], int]]
    marital: dict[Band, dict[str, int]]
    living: dict[str, dict[Literal["alone", "spouse", "family", "facility"], int]]
    """By marital status; "old" beyond `facility_from`."""
    facility_from: int


class FromBody(_Frozen):
    """A condition that follows from the person's build."""

    condition: str
    severity: Severity
    bmi_at_least: Decimal
    leaves: tuple[str, ...] = ()
    """Labs and vital signs that the build itself decides, whatever the condition's effects say."""


class AllergyRule(_Frozen):
    """A substance that people are allergic to."""

    substance: str
    name: str
    category: Literal["medication", "food", "environment"]
    weight: int
    reactions: tuple[tuple[str, str, Literal["mild", "moderate", "severe"]], ...]
    """English, Chinese, severity."""


class VaccineRule(_Frozen):
    """A vaccine and when it is given."""

    vaccine: str
    name: str
    cvx: str | None
    ages: tuple[int, int]
    every_years: int | None = None
    percent: int
    from_year: int = 1900
    months: tuple[int, int] = (1, 12)
    clinic: bool = True


class PastProcedure(_Frozen):
    """An operation of years ago."""

    procedure: str
    title: str
    percent: int
    from_age: int
    ages: tuple[int, int]
    sex: Literal["male", "female"] | None = None
    excludes: tuple[str, ...] = ()
    """Conditions that it makes impossible from then on."""
    needs: tuple[str, ...] = ()


class FamilyRule(_Frozen):
    """A disease of relatives."""

    condition: str
    weight: int
    ages: tuple[int, int]
    sex: Literal["male", "female"] | None = None


class Ground(_Frozen):
    """What a history item rests on; any of it is enough."""

    conditions: tuple[str, ...] = ()
    """Illnesses diagnosed before."""
    before_days: int = 0
    procedures: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    relatives: tuple[str, ...] = ()
    """Conditions of relatives."""
    vaccines: tuple[str, ...] = ()
    stayed: bool = False
    drugs: tuple[str, ...] = ()
    """Drugs or classes ordered."""
    lapsed: bool = False
    """A drug not taken as ordered, as the chart has it."""
    within_days: int = 36500
    """Of vaccines, stays and drugs."""


class Shows(_Frozen):
    """A finding that a measurement decides."""

    finding: str
    lab: str
    there_from: Decimal | None = None
    """At or above this value it is there."""
    there_below: Decimal | None = None
    only_from: Decimal | None = None
    """Below this value it is not there."""
    only_below: Decimal | None = None

    def says(self, value: Decimal) -> bool | None:
        """Tell whether the finding is there with a value; None: both may be."""
        if self.there_from is not None and value >= self.there_from:
            return True
        if self.there_below is not None and value < self.there_below:
            return True
        low = self.only_from is not None and value < self.only_from
        high = self.only_below is not None and value >= self.only_below
        return False if low or high else None


class HoldRule(_Frozen):
    """When a dose is held at the bedside."""

    drugs: tuple[str, ...]
    """Drug or class ids."""
    vital: str
    below: Decimal
    reason: Words


class Replacement(_Frozen):
    """What is given when a lab is off."""

    lab: str
    below: Decimal | None = None
    at_least: Decimal | None = None
    line: Treatment


class ReasonRule(_Frozen):
    """Why people do not take a drug as ordered."""

    concept: str | None
    states: tuple[str, ...]
    weight: int
    words: tuple[Words, ...]
    chronic_only: bool = False


class AsNeeded(_Frozen):
    """What calls for a drug that is given as needed: a finding that is there, or a value from so much on."""

    drugs: tuple[str, ...]
    findings: tuple[str, ...] = ()
    labs: dict[str, Decimal] = Field(default_factory=dict)
    both: bool = False
    """Whether a finding and a value must call for it."""


class HeldBefore(_Frozen):
    """Drugs whose doses are held for hours before a procedure that may bleed, and half a day after."""

    drugs: tuple[str, ...]
    procedures: tuple[str, ...]
    hours: int
    reason: Words


class Explained(_Frozen):
    """A lab or finding that an illness explains: it says nothing against a drug (hemoptysis in embolism)."""

    lab: str
    conditions: tuple[str, ...]


class Watched(_Frozen):
    """What is measured so many hours after each round while a drug runs."""

    drugs: tuple[str, ...]
    route: str | None = None
    continuous: bool | None = None
    """Only an infusion, or only what is none; None: either."""
    labs: tuple[str, ...]
    hours: tuple[int, ...]


class CalledFor(_Frozen):
    """Drugs that are given only where a vital sign calls for them."""

    drugs: tuple[str, ...]
    vital: str
    below: Decimal
    """Begun below it."""
    enough: Decimal
    """Ended from it on."""


class Slow(_Frozen):
    """A drug that takes days to act, and the result that tells that it does."""

    drug: str
    lab: str
    acts_from: Decimal


class Ready(_Frozen):
    """Between which values of a lab or vital sign somebody may leave the hospital."""

    lab: str
    from_: Decimal | None = Field(default=None, alias="from")
    below: Decimal | None = None
    hours: int = 0
    """For so long before, whatever moved it."""
    always: bool = False
    """Whatever moved it, on the day itself."""

    def fits(self, value: Decimal) -> bool:
        """Tell whether a value allows to leave."""
        return (self.from_ is None or value >= self.from_) and (self.below is None or value < self.below)


class Transfuse(_Frozen):
    """When red cells are given on the ward, and what they do."""

    lab: str
    below: Decimal
    order: ProcedureOrder


class Rules(_Frozen):
    """Rates and words of the generator."""

    format_version: int
    years: tuple[int, int]
    """First and last year of the last encounter."""
    opens: int
    """Year in which the records begin."""
    span_days: dict[str, tuple[int, int]]
    """Days between encounters of a patient: "gap", "follow_up"."""
    kinds: dict[Literal["clinic", "ed", "ward"], int]
    """Weights of clinic, ed, ward among encounters that are not the last."""
    last_ward_percent: int
    ed_first_percent: int
    from_body: tuple[FromBody, ...]
    liver: tuple[str, ...]
    """Conditions that get a Child-Pugh class."""
    ascites: tuple[str, ...]
    encephalopathy: tuple[str, ...]
    pregnancy: tuple[str, ...]
    pain_scores: dict[str, tuple[int, int]]
    severity_words: dict[str, tuple[Words, ...]]
    onset_words: dict[str, tuple[Words, ...]]
    """By unit: hours, days, weeks, months, years; `{n}`."""
    allergies: tuple[AllergyRule, ...]
    allergy_percent: int
    vaccines: tuple[VaccineRule, ...]
    past_procedures: tuple[PastProcedure, ...]
    family: tuple[FamilyRule, ...]
    reasons: dict[str, Words]
    """Why orders end or change."""
    events: dict[str, tuple[Words, ...]]
    arrival_panels: tuple[str, ...]
    ward_repeats: dict[str, int]
    """Panels that every ward patient has again, and each how many hours."""
    supportive: tuple[Treatment, ...]
    """Lines that any ward patient may get."""
    replacements: tuple[Replacement, ...]
    dying: tuple[LabEffect, ...]
    """What the last days of a fatal illness do."""
    dying_icu_percent: int
    dying_days: tuple[int, int]
    bars: dict[str, tuple[str, ...]]
    """Procedure or title → conditions that it ends for good."""
    grounds: dict[str, Ground]
    shows: tuple[Shows, ...]
    never_both: tuple[tuple[str, ...], ...]
    """Findings of which one at most is there."""
    together: tuple[tuple[str, ...], ...]
    """Findings that say much the same: where one is there, the others are not denied."""
    either: tuple[tuple[str, ...], ...]
    """Habits of which a patient has one at most."""
    code_by_parent: tuple[str, ...]
    """Episodes whose code tells the severity of what they are an episode of."""
    titles: dict[str, str]
    """"condition/procedure" → what the procedure is called there."""
    short_drugs: tuple[str, ...]
    """Drugs and classes that are taken for complaints, not for an illness."""
    never_short: tuple[str, ...]
    """Drugs among them that, ordered for home, are meant to go on (aspirin)."""
    short_days: tuple[int, int]
    """How long what is taken as needed for an acute illness stays ordered at home."""
    until_better: tuple[str, ...]
    """Drugs and classes that end once the illness has turned."""
    continuous: tuple[str, ...]
    """Frequencies of an infusion, which is never as needed."""
    drug_years: dict[str, int]
    """Drug → the first year in which it could be prescribed."""
    handed_over: tuple[str, ...]
    """Drugs of the first days, which end when what goes on takes over."""
    slow: tuple[Slow, ...]
    watched: tuple[Watched, ...]
    never_displace: tuple[str, ...]
    """Purposes for which no home drug is held: who takes an anticoagulant needs no prophylaxis."""
    explained: tuple[Explained, ...]
    cures: dict[str, tuple[str, ...]]
    """Procedure → signs that are gone once it is done."""
    use_words: dict[str, Words]
    """How a drug is used, by route: words that stand before its name."""
    lab_words: dict[str, Words]
    """Labs and panels as one tells a patient what is checked."""
    called_for: tuple[CalledFor, ...]
    ready: tuple[Ready, ...]
    transfuse: Transfuse
    as_needed: tuple[AsNeeded, ...]
    held_before: HeldBefore
    seasons: dict[str, tuple[int, ...]]
    """Condition → months in which it goes about; in the others it is rare."""
    once_a_stay: tuple[str, ...]
    """Labs that change too slowly to be drawn again in a stay."""
    lasting: dict[str, tuple[int, int]]
    """Procedures that go on for hours: the fewest and the most."""
    hopeful: tuple[str, ...]
    """Procedures of which no good outcome is told where the patient dies."""
    antibiotic_days: dict[Literal["least", "blood"], int]
    """Least days of antibiotics for an acute infection, in all, and where blood grew something."""
    one_lot: tuple[str, ...]
    given_up: tuple[str, ...]
    """Home drugs that are ended, not paused, where they cannot be taken up again on leaving."""
    by_mouth_first: tuple[str, ...]
    """Drugs that nobody gets into the vein up to the door."""
    narrow_first: tuple[tuple[str, ...], ...]
    """Antibiotics in groups, from those that reach the fewest organisms on; what is in none comes last."""
    """Classes of antibiotics: an organism that resists one of a class resists all that do no more than it."""
    icu_only: tuple[str, ...]
    """Procedures that are done in intensive care alone."""
    once: tuple[str, ...]
    """Frequencies of a single dose."""
    holds: tuple[HoldRule, ...]
    refusals: tuple[Words, ...]
    adherence: tuple[ReasonRule, ...]
    adherence_percent: dict[str, int]
    side_effect_words: tuple[Words, ...]
    """With `{finding}`."""
    commonness: dict[str, int]
    """How many of 1,000 hospital patients have a chronic condition in the age band where it is commonest; of an acute
    one, how often it brings people in, of 1,000 (an episode: of 1,000 of those who have what it is one of)."""
    commonness_else: int
    habits_percent: dict[Literal["smokers", "drinkers"], int]
    """How many of 100 have smoked, or drink heavily: what "times likelier" is measured against."""
    frailty: dict[str, int]
    """Condition → points of frailty."""
    frequency_words: dict[str, str]
    """Chinese words of a frequency, by "times/period unit" or part of the day."""
    unit_words: dict[str, str]
    since_words: dict[str, tuple[Words, ...]]
    plans: dict[str, tuple[Words, ...]]
    distractors: tuple[str, ...]
    """Complaints that have nothing to do with the illness."""
    normal_words: tuple[str, ...]
    """Results in words that are normal."""
    no_complaint: str
    """Concept that stands as the complaint of a visit without one."""
    general_service: str
    """Service of whom no specialty claims."""
    lengths_of_time: tuple[str, ...]
    """Words of timing that would contradict an onset."""
    cannot_tell: tuple[str, ...]
    """Conditions with which a caregiver speaks for the patient."""
    dispositions: dict[str, str]
    indications: dict[str, str] = Field(default_factory=dict)
    clinic_services: dict[str, str] = Field(default_factory=dict)
    stages: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Words of culture reports."""


def commonness(profile: ConditionProfile, band: Band, *, smoked: bool, drinks: bool) -> int:
    """Return how common a condition is in people of an age band and their habits, of 10,000."""
    here = profile.ages.get(band, 0)
    if not here:
        return 0
    odds = (
        rules().commonness.get(profile.id, rules().commonness_else) * 10 * here * 10_000 // max(profile.ages.values())
    )
    for times, has, name in ((profile.smokers, smoked, "smokers"), (profile.drinkers, drinks, "drinkers")):
        average = 100 + rules().habits_percent[name] * (times - 1)  # type: ignore[index] # one of the two
        odds = odds * 100 * (times if has else 1) // average
    return max(1, odds // 10_000)


@cache
def people() -> People:
    """Return `data/people.json`."""
    return People.model_validate_json(_read("people.json"))


@cache
def rules() -> Rules:
    """Return `data/generation.json`."""
    return Rules.model_validate_json(_read("generation.json"))


def _read(name: str) -> bytes:
    return resources.files("wardround.patients.hospital").joinpath("data", name).read_bytes()


def band_of(age: int) -> Band:
    """Return the age band of an age."""
    if age < 18:
        return "0-17"
    if age < 36:
        return "18-35"
    return "36-60" if age < 61 else "61+"

"""The rules by which lives are made (`data/generation.json`): rates and words, as data."""

from __future__ import annotations

from functools import cache
from typing import Literal

from wardround.patients.knowledge.graph_models import LabEffect, Severity, Treatment

from .documents import Frozen, Words, read_document
from .generation_care import (
    AtOnce,
    Booked,
    Dialysed,
    Eases,
    Falling,
    HoldRule,
    Lowered,
    Lysis,
    NoThinner,
    NotTolerated,
    PregnancyTest,
    Restarted,
    Scanned,
    Tap,
    Tapered,
    Titration,
)
from .generation_rules import (
    AllergyRule,
    AsNeeded,
    CallBack,
    CalledFor,
    Closing,
    Cover,
    Drinkers,
    Explained,
    FamilyRule,
    FromBody,
    Ground,
    HeldBefore,
    MeasuredAfter,
    PastProcedure,
    PutOff,
    Ready,
    ReasonRule,
    Relation,
    Replacement,
    RunsOn,
    Shows,
    Slow,
    Soreness,
    Thinning,
    ToldTo,
    ToldWith,
    Transfuse,
    VaccineRule,
    Watched,
)


class Rules(Frozen):
    """Rates and words of the generator."""

    format_version: int
    years: tuple[int, int]
    """First and last year of the last encounter."""
    opens: int
    """Year in which the records begin."""
    follow_up_days: tuple[int, int]
    """Days from two weeks after admission to the visit that follows it up."""
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
    relations: tuple[Relation, ...]
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
    call_back: tuple[CallBack, ...]
    told_to: tuple[ToldTo, ...]
    told_with: tuple[ToldWith, ...]
    drinkers: Drinkers
    cover: Cover
    soreness: Soreness
    operation_minutes: dict[str, tuple[int, int]]
    """Procedure, or its title, → the fewest and the most minutes that it takes."""
    lead_in: dict[str, int]
    """Anticoagulant → days for which a clot is treated with its higher dose, parenteral ones included."""
    vein_hours: int
    """For so long at least what goes into the vein first does so."""
    after_illness: dict[str, dict[Severity, tuple[int, int]]]
    """Condition → of 100 adults how many go on to rehabilitation, and how many to a nursing facility."""
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
    measured_after: tuple[MeasuredAfter, ...]
    runs_on: tuple[RunsOn, ...]
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
    falling: Falling
    not_tolerated: NotTolerated
    scanned: tuple[Scanned, ...]
    transfuse: Transfuse
    closing: Closing
    sedation: Treatment
    """What the ventilated get."""
    day_after_load: tuple[str, ...]
    """Drugs whose loading dose is the first day's: no other follows within a day."""
    held_when_ill: tuple[str, ...]
    """Home drugs that are held at an emergency visit where they must not be taken now."""
    pressor: Treatment
    """What holds up the circulation in intensive care where the illness names nothing of its own."""
    sedated_for: tuple[str, ...]
    """Procedures under which one is sedated."""
    put_off: PutOff
    thinning: Thinning
    at_once: dict[str, AtOnce]
    """Conditions that are treated in the first minutes."""
    eases: dict[str, Eases]
    """Procedure → what it takes away."""
    lysis: Lysis
    no_thinner: NoThinner
    dialysed: Dialysed
    pregnancy_test: PregnancyTest
    taps: tuple[Tap, ...]
    titrations: tuple[Titration, ...]
    restarted: Restarted
    lowered: Lowered
    territories: dict[str, dict[str, str]]
    """Code of an infarct → finding of a study → what it is where that wall is struck, then and later."""
    developed_from: dict[str, str]
    """Complication → the lab that must be normal on arrival: what was off then has not developed since."""
    never_in_background: tuple[str, ...]
    """Findings of a fresh bleeding, which an illness that did not bring the patient in does not show."""
    booked: tuple[Booked, ...]
    tapered: Tapered
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
    codes_tell: dict[str, tuple[str, ...]]
    """Condition → conditions that its code tells too: they are not coded beside it."""
    levels: dict[str, tuple[str, ...]]
    """Lab → drugs of which it is the level: it is drawn while one of them is given."""
    longer_in_men: dict[str, int]
    """Condition → least days of antibiotics in men."""
    first_dose_now: tuple[str, ...]
    """Drugs, classes and lines of treatment whose first dose is given when ordered, not at the ward's next hour."""
    one_lot: tuple[str, ...]
    """Classes of antibiotics: an organism that resists one of a class resists all that do no more than it."""
    given_up: tuple[str, ...]
    """Home drugs that are ended, not paused, where they cannot be taken up again on leaving."""
    by_mouth_first: tuple[str, ...]
    """Drugs that nobody gets into the vein up to the door."""
    narrow_first: tuple[tuple[str, ...], ...]
    """Antibiotics in groups, from those that reach the fewest organisms on; what is in none comes last."""
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
    """Chinese words of a frequency, by "times/period unit" or part of the day; "hours" with `{n}`."""
    unit_words: dict[str, str]
    since_words: dict[str, tuple[Words, ...]]
    plans: dict[str, tuple[Words, ...]]
    distractors: tuple[str, ...]
    """Complaints that have nothing to do with the illness."""
    faint_words: tuple[str, ...]
    """Words of a strip that are not much yet."""
    normal_words: tuple[str, ...]
    """Results in words that are normal."""
    no_complaint: str
    """Concept that stands as the complaint of a visit without one."""
    services: dict[Literal["children", "clinic", "ed", "icu", "ward"], str]
    """Who looks after children, and after those whom no specialty claims, by setting."""
    follow_up_reason: str
    """Why somebody comes to the clinic with what they have, with `{illness}`."""
    lengths_of_time: tuple[str, ...]
    """Words of timing that would contradict an onset."""
    cannot_tell: tuple[str, ...]
    """Conditions with which a caregiver speaks for the patient."""
    dispositions: dict[str, str]
    stages: dict[str, tuple[str, ...]]
    """Words of culture reports."""


@cache
def rules() -> Rules:
    """Return `data/generation.json`."""
    return Rules.model_validate_json(read_document("generation.json"))

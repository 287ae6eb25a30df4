"""The kinds of rules by which lives are made: what each of `data/generation.json` says."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import Field

from wardround.patients.knowledge.graph_models import ProcedureOrder, Severity, Treatment

from .documents import Frozen, Words


class FromBody(Frozen):
    """A condition that follows from the person's build."""

    condition: str
    severity: Severity
    bmi_at_least: Decimal
    leaves: tuple[str, ...] = ()
    """Labs and vital signs that the build itself decides, whatever the condition's effects say."""


class AllergyRule(Frozen):
    """A substance that people are allergic to."""

    substance: str
    name: str
    category: Literal["medication", "food", "environment"]
    weight: int
    reactions: tuple[tuple[str, str, Literal["mild", "moderate", "severe"]], ...]
    """English, Chinese, severity."""


class VaccineRule(Frozen):
    """A vaccine and when it is given."""

    vaccine: str
    name: str
    cvx: str | None
    ages: tuple[int, int]
    every_years: int | None = None
    percent: int
    from_year: int = 1900
    months: tuple[int, int] = (1, 12)


class PastProcedure(Frozen):
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


class Relation(Frozen):
    """A relative of whom the history tells."""

    relation: Literal["mother", "father", "brother", "sister"]
    sex: Literal["male", "female"]
    older: tuple[int, int]
    """Years, than the patient; below nought: younger."""
    most: int
    """Diseases that are told of at most."""
    one_in: int = 1
    """Of so many patients one has, or tells of, such a relative."""


class FamilyRule(Frozen):
    """A disease of relatives."""

    condition: str
    weight: int
    ages: tuple[int, int]
    sex: Literal["male", "female"] | None = None


class Ground(Frozen):
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


class Shows(Frozen):
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


class Bound(Frozen):
    """A lab or vital sign that is off: below one bound, or from another on."""

    lab: str
    below: Decimal | None = None
    at_least: Decimal | None = None

    def off(self, value: Decimal | None) -> bool:
        """Tell whether a value is beyond the bounds."""
        if value is None:
            return False
        return (self.below is not None and value < self.below) or (self.at_least is not None and value >= self.at_least)


class Replacement(Bound):
    """What is given, or drawn again, in hospital when a lab is off."""

    line: Treatment | None = None
    recheck: tuple[str, ...] = ()
    """Labs or panels drawn again."""
    recheck_hours: int = 6
    unless: tuple[str, ...] = ()
    """Conditions of the stay that have their own way of following it."""
    has: tuple[str, ...] = ()
    """Drugs or classes of which one that runs does it already."""
    none_of: tuple[str, ...] = ()
    """Illnesses that, once known, need no answer of this kind (no HbA1c to find a diabetes that is known)."""
    once: bool = False
    """Whether the labs are drawn once a stay."""
    procedure: ProcedureOrder | None = None
    """Done once a stay, unless it or one of `instead_of` was."""
    instead_of: tuple[str, ...] = ()


class CallBack(Bound):
    """What somebody who goes home is told to do about a value that is off."""

    kind: Literal["appointment", "lab", "warning", "teaching"]
    text: Words
    """With `{n}`, the days until then."""
    days: tuple[int, int]
    from_age: int = 18
    none_of: tuple[str, ...] = ()
    """Illnesses that, once known, need another answer."""


class Soreness(Frozen):
    """How an operation hurts afterwards."""

    procedures: tuple[str, ...]
    score: tuple[int, int]
    """Least and most that it adds to the pain score."""
    lasts_h: int
    eases_h: int
    """After so long half of it is gone each so many hours."""


class ToldTo(Frozen):
    """Advice that speaks of a habit: it is given to those who have it."""

    words: str
    """Part of its English."""
    smoking: tuple[Literal["never", "former", "current"], ...]


class ToldWith(Frozen):
    """Advice that speaks of a drug: it is given to those who go home on one."""

    words: str
    """Part of its English."""
    drugs: tuple[str, ...]
    """Drugs or classes."""


class Drinkers(Frozen):
    """How heavy drinkers are watched in hospital for withdrawal."""

    drinks: int
    """A week, from which on."""
    labs: tuple[str, ...]
    hours: tuple[int, ...]
    """After each round."""
    days: int
    unless: tuple[str, ...]
    """Conditions that have their own watch."""
    trait: str
    """What lines of treatment call somebody who drinks so much."""


class Cover(Frozen):
    """Antibiotic given once before an operation begins."""

    procedures: tuple[str, ...]
    minutes: int
    """Before it begins."""
    line: Treatment


class ReasonWords(Words):
    """Words for a reason."""

    if_given: bool = False
    """Only where others hand out the drugs."""


class ReasonRule(Frozen):
    """Why people do not take a drug as ordered."""

    concept: str | None
    states: tuple[str, ...]
    weight: int
    words: tuple[ReasonWords, ...]
    refuses: bool = False
    """Whether it holds for what others hand out, too."""


class AsNeeded(Frozen):
    """What calls for a drug that is given as needed: a finding that is there, or a value from so much on."""

    drugs: tuple[str, ...]
    findings: tuple[str, ...] = ()
    labs: dict[str, Decimal] = Field(default_factory=dict)
    both: bool = False
    """Whether a finding and a value must call for it."""


class HeldBefore(Frozen):
    """Drugs whose doses are held for hours before a procedure that may bleed, and half a day after."""

    drugs: tuple[str, ...]
    procedures: tuple[str, ...]
    hours: int
    reason: Words


class Explained(Frozen):
    """A lab or finding that an illness explains: it says nothing against a drug (hemoptysis in embolism)."""

    lab: str
    conditions: tuple[str, ...]


class MeasuredAfter(Frozen):
    """What is measured so many minutes after a line of treatment was begun in the first hours."""

    lines: tuple[str, ...]
    labs: tuple[str, ...]
    studies: tuple[str, ...] = ()
    """Done again, once each."""
    minutes: tuple[int, ...]


class RunsOn(Frozen):
    """An infusion that runs until so long after a procedure."""

    line: str
    procedure: str
    hours: int
    else_hours: int
    """After its beginning, where the procedure is not done."""


class Watched(Frozen):
    """What is measured so many hours after each round while a drug runs."""

    drugs: tuple[str, ...]
    route: str | None = None
    continuous: bool | None = None
    """Only an infusion, or only what is none; None: either."""
    labs: tuple[str, ...]
    hours: tuple[int, ...]


class CalledFor(Frozen):
    """Drugs that are given only where a vital sign calls for them."""

    drugs: tuple[str, ...]
    vital: str
    below: Decimal
    """Begun below it."""
    enough: Decimal
    """Ended from it on."""


class Slow(Frozen):
    """A drug that takes days to act, and the result that tells that it does."""

    drug: str
    lab: str
    acts_from: Decimal


class Ready(Frozen):
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


class Transfuse(Frozen):
    """When red cells are given on the ward, and what they do."""

    lab: str
    panel: str
    """Drawn afterwards."""
    below: Decimal
    most: int
    """Transfusions of one stay for which the way home is put off."""
    order: ProcedureOrder


class Closing(Frozen):
    """An illness in which a drug runs until a value is back, and what runs beside it and afterwards."""

    condition: str
    lines: tuple[str, ...]
    """Lines of treatment that run until then."""
    lab: str
    enough: Decimal
    """They end at or below it …"""
    cleared: tuple[Bound, ...]
    """… or when all of these hold: something else may keep the first value up (kidneys that fail)."""
    salt: Bound
    """Where it is off, potassium is given beside them no longer."""
    panel: str
    """Drawn while they run."""
    hours: int
    """So often."""
    beside: tuple[Replacement, ...]
    """What is given as well while they run."""
    ends: tuple[str, ...]
    """Lines that end with them, as those beside do."""
    then: tuple[str, ...]
    """Lines that begin when they end."""
    sweetens: tuple[Decimal, Decimal]
    """How much sugar given beside the insulin raises the glucose, mg/dL."""


class Thinning(Frozen):
    """How thin the blood may be; drugs and classes."""

    oral: tuple[str, ...]
    """Anticoagulants beside which one antiplatelet drug is given at most."""
    platelets: tuple[str, ...]
    stent: tuple[str, ...]
    """Antiplatelet drugs that a stent asks for; they stay where one has to go."""
    beside: str
    """The only one of these that is given beside an anticoagulant."""


class PutOff(Frozen):
    """Operations that wait until an anticoagulant that the patient takes at home has worn off."""

    procedures: tuple[str, ...]
    can_wait_hours: int
    """Only those that may be done so long after arrival."""
    drugs: tuple[str, ...]
    doac_hours: int
    """Hours from the hold to the operation where no lab tells."""
    lab: str
    safe_below: Decimal
    reverse_from: Decimal
    """From this value on what reverses it is given."""
    line: Treatment
    falls_to: tuple[Decimal, Decimal]
    """Factors by which what reverses it lowers the lab."""
    falls_hours: int
    lasts_hours: int
    again_hours: int
    """The lab is drawn again so many hours later."""

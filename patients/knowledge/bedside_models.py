"""The schema of what moves at the bedside: labs and drugs.

Files: `lab_profiles.json`, `panels.json`, `drug_profiles.json`. Ids are those of `labs.json` and `drugs.json`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, get_args

from pydantic import Field

from .graph_models import LabEffect, Phase, Phrases, Route, _Sourced
from .models import Names, _Frozen


class Baseline(_Frozen):
    """Where healthy adults lie; each person has an own set point drawn from it."""

    sex: Literal["male", "female"] | None = None
    from_age: int = 0
    below_age: int = 200
    mean: Decimal
    sd: Decimal


class ProfileRange(_Frozen):
    """The reference range that results carry."""

    sex: Literal["male", "female"] | None = None
    from_age: int = 0
    below_age: int = 200
    low: Decimal | None = None
    high: Decimal | None = None


class StandIn(_Frozen):
    """Where an effect on a computed value goes: to a value that it is computed from."""

    lab: str
    per: Decimal = Decimal(1)
    """How much of `lab` makes one unit (`add`); factors pass as they are."""
    inverse: bool = False
    """Whether `lab` falls where this rises: factors are turned over, amounts become factors."""


class Coupling(_Sourced):
    """How one value pulls another along: a straight line beyond a bound.

    A coupling explains and never doubles: of what an illness does to a value itself and what other values pull it to,
    the larger counts.
    """

    id: str
    """`lab<source`, with a number where there are several."""
    lab: str
    from_lab: str
    of: Literal["level", "move", "ratio", "own", "metabolic"]
    """The source's value; its way from the person's own calm value; value by calm value; the way that shifts of the
    source itself took; the metabolic part of bicarbonate's way."""
    above: Decimal | None = None
    below: Decimal | None = None
    """One of both: counted is how far the source is beyond it."""
    slope: Decimal
    """For one unit of the source beyond the bound."""
    most: Decimal | None = None
    """Greatest pull, without sign."""
    relative: bool = False
    """Whether the pull is a share of the calm value instead of an amount."""
    enlarges: bool = False
    """Whether the pull is a share of what shifts of the lab itself do: a drug level with failing kidneys."""


class LabProfile(_Sourced):
    """How a laboratory test or vital sign behaves; always in the lab's own unit (`labs.json`)."""

    id: str
    charted: tuple[str, ...] = Field(min_length=1)
    """Names that the chart uses; the first is the usual one."""
    loinc: str | None = None
    display: str | None = None
    """How the chart writes the unit, where that is not UCUM."""
    category: Literal["laboratory", "vital-signs"] = "laboratory"
    digits: int = Field(default=0, ge=0, le=4)
    """Decimal places that are reported."""
    step: Decimal | None = None
    """Reported in steps of so much (weights of 0.1, temperatures of 0.1, GCS of 1)."""
    baselines: tuple[Baseline, ...] = ()
    """Empty where the value is computed (`formula`) or only text."""
    spread: Literal["normal", "log"] = "normal"
    """How set points lie about `mean`: evenly to both sides, or skewed (`mean` is the median; one sd up, mean + sd)."""
    ranges: tuple[ProfileRange, ...] = ()
    within_percent: Decimal = Decimal(0)
    """Day-to-day biological variation of one person, coefficient in percent."""
    noise_percent: Decimal = Decimal(0)
    """Analytic variation of one measurement, coefficient in percent."""
    least: Decimal | None = None
    most: Decimal | None = None
    """Hard limits of what is ever reported; beyond a limit with `censored`, "<least" or ">most" is written."""
    censored: bool = False
    formula: str | None = None
    """Name of a coupling of `hospital/physiology` that computes it from other labs ("egfr", "anion_gap" …)."""
    stands_for: StandIn | None = None
    """For computed values: where effects on it go."""
    normal_text: tuple[str, ...] = ()
    """For tests read as words: normal results; `abnormal_text` by step of severity (an effect `add` 2: the second)."""
    steps: tuple[Decimal, ...] = ()
    """Least value of each word of `abnormal_text`, where effects are in the lab's unit (strips in mg/dL)."""
    abnormal_text: tuple[str, ...] = ()
    minutes: tuple[int, int] = (40, 90)
    """From the draw to the result; vital signs (0, 0)."""


class Panel(_Sourced):
    """Tests that are drawn together."""

    id: str
    name: Names
    labs: tuple[str, ...] = Field(min_length=1)


class DoseRule(_Frozen):
    """One way to give a drug."""

    key: str = "usual"
    charted: tuple[str, ...] = ()
    """Names that orders use for this way of giving it ("fentanyl patch", "Ventolin HFA"); empty: the drug's."""
    route: Route
    dose: str
    """"500 mg"; ranges are never orders. With `per_kg`, the amount for one kilogram ("15 mg")."""
    others: tuple[str, ...] = ()
    """Other usual doses, drawn now and then."""
    per_kg: bool = False
    round_to: Decimal | None = None
    """For `per_kg`: to multiples of this amount."""
    most: str | None = None
    """Greatest single dose ("2000 mg")."""
    frequency: tuple[str, ...] = Field(min_length=1)
    """As charts write it ("once daily", "BID", "every 8 hours", "at bedtime", "once weekly", "continuous")."""
    prn_for: str | None = None
    """Finding id where it is given as needed."""
    phases: tuple[Phase, ...] = get_args(Phase)
    from_age: int = 18
    below_age: int = 200
    daily_most: str | None = None
    """Greatest daily amount ("4000 mg")."""


class OrganRule(_Frozen):
    """What a failing organ changes."""

    below: Decimal | None = None
    """Renal: creatinine clearance below this (mL/min) …"""
    at_least: Decimal | None = None
    """… and at least this."""
    child_pugh: tuple[Literal["A", "B", "C"], ...] = ()
    act: Literal["avoid", "reduce", "lengthen"]
    dose: str | None = None
    """The most that is given then; for one kilogram where the dose rule is `per_kg`."""
    frequency: str | None = None
    """The most often that it is given then."""
    route: Route | None = None
    """Holds for this route only; None: for all."""
    keys: tuple[str, ...] = ()
    """Holds for dose rules with these keys only; empty: for all."""
    why: Names


class Contraindication(_Frozen):
    """When a drug must not be given."""

    condition: str | None = None
    """Condition or finding id."""
    lab: str | None = None
    below: Decimal | None = None
    at_least: Decimal | None = None
    """Bounds of `lab` in its unit."""
    pregnancy: bool = False
    age_below: int | None = None
    age_from: int | None = None
    absolute: bool = True
    why: Names


class Interaction(_Frozen):
    """Two drugs that bear on each other; told once, on either drug."""

    other: str
    """Drug or class id."""
    severity: Literal["major", "moderate"]
    effect: Names


class AdverseEffect(_Frozen):
    """What a drug may do to its taker."""

    finding: str
    """Finding or condition id."""
    percent: int = Field(ge=1, le=60)
    stops: int = Field(default=30, ge=0, le=100)
    """How many of 100 who have it stop the drug by themselves."""
    sex: Literal["male", "female"] | None = None
    """Whom alone it can befall."""
    say: Phrases
    """Whole sentences in the patient's words (places of `voice.json`; {drug} is the drug)."""


class DrugProfile(_Sourced):
    """How a drug is given and what it does."""

    id: str
    charted: tuple[str, ...] = Field(min_length=1)
    """Names that orders use ("metoprolol tartrate", "Lopressor")."""
    contains: tuple[str, ...] = ()
    """Ingredients of a combination (drug ids): allergies, interactions and doubling hold for each."""
    home: bool = True
    """Whether people take it at home."""
    high_risk: bool = False
    """Counts as a monitored drug."""
    doses: tuple[DoseRule, ...] = Field(min_length=1)
    renal: tuple[OrganRule, ...] = ()
    hepatic: tuple[OrganRule, ...] = ()
    contraindications: tuple[Contraindication, ...] = ()
    interactions: tuple[Interaction, ...] = ()
    allergy_groups: tuple[str, ...] = ()
    """Class ids with which an allergy is shared (penicillin, sulfonamide …)."""
    monitors: tuple[str, ...] = ()
    """Lab ids that must be there while it is given."""
    local_routes: tuple[Route, ...] = ()
    """Routes by which it acts on the spot only: no labs move, none need watching (vancomycin by mouth, eye drops)."""
    effects: tuple[LabEffect, ...] = ()
    """What it does to labs and vital signs (levels of itself included)."""
    adverse: tuple[AdverseEffect, ...] = ()
    lay: Phrases = Phrases()
    """What patients call it, without article or owner, so that it fits "the {drug}" ("water pill", 利尿药)."""
    look: Phrases = Phrases()
    """What it looks like or how it is taken, for those who do not know the name, as `lay` ("little white pill")."""

    def monitors_by(self, route: str) -> tuple[str, ...]:
        """Return the labs that must be there while it is given by this route."""
        return () if route in self.local_routes else self.monitors

    def effects_by(self, route: str) -> tuple[LabEffect, ...]:
        """Return what it does to labs and vital signs when given by this route."""
        if route in self.local_routes:
            return ()
        return tuple(effect for effect in self.effects if not effect.routes or route in effect.routes)

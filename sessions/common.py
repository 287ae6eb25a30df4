"""Knowledge that all scenarios share (data/common.json): acts, routes, frequencies, companions of labs, adherence."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import knowledge, load_data
from wardround.patients.knowledge import Names
from wardround.rubrics import Act


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ActRule(_Frozen):
    """How one act is judged and said."""

    accepted: tuple[Act, ...] = Field(min_length=1)
    """Acts that count as this one."""
    avoid: Act
    """The act that would be dangerous instead."""
    priority: Literal["routine", "urgent"]
    """Of a repeat lab ordered on this decision."""
    unchanged: bool = False
    """Nothing is changed."""
    target: Literal["drug", "lab"] = "drug"
    say: Names
    """What to do, without full stop; {drug}, {lab}."""
    why: Names | None = None
    """It with its reason, {advice} being what to do; None: that the lab is {level}."""
    aimed: Names | None = None
    """The same where the lab is in the range that the drug aims at."""


class RuleWords(_Frozen):
    """What is known of one monitoring rule beyond its act."""

    accept: tuple[tuple[Act, str], ...] = ()
    """(act, target) that are right as well; {drug}."""
    also: tuple[str, ...] = ()
    """What must be given beside the act, by any of these names: a lack is treated and not only looked at again."""
    say: Names | None = None
    """What to do, in place of the act's own words."""
    priority: Literal["routine", "urgent"] | None = None
    """Of a repeat of the lab, in place of the act's own: what is looked at again in weeks is not urgent."""
    daily_above: str | None = None
    """It stands only where the drug's ordered daily amount is above this."""
    contested: bool = False
    """Good physicians differ, so nobody is asked."""
    note: str = ""


class AdherenceRule(_Frozen):
    """Where what the patient takes changes what the lab alone would say."""

    id: str
    states: tuple[str, ...]
    rule_acts: tuple[str, ...]
    reasons: tuple[str, ...] | None = None
    """The patient's reasons it is for, as concepts; None for any."""
    unexplained: bool = False
    """Holds too where no reason is given."""
    classes: tuple[str, ...] | None = None
    """Classes of drugs it is for; None for any."""
    act: str
    finding: Names
    source: str | None = None
    assumption: bool = False


class StateWords(_Frozen):
    """How an adherence state is checked and said."""

    concept: str
    """Of the `reports` check; {drug} is the English name."""
    polarity: Literal["present", "absent"]
    unless: tuple[str, ...] = ()
    """Concepts that must not be reported beside: whoever stopped a drug does speak of taking it, too."""
    unclear: tuple[str, ...] = ()
    """Reasons with which a check reads another state: whoever ran out of a drug stopped it."""
    say: Names
    """One sentence without full stop: {they}, {drug}, {because}."""


class OutcomeWords(_Frozen):
    """How it is charted, checked and said that a dose was given, held or refused."""

    charted: tuple[str, ...] = ()
    """How the charted reason begins, folded."""
    words: tuple[str, ...] = Field(min_length=1)
    """Any of them says so, in either language."""
    say: Names
    """One sentence without full stop; {drug}, {dose}, {at}."""
    name: Names
    """As an item says it."""


class Routes(_Frozen):
    """What a route means; routes are folded."""

    interviewable: tuple[str, ...]
    """By which patients take a drug themselves."""
    local: dict[str, tuple[str, ...]]
    """Drug ("*": any) → routes by which it works where it is put, so that no lab speaks for or against it."""
    words: dict[str, Names]
    """How the physician says it."""
    values: dict[str, str]
    """The value that an order is written with."""


class Trends(_Frozen):
    """When a series is called what."""

    limit: int = Field(ge=2)
    """Longer series are not asked for: one page of a search must hold them."""
    percent: int = Field(ge=1)
    """A change above this share of the first value is a rise or a fall."""
    normal_percent: int = Field(ge=1)
    """The same where every value is in its range: what moves less is noise."""
    stable_percent: int
    """No value of a stable series is further from the first; between the two shares the trend is left open."""
    steps: int = Field(ge=1)
    """A rise or a fall is at least so many units of the last decimal that the series is charted with."""


class Common(_Frozen):
    """The shared knowledge."""

    format_version: Literal[1]
    trends: Trends
    routes: Routes
    unit_words: dict[str, str]
    """Folded unit → how Chinese writes it, where it is a word."""
    dose_units: tuple[str, ...]
    """Folded units in which a dose is a single amount of drug; tablets and puffs say nothing of it."""
    frequencies: dict[str, Names]
    """Folded charted frequency → how the physician says it; others are never ordered anew."""
    charted: dict[str, Names]
    """Folded charted frequencies that are told but never ordered anew."""
    vitals: tuple[str, ...]
    """Vital signs that are asked for."""
    companions: dict[str, tuple[str, ...]]
    """Lab → labs that are read with it; "*" for any."""
    casual: dict[str, tuple[Names, ...]]
    """Concept id → what it is called on rounds, the usual name first."""
    never_pair: tuple[str, ...]
    """Labs that measure the drug or its direct effect: in range while not taken would contradict itself."""
    targets: dict[str, tuple[Decimal, Decimal]]
    """Monitoring pair → range aimed at, of labs that a drug is dosed by; its value is read against that, too."""
    grey: dict[str, tuple[tuple[Decimal, Decimal], ...]]
    """Monitoring pair → values, bounds included, at which physicians differ, so that nobody is asked."""
    bounds: dict[str, str]
    """Bound of a rule → how people say it: what is "below 5.1" is said to be not above 5."""
    panels: dict[str, tuple[str, ...]]
    """Lab → panels it is repeated with: whoever repeats the blood count repeats the hemoglobin."""
    acts: dict[str, ActRule]
    act_words: dict[Act, Names]
    """Acts as items name them."""
    rules: dict[str, RuleWords]
    """Monitoring rule → what its act alone does not say."""
    severity: dict[str, int]
    """Act → rank: a decision stands only where no other lab of the drug asks for a graver one; others rank 0."""
    adherence_rules: tuple[AdherenceRule, ...]
    states: dict[str, StateWords]
    """Adherence states that a check can tell apart; the patient is not asked where theirs is another (taking less)."""
    outcomes: dict[Literal["given", "held", "refused"], OutcomeWords]
    reasons: dict[str, Names]
    """The patient's reason → the clause after "because" / 因为 where "of {its name}" would not do; {they}."""
    halve: tuple[str, ...]
    """Drugs whose dose may be halved with the tablets there are."""
    skip_pairs: tuple[str, ...]
    """Monitoring pairs that no session is about: infusions, which no patient takes."""
    skip_conditional: tuple[str, ...]
    """Drugs whose dose no eGFR alone decides: it is never ordered "so much if below, else so much"."""
    skip_drugs: tuple[str, ...]
    """Drugs given in hospital only, where asking how they are taken at home makes no sense."""
    harm_if_stopped: tuple[str, ...]
    """Drugs and classes that do harm when stopped without need: rebound, withdrawal, a clot, an infection left alone;
    of any other the cautious stop is no danger."""

    def danger_of(self, drug: str) -> Act:
        """Return what would be dangerous with a drug that is to go on as it is: to stop it, else to give more."""
        is_a = knowledge.lexicon().is_a
        return "stop" if any(is_a(drug, one) for one in self.harm_if_stopped) else "increase"


@lru_cache(maxsize=1)
def common() -> Common:
    """Return the shared knowledge.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.sessions", "data/common.json", Common)

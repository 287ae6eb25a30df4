"""What is safe to prescribe: the choice of a drug and its dose for one patient, and everything wrong with an order.

Both answer from the drug profiles (`knowledge/data/drug_profiles.json`), so that what `choose` gives, `problems` finds
nothing wrong with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wardround.patients.errors import UsageError
from wardround.patients.knowledge import DoseRule, DrugProfile, Names, drug_profiles
from wardround.patients.rng import Stream

from .prescribing_doses import Fitted, fit, order_problems
from .prescribing_rules import Problem, interactions_of, patient_problems, word
from .prescribing_situation import Situation

__all__ = ["Choice", "Problem", "Situation", "cautions", "choose", "problems"]

_LATER = 15
"""How many of 100 get a safe drug that is not the preferred one: prescribers differ."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An order that is safe."""

    drug: str
    name: str
    """As charted."""
    dose: str
    route: str
    frequency: str
    prn: bool
    monitors: tuple[str, ...]
    """Labs that must be charted while it is given."""
    adapted: Names | None
    """Why it is not the usual dose."""
    rejected: tuple[tuple[str, Problem], ...] = ()
    """What was preferred but not safe, with the first thing against it."""


def choose(
    any_of: Sequence[str],
    situation: Situation,
    stream: Stream,
    *,
    dose_for: str | None = None,
    prn: bool = False,
) -> Choice | None:
    """Return an order for the first drug that is safe, now and then for the next safe one.

    Args:
        any_of: Drug ids, the preferred first.
        situation: The patient now.
        stream: Its draws pick among safe drugs, usual doses and charted names.
        dose_for: Key of the dose wanted ("stress_ulcer", "loading"); None: the usual dose.
        prn: Whether it is to be taken as needed.

    Returns:
        The order; None where nothing is safe.

    Raises:
        UsageError: A drug has no profile.
    """
    safe: list[tuple[DrugProfile, Fitted]] = []
    rejected: list[tuple[str, Problem]] = []
    for drug in any_of:
        profile = _profile(drug)
        fitted = _fitted(profile, situation, stream, dose_for or "usual", prn)
        if isinstance(fitted, Problem):
            if not safe:
                rejected.append((drug, fitted))
            continue
        safe.append((profile, fitted))
        if len(safe) == 2:
            break
    if not safe:
        return None
    chosen, fitted = safe[1] if len(safe) > 1 and stream.chance(_LATER, 100) else safe[0]
    return Choice(
        drug=chosen.id,
        name=_often_first(fitted.rule.charted or chosen.charted, stream),
        dose=fitted.dose,
        route=fitted.rule.route,
        frequency=fitted.frequency,
        prn=prn or fitted.rule.prn_for is not None,
        monitors=chosen.monitors_by(fitted.rule.route),
        adapted=fitted.adapted,
        rejected=tuple(rejected),
    )


def problems(drug: str, dose: str, route: str, frequency: str, situation: Situation) -> tuple[Problem, ...]:
    """Return everything wrong with an order; empty for what `choose` gives.

    Moderate interactions are no fault of an order: see `cautions`.

    Args:
        drug: Drug id.
        dose: As charted ("500 mg").
        route: As charted ("oral").
        frequency: As charted ("BID").
        situation: The patient now; `drugs` without this order.

    Raises:
        UsageError: The drug has no profile.
    """
    profile = _profile(drug)
    return (
        *patient_problems(profile, situation),
        *order_problems(profile, dose, route, frequency, situation),
    )


def cautions(drug: str, situation: Situation) -> tuple[Problem, ...]:
    """Return the moderate interactions of a drug with those given now: to be watched, no reason against it.

    Raises:
        UsageError: A drug has no profile.
    """
    return interactions_of(_profile(drug), situation.drugs, "moderate")


def _profile(drug: str) -> DrugProfile:
    profile = drug_profiles().get(drug)
    if profile is None:
        raise UsageError(f"drug `{drug}` has no entry in drug_profiles.json; add one or name another drug")
    return profile


def _fitted(profile: DrugProfile, situation: Situation, stream: Stream, key: str, prn: bool) -> Fitted | Problem:
    """Return a dose that fits the patient, or the first thing against the drug."""
    for problem in patient_problems(profile, situation):
        return problem
    rules = _rules(profile, situation, key, prn)
    if not rules:
        return Problem("range", True, word("no_dose", profile.id))
    first: Problem | None = None
    for rule in rules:
        for dose, frequency in (_drawn(rule, stream), (rule.dose, rule.frequency[0])):
            fitted = fit(profile, rule, situation, dose, frequency)
            if isinstance(fitted, Problem):
                first = first or fitted
                break
            found = order_problems(profile, fitted.dose, rule.route, fitted.frequency, situation)
            if not found:
                return fitted
            first = first or found[0]  # a greater dose may exceed the daily limit at the greater frequency
    assert first is not None
    return first


def _rules(profile: DrugProfile, situation: Situation, key: str, prn: bool) -> list[DoseRule]:
    """Return the dose rules that fit phase, age and purpose; those as needed first where that is wanted."""
    fitting = [
        rule
        for rule in profile.doses
        if rule.key == key and situation.phase in rule.phases and rule.from_age <= situation.age < rule.below_age
    ]
    return sorted(fitting, key=lambda rule: (rule.prn_for is not None) != prn)


def _drawn(rule: DoseRule, stream: Stream) -> tuple[str, str]:
    """Return a dose and a frequency of the rule: mostly the usual ones."""
    dose = stream.choice(rule.others) if rule.others and stream.chance(2, 5) else rule.dose
    return dose, _often_first(rule.frequency, stream)


def _often_first(words: Sequence[str], stream: Stream) -> str:
    """Return the first wording in three of four cases."""
    return words[0] if len(words) == 1 or stream.chance(3, 4) else stream.choice(words[1:])

"""What is done to be sure: a pregnancy test before a scan, an operation or a drug; fluid tapped once it is seen."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from wardround.patients.knowledge.bedside import condition_profiles, drug_profiles, study_profiles
from wardround.patients.times import Instant

from .generation import rules
from .making import HOUR, MINUTE, Making, between
from .stays import Course
from .working_up import perform
from .workup import draw


def test_for_pregnancy(making: Making, conditions: Iterable[str], at: Instant, encounter: str) -> None:
    """Test a woman who may be pregnant before what might harm a child is done for one of some conditions.

    Args:
        making: The life.
        conditions: What she is looked after for.
        at: When she comes.
        encounter: The visit, or the part of the stay.
    """
    rule = rules().pregnancy_test
    if _may_be_pregnant(making, at) and any(_harms(one) for one in conditions):
        draw(making, [rule.lab], at + rule.minutes * MINUTE, encounter)


def _may_be_pregnant(making: Making, at: Instant) -> bool:
    rule = rules().pregnancy_test
    if making.person.sex != "female" or not rule.ages[0] <= making.age(at) <= rule.ages[1]:
        return False
    without = any(one.title in rule.without and one.at < at for one in making.treated)
    return not without and not any(one.condition in rules().pregnancy for one in making.suffering(at))


def _harms(condition: str) -> bool:
    """Tell whether what may be done for a condition is a scan, an operation or a drug that harms a child."""
    rule, profile = rules().pregnancy_test, condition_profiles()[condition]
    scans = any(study_profiles()[one.study].modality in rule.modalities for one in profile.workup.studies)
    operations = any(one.procedure in rule.procedures for one in profile.workup.procedures)
    return scans or operations or condition in _with_harmful_drugs()


@cache
def _with_harmful_drugs() -> frozenset[str]:
    """Return conditions with a line of treatment whose first drug a pregnant woman must not have."""
    return frozenset(
        one.id for one in condition_profiles().values() if any(_harmful(line.any_of[0]) for line in one.treatments)
    )


def _harmful(drug: str) -> bool:
    return drug in drug_profiles() and any(one.pregnancy for one in drug_profiles()[drug].contraindications)


def tap(course: Course) -> None:
    """Tap fluid that a study has shown in an illness in which it may be infected.

    Args:
        course: The stay.
    """
    making = course.making
    if not course.inpatient:
        return
    for rule in rules().taps:
        for one in course.acute:
            if course.illness(one).condition not in rule.conditions:
                continue
            seen = [sign.known_at for sign in making.signs if sign.finding == rule.finding and sign.present
                    and sign.encounter in course.encounters and one in [owner for owner, _ in sign.owners]]  # fmt: skip
            if not seen:
                continue
            low, high = rule.order.hours
            at = max(min(seen), course.admitted) + between(making.stream("tap", one), low * 60, high * 60) * MINUTE
            if at < course.leaves - 4 * HOUR:
                perform(course, course.illness(one), rule.order, at)

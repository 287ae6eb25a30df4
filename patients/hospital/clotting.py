"""Clots that kill: lysis where the circulation fails, a filter where nothing may thin the blood, and why."""

from __future__ import annotations

from wardround.patients.knowledge.bedside import drug_profiles, finding_profiles
from wardround.patients.knowledge.graph_models import Phase, Treatment
from wardround.patients.times import DAY, Instant

from .course import treat
from .generation import rules
from .life import Illness, Pair, Plan, PlanItem
from .making import HOUR, MINUTE, Making, at_clock, between
from .naming import name_of
from .prescribing import Situation, problems
from .situating import in_shock, is_a, situation
from .stays import Course
from .working_up import perform

_ANTICOAGULANT = ("anticoagulant",)


def dissolve(course: Course, at: Instant) -> None:
    """Dissolve the clot of who is in shock by it, once; where that may not be, take it out and say why.

    Args:
        course: The stay.
        at: When the vital signs were taken.
    """
    making, rule = course.making, rules().lysis
    ill = next((one for one in course.acute if course.illness(one).condition == rule.condition), None)
    if ill is None or rule.line in course.decided or not _failing(making, at):
        return
    illness = course.illness(ill)
    line = next(one for one in course.profile(ill).treatments if one.id == rule.line)
    course.decided.add(rule.line)
    if any(one.line == line.id and one.indication == ill for one in making.orders.values()):
        return
    order = course.desk.treat(illness, line, "icu", at, "inpatient", course.place(at))
    if order is not None:
        return
    why = _forbids(making, line, situation(making, at, "icu"), at)
    _write_down(course, illness, at, rule.words.pair(why=why))
    begin = at + between(making.stream("clot out", ill), 40, 120) * MINUTE
    if begin < course.leaves - 3 * HOUR:
        perform(course, illness, rule.instead, begin)


def _failing(making: Making, at: Instant) -> bool:
    """Tell whether the pressure is held up by drugs, or too low by the last vital signs."""
    profile = finding_profiles()[rules().lysis.finding]
    value = making.known(profile.lab or "", at, 3 * HOUR)
    return in_shock(making, at) or (value is not None and profile.bound is not None and value <= profile.bound)


def _forbids(making: Making, line: Treatment, around: Situation, at: Instant) -> tuple[str, str]:
    """Return what stands against every drug of a line: an illness, else what is wrong with the first."""
    have = {one.condition for one in making.ill(at)} | making.showing | making.suspected
    for one in line.unless:
        if one in have:
            return name_of(one)
    drug = drug_profiles()[line.any_of[0]]
    rule = next(one for one in drug.doses if one.key == (line.dose_for or "usual"))
    found = problems(drug.id, rule.dose, rule.route, rule.frequency[0], around)
    named = [one.why for one in found if one.kind != "range"]
    return (named[0].en, named[0].zh or named[0].en) if named else name_of(drug.id)


def _write_down(course: Course, illness: Illness, at: Instant, text: Pair) -> None:
    making = course.making
    making.plans.append(
        Plan(making.new("pl"), "treatment", at, course.place(at), (PlanItem("goal", text, (illness.id,)),))
    )


def look_after_clot(course: Course, at: Instant, phase: Phase) -> None:
    """Begin what thins the blood as soon as it is safe; place a filter once where it is not.

    Args:
        course: The stay.
        at: The round.
        phase: Where the patient is.
    """
    making, rule = course.making, rules().no_thinner
    ill = next((one for one in course.acute if course.illness(one).condition in rule.conditions), None)
    if ill is None or _thinned(making, at):
        return
    treat(course, ill, phase, at)
    if _thinned(making, course.desk.now(at)) or rule.filter.procedure in course.decided or course.dies:
        return
    illness = course.illness(ill)
    line = next(
        one
        for one in course.profile(ill).treatments
        if not one.severity or illness.severity in one.severity
        if any(is_a(drug, _ANTICOAGULANT) for drug in one.any_of)
    )
    course.decided.add(rule.filter.procedure)
    _write_down(course, illness, at, rule.words.pair(why=_forbids(making, line, situation(making, at, phase), at)))
    begin = at + between(making.stream("filter", ill), 90, 300) * MINUTE
    if course.leaves < begin + 20 * HOUR:
        course.leaves = at_clock(begin + DAY, 12, 30)
    perform(course, illness, rule.filter, begin)


def _thinned(making: Making, at: Instant) -> bool:
    """Tell whether an anticoagulant runs in a dose that treats: what only prevents clots does not count."""
    running = [one for one in making.active(at) if is_a(one.drug, _ANTICOAGULANT)]
    return any(one.line != "vte_prophylaxis" for one in running)


def look_again_at_filter(course: Course) -> None:
    """Book the visit at which it is decided how a clot is treated on that went home with a filter alone."""
    making, rule, at = course.making, rules().no_thinner, course.leaves
    if rule.filter.procedure not in course.decided or _thinned(making, at):
        return
    ill = next(one for one in course.acute if course.illness(one).condition in rule.conditions)
    n = between(making.stream("filter again", ill), *rule.days)
    item = PlanItem("appointment", rule.later.pair(n=(str(n), str(n))), (ill,), at_clock(at + n * DAY, 9))
    making.plans.append(Plan(making.new("pl"), "followup", at, course.ward, (item,)))

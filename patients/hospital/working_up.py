"""The work-up: labs, studies, cultures and procedures in their hours, at the door and for what begins later."""

from __future__ import annotations

from wardround.patients.knowledge.graph_models import ProcedureOrder, StudyOrder
from wardround.patients.times import DAY, Instant

from .aching import ease, sore
from .diagnosing import move_body
from .dialysing import by_day, draw_round, next_session, rebound
from .generation import rules
from .life import Illness, Pair, Result, Treated
from .making import HOUR, MINUTE, at_clock, between
from .naming import name_of
from .operating import waits
from .signs import Showing
from .situating import is_a
from .specimens import of_procedures
from .stays import Course
from .telling import tell
from .workup import culture, draw, indication, plain_name, send_off, study

_FIRST_HOURS = 3
"""Studies that begin so many hours after arrival belong to an emergency visit, however short."""
_NEARLY_ALWAYS = 80
"""A study of so many percent is done for what begins in hospital."""
_ALWAYS_WHEN_SEVERE = frozenset({"blood", "sputum"})
"""Cultures that nobody severely ill goes without, where the illness calls for them at all."""


def draw_labs(course: Course, wanted: list[str], at: Instant) -> list[Result]:
    """Draw labs and remember when each was drawn."""
    found = draw(course.making, wanted, at, course.place(at))
    for result in found:
        course.drawn[result.lab] = at
    return found


def look(course: Course, place: str) -> None:
    """Do studies and procedures in their hours."""
    making = course.making
    done: set[str] = set()
    for one in course.acute:
        _operate(course, course.illness(one))
    for one in course.acute:
        illness, work = course.illness(one), course.profile(one).workup
        why = indication(making, illness, [place])
        for order in work.studies:
            if order.study in done or (order.severity and illness.severity not in order.severity):
                continue
            drawn = making.chance(order.percent, "study", one, order.study, course.ward)
            if not drawn and not _always(course, order.study):
                continue
            at = _look_at(course, illness, order)
            if at is None:
                continue
            done.add(order.study)
            study(making, order, illness, at, course.place(at), why)
        if work.consult is not None and course.inpatient and one == course.principal:
            _consult(course, one, work.consult)
    _keep_up(course)


def _always(course: Course, study_id: str) -> bool:
    """Tell whether a study is never left out: the head after a seizure on an anticoagulant."""
    home = [course.making.orders[one].drug for one in course.home]
    return any(
        rule.study == study_id and rule.finding in course.making.showing and any(is_a(one, rule.drugs) for one in home)
        for rule in rules().scanned
    )


def _look_at(course: Course, illness: Illness, order: StudyOrder) -> Instant | None:
    """Return when a study is done: in no procedure, and before an emergency visit is over; None: not in this stay."""
    making = course.making
    stream = making.stream("study at", illness.id, order.study, course.ward)
    at = course.arrival + max(25, between(stream, order.hours[0] * 60, order.hours[1] * 60)) * MINUTE
    soon = rules().at_once.get(illness.condition)
    if soon is not None and order.study in soon.studies:
        at = course.arrival + between(stream, *soon.studies[order.study]) * MINUTE
    elif not course.inpatient and order.hours[0] <= _FIRST_HOURS and at > course.arrival + HOUR:
        at = course.arrival + between(stream, 25, 60) * MINUTE
    for done in sorted(making.treated, key=lambda one: one.at):
        if done.procedure not in rules().lasting and done.at - 20 * MINUTE <= at <= (done.end or done.at):
            at = (done.end or done.at) + between(stream, 15, 40) * MINUTE
    late = course.leaves - (3 * HOUR if course.inpatient else 20 * MINUTE)
    return at if at <= late else None


def look_again(course: Course, illness: Illness) -> None:
    """Examine, look and take cultures for what began in hospital, as at the door.

    Args:
        course: The stay.
        illness: What has begun.
    """
    making, place = course.making, course.place(illness.known_at)
    at = illness.onset + 3 * HOUR
    if place != course.place(course.arrival):  # what was denied at the door stands under the door
        showing = Showing(making, place, at, at + 20 * MINUTE, ())
        showing.add(illness, "acute")
        told = {sign.finding for sign in making.signs if sign.encounter == place}
        signs = [sign for sign in showing.signs() if sign.present and sign.type == "sign" and sign.finding not in told]
        making.signs.extend(signs)
    work = course.profile(illness.id).workup
    draw_labs(course, [one for one in work.panels if one != "vitals"], at)
    for order in work.studies:
        begins = order.percent >= _NEARLY_ALWAYS and order.hours[0] <= _FIRST_HOURS
        if begins and (not order.severity or illness.severity in order.severity):
            study(making, order, illness, at + 30 * MINUTE, place, "follow-up")
    for number, grown in enumerate(one for one in work.cultures if one.specimen not in of_procedures()):
        if making.chance(grown.percent, "culture", illness.id, grown.specimen, course.ward):
            culture(making, grown, illness, at + (40 + 2 * number) * MINUTE, place)


def _consult(course: Course, illness: str, service: str) -> None:
    """Ask a service for its opinion, before anything is done to the patient for the illness."""
    making = course.making
    at = course.admitted + between(making.stream("consult", course.ward), 2, 20) * HOUR
    done = [one.at for one in making.treated if one.illness == illness and one.encounter in course.encounters]
    at = max(min([at, *(when - 50 * MINUTE for when in done)]), course.arrival + HOUR)
    if at < course.leaves - 3 * HOUR:
        tell(making, at, course.place(at), "consulted", (illness,), service=name_of(service))


def _operate(course: Course, illness: Illness) -> None:
    making = course.making
    for order in course.profile(illness.id).workup.procedures:
        if order.severity and illness.severity not in order.severity:
            continue
        if order.codes and illness.code not in order.codes:
            continue
        if not making.chance(order.percent, "procedure", illness.id, order.procedure, course.ward):
            continue
        stream = making.stream("procedure at", illness.id, order.procedure, course.ward)
        at = course.arrival + max(45, between(stream, order.hours[0] * 60, order.hours[1] * 60)) * MINUTE
        if order.procedure in rules().icu_only:
            if course.icu is None:
                continue
            at = course.icu_from + between(stream, 10, 180) * MINUTE
        if order.hours[1] >= 24 and not 7 * HOUR <= at % DAY <= 19 * HOUR:  # what can wait is not done at night
            at = at_clock(at if at % DAY < 7 * HOUR else at + DAY, between(stream, 8, 14), between(stream, 0, 59))
        if waits(course, order):
            course.put_off.append((illness.id, order, at))
            continue
        if at > course.leaves - 4 * HOUR and order.percent >= 90 and course.inpatient and not course.dies:
            course.leaves = at_clock(at + 2 * DAY, 12, 30)  # it is why the patient is here
        if at > course.leaves - 4 * HOUR:
            continue
        perform(course, illness, order, at)


def _keep_up(course: Course) -> None:
    """Do what a chronic condition needs again and again, whatever brings the patient in (dialysis)."""
    making = course.making
    for illness in making.ill(course.arrival):
        for order in course.profile(illness.id).workup.procedures:
            if order.every_hours is None or illness.id in course.acute or not course.inpatient:
                continue
            stream = making.stream("keeping up", illness.id, order.procedure, course.ward)
            at = course.admitted + between(stream, order.hours[0] * 60, order.hours[1] * 60) * MINUTE
            at = by_day(course, at, illness.id, course.ward)
            while at <= course.leaves - 4 * HOUR:
                perform(course, illness, order, at)
                at += order.every_hours * HOUR


def keep_up(course: Course, at: Instant) -> None:
    """Go on at a round with what a chronic condition needs again and again, where the stay takes longer.

    Args:
        course: The stay.
        at: The round.
    """
    for illness in course.making.ill(course.arrival):
        for order in course.profile(illness.id).workup.procedures:
            due = next_session(course, illness, order, at)
            if due is not None:
                perform(course, illness, order, due)


def perform(course: Course, illness: Illness, order: ProcedureOrder, at: Instant) -> None:
    """Record a procedure, what it does to the body, and that it was done."""
    making = course.making
    stream = making.stream("procedure", illness.id, order.procedure, at)
    place = stream.below(1000)
    phrases = order.outcome
    outcome = Pair(phrases.en[place % len(phrases.en)], phrases.zh[place % len(phrases.zh)]) if phrases.en else None
    title = rules().titles.get(f"{illness.condition}/{order.procedure}") or plain_name(order.procedure)
    if course.dies and order.procedure in rules().hopeful:
        outcome = None
    done = Treated(making.new("p"), order.procedure, title[0].upper() + title[1:], at,
                   _ends(course, order.procedure, title, at), course.place(at), illness.id, outcome)  # fmt: skip
    making.treated.append(done)
    send_off(making, done, illness)
    barred = {*rules().bars.get(done.title, ()), *rules().bars.get(done.procedure, ())}
    making.barred |= barred
    for one in making.ill(at):
        if one.condition in barred and one.id not in course.acute:
            making.change(one, resolved=done.end)
    if order.rebounds:
        rebound(making, illness, order, done)
    else:
        move_body(making, illness, order.effects, at, episode=True, flare=done.id)
    draw_round(course, done)
    sore(making, done)
    ease(making, done)
    what = name_of(order.procedure)
    tell(making, done.at, course.place(at), "procedure_done", (done.id, illness.id), procedure=what)


def grow(course: Course, place: str) -> None:
    """Take the cultures of the first hour, each specimen once."""
    making = course.making
    done: set[str] = set()
    at = course.arrival + between(making.stream("cultures at", course.ward), 35, 70) * MINUTE
    for one in course.acute:
        for number, order in enumerate(course.profile(one).workup.cultures):
            if order.specimen in of_procedures():  # sent off when the procedure is done
                continue
            grave = course.illness(one).severity == "severe" and order.specimen in _ALWAYS_WHEN_SEVERE
            percent = 100 if grave else order.percent
            if order.specimen in done or not making.chance(percent, "culture", one, order.specimen, course.ward):
                continue
            done.add(order.specimen)
            culture(making, order, course.illness(one), at + number * 2 * MINUTE, place)


def _ends(course: Course, procedure: str, title: str, at: Instant) -> Instant | None:
    """Return when a procedure is over: what goes on for hours within its place, of the dying not before death."""
    stream = course.making.stream("procedure lasts", procedure, at)
    lasts = rules().lasting.get(procedure)
    if lasts is None:
        minutes = rules().operation_minutes
        return at + between(stream, *minutes.get(title, minutes.get(procedure, (15, 90)))) * MINUTE
    until = course.icu_to if course.icu is not None and at >= course.icu_from else course.leaves
    if lasts[1] <= 4:
        return at + between(stream, lasts[0] * 60, lasts[1] * 60) * MINUTE
    if course.dies:
        return None
    return min(at + between(stream, *lasts) * HOUR, max(at + HOUR, until - 5 * HOUR))

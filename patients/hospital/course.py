"""The first hours of a stay: arrival, work-up, the first treatment, admission."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.knowledge.graph_models import Phase, ProcedureOrder, StudyOrder
from wardround.patients.times import DAY, Instant

from .aching import ache, ease, sore
from .diagnosing import move_body
from .generation import rules
from .keeping import finish_courses, line_of, only_in_icu, only_there, stay_for_drips
from .life import Illness, Pair, Prescription, Result, Treated
from .making import HOUR, MINUTE, Making, at_clock, between
from .medicating import is_drip, monitors
from .naming import name_of
from .operating import cover, make_ready, safe_from, waits
from .signs import Showing, measured
from .situating import is_a
from .specimens import of_procedures
from .stays import Course, to_icu
from .telling import tell
from .workup import culture, draw, indication, plain_name, send_off, study

_FIRST_HOURS = 3
"""Studies that begin so many hours after arrival belong to an emergency visit, however short."""
_NEARLY_ALWAYS = 80
"""A study of so many percent is done for what begins in hospital."""
_ALWAYS_WHEN_SEVERE = frozenset({"blood", "sputum"})
"""Cultures that nobody severely ill goes without, where the illness calls for them at all."""


def arrive(course: Course) -> None:
    """See, draw, look and begin to treat: the first hours."""
    making = course.making
    acute = [course.illness(one) for one in course.acute]
    making.suspected = frozenset(illness.condition for illness in acute)
    place = course.place(course.arrival)
    tell(making, course.arrival, place, "arrived", (course.principal,), complaint=name_of(course.complaint))
    _show(course)
    draw(making, ["vitals"], course.arrival + 6 * MINUTE, place)
    taken = course.arrival + between(making.stream("drawn", course.ward), 20, 55) * MINUTE
    first = draw_labs(course, _arrival_labs(course), taken)
    _look(course, place)
    _grow(course, place)
    if first:
        making.signs.extend(measured(making, acute, making.results[course.first_result :], place))
    _diagnose(course)


def draw_labs(course: Course, wanted: list[str], at: Instant) -> list[Result]:
    """Draw labs and remember when each was drawn."""
    found = draw(course.making, wanted, at, course.place(at))
    for result in found:
        course.drawn[result.lab] = at
    return found


def _arrival_labs(course: Course) -> list[str]:
    wanted = list(rules().arrival_panels)
    for one in course.acute:
        wanted.extend(course.profile(one).workup.panels)
    home = [course.making.orders[one] for one in course.home]
    wanted.extend(monitors(home))
    return list(dict.fromkeys(wanted))


def _show(course: Course) -> None:
    making = course.making
    place = course.place(course.arrival)
    drugs = [making.orders[one].drug for one in course.home]
    showing = Showing(making, place, course.arrival, course.arrival + 30 * MINUTE, drugs)
    for number, one in enumerate(course.acute):
        showing.add(course.illness(one), "acute" if number else "principal", None if number else course.complaint)
    for illness in making.ill(course.arrival):
        if illness.id not in course.acute:
            showing.add(illness, "background")
    showing.deny(_mistakable(course), 4)
    showing.distract()
    note_findings(making, showing, course.arrival)


def note_findings(making: Making, showing: Showing, at: Instant) -> None:
    """Add to the life what the patient shows at an encounter, and how much it hurts."""
    signs = showing.signs()
    making.signs.extend(signs)
    making.showing = frozenset(sign.finding for sign in signs if sign.present)
    ache(making, signs, at)


def _mistakable(course: Course) -> list[str]:
    """Return other conditions that present with the same complaint."""
    have = {one.condition for one in course.making.suffering(course.arrival)}
    found = [
        one.id for one in condition_profiles().values() if course.complaint in one.complaint and one.id not in have
    ]
    return course.making.stream("mistakable", course.ward).shuffled(found)[:3]


def _look(course: Course, place: str) -> None:
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
            if not making.chance(order.percent, "study", one, order.study, course.ward):
                continue
            at = _look_at(course, illness, order)
            if at is None:
                continue
            done.add(order.study)
            study(making, order, illness, at, course.place(at), why)
        if work.consult is not None and course.inpatient and one == course.principal:
            _consult(course, one, work.consult)
    _keep_up(course)


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
            while at <= course.leaves - 4 * HOUR:
                perform(course, illness, order, at)
                at += order.every_hours * HOUR


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
    move_body(making, illness, order.effects, at, episode=True, flare=done.id)
    sore(making, done)
    ease(making, done)
    what = name_of(order.procedure)
    tell(making, done.at, course.place(at), "procedure_done", (done.id, illness.id), procedure=what)


def _grow(course: Course, place: str) -> None:
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


def _diagnose(course: Course) -> None:
    """Date the diagnoses: once the first labs and the first study are back."""
    making = course.making
    labs = [result.known_at for result in making.results[course.first_result :]]
    for one in course.acute:
        illness = course.illness(one)
        if illness.known_at < course.arrival:
            continue
        studies = [
            done.known_at for done in making.studies if done.illness == one and done.at < course.arrival + 8 * HOUR
        ]
        known = max([course.arrival + HOUR, max(labs, default=0), min(studies, default=0)])
        known += between(making.stream("diagnosed", one), 5, 40) * MINUTE
        making.change(illness, known_at=min(known, course.leaves - 30 * MINUTE))


def treat(course: Course, one: str, phase: Phase, at: Instant) -> list[Prescription]:
    """Start the lines of a phase for one illness; the first that works begins its turn."""
    started = []
    illness = course.illness(one)
    for number, line in enumerate(course.profile(one).treatments):
        if phase not in line.phase or line.targeted:
            continue
        order = course.desk.treat(illness, line, phase, at + number * 3 * MINUTE, "inpatient", course.place(at))
        if order is None:
            continue
        started.append(order)
        if line.works and one not in course.working:
            course.working[one] = max(order.start, at)
    return started


def settle(course: Course) -> None:
    """Treat in the emergency department, admit, look at home drugs, treat on the ward, and set the turn."""
    making = course.making
    if course.inpatient and course.ed is None:
        _weigh(course)
    soon = rules().at_once.get(course.illness(course.principal).condition)
    minutes = (80, 140) if soon is None else soon.treated
    begin = course.arrival + between(making.stream("treated", course.ward), *minutes) * MINUTE
    started: list[Prescription] = []
    for one in course.acute:
        started.extend(treat(course, one, "ed", begin))
    if course.inpatient and any(is_a(order.drug, rule.drugs) for rule in rules().called_for for order in started):
        to_icu(course)
    _sugar_on_the_drip(course, started)
    held = make_ready(course, begin)
    tell_held(course, course.desk.now(begin), held)
    if not course.inpatient or course.ed is not None:
        _hold_at_diagnosis(course, begin)
    if course.inpatient:
        cover(course, max(begin, course.admitted) + 15 * MINUTE)
        _admit(course, max(begin, course.admitted) + 15 * MINUTE, started)
        _operate_later(course, begin)
    for one in course.acute:
        _known_when_treated(course, one)
        since = course.working.get(one, course.arrival + 12 * HOUR)
        if one == course.principal and course.dies:
            continue
        turn = since + between(making.stream("turn", one, course.ward), *course.profile(one).turn_hours) * HOUR
        course.turns[one] = turn
        making.body.turn(one, turn)
    if course.inpatient and course.turns and not course.dies:
        latest = max(course.turns.values())
        if course.leaves < latest + 10 * HOUR:
            course.leaves = at_clock(latest + DAY, 11, 40)
        rest = between(making.stream("rest", course.ward), 1, 5)
        if course.leaves > latest + (rest + 1) * DAY:
            inside = set(course.encounters)
            done = [one.known_at for one in making.studies if one.encounter in inside]
            done += [one.end or one.at for one in making.treated if one.encounter in inside]
            done += [one.at for one in making.events if one.encounter in inside]
            course.leaves = at_clock(max(latest + rest * DAY, course.icu_to + 2 * DAY, max(done) + DAY), 12, 50)
    if course.inpatient:
        finish_courses(course)
    _tell_treatment(course, begin, started)


def _hold_at_diagnosis(course: Course, begin: Instant) -> None:
    """Hold home drugs in the emergency department as soon as it is known what is the matter."""
    making = course.making
    known = [course.illness(one).known_at for one in course.acute]
    end = course.admitted if course.inpatient else course.leaves - 20 * MINUTE
    at = max(begin, min(max(known) + 5 * MINUTE, end - 10 * MINUTE))
    if at >= end:
        return
    home = [making.orders[one] for one in course.home]
    if not course.inpatient:  # what must not be taken now; doses are looked at by those who see the patient again
        home = [one for one in home if is_a(one.drug, rules().held_when_ill)]
    held = course.desk.review(at, "inpatient", course.ward, home)
    tell_held(course, course.desk.now(at), held)


def _sugar_on_the_drip(course: Course, started: Sequence[Prescription]) -> None:
    """Measure the sugar every two hours in the emergency department while insulin runs."""
    for order in started:
        if is_drip(order) and is_a(order.drug, ("insulin",)) and course.ed is not None:
            for at in range(order.start + HOUR, course.admitted - 20 * MINUTE, 2 * HOUR):
                draw_labs(course, ["glucose"], at)


def _operate_later(course: Course, held: Instant) -> None:
    """Do the operations that waited for an anticoagulant to wear off, once the clotting allows it."""
    for one, order, planned in course.put_off:
        at, measured_at = safe_from(course, planned, held)
        if at > course.leaves - 4 * HOUR:
            if course.dies:
                continue
            course.leaves = at_clock(at + 2 * DAY, 12, 30)
        for then in measured_at:
            draw_labs(course, ["coags"], then)
        perform(course, course.illness(one), order, at)


def tell_held(course: Course, at: Instant, orders: Sequence[Prescription]) -> None:
    """Tell, where there are any, of the orders that a review held or changed."""
    if orders:
        tell(course.making, at, course.place(at), "dose_held", tuple(order.id for order in orders))


def _tell_treatment(course: Course, begin: Instant, started: Sequence[Prescription]) -> None:
    """Tell of the first treatment, day by day."""
    days: dict[Instant, list[Prescription]] = {}
    for order in started:
        days.setdefault(max(order.start, begin) // DAY, []).append(order)
    for orders in days.values():
        at = max(begin, min(order.start for order in orders))
        ids = tuple(dict.fromkeys(order.id for order in orders))
        tell(course.making, at, course.place(at), "treatment_started", ids)


def _weigh(course: Course) -> None:
    """Take weight, height and vital signs on admission."""
    at = course.admitted + 12 * MINUTE
    draw(course.making, ["admission_vitals"], at, course.place(at))


def _admit(course: Course, at: Instant, started: list[Prescription]) -> None:
    making, desk = course.making, course.desk
    name = name_of(course.illness(course.principal).condition)
    tell(making, course.admitted, course.ward, "admitted", (course.principal,), illness=name)
    if course.ed is not None:
        _weigh(course)
    for one in course.acute:
        for order in treat(course, one, "inpatient", at):
            if order not in started and order.start >= at:
                started.append(order)
    for order in list(making.active(at)):
        _close_ed(course, order, at)
    held = desk.review(at, "inpatient", course.ward, [making.orders[one] for one in course.home])
    tell_held(course, at, held)
    for one in course.home:
        order = making.orders[one]
        if one in making.not_taking and order.stop is None and not order.prn:
            desk.act(order, at)
    illness = course.illness(course.principal)
    for line in rules().supportive:
        desk.treat(illness, line, "inpatient", at + 20 * MINUTE, "inpatient", course.ward)
    if course.icu is not None and course.icu_from < course.admitted + HOUR:
        enter_icu(course)


def enter_icu(course: Course) -> None:
    """Move to intensive care and start what is given only there."""
    making, desk = course.making, course.desk
    assert course.icu is not None
    course.in_icu = True
    tell(making, course.icu_from, course.icu, "icu_transfer", (course.principal,))
    treat(course, course.principal, "icu", course.icu_from + 10 * MINUTE)
    running = [order for order in making.active(desk.now(course.icu_from)) if only_in_icu(course, order)]
    stay_for_drips(course, running)
    only_there(course, running)
    held = desk.review(course.icu_from + 40 * MINUTE, "icu", course.ward, [making.orders[one] for one in course.home])
    tell_held(course, desk.now(course.icu_from), held)


def _known_when_treated(course: Course, one: str) -> None:
    """Let a diagnosis stand by the time its treatment begins, once the first results are back."""
    begun, illness = course.working.get(one), course.illness(one)
    if begun is None or illness.known_at <= begun or illness.known_at < course.arrival:
        return
    back = [result.known_at for result in course.making.results[course.first_result :] if result.known_at <= begun]
    course.making.change(illness, known_at=max(begun, max(back, default=0), illness.onset) + MINUTE)


def support(course: Course, at: Instant) -> None:
    """Hold up the circulation in intensive care where it fails only now."""
    illness = course.illness(course.principal)
    pressors = [drug for rule in rules().called_for for drug in rule.drugs]
    own = [
        line
        for line in course.profile(course.principal).treatments
        if "icu" in line.phase and any(is_a(drug, pressors) for drug in line.any_of)
    ]
    begun = [one.drug for one in course.making.active(at) if is_a(one.drug, pressors)]
    for line in own:
        order = course.desk.treat(illness, line, "icu", at, "inpatient", course.place(at))
        only_there(course, [order] if order is not None else [])
        begun += [order.drug] if order is not None else []
    if not begun:
        order = course.desk.treat(illness, rules().pressor, "icu", at, "inpatient", course.place(at))
        if order is not None and order.stop is None:
            course.desk.end(order, course.icu_to, rules().reasons["out_of_icu"].pair(), ended="completed")


def _close_ed(course: Course, order: Prescription, at: Instant) -> None:
    """End what only the emergency department gives; a drip that intensive care gives too goes on on the way there."""
    line = line_of(course, order)
    if order.kind != "inpatient" or line is None or "inpatient" in line.phase:
        return
    to_icu_now = course.icu is not None and course.icu_from < course.admitted + HOUR
    if to_icu_now and "icu" in line.phase and is_drip(order):
        return
    if order.stop is None or (is_drip(order) and order.stop > at):
        course.desk.end(order, at, rules().reasons["left_ed"].pair(), ended="completed")

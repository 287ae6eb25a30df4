"""The first hours of a stay: arrival, work-up, the first treatment, admission."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.knowledge.graph_models import Phase, Treatment
from wardround.patients.times import DAY, Instant

from .aching import ache
from .adhering import stop_disliked
from .generation import rules
from .keeping import finish_courses, line_of, only_in_icu, only_there, stay_for_drips
from .life import Prescription
from .making import HOUR, MINUTE, Making, at_clock, between
from .medicating import is_drip, is_once, monitors
from .naming import name_of
from .operating import cover, make_ready, safe_from
from .precautions import tap, test_for_pregnancy
from .signs import Showing, measured
from .situating import is_a
from .stays import Course, to_icu
from .telling import tell
from .watching import look_back, run_on
from .working_up import draw_labs, grow, look, perform
from .workup import draw


def arrive(course: Course) -> None:
    """See, draw, look and begin to treat: the first hours."""
    making = course.making
    acute = [course.illness(one) for one in course.acute]
    making.suspected = frozenset(illness.condition for illness in acute)
    place = course.place(course.arrival)
    tell(making, course.arrival, place, "arrived", (course.principal,), complaint=name_of(course.complaint))
    _show(course)
    draw(making, ["vitals"], course.arrival + 6 * MINUTE, place)
    test_for_pregnancy(making, [one.condition for one in acute], course.arrival, place)
    taken = course.arrival + between(making.stream("drawn", course.ward), 20, 55) * MINUTE
    first = draw_labs(course, _arrival_labs(course), taken)
    look(course, place)
    tap(course)
    grow(course, place)
    if first:
        making.signs.extend(measured(making, acute, making.results[course.first_result :], place))
    _diagnose(course)


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
        if phase not in line.phase or line.targeted or _had_once(course, one, line):
            continue
        order = course.desk.treat(illness, line, phase, at + number * 3 * MINUTE, "inpatient", course.place(at))
        if order is None:
            continue
        started.append(order)
        if line.works and one not in course.working:
            course.working[one] = max(order.start, at)
    return started


def _had_once(course: Course, illness: str, line: Treatment) -> bool:
    """Tell whether the single dose of a line was given in this stay: nobody is loaded, or lysed, twice."""
    mine = [one for one in course.making.orders.values() if one.line == line.id and one.indication == illness]
    return any(is_once(one) and one.encounter in course.encounters for one in mine)


def _treated_from(course: Course) -> Instant:
    """Return when treatment begins: sooner where it cannot wait, after the value that it waits for."""
    soon = rules().at_once.get(course.illness(course.principal).condition)
    minutes = (80, 140) if soon is None else soon.treated
    begin = course.arrival
    if soon is not None and soon.once_known is not None:
        found = (one.known_at for one in course.making.results[course.first_result :] if one.lab == soon.once_known)
        begin = min(found, default=begin + HOUR)
    begin += between(course.making.stream("treated", course.ward), *minutes) * MINUTE
    if course.inpatient and course.ed is None:  # nothing is ordered on the ward before the patient is there
        begin = max(begin, course.admitted + 5 * MINUTE)
    return begin


def settle(course: Course) -> None:
    """Treat in the emergency department, admit, look at home drugs, treat on the ward, and set the turn."""
    making = course.making
    if course.inpatient and course.ed is None:
        _weigh(course)
    begin = _treated_from(course)
    tell_held(course, begin, stop_disliked(making, course.desk, begin))
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
        look_back(course, started)
        run_on(course)
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

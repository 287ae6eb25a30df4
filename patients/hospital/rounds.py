"""The days of a stay: morning labs, the round, vital signs in between, what goes wrong and what gets better."""

from __future__ import annotations

from dataclasses import replace

from wardround.patients.knowledge.bedside import drug_profiles, finding_profiles
from wardround.patients.knowledge.graph_models import Phase, Severity
from wardround.patients.times import DAY, Instant

from .answering import answer
from .arriving import there_already
from .attending import attend, tube_between
from .clotting import look_after_clot
from .course import enter_icu, tell_held, treat
from .diagnosing import consequences, fall_ill, fits
from .falling import look_for_bleeding
from .generation import rules
from .keeping import carry_on, hand_over, last_course, still_off, to_tablets, unready, wean
from .life import Culture, Prescription
from .making import HOUR, MINUTE, at_clock, between
from .medicating import monitors
from .naming import name_of
from .operating import cover
from .physiology import labs_of
from .prescribing import choose
from .restarting import restart
from .situating import is_a, situation
from .stays import Course
from .tapering import lower
from .telling import tell
from .watching import watch
from .working_up import draw_labs, keep_up, look_again, perform
from .workup import draw

_MANY_VITALS = 60
"""Sets of vital signs of a stay beyond which they are taken less often."""
_MANY_RESULTS = 1250
"""Results of a life beyond which vital signs are taken less often."""
_MOST_DAYS_MORE = 4
"""Days that somebody stays longer because something still forbids to leave."""
_NOT_DRAWN = frozenset({"vitals", "admission_vitals"})


def days(course: Course) -> None:
    """Live through the stay: morning labs, the round, vital signs in between, each in its time."""
    making = course.making
    course.next_vitals = course.admitted + 3 * HOUR
    _closely(course)
    answer(course, course.admitted + 40 * MINUTE, "inpatient")
    watch(course, course.admitted + 40 * MINUTE)
    _transfuse(course, course.admitted + 50 * MINUTE)
    morning = at_clock(course.admitted + DAY, 5, 30)
    _until(course, min(morning, course.leaves))
    number = stayed = 0
    while morning < course.leaves:
        number += 1
        wanted = _due(course, morning)
        drawn = morning + between(making.stream("morning", course.ward, number), 0, 40) * MINUTE
        if wanted and drawn < course.leaves:
            draw_labs(course, wanted, drawn)
        round_at = at_clock(morning, 9, between(making.stream("round", course.ward, number), 0, 40))
        if round_at < course.leaves - HOUR:
            _until(course, round_at)
            _round(course, round_at, number)
        if morning + DAY >= course.leaves and not course.dies and stayed < _MOST_DAYS_MORE and unready(course):
            stayed += 1
            course.leaves += DAY
        _until(course, min(morning + DAY, course.leaves))
        morning += DAY


def _until(course: Course, end: Instant) -> None:
    """Take vital signs up to an instant, and go to intensive care when it is time."""
    if course.icu is not None and not course.in_icu and course.icu_from < end:
        _vitals(course, course.icu_from)
        enter_icu(course)
    cover(course, end)
    _vitals(course, end)


def _closely(course: Course) -> None:
    """Repeat in the first day and a half what is watched from hour to hour, every four hours at most."""
    repeats = [
        (panel, hours)
        for one in course.acute
        for panel, hours in course.profile(one).workup.repeat_hours.items()
        if hours <= 12 and panel not in _NOT_DRAWN
    ]
    for number in range(1, 9):
        at = course.arrival + (1 + number * 4) * HOUR
        at += between(course.making.stream("closely", course.ward, number), 0, 25) * MINUTE
        due = [panel for panel, hours in repeats if number * 4 % max(4, (hours + 3) // 4 * 4) == 0]
        if due and course.admitted + HOUR < at < course.leaves - 2 * HOUR:
            course.awaited.append((at, tuple(dict.fromkeys(due))))


def _draw_awaited(course: Course, until: Instant) -> None:
    """Draw what was to be drawn by an instant."""
    due = sorted(one for one in course.awaited if one[0] <= until)
    course.awaited = [one for one in course.awaited if one[0] > until]
    for at, labs in due:
        draw_labs(course, list(labs), at)


def _due(course: Course, at: Instant) -> list[str]:
    wanted = []
    repeats: dict[str, int] = dict(rules().ward_repeats)
    for one in course.acute:
        for panel, hours in course.profile(one).workup.repeat_hours.items():
            if panel not in _NOT_DRAWN:
                repeats[panel] = min(hours, repeats.get(panel, hours))
    days_in = (at - course.admitted) // DAY
    for panel, hours in repeats.items():
        last = max(course.drawn.get(lab, 0) for lab in labs_of([panel]))
        every = max(hours, 20) if days_in < 4 else max(hours, 44)
        if at - last >= every * HOUR - 8 * HOUR and not _without_its_drug(course, panel, at):
            wanted.append(panel)
    inside = [order for order in course.making.active(at) if order.start < at - 2 * HOUR or order.kind != "inpatient"]
    covered = set(labs_of(wanted))
    for lab in monitors(inside):
        if lab in rules().once_a_stay and lab in course.drawn:
            continue
        if lab not in covered and at - course.drawn.get(lab, 0) > 60 * HOUR:
            wanted.append(lab)
    return wanted


def _without_its_drug(course: Course, lab: str, at: Instant) -> bool:
    """Tell whether a lab is the level of a drug that nobody has ordered any more."""
    drugs = rules().levels.get(lab)
    return drugs is not None and not any(is_a(one.drug, drugs) for one in course.making.active(at))


def _round(course: Course, at: Instant, number: int) -> None:
    """Look at everything again: drugs that are no longer safe, labs that are off, cultures that are back."""
    making, desk = course.making, course.desk
    at = desk.now(at)
    phase: Phase = "icu" if course.icu is not None and course.icu_from <= at < course.icu_to else "inpatient"
    _narrow(course, at, phase)  # before the doses are looked at: what is replaced needs no other dose
    tell_held(course, at, desk.review(at, phase, course.ward, making.active(at)))
    if course.dies and at - DAY < course.worse <= at:
        tell(making, at, course.place(at), "worsened", (course.principal,))
    carry_on(course, at)
    keep_up(course, at)
    restart(course, at, phase)
    lower(course, at)
    look_after_clot(course, at, phase)
    hand_over(course, at, phase)
    _stop_what_is_done(course, at)
    if phase == "inpatient":
        to_tablets(course, at)
    answer(course, at, phase)
    watch(course, at)
    _transfuse(course, at)
    if number == 1:
        _complicate(course, at)
    for one, turn in course.turns.items():
        if at - DAY <= turn < at and one == course.principal and not still_off(course, one, at):
            tell(making, at, course.place(at), "improved", (one,))
        if at - 2 * DAY <= turn < at - DAY:
            _examine_again(course, one, at)


def _stop_what_is_done(course: Course, at: Instant) -> None:
    """End what is given only until the patient is better: fluids."""
    beside = {one.line.id for one in rules().closing.beside if one.line is not None}
    for order in course.making.active(at):
        turn = course.turns.get(order.indication or "")
        if order.line in beside:  # it ends with the insulin
            continue
        if order.kind != "inpatient" or turn is None or turn >= at or not is_a(order.drug, rules().until_better):
            continue
        if not still_off(course, order.indication or "", at):
            course.desk.end(order, at, rules().reasons["resolved"].pair(), ended="completed")


def _examine_again(course: Course, illness: str, at: Instant) -> None:
    """Add signs of an illness that are gone a day after its turn, where they were there at the door."""
    making = course.making
    door = course.place(course.arrival)
    if door == course.place(at):
        return
    for sign in [one for one in making.signs if one.encounter == door and one.present and one.type == "sign"]:
        goes = finding_profiles()[sign.finding].clears or sign.finding in _cured(course, illness, at)
        there = any(one.finding == sign.finding and one.present and one.encounter == course.place(at)
                    for one in making.signs)  # fmt: skip
        if [owner for owner, _ in sign.owners] == [illness] and goes and not there:
            gone = replace(sign, id=making.new("s"), present=False, owners=(), encounter=course.place(at), onset=at,
                           known_at=at, side=None)  # fmt: skip
            making.signs.append(gone)


def _cured(course: Course, illness: str, at: Instant) -> set[str]:
    """Return signs that a procedure of the stay has put right."""
    done = [one for one in course.making.treated if one.illness == illness and one.at < at]
    return {sign for one in done for sign in rules().cures.get(one.procedure, ())}


def _transfuse(course: Course, at: Instant) -> None:
    """Give red cells as often as the last hemoglobin calls for them, and look at what they did."""
    making, rule = course.making, rules().transfuse
    value = making.known(rule.lab, at, 2 * DAY)
    if value is None or value >= rule.below:
        return
    given = [one.at for one in making.treated if one.procedure == rule.order.procedure]
    if any(at - 12 * HOUR < one < at + 12 * HOUR for one in given):
        return
    if at > course.leaves - 7 * HOUR:  # nobody is sent home before it has been given and looked at
        if course.dies or sum(one > course.admitted for one in given) >= rule.most:
            return
        course.leaves = at_clock(at + DAY, 13, 30)
    illness = course.illness(course.principal)
    begin = at + between(making.stream("transfusion", course.ward, at), 60, 150) * MINUTE
    perform(course, illness, rule.order, begin)
    if begin + 7 * HOUR < course.leaves:
        draw_labs(course, [rule.panel], begin + 7 * HOUR)


def _narrow(course: Course, at: Instant, phase: Phase) -> None:
    """Read the susceptibilities that are back, once each: how long to treat on, and with what."""
    making = course.making
    for grown in making.cultures:
        back = grown.stages[-1].at
        if grown.encounter not in course.encounters or not grown.susceptibilities or back > at:
            continue
        illness = course.illness(grown.illness)
        if _steady(course, at) and grown.id not in course.narrowed:
            course.narrowed.add(grown.id)
            _change_antibiotic(course, grown, at, phase)
        if grown.id in course.reported:
            continue
        course.reported.add(grown.id)
        tell(making, back, course.place(back), "culture_result", (grown.id,))
        if not course.dies and not last_course(course, at, course.profile(grown.illness).treatments, illness):
            first = min((one.start for one in making.orders.values() if one.indication == illness.id), default=at)
            course.leaves = max(course.leaves, at_clock(first + rules().antibiotic_days["blood"] * DAY, 13, 30))


def _steady(course: Course, at: Instant) -> bool:
    """Tell whether antibiotics may be narrowed: not while the patient gets worse, or the pressure is held up."""
    if course.dies and at >= course.worse:
        return False
    drugs = [drug for rule in rules().called_for for drug in rule.drugs]
    return not any(is_a(one.drug, drugs) for one in course.making.active(at))


def _change_antibiotic(course: Course, grown: Culture, at: Instant, phase: Phase) -> None:
    """Change to the narrowest antibiotic that a culture allows and the patient can have."""
    making, desk, reads = course.making, course.desk, dict(grown.susceptibilities)
    illness = course.illness(grown.illness)
    running = [
        order for order in making.active(at) if order.indication == illness.id and is_a(order.drug, ("antibiotic",))
    ]
    for line in course.profile(illness.id).treatments:
        if not line.targeted:
            continue
        drugs = _narrowest([drug for drug in line.any_of if reads.get(drug) == "S" and drug in drug_profiles()])
        if not drugs or not desk.wanted(illness, line, at):
            continue
        there = next((order for order in running if order.drug == drugs[0]), None)
        if there is not None:
            _alone(course, grown, there, running, at)
            return
        around = situation(making, at, phase, [order.id for order in running])
        stream = making.stream("narrowed", grown.id, line.id)
        choices = (choose([drug], around, stream, dose_for=line.dose_for) for drug in drugs)
        choice = next((one for one in choices if one is not None), None)
        if choice is None:
            continue
        for order in running:
            desk.end(order, at, rules().reasons["narrowed"].pair())
        new = desk.write(choice, at, "inpatient", course.ward, illness.id, line=line.id)
        changed = (grown.id, new.id, *(order.id for order in running))
        tell(making, at, course.place(at), "antibiotic_narrowed", changed)
        return


def _alone(course: Course, grown: Culture, kept: Prescription, running: list[Prescription], at: Instant) -> None:
    """End the other antibiotics where the narrow one runs already."""
    others = [order for order in running if order.id != kept.id]
    for order in others:
        course.desk.end(order, at, rules().reasons["narrowed"].pair())
    if others:
        changed = (grown.id, kept.id, *(order.id for order in others))
        tell(course.making, at, course.place(at), "antibiotic_narrowed", changed)


def _narrowest(drugs: list[str]) -> list[str]:
    """Return antibiotics from the narrowest to the widest; those of one width in the order of the line."""
    width = {drug: number for number, group in enumerate(rules().narrow_first) for drug in group}
    return sorted(drugs, key=lambda drug: width.get(drug, len(rules().narrow_first)))


def _complicate(course: Course, at: Instant) -> None:
    """Draw what goes wrong in the stay."""
    making = course.making
    have = [one.condition for one in making.suffering(at)]
    inside = [course.illness(one) for one in course.acute]
    for illness in [*inside, *(one for one in making.ill(at) if one not in inside)]:
        for relation, profile in consequences(illness.condition, ("complicates",), chronic=False):
            if profile.id in have or (relation.severity and illness.severity not in relation.severity):
                continue
            if not fits(making, profile, at, have) or there_already(course, profile):
                continue
            if making.stream("complication", course.ward, profile.id).below(1000) >= relation.per_1000:
                continue
            if len(course.acute) >= 4 or course.leaves - at < 2 * DAY or profile.id in making.barred:
                return
            severity: Severity = "mild" if "mild" in profile.severity else next(iter(profile.severity))
            begun = at + between(making.stream("complication at", profile.id), 2, 14) * HOUR
            found = fall_ill(making, profile.id, onset=begun, known_at=begun + 5 * HOUR, severity=severity,
                             encounter=course.ward, cause=illness.id)  # fmt: skip
            course.acute.append(found.id)
            making.suspected |= {profile.id}
            look_again(course, found)
            place = course.place(found.known_at)
            tell(making, found.known_at, place, "complication", (found.id,), illness=name_of(profile.id))
            _until(course, found.known_at + 20 * MINUTE)
            treat(course, found.id, "inpatient", found.known_at + 20 * MINUTE)
            turn = course.working.get(found.id, found.known_at)
            turn += between(making.stream("turn", found.id), *profile.turn_hours) * HOUR
            course.turns[found.id] = turn
            making.body.turn(found.id, turn)
            course.leaves = max(course.leaves, at_clock(turn + DAY, 12, 10))
            return


def _vitals(course: Course, end: Instant) -> None:
    """Take vital signs as often as the place asks for; in a long life less often, never not at all."""
    making = course.making
    while course.next_vitals < end:
        at = course.next_vitals
        _draw_awaited(course, at)
        in_icu = course.icu is not None and course.icu_from <= at < course.icu_to
        early = at < course.admitted + DAY
        draw(making, ["vitals"], at, course.place(at))
        wean(course, at)
        attend(course, at)
        look_for_bleeding(course, at)
        _transfuse(course, at)
        many = making.count(f"vitals of {course.ward}") > _MANY_VITALS or len(making.results) > _MANY_RESULTS
        hours = 3 if in_icu else 4 if early else 8
        then = at + (max(hours, 6 if early or in_icu else 8) if many else hours) * HOUR
        course.next_vitals = tube_between(course, at, then) or then
    _draw_awaited(course, end)

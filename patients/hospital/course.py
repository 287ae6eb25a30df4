"""What is done in a stay: arrival, work-up, treatment, the days on the ward, and leaving."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from wardround.patients.knowledge.bedside import condition_profiles, drug_profiles, finding_profiles, panels
from wardround.patients.knowledge.graph_models import Phase, Severity, Treatment
from wardround.patients.times import DAY, Instant

from .diagnosing import fall_ill, fits, relations_from
from .generation import rules
from .life import Illness, Pair, Prescription, Result, Sign, Treated
from .making import HOUR, MINUTE, Making, at_clock, between
from .medicating import is_a, monitors, situation
from .physiology import Shift
from .physiology_core import law
from .planning import name_of
from .prescribing import choose, problems
from .signs import Showing, measured
from .stays import Course
from .telling import tell
from .workup import culture, draw, indication, plain_name, study

_MOST_VITALS = 60


def arrive(course: Course) -> None:
    """See, draw, look and begin to treat: the first hours."""
    making = course.making
    making.suspected = frozenset(course.illness(one).condition for one in course.acute)
    place = course.place(course.arrival)
    tell(making, course.arrival, place, "arrived", (course.principal,), complaint=name_of(course.complaint))
    _show(course)
    draw(making, ["vitals"], course.arrival + 6 * MINUTE, place)
    taken = course.arrival + between(making.stream("drawn", course.ward), 20, 55) * MINUTE
    first = draw_labs(course, _arrival_labs(course), taken)
    _look(course, place)
    _grow(course, place)
    if first:
        signs = measured(
            making, [course.illness(one) for one in course.acute], making.results[course.first_result :], place
        )
        making.signs.extend(signs)
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
    signs = showing.signs()
    making.signs.extend(signs)
    making.showing = frozenset(sign.finding for sign in signs if sign.present)
    _ache(course, signs)


def _ache(course: Course, signs: Sequence[Sign]) -> None:
    """Let the pain that the patient scores stand in the vital signs too, until the illness turns."""
    scored = [sign for sign in signs if sign.score is not None and sign.owners and sign.owners[0][0] in course.acute]
    if not scored or law("pain_score") is None:
        return
    worst = max(scored, key=lambda sign: (sign.score or 0, sign.id))
    now = course.making.body.value("pain_score", course.arrival) or Decimal(0)
    lacking = Decimal(worst.score or 0) - now
    if lacking > 0:
        course.making.body.add(
            Shift("pain_score", worst.owners[0][0], "add", lacking, worst.onset, worst.onset + HOUR, half_life_h=20)
        )


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
        illness, work = course.illness(one), course.profile(one).workup
        why = indication(making, illness, [place])
        for order in work.studies:
            if order.study in done or (order.severity and illness.severity not in order.severity):
                continue
            if not making.chance(order.percent, "study", one, order.study, course.ward):
                continue
            stream = making.stream("study at", one, order.study, course.ward)
            at = course.arrival + max(25, between(stream, order.hours[0] * 60, order.hours[1] * 60)) * MINUTE
            if at > course.leaves - 3 * HOUR:
                continue
            done.add(order.study)
            study(making, order, illness, at, course.place(at), why)
        _operate(course, illness)
        if work.consult is not None and course.inpatient and one == course.principal:
            at = course.admitted + between(making.stream("consult", course.ward), 2, 20) * HOUR
            if at < course.leaves - 3 * HOUR:
                tell(making, at, course.place(at), "consulted", (one,), service=name_of(work.consult))


def _operate(course: Course, illness: Illness) -> None:
    making = course.making
    for order in course.profile(illness.id).workup.procedures:
        if order.severity and illness.severity not in order.severity:
            continue
        if not making.chance(order.percent, "procedure", illness.id, order.procedure, course.ward):
            continue
        stream = making.stream("procedure at", illness.id, order.procedure, course.ward)
        at = course.arrival + max(45, between(stream, order.hours[0] * 60, order.hours[1] * 60)) * MINUTE
        if at > course.leaves - 4 * HOUR:
            continue
        place = stream.below(1000)
        phrases = order.outcome
        outcome = Pair(phrases.en[place % len(phrases.en)], phrases.zh[place % len(phrases.zh)]) if phrases.en else None
        title = plain_name(order.procedure)
        done = Treated(making.new("p"), order.procedure, title[0].upper() + title[1:], at,
                       at + between(stream, 15, 90) * MINUTE, course.place(at), illness.id, outcome)  # fmt: skip
        making.treated.append(done)
        tell(
            making,
            done.at,
            course.place(at),
            "procedure_done",
            (done.id, illness.id),
            procedure=name_of(order.procedure),
        )


def _grow(course: Course, place: str) -> None:
    making = course.making
    done: set[str] = set()
    at = course.arrival + between(making.stream("cultures at", course.ward), 35, 70) * MINUTE
    for one in course.acute:
        for number, order in enumerate(course.profile(one).workup.cultures):
            if order.specimen in done or not making.chance(order.percent, "culture", one, order.specimen, course.ward):
                continue
            done.add(order.specimen)
            culture(making, order, course.illness(one), at + number * 2 * MINUTE, place)


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
    making, _desk = course.making, course.desk
    begin = course.arrival + between(making.stream("treated", course.ward), 80, 140) * MINUTE
    started: list[Prescription] = []
    if course.ed is not None or not course.inpatient:
        for one in course.acute:
            started.extend(treat(course, one, "ed", begin))
    if course.inpatient:
        _admit(course, max(begin, course.admitted) + 15 * MINUTE, started)
    for one in course.acute:
        low, high = course.profile(one).turn_hours
        since = course.working.get(one, course.arrival + 12 * HOUR)
        if one == course.principal and course.dies:
            continue
        turn = since + between(making.stream("turn", one, course.ward), low, high) * HOUR
        course.turns[one] = turn
        making.body.turn(one, turn)
    if course.inpatient and course.turns and not course.dies:
        latest = max(course.turns.values())
        if course.leaves < latest + 10 * HOUR:
            course.leaves = at_clock(latest + DAY, 11, 40)
    if started:
        tell(
            making, begin, course.place(begin), "treatment_started", tuple(dict.fromkeys(order.id for order in started))
        )


def _admit(course: Course, at: Instant, started: list[Prescription]) -> None:
    making, desk = course.making, course.desk
    tell(
        making,
        course.admitted,
        course.ward,
        "admitted",
        (course.principal,),
        illness=name_of(course.illness(course.principal).condition),
    )
    draw(making, ["admission_vitals"], course.admitted + 12 * MINUTE, course.place(course.admitted + 12 * MINUTE))
    for one in course.acute:
        for order in treat(course, one, "inpatient", at):
            if order not in started and order.start >= at:
                started.append(order)
    for order in list(making.active(at)):
        _close_ed(course, order, at)
    held = desk.review(at, "inpatient", course.ward, [making.orders[one] for one in course.home])
    if held:
        tell(making, at, course.place(at), "dose_held", tuple(order.id for order in held))
    for one in course.home:
        order = making.orders[one]
        if one in making.not_taking and order.stop is None and not order.prn:
            desk.act(order, at)
    illness = course.illness(course.principal)
    for line in rules().supportive:
        desk.treat(illness, line, "inpatient", at + 20 * MINUTE, "inpatient", course.ward)
    if course.icu is not None and course.icu_from < course.admitted + HOUR:
        _enter_icu(course)


def _enter_icu(course: Course) -> None:
    """Move to intensive care and start what is given only there."""
    making, desk = course.making, course.desk
    assert course.icu is not None
    tell(making, course.icu_from, course.icu, "icu_transfer", (course.principal,))
    for order in treat(course, course.principal, "icu", course.icu_from + 10 * MINUTE):
        line = _line(course, order)
        if order.start >= course.icu_from and order.stop is None and line is not None and "inpatient" not in line.phase:
            desk.end(order, course.icu_to, rules().reasons["out_of_icu"].pair(), ended="completed")
    if not course.dies:
        tell(making, course.icu_to, course.ward, "icu_out", (course.principal,))


def _line(course: Course, order: Prescription) -> Treatment | None:
    if order.indication not in course.acute:
        return None
    return next((line for line in course.profile(order.indication).treatments if line.id == order.line), None)


def _close_ed(course: Course, order: Prescription, at: Instant) -> None:
    """End what only the emergency department gives."""
    line = _line(course, order)
    if order.kind == "inpatient" and order.stop is None and line is not None and "inpatient" not in line.phase:
        course.desk.end(order, at, rules().reasons["left_ed"].pair(), ended="completed")


def days(course: Course) -> None:
    """Live through the stay: morning labs, the round, vital signs in between."""
    making = course.making
    if course.icu is not None and course.admitted + HOUR <= course.icu_from < at_clock(course.admitted + DAY, 5, 30):
        _enter_icu(course)
    _vitals(course, course.admitted + 3 * HOUR, at_clock(course.admitted, 23, 59))
    morning = at_clock(course.admitted + DAY, 5, 30)
    number = 0
    while morning < course.leaves:
        number += 1
        wanted = _due(course, morning)
        if wanted:
            draw_labs(course, wanted, morning + between(making.stream("morning", course.ward, number), 0, 40) * MINUTE)
        round_at = at_clock(morning, 9, between(making.stream("round", course.ward, number), 0, 40))
        if round_at < course.leaves - HOUR:
            _round(course, round_at, number)
        if course.icu is not None and morning <= course.icu_from < morning + DAY:
            _enter_icu(course)
        _vitals(course, morning + 30 * MINUTE, min(morning + DAY, course.leaves))
        morning += DAY


def _due(course: Course, at: Instant) -> list[str]:
    wanted = []
    repeats: dict[str, int] = dict(rules().ward_repeats)
    for one in course.acute:
        for panel, hours in course.profile(one).workup.repeat_hours.items():
            repeats[panel] = min(hours, repeats.get(panel, hours))
    days_in = (at - course.admitted) // DAY
    for panel, hours in repeats.items():
        labs = panels()[panel].labs if panel in panels() else (panel,)
        last = max((course.drawn.get(lab, 0) for lab in labs), default=0)
        every = max(hours, 20) if days_in < 4 else max(hours, 44)
        if at - last >= every * HOUR - 8 * HOUR:
            wanted.append(panel)
    inside = [order for order in course.making.active(at) if order.start < at - 2 * HOUR or order.kind != "inpatient"]
    covered = {lab for panel in wanted for lab in (panels()[panel].labs if panel in panels() else ())}
    for lab in monitors(inside):
        if lab not in covered and at - course.drawn.get(lab, 0) > 60 * HOUR:
            wanted.append(lab)
    return wanted


def _round(course: Course, at: Instant, number: int) -> None:
    """Look at everything again: drugs that are no longer safe, labs that are off, cultures that are back."""
    making, desk = course.making, course.desk
    phase: Phase = "icu" if course.icu is not None and course.icu_from <= at < course.icu_to else "inpatient"
    changed = desk.review(at, phase, course.ward, making.active(at))
    if changed:
        tell(making, at, course.place(at), "dose_held", tuple(order.id for order in changed))
    _replace_what_lacks(course, at, phase)
    _narrow(course, at, phase)
    if number == 1:
        _complicate(course, at)
    for one, turn in course.turns.items():
        if at - DAY <= turn < at and one == course.principal:
            tell(making, at, course.place(at), "improved", (one,))
        if at - 2 * DAY <= turn < at - DAY:
            _examine_again(course, one, at)


def _examine_again(course: Course, illness: str, at: Instant) -> None:
    """Add signs of an illness that are gone a day after its turn, where they were there at the door."""
    making = course.making
    door = course.place(course.arrival)
    if door == course.place(at):
        return
    for sign in [one for one in making.signs if one.encounter == door and one.present and one.type == "sign"]:
        if [owner for owner, _ in sign.owners] == [illness] and finding_profiles()[sign.finding].clears:
            gone = replace(sign, id=making.new("s"), present=False, owners=(), encounter=course.place(at), onset=at,
                           known_at=at, side=None)  # fmt: skip
            making.signs.append(gone)


def _replace_what_lacks(course: Course, at: Instant, phase: Phase) -> None:
    making = course.making
    for rule in rules().replacements:
        value = making.known(rule.lab, at, 2 * DAY)
        if value is None:
            continue
        low = rule.below is not None and value < rule.below
        high = rule.at_least is not None and value >= rule.at_least
        if low or high:
            illness = course.illness(course.principal)
            line = rule.line.model_copy(update={"id": f"{rule.line.id}"})
            course.desk.treat(illness, line, phase, at + 10 * MINUTE, "inpatient", course.place(at))


def _narrow(course: Course, at: Instant, phase: Phase) -> None:
    """Change an antibiotic once susceptibilities are back."""
    making, desk = course.making, course.desk
    for grown in making.cultures:
        back = grown.stages[-1].at
        if grown.encounter not in course.encounters or not grown.susceptibilities or not at - DAY < back <= at:
            continue
        tell(making, back, course.place(back), "culture_result", (grown.id,))
        reads = dict(grown.susceptibilities)
        lines = [line for line in course.profile(grown.illness).treatments if line.targeted]
        illness = course.illness(grown.illness)
        for line in lines:
            drugs = [drug for drug in line.any_of if reads.get(drug) == "S" and drug in drug_profiles()]
            running = [
                order
                for order in making.active(at)
                if order.indication == illness.id and is_a(order.drug, ("antibiotic",))
            ]
            if not drugs or any(order.drug in drugs for order in running):
                continue
            if not desk.wanted(illness, line, at):
                continue
            around = situation(making, at, phase, [order.id for order in running])
            choice = choose(drugs, around, making.stream("narrowed", grown.id, line.id), dose_for=line.dose_for)
            if choice is None:
                continue
            for order in running:
                desk.end(order, at, rules().reasons["narrowed"].pair())
            new = desk.write(choice, at, "inpatient", course.ward, illness.id, line=line.id)
            tell(
                making,
                at,
                course.place(at),
                "antibiotic_narrowed",
                (grown.id, new.id, *(order.id for order in running)),
            )
            break


def _complicate(course: Course, at: Instant) -> None:
    """Draw what goes wrong in the stay."""
    making = course.making
    have = [one.condition for one in making.suffering(at)]
    inside = [course.illness(one) for one in course.acute]
    for illness in [*inside, *(one for one in making.ill(at) if one not in inside)]:
        for relation in relations_from().get(illness.condition, ()):
            profile = condition_profiles().get(relation.other)
            if profile is None or relation.kind != "complicates" or profile.acuity == "chronic" or profile.id in have:
                continue
            if (relation.severity and illness.severity not in relation.severity) or not fits(making, profile, at, have):
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
            tell(
                making,
                found.known_at,
                course.place(found.known_at),
                "complication",
                (found.id,),
                illness=name_of(profile.id),
            )
            treat(course, found.id, "inpatient", found.known_at + 20 * MINUTE)
            low, high = profile.turn_hours
            turn = (
                course.working.get(found.id, found.known_at)
                + between(making.stream("turn", found.id), low, high) * HOUR
            )
            course.turns[found.id] = turn
            making.body.turn(found.id, turn)
            course.leaves = max(course.leaves, at_clock(turn + DAY, 12, 10))
            return


def _vitals(course: Course, begin: Instant, end: Instant) -> None:
    making = course.making
    at = begin
    while at < end and making.count_of(f"vitals of {course.ward}") < _MOST_VITALS:
        in_icu = course.icu is not None and course.icu_from <= at < course.icu_to
        early = at < course.admitted + DAY
        draw(making, ["vitals"], at, course.place(at))
        making.count(f"vitals of {course.ward}")
        at += (3 if in_icu else 4 if early else 8) * HOUR


def leave(course: Course) -> None:
    """End what the hospital gave, take home drugs up again, and send the patient home with what they need."""
    making, desk = course.making, course.desk
    course.leaves = at = desk.now(course.leaves)
    why = rules().reasons["died" if course.dies else "discharged" if course.inpatient else "left_ed"].pair()
    ending = [order for order in making.active(at) if order.kind == "inpatient" or course.dies]
    going_on = {order.drug: order for order in ending}
    for order in list(making.orders.values()):
        if (
            order.kind == "inpatient"
            and order.encounter in course.encounters
            and (order.stop is None or order.stop > at)
        ):
            desk.end(order, at, why, ended="completed")
        elif course.dies and (order.stop is None or order.stop > at):
            desk.end(order, at, why)
    if course.dies:
        making.died = at
        tell(making, at, course.place(at), "died", (course.principal,))
        return
    _resume(course, at)
    _send_home(course, at, going_on)
    for one in course.acute:
        illness = course.illness(one)
        if illness.acuity == "acute" or course.profile(one).episode_of:
            making.change(illness, resolved=at + between(making.stream("over", one), 3, 20) * DAY)
    tell(making, at, course.place(at), "discharged", (course.principal,))


def _resume(course: Course, at: Instant) -> None:
    making, desk = course.making, course.desk
    for one in list(making.paused):
        order = making.orders[one]
        around = situation(making, at, "home")
        if order.drug in around.drugs or is_running(making, order.drug, at):
            continue
        found = choose([order.drug], around, making.stream("resume", one), prn=order.prn)
        if found is None or found.route != order.route:
            continue
        same = not problems(order.drug, order.dose, order.route, order.frequency, around)
        if same:
            found = replace(
                found, dose=order.dose, frequency=order.frequency, name=order.name, route=order.route, prn=order.prn
            )
        last = next((o.id for o in reversed(making.orders.values()) if o.drug == order.drug), one)
        desk.write(found, at, "discharge", course.ward, order.indication, line=order.line, continues=last)
    making.paused.clear()


def is_running(making: Making, drug: str, at: Instant) -> bool:
    """Tell whether a drug is ordered at an instant."""
    return any(order.drug == drug for order in making.active(at))


def _send_home(course: Course, at: Instant, going_on: dict[str, Prescription]) -> None:
    making, desk = course.making, course.desk
    for one in course.acute:
        illness = course.illness(one)
        for line in course.profile(one).treatments:
            chronic = illness.acuity == "chronic" and "home" in line.phase
            if not ("discharge" in line.phase or chronic) or line.targeted:
                continue
            order = desk.treat(
                illness, line, "discharge" if "discharge" in line.phase else "home", at, "discharge", course.ward
            )
            if order is not None and order.start == at and order.drug in going_on and order.continues is None:
                making.orders[order.id] = replace(order, continues=going_on[order.drug].id)

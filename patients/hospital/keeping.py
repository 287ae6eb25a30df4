"""What keeps a treatment going until it has done its work: courses that go on, one drug handing over to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wardround.patients.knowledge.bedside import drug_profiles
from wardround.patients.knowledge.graph_models import Phase, Treatment
from wardround.patients.times import DAY, Instant

from .generation import rules
from .life import Illness, Prescription
from .making import HOUR, Making, at_clock, between
from .medicating import is_drip, is_once, is_slow
from .prescribing import choose
from .situating import is_a, situation
from .stays import Course
from .telling import tell

_ANTIBIOTIC = ("antibiotic",)


def line_of(course: Course, order: Prescription) -> Treatment | None:
    """Return the line of treatment that an order of this stay serves."""
    if order.indication not in course.acute:
        return None
    return next((line for line in course.profile(order.indication).treatments if line.id == order.line), None)


def only_in_icu(course: Course, order: Prescription) -> bool:
    """Tell whether an order of the stay is given in intensive care and not on the ward."""
    line = line_of(course, order)
    return order.kind == "inpatient" and line is not None and "icu" in line.phase and "inpatient" not in line.phase


def only_there(course: Course, orders: Sequence[Prescription]) -> None:
    """End with intensive care what is given only there."""
    for order in orders:
        if order.stop is None and only_in_icu(course, order):
            course.desk.end(order, course.icu_to, rules().reasons["out_of_icu"].pair(), ended="completed")


def stay_for_drips(course: Course, orders: Sequence[Prescription]) -> None:
    """Keep in intensive care who is on a drip that is given only there, until it ends."""
    if course.dies:
        return
    ends = [order.stop for order in orders if order.stop is not None and is_drip(order)]
    course.icu_to = max([course.icu_to, *(end + 2 * HOUR for end in ends)])
    if course.icu_to > course.leaves - 40 * HOUR:
        course.leaves = at_clock(course.icu_to + 2 * DAY, 13, 20)


def better(course: Course, illness: str | None, at: Instant) -> bool:
    """Tell whether an illness of the stay has turned by an instant, for somebody who lives."""
    turn = course.turns.get(illness or "")
    return not course.dies and turn is not None and turn <= at


def carry_on(course: Course, at: Instant) -> None:
    """Let what would end by the next round go on, where the illness has not turned."""
    making = course.making
    for order in making.active(at):
        if order.kind != "inpatient" or order.stop is None or is_once(order) or order.stop > at + 30 * HOUR:
            continue
        line = line_of(course, order)
        if line is None or not (line.works or is_a(order.drug, _ANTIBIOTIC)):
            continue
        if is_drip(order) and only_in_icu(course, order):
            continue  # it ends where intensive care does
        if not better(course, order.indication, order.stop - DAY):
            making.orders[order.id] = replace(order, stop=None, ended=None, stop_reason=None)


def finish_courses(course: Course) -> None:
    """Keep the patient until an infection's course is over, where nothing takes it over at home."""
    if course.dies:
        return
    for order in course.making.active(course.admitted + 2 * HOUR):
        line = line_of(course, order)
        if line is None or order.stop is None or not line.works or not is_a(order.drug, _ANTIBIOTIC):
            continue
        lines = course.profile(order.indication or "").treatments
        if not any("discharge" in one.phase and is_a(drug, _ANTIBIOTIC) for one in lines for drug in one.any_of):
            course.leaves = max(course.leaves, order.stop - order.stop % DAY + 13 * HOUR + order.stop % HOUR)


def hand_over(course: Course, at: Instant, phase: Phase) -> None:
    """Change from the anticoagulant of the first days to the one that goes on: never neither, never both."""
    making, desk = course.making, course.desk
    for order in making.active(at):
        line = line_of(course, order)
        if order.kind != "inpatient" or line is None or line.days is None or not is_a(order.drug, rules().handed_over):
            continue
        days = between(making.stream("hand over", order.id), *line.days)
        if at < order.start + days * DAY - 8 * HOUR or not better(course, order.indication, at):
            continue
        if _taken_over(course, order, line, at, phase):
            desk.end(order, at, rules().reasons["replaced"].pair())
        elif not _others(course, line, order):
            desk.end(order, at, rules().reasons["course_done"].pair(), ended="completed")


def _others(course: Course, line: Treatment, order: Prescription) -> list[Treatment]:
    """Return the other lines of the illness that go on with an anticoagulant."""
    kinds = ("anticoagulant",)
    return [
        one
        for one in course.profile(order.indication or "").treatments
        if one.id != line.id and not one.targeted and one.dose_for != "prophylaxis"
        and {"inpatient", "discharge"} & set(one.phase) and any(is_a(drug, kinds) for drug in one.any_of)
    ]  # fmt: skip


def _taken_over(course: Course, order: Prescription, line: Treatment, at: Instant, phase: Phase) -> bool:
    """Order what takes over from an anticoagulant: the home one that was held, else the illness's next line."""
    making, desk = course.making, course.desk
    around = situation(making, at, phase, [order.id])
    held = [making.orders[one] for one in making.paused]
    stream = making.stream("handed over", order.id, at)
    for home in held:
        if is_a(home.drug, ("anticoagulant",)) and home.route == "oral" and not is_slow(making, home.drug, at):
            choice = choose([home.drug], around, stream)
            if choice is not None:
                dose = replace(choice, name=home.name)
                new = desk.write(dose, at, "inpatient", course.ward, home.indication, line=home.line, continues=home.id)
                tell(making, at, course.place(at), "treatment_changed", (new.id,))
                return True
    illness = course.illness(order.indication or "")
    for one in _others(course, line, order):
        drugs = [drug for drug in one.any_of if drug in drug_profiles() and not is_slow(making, drug, at)]
        if not drugs or not desk.wanted(illness, one, at):
            continue
        choice = choose(drugs, around, stream, dose_for=one.dose_for)
        if choice is not None and choice.route == "oral":
            new = desk.write(choice, at, "inpatient", course.ward, illness.id, line=one.id)
            tell(making, at, course.place(at), "treatment_changed", (new.id,))
            return True
    return False


def reads_of(making: Making, illness: str, at: Instant) -> dict[str, str]:
    """Return the susceptibilities known of an illness's organisms; of several readings the worst."""
    order = {"S": 0, "I": 1, "R": 2}
    found: dict[str, str] = {}
    for grown in making.cultures:
        if grown.illness == illness and grown.stages[-1].at <= at:
            for drug, read in grown.susceptibilities:
                found[drug] = max(found.get(drug, "S"), read, key=lambda one: order[one])
    return found


def fitting(making: Making, illness: Illness, line: Treatment, at: Instant) -> Treatment | None:
    """Return a line of antibiotics without what the organism resists; None: it resists them all."""
    reads = reads_of(making, illness.id, at)
    if not reads or not any(is_a(drug, _ANTIBIOTIC) for drug in line.any_of):
        return line
    kept = [drug for drug in line.any_of if reads.get(drug) == "S"]
    kept += [drug for drug in line.any_of if drug not in reads and not _family_resists(drug, reads)]
    return line.model_copy(update={"any_of": tuple(kept)}) if kept else None


def _family_resists(drug: str, reads: dict[str, str]) -> bool:
    """Tell whether a drug that was not tested is of a class of which one was read as not susceptible."""
    return any(
        read != "S" and is_a(other, (family,)) and is_a(drug, (family,))
        for family in rules().one_lot
        for other, read in reads.items()
    )


def last_course(course: Course, at: Instant, lines: Sequence[Treatment], illness: Illness) -> bool:
    """Tell whether an infection can be treated at home: something that the organism does not resist is there."""
    ours = [line for line in lines if "discharge" in line.phase]
    oral = [line for line in ours if any(is_a(drug, _ANTIBIOTIC) for drug in line.any_of)]
    return not oral or any(fitting(course.making, illness, line, at) is not None for line in oral)


def wean(course: Course, at: Instant) -> None:
    """End what holds up the circulation once it is no longer called for."""
    making = course.making
    for order in making.active(at):
        for rule in rules().called_for:
            if order.kind != "inpatient" or not is_a(order.drug, rule.drugs) or at - order.start < 6 * HOUR:
                continue
            value = making.known(rule.vital, at, 9 * HOUR)
            if value is not None and value >= rule.enough:
                course.desk.end(order, at, rules().reasons["pressure_holds"].pair(), ended="completed")


def to_tablets(course: Course, at: Instant) -> None:
    """Give by mouth what was given into the vein, once it has worked, a day before leaving."""
    making, desk = course.making, course.desk
    for order in making.active(at):
        if order.kind != "inpatient" or order.route != "IV" or order.prn or is_once(order) or is_drip(order):
            continue
        if not is_a(order.drug, rules().by_mouth_first) or not better(course, order.indication, at):
            continue
        enough = _since(making, order) + rules().vein_hours * HOUR
        if at < enough:  # one is not dry in a day
            course.leaves = max(course.leaves, at_clock(enough + DAY, 12, 20))
            continue
        around = situation(making, at, "inpatient", [order.id])
        choice = choose([order.drug], around, making.stream("tablets", order.id), dose_for="oral")
        if choice is None or choice.route != "oral":
            continue
        desk.end(order, at, rules().reasons["to_tablets"].pair())
        new = desk.write(choice, at, "inpatient", course.ward, order.indication, line=order.line, continues=order.id)
        tell(making, at, course.place(at), "treatment_changed", (new.id,))
        course.leaves = max(course.leaves, at_clock(at + DAY, 12, 20))


def _since(making: Making, order: Prescription) -> Instant:
    """Return since when a drug goes into the vein, changes of its dose counted in."""
    while order.continues is not None and making.orders[order.continues].route == order.route:
        order = making.orders[order.continues]
    return order.start


def still_off(course: Course, illness: str, at: Instant) -> bool:
    """Tell whether a value that an illness moves is read as too far off to say that it is getting better."""
    making = course.making
    for rule in rules().ready:
        value = making.known(rule.lab, at, 26 * HOUR)
        if value is not None and not rule.fits(value) and illness in making.body.causes(rule.lab, at):
            return True
    return False


def unready(course: Course) -> bool:
    """Tell whether something that the illness moves forbids to leave: fever, a critical result."""
    making, at = course.making, course.leaves
    mine = {*course.acute, *making.orders}
    for rule in rules().ready:
        values = [making.body.value(rule.lab, at), making.known(rule.lab, at, 26 * HOUR)]
        if rule.hours:  # for so long before, too
            since = at - rule.hours * HOUR
            values += [one.value for one in making.readings.get(rule.lab, ()) if since <= one.known_at <= at]
            values.append(making.body.value(rule.lab, since + 6 * HOUR))
        off = any(one is not None and not rule.fits(one) for one in values)
        if off and (rule.hours or rule.always or mine & set(making.body.causes(rule.lab, at))):
            return True
    return False

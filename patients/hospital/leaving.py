"""The end of a stay: what stops, what is taken up again, what goes home."""

from __future__ import annotations

from dataclasses import replace

from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.knowledge.graph_models import Phase, Treatment
from wardround.patients.times import DAY, Instant

from .adhering import give_instead
from .diagnosing import consequences, fall_ill, fits
from .generation import rules
from .keeping import fitting
from .leading_in import lead_in
from .life import Illness, Prescription
from .making import HOUR, Making, at_clock, between
from .medicating import Desk, Kind, as_before
from .prescribing import choose, problems
from .situating import is_a, situation
from .stays import Course
from .telling import tell
from .thinning import too_thin

_ANTIBIOTIC, _ANTICOAGULANT = ("antibiotic",), ("anticoagulant",)


def leave(course: Course) -> None:
    """End what the hospital gave, take home drugs up again, and send the patient home with what they need."""
    making, desk = course.making, course.desk
    course.leaves = at = desk.now(course.leaves)
    fit = at_clock(at, 9, 50)
    if course.inpatient and not course.dies and max(course.turns.values(), default=at) < fit < at - HOUR:
        tell(making, fit, course.place(fit), "ready", (course.principal,))
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
        _talk_of_goals(course, at)
        tell(making, at, course.place(at), "died", (course.principal,))
        return
    give_instead(making, desk, at, "discharge", course.ward)
    _send_home(course, at, going_on)
    _resume(course, at)
    _still_thin(course, at, going_on)
    _take_back(making, at)
    _what_stays(course, at)
    for one in course.acute:
        illness = course.illness(one)
        if illness.acuity == "acute" or course.profile(one).episode_of:
            making.change(illness, resolved=at + between(making.stream("over", one), 3, 20) * DAY)
    tell(making, at, course.place(at), "discharged", (course.principal,))


def _take_back(making: Making, at: Instant) -> None:
    """Take back what was ordered for home and gave way to something else of its kind at the same instant."""
    for order in list(making.orders.values()):
        if order.kind == "discharge" and order.start == at and order.stop == at:
            del making.orders[order.id]
            for other in list(making.orders.values()):
                if other.continues == order.id:
                    making.orders[other.id] = replace(other, continues=order.continues)


def _talk_of_goals(course: Course, died: Instant) -> None:
    """Speak with the family of the dying about the goals of care once the course turned; not where death is sudden."""
    making = course.making
    worse = [one.at for one in making.events if one.kind == "worsened" and one.encounter in course.encounters]
    begun = max(worse, default=died - 9 * HOUR)
    at = begun + between(making.stream("goals", course.ward), 60, 240) * HOUR // 60
    at = min(at, died - HOUR)
    if at > course.arrival + 2 * HOUR:
        tell(making, at, course.place(at), "goals_of_care", (course.principal,))


def _what_stays(course: Course, at: Instant) -> None:
    """Put on the problem list what an acute illness leaves behind: coronary disease after an infarction."""
    making = course.making
    for one in course.acute:
        illness = course.illness(one)
        if illness.acuity == "chronic":
            continue
        for relation, other in consequences(illness.condition, ("causes",), chronic=True):
            have = [had.condition for had in making.suffering(at)]
            coming = [had.condition for had in making.illnesses.values() if had.onset > at]
            if other.id in have or not fits(making, other, at, [*have, *coming]):
                continue
            if making.stream("left behind", course.ward, other.id).below(1000) >= relation.per_1000:
                continue
            later = next(
                (had for had in making.illnesses.values() if had.condition == other.id and had.onset > at), None
            )
            if later is not None:  # it would have come anyway
                making.change(later, onset=illness.onset, known_at=at, cause=illness.id)
            else:
                fall_ill(making, other.id, onset=illness.onset, known_at=at, problem_list=True, cause=illness.id)


def _resume(course: Course, at: Instant) -> None:
    making, desk = course.making, course.desk
    for one in list(making.paused):
        order = making.orders[one]
        given_up = is_a(order.drug, rules().given_up) and order.drug not in rules().never_short
        if take_up(making, desk, order, at, "discharge", course.ward) or given_up:
            continue
        making.waiting.append(one)
        making.orders[one] = replace(order, paused=True)
    making.paused.clear()


def take_up(making: Making, desk: Desk, order: Prescription, at: Instant, kind: Kind, encounter: str | None) -> bool:
    """Order a home drug again as it was, or in a dose that is right now.

    Returns:
        Whether that is settled: it runs again, or something else of its kind has taken its place.
    """
    around = situation(making, at, "home")
    if order.drug in around.drugs or too_thin(making, order.drug, at):
        return True
    if any(one.kind == "duplicate" for one in problems(order.drug, order.dose, order.route, order.frequency, around)):
        return True
    found = choose([order.drug], around, making.stream("resume", order.id, at), prn=order.prn)
    if found is None or found.route != order.route:
        return False
    last = next((one.id for one in reversed(making.orders.values()) if one.drug == order.drug), order.id)
    again = replace(as_before(found, order, around), name=order.name)
    desk.write(again, at, kind, encounter, order.indication, line=order.line, continues=last)
    return True


def _send_home(course: Course, at: Instant, going_on: dict[str, Prescription]) -> None:
    making, desk = course.making, course.desk
    held = [making.orders[one] for one in making.paused]
    given = [*held, *going_on.values()]
    for one in course.acute:
        illness = course.illness(one)
        for line in course.profile(one).treatments:
            chronic = illness.acuity == "chronic" and "home" in line.phase
            if not ("discharge" in line.phase or chronic):
                continue
            fit = _targeted(line, illness, going_on) if line.targeted else fitting(making, illness, line, at)
            if fit is None or _served(making, illness, fit, at):
                continue
            phase: Phase = "discharge" if "discharge" in line.phase else "home"
            if lead_in(making, desk, illness, fit, at, course.ward, given):
                continue
            order = desk.treat(illness, fit, phase, at, "discharge", course.ward, given=given)
            if order is not None and order.start == at and order.drug in going_on and order.continues is None:
                making.orders[order.id] = replace(order, continues=going_on[order.drug].id)


def _still_thin(course: Course, at: Instant, going_on: dict[str, Prescription]) -> None:
    """Let the injections of an anticoagulant go on at home where a clot was treated and nothing by mouth is safe."""
    making, desk = course.making, course.desk
    if any(is_a(one.drug, _ANTICOAGULANT) for one in making.active(at)):
        return
    for order in going_on.values():
        if order.indication not in course.acute or not is_a(order.drug, ("heparins",)) or order.route == "IV":
            continue
        lines = course.profile(order.indication).treatments
        line = next((one for one in lines if one.id == order.line and one.dose_for == "treatment"), None)
        goes_on = any(
            "discharge" in one.phase and any(is_a(drug, _ANTICOAGULANT) for drug in one.any_of) for one in lines
        )
        if line is None or not goes_on:
            continue
        around = situation(making, at, "inpatient")
        choice = choose([order.drug], around, making.stream("injected", order.id), dose_for=line.dose_for)
        if choice is not None and choice.route == order.route:
            new = replace(choice, name=order.name)
            desk.write(new, at, "discharge", course.ward, order.indication, line=line.id, continues=order.id)
            return


def _served(making: Making, illness: Illness, line: Treatment, at: Instant) -> bool:
    """Tell whether something that goes home serves a line: what a culture chose, an anticoagulant that is taken up."""
    if line.targeted:
        return False
    lines = {one.id for one in condition_profiles()[illness.condition].treatments if one.targeted}
    antibiotic = all(is_a(drug, _ANTIBIOTIC) for drug in line.any_of)
    if antibiotic and any(one.line in lines and one.indication == illness.id and one.kind == "discharge"
                          and one.start == at for one in making.orders.values()):  # fmt: skip
        return True
    held = any(is_a(making.orders[one].drug, _ANTICOAGULANT) for one in making.paused)
    return held and line.dose_for == "prophylaxis" and any(is_a(drug, _ANTICOAGULANT) for drug in line.any_of)


def _targeted(line: Treatment, illness: Illness, going_on: dict[str, Prescription]) -> Treatment | None:
    """Return a line that a culture chose as it was given in hospital; None: it was not."""
    drugs = [one.drug for one in going_on.values() if one.line == line.id and one.indication == illness.id]
    return line.model_copy(update={"any_of": tuple(drugs)}) if drugs else None

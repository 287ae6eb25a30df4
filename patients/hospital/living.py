"""One life from (seed, index): the person, their years, their encounters, and every fact of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import blake2b
from typing import TypeVar

from wardround.patients.times import DAY, Instant

from .aching import agree
from .adhering import adhere, take_again
from .anaemia import recognise
from .answering import call_back
from .background import background
from .clinic import treat_at_home, visit
from .clotting import look_again_at_filter
from .course import arrive, settle
from .doses import chart_doses
from .episodes import Coming, Slot, calendar, what_comes
from .functioning import keeps_still, manage, speaker
from .history import chronic_conditions
from .late_cultures import call_about_cultures
from .leading_in import step_down
from .leaving import leave
from .life import Illness, Life
from .making import HOUR, Making, between
from .medicating import Desk
from .person import make_person
from .physiology import Body
from .planning import plan_leaving, plan_stay
from .rounds import days
from .stays import close_course, open_course
from .tapering import taper_off

_Fact = TypeVar("_Fact")


def patient_id(seed: int, index: int) -> str:
    """Return the id of a patient: "h", six hex digits of the seed, the index."""
    digest = blake2b(str(seed).encode(), digest_size=3).hexdigest()
    return f"h{digest}-{index:05d}"


def make_life(seed: int, index: int) -> Life:
    """Return one patient's life; the same for the same seed and index, wherever and whenever it is made.

    Args:
        seed: Of the hospital; any integer.
        index: Of the patient, from 0.
    """
    making = Making(seed, index)
    band, end = make_person(making)
    making.body = Body(making.person, ("hospital", seed, index, "body"))
    slots = calendar(making, band, end)
    chronic_conditions(making, band, end, [slot.day for slot in slots])
    background(making, slots[0].day, end)
    desk = Desk(making)
    recent: list[str] = []
    caught = _catch_up(making, desk, set(), slots[0].day)
    for planned in slots:
        slot = _in_time(making, planned)
        caught = _catch_up(making, desk, caught, slot.day)
        came = _come(making, desk, slot, recent)
        if came is not None:
            recent = [came, *recent][:2]
        if making.died is not None:
            break
    else:
        call_about_cultures(making, desk, desk.now(0) + 14 * DAY)
    return _written(making, speaker(making, end))


def _in_time(making: Making, slot: Slot) -> Slot:
    """Return the slot, put off by a week after a stay that took longer than was planned for."""
    last = max((stay.end for stay in making.stays.values()), default=None)
    if last is None or slot.day > last + 2 * DAY:
        return slot
    return replace(slot, day=last - last % DAY + 7 * DAY + slot.day % DAY)


def _catch_up(making: Making, desk: Desk, caught: set[str], until: Instant) -> set[str]:
    """Start home treatment of what was diagnosed meanwhile, in order of time."""
    fresh = [one for one in making.ill(until) if one.id not in caught and one.acuity == "chronic"]
    begins = {one.id: _begins(making, one, until) for one in fresh}
    for illness in sorted(fresh, key=lambda one: (begins[one.id], int(one.id[1:]))):
        caught.add(illness.id)
        step_down(making, desk, begins[illness.id])
        if illness.encounter is None:
            treat_at_home(desk, illness, begins[illness.id], None)
    step_down(making, desk, until)
    taper_off(making, desk, until)
    call_about_cultures(making, desk, until)
    return caught


def _begins(making: Making, illness: Illness, until: Instant) -> Instant:
    """Return when the present treatment of a chronic illness began: for old ones some time in the last years."""
    stream = making.stream("treated since", illness.id)
    back = until - between(stream, 150, 1900) * DAY
    back += between(stream, 9, 16) * HOUR - back % DAY
    return max(illness.known_at + HOUR, back)


def _come(making: Making, desk: Desk, slot: Slot, recent: list[str]) -> str | None:
    """Live through one encounter.

    Returns:
        The condition that brought the patient; None: nothing did, and there was no encounter.
    """
    if keeps_still(making, slot.day):
        making.habits.add("immobility")
    if slot.kind == "clinic":
        coming = _clinic_reason(making, slot)
        if coming is None:
            return _come(making, desk, replace(slot, kind="ed"), recent)
        visit(making, desk, coming, slot.day, follow_up=slot.follow_up, last=slot.last)
        return None
    coming = what_comes(making, slot.day, slot.kind, recent)
    if coming is None:
        coming = what_comes(making, slot.day, "ward" if slot.kind == "ed" else "ed", recent)
    if coming is None:
        return None
    course = open_course(making, desk, coming, slot.day, inpatient=slot.kind == "ward")
    adhere(making, course.ward, course.arrival, course.principal, last=slot.last)
    arrive(course)
    settle(course)
    if course.inpatient:
        plan_stay(course)
        days(course)
        recognise(course)
    leave(course)
    if making.died is None:
        take_again(making, desk, course.leaves)
        plan_leaving(course)
        look_again_at_filter(course)
        call_back(making, course.ward, course.leaves)
    chart_doses(course)
    fell = "fall" in making.showing
    manage(making, course.ward, course.arrival, fell=fell)
    close_course(course)
    making.showing = making.suspected = frozenset()
    making.paused.clear()
    return coming.condition


def _clinic_reason(making: Making, slot: Slot) -> Coming | None:
    """Return why the patient is seen in clinic: what they were in for, a chronic condition, or something mild."""
    stream = making.stream("clinic reason", slot.day)
    if slot.follow_up and making.stays:
        last = list(making.stays.values())[-1]
        illness = making.illnesses[last.principal]
        return Coming(illness.condition, illness)
    chronic: list[Illness] = [one for one in making.ill(slot.day) if one.acuity == "chronic"]
    if chronic and not stream.chance(1, 8):
        treated = [one for one in chronic if any(order.indication == one.id for order in making.active(slot.day))]
        one = stream.choice(treated or chronic)
        return Coming(one.condition, one)
    return what_comes(making, slot.day, "clinic", [])


def _cut(making: Making, died: Instant) -> None:
    """Take out what would have come after death; what was there unknown is known with it."""
    for illness in list(making.illnesses.values()):
        if illness.onset >= died:
            del making.illnesses[illness.id]
        elif illness.known_at > died:
            making.change(illness, known_at=died)
    making.vaccines = [one for one in making.vaccines if one.at < died]


def _written(making: Making, caregiver: str) -> Life:
    if making.died is not None:
        _cut(making, making.died)
    agree(making)
    person = making.person if making.died is None else replace(making.person, died=making.died)
    return Life(
        patient_id=patient_id(making.seed, making.index),
        seed=making.seed,
        index=making.index,
        person=person,
        illnesses=_ordered(making.illnesses.values(), "onset"),
        stays=_ordered(making.stays.values(), "start"),
        signs=_ordered(making.signs, "known_at"),
        results=_ordered(making.results, "at"),
        cultures=_ordered(making.cultures, "at"),
        prescriptions=_ordered(making.orders.values(), "start"),
        doses=_ordered(making.doses, "at"),
        adherence=_ordered(making.adherence, None),
        allergies=_ordered(making.allergies, "known_at"),
        treated=_ordered(making.treated, "at"),
        studies=_ordered(making.studies, "at"),
        vaccines=_ordered(making.vaccines, "at"),
        relatives=_ordered(making.relatives, None),
        functions=_ordered(making.functions, None),
        events=_ordered(making.events, "at"),
        plans=_ordered(making.plans, "at"),
        caregiver=caregiver,  # type: ignore[arg-type] # one of the literals, by the rules' schema
    )


def _ordered(facts: Iterable[_Fact], time: str | None) -> tuple[_Fact, ...]:
    """Return facts by time, then by the number of their id."""

    def key(fact: _Fact) -> tuple[int, int]:
        identity: str = getattr(fact, "id")  # noqa: B009 # facts are of many types
        return (getattr(fact, time) if time else 0, int("".join(char for char in identity if char.isdigit())))

    return tuple(sorted(facts, key=key))


__all__ = ["make_life", "patient_id"]

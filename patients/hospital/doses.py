"""What became of scheduled doses: given, held or refused."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cache

from wardround.patients.dosing import timing
from wardround.patients.knowledge.bedside import drug_profiles
from wardround.patients.rng import Stream
from wardround.patients.times import DAY, Instant

from .generation import rules
from .life import GivenDose, Pair, Prescription
from .making import HOUR, MINUTE, Making, at_clock, between
from .medicating import is_once
from .situating import is_a
from .stays import Course

_MOST = 360
"""Doses of a stay that are charted."""
_MOST_AS_NEEDED = 24
"""Doses of one order as needed that are charted."""
_GIVEN_PERCENT = 85
"""How often a value that calls for a drug as needed is followed by a dose."""
_EASES = (85, 60, 45, 30, 20, 10)
"""Percent of the moments at which a complaint that eases asks for a drug, one after the other."""
_LEAST_APART_H = 4
_SOON_H = 4
"""Hours after a first dose given at once in which no other follows, at least."""
_CLOCK = {1: (9,), 2: (9, 21), 3: (8, 14, 21), 4: (8, 12, 17, 22)}
_MEALS = (8, 12, 18)
_LATE_H = 3
"""Hours more than its interval that may pass between two doses."""


def chart_doses(course: Course) -> None:
    """Chart the doses of a stay, most important drugs first, at most so many."""
    making = course.making
    running = [
        order
        for order in making.orders.values()
        if order.start < course.leaves
        and (course.inpatient or order.kind == "inpatient")
        and (order.stop is None or order.stop > (course.arrival if order.kind == "inpatient" else course.admitted))
        and (order.encounter in course.encounters or order.kind != "inpatient")
        and not (order.kind == "discharge" and order.start >= course.leaves)
    ]
    ranked = sorted(
        running,
        key=lambda one: (one.prn, not drug_profiles()[one.drug].high_risk, one.kind != "inpatient", int(one.id[2:])),
    )
    room = _MOST
    given: dict[str, Instant] = {}
    for order in ranked:
        begin = max(order.start, course.admitted if order.kind != "inpatient" else order.start)
        end = min(order.stop or course.leaves, course.leaves)
        times = _asked_for(making, order, begin, end) if order.prn else dose_times(order, begin, end)
        if not order.prn:
            times = _in_rhythm(course, order, times, begin, end, given.get(order.drug))
        times = _after_load(making, order, times)
        if len(times) > room:  # all doses of an order or none: half of them would read as missed
            continue
        room -= len(times)
        if times and not order.prn:
            given[order.drug] = max(times[-1], given.get(order.drug, times[-1]))
        for at in times:
            making.doses.append(_dose(course, order, at))


def _after_load(making: Making, order: Prescription, times: list[Instant]) -> list[Instant]:
    """Return the times of doses without those within a day of a loading dose that stands for the first day."""
    if order.drug not in rules().day_after_load or is_once(order):
        return times
    loads = [one.start for one in making.orders.values() if one.drug == order.drug and is_once(one)]
    return [at for at in times if not any(0 <= at - load < 18 * HOUR for load in loads)]


def _in_rhythm(
    course: Course, order: Prescription, times: list[Instant], begin: Instant, end: Instant, last: Instant | None
) -> list[Instant]:
    """Return the times of doses, the first when it is ordered where it is urgent, each about an interval after another.

    Args:
        course: The stay.
        order: A scheduled order.
        times: Its doses by the clock of the ward.
        begin: When it begins.
        end: When it ends.
        last: When the drug was given last in the stay by an order before; None: it was not.
    """
    clock, every = rhythm(order.frequency)
    emergency = order.encounter == course.emergency
    if clock is None:
        if every is None or last is None or begin - last >= every * HOUR // 2:
            return times
        return dose_times(order, max(begin, last + every * HOUR - 10 * MINUTE), end)
    interval = 24 // len(clock)
    soon = max(_SOON_H, interval // 2)
    now = rules().first_dose_now
    at_once = order.kind == "inpatient" and order.line in now
    timed = clock == _MEALS or clock in ((18,), (21,))
    urgent = at_once or (not timed and (emergency or (order.kind == "inpatient" and is_a(order.drug, now))))
    kept: list[Instant] = []
    if urgent and begin + 10 * MINUTE < end and (last is None or begin - last >= interval * HOUR):
        last = begin + 10 * MINUTE
        kept = [last]
    if last is None:
        return times
    following = [at for at in times if at >= last + soon * HOUR]
    late = (following[0] if following else end) - last > (interval + _LATE_H) * HOUR
    if timed or not late or last + DAY < begin:
        return [*kept, *following]
    at = last + interval * HOUR
    while at < end:  # by the clock of the first dose, as the ward's comes too soon or too late
        kept += [at] if at >= begin else []
        at += interval * HOUR
    return kept


def _asked_for(making: Making, order: Prescription, begin: Instant, end: Instant) -> list[Instant]:
    """Return when a drug is given as needed: whenever what is measured calls for it, or while a complaint eases."""
    rule = next((one for one in rules().as_needed if is_a(order.drug, one.drugs)), None)
    shown = rule is None or any(one in making.showing for one in rule.findings)
    labs = rule.labs if rule is not None else {}
    if not shown and (not labs or (rule is not None and rule.both)):
        return []
    stream = making.stream("prn", order.id)
    moments = _read(making, labs, begin, end) if labs else _while_it_eases(order, begin, end, stream)
    free = begin
    times: list[Instant] = []
    for moment in moments:
        at = max(moment, begin) + between(stream, 8, 35) * MINUTE
        if free <= at < end and len(times) < _MOST_AS_NEEDED and (labs == {} or stream.below(100) < _GIVEN_PERCENT):
            times.append(at)
            free = at + _apart(order) * HOUR
    return times


def _read(making: Making, labs: Mapping[str, Decimal], begin: Instant, end: Instant) -> list[Instant]:
    """Return when values became known that call for a drug, the last before its order included."""
    found = [begin for lab, least in labs.items() if (making.known(lab, begin, 5 * HOUR) or 0) >= least][:1]
    for lab, least in labs.items():
        found += [one.known_at for one in making.readings.get(lab, ()) if begin < one.known_at < end
                  and one.value >= least]  # fmt: skip
    return sorted(found)


def _while_it_eases(order: Prescription, begin: Instant, end: Instant, stream: Stream) -> list[Instant]:
    """Return when a complaint that nothing measures asks for a drug: ever less often."""
    apart = max(_apart(order), 6) * HOUR
    moments = [begin + number * apart for number in range(len(_EASES))]
    lots = [stream.below(100) for _ in _EASES]
    return [at for at, lot, percent in zip(moments, lots, _EASES, strict=True) if lot < percent and at < end]


def _apart(order: Prescription) -> int:
    """Return the hours that lie between two doses as needed, at least."""
    clock, every = rhythm(order.frequency)
    return max(_LEAST_APART_H, every or (24 // len(clock) if clock else _LEAST_APART_H))


def dose_times(order: Prescription, begin: Instant, end: Instant) -> list[Instant]:
    """Return when a scheduled order's doses fall between two instants."""
    clock, every = rhythm(order.frequency)
    if clock is None and every is None:  # once, continuous, or words that tell no times
        return [begin + 5 * MINUTE] if begin + 5 * MINUTE < end else []
    times: list[Instant] = []
    if every is not None:
        at = begin + 10 * MINUTE
        while at < end:
            times.append(at)
            at += every * HOUR
        return times
    assert clock is not None
    day = begin
    while day < end + DAY:
        times.extend(at for hour in clock if begin <= (at := at_clock(day, hour)) < end)
        day += DAY
    return times


@cache
def rhythm(frequency: str) -> tuple[tuple[int, ...] | None, int | None]:
    """Return the clock hours of a frequency, or every how many hours it comes; neither where it tells no times."""
    repeat = timing(frequency).get("repeat", {})
    if not repeat or "count" in repeat:
        return None, None
    unit, period = repeat.get("periodUnit"), int(repeat.get("period", 1))
    if unit == "h":
        return None, period
    if unit == "d" and period == 1:
        when = (repeat.get("when") or [""])[0]
        if when in ("HS", "EVE"):
            return ((21,) if when == "HS" else (18,)), None
        if when == "C" and int(repeat["frequency"]) == len(_MEALS):
            return _MEALS, None
        return _CLOCK.get(int(repeat["frequency"]), (9,)), None
    return None, {"d": 24, "wk": 168, "mo": 720}.get(str(unit), 24) * period // int(repeat.get("frequency", 1))


def _dose(course: Course, order: Prescription, at: Instant) -> GivenDose:
    making = course.making
    status, reason = "given", None
    held = _why_held(making, order, at)
    if held is not None:
        status, reason = "held", held
    elif order.route == "oral" and making.stream("refused", order.id, at).below(100) < 2:
        words = rules().refusals
        status, reason = "refused", words[making.stream("refusal", order.id, at).below(len(words))].pair()
    return GivenDose(making.new("g"), order.id, at, status, course.place(at), reason)  # type: ignore[arg-type]


def _why_held(making: Making, order: Prescription, at: Instant) -> Pair | None:
    """Return why a dose is held: the last vital sign before it is beyond a bound."""
    if is_a(order.drug, rules().held_before.drugs):
        rule_before = rules().held_before
        for done in making.treated:
            if done.procedure in rule_before.procedures and -12 * HOUR <= done.at - at <= rule_before.hours * HOUR:
                return rule_before.reason.pair()
    for rule in rules().holds:
        if not is_a(order.drug, rule.drugs) or rule.route not in (None, order.route):
            continue
        if rule.holds(making.known(rule.vital, at, rule.hours * HOUR)):
            return rule.reason.pair()
    return None

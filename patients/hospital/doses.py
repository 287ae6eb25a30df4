"""What became of scheduled doses: given, held or refused."""

from __future__ import annotations

from functools import cache

from wardround.patients.dosing import timing
from wardround.patients.knowledge.bedside import drug_profiles
from wardround.patients.times import DAY, Instant

from .generation import rules
from .life import GivenDose, Pair, Prescription
from .making import HOUR, MINUTE, Making, at_clock
from .situating import is_a
from .stays import Course

_MOST = 360
"""Doses of a stay that are charted."""
_CLOCK = {1: (9,), 2: (9, 21), 3: (8, 14, 21), 4: (8, 12, 17, 22)}


def chart_doses(course: Course) -> None:
    """Chart the doses of a stay, most important drugs first, at most so many."""
    making = course.making
    running = [
        order
        for order in making.orders.values()
        if order.start < course.leaves
        and (order.stop is None or order.stop > course.admitted)
        and (order.encounter in course.encounters or order.kind != "inpatient")
        and not (order.kind == "discharge" and order.start >= course.leaves)
    ]
    ranked = sorted(
        running,
        key=lambda one: (one.prn, not drug_profiles()[one.drug].high_risk, one.kind != "inpatient", int(one.id[2:])),
    )
    room = _MOST
    for order in ranked:
        begin = max(order.start, course.admitted if order.kind != "inpatient" else order.start)
        end = min(order.stop or course.leaves, course.leaves)
        times = dose_times(order, begin, end, making.stream("prn", order.id).below(3))
        if order.prn:
            times = [at for at in times if _called_for(making, order, at)]
        if len(times) > room:  # all doses of an order or none: half of them would read as missed
            continue
        room -= len(times)
        for at in times:
            making.doses.append(_dose(course, order, at))


def _called_for(making: Making, order: Prescription, at: Instant) -> bool:
    """Tell whether something calls for a drug that is given as needed: a complaint, or what was measured."""
    for rule in rules().as_needed:
        if is_a(order.drug, rule.drugs):
            measured = [(making.known(lab, at, 9 * HOUR), least) for lab, least in rule.labs.items()]
            shown = any(one in making.showing for one in rule.findings)
            read = any(value is not None and value >= least for value, least in measured)
            return shown and read if rule.both else shown or read
    return True


def dose_times(order: Prescription, begin: Instant, end: Instant, as_needed: int) -> list[Instant]:
    """Return when an order's doses fall between two instants."""
    if order.prn:
        gap = max(1, (end - begin) // HOUR // (as_needed + 1))
        return [
            begin + gap * HOUR * (number + 1) for number in range(as_needed) if begin + gap * HOUR * (number + 1) < end
        ]
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
        if not is_a(order.drug, rule.drugs):
            continue
        value = making.known(rule.vital, at, 9 * HOUR)
        if value is not None and value < rule.below:
            return rule.reason.pair()
    return None

"""A visit to the clinic: what is asked, measured and changed."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, InvalidOperation

from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.times import DAY, Instant

from .adhering import adhere, give_instead, stop_disliked, take_again
from .answering import call_back
from .course import note_findings
from .diagnosing import afresh, fall_ill
from .episodes import Coming
from .functioning import manage
from .generation import rules
from .leaving import take_up
from .life import Illness, Prescription, Stay
from .making import HOUR, MINUTE, Making, at_clock, between
from .medicating import Desk, monitors
from .planning import plan_clinic
from .precautions import test_for_pregnancy
from .prescribing import choose
from .restarting import look_at_held
from .signs import Showing, measured
from .situating import situation
from .stays import service_of
from .telling import tell
from .titrating import off, titrate
from .workup import culture, draw, plain_name


def visit(making: Making, desk: Desk, coming: Coming, day: Instant, *, follow_up: bool, last: bool) -> None:
    """Live through one clinic visit."""
    stream = making.stream("clinic", day)
    start = at_clock(day, between(stream, 8, 15), 5 * between(stream, 0, 11))
    end = start + between(stream, 20, 50) * MINUTE
    identity = making.new("e")
    illness = coming.has
    profile = condition_profiles()[coming.condition]
    if illness is None:
        begun = start - between(stream, *profile.onset_hours) * HOUR
        onset = min(afresh(making, coming.condition, begun), start - HOUR)
        illness = fall_ill(making, coming.condition, onset=onset, known_at=end - 5 * MINUTE, encounter=identity)
        if illness.acuity == "acute":
            illness = making.change(illness, resolved=end + between(stream, 4, 20) * DAY)
            making.body.turn(illness.id, end + between(stream, 1, 4) * DAY)
    home = [order for order in making.active(start) if order.kind != "inpatient"]
    making.suspected = frozenset({illness.condition})
    adhere(making, identity, start, illness.id, last=last)
    manage(making, identity, start, fell=False)
    _show(making, illness, identity, start, [order.drug for order in home], follow_up=follow_up)
    before = len(making.results)
    draw(making, ["vitals", "weight", "height"], start + 3 * MINUTE, identity)
    if illness.id not in {order.indication for order in home} and not follow_up:  # a treatment may begin today
        test_for_pregnancy(making, [illness.condition], start - 4 * MINUTE, identity)
    _grow(making, illness, start + 14 * MINUTE, identity)
    held = [making.orders[one] for one in making.waiting]
    again = ["blood_pressure"] if off(making, start + 10 * MINUTE) else []  # sitting quietly
    wanted = list(dict.fromkeys([*profile.workup.panels[:3], *monitors([*home, *held]), *again]))
    draw(making, wanted, start + 12 * MINUTE, identity)
    making.signs.extend(measured(making, [illness], making.results[before:], identity))
    if not follow_up or making.waiting:
        _adjust(making, desk, illness, end - 2 * MINUTE, identity)
    stop_disliked(making, desk, end - MINUTE)
    give_instead(making, desk, end - MINUTE, "home", identity)
    titrate(making, desk, end - MINUTE, identity)
    take_again(making, desk, end)
    making.showing = making.suspected = frozenset()
    plan_clinic(making, identity, end, illness, home)
    look_at_held(making, desk, making.results[before:], end, identity)
    call_back(making, identity, end)
    known = [one.id for one in making.ill(end) if one.id != illness.id]
    name = plain_name(illness.condition)
    reason = rules().follow_up_reason.format(illness=name) if coming.has else name
    making.stays[identity] = Stay(
        identity, "clinic", start, end, illness.id, (illness.id, *known),
        _complaint(making, illness, identity), reason, service_of(making, profile.home_of, "clinic", start),
    )  # fmt: skip
    tell(making, start, identity, "visit", (illness.id,))


def _grow(making: Making, illness: Illness, at: Instant, identity: str) -> None:
    """Send urine for culture before an infection of it is treated; other specimens are for the hospital."""
    if illness.acuity == "chronic" or (illness.resolved is not None and illness.resolved < at):
        return
    for order in condition_profiles()[illness.condition].workup.cultures:
        if order.specimen == "urine" and making.chance(order.percent, "culture", illness.id, order.specimen, identity):
            culture(making, order, illness, at, identity)


def _show(
    making: Making, illness: Illness, identity: str, start: Instant, home_drugs: list[str], *, follow_up: bool
) -> None:
    showing = Showing(making, identity, start, start + 10 * MINUTE, home_drugs)
    over = illness.resolved is not None and illness.resolved <= start
    fresh = not over and not follow_up and illness.resolved is not None and illness.onset > start - 30 * DAY
    complaint = condition_profiles()[illness.condition].complaint
    if not over:
        showing.add(illness, "principal" if fresh else "background", complaint[0] if fresh and complaint else None)
    for one in making.ill(start)[:6]:
        if one.id != illness.id:
            showing.add(one, "background")
    note_findings(making, showing, start)


def _complaint(making: Making, illness: Illness, identity: str) -> str:
    """Return what the patient comes with: a symptom of what they are seen for, else just to be seen again."""
    for sign in making.signs:
        owned = illness.id in [owner for owner, _ in sign.owners]
        if owned and sign.encounter == identity and sign.present and sign.type == "symptom":
            return sign.finding
    return rules().no_complaint


def treat_at_home(desk: Desk, illness: Illness, at: Instant, encounter: str | None) -> None:
    """Order for home what an illness calls for there, but what a culture chooses."""
    for line in condition_profiles()[illness.condition].treatments:
        if "home" in line.phase and not line.targeted:
            desk.treat(illness, line, "home", at, "home", encounter)


def _instead(making: Making, desk: Desk, order: Prescription, at: Instant, identity: str) -> None:
    """Find something else for what a stopped drug was for."""
    illness = making.illnesses.get(order.indication or "")
    if illness is None:
        return
    for line in condition_profiles()[illness.condition].treatments:
        if line.id == order.line and "home" in line.phase:
            desk.treat(illness, line, "home", at, "home", identity)


def _adjust(making: Making, desk: Desk, illness: Illness, at: Instant, identity: str) -> None:
    """Look at the home drugs again; now and then change a dose or add what is missing."""
    homes = [order for order in making.active(at) if order.kind != "inpatient"]
    for order in desk.review(at, "home", None, homes):
        _instead(making, desk, order, at, identity)
    stopped = list(making.paused)  # today, for a value that may pass
    making.paused.clear()
    making.waiting = [
        one
        for one in (*making.waiting, *stopped)
        if not take_up(making, desk, making.orders[one], at, "home", identity)
    ]
    for one in making.waiting:
        making.orders[one] = replace(making.orders[one], paused=True)
    treat_at_home(desk, illness, at, identity)
    stream = making.stream("adjusted", identity)
    running = [order for order in making.active(at) if order.indication == illness.id and order.start < at - 20 * DAY]
    if not running or not stream.chance(1, 3):
        return
    order = stream.choice(running)
    found = choose([order.drug], situation(making, at, "home", [order.id]), stream, prn=order.prn)
    if found is None or found.route != order.route or found.dose == order.dose or found.prn != order.prn:
        return
    if not _one_step(order.dose, found.dose):
        return
    desk.end(order, at, rules().reasons["dose_changed"].pair())
    desk.write(replace(found, name=order.name), at, "home", identity, illness.id, line=order.line, continues=order.id)


def _one_step(old: str, new: str) -> bool:
    """Tell whether a dose is changed by no more than doubling or halving it, as one does at a visit."""
    before, _, unit = old.partition(" ")
    after, _, same = new.partition(" ")
    if unit != same:
        return False
    try:
        return Decimal(before) / 2 <= Decimal(after) <= Decimal(before) * 2
    except InvalidOperation:  # a range, or words
        return False

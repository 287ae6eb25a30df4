"""A hospital stay, or a visit to the emergency department: from the door to the door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from wardround.patients.knowledge.bedside import condition_profiles, lab_profiles
from wardround.patients.knowledge.graph_models import ConditionProfile, ProcedureOrder, Severity
from wardround.patients.times import DAY, Instant

from .diagnosing import afresh, consequences, fall_ill, fits, move_body, relations_from
from .episodes import Coming
from .generation import rules
from .life import Illness, Stay
from .making import HOUR, MINUTE, Making, at_clock, between, weighted, within
from .medicating import Desk
from .physiology import Shift
from .physiology_stay import stay_shifts
from .telling import tell
from .workup import plain_name


@dataclass
class Course:
    """A stay under way."""

    making: Making
    desk: Desk
    ward: str
    """Id of the encounter that all belongs to: the hospital stay, or the emergency visit alone."""
    ed: str | None
    principal: str
    complaint: str
    arrival: Instant
    admitted: Instant
    leaves: Instant
    inpatient: bool
    icu: str | None = None
    icu_from: Instant = 0
    icu_to: Instant = 0
    dies: bool = False
    worse: Instant = 0
    """When one who dies visibly gets worse."""
    acute: list[str] = field(default_factory=list)
    """Illness ids that the stay treats, the principal first."""
    working: dict[str, Instant] = field(default_factory=dict)
    """Illness → start of the first treatment that works."""
    turns: dict[str, Instant] = field(default_factory=dict)
    drawn: dict[str, Instant] = field(default_factory=dict)
    """Lab → last draw in this stay."""
    in_icu: bool = False
    """Whether the patient has been taken to intensive care."""
    next_vitals: Instant = 0
    """When vital signs are taken next."""
    covered: set[str] = field(default_factory=set)
    """Operations before which an antibiotic was thought of."""
    awaited: list[tuple[Instant, tuple[str, ...]]] = field(default_factory=list)
    """Labs that are drawn when their time comes, so that they show what was ordered until then."""
    put_off: list[tuple[str, ProcedureOrder, Instant]] = field(default_factory=list)
    """Operations that wait for an anticoagulant to wear off: illness, operation, when it would be done."""
    narrowed: set[str] = field(default_factory=set)
    """Cultures by whose susceptibilities the antibiotic was looked at."""
    reported: set[str] = field(default_factory=set)
    """Cultures whose susceptibilities were acted on."""
    decided: set[str] = field(default_factory=set)
    """What is decided once a stay and was: lines, procedures, home orders taken up again."""
    first_result: int = 0
    """Where in the life's results this stay begins."""
    home: tuple[str, ...] = ()
    """Home orders that ran on arrival."""

    def place(self, at: Instant) -> str:
        """Return the encounter that something belongs to: ED before admission, ICU while there, else the ward."""
        if self.ed is not None and at < self.admitted:
            return self.ed
        if self.icu is not None and self.icu_from <= at < self.icu_to:
            return self.icu
        return self.ward

    @property
    def encounters(self) -> list[str]:
        """Ids of the stay and its parts."""
        return [one for one in (self.ed, self.ward, self.icu) if one is not None]

    @property
    def emergency(self) -> str | None:
        """The encounter in the emergency department: before admission, or the whole visit."""
        return self.ed if self.inpatient else self.ward

    def illness(self, identity: str) -> Illness:
        """Return an illness of the life."""
        return self.making.illnesses[identity]

    def profile(self, identity: str) -> ConditionProfile:
        """Return what the hospital knows of an illness's condition."""
        return condition_profiles()[self.making.illnesses[identity].condition]


def open_course(making: Making, desk: Desk, coming: Coming, day: Instant, *, inpatient: bool) -> Course:
    """Begin a stay: the illness, when it began, the doors passed and how long it lasts, if all goes well."""
    stream = making.stream("door", day)
    profile = condition_profiles()[coming.condition]
    arrival = at_clock(day, between(stream, 6, 23), between(stream, 0, 59))
    through_ed = inpatient and stream.below(100) < rules().ed_first_percent
    ed, ward = None, making.new("e")
    if through_ed:
        ed, ward = ward, making.new("e")
    begun = arrival - between(stream, *profile.onset_hours) * HOUR + between(stream, 0, 59) * MINUTE
    begun = max(min(afresh(making, coming.condition, begun), arrival - 20 * MINUTE), making.born + DAY)
    illness = _begin(making, coming, begun, arrival, ward, inpatient=inpatient)
    if not inpatient:
        admitted = arrival + between(stream, 3 * 60, 9 * 60) * MINUTE
        leaves = admitted
    else:
        admitted = arrival + (between(stream, 200, 480) if through_ed else between(stream, 15, 40)) * MINUTE
        low, high = profile.stay_days.get(illness.severity, (2, 5))
        leaves = at_clock(
            admitted + max(1, between(stream, low, high)) * DAY, between(stream, 10, 16), between(stream, 0, 59)
        )
    course = Course(
        making, desk, ward, ed, illness.id, _complaint(making, profile, illness, day), arrival,
        admitted if inpatient else arrival, leaves, inpatient, acute=[illness.id], first_result=len(making.results),
        home=tuple(order.id for order in making.active(arrival) if order.kind != "inpatient"),
    )  # fmt: skip
    if inpatient:
        for shift in stay_shifts(illness, making.age(arrival), arrival, making.stream("bed", ward), ward):
            making.body.add(shift)
    _fate(course)
    _companions(course)
    return course


def _begin(
    making: Making, coming: Coming, begun: Instant, arrival: Instant, encounter: str, *, inpatient: bool
) -> Illness:
    profile = condition_profiles()[coming.condition]
    if coming.has is not None:
        making.flares[coming.has.id, encounter] = begun
        move_body(making, coming.has, profile.effects, begun, episode=True, flare=encounter)
        return coming.has
    parent = next((one for one in making.ill(arrival) if one.condition in profile.episode_of), None)
    causes = [
        (relation.per_1000, -int(one.id[1:]), one)
        for one in making.ill(arrival)
        for relation in relations_from().get(one.condition, ())
        if relation.other == profile.id and relation.kind == "causes"
    ]
    cause = parent or (max(causes)[2] if causes else None)
    return fall_ill(
        making, coming.condition, onset=begun, known_at=arrival + 4 * HOUR, encounter=encounter,
        severity=None if inpatient else _light(making, profile, encounter),
        cause=cause.id if cause is not None else None,
    )  # fmt: skip


def _light(making: Making, profile: ConditionProfile, encounter: str) -> Severity:
    """Draw the severity of what is sent home from the emergency department: none that may need intensive care."""
    light = [(one, weight) for one, weight in profile.severity.items() if profile.icu_percent.get(one, 0) <= 2]
    return weighted(making.stream("light", encounter), light or list(profile.severity.items())[:1])


def _complaint(making: Making, profile: ConditionProfile, illness: Illness, day: Instant) -> str:
    stream = making.stream("complaint", illness.id, day)
    place = min(stream.below(len(profile.complaint)), stream.below(len(profile.complaint)))
    return profile.complaint[place]


def _fate(course: Course) -> None:
    """Draw intensive care and death."""
    if not course.inpatient:
        return
    making, illness, profile = course.making, course.illness(course.principal), course.profile(course.principal)
    stream = making.stream("fate", course.ward)
    course.dies = len(making.stays) > 0 and stream.below(1000) < profile.death_per_1000.get(illness.severity, 0)
    needs_icu = stream.below(100) < profile.icu_percent.get(illness.severity, 0)
    days = max(1, (course.leaves - course.admitted) // DAY)
    if course.dies:
        days = min(days, between(stream, 1, 5))
        course.leaves = min(course.leaves, course.admitted + days * DAY + between(stream, 0, 20) * HOUR)
        _decline(course)
        gravely = illness.severity == "severe" or days < 2
        if gravely or stream.below(100) < rules().dying_icu_percent:
            begin = course.admitted + 20 * MINUTE if gravely else course.worse
            course.icu, course.icu_from, course.icu_to = making.new("e"), begin, course.leaves + DAY
        return
    if not needs_icu or days < 2:
        return
    surely = profile.icu_percent.get(illness.severity, 0) >= 95
    course.icu = making.new("e")
    course.icu_from = course.admitted + (
        20 * MINUTE if stream.chance(4, 5) or surely else between(stream, 6, 26) * HOUR
    )
    most = max(1, min(4, days - 1))
    course.icu_to = course.icu_from + between(stream, 1, most) * DAY + between(stream, 0, 5) * HOUR
    stay_after_icu(course)


def to_icu(course: Course) -> None:
    """Send to intensive care who needs it though nobody foresaw it: the circulation is held up by drugs."""
    if course.icu is not None:
        return
    stream = course.making.stream("to icu", course.ward)
    course.icu = course.making.new("e")
    course.icu_from = course.admitted + 20 * MINUTE
    course.icu_to = course.icu_from + between(stream, 1, 3) * DAY + between(stream, 0, 5) * HOUR
    if course.dies:
        course.icu_to = course.leaves + DAY
    else:
        stay_after_icu(course)


def stay_after_icu(course: Course) -> None:
    """Let nobody go home straight from intensive care: two days on the ward follow."""
    if course.icu_to > course.leaves - 40 * HOUR:
        course.leaves = at_clock(course.icu_to + 2 * DAY, 13, 20)


def _decline(course: Course) -> None:
    """Let the last days of a fatal illness show in labs and vital signs."""
    making = course.making
    stream = making.stream("decline", course.ward)
    begin = max(course.admitted + 6 * HOUR, course.leaves - between(stream, *rules().dying_days) * DAY)
    course.worse = begin + 6 * HOUR
    for effect in rules().dying:
        if effect.lab in lab_profiles() and stream.below(100) < effect.percent:
            size = within(stream, *effect.mild)
            making.body.add(
                Shift(effect.lab, course.principal, effect.mode, size, begin, begin + effect.rise_hours * HOUR)
            )


def _companions(course: Course) -> None:
    """Draw acute conditions that come with the principal one from the start."""
    making = course.making
    principal = course.illness(course.principal)
    for relation, profile in consequences(principal.condition, ("causes", "associated"), chronic=False):
        if len(course.acute) > 2:
            return
        have = [one.condition for one in making.suffering(course.arrival)]
        if profile.id in have or profile.id in making.barred or not fits(making, profile, course.arrival, have):
            continue
        if profile.episode_of and not any(one in have for one in profile.episode_of):
            continue
        if relation.severity and principal.severity not in relation.severity:
            continue
        if making.stream("companion", course.ward, profile.id).below(1000) >= relation.per_1000:
            continue
        onset = making.flares.get((principal.id, course.ward), principal.onset)
        onset += (course.arrival - onset) // 3 // MINUTE * MINUTE
        found = fall_ill(
            making,
            profile.id,
            onset=onset,
            known_at=course.arrival + 5 * HOUR,
            encounter=course.ward,
            cause=principal.id,
        )
        course.acute.append(found.id)


def close_course(course: Course) -> None:
    """Write down the stay and its parts, with the diagnoses as they stand at the end."""
    end, only = course.leaves, (course.principal,)
    disposition = _disposition(course)
    services, words = rules().services, rules().dispositions
    if not course.inpatient:
        _write(course, course.ward, "ed", course.arrival, end, _coded(course), services["ed"], disposition)
        return
    if course.ed is not None:
        _write(course, course.ed, "ed", course.arrival, course.admitted, only, services["ed"], words["admitted"])
    service = service_of(course.making, course.profile(course.principal).home_of, "ward", course.arrival)
    _write(course, course.ward, "ward", course.admitted, end, _coded(course), service, disposition)
    if course.icu is not None:
        out = min(course.icu_to, end)
        if not course.dies and course.in_icu:
            tell(course.making, out, course.ward, "icu_out", only)
        went = words["died"] if course.dies and out == end else None
        _write(course, course.icu, "icu", course.icu_from, out, only, services["icu"], went)


def _write(
    course: Course, identity: str, kind: Literal["ed", "ward", "icu"], start: Instant, end: Instant,
    diagnoses: tuple[str, ...], service: str, disposition: str | None,
) -> None:  # fmt: skip
    """Add the stay, or a part of it, to the life."""
    course.making.stays[identity] = Stay(
        id=identity, kind=kind, start=start, end=end, principal=course.principal, diagnoses=diagnoses,
        complaint=course.complaint, reason=plain_name(course.complaint), service=service, disposition=disposition,
        part_of=course.ward if identity != course.ward else None,
    )  # fmt: skip


def _coded(course: Course) -> tuple[str, ...]:
    """Return ids of what is coded at the end: the principal illness, what else was treated, what the patient has."""
    making = course.making
    told = {parent for one in course.acute for parent in rules().codes_tell.get(making.illnesses[one].condition, ())}
    known = [
        one.id for one in making.ill(course.leaves) if one.id not in course.acute and one.condition not in told
    ]  # fmt: skip
    return tuple(dict.fromkeys([course.principal, *course.acute, *known]))


def service_of(making: Making, homes: Sequence[str], setting: Literal["clinic", "ward"], at: Instant) -> str:
    """Return the service that looks after the patient: of children their own, else the first that claims the illness.

    Args:
        making: The life.
        homes: Services that claim the illness, as its profile has them.
        setting: Where, for what none claims.
        at: When.
    """
    services = rules().services
    if making.age(at) < 18:
        return services["children"]
    return homes[0] if homes else services[setting]


def _disposition(course: Course) -> str:
    making = course.making
    words = rules().dispositions
    if course.dies:
        return words["died"]
    if making.person.living == "facility":
        return words["facility"]
    if not course.inpatient:
        return words["home"]
    function = making.functions[-1]
    stream = making.stream("disposition", course.ward)
    afterwards = _after_illness(course)
    if afterwards is not None:
        return afterwards
    days = (course.leaves - course.admitted) // DAY
    frail = function.walking not in ("independent", "cane")
    dependent = function.self_care == "dependent"
    lot = stream.below(100)
    if making.age(course.leaves) >= 60 and lot < (45 if dependent else 22 if frail else 0) + (10 if course.icu else 0):
        return words["facility"] if dependent or stream.chance(1, 2) else words["rehabilitation"]
    if dependent or (frail and lot < 70) or (function.self_care == "some_help" and days >= 3 and lot < 60):
        return words["home_services"]
    return words["home"]


def _after_illness(course: Course) -> str | None:
    """Return where an illness that takes away walking or speech sends an adult; None: home, as they managed before."""
    making = course.making
    illness = course.illness(course.principal)
    shares = rules().after_illness.get(illness.condition, {}).get(illness.severity)
    if shares is None or making.age(course.leaves) < 18:
        return None
    lot = making.stream("after illness", course.ward).below(100)
    old = making.age(course.leaves) >= 60
    if lot < shares[0] + (0 if old else shares[1]):
        return rules().dispositions["rehabilitation"]
    if lot < sum(shares):
        return rules().dispositions["facility"]
    return rules().dispositions["home_services"] if illness.severity != "mild" else None

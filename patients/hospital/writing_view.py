"""What the author of a note can see: the facts of a life that are known at the moment of writing, and no other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from typing import Protocol, TypeVar

from wardround.patients.knowledge.bedside import finding_profiles
from wardround.patients.times import Instant, parse_instant

from .life import (
    Adherence,
    CourseEvent,
    Culture,
    Function,
    Illness,
    Life,
    Plan,
    Prescription,
    Result,
    Sign,
    Stay,
    Study,
)
from .making import age_at
from .onset import HOUR
from .phrasing import table, words_of
from .physiology_text import flag as flag_of
from .physiology_text import quantity
from .record import StudyReport

_STEM = 6
"""Letters by which forms of a word are told to be one (diaphoresis, diaphoretic)."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip


class _Placed(Protocol):
    @property
    def encounter(self) -> str: ...


_F = TypeVar("_F", bound=_Placed)


def moment(at: Instant) -> datetime:
    """Return an instant as a date and time."""
    return _EPOCH + timedelta(microseconds=at)


def dated(at: Instant, how: str) -> str:
    """Return a date as `Style.dates` says: iso, us, words, or long (14 Mar 2024)."""
    day = moment(at)
    if how == "iso":
        return f"{day.year:04d}-{day.month:02d}-{day.day:02d}"
    if how == "us":
        return f"{day.month:02d}/{day.day:02d}/{day.year:04d}"
    month = _MONTHS[day.month - 1]
    return f"{month} {day.day}, {day.year}" if how == "words" else f"{day.day} {month[:3]} {day.year}"


def clock(at: Instant) -> str:
    """Return the time of day, "07:05"."""
    time = moment(at)
    return f"{time.hour:02d}:{time.minute:02d}"


class Outline:
    """A life by encounter: a hospital stay with the ED and ICU stays that are part of it is one group."""

    def __init__(self, life: Life) -> None:
        self.life = life
        self.roots: tuple[Stay, ...] = tuple(sorted((s for s in life.stays if s.part_of is None), key=_stay_order))
        self._group = {stay.id: stay.part_of or stay.id for stay in life.stays}
        self.illnesses: Mapping[str, Illness] = {one.id: one for one in life.illnesses}
        self.prescriptions: Mapping[str, Prescription] = {one.id: one for one in life.prescriptions}
        self.signs: Mapping[str, Sign] = {one.id: one for one in life.signs}
        self.studies: Mapping[str, Study] = {one.id: one for one in life.studies}
        self.cultures: Mapping[str, Culture] = {one.id: one for one in life.cultures}
        self.treated = {one.id: one for one in life.treated}
        self.signs_of: Mapping[str, list[Sign]] = self._by_group(life.signs)
        self.events_of: Mapping[str, list[CourseEvent]] = self._by_group(life.events)
        self.plans_of: Mapping[str, list[Plan]] = self._by_group(life.plans)
        self.studies_of: Mapping[str, list[Study]] = self._by_group(life.studies)
        self.cultures_of: Mapping[str, list[Culture]] = self._by_group(life.cultures)
        self.adherence_of: Mapping[str, list[Adherence]] = self._by_group(life.adherence)
        self.functions_of: Mapping[str, list[Function]] = self._by_group(life.functions)
        self.results_of: dict[str, list[Result]] = {}
        for result in sorted(life.results, key=lambda one: (one.at, one.known_at, one.id)):
            if result.encounter is not None:
                self.results_of.setdefault(self.group(result.encounter), []).append(result)
        self.first_dose: dict[str, Instant] = {}
        """When a drug was first given, by order."""
        for dose in life.doses:
            if dose.status == "given":
                self.first_dose[dose.prescription] = min(dose.at, self.first_dose.get(dose.prescription, dose.at))
        self.lots: dict[str, int] = {}
        """Which wording a finding has, by sign."""
        self.reports: dict[str, StudyReport] = {}
        """Reports written so far, by study: notes quote them."""
        self.birth = moment(parse_instant(life.person.birth_date))

    def group(self, encounter: str) -> str:
        """Return the id of the stay that holds an encounter."""
        return self._group.get(encounter, encounter)

    def _by_group(self, facts: Iterable[_F]) -> dict[str, list[_F]]:
        found: dict[str, list[_F]] = {}
        for fact in facts:
            found.setdefault(self.group(fact.encounter), []).append(fact)
        return found

    def parts(self, root: Stay, kind: str) -> tuple[Stay, ...]:
        """Return the stays of a kind that are part of a stay, in order."""
        found = [stay for stay in self.life.stays if stay.part_of == root.id and stay.kind == kind]
        return tuple(sorted(found, key=_stay_order))

    def age(self, at: Instant) -> int:
        """Return completed years at an instant."""
        return age_at(self.life.person.birth_date, at)

    def months(self, at: Instant) -> int:
        """Return completed months at an instant."""
        then = moment(at)
        return (then.year - self.birth.year) * 12 + then.month - self.birth.month - (then.day < self.birth.day)


def _stay_order(stay: Stay) -> tuple[int, str]:
    return stay.start, stay.id


class Known:
    """What is known of a stay at the moment a note is written.

    Args:
        outline: The life.
        root: The stay that the note is about (not its ED or ICU part).
        at: The moment of writing.
    """

    def __init__(self, outline: Outline, root: Stay, at: Instant) -> None:
        self.outline = outline
        self.life = outline.life
        self.root = root
        self.at = at
        parts = [stay.start for stay in outline.life.stays if stay.part_of == root.id]
        self.begin = min([root.start, *parts])
        """When the patient came: through the emergency department, as the case may be."""
        self._latest: dict[Instant, dict[str, Result]] = {}
        self._active: dict[tuple[Instant, tuple[str, ...]], list[Prescription]] = {}

    # -- illnesses -----------------------------------------------------------------------------------------------------

    @cached_property
    def illnesses(self) -> tuple[Illness, ...]:
        """Every illness that is known, resolved ones too."""
        return tuple(one for one in self.life.illnesses if one.known_at <= self.at)

    @cached_property
    def past(self) -> tuple[Illness, ...]:
        """Illnesses known before the stay began."""
        return tuple(one for one in self.illnesses if one.known_at < self.begin and not self._here(one))

    @cached_property
    def principal(self) -> Illness | None:
        """What the stay is for, once it is known."""
        one = self.outline.illnesses.get(self.root.principal)
        return one if one is not None and one.known_at <= self.at else None

    @cached_property
    def problems(self) -> tuple[Illness, ...]:
        """The illnesses of this stay that are known, the principal first, then those that began here, then others."""
        ids = list(self.root.diagnoses)
        ids += [one.id for one in self.illnesses if one.id not in ids and self._here(one)]
        found = [self.outline.illnesses[one] for one in dict.fromkeys(ids) if one in self.outline.illnesses]
        known = [one for one in found if one.known_at <= self.at and not self._gone(one)]
        first = self.root.principal
        return tuple(sorted(known, key=lambda one: (one.id != first, not self._here(one), -weight(one.condition))))

    def _here(self, one: Illness) -> bool:
        return one.encounter is not None and self.outline.group(one.encounter) == self.root.id

    def _gone(self, one: Illness) -> bool:
        return one.resolved is not None and one.resolved < self.begin

    def over(self, one: Illness) -> bool:
        """Return whether an illness is known to be over."""
        return one.resolved is not None and one.resolved <= self.at

    def new(self, one: Illness) -> bool:
        """Return whether an illness was found in this stay."""
        return self._here(one)

    # -- findings ------------------------------------------------------------------------------------------------------

    @cached_property
    def signs(self) -> tuple[Sign, ...]:
        """Findings of this stay that are known and may be written down."""
        found = self.outline.signs_of.get(self.root.id, ())
        return tuple(one for one in found if one.told and one.known_at <= self.at)

    def findings(self, *types: str, present: bool) -> list[Sign]:
        """Return the findings of some types, the first of each kind, key ones first."""
        found: dict[str, Sign] = {}
        for one in self.signs:
            if one.type in types and one.present == present:
                found.setdefault(one.finding, one)
        kept = list(found.values())
        if not present:
            there = [one.finding for one in self.signs if one.present]
            kept = [one for one in kept if one.finding not in there and not belied(one.finding, there)]
            kept = [one for one in kept if self._deniable(one.finding, there)]
        return sorted(kept, key=lambda one: (one.rank, one.onset, one.id))

    def _deniable(self, finding: str, there: Sequence[str]) -> bool:
        """Whether a note would deny a symptom: none is there that brings it along, nobody so ill is free of it."""
        if any(one in there for one in table("denied_not_with").get(finding, "").split()):
            return False
        ill = self.principal is not None and self.principal.severity == "severe" and self.root.kind != "clinic"
        return not (ill and finding in table("not_denied_when_severe"))

    # -- measurements --------------------------------------------------------------------------------------------------

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """Results of this stay that are known, in order of the draw."""
        return tuple(one for one in self.outline.results_of.get(self.root.id, ()) if one.known_at <= self.at)

    def latest(self, since: Instant | None = None) -> Mapping[str, Result]:
        """Return the last known result of each lab of those drawn since a moment, or in this stay."""
        begin = self.begin - 6 * HOUR if since is None else since
        if begin not in self._latest:
            self._latest[begin] = {one.lab: one for one in self.results if begin <= one.at <= self.at}
        return self._latest[begin]

    def first(self) -> dict[str, Result]:
        """Return the first known result of each lab."""
        found: dict[str, Result] = {}
        for one in self.results:
            found.setdefault(one.lab, one)
        return found

    def series(self, lab: str) -> list[Result]:
        """Return all known results of a lab in this stay."""
        return [one for one in self.results if one.lab == lab]

    # -- treatment -----------------------------------------------------------------------------------------------------

    def active(self, *kinds: str, at: Instant | None = None) -> list[Prescription]:
        """Return the orders of some kinds (all, if none is named) that are active at a moment."""
        then = self.at if at is None else at
        if (then, kinds) not in self._active:
            self._active[then, kinds] = [
                one
                for one in self.life.prescriptions
                if one.start <= then
                and one.known_at <= self.at
                and (one.stop is None or one.stop > then)
                and (not kinds or one.kind in kinds)
            ]
        return list(self._active[then, kinds])

    def home(self) -> list[Prescription]:
        """Return what the patient had been prescribed when the stay began."""
        return self.active("home", "discharge", at=self.begin - 1)

    def held_before(self, one: Prescription) -> Prescription | None:
        """Return the home order that a new one takes up again after the stay had held it; None where none did."""
        for old in self.home():
            held = old.stop is not None and old.ended == "stopped" and self.begin <= old.stop < one.start
            if old.drug != one.drug or not held:
                continue
            inside = [each for each in self.life.prescriptions if each.drug == old.drug and each.kind == "inpatient"]
            if not any(each.start < one.start and (each.stop is None or each.stop > self.begin) for each in inside):
                return old
        return None

    def started(self, begin: Instant, end: Instant) -> list[Prescription]:
        """Return hospital orders that began within a span, known now."""
        return [
            one
            for one in self.life.prescriptions
            if one.kind == "inpatient" and begin <= one.start <= end and one.known_at <= self.at
        ]

    def given(self, one: Prescription) -> bool:
        """Whether a hospital order came to anything by now: one as needed only once a dose was given."""
        return not one.prn or self.received(one)

    def received(self, one: Prescription) -> bool:
        """Whether a dose of an order was given by now: not held, not declined."""
        return self.outline.first_dose.get(one.id, self.at + 1) <= self.at

    def stopped(self, begin: Instant, end: Instant) -> list[Prescription]:
        """Return orders that were stopped before their time within a span."""
        return [
            one
            for one in self.life.prescriptions
            if one.stop is not None and begin <= one.stop <= min(end, self.at) and one.ended == "stopped"
        ]

    # -- what happened -------------------------------------------------------------------------------------------------

    @cached_property
    def events(self) -> tuple[CourseEvent, ...]:
        """What happened in the stay so far."""
        return tuple(one for one in self.outline.events_of.get(self.root.id, ()) if one.at <= self.at)

    def happened(self, *kinds: str) -> list[CourseEvent]:
        """Return events of some kinds in this stay."""
        return [one for one in self.events if one.kind in kinds and one.at >= self.begin - HOUR]

    @cached_property
    def studies(self) -> tuple[Study, ...]:
        """Studies of this stay that are reported."""
        return tuple(one for one in self.outline.studies_of.get(self.root.id, ()) if one.known_at <= self.at)

    @cached_property
    def cultures(self) -> tuple[Culture, ...]:
        """Cultures of this stay that were taken."""
        return tuple(one for one in self.outline.cultures_of.get(self.root.id, ()) if one.at <= self.at)

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """Plans of this stay that are made."""
        return tuple(one for one in self.outline.plans_of.get(self.root.id, ()) if one.at <= self.at)

    @cached_property
    def adherence(self) -> tuple[Adherence, ...]:
        """What the notes know of how home medicines are taken."""
        found = self.outline.adherence_of.get(self.root.id, ())
        return tuple(one for one in found if one.charted)

    @cached_property
    def unused(self) -> Mapping[str, Adherence]:
        """What the notes know not to be taken at home, by order: stopped, or never started."""
        return {one.prescription: one for one in self.adherence if one.state in table("resumed")}

    @cached_property
    def function(self) -> Function | None:
        """How the patient managed as of this stay."""
        found = self.outline.functions_of.get(self.root.id, ())
        return found[0] if found else None


@cache
def weight(condition: str) -> int:
    """Return how much a condition weighs beside others, 1 to 10."""
    return int(table("condition_weight").get(condition, "5"))


def belied(absent: str, there: Sequence[str]) -> bool:
    """Return whether something that is there speaks against a denial: sweating denied by who is found sweating."""
    denied = _stems(absent, "absent")
    return any(stems <= other for one in there for other in _stems(one, "present") for stems in denied)


@cache
def _stems(finding: str, which: str) -> tuple[frozenset[str], ...]:
    """Return the stems of the words of each wording of a finding, `absent` or `present`."""
    profile = finding_profiles().get(finding)
    if profile is None:
        return ()
    found = []
    for text in profile.absent if which == "absent" else profile.present:
        found.append(frozenset(word[:_STEM] for word in words_of(text) if len(word) > 2))
    return tuple(stems for stems in found if stems)


@lru_cache(maxsize=1 << 12)
def number(text: str) -> Decimal | None:
    """Return the number of a reported value; "<0.01" and ">300" are read at their bound, words are None."""
    return quantity(text)


def flag(result: Result) -> str:
    """Return "H", "L" or "" by the range that the result carries; a pressure has none."""
    return _flag(result.text, result.low, result.high) or ""


_flag = lru_cache(maxsize=1 << 12)(flag_of)

"""A life in the making: the facts found so far, their ids, and the streams of random numbers that found them."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache
from itertools import accumulate
from typing import TypeVar

from wardround.patients import elements
from wardround.patients.knowledge import lexicon
from wardround.patients.rng import Stream
from wardround.patients.times import DAY, SECOND, Instant, format_instant

from .life import (
    Adherence,
    Allergy,
    CourseEvent,
    Culture,
    Function,
    GivenDose,
    Illness,
    Person,
    Plan,
    Prescription,
    Relative,
    Result,
    Sign,
    Stay,
    Study,
    Treated,
    Vaccine,
)
from .physiology import Body

T = TypeVar("T")
MINUTE = 60 * SECOND
HOUR = 3600 * SECOND
YEAR = 365 * DAY + 6 * HOUR


def between(stream: Stream, low: int, high: int) -> int:
    """Return an integer from `low` to `high`, both included."""
    return low + stream.below(high - low + 1) if high > low else low


def within(stream: Stream, low: Decimal, high: Decimal) -> Decimal:
    """Return a number from `low` to `high` in steps of a thousandth of the way."""
    return low + (high - low) * stream.below(1001) / 1000


def normal(stream: Stream, mean: Decimal, sd: Decimal) -> Decimal:
    """Return a number about `mean` (Irwin-Hall: the sum of twelve uniform ones, never beyond six `sd`)."""
    return mean + sd * (sum(stream.below(1000) for _ in range(12)) - 5994) / 1000


def weighted(stream: Stream, items: Sequence[tuple[T, int]]) -> T:
    """Return one of `items` by weight; all weights zero: the first."""
    total = sum(weight for _, weight in items)
    if total <= 0:
        return items[0][0]
    drawn = stream.below(total)
    ends = accumulate(weight for _, weight in items)
    return next(item for (item, _), end in zip(items, ends, strict=True) if drawn < end)


def at_clock(instant: Instant, hour: int, minute: int = 0) -> Instant:
    """Return the given clock time of the day of `instant`."""
    return instant - instant % DAY + hour * HOUR + minute * MINUTE


def year_of(at: Instant) -> int:
    """Return the calendar year of an instant."""
    return int(format_instant(at)[:4])


def month_of(at: Instant) -> int:
    """Return the month of an instant, 1 to 12."""
    return int(format_instant(at)[5:7])


@dataclass(slots=True)
class Reading:
    """A value of a lab and when it became known, for decisions."""

    known_at: Instant
    value: Decimal


class Making:
    """Everything found of one life so far.

    Args:
        seed: Of the hospital.
        index: Of the patient.
    """

    def __init__(self, seed: int, index: int) -> None:
        self.seed, self.index = seed, index
        self._key: tuple[str | int, ...] = ("hospital", seed, index)
        self._numbers: dict[str, int] = {}
        self.person: Person
        self.body: Body
        self.born: Instant = 0
        self.died: Instant | None = None
        self.illnesses: dict[str, Illness] = {}
        self.stays: dict[str, Stay] = {}
        self.orders: dict[str, Prescription] = {}
        self.signs: list[Sign] = []
        self.results: list[Result] = []
        self.cultures: list[Culture] = []
        self.doses: list[GivenDose] = []
        self.adherence: list[Adherence] = []
        self.allergies: list[Allergy] = []
        self.treated: list[Treated] = []
        self.studies: list[Study] = []
        self.vaccines: list[Vaccine] = []
        self.relatives: list[Relative] = []
        self.functions: list[Function] = []
        self.events: list[CourseEvent] = []
        self.plans: list[Plan] = []
        self.readings: dict[str, list[Reading]] = {}
        self.paused: dict[str, str] = {}
        """Home orders held or replaced in the stay under way → why, a key of the rules' reasons."""
        self.waiting: list[str] = []
        """Home orders that were not safe to take up again: to be considered at the next visit."""
        self.called: set[str] = set()
        """Cultures that were looked at once they were final, after the patient had left."""
        self.not_taking: dict[str, Instant] = {}
        """Home orders that the patient does not take → since when."""
        self.disliked: list[str] = []
        """Home orders that the patient is known to have stopped for what they did, as of the encounter under way."""
        self.intolerant: set[str] = set()
        """Drugs, and classes of them, that are not given again."""
        self.flares: dict[tuple[str, str], Instant] = {}
        """(illness, encounter) → when the episode began that brought the patient in."""
        self.showing: frozenset[str] = frozenset()
        """Findings that are there in the encounter under way."""
        self.suspected: frozenset[str] = frozenset()
        """Conditions that the stay under way treats, coded or not."""
        self.habits: set[str] = set()
        """History items that the patient was found to have."""
        self.encounter = ""
        """The encounter under way."""
        self.barred: set[str] = set()
        """Conditions that cannot come any more (no appendicitis without an appendix)."""

    def stream(self, *name: str | int) -> Stream:
        """Return the stream of one purpose; no draw of it moves another."""
        return Stream(*self._key, *name)

    def chance(self, percent: int, *name: str | int) -> bool:
        """Return whether a thing of so many percent happens."""
        if percent >= 100:
            return True
        return percent > 0 and self.stream(*name).below(100) < percent

    def new(self, prefix: str) -> str:
        """Return the next id of a kind of fact."""
        number = self._numbers.get(prefix, 0) + 1
        self._numbers[prefix] = number
        return f"{prefix}{number}"

    def count(self, name: str) -> int:
        """Return how often this name was counted, this time included."""
        number = self._numbers.get("count " + name, 0) + 1
        self._numbers["count " + name] = number
        return number

    def age(self, at: Instant) -> int:
        """Return completed years of life at an instant."""
        return age_at(self.person.birth_date, at)

    def ill(self, at: Instant) -> list[Illness]:
        """Return what the patient is diagnosed with and not over, at an instant."""
        return [
            one for one in self.illnesses.values() if one.known_at <= at and (one.resolved is None or one.resolved > at)
        ]

    def suffering(self, at: Instant) -> list[Illness]:
        """Return what the patient has at an instant, diagnosed or not."""
        return [
            one for one in self.illnesses.values() if one.onset <= at and (one.resolved is None or one.resolved > at)
        ]

    def change(self, illness: Illness, **fields: object) -> Illness:
        """Replace fields of an illness and return its new form."""
        changed = replace(illness, **fields)  # type: ignore[arg-type] # the caller names fields of Illness
        self.illnesses[illness.id] = changed
        return changed

    def active(self, at: Instant) -> list[Prescription]:
        """Return the orders that run at an instant."""
        return [
            order for order in self.orders.values() if order.start <= at and (order.stop is None or order.stop > at)
        ]

    def learn(self, lab: str, reading: Reading) -> None:
        """Remember a value, in order of when it became known."""
        insort(self.readings.setdefault(lab, []), reading, key=lambda one: one.known_at)

    def known(self, lab: str, at: Instant, back: Instant = 400 * DAY) -> Decimal | None:
        """Return the latest value known at an instant, no older than `back`; None: there is none."""
        return latest(self.readings.get(lab, ()), at, back)


def latest(readings: Sequence[Reading], at: Instant, back: Instant) -> Decimal | None:
    """Return the latest value known at an instant of readings in order of time, no older than `back`."""
    for reading in reversed(readings):
        if reading.known_at <= at:
            return reading.value if reading.known_at >= at - back else None
    return None


def age_at(birth_date: str, at: Instant) -> int:
    """Return completed years of life at an instant; asked for every condition that may come, so kept by day."""
    return _age_on(birth_date, at - at % DAY)


_age_on = lru_cache(maxsize=1 << 12)(elements.age_at)


@cache
def wider(concept: str) -> frozenset[str]:
    """Return a concept's id and those of everything it is a case of."""
    return lexicon().wider(concept) | {concept}

"""The true state of one body at one instant: set points, shifts, and how values pull each other along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from wardround.patients.elements import age_at
from wardround.patients.knowledge.bedside import couplings
from wardround.patients.knowledge.bedside_models import Coupling
from wardround.patients.times import DAY, Instant

from .life import Person
from .physiology_core import MICRO, Law, Shift, combined, law, micro, normal, set_point, share, softened


@dataclass(frozen=True, slots=True)
class Pull:
    """A coupling made ready for arithmetic."""

    source: str
    of: str
    bound: int
    above: bool
    slope: int
    most: int | None
    relative: bool
    enlarges: bool


def _pull(one: Coupling) -> Pull:
    bound = one.above if one.above is not None else one.below
    return Pull(
        one.from_lab,
        one.of,
        micro(bound) if bound is not None else 0,
        one.above is not None,
        micro(one.slope),
        None if one.most is None else micro(one.most),
        one.relative,
        one.enlarges,
    )


@cache
def pulls(lab: str) -> tuple[Pull, ...]:
    """Return what pulls a lab along."""
    return tuple(_pull(one) for one in couplings().values() if one.lab == lab)


def larger(direct: int, pulled: int) -> int:
    """Return how far a value goes: of two ways to one side the longer, of two opposed ones the sum."""
    if (direct > 0) == (pulled > 0) and direct and pulled:
        return max(direct, pulled, key=abs)
    return direct + pulled


class Traits:
    """What never changes in one body: set points and the pattern of days; every draw is named by its purpose."""

    def __init__(self, person: Person, key: tuple[str | int, ...]) -> None:
        self.person = person
        self.key = key
        self._z: dict[str, int] = {}
        self._points: dict[tuple[str, int], int] = {}
        self._days: dict[tuple[str, int], int] = {}

    def age(self, at: Instant) -> int:
        """Return completed years, not below 0."""
        return _age_on(self.person.birth_date, at - at % DAY)

    def point(self, rule: Law, age: int) -> int:
        """Return the person's own healthy value at an age, in millionths."""
        lab = rule.profile.id
        known = self._points.get((lab, age))
        if known is None:
            if lab not in self._z:
                self._z[lab] = self._lot(lab)
            known = self._points[lab, age] = self._own(rule, age)
        return known

    def _lot(self, lab: str) -> int:
        lot = normal((*self.key, "set", lab))
        if lab == "diastolic_bp":  # who has a high systolic pressure has a high diastolic one: correlation 0.6
            lot = (normal((*self.key, "set", "systolic_bp")) * 6 + lot * 8) // 10
        return lot

    def _own(self, rule: Law, age: int) -> int:
        lab = rule.profile.id
        if lab == "weight":
            return micro(self.person.weight_kg)
        if lab == "height":
            return self.person.height_cm * MICRO
        point = set_point(rule, self.person.sex, age, self._z[lab])
        if rule.least is not None and not rule.profile.censored:
            point = max(point, rule.least)
        return point if rule.most is None else min(point, rule.most)

    def wobble(self, lab: str, at: Instant) -> int:
        """Return how the day bends a value, in millionths of its coefficient: smooth, a knot at each midnight."""
        day, inside = divmod(at, DAY)
        return self._knot(lab, day) + (self._knot(lab, day + 1) - self._knot(lab, day)) * (inside // 1000) // (
            DAY // 1000
        )

    def _knot(self, lab: str, day: int) -> int:
        known = self._days.get((lab, day))
        if known is None:
            known = self._days[lab, day] = normal((*self.key, "day", lab, day))
        return known


_age_on = lru_cache(maxsize=1 << 12)(age_at)


class Moment:
    """The true values of one body at one instant, each computed once; amounts in millionths of the lab's unit."""

    def __init__(self, traits: Traits, shifts: Mapping[str, Sequence[Shift]], at: Instant) -> None:
        self.traits = traits
        self.at = at
        self.age = traits.age(at)
        self._shifts = shifts
        self._calm: dict[str, int] = {}
        self._own: dict[str, int] = {}
        self._true: dict[str, int] = {}

    def calm(self, lab: str) -> int:
        """Return what it would be without any illness or drug, as of that day."""
        if lab not in self._calm:
            rule = law(lab)
            if rule is None:
                self._calm[lab] = 0
            else:
                point = self.traits.point(rule, self.age)
                self._calm[lab] = point + point * self._swing(rule) // MICRO
        return self._calm[lab]

    def _swing(self, rule: Law) -> int:
        return rule.within * self.traits.wobble(rule.profile.id, self.at) // MICRO if rule.within else 0

    def own(self, lab: str) -> int:
        """Return how far shifts of the lab itself move it."""
        if lab not in self._own:
            present = self._shifts.get(lab)
            self._own[lab] = self._moved(lab, present) if present else 0
        return self._own[lab]

    def _moved(self, lab: str, present: Sequence[Shift]) -> int:
        calm = self.calm(lab)
        rising, amount, falling = combined(*effects(present, self.at))
        rule = law(lab)
        if amount and rule is not None:
            amount += amount * self._swing(rule) // MICRO  # what illness adds has its days too
        return (calm * rising // MICRO + amount) * falling // MICRO - calm

    def metabolic(self) -> int:
        """Return the metabolic part of bicarbonate's way: own shifts, acids, chloride beyond what sodium brings."""
        if "metabolic" not in self._own:
            acids = sum(self.drawn(one, "bicarbonate") for one in pulls("bicarbonate") if one.source != "pco2")
            acids -= self.own("chloride")
            self._own["metabolic"] = larger(self.own("bicarbonate"), acids)
        return self._own["metabolic"]

    def drawn(self, pull: Pull, lab: str) -> int:
        """Return how far one coupling pulls a lab."""
        beyond = self._read(pull) - pull.bound
        if not pull.above:
            beyond = -beyond
        if beyond <= 0:
            return 0
        way = beyond * pull.slope // MICRO
        if pull.most is not None:
            way = max(-pull.most, min(pull.most, way))
        if pull.enlarges:
            return self.own(lab) * (MICRO + way) // MICRO
        if pull.relative:
            return max(0, self.calm(lab) + min(0, self.own(lab))) * way // MICRO
        return way

    def _read(self, pull: Pull) -> int:
        source = pull.source
        if pull.of == "level":
            return self.true(source)
        if pull.of == "own":
            return self.own(source)
        if pull.of == "metabolic":
            return self.metabolic()
        if pull.of == "move":
            return self.true(source) - self.calm(source)
        calm = self.calm(source)
        return self.true(source) * MICRO // calm if calm > 0 else MICRO

    def way(self, lab: str) -> int:
        """Return how far a lab is from its calm value before limits bend it."""
        if lab == "bicarbonate":
            lungs = sum(self.drawn(one, lab) for one in pulls(lab) if one.source == "pco2")
            return larger(self.metabolic(), lungs)
        pulled = pulls(lab)
        if not pulled:
            return self.own(lab)
        return larger(self.own(lab), sum(self.drawn(one, lab) for one in pulled))

    def true(self, lab: str) -> int:
        """Return the true value of a lab that is not computed from others."""
        if lab not in self._true:
            self._true[lab] = self._bent(lab)
        return self._true[lab]

    def _bent(self, lab: str) -> int:
        if lab == "chloride":
            return self.true("sodium") - self.true("bicarbonate") - self.true("anion_gap")
        rule = law(lab)
        if rule is None:
            return 0
        calm = self.calm(lab)
        least, most = (None, None) if rule.profile.censored else (rule.least, rule.most)
        value = softened(calm + self.way(lab), calm, least, most)
        if lab == "diastolic_bp":
            return min(value, self.true("systolic_bp") * 72 // 100)
        if lab == "pco2":  # what lungs can do against the bicarbonate there is: pH 6.85 to 7.70
            return max(self.true("bicarbonate") * 83 // 100, min(value, self.true("bicarbonate") * 56 // 10))
        return max(0, value) if rule.least is None or rule.profile.censored else value


def effects(shifts: Sequence[Shift], at: Instant) -> tuple[list[int], list[int]]:
    """Return the factors and the amounts of shifts at an instant, in millionths."""
    times: list[int] = []
    add: list[int] = []
    for one in shifts:
        there = share(one, at)
        if not there:
            continue
        if one.mode == "times":
            times.append(MICRO + (micro(one.size) - MICRO) * there // MICRO)
        else:
            add.append(micro(one.size) * there // MICRO)
    return times, add

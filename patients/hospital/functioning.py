"""How the patient manages, and who speaks where they cannot."""

from __future__ import annotations

from typing import Literal

from wardround.patients.times import Instant

from .generation import rules
from .life import Function, Life, Stay
from .making import Making, age_at, between

_WALKING: tuple[Literal["independent", "cane", "walker", "wheelchair", "bedbound"], ...] = (
    "independent",
    "independent",
    "cane",
    "walker",
    "walker",
    "wheelchair",
    "wheelchair",
    "bedbound",
)
_CARE: tuple[Literal["independent", "some_help", "dependent"], ...] = (
    "independent",
    "independent",
    "independent",
    "some_help",
    "some_help",
    "dependent",
    "dependent",
    "dependent",
)


_ANSWERS = 16
"""From this age on a patient answers without a parent."""
_GROWN_CHILDREN = 45
"""From this age on a patient may have children old enough to speak for them; before, the parents do."""


_ON_FOOT = frozenset({"wandering"})
"""Findings of who walks, be it with a walker; so does who lives alone."""
_WALKS = _WALKING.index("wheelchair") - 1


def _points(making: Making, at: Instant) -> int:
    """Return how frail the patient is: a place in the lists above."""
    age = making.age(at)
    weights = rules().frailty
    points = sum(weights.get(one.condition, 0) for one in making.ill(at))
    points += 0 if age < 72 else 1 if age < 82 else 2
    points += making.stream("frail").below(2) if age >= 65 else 0
    if making.person.living == "facility":
        points = max(points, 3)
    on_foot = making.person.living == "alone" or any(one.finding in _ON_FOOT and one.present for one in making.signs)
    return min(points, _WALKS if on_foot else len(_WALKING) - 1)


def keeps_still(making: Making, at: Instant) -> bool:
    """Tell whether the patient moves about with a walker or less: no talk of exercise."""
    return _WALKING[_points(making, at)] not in ("independent", "cane")


def manage(making: Making, encounter: str, at: Instant, fell: bool) -> None:
    """Add how the patient manages as of an encounter.

    Args:
        making: The life.
        encounter: Its id.
        at: Its start.
        fell: Whether a fall is among what brought the patient in.
    """
    age, ill = making.age(at), making.ill(at)
    points = _points(making, at)
    stream = making.stream("falls", encounter)
    falls = 0 if points == 0 else min(4, between(stream, 0, points) * stream.below(2))
    medicines: Literal["self", "family", "pill_box", "facility"]
    if making.person.living == "facility":
        medicines = "facility"
    elif age < 16 or any(one.condition in rules().cannot_tell for one in ill):
        medicines = "family"
    else:
        medicines = "pill_box" if making.stream("pill box").below(100) < min(60, age - 20) else "self"
    making.functions.append(
        Function(
            making.new("fn"),
            encounter,
            _WALKING[points],
            _CARE[points],
            medicines,
            max(falls, 1) if fell else falls,
        )
    )


def speaker(making: Making, end: Instant) -> str:
    """Return who speaks for the patient where the patient cannot: children, delirium, dementia; else "none"."""
    stream = making.stream("speaker")
    first = min((one.start for one in making.stays.values()), default=end)
    parent = "mother" if stream.chance(3, 4) else "father"
    if making.age(first) < _ANSWERS:
        return parent
    clouded = [one.known_at for one in making.illnesses.values() if one.condition in rules().cannot_tell]
    if not clouded:
        return "none"
    if making.person.marital == "married" and stream.chance(2, 3):
        return "spouse"
    if making.age(min(clouded)) < _GROWN_CHILDREN:
        return parent
    return "daughter" if stream.chance(3, 5) else "son"


def informant_of(life: Life, stay: Stay) -> str:
    """Return who tells the history at an encounter: "none" where the patient does, else `life.caregiver`.

    Children under 16 are spoken for; so is who has, at the end of the encounter, a diagnosed condition with which one
    cannot tell (delirium while it lasts, dementia).
    """
    if age_at(life.person.birth_date, stay.start) < _ANSWERS:
        return life.caregiver
    clouded = any(
        one.condition in rules().cannot_tell
        and one.known_at <= stay.end
        and (one.resolved is None or one.resolved > stay.start)
        for one in life.illnesses
    )
    return life.caregiver if clouded else "none"

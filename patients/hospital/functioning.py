"""How the patient manages, and who speaks where they cannot."""

from __future__ import annotations

from functools import cache
from typing import Literal

from wardround.patients.knowledge.graph_models import Severity
from wardround.patients.times import Instant

from .documents import Frozen, read_document
from .generation import rules
from .life import Function, Life, Stay
from .making import Making, age_at, between

Walking = Literal["independent", "cane", "walker", "wheelchair", "bedbound"]
Care = Literal["independent", "some_help", "dependent"]


class _Document(Frozen):
    """The content of `data/functioning.json`."""

    format_version: int
    assumption: bool
    note: str
    walking: tuple[Walking, ...]
    """By points of frailty."""
    care: tuple[Care, ...]
    """By points of frailty."""
    points_from_age: tuple[tuple[int, int], ...]
    """Points from an age on, the highest age first."""
    by_chance_from_age: int
    """From this age on a further point comes by chance."""
    least_in_facility: int
    """Points of who lives in a care home, at least."""
    leaves_behind: dict[str, dict[Severity, int]]
    """Points that stay when an illness is over, by condition and severity."""
    on_foot: tuple[str, ...]
    """Findings of who walks, be it with a walker; so does who lives alone."""
    most_on_foot: Walking
    """The frailest way of walking of these."""
    no_exercise: tuple[Walking, ...]
    """Who walks so is not talked to of exercise."""
    answers_from_age: int
    """From this age on a patient answers without a parent."""
    parents_below_age: int
    """From this age on a patient may have children old enough to speak for them; before, the parents do."""


@cache
def _rules() -> _Document:
    return _Document.model_validate_json(read_document("functioning.json"))


def _points(making: Making, at: Instant) -> int:
    """Return how frail the patient is: a place in the lists of walking and care."""
    document, age = _rules(), making.age(at)
    weights = rules().frailty
    points = sum(weights.get(one.condition, 0) for one in making.ill(at))
    over = [one for one in making.illnesses.values() if one.resolved is not None and one.resolved <= at]
    points += max((document.leaves_behind.get(one.condition, {}).get(one.severity, 0) for one in over), default=0)
    points += next((more for least, more in document.points_from_age if age >= least), 0)
    points += making.stream("frail").below(2) if age >= document.by_chance_from_age else 0
    if making.person.living == "facility":
        points = max(points, document.least_in_facility)
    walks = any(one.finding in document.on_foot and one.present for one in making.signs)
    if making.person.living == "alone" or walks:
        return min(points, max(n for n, way in enumerate(document.walking) if way == document.most_on_foot))
    return min(points, len(document.walking) - 1)


def keeps_still(making: Making, at: Instant) -> bool:
    """Tell whether the patient moves about with a walker or less: no talk of exercise."""
    return _rules().walking[_points(making, at)] in _rules().no_exercise


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
    elif age < _rules().answers_from_age or any(one.condition in rules().cannot_tell for one in ill):
        medicines = "family"
    else:
        medicines = "pill_box" if making.stream("pill box").below(100) < min(60, age - 20) else "self"
    making.functions.append(
        Function(
            making.new("fn"),
            encounter,
            _rules().walking[points],
            _rules().care[points],
            medicines,
            max(falls, 1) if fell else falls,
        )
    )


def speaker(making: Making, end: Instant) -> str:
    """Return who speaks for the patient where the patient cannot: children, delirium, dementia; else "none"."""
    stream = making.stream("speaker")
    first = min((one.start for one in making.stays.values()), default=end)
    parent = "mother" if stream.chance(3, 4) else "father"
    if making.age(first) < _rules().answers_from_age:
        return parent
    clouded = [one.known_at for one in making.illnesses.values() if one.condition in rules().cannot_tell]
    if not clouded:
        return "none"
    if making.person.marital == "married" and stream.chance(2, 3):
        return "spouse"
    if making.age(min(clouded)) < _rules().parents_below_age:
        return parent
    return "daughter" if stream.chance(3, 5) else "son"


def informant_of(life: Life, stay: Stay) -> str:
    """Return who tells the history at an encounter: "none" where the patient does, else `life.caregiver`.

    Children are spoken for; so is who has, at the end of the encounter, a diagnosed condition with which one
    cannot tell (delirium while it lasts, dementia).
    """
    if age_at(life.person.birth_date, stay.start) < _rules().answers_from_age:
        return life.caregiver
    clouded = any(
        one.condition in rules().cannot_tell
        and one.known_at <= stay.end
        and (one.resolved is None or one.resolved > stay.start)
        for one in life.illnesses
    )
    return life.caregiver if clouded else "none"

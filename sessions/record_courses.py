"""Courses of antibiotics, with the marker of infection and the temperature under them.

Left out and counted: too short or too long a course, a marker that steroids or a disease of the blood move, a
temperature without a clear latest value, a marker that neither answers nor gets worse.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal

from wardround.patients import Instant, knowledge, parse_instant
from wardround.sessions.moves.move import Case
from wardround.sessions.moves.trends import Trend
from wardround.sessions.record import Order, Reading

from .record_others import other_view
from .sources import infection

Way = Literal["answers", "worse"]
_HOUR = 3_600_000_000
_TEMPERATURE = "temperature"


@dataclass(frozen=True, slots=True)
class Course:
    """An antibiotic under way for two days or more, and how the infection goes."""

    order: Order
    since: Instant
    trend: Trend
    """The marker, from its first value of the stay to its latest."""
    temperature: Reading
    way: Way


@dataclass(frozen=True)
class CourseView:
    """The courses of a stay that can be decided on."""

    courses: tuple[Course, ...]
    left_out: Counter[str] = field(default_factory=Counter)


def course_view(case: Case) -> CourseView:
    """Return the courses of the case's stay, in a fixed order."""
    return case.memo("record_courses.course_view", _view)


def _view(case: Case) -> CourseView:
    left_out: Counter[str] = Counter()
    rules = infection()
    orders = [case.view.orders[one] for one in sorted(case.view.orders) if one in rules.antibiotics]
    if not orders:
        return CourseView((), left_out)
    series, temperature = case.view.series.get(rules.marker), case.view.vitals.get(_TEMPERATURE)
    if series is None or len(series) < 2 or temperature is None:
        left_out["marker or temperature without a clear course"] += 1
        return CourseView((), left_out)
    if _confounded(case):
        left_out["marker that a drug or another disease moves"] += 1
        return CourseView((), left_out)
    found = []
    for order in orders:
        since = _since(case, order)
        age = None if since is None else (case.anchor - since) // _HOUR
        if since is None or age is None or not rules.hours <= age <= rules.most_hours:
            left_out["antibiotic given for too short or too long"] += 1
            continue
        way = way_of(series, temperature)
        if way is None:
            left_out["infection that neither answers nor gets worse for certain"] += 1
            continue
        found.append(Course(order, since, trend_between(series, way), temperature, way))
    return CourseView(tuple(found), left_out)


def _confounded(case: Case) -> bool:
    rules = infection()
    drugs = {
        one for order in case.view.orders for one in (order, *knowledge.drugs()[order].classes)
    }  # local forms do not move it, but nobody would rest a decision on it
    return bool(drugs & set(rules.confounders) or other_view(case).states & set(rules.confounding))


def _since(case: Case, order: Order) -> Instant | None:
    """Return when the order began."""
    entry = case.snapshot.read(*order.key.split("/", 1))
    resource: dict[str, Any] = {} if entry is None else entry.resource()
    dosage: dict[str, Any] = next(iter(resource.get("dosageInstruction", ())), {})
    bounds = dosage.get("timing", {}).get("repeat", {}).get("boundsPeriod", {}).get("start")
    text = bounds or resource.get("authoredOn")
    return None if text is None else parse_instant(str(text))


def way_of(series: tuple[Reading, ...], temperature: Reading) -> Way | None:
    """Return how an infection goes; None where it can be argued.

    Args:
        series: The marker in this stay, oldest first, one unit.
        temperature: The latest, in °C or °F.
    """
    rules = infection()
    first, last = series[0], series[-1]
    values = [one.value for one in series]
    share = first.value * rules.percent / Decimal(100)
    heat = knowledge.convert(temperature.value, temperature.unit, "Cel", _TEMPERATURE)
    if heat is None:
        return None
    falls = first.value - last.value >= share and last.value == min(values)
    rises = last.value - first.value >= share and last.value == max(values) and last.level == "high"
    if falls and first.level == "high" and last.level in {"normal", "high"} and heat < Decimal(rules.calm):
        return "answers"
    return "worse" if rises else None


def trend_between(series: tuple[Reading, ...], way: Way) -> Trend:
    """Return the way from the first to the latest value."""
    return Trend(series[0], series[-1], "falling" if way == "answers" else "rising", series)


def turned(course: Course) -> Decimal | None:
    """Return a latest value with which the infection would go the other way; None where there is none."""
    series = course.trend.readings
    values = [one.value for one in series[:-1]]
    other = max(values) * Decimal("1.3") if course.way == "answers" else min(values) * Decimal("0.7")
    last = series[-1]
    exponent = last.value.as_tuple().exponent
    other = other.quantize(Decimal(1).scaleb(min(exponent, 0) if isinstance(exponent, int) else 0))
    level: Literal["high", "normal"] = "high" if course.way == "answers" else "normal"
    changed = (*series[:-1], replace(last, value=other, level=level))
    way = way_of(changed, course.temperature)
    return other if way is not None and way != course.way else None

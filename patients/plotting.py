"""Series of laboratory values and vital signs of one patient, and what was going on beside them, ready to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from . import knowledge
from .chart import Snapshot
from .elements import exact, flag_of, medication_of, number_text, range_of, tail, text_of, unit_of, value_of
from .inspection import printable
from .knowledge.bedside import drug_profiles
from .resource import period_of
from .search import Search
from .times import NEVER, Instant, format_instant


@dataclass(frozen=True, slots=True)
class Point:
    """One value."""

    time: Instant
    value: Decimal
    text: str
    """As charted, with its comparator."""
    flag: str | None
    encounter: str | None
    key: str


@dataclass(frozen=True, slots=True)
class Treatment:
    """An order that bears on a series: its drug moves the lab, or the lab is watched because of it."""

    name: str
    start: Instant
    stop: Instant | None
    key: str


@dataclass(frozen=True, slots=True)
class Series:
    """The values of one test in one unit, in order of time."""

    name: str
    unit: str | None
    category: str
    low: Decimal | None
    high: Decimal | None
    """The reference range of the last value that carries one."""
    points: tuple[Point, ...]
    treatments: tuple[Treatment, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data; numbers as text with their digits."""
        return {
            "name": self.name, "unit": self.unit, "category": self.category,
            "low": None if self.low is None else str(self.low), "high": None if self.high is None else str(self.high),
            "points": [
                {"time": format_instant(one.time), "value": one.text, "flag": one.flag, "key": one.key}
                for one in self.points
            ],
            "treatments": [
                {"name": one.name, "start": format_instant(one.start), "key": one.key,
                 "stop": None if one.stop is None else format_instant(one.stop)}
                for one in self.treatments
            ],
        }  # fmt: skip


def lab_series(
    snapshot: Snapshot, *, encounter: str | None = None, start: Instant | None = None, end: Instant | None = None,
    least: int = 3,
) -> list[Series]:  # fmt: skip
    """Return the series of a record: laboratory values first, those oftenest out of range first, then the longest.

    Args:
        snapshot: The record as of some anchor.
        encounter: Only values of this encounter.
        start: Only values at or after this instant.
        end: Only values before this instant.
        least: Series of fewer values are left out.
    """
    found: dict[tuple[str, str | None], list[tuple[Point, Any]]] = {}
    category: dict[tuple[str, str | None], str] = {}
    if "Observation" not in snapshot.chart.index.spans:
        return []
    for entry in snapshot.search(Search("Observation", encounter=encounter, date_from=start, date_to=end)).entries():
        resource = entry.resource()
        for name, node in _measured(resource):
            point, unit = _point(node, resource, entry.first, entry.key), _unit(node)
            if point is not None:
                key = (name, unit)
                found.setdefault(key, []).append((point, node))
                category[key] = next((c.get("code", "") for c in _codings(resource)), "")
    orders = _orders(snapshot)
    series = [_series(key, values, category[key], orders) for key, values in found.items() if len(values) >= least]
    return sorted(
        series,
        key=lambda one: (one.category == "vital-signs", -outside(one), -len(one.points), one.name, one.unit or ""),
    )


def outside(series: Series) -> int:
    """Return how many values of a series lie outside its range."""
    return sum(beyond(point.value, series) != 0 for point in series.points)


def beyond(value: Decimal, series: Series) -> int:
    """Return 1 for a value above the range of its series, -1 for one below, 0 for one within or without a range."""
    if series.high is not None and value > series.high:
        return 1
    return -1 if series.low is not None and value < series.low else 0


def runs(points: Sequence[Point]) -> list[list[int]]:
    """Return the places of the values of each stay, in order."""
    found: list[list[int]] = []
    for at, point in enumerate(points):
        if not found or points[at - 1].encounter != point.encounter:
            found.append([])
        found[-1].append(at)
    return found


def _codings(resource: Any) -> list[Any]:
    return [coding for concept in resource.get("category", ()) for coding in concept.get("coding", ())]


def _measured(resource: Any) -> list[tuple[str, Any]]:
    """Return name and node of every number of an Observation, the parts of a pressure apart."""
    parts = resource.get("component", ())
    if parts:
        return [(printable(text_of(part.get("code")) or "?"), part) for part in parts]
    return [(printable(text_of(resource.get("code")) or "?"), resource)]


def _unit(node: Any) -> str | None:
    unit = unit_of(node.get("valueQuantity", {}))
    return None if unit is None else printable(unit)


def _point(node: Any, resource: Any, time: Instant, key: str) -> Point | None:
    quantity = node.get("valueQuantity", {})
    if "value" not in quantity or not -NEVER < time < NEVER:
        return None
    value, _ = value_of(node)
    text = printable(value if isinstance(value, str) else number_text(value))
    return Point(time, exact(quantity["value"]), text, flag_of(node), tail(resource.get("encounter")), key)


def _series(
    key: tuple[str, str | None], values: list[tuple[Point, Any]], category: str, orders: Sequence[tuple[Treatment, str]]
) -> Series:  # fmt: skip
    values.sort(key=lambda one: (one[0].time, one[0].key))
    low = high = None
    for _, node in values:
        bounds = range_of(node)
        if bounds[0] is not None or bounds[1] is not None:
            low, high = (None if bound is None else exact(bound) for bound in bounds[:2])
    points = tuple(point for point, _ in values)
    lab = knowledge.lexicon().resolve(key[0], kinds=("lab", "vital"))
    first, last = points[0].time, points[-1].time
    near = (
        one for one, drug in orders
        if lab is not None and _bears(drug, lab.id) and one.start <= last and (one.stop is None or one.stop >= first)
    )  # fmt: skip
    return Series(key[0], key[1], category, low, high, points, tuple(near))


def _bears(drug: str, lab: str) -> bool:
    profile = drug_profiles().get(drug)
    if profile is None:
        return False
    return lab in profile.monitors or any(effect.lab == lab for effect in profile.effects)


def _orders(snapshot: Snapshot) -> list[tuple[Treatment, str]]:
    """Return the orders whose drug is known, in order of time."""
    if "MedicationRequest" not in snapshot.chart.index.spans:
        return []
    found = []
    for entry in snapshot.search(Search("MedicationRequest")).entries():
        resource = entry.resource()
        name = medication_of(resource) or ""
        drug = knowledge.lexicon().scan(name, kinds=("drug",))
        end = resource.get("dispenseRequest", {}).get("validityPeriod", {}).get("end")
        if drug and -NEVER < entry.first < NEVER:
            stop = None if end is None else period_of(end)[0]
            found.append((Treatment(printable(name), entry.first, stop, entry.key), drug[0].concept))
    return sorted(found, key=lambda one: (one[0].start, one[0].key))


# ---- on a terminal ----

WIDTH = 72
"""Columns of a plot; of more values than that, neighbours share a column."""
_HEIGHT = 7
_MARKS = {1: "▲", 0: "●", -1: "▼"}


def plot_text(series: Series, width: int = WIDTH) -> str:
    """Draw a series in lines of text: a column a value (more values share one), stays apart, range, dates, treatments.

    `●` is a value in its range, `▲` above, `▼` below, `│` stands between stays, `┄` bounds the range; a letter above
    stands where an order begins that bears on it.
    """
    columns = _columns(series.points, width)
    low, high = limits(series)
    rows = [[" "] * len(columns) for _ in range(_HEIGHT)]
    for bound in (series.low, series.high):
        if bound is not None and low <= bound <= high:
            rows[_row(bound, low, high)] = ["┄"] * len(columns)
    for at, points in enumerate(columns):
        if not points:
            for row in rows:
                row[at] = "│"
        for point in points:
            rows[_row(point.value, low, high)][at] = _MARKS[beyond(point.value, series)]
    head = f"{series.name}{f' ({series.unit})' if series.unit else ''}"
    band = _band(series)
    texts = [f"{head}  {len(series.points)} values{f', range {band}' if band else ''}"]
    marks, legend = _treatments(series, columns)
    if legend:
        texts.append(f"{'':>9} {marks}".rstrip())
    labels = {0: number_text(high), _HEIGHT - 1: number_text(low)}
    texts += [f"{labels.get(place, ''):>9} {''.join(row)}".rstrip() for place, row in enumerate(rows)]
    texts.append(f"{'':>9} {_dates(columns)}".rstrip())
    first, last = series.points[0], series.points[-1]
    days = [format_instant(one.time)[:10] for one in (first, last)]
    texts.append(f"{'':>9} first {first.text} ({days[0]}), last {last.text} ({days[1]}); {_extremes(series)}")
    return "\n".join([*texts, *(f"{'':>9} {line}" for line in legend)])


def _columns(points: Sequence[Point], width: int) -> list[list[Point]]:
    """Return the values by column; an empty column stands between stays."""
    groups = [[points[at] for at in run] for run in runs(points)]
    room = max(width - len(groups) + 1, len(groups))
    share = max(-(-len(points) // room), 1)
    out: list[list[Point]] = []
    for number, group in enumerate(groups):
        out += [[]] if number else []
        out += [group[at : at + share] for at in range(0, len(group), share)]
    return out


def limits(series: Series) -> tuple[Decimal, Decimal]:
    """Return least and greatest value to draw: those measured, and a bound of the range that is not far from them."""
    values = [point.value for point in series.points]
    low, high = min(values), max(values)
    for bound in (series.low, series.high):
        if bound is not None and low - (high - low) <= bound <= high + (high - low):
            low, high = min(low, bound), max(high, bound)
    return low, high


def _row(value: Decimal, low: Decimal, high: Decimal) -> int:
    if high == low:
        return _HEIGHT // 2
    return int(((high - value) * (_HEIGHT - 1) / (high - low)).to_integral_value())


def _band(series: Series) -> str:
    low, high = (None if bound is None else number_text(bound) for bound in (series.low, series.high))
    if low is not None and high is not None:
        return f"{low}-{high}"
    return f">={low}" if low is not None else f"<={high}" if high is not None else ""


def _extremes(series: Series) -> str:
    least = min(series.points, key=lambda one: (one.value, one.time))
    most = max(series.points, key=lambda one: (one.value, -one.time))
    return f"least {least.text}, most {most.text}"


def _dates(columns: Sequence[Sequence[Point]]) -> str:
    """Return a line with the date under the first column of each stay, where there is room."""
    line = ""
    for at, points in enumerate(columns):
        begins = points and (at == 0 or not columns[at - 1])
        if begins and len(line) <= at:
            line = line.ljust(at) + format_instant(points[0].time)[:10] + " "
    return line


def _treatments(series: Series, columns: Sequence[Sequence[Point]]) -> tuple[str, list[str]]:
    """Return the line of letters, and what they stand for."""
    marks = [" "] * len(columns)
    legend = []
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    for one in series.treatments:
        at = next((place for place, points in enumerate(columns) if points and points[-1].time >= one.start), None)
        letter = next(letters, None)
        if at is None or letter is None:
            continue
        marks[at] = letter if marks[at] == " " else "+"
        stop = "" if one.stop is None else f" to {format_instant(one.stop)[:10]}"
        legend.append(f"{letter}: {one.name} from {format_instant(one.start)[:10]}{stop}")
    return "".join(marks), legend

"""A series as shapes: what a plot is made of, for whoever draws it (a page of text, a program in a browser)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .elements import number_text
from .plotting import Point, Series, beyond, limits, runs
from .times import Instant, format_instant

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 900, 150, 60, 22, 14


@dataclass(frozen=True, slots=True)
class Shape:
    """One SVG element: `rect`, `line`, `polyline`, `circle` or `text`."""

    tag: str
    attributes: dict[str, str | int]
    words: str = ""
    """What a `text` says, what a `circle` is called; not escaped."""

    def as_list(self) -> list[Any]:
        """Return JSON-able data: tag, attributes, words."""
        return [self.tag, self.attributes, self.words]


@dataclass(frozen=True, slots=True)
class Drawing:
    """The plot of one series."""

    name: str
    unit: str | None
    width: int
    height: int
    shapes: tuple[Shape, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return {
            "name": self.name, "unit": self.unit, "width": self.width, "height": self.height,
            "shapes": [shape.as_list() for shape in self.shapes],
        }  # fmt: skip


def draw_series(series: Series, now: Instant | None = None) -> Drawing:
    """Draw a series: its range as a band, stays side by side, values in and out of range, orders that bear on it.

    Args:
        series: What is drawn.
        now: The instant the record was read at; marked behind the last value. None marks nothing.
    """
    places = _places(series.points)
    low, high = limits(series)
    shapes = [*_band(series, low, high), *_stays(series.points, places)]
    heights = [_y(point.value, low, high) for point in series.points]
    for run in runs(series.points):
        line = " ".join(f"{places[at]},{heights[at]}" for at in run)
        shapes.append(Shape("polyline", {"class": "line", "points": line}))
    for point, x, y in zip(series.points, places, heights, strict=True):
        told = f"{minute(format_instant(point.time))}: {point.text} {series.unit or ''} {point.flag or ''}"
        kind = "out" if beyond(point.value, series) else "in"
        shapes.append(Shape("circle", {"class": kind, "cx": x, "cy": y, "r": 3}, told))
    bars = _bars(series, places)
    for number, (name, first, last) in enumerate(bars):
        y = _TOP + _HEIGHT + 26 + 14 * number
        shapes.append(Shape("line", {"class": "drug", "x1": first, "x2": last, "y1": y, "y2": y}))
        shapes.append(Shape("text", {"x": min(first, _WIDTH - 200), "y": y - 3}, name))
    shapes += [Shape("text", {"x": 4, "y": _y(value, low, high) + 4}, number_text(value)) for value in (low, high)]
    if now is not None:
        shapes += _mark(now)
    return Drawing(series.name, series.unit, _WIDTH, _HEIGHT + _TOP + 22 + 14 * len(bars), tuple(shapes))


def minute(time: str | None) -> str:
    """Write an instant's text for people: "2150-06-01 09:00"."""
    return "" if time is None else time[:16].replace("T", " ")


def _mark(now: Instant) -> Iterable[Shape]:
    x = _WIDTH - 4  # behind every value: nothing that is drawn is later
    yield Shape("line", {"class": "now", "x1": x, "x2": x, "y1": _TOP, "y2": _TOP + _HEIGHT})
    told = f"now {minute(format_instant(now))}"
    yield Shape("text", {"x": x, "y": _TOP + _HEIGHT + 14, "text-anchor": "end"}, told)


def _places(points: Sequence[Point]) -> list[int]:
    """Return where each value stands: stays side by side, as wide as they have values; within one, by time."""
    stays = runs(points)
    room = _WIDTH - _LEFT - 10 - _GAP * (len(stays) - 1)
    places: list[int] = []
    left = _LEFT
    for run in stays:
        width = max(room * len(run) // len(points), 1)
        first, last = points[run[0]].time, points[run[-1]].time
        for at in run:
            share = (points[at].time - first) * width // (last - first) if last > first else width // 2
            places.append(left + share)
        left += width + _GAP
    return places


def _y(value: Decimal, low: Decimal, high: Decimal) -> int:
    if high == low:
        return _TOP + _HEIGHT // 2
    return _TOP + int((high - value) * _HEIGHT / (high - low))


def _band(series: Series, low: Decimal, high: Decimal) -> Iterable[Shape]:
    if series.low is None and series.high is None:
        return
    top = min(max(series.high if series.high is not None else high, low), high)
    foot = max(min(series.low if series.low is not None else low, high), low)
    y, end = _y(top, low, high), _y(foot, low, high)
    if end > y:
        place = {"x": _LEFT, "y": y, "width": _WIDTH - _LEFT, "height": end - y}
        yield Shape("rect", {"class": "band", **place})


def _stays(points: Sequence[Point], places: Sequence[int]) -> Iterable[Shape]:
    free = 0
    for run in runs(points):
        x = places[run[0]]
        yield Shape("line", {"class": "stay", "x1": x, "x2": x, "y1": _TOP, "y2": _TOP + _HEIGHT})
        if x >= free:
            yield Shape("text", {"x": x, "y": _TOP - 8}, format_instant(points[run[0]].time)[:10])
            free = x + 74


def _bars(series: Series, places: Sequence[int]) -> list[tuple[str, int, int]]:
    """Return name, begin and end of the bar of each treatment that overlaps values."""
    bars = []
    for one in series.treatments[:12]:
        inside = [
            places[at] for at, point in enumerate(series.points)
            if point.time >= one.start and (one.stop is None or point.time <= one.stop)
        ]  # fmt: skip
        if inside:
            bars.append((one.name, inside[0], max(inside[-1], inside[0] + 4)))
    return bars

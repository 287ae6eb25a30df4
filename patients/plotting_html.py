"""One self-contained page of a patient: stays, series as SVG plots, and the timeline. Everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from html import escape

from .elements import number_text
from .inspection import Event, printable
from .plotting import Point, Series, beyond, limits, runs
from .times import format_instant

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 900, 150, 60, 22, 14

_STYLE = """
body{font:14px/1.4 system-ui,sans-serif;margin:1.5em auto;max-width:1000px;color:#222}
h1{font-size:1.4em}h2{font-size:1.15em;margin-top:1.6em}h3{font-size:1em;margin:1em 0 .2em}
svg{width:100%;height:auto;background:#fafafa}table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #ddd;padding:.15em .5em;text-align:left;vertical-align:top}
.band{fill:#dff0df}.line{fill:none;stroke:#456;stroke-width:1.2}.in{fill:#345}.out{fill:#c33}
.stay{stroke:#bbb;stroke-dasharray:3 3}.drug{stroke:#86a;stroke-width:3}text{font-size:11px;fill:#444}
.truth{background:#fff4d6;border-left:6px solid #e0a800;padding:.3em .8em}.dim{color:#777}pre{white-space:pre-wrap}
"""


def plot_page(
    title: str, facts: Sequence[str], series: Sequence[Series], events: Sequence[Event],
    truth: Sequence[tuple[str, Sequence[str]]] = (),
) -> str:  # fmt: skip
    """Return the page.

    Args:
        title: The patient.
        facts: Lines under the title.
        series: What is plotted.
        events: The timeline.
        truth: Headed lists of what is behind the chart; shown apart and marked.
    """
    parts = [
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">",
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{_text(title)}</title><style>{_STYLE}</style></head><body><h1>{_text(title)}</h1>",
        *(f"<p class=\"dim\">{_text(fact)}</p>" for fact in facts),
        *_truth(truth),
        "<h2>Plots</h2>",
        *map(_plot, series),
        *([] if series else ["<p class=\"dim\">No series of three values or more.</p>"]),
        "<h2>Timeline</h2><table><tr><th>Time</th><th>Type</th><th></th><th>Known</th></tr>",
        *map(_event, events),
        "</table></body></html>\n",
    ]  # fmt: skip
    return "\n".join(parts)


def _text(text: str) -> str:
    return escape(printable(text))


def _truth(truth: Sequence[tuple[str, Sequence[str]]]) -> Iterable[str]:
    if truth:
        yield '<div class="truth"><h2>Truth behind the chart (no tool shows this)</h2>'
        for head, lines in truth:
            yield f"<h3>{_text(head)}</h3><ul>{''.join(f'<li>{_text(line)}</li>' for line in lines)}</ul>"
        yield "</div>"


def _event(event: Event) -> str:
    data = event.as_dict()
    time, known = _minute(data["time"]), _minute(data["known"])
    return (
        f"<tr><td>{time}</td><td>{_text(event.type)}</td><td>{_text(event.text)}</td>"
        f'<td class="dim">{known if known != time else ""}</td></tr>'
    )


def _minute(time: str | None) -> str:
    """Write an instant's text for people: "2150-06-01 09:00"."""
    return "" if time is None else time[:16].replace("T", " ")


# ---- plots ----


def _plot(series: Series) -> str:
    places = _places(series.points)
    low, high = limits(series)
    body = [*_band(series, low, high), *_stays(series.points, places)]
    heights = [_y(point.value, low, high) for point in series.points]
    for run in runs(series.points):
        line = " ".join(f"{places[at]},{heights[at]}" for at in run)
        body.append(f'<polyline class="line" points="{line}"/>')
    for point, x, y in zip(series.points, places, heights, strict=True):
        told = f"{_minute(format_instant(point.time))}: {point.text} {series.unit or ''} {point.flag or ''}"
        kind = "out" if beyond(point.value, series) else "in"
        body.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="3"><title>{_text(told)}</title></circle>')
    bars = _bars(series, places)
    height = _HEIGHT + _TOP + 22 + 14 * len(bars)
    for number, (name, first, last) in enumerate(bars):
        y = _TOP + _HEIGHT + 26 + 14 * number
        body.append(f'<line class="drug" x1="{first}" x2="{last}" y1="{y}" y2="{y}"/>')
        body.append(f'<text x="{min(first, _WIDTH - 200)}" y="{y - 3}">{_text(name)}</text>')
    for value in (low, high):
        body.append(f'<text x="4" y="{_y(value, low, high) + 4}">{_text(number_text(value))}</text>')
    unit = f" ({_text(series.unit)})" if series.unit else ""
    return (
        f'<h3>{_text(series.name)}{unit}</h3><svg viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{_text(series.name)}">{"".join(body)}</svg>'
    )


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


def _band(series: Series, low: Decimal, high: Decimal) -> Iterable[str]:
    if series.low is None and series.high is None:
        return
    top = min(max(series.high if series.high is not None else high, low), high)
    foot = max(min(series.low if series.low is not None else low, high), low)
    y, end = _y(top, low, high), _y(foot, low, high)
    if end > y:
        yield f'<rect class="band" x="{_LEFT}" y="{y}" width="{_WIDTH - _LEFT}" height="{end - y}"/>'


def _stays(points: Sequence[Point], places: Sequence[int]) -> Iterable[str]:
    free = 0
    for run in runs(points):
        x = places[run[0]]
        yield f'<line class="stay" x1="{x}" x2="{x}" y1="{_TOP}" y2="{_TOP + _HEIGHT}"/>'
        if x >= free:
            yield f'<text x="{x}" y="{_TOP - 8}">{format_instant(points[run[0]].time)[:10]}</text>'
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

"""Pass rates over τ as inline SVG: a plot per agent, lines told apart by dashes and words, not by colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .figures import Figures, Place, pointer, table, text, words

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _FOOT = 340, 210, 38, 12, 18, 34
_DASHES = 6
MEASURES = (("pass_turn", "Pass@Turn"), ("pass_session", "Pass@Session"))


@dataclass(frozen=True, slots=True)
class Line:
    """One row of results.json, as a line of a plot."""

    figures: Figures
    row: int
    name: str

    def curve(self, measure: str) -> dict[str, float | None]:
        """Return the rate at each τ."""
        return self.figures.get("results", self.row, "pass_curve", measure) or {}

    def place(self, measure: str, tau: str) -> Place:
        """Return where a rate stands in results.json."""
        return ("results", self.row, "pass_curve", measure, tau)


def plots(agent: str, lines: Sequence[Line]) -> str:
    """Return both plots of an agent, their legend, and the same figures as a table."""
    drawn = "".join(_plot(agent, measure, title, lines) for measure, title in MEASURES)
    keys = "".join(
        f'<li><svg viewBox="0 0 40 10" aria-hidden="true"><line class="{_style(at)}" x1="1" x2="39" y1="5" '
        f'y2="5"/></svg>{text(line.name)}</li>'
        for at, line in enumerate(lines)
    )
    return (
        f'<div class="plots"><h3>{text(agent)}</h3><div class="pair">{drawn}</div><ul class="keys">{keys}</ul>'
        f"<details><summary>The curves of {text(agent)} as a table</summary>{_as_table(agent, lines)}</details></div>"
    )


def _style(at: int) -> str:
    """Return the classes of a line: dashes tell six apart, and the next six are thicker."""
    return f"l l{at % _DASHES}{' thick' if at // _DASHES % 2 else ''}"


def _as_table(agent: str, lines: Sequence[Line]) -> str:
    taus = sorted({tau for line in lines for measure, _ in MEASURES for tau in line.curve(measure)})
    rows = [
        words(f"{line.name}, {title}") + "".join(line.figures.cell(line.place(measure, tau), "share") for tau in taus)
        for line in lines
        for measure, title in MEASURES
    ]
    return table(f"Pass rates of {agent} over τ", ("τ", *taus), rows)


def _plot(agent: str, measure: str, title: str, lines: Sequence[Line]) -> str:
    body = [_grid()]
    for at, line in enumerate(lines):
        points = [(tau, rate) for tau, rate in line.curve(measure).items() if rate is not None]
        path = " ".join(f"{_x(float(tau))},{_y(rate)}" for tau, rate in points)
        told = text(pointer((line.figures.run, "results", line.row, "pass_curve", measure)))
        body.append(f'<polyline class="{_style(at)}" data-curve="{told}" points="{path}"/>')
    return (
        f'<figure><svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{text(title)} of {text(agent)} over τ; the table below has the figures">{"".join(body)}</svg>'
        f"<figcaption>{text(title)} at a reward of at least τ</figcaption></figure>"
    )


def _grid() -> str:
    parts = []
    for step in range(0, 5):
        share = step / 4
        x, y = _x(share), _y(share)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{share:.2f}</text>')
        parts.append(f'<text x="{x}" y="{_HEIGHT - _FOOT + 16}" text-anchor="middle">{share:.2f}</text>')
    middle = (_LEFT + _WIDTH - _RIGHT) // 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 3}" text-anchor="middle">τ</text>')
    return "".join(parts)


def _x(tau: float) -> float:
    return round(_LEFT + tau * (_WIDTH - _LEFT - _RIGHT), 1)


def _y(rate: float) -> float:
    return round(_TOP + (1 - rate) * (_HEIGHT - _TOP - _FOOT), 1)

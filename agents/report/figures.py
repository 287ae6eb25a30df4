"""HTML by hand: text that is always escaped, and figures that are always looked up, never computed.

A `Figures` is one results.json; a cell names the place of its figure there (`data-of`, as a JSON pointer), so that a
test, or a reader, can hold the page against the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Literal

from wardround.patients import html_text

Place = tuple[str | int, ...]
Kind = Literal["share", "signed", "count", "p", "rate", "text"]

NOTHING = "–"
NUMBER = ' class="n"'


def text(value: Any) -> str:
    """Return text for a page: escaped, and what cannot be seen shown by its code point."""
    return html_text(value)


def pointer(place: Place) -> str:
    """Return the JSON pointer (RFC 6901) of a place."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in place)


def shown(value: Any, kind: Kind) -> str:
    """Return a figure as pages show it; what is none is a dash."""
    if value is None:
        return NOTHING
    if kind == "p":
        return "<0.001" if value < 0.001 else f"{value:.3f}"
    if kind == "signed":
        told = f"{value:+.3f}".replace("-", "\u2212")
        return "0.000" if told[1:] == "0.000" else told
    if kind == "share":
        return f"{value:.3f}"
    if kind == "rate":
        return f"{value:.2f}"
    return f"{value:,}" if kind == "count" else str(value)


class Figures:
    """The figures of one results.json.

    Args:
        run: Which of the page's runs it is, from 0.
        results: The file's content.
    """

    def __init__(self, run: int, results: Any) -> None:
        self.run = run
        self._results = results

    def get(self, *place: str | int) -> Any:
        """Return what stands at a place; None where there is nothing."""
        found = self._results
        for step in place:
            if isinstance(found, dict):
                found = found.get(step)
            elif isinstance(found, list | tuple) and isinstance(step, int) and step < len(found):
                found = found[step]
            else:
                return None
        return found

    def figure(self, place: Place, kind: Kind) -> str:
        """Return a figure with its place."""
        told = escape(pointer((self.run, *place)))
        return f'<span data-of="{told}" data-kind="{kind}">{text(shown(self.get(*place), kind))}</span>'

    def cell(self, place: Place, kind: Kind) -> str:
        """Return a table's cell with one figure."""
        return f'<td class="n">{self.figure(place, kind)}</td>'

    def interval(self, place: Place, kind: Kind = "share") -> str:
        """Return a cell with a 95 % interval."""
        if self.get(*place) is None:
            return f'<td class="n">{NOTHING}</td>'
        return f'<td class="n">{self.figure((*place, 0), kind)} … {self.figure((*place, 1), kind)}</td>'


def table(caption: str, columns: Sequence[str], rows: Iterable[str], *, note: str = "", heads: int = 1) -> str:
    """Return a table that scrolls by itself where it is too wide.

    Args:
        caption: What it shows; text.
        columns: Heads; text.
        rows: The inside of each row, as HTML.
        note: Said under the table; text.
        heads: How many columns hold words; the heads of the others stand over figures.
    """
    top = "".join(f'<th scope="col"{"" if at < heads else NUMBER}>{text(name)}</th>' for at, name in enumerate(columns))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    small = f'<p class="note">{text(note)}</p>' if note else ""
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{text(caption)}"><table>'
        f"<caption>{text(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>{small}"
    )


def words(*values: Any) -> str:
    """Return cells of plain text; the first is the row's head."""
    first, *rest = (text(value) for value in values)
    return f'<th scope="row">{first}</th>' + "".join(f"<td>{value}</td>" for value in rest)


def section(name: str, title: str, *parts: str) -> str:
    """Return a section with an anchor; "" where it would be empty."""
    inside = "".join(parts)
    if not inside:
        return ""
    return f'<section id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{text(title)}</h2>{inside}</section>'

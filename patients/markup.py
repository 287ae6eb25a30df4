"""HTML of what people look at in a notebook: every word is escaped here, and nothing else makes HTML of records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

HIDDEN = "\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
"""What would not be seen, or would turn the text around it; the inside of a class of a regular expression."""

_HIDDEN = re.compile(f"[{HIDDEN}]")
_LONGEST = 1_000
"""Characters of one cell: a look is no listing."""
_ROWS = 50


def html_text(value: Any) -> str:
    """Return text for a page: escaped, and what cannot be seen shown by its code point."""
    return _HIDDEN.sub(lambda mark: f"[U+{ord(mark[0]):04X}]", escape(str(value)))


def html_view(
    title: str,
    facts: Iterable[tuple[str, Any]],
    tables: Iterable[tuple[str, Sequence[str], Sequence[Sequence[Any]]]] = (),
) -> str:
    """Return what a notebook shows of a thing: a title, facts, tables. Text of any origin is only ever text.

    Args:
        title: What it is.
        facts: Names and values; what is None or "" is left out.
        tables: Caption, columns and rows of each; of more than 50 rows the rest is counted, a cell of more than 1,000
            characters is cut.
    """
    told = "".join(_fact(name, value) for name, value in facts if value is not None and value != "")
    drawn = "".join(_table(*one) for one in tables)
    return f'<div class="wardround"><p><strong>{html_text(title)}</strong></p><table>{told}</table>{drawn}</div>'


def _fact(name: str, value: Any) -> str:
    return f'<tr><th scope="row" {_LEFT}>{html_text(name)}</th><td {_LEFT}>{_cell(value)}</td></tr>'


_LEFT = 'style="text-align:left;white-space:pre-wrap;vertical-align:top"'


def _table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(f'<th scope="col" {_LEFT}>{html_text(name)}</th>' for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td {_LEFT}>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows[:_ROWS]
    )
    more = f"; {len(rows) - _ROWS:,} more not shown" if len(rows) > _ROWS else ""
    return (
        f"<table><caption {_LEFT}>{html_text(caption)}{more}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    told = str(value)
    if len(told) <= _LONGEST:
        return _broken(told)
    return f"{_broken(told[:_LONGEST])}… ({len(told):,} characters)"


def _broken(told: str) -> str:
    """Return the text of a cell; its ends of lines are lines, and no hidden marks."""
    return "\n".join(html_text(line) for line in told.split("\n"))

"""The page itself: the list of sessions, each to read and to review, in one file that asks nothing of any network."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import wardround
from wardround.agents.litellm_door import CREDENTIALED, UNKNOWN
from wardround.agents.report.document import data_file, document
from wardround.agents.report.figures import text
from wardround.patients import UsageError, check_output, load_charts, write_whole
from wardround.sessions import SHEET_COLUMNS, VERDICTS, SessionSet, charts_of, load_sessions, sample_sessions

from .packing import INDEX, Packed, pack
from .records import SHOWN

_REPORT = "wardround.agents.report"
_HERE = "wardround.agents.browse"
_STYLES = ((_REPORT, "page.css"), (_HERE, "browse.css"))
_PROGRAMS = (
    (_REPORT, "legible.js"), (_REPORT, "unpack.js"), (_REPORT, "results.js"), (_HERE, "sheet.js"),
    (_HERE, "review.js"), (_HERE, "record.js"), (_HERE, "session.js"), (_HERE, "list.js"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SessionPageMade:
    """What was written."""

    path: Path
    size: int
    """Bytes."""
    sessions: int
    rows: int
    """Of the review sheet: things to be judged."""
    bare: int
    """Sessions for evaluation, whose gold and rubric were left out."""
    licence: str
    kept_close: bool
    """Data that are credentialed, or of which nobody has said what they are."""


def write_session_page(
    named: str, charts: str | None = None, *, out: str | Path, share: Fraction | None = None, seed: int = 0,
    gold: bool = False,
) -> SessionPageMade:  # fmt: skip
    """Write one self-contained HTML page of a set: every session to read, and the review sheet to fill in.

    Args:
        named: A built-in set or a JSONL file.
        charts: A built-in set or a store; None is the charts of a built-in set.
        out: The page.
        share: Share of every scenario × tier to show, as `wardround review export --sample` draws it; None shows all.
        seed: Of the draw.
        gold: Show gold and rubric of sessions that are for evaluation, too.

    Raises:
        UsageError: The set is not built in and no charts were named, or the set is empty.
        DataError: The charts are not those of the set, or `out` is a file of another kind.
    """
    path = Path(out)
    check_output(path, b"<!doctype html>", "a page")
    whole = load_sessions(named)
    place = charts or charts_of(named)
    if place is None:
        raise UsageError(f"`{named}` is no built-in set: say with --charts which store its charts are in")
    drawn = list(whole) if share is None else sample_sessions(whole, share, seed)
    if not drawn:
        raise UsageError(f"`{named}` holds no session: nothing to show")
    with load_charts(place) as store:
        packed = pack(drawn, store, gold=gold)
        licences = sorted({session.licence for session in drawn} | {store.licence})
    kept_close = any(word in one.casefold() for one in licences for word in (CREDENTIALED, UNKNOWN))
    how = "" if share is None else f", a sample of {share} of every scenario and tier, seed {seed}"
    facts = _facts(whole, packed, " + ".join(licences), how, kept_close=kept_close, gold=gold)
    data = _page(whole, packed, facts).encode("utf-8", "replace")
    write_whole(path, data)
    bare = sum(_column(packed, "bare"))
    return SessionPageMade(
        path, len(data), len(drawn), packed.asked, bare, " + ".join(licences), kept_close
    )  # fmt: skip


def _column(packed: Packed, name: str) -> list[Any]:
    return [row[INDEX.index(name)] for row in packed.rows]


def _facts(
    whole: SessionSet, packed: Packed, licence: str, how: str, *, kept_close: bool, gold: bool
) -> list[str]:  # fmt: skip
    bare = sum(_column(packed, "bare"))
    held = any(session.use == "evaluation" for session in whole)
    found = [
        f"{len(packed.rows):,} of {len(whole):,} sessions{how}; {packed.asked:,} things to judge; "
        f"set hash {whole.hash[:12]}; wardround {wardround.__version__}.",
        f"Licence: {licence}. This page holds text of patients' records and what patients say.",
    ]
    if kept_close:
        found.append("The data are credentialed, or of unknown licence: do not pass the page on.")
    if bare:
        found.append(
            f"{bare:,} sessions are for evaluation: their gold calls, gold answers and rubrics are left out "
            "(wardround browse --gold shows them), and only plausibility and implicitness are asked."
        )
    elif held and gold:
        found.append("This page holds held-out answers: keep it from models and from those who train them.")
    return found


def _page(whole: SessionSet, packed: Packed, facts: list[str]) -> str:
    name = Path(whole.name).name  # where a set lies is nobody's business
    title = f"Sessions: {name}"
    index = {
        "columns": INDEX, "rows": packed.rows, "set": name, "hash": whole.hash, "sheet": SHEET_COLUMNS,
        "verdicts": VERDICTS, "timeline": SHOWN,
    }  # fmt: skip
    body = [
        '<a class="skip" href="#sessions">Skip to the sessions</a>',
        f"<header><h1>{text(title)}</h1>{''.join(f'<p>{text(line)}</p>' for line in facts)}</header>",
        '<main><section id="sheet" aria-labelledby="sheet-h"><h2 id="sheet-h">Review sheet</h2>',
        '<div id="desk"></div></section>',
        '<section id="sessions" aria-labelledby="sessions-h"><h2 id="sessions-h">Sessions</h2>',
        "<noscript><p>Reading sessions needs JavaScript.</p></noscript>",
        '<div id="browser"></div></section><article id="session" hidden></article></main>',
    ]
    return document(
        title,
        body,
        styles=[data_file(*one) for one in _STYLES],
        programs=[data_file(*one) for one in _PROGRAMS],
        index=index,
        blocks={"s": packed.blocks, "c": packed.charts},
    )

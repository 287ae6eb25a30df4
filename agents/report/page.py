"""The page itself: sections, data and program in one file that asks nothing of any network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wardround
from wardround.patients import UsageError, write_whole

from .document import data_file, document
from .episodes import INDEX, Packed, pack
from .figures import Figures, section, table, text
from .overview import COMPARED, Shown, comparison_rows, overview
from .pairing import FIRST, SECOND, check_pair, crossed, paired, partner
from .source import Run, open_run

_STYLES = ("page.css",)
_PROGRAMS = ("legible.js", "unpack.js", "store.js", "results.js", "episode.js", "browse.js")
_HERE = "wardround.agents.report"
NAME = "report.html"


@dataclass(frozen=True, slots=True)
class PageMade:
    """What was written."""

    path: Path
    size: int
    """Bytes."""
    episodes: int
    shared: bool
    """Scores and item ids alone."""
    resources: bool
    """Whether the page holds the resources that calls showed."""
    comparisons: tuple[dict[str, Any], ...]
    """Of two runs: second minus first."""


def write_report(
    folder: str | Path, other: str | Path | None = None, *, out: str | Path | None = None, share: bool | None = None,
    sessions: str | None = None, charts: str | None = None,
) -> PageMade:  # fmt: skip
    """Write one self-contained HTML page of a run, or of two side by side.

    Args:
        folder: A run folder.
        other: A second one, of the same sessions.
        out: The page; None writes report.html into `folder`.
        share: True keeps scores and item ids alone, no words of record, patient, physician or agent; None does so
            where data are credentialed or nobody has said what they are.
        sessions: Another place of the set; None is where it was.
        charts: Another place of the charts; None is where they were.

    Raises:
        UsageError: A folder is none of a finished run, or the two cannot be compared.
        DataError: The files of a folder do not belong together.
    """
    runs = [open_run(one, sessions=sessions, charts=charts) for one in (folder, other) if one is not None]
    if other is not None:
        if Path(folder).resolve() == Path(other).resolve():
            raise UsageError(f"`{folder}` is given twice: give two runs to compare, or one")
        check_pair(*runs)
    whole = not (any(run.kept_close for run in runs) if share is None else share)
    packed = pack(runs, whole=whole)
    across = crossed(*runs) if other is not None else frozenset()
    compared = paired(packed.turns, across=across) if other is not None else []
    body = _page(runs, packed, compared, whole=whole, across=across)
    path = Path(out) if out is not None else Path(folder) / NAME
    data = body.encode("utf-8", "replace")
    write_whole(path, data)
    held = whole and all(run.charts is not None for run in runs)
    return PageMade(path, len(data), len(packed.rows), not whole, held, tuple(compared))


def _page(
    runs: list[Run], packed: Packed, compared: list[dict[str, Any]], *, whole: bool, across: frozenset[str]
) -> str:  # fmt: skip
    names = (FIRST, SECOND) if len(runs) > 1 else ("",)
    shown = [
        Shown(name, Figures(at, run.results), run.manifest, whole)
        for at, (name, run) in enumerate(zip(names, runs, strict=True))
    ]
    index = _index(runs, packed, names, whole=whole, across=across)
    agents = ", ".join(sorted({row["agent"] for one in shown for row in one.rows()}))
    title = f"wardround report: {agents}"
    body = [
        '<a class="skip" href="#episodes">Skip to the episodes</a>',
        f"<header><h1>{text(title)}</h1>{_facts(runs, packed, names, whole=whole)}{_contents(bool(compared))}</header>",
        f'<main><div id="overview">{_compared(compared)}{overview(shown)}</div>',
        '<section id="episodes" aria-labelledby="episodes-h"><h2 id="episodes-h">Episodes</h2>',
        "<noscript><p>Reading single episodes needs JavaScript; the figures above do not.</p></noscript>",
        '<div id="browser"></div></section><article id="episode" hidden></article></main>',
    ]
    return document(
        title, body, styles=[data_file(_HERE, name) for name in _STYLES],
        programs=[data_file(_HERE, name) for name in _PROGRAMS], index=index,
        blocks={"b": packed.blocks, "s": packed.session_blocks},
    )  # fmt: skip


def _index(
    runs: list[Run], packed: Packed, names: tuple[str, ...], *, whole: bool, across: frozenset[str]
) -> dict[str, Any]:  # fmt: skip
    found: dict[str, Any] = {
        "columns": INDEX, "rows": packed.rows, "sessions": packed.sessions, "runs": names, "whole": whole,
        "views": [run.manifest["view"] for run in runs],
    }  # fmt: skip
    if len(runs) > 1:
        fields = [dict(zip(INDEX, row, strict=True)) for row in packed.rows]
        places: dict[tuple[Any, ...], dict[int, int]] = {}
        for at, one in enumerate(fields):
            places.setdefault(partner(one, across=across), {})[one["run"]] = at
        found["partners"] = [
            places[partner(one, across=across)].get(1 - one["run"]) for one in fields
        ]  # fmt: skip
    return found


def _facts(runs: list[Run], packed: Packed, names: tuple[str, ...], *, whole: bool) -> str:
    lines = [f"{len(packed.rows):,} episodes of {len(packed.sessions):,} sessions; wardround {wardround.__version__}."]
    for name, run in zip(names, runs, strict=True):
        if name:
            lines.append(f"{name}: {', '.join(sorted({row['agent'] for row in run.results['results']}))}.")
    if not whole:
        lines.append("Shared form: scores and ids of rubric items alone, no words of record, patient or dialogue.")
    elif any(run.kept_close for run in runs):
        lines.append("This page holds credentialed data, or data of unknown licence: do not pass it on.")
    elif any(run.charts is None for run in runs):
        lines.append("The charts of the run were not found: results are shown as recorded, resources are not.")
    return "".join(f"<p>{text(line)}</p>" for line in lines)


def _contents(two: bool) -> str:
    places = [
        ("headline", "Scores"), ("heat", "Heat maps"), ("breakdowns", "Breakdowns"), ("curves", "Curves"),
        ("failures", "Failures"), ("manifest", "Manifest"), ("episodes", "Episodes"),
    ]  # fmt: skip
    if two:
        places.insert(0, ("two-runs", "Two runs"))
    links = "".join(f'<li><a href="#{place}">{name}</a></li>' for place, name in places)
    return f'<nav aria-label="Sections"><ul>{links}</ul></nav>'


def _compared(found: list[dict[str, Any]]) -> str:
    """Return the paired differences of two runs; their figures are in no file but in what the command prints."""
    if not found:
        return ""
    rows = comparison_rows(Figures(2, {"pairs": found}), ("pairs",), found)
    note = "Over the turns graded in both runs; 95 % by resampling sessions; p by sign flips of sessions; q adjusted."
    return section("two-runs", "Two runs", table("Run B minus run A", COMPARED, rows, note=note, heads=2))

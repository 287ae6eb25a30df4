"""The tables of a page: every figure of results.json that people compare, each with its place there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wardround.agents.failures import CATEGORIES

from .curves import Line, plots
from .figures import Figures, Place, pointer, section, table, text, words

_BREAKDOWNS = (
    ("task", "Task"), ("implicitness", "Implicitness"), ("scenario", "Scenario"), ("tier", "Tier"),
    ("source", "Record or patient"), ("language", "Language"),
)  # fmt: skip
_HEADLINE: tuple[tuple[str, Place, str], ...] = (
    ("sessions", ("sessions",), "count"), ("episodes", ("episodes",), "count"),
    ("turns", ("turns",), "count"), ("mRS", ("mrs",), "share"),
    ("95 %", ("mrs_interval",), "interval"), ("r_plain", ("r_plain",), "share"),
    ("turn≥.60", ("pass_turn", "0.60"), "share"), ("turn≥.75", ("pass_turn", "0.75"), "share"),
    ("session≥.60", ("pass_session", "0.60"), "share"), ("session≥.75", ("pass_session", "0.75"), "share"),
    ("calls/turn", ("calls_per_turn",), "rate"), ("ungraded turns", ("ungraded",), "count"),
    ("unreadable items", ("unreadable",), "count"),
)  # fmt: skip
_LEGEND = (
    "mRS: mean reward of sessions, with its 95 % interval by resampling sessions; r_plain: share of rubric items; "
    "turn≥τ: turns with a reward of at least τ; session≥τ: sessions all of whose turns reach it. Ungraded turns are "
    "left out of every mean; an unreadable item counts as not passed."
)
_SUBTYPES = {"NA": "pronouns", "PE": "ellipsis", "AE": "“given all this”"}


@dataclass(frozen=True, slots=True)
class Shown:
    """One run as a page shows it."""

    name: str
    """What tells it from the other; "" on a page of one run."""
    figures: Figures
    manifest: Mapping[str, Any]
    whole: bool
    """False: scores and item ids alone, no text that anybody wrote."""

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of results.json: an agent, phrasing and language each."""
        found: list[dict[str, Any]] = self.figures.get("results")
        return found

    def label(self, row: Mapping[str, Any], *, agent: bool = True) -> str:
        """Return what a row is called."""
        who = row["agent"] + (" (sees gold)" if row["sees_gold"] else "")
        return ", ".join(filter(None, (who if agent else "", row["phrasing"], row["language"], self.name)))


def overview(runs: Sequence[Shown]) -> str:
    """Return the sections of figures, in the order of design §10."""
    return "".join(
        (
            section("headline", "Scores", _headline(runs)),
            section("delta", "Implicit against explicit wording", *map(_deltas, runs)),
            section("comparisons", "The same turns compared", *map(_comparisons, runs)),
            section("heat", "Implicitness × task", *_heat_maps(runs)),
            section("breakdowns", "Breakdowns", *(_breakdown(runs, *one) for one in _BREAKDOWNS)),
            section("curves", "Pass rates over τ", *_curves(runs)),
            section("failures", "Why turns failed", _failures(runs)),
            section("endings", "Endings, errors and what could not be graded", *_endings(runs)),
            section("trials", "Repeated trials", _trials(runs)),
            section("usage", "Calls and tokens", _usage(runs)),
            section("manifest", "Manifest", *map(_manifest, runs)),
        )
    )


def _each(runs: Sequence[Shown]) -> Iterator[tuple[Shown, int, dict[str, Any]]]:
    """Yield every row of every run, rows of one agent, phrasing and language beside each other."""
    rows = [(run, at, row) for run in runs for at, row in enumerate(run.rows())]
    yield from sorted(rows, key=lambda one: (one[2]["agent"], one[2]["language"], one[2]["phrasing"]))


def _headline(runs: Sequence[Shown]) -> str:
    rows = []
    for run, at, row in _each(runs):
        cells = [
            run.figures.interval(("results", at, *place)) if kind == "interval"
            else run.figures.cell(("results", at, *place), kind)  # type: ignore[arg-type]  # the table above
            for _, place, kind in _HEADLINE
        ]  # fmt: skip
        rows.append(words(run.label(row)) + "".join(cells))
    return table("Rubric score by agent", ("agent", *(name for name, _, _ in _HEADLINE)), rows, note=_LEGEND)


def _deltas(run: Shown) -> str:
    """Δ of each agent, with the interval of the paired test of the same turns."""
    figures = run.figures
    tested = {one["label"]: at for at, one in enumerate(figures.get("comparisons"))}
    if all(value is None for value in figures.get("delta").values()):
        return ""
    rows = []
    for agent, found in figures.get("delta_by_agent").items():
        cells = []
        for kind in found:
            at = tested.get(f"{agent}: {kind}")
            span = f" ({_between(figures, ('comparisons', at, 'interval'))})" if at is not None else ""
            cells.append(f'<td class="n">{figures.figure(("delta_by_agent", agent, kind), "signed")}{span}</td>')
        rows.append(words(agent) + "".join(cells))
    rows.append(words("all agents") + "".join(figures.cell(("delta", kind), "signed") for kind in figures.get("delta")))
    columns = ("agent", *(f"{kind}: {_SUBTYPES.get(kind, '')}" for kind in figures.get("delta")))
    note = "Mean of implicit minus explicit reward of the very same turns, with its 95 % interval: below 0 is a cost."
    return table(_named("Δ by kind of implicitness", run), columns, rows, note=note)


def _between(figures: Figures, place: Place) -> str:
    if figures.get(*place) is None:
        return "no interval"
    return f"{figures.figure((*place, 0), 'signed')} … {figures.figure((*place, 1), 'signed')}"


def _comparisons(run: Shown) -> str:
    rows = comparison_rows(run.figures, ("comparisons",), run.figures.get("comparisons"))
    note = "q is p adjusted for all comparisons of the run (Benjamini–Hochberg)."
    return table(_named("Paired differences", run), COMPARED, rows, note=note, heads=2) if rows else ""


COMPARED = ("turns", "difference", "sessions", "pairs", "Δ", "95 %", "p", "q")


def comparison_rows(figures: Figures, where: Place, found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the rows of a table of comparisons.

    Args:
        figures: Where the figures stand.
        where: The place of the list.
        found: The list.
    """
    kinds = (("sessions", "count"), ("pairs", "count"), ("difference", "signed"))
    rows = []
    for at, one in enumerate(found):
        cells = "".join(figures.cell((*where, at, name), kind) for name, kind in kinds)  # type: ignore[arg-type]
        cells += figures.interval((*where, at, "interval"), "signed")
        cells += figures.cell((*where, at, "p"), "p") + figures.cell((*where, at, "q"), "p")
        rows.append(words(one["label"], f"{one['second']} − {one['first']}") + cells)
    return rows


def _named(title: str, run: Shown) -> str:
    return f"{title}, {run.name}" if run.name else title


# -- breakdowns -------------------------------------------------------------------------------------------------------


def _heat_maps(runs: Sequence[Shown]) -> Iterator[str]:
    maps = [_heat_map(run, at, row) for run, at, row in _each(runs)]
    if any(maps):
        note = "Mean reward, and under it how many turns; a darker cell is a higher reward; no turn, no cell."
        yield f'<p class="note">{text(note)}</p><div class="maps">{"".join(maps)}</div>'


def _heat_map(run: Shown, at: int, row: Mapping[str, Any]) -> str:
    found = row["breakdowns"]["implicitness_task"]
    pairs = [key.partition(" × ") for key in found]
    kinds = sorted({kind for kind, _, _ in pairs}, key=lambda kind: (kind != "none", kind))
    tasks = sorted({task for _, _, task in pairs})
    rows = []
    for kind in kinds:
        cells = []
        for task in tasks:
            key = f"{kind} × {task}"
            place: Place = ("results", at, "breakdowns", "implicitness_task", key)
            cells.append(_mean_cell(run.figures, place, found[key]["reward"]) if key in found else "<td></td>")
        rows.append(words("explicit only" if kind == "none" else kind) + "".join(cells))
    return table(run.label(row), ("type", *tasks), rows)


def _mean_cell(figures: Figures, place: Place, reward: float | None) -> str:
    shade = "" if reward is None else f" h{int(reward * 10)}"
    mean, turns = figures.figure((*place, "reward"), "share"), figures.figure((*place, "turns"), "count")
    return f'<td class="n{shade}">{mean}<small>n {turns}</small></td>'


def _breakdown(runs: Sequence[Shown], name: str, title: str) -> str:
    groups = sorted({key for _, _, row in _each(runs) for key in row["breakdowns"][name]})
    rows = []
    for run, at, row in _each(runs):
        cells = []
        for key in groups:
            place: Place = ("results", at, "breakdowns", name, key)
            cells.append(_group_cell(run.figures, place) if key in row["breakdowns"][name] else "<td></td>")
        rows.append(words(run.label(row)) + "".join(cells))
    heads = ["explicit only" if name == "implicitness" and key == "none" else key for key in groups]
    inside = table(f"{title}: mean reward, turns≥.60, turns", ("agent", *heads), rows)
    return f"<details{' open' if name == 'task' else ''}><summary>{text(title)}</summary>{inside}</details>"


def _group_cell(figures: Figures, place: Place) -> str:
    mean = figures.figure((*place, "reward"), "share")
    passed = figures.figure((*place, "pass_turn", "0.60"), "share")
    turns, ungraded = figures.figure((*place, "turns"), "count"), figures.get(*place, "ungraded")
    left = f", ungraded {figures.figure((*place, 'ungraded'), 'count')}" if ungraded else ""
    return f'<td class="n">{mean}<small>≥.60 {passed}, n {turns}{left}</small></td>'


def _curves(runs: Sequence[Shown]) -> Iterator[str]:
    agents = sorted({row["agent"] for _, _, row in _each(runs)})
    for agent in agents:
        lines = [
            Line(run.figures, at, run.label(row, agent=False))
            for run, at, row in _each(runs) if row["agent"] == agent and row.get("pass_curve")
        ]  # fmt: skip
        if lines:
            yield plots(agent, lines)


# -- what went wrong, and what was used up ----------------------------------------------------------------------------


def _counts(
    runs: Sequence[Shown], caption: str, field: str, order: Sequence[str] = (), *, note: str = ""
) -> str:  # fmt: skip
    """Return a table of counts by name; "" where nothing was counted."""
    names = [*order, *sorted({key for _, _, row in _each(runs) for key in row.get(field) or {}} - set(order))]
    if not names:
        return ""
    rows = []
    for run, at, row in _each(runs):
        held = row.get(field) or {}
        cells = [
            run.figures.cell(("results", at, field, name), "count") if name in held else "<td></td>" for name in names
        ]  # fmt: skip
        rows.append(words(run.label(row)) + "".join(cells))
    return table(caption, ("agent", *names), rows, note=note)


def _failures(runs: Sequence[Shown]) -> str:
    note = "A turn has failed where its reward is below 0.60; each has one category (docs/ablations.md has the rules)."
    return _counts(runs, "Failed turns by category", "failures", CATEGORIES, note=note)


def _endings(runs: Sequence[Shown]) -> Iterator[str]:
    yield _counts(runs, "How episodes ended", "outcomes")
    yield _counts(runs, "Calls that were refused, by reason", "call_errors")
    for run in runs:
        rows = []
        for at, one in enumerate(run.figures.get("errors")):
            told = [one["agent"], one["outcome"], one["key"], *([one["first"]] if run.whole else [])]
            rows.append(words(*told) + run.figures.cell(("errors", at, "episodes"), "count"))
        if rows:
            columns = ["agent", "outcome", "first episode", *(["what it said"] if run.whole else []), "episodes"]
            yield table(_named("Errors", run), columns, rows, heads=len(columns) - 1)
        yield _judge(run)


def _judge(run: Shown) -> str:
    judge = run.figures.get("judge")
    if judge is None:
        return ""
    counts = ("asked", "verdicts", "ungraded")
    cells = "".join(run.figures.cell(("judge", name), "count") for name in counts)
    return table(_named("Judge", run), ("judge", *counts), [words(judge.get("model") or "recorded verdicts") + cells])


def _trials(runs: Sequence[Shown]) -> str:
    most = max((len(row["pass_at_k"]) for _, _, row in _each(runs)), default=0)
    if most < 2:
        return ""
    asked = [("pass_at_k", f"pass@{k}", str(k)) for k in range(1, most + 1)]
    asked += [("pass_hat_k", f"pass^{k}", str(k)) for k in range(2, most + 1)]
    rows = [
        words(run.label(row)) + "".join(run.figures.cell(("results", at, field, k), "share") for field, _, k in asked)
        for run, at, row in _each(runs)
    ]
    note = "The chance that any of k trials, or all of them, pass a session (every turn at 0.60 or more)."
    return table("Sessions passed in k trials", ("agent", *(name for _, name, _ in asked)), rows, note=note)


_COUNTED = (
    "answer_only", "cost_usd", "cut_answers", "episodes", "invalid", "requests", "retries", "shortened",
    "skipped_calls", "tokens_in", "tokens_out", "trimmed",
)  # fmt: skip
"""What usage tells of a model; an agent's own words for it may hold anything."""


def _usage(runs: Sequence[Shown]) -> str:
    found: dict[Place, None] = {}
    for run, _, row in _each(runs):
        for place in _numbers(row.get("usage") or {}, ()):
            if run.whole or (len(place) == 1 and place[0] in _COUNTED):
                found[place] = None
    places = sorted(found, key=str)
    rows = []
    for run, at, row in _each(runs):
        cells = run.figures.cell(("results", at, "calls_per_turn"), "rate")
        for place in places:
            value = run.figures.get("results", at, "usage", *place)
            plain = isinstance(value, int | float) and not isinstance(value, bool)
            kind = "rate" if isinstance(value, float) else "count"
            cells += run.figures.cell(("results", at, "usage", *place), kind) if plain else "<td></td>"  # type: ignore[arg-type]
        rows.append(words(run.label(row)) + cells)
    heads = [" ".join(map(str, place)) for place in places]
    note = "What agents say they used up, summed over episodes; a model's cost where every reply told one."
    return table("Calls and tokens", ("agent", "calls/turn", *heads), rows, note=note)


def _numbers(usage: Mapping[str, Any], above: Place) -> Iterator[Place]:
    for name, value in usage.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, (*above, name))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield (*above, name)


_WORDS_OF_OTHERS = frozenset({"agreement", "data_agreement"})


def _manifest(run: Shown) -> str:
    keep: Callable[[Place], bool] = lambda place: run.whole or not _WORDS_OF_OTHERS & set(map(str, place))  # noqa: E731
    rows = [words(pointer(place)[1:], value) for place, value in _leaves(run.manifest, ()) if keep(place)]
    rows.append(words("trajectory_hash", run.figures.get("trajectory_hash")))
    return table(_named("What the run was", run), ("setting", "value"), rows, heads=2)


def _leaves(value: Any, above: Place) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, (*above, name))
    elif isinstance(value, list) and value and not all(isinstance(one, str) for one in value):
        for at, inner in enumerate(value):
            yield from _leaves(inner, (*above, at))
    else:
        yield above, ", ".join(value) if isinstance(value, list) else "none" if value is None else value

"""`wardround inspect`: what a store holds, and one patient's record in order of time, with plots."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from . import common
from .output import print_json, print_table

if TYPE_CHECKING:
    from wardround.patients import ChartStore, Event, Series, Snapshot, Truth

_SHOWN = 200
"""Events of a timeline that are shown when nobody says how many."""
_PATIENTS = 20
_PLOTS = 6
_WIDTH = 160
"""Characters of one event on a line; `--json` has the whole."""


def add(commands: Any) -> None:
    """Add the command."""
    inspect = commands.add_parser("inspect", help="what a store holds; with PATIENT, that record in order of time")
    inspect.add_argument("charts", help="a built-in set or a store")
    inspect.add_argument("patient", nargs="?", default=None, help="a patient's id: print the timeline")
    inspect.add_argument("--at", default=None, metavar="TIME", help="the record as it was known then (default: in all)")
    inspect.add_argument("--type", action="append", default=None, metavar="TYPE", help="only this resource type; again")
    inspect.add_argument("--encounter", default=None, metavar="ID", help="only what belongs to this encounter")
    inspect.add_argument("--from", dest="start", default=None, metavar="DATE", help="only what is dated from then on")
    inspect.add_argument("--to", dest="end", default=None, metavar="DATE", help="only what is dated up to then")
    inspect.add_argument(
        "--plots",
        type=common.natural,
        default=None,
        metavar="N",
        help=f"series to plot below the timeline (default {_PLOTS})",
    )
    inspect.add_argument("--html", default=None, metavar="FILE", help="write timeline and all plots as one page, too")
    inspect.add_argument(
        "--truth", action="store_true", help="also what is behind a generated chart, planted flaws included"
    )
    common.add_limit(inspect, f"patients (default {_PATIENTS}) or events (default {_SHOWN})")
    common.add_json(inspect)
    inspect.set_defaults(run=run_inspect)


def run_inspect(args: argparse.Namespace) -> int:
    """Print what a store holds, or one patient's timeline."""
    from wardround.patients import UsageError, load_charts

    filters = [name for name in ("at", "type", "encounter", "start", "end") if getattr(args, name) is not None]
    if args.patient is None and filters:
        option = {"start": "from", "end": "to"}.get(filters[0], filters[0])
        raise UsageError(f"`--{option}` cuts a timeline: name a patient, as `wardround inspect {args.charts} PATIENT`")
    if args.patient is None and (args.truth or args.html is not None or args.plots is not None):
        raise UsageError(f"plots and truth are a patient's: name one, as `wardround inspect {args.charts} PATIENT`")
    with load_charts(args.charts) as store:
        return _store(store, args) if args.patient is None else _patient(store, args)


def _store(store: ChartStore, args: argparse.Namespace) -> int:
    from wardround.patients import overview, printable

    types = overview(store)
    patients = store.patients()
    data = {"patients": len(patients), "store_hash": store.hash, **store.header}
    if args.json:
        print_json(data | {"types": [one.as_dict() for one in types]})
        return 0
    print(f"{args.charts}: {len(patients)} patients, {sum(one.resources for one in types)} resources")
    print(f"licence {printable(store.licence)}; store hash {store.hash}; FHIR {data.get('fhirVersion')}")
    rows = [
        (one.type, one.resources, one.patients, *(None if date is None else date[:10] for date in _dates(one)))
        for one in types
    ]
    print_table("Resources", ("type", "resources", "patients", "first", "last"), rows)
    absent = sorted(set(data.get("imported", ())) - {one.type for one in types})
    if absent:
        print(f"imported, but nothing found: {', '.join(absent)}")
    limit = args.limit or _PATIENTS
    print(f"patients: {', '.join(map(printable, patients[:limit]))}{_more(len(patients) - limit, '--limit')}")
    print(f"one record in order of time: wardround inspect {args.charts} {printable(patients[0])}")
    return 0


def _dates(one: Any) -> list[str | None]:
    data = one.as_dict()
    return [data["first"], data["last"]]


def _more(count: int, how: str) -> str:
    return f" … and {count} more ({how})" if count > 0 else ""


def _patient(store: ChartStore, args: argparse.Namespace) -> int:
    from wardround.patients import NEVER, UsageError, lab_series, parse_period, timeline

    if args.patient not in store.patients():
        some = ", ".join(store.patients()[:5])
        raise UsageError(f"`{args.patient}` is no patient of {args.charts}; it has {some} …")
    span = {}
    for name in ("at", "start", "end"):
        text = getattr(args, name)
        try:
            span[name] = None if text is None else parse_period(text)
        except ValueError as fault:
            raise UsageError(f"`{text}`: {fault}") from fault
    anchor = NEVER - 1 if span["at"] is None else span["at"][1] - 1
    snapshot = store.chart(args.patient).at(anchor)
    known = sorted(snapshot.chart.index.spans)
    for kind in args.type or ():
        if kind not in known:
            raise UsageError(f"this record has no `{kind}`; it has {', '.join(known)}")
    if args.encounter is not None and snapshot.read("Encounter", args.encounter) is None:
        raise UsageError(f"`{args.encounter}` is no encounter of this record; `--type Encounter` lists them")
    start = None if span["start"] is None else span["start"][0]
    end = None if span["end"] is None else span["end"][1]
    events = timeline(snapshot, types=args.type, encounter=args.encounter, start=start, end=end)
    wanted = "Observation" in (args.type or known)
    series = lab_series(snapshot, encounter=args.encounter, start=start, end=end) if wanted else []
    truth = None if not args.truth else store.truth(args.patient)
    if args.truth and truth is None:
        raise UsageError(f"nothing is known of what is behind `{args.patient}`: only generated charts have a truth")
    return _tell(snapshot, events, series, truth, args)


def _tell(
    snapshot: Snapshot, events: list[Event], series: list[Series], truth: Truth | None, args: argparse.Namespace
) -> int:
    from wardround.patients import never_visible, truth_lines

    lines = [] if truth is None else truth_lines(truth)
    if args.html is not None:
        _write_page(snapshot, events, series, lines, args.html)

    shown = events[: args.limit or _SHOWN]
    patient = next(iter(snapshot.resources("Patient")), {})
    if args.json:
        shown = events if args.limit is None else shown
        print_json({
            "patient": snapshot.patient_id,
            "licence": snapshot.chart.licence,
            "chart_hash": snapshot.chart.hash,
            "total": len(events),
            "never_visible": never_visible(snapshot),
            "events": [event.as_dict() for event in shown],
            "series": [one.as_dict() for one in series[: args.plots]],
            **({} if truth is None else {"truth": truth.model_dump(mode="json")}),
        })  # fmt: skip
        return 0
    _head(snapshot, patient, len(events))
    day = ""
    for event in shown:
        data = event.as_dict()
        today = "undated" if data["time"] is None else data["time"][:10]
        if today != day:
            day = today
            print(f"\n{day}")
        clock = "     " if data["time"] is None else data["time"][11:16]
        text = event.text
        text = text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
        print(f"  {clock}  {event.type:<24}  {text}{_later(event)}")
    if len(events) > len(shown):
        print(f"\n{len(events) - len(shown)} more: --limit N, or narrow with --type, --encounter, --from, --to")
    _plots(series, _PLOTS if args.plots is None else args.plots)
    _truth(lines)
    if args.html is not None:
        print(f"\ntimeline and {len(series)} plots: {args.html}")
    return 0


def _plots(series: list[Series], count: int) -> None:
    from wardround.patients import plot_text

    for one in series[:count]:
        print(f"\n{plot_text(one)}")
    if count and len(series) > count:
        print(f"\n{len(series) - count} more series: --plots N, or --html FILE for all")


def _truth(lines: list[tuple[str, list[str]]]) -> None:
    from wardround.patients import printable

    if lines:
        print("\n=== TRUTH BEHIND THE CHART: no tool shows this ===")
    for head, items in lines:
        print(f"\n{head}")
        for item in items:
            print(f"  - {printable(item)}")


def _write_page(
    snapshot: Snapshot, events: list[Event], series: list[Series], truth: list[tuple[str, list[str]]], path: str
) -> None:
    from pathlib import Path

    from wardround.patients import check_output, plot_page

    place = Path(path)
    check_output(place, b"<!doctype html>", "a page")
    patient = next(iter(snapshot.resources("Patient")), {})
    facts = [f"{patient.get('gender', '')}, born {patient.get('birthDate', '')}", f"licence {snapshot.chart.licence}"]
    place.write_text(plot_page(snapshot.patient_id, facts, series, events, truth), encoding="utf-8", newline="\n")


def _head(snapshot: Snapshot, patient: dict[str, Any], total: int) -> None:
    from wardround.patients import NEVER, format_instant, never_visible, printable

    words = [printable(str(patient.get(name))) for name in ("gender", "birthDate") if patient.get(name)]
    if patient.get("deceasedDateTime"):
        words.append(f"died {printable(str(patient['deceasedDateTime']))}")
    print(f"{printable(snapshot.patient_id)}: {', '.join(words) or 'nothing known of the person'}")
    when = "all that ever became known" if snapshot.anchor == NEVER - 1 else format_instant(snapshot.anchor)
    print(
        f"licence {printable(snapshot.chart.licence)}; chart hash {snapshot.chart.hash}; as of: {when}; {total} events"
    )
    hidden = never_visible(snapshot)
    if hidden:
        print(f"{hidden} resources are visible at no time: nothing says when they became known (`dump` has them)")


def _later(event: Event) -> str:
    """Say when a thing became known, where that was not within the hour of its date."""
    from wardround.patients import SECOND, format_instant

    if event.known is None or event.time is None or event.known - event.time < 3600 * SECOND:
        return ""
    return f"  [known {format_instant(event.known)[:16].replace('T', ' ')}]"

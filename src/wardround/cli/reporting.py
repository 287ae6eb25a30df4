"""`wardround report`: one HTML page of a run, or of two side by side."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from . import common
from .output import print_json, safe

if TYPE_CHECKING:
    from wardround.agents import PageMade


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "report",
        help="write one HTML page of a run: tables, curves, every episode to read",
        description="One file that asks nothing of any network. See docs/report.md.",
    )
    parser.add_argument("folder", metavar="DIR", help="a run folder")
    parser.add_argument("other", metavar="DIR2", nargs="?", default=None, help="a second run, shown beside the first")
    parser.add_argument("--out", default=None, metavar="FILE", help="the page (default DIR/report.html)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--share",
        action="store_true",
        help="scores and item ids alone, no words of record, patient or dialogue (the default for credentialed data)",
    )
    form.add_argument("--full", action="store_true", help="all of it, of credentialed data too: do not pass it on")
    parser.add_argument("--sessions", default=None, help="the set, where it is no longer where the run found it")
    parser.add_argument("--charts", default=None, help="the charts, likewise")
    common.add_json(parser)
    parser.set_defaults(run=run_report)


def run_report(args: argparse.Namespace) -> int:
    """Write the page."""
    from wardround.agents import write_report

    share = True if args.share else False if args.full else None
    made = write_report(
        args.folder, args.other, out=args.out, share=share, sessions=args.sessions, charts=args.charts
    )  # fmt: skip
    if args.json:
        print_json(as_dict(made))
        return 0
    print(safe(f"{made.path}: {made.episodes:,} episodes, {made.size / 1e6:.1f} MB"))
    if made.shared:
        why = "" if args.share else ": the data are credentialed, or of unknown licence (--full for all of it)"
        print(f"scores and item ids alone{why}")
    elif not made.resources:
        print("the charts of the run were not found (--charts): no FHIR resources in the page", file=sys.stderr)
    return 0


def as_dict(made: PageMade) -> dict[str, Any]:
    """Return what --json prints."""
    return {
        "out": str(made.path),
        "bytes": made.size,
        "episodes": made.episodes,
        "share": made.shared,
        "resources": made.resources,
        "comparisons": list(made.comparisons),
    }

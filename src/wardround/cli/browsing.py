"""`wardround browse`: one HTML page of a session set, to read and to review."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import common
from .output import print_json, safe
from .review import share

if TYPE_CHECKING:
    from wardround.agents import SessionPageMade


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "browse",
        help="write one HTML page of a set: turns, gold, rubrics, charts, and a review sheet to fill in",
        description="One file that asks nothing of any network. See docs/browse.md.",
    )
    parser.add_argument("set", help="a built-in set or a JSONL file")
    parser.add_argument("--charts", default=None, help="a built-in set or a store (default: as SET)")
    parser.add_argument("--out", default=None, metavar="FILE", help="the page (default: SET's name with .html)")
    parser.add_argument(
        "--sample",
        type=share,
        default=None,
        metavar="SHARE",
        help="share to draw of every scenario and tier, the same as of `review export` (default: all sessions)",
    )
    parser.add_argument("--gold", action="store_true", help="gold and rubrics of sessions for evaluation, too")
    common.add_seed(parser)
    common.add_json(parser)
    parser.set_defaults(run=run_browse)


def run_browse(args: argparse.Namespace) -> int:
    """Write the page."""
    from wardround.agents import write_session_page

    path = Path(args.set)
    out = args.out or (path.with_suffix(".html") if path.is_file() else f"{args.set}.html")
    made = write_session_page(
        args.set, args.charts, out=out, share=args.sample, seed=args.seed, gold=args.gold
    )  # fmt: skip
    if args.json:
        print_json(as_dict(made))
        return 0
    print(safe(f"{made.path}: {made.sessions:,} sessions, {made.rows:,} things to judge, {made.size / 1e6:.1f} MB"))
    print(safe(f"licence {made.licence}; the page holds text of patients' records"))
    if made.kept_close:
        print("the data are credentialed, or of unknown licence: do not pass the page on", file=sys.stderr)
    if made.bare:
        print(f"gold and rubrics of {made.bare:,} sessions for evaluation are left out (--gold shows them)")
    return 0


def as_dict(made: SessionPageMade) -> dict[str, Any]:
    """Return what --json prints."""
    return {
        "out": str(made.path),
        "bytes": made.size,
        "sessions": made.sessions,
        "rows": made.rows,
        "gold_left_out": made.bare,
        "licence": made.licence,
        "kept_close": made.kept_close,
    }

"""`wardround export`: transcripts and rows for trainers."""

from __future__ import annotations

import argparse
from typing import Any

from . import common
from .output import print_json


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "export",
        help="write a run, or gold, as chat transcripts or rows for trainers",
        description="chat: OpenAI messages with tool calls and the tools, one episode a line, for supervised "
        "fine-tuning. rows: {prompt, session_id, seed}, one session a line. Every line carries its licence; sessions "
        "for evaluation only are refused.",
    )
    parser.add_argument("source", help="a run folder; with --gold or --format rows also a set")
    parser.add_argument("--format", choices=("chat", "rows"), default="chat")
    parser.add_argument("--gold", action="store_true", help="gold replays instead of what the run's agents did")
    parser.add_argument("--min-reward", type=_share, default=None, metavar="X", help="leave out episodes below (0 … 1)")
    parser.add_argument(
        "--language", choices=("en", "zh", "both"), default=None, help="default: the run's; of a set, en"
    )
    parser.add_argument(
        "--phrasing",
        choices=("implicit", "explicit", "both"),
        default=None,
        help="default: the run's; of a set, implicit",
    )
    parser.add_argument("--split", default=None, help="only sessions of this split")
    parser.add_argument("--sessions", default=None, help="where the run's set is now (default: where it was)")
    parser.add_argument("--charts", default=None, help="a built-in set or a store (default: as the run's or the set's)")
    parser.add_argument("--out", required=True, help="the JSONL file")
    common.add_json(parser)
    parser.set_defaults(run=run_export)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"`{text[:40]}` is no number from 0 to 1")
    return value


def run_export(args: argparse.Namespace) -> int:
    """Export; exit code 0 where something was written."""
    from wardround.agents import ExportPlan, export

    plan = ExportPlan(
        source=args.source,
        format=args.format,
        gold=args.gold,
        min_reward=args.min_reward,
        languages=("en", "zh") if args.language == "both" else _one(args.language),
        phrasings=("explicit", "implicit") if args.phrasing == "both" else _one(args.phrasing),
        split=args.split,
        sessions=args.sessions,
        charts=args.charts,
    )
    report = export(plan, args.out)
    if args.json:
        print_json(report)
        return 0
    print(f"{report['rows']} lines ({report['format']}) of {report['sessions']} sessions; licence {report['licence']}")
    for why, count in report["left_out"].items():
        print(f"  left out: {count} {why}")
    print(f"file            {report['out']}")
    return 0


def _one(value: str | None) -> tuple[str, ...] | None:
    return None if value is None else (value,)

"""`wardround generate`, `check`, `stats`: sets of sessions."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from . import common
from .output import print_json, print_table, progress


def add(commands: Any) -> None:
    """Add the commands of this group."""
    generate = commands.add_parser("generate", help="make sessions from charts")
    generate.add_argument("--charts", required=True, help="a built-in set or a store")
    generate.add_argument("--out", required=True, help="the JSONL file to write")
    generate.add_argument("--scenario", default="medication_safety")
    common.add_seed(generate)
    common.add_limit(generate, "sessions")
    common.add_json(generate)
    generate.set_defaults(run=run_generate)

    check = commands.add_parser("check", help="is a set sound, and can its reward be trusted?")
    _add_set(check)
    check.set_defaults(run=run_check)

    stats = commands.add_parser("stats", help="counts of a set")
    stats.add_argument("set", help="a built-in set or a JSONL file")
    common.add_json(stats)
    stats.set_defaults(run=run_stats)


def _add_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("set", help="a built-in set or a JSONL file")
    parser.add_argument("--charts", default=None, help="a built-in set or a store (default: as the set)")
    common.add_json(parser)


def run_generate(args: argparse.Namespace) -> int:
    """Generate sessions; exit code 1 where none passed the gates."""
    from wardround.patients import load_charts
    from wardround.sessions import generate, save_sessions

    with load_charts(args.charts) as store:
        result = generate(store, scenario=args.scenario, seed=args.seed, limit=args.limit)
    data: dict[str, Any] = {"sessions": len(result.sessions), **result.statistics, "out": None}
    if result.sessions:
        data["out"] = args.out
        data["set_hash"] = save_sessions(args.out, result.sessions).hash
    if args.json:
        print_json(data)
    else:
        for name, value in data.items():
            print(f"{name}: {value}")
    if not result.sessions:
        print("wardround: no session could be made, nothing was written; `skipped` says why", file=sys.stderr)
    return 0 if result.sessions else 1


def run_check(args: argparse.Namespace) -> int:
    """Check a set; exit code 1 where a session failed."""
    from wardround.agents import check_set
    from wardround.patients import UsageError, load_charts
    from wardround.sessions import builtin_sets, load_sessions

    sessions = load_sessions(args.set)
    if args.charts is None and args.set not in builtin_sets():
        raise UsageError(f"`{args.set}` is no built-in set: say with --charts which store its charts are in")
    with load_charts(args.charts or args.set) as store, progress("sessions", quiet=args.json) as tell:
        report = check_set(sessions, store, progress=tell)
    if args.json:
        print_json(report)
    else:
        for failure in report["failures"][:50]:
            print(f"{failure['session']}: {failure['rule']}: {failure['message']}")
        print(f"{report['passed']} of {report['sessions']} sessions pass")
        print_table("Mean rubric score", ("agent", "mRS"), list(report["mrs"].items()))
    return 1 if report["failures"] else 0


def run_stats(args: argparse.Namespace) -> int:
    """Print the counts of a set."""
    from wardround.sessions import load_sessions, set_statistics

    data = set_statistics(load_sessions(args.set))
    if args.json:
        print_json(data)
        return 0
    for name, value in data.items():
        print(f"{name}: {value}")
    return 0

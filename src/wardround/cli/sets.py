"""`wardround generate`, `check`, `stats`: sets of sessions."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import Any

from . import common
from .output import print_counts, print_crossing, print_json, print_table, progress


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
        _tell_generated(data)
    if not result.sessions:
        print(
            "wardround: no session could be made, nothing was written; the patients left out say why", file=sys.stderr
        )
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
        print_table("Of turns that ask for advice", ("agent", "mean"), list(report["advice"].items()))
    return 1 if report["failures"] else 0


def run_stats(args: argparse.Namespace) -> int:
    """Print the counts of a set."""
    from wardround.sessions import load_sessions, set_statistics

    data = set_statistics(load_sessions(args.set))
    if args.json:
        print_json(data)
        return 0
    _tell_statistics(data)
    return 0


_CROSSINGS = {
    "by_scenario_tier": ("Sessions by scenario and tier", "scenario"),
    "by_task_turn": ("Turns by task", "task"),
    "by_implicitness_turn": ("Turns by implicitness", "implicitness"),
    "tool_by_scenario": ("Gold calls by tool and scenario", "tool"),
}
_COUNTS = {"by_source": "Turns by source", "by_act": "Turns by act", "by_topic": "Turns by topic"}


def _tell_statistics(data: dict[str, Any]) -> None:
    print(f"{data['sessions']} sessions of {data['patients']} patients")
    for name, value in data.items():
        if name in _CROSSINGS:
            print_crossing(*_CROSSINGS[name], value)
        elif name in _COUNTS:
            print_counts(_COUNTS[name], value)
        elif name not in ("sessions", "patients"):
            print(f"{name.replace('_', ' ')}: {value}")


def _tell_generated(data: dict[str, Any]) -> None:
    """Print what was made, and what was left out and why; the patients themselves are in --json."""
    print(f"{data['sessions']} sessions of {data['patients_used']} patients; {data['patients']} in the store")
    gates = data["gates"].items()
    print_table("Gates", ("gate", "tried", "failed"), [(name, gate["tried"], gate["failed"]) for name, gate in gates])
    reasons = {f"Refused by {name}": gate["reasons"] for name, gate in gates}
    reasons["Patients left out"] = Counter(one["reason"] for one in data["skipped"])
    reasons["Facts left out"] = data["left_out"]
    for title, counts in reasons.items():
        if counts:
            print_table(title, ("reason", "count"), sorted(counts.items(), key=lambda one: (-one[1], one[0])))
    print_counts("Mix", data["mix"])
    if data["out"]:
        print(f"written to {data['out']}; set hash {data['set_hash']}")

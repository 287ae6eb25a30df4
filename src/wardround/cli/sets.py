"""`wardround generate`, `check`, `stats`: sets of sessions."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from . import common, writing
from .output import print_counts, print_crossing, print_json, print_list, print_table, progress


def add(commands: Any) -> None:
    """Add the commands of this group."""
    generate = commands.add_parser("generate", help="make sessions from charts")
    generate.add_argument("--charts", required=True, help="a built-in set or a store")
    generate.add_argument("--out", default=None, help="the JSONL file to write")
    generate.add_argument(
        "--scenario", default="all", help="id of a scenario, or a file of your own, NAME.json (default: all of them)"
    )
    generate.add_argument(
        "--anchor",
        choices=("discharge", "mid-stay"),
        default=None,
        help="when rounds take place (default: by scenario)",
    )
    generate.add_argument("--split", choices=("public", "train"), default="public", help="which wordings may be used")
    generate.add_argument(
        "--per-patient",
        type=common.positive,
        default=None,
        metavar="N",
        help="most sessions of one patient (default: 3)",
    )
    generate.add_argument(
        "--mix", choices=("even", "paper"), default="even", help="shares of implicit types (default: a third each)"
    )
    generate.add_argument(
        "--explain", default=None, metavar="PATIENT", help="make nothing; tell what one patient's record is enough for"
    )
    common.add_seed(generate)
    common.add_limit(generate, "sessions")
    common.add_json(generate)
    writing.add_writer(generate)
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
    from wardround.patients import UsageError, check_output, load_charts
    from wardround.sessions import PER_PATIENT, generate, save_sessions

    if args.explain is not None:
        return _explain(args)
    if args.out is None:
        raise UsageError("say with --out which file to write, or with --explain which patient to tell of")
    check_output(args.out, b'{"format":"wardround.session/', "a set of sessions")
    Path(args.out).parent.mkdir(parents=True, exist_ok=True)
    if writing.writer_wanted(args):
        return writing.run_writer(args)
    with load_charts(args.charts) as store, progress("patients", quiet=args.json) as tell:
        result = generate(
            store,
            scenario=args.scenario,
            seed=args.seed,
            limit=args.limit,
            anchor=args.anchor,
            split=args.split,
            per_patient=args.per_patient or PER_PATIENT,
            mix=args.mix,
            progress=tell,
        )
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


def _explain(args: argparse.Namespace) -> int:
    from wardround.patients import load_charts
    from wardround.sessions import explain

    with load_charts(args.charts) as store:
        data = explain(store, args.explain, scenario=args.scenario, seed=args.seed, anchor=args.anchor)
    if args.json:
        print_json(data)
    else:
        for scenario in data["scenarios"]:
            _tell_rounds(data["patient"], scenario)
    return 0


def _tell_rounds(patient: str, scenario: dict[str, Any]) -> None:
    """Print what one scenario finds in a patient's record."""
    print(f"{scenario['scenario']}: {scenario['title']}")
    if not scenario["rounds"]:
        print(f"  {patient} has no hospital stay with an anchor")
    for found in scenario["rounds"]:
        print(f"  round in {found['encounter']} at {found['anchor']}")
        for name, items in found["items"].items():
            counts = items.items() if isinstance(items, dict) else ((item, 1) for item in items)
            print_list(
                f"    {name.replace('_', ' ')}:", [f"{item} {count}" if count != 1 else item for item, count in counts]
            )
        print_list("    scores:", found["scores"])
        print_list("    decisions:", [f"{one['kind']} {one['subject']} ({one['act']})" for one in found["decisions"]])
        for cell in found["cells"]:
            state = f"lacks {'; '.join(cell['lacks'])}" if cell["lacks"] else f"{len(cell['arcs'])} of 27 arcs"
            print(f"    {cell['tier']}: {state}")


def run_check(args: argparse.Namespace) -> int:
    """Check a set; exit code 1 where a session failed."""
    from wardround.agents import check_set
    from wardround.patients import UsageError, load_charts
    from wardround.sessions import charts_of, load_sessions

    sessions = load_sessions(args.set)
    charts = args.charts or charts_of(args.set)
    if charts is None:
        raise UsageError(f"`{args.set}` is no built-in set: say with --charts which store its charts are in")
    with load_charts(charts) as store, progress("sessions", quiet=args.json) as tell:
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
_COUNTS = {
    "by_arc": "Sessions by arc",
    "by_source": "Turns by source",
    "by_act": "Turns by act",
    "by_write": "Orders by tool",
    "topics": "Topics by scenario",
    "pairs": "Drugs with labs by scenario",
    "by_lab": "Turns by lab",
    "by_topic": "Turns by topic",
}
_SHARES = {
    "unchanged": "turns that ask for advice and want no change",
    "adaptive": "turns that gather and are adaptive",
    "turned": "turns with the patient whose words turn the answer",
}


def _tell_statistics(data: dict[str, Any]) -> None:
    print(f"{data['sessions']} sessions of {data['patients']} patients")
    for name, value in data.items():
        if name in _CROSSINGS:
            print_crossing(*_CROSSINGS[name], value)
        elif name in _COUNTS:
            print_counts(_COUNTS[name], value)
        elif name in _SHARES:
            print(f"{_SHARES[name]}: {value['yes']} of {value['of']}")
        elif name == "tools_missing":
            print_list("tools that are gold nowhere:", value or ("none",))
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

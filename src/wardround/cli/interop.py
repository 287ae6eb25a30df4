"""`wardround interop import` and `export`: sets in PhysAssistBench's shape."""

from __future__ import annotations

import argparse
from typing import Any

from . import common
from .output import print_counts, print_json


def add(commands: Any) -> None:
    """Add the command."""
    interop = commands.add_parser("interop", help="read and write sets in PhysAssistBench's shape")
    ways = interop.add_subparsers(dest="way", metavar="WAY", required=True)

    read = ways.add_parser("import", help="make sessions of a published JSONL file")
    read.add_argument("file", help="JSONL in PhysAssistBench's shape")
    read.add_argument("--out", required=True, help="the JSONL file of sessions to write")
    behind = read.add_mutually_exclusive_group(required=True)
    behind.add_argument("--charts", help="a store with the same patients (your MIMIC-IV): tools run on it")
    behind.add_argument("--recorded", metavar="FILE", help="write the recorded results here: tools replay them")
    read.add_argument("--licence", default="credentialed", help="tag of what is read (default credentialed)")
    common.add_json(read)
    read.set_defaults(run=run_import)

    write = ways.add_parser("export", help="write sessions in PhysAssistBench's shape")
    write.add_argument("set", help="a built-in set or a JSONL file")
    write.add_argument("--charts", default=None, help="a built-in set or a store (default: as the set)")
    write.add_argument("--out", required=True, help="the JSONL file to write")
    common.add_json(write)
    write.set_defaults(run=run_export)


def run_import(args: argparse.Namespace) -> int:
    """Import a file; exit code 1 where an entry was refused."""
    from wardround.patients import check_output, load_charts
    from wardround.sessions import save_sessions
    from wardround.sessions.interop import import_physassistbench

    if args.recorded is not None:
        check_output(args.recorded, b"SQLite format 3\0", "a store of charts")
        sessions, report = import_physassistbench(args.file, charts=args.recorded, licence=args.licence)
    else:
        with load_charts(args.charts) as store:
            sessions, report = import_physassistbench(args.file, store=store, licence=args.licence)
    report.out, report.set_hash = args.out, save_sessions(args.out, sessions).hash
    data = report.as_json()
    if args.json:
        print_json(data)
    else:
        print(f"{report.sessions} sessions written to {args.out}; set hash {report.set_hash}")
        for one in report.refused:
            print(f"refused: line {one['line']}: {one['reason']}")
        print_counts("Rubric items by kind", data["items"])
        print(f"share of items for a judge: {data['judge_share']:.3f}")
        if data["left_out"]:
            print_counts("Left out", data["left_out"])
    return 1 if report.refused else 0


def run_export(args: argparse.Namespace) -> int:
    """Export a set."""
    from pathlib import Path

    from wardround.patients import UsageError, check_output, load_charts, write_whole
    from wardround.sessions import charts_of, load_sessions
    from wardround.sessions.interop import export_physassistbench

    sessions = load_sessions(args.set)
    charts = args.charts or charts_of(args.set)
    if charts is None:
        raise UsageError(f"`{args.set}` is no built-in set: say with --charts which store its charts are in")
    target = Path(args.out)
    check_output(target, b'{"id":', "sessions in PhysAssistBench's shape")
    with load_charts(charts) as store:
        lines = list(export_physassistbench(sessions, store))
    write_whole(target, b"".join(line + b"\n" for line in lines))
    if args.json:
        print_json({"sessions": len(lines), "out": args.out})
    else:
        print(f"{len(lines)} sessions written to {args.out}")
    return 0

"""`wardround grade`: one answer against a session's turn, explained; or the text checks on labelled rows."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from . import common
from .output import print_json, print_table, progress

_ANSWER_BYTES = 1 << 20


def add(commands: Any) -> None:
    """Add the commands of this group."""
    grade = commands.add_parser(
        "grade",
        help="grade one answer against a session's turn, or labelled rows with the checks",
        description="`grade SESSION --turn N` reads an answer from standard input or --answer and explains its grade.",
    )
    grade.add_argument("session", nargs="?", default=None, help="id of a session of the set")
    grade.add_argument("--turn", type=common.positive, default=None, metavar="N", help="turn of the session, from 1")
    grade.add_argument("--answer", default="-", metavar="FILE", help="the answer's file (default: standard input)")
    grade.add_argument("--sessions", default="ward", help="a built-in set or a JSONL file (default ward)")
    grade.add_argument("--charts", default=None, help="a built-in set or a store (default: as --sessions)")
    grade.add_argument("--language", choices=("en", "zh"), default="en")
    grade.add_argument("--phrasing", choices=("implicit", "explicit"), default="implicit")
    grade.add_argument(
        "--calls",
        choices=("gold", "none"),
        default="gold",
        help="make the turn's gold look-ups and orders before the answer (default), or none",
    )
    grade.add_argument("--rows", default=None, metavar="FILE", help="JSONL in the grading format, instead of a session")
    grade.add_argument(
        "--run",
        dest="run_folder",
        default=None,
        metavar="DIR",
        help="a run folder, with --judge: do judge and checks agree?",
    )
    common.add_judge(grade)
    grade.add_argument(
        "--judgements",
        default=None,
        metavar="FILE",
        help="keeps every reply of the judge (with --run: DIR/agreement.jsonl)",
    )
    common.add_json(grade)
    grade.set_defaults(run=run_grade)


def run_grade(args: argparse.Namespace) -> int:
    """Grade; exit code 1 where an item fails or a verdict is not the label."""
    from wardround.patients import UsageError

    if sum(given is not None for given in (args.rows, args.session, args.run_folder)) != 1:
        raise UsageError("give either a session and --turn, or --rows FILE, or --run DIR")
    if args.judge is not None or args.run_folder is not None:
        return _agreement(args)
    if args.rows is not None:
        return _rows(args)
    if args.turn is None:
        raise UsageError(f"say which turn of `{args.session}`: --turn N, from 1")
    return _answer(args)


def _answer(args: argparse.Namespace) -> int:
    from wardround.envs import grade_answer
    from wardround.patients import load_charts
    from wardround.sessions import charts_of, load_sessions

    sessions = load_sessions(args.sessions)
    session = sessions.get(args.session)
    with load_charts(args.charts or charts_of(args.sessions) or args.sessions) as store:
        data = grade_answer(
            session,
            store.chart(session.chart.patient),
            args.turn - 1,
            _read(args.answer),
            language=args.language,
            phrasing=args.phrasing,
            calls=args.calls,
        )
    if args.json:
        print_json(data)
    else:
        _tell(data)
    return 0 if all(item["verdict"] == "pass" for item in data["items"]) else 1


def _read(source: str) -> str:
    from wardround.patients import UsageError

    with sys.stdin.buffer if source == "-" else Path(source).open("rb") as stream:
        raw = stream.read(_ANSWER_BYTES + 1)
    where = "standard input" if source == "-" else f"`{source}`"
    if len(raw) > _ANSWER_BYTES:
        raise UsageError(f"{where} is longer than an answer can be ({_ANSWER_BYTES} bytes)")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise UsageError(f"{where} is not UTF-8 (byte {fault.start}); save the answer as UTF-8") from fault


def _tell(data: dict[str, Any]) -> None:
    from wardround.patients import printable

    print(f"{data['session']}, turn {data['turn']} ({data['task']}): {printable(data['query'])}")
    print(f"answer: {printable(data['answer']) or '(empty)'}\n")
    for item in data["items"]:
        mark = {"pass": "✓", "fail": "✗"}.get(item["verdict"], "?")
        kind = f"{item['kind']}{', guard' if item['guard'] else ''}"
        print(f"{mark} {item['id']} [{kind}] {item['text']}")
        print(f"    {item['verdict']}: {printable(item['reason'])}")
        if item["words"]:
            print("    rests on: " + " | ".join(f"“{printable(words)}”" for words in item["words"]))
        if item["resources"]:
            print("    record: " + ", ".join(item["resources"]))
    for note in data["notes"]:
        print(f"rule: {printable(note)}")
    print(f"\nreward {data['reward']:.3f} (plain share {data['r_plain']:.3f}): {data['explained']}")


def _rows(args: argparse.Namespace) -> int:
    from wardround.rubrics import grade_rows

    report = grade_rows(args.rows)
    if args.json:
        print_json(report)
    else:
        rows = [(cell["kind"], cell["language"], cell["right"], cell["rows"]) for cell in report["cells"]]
        print_table("Right by kind and language", ("kind", "language", "right", "rows"), rows)
        print(f"{report['right']} of {report['rows']} right, {report['unreadable']} unreadable")
        if report["wrong"]:
            print("wrong: " + ", ".join(report["wrong"]))
    return 1 if report["wrong"] else 0


def _agreement(args: argparse.Namespace) -> int:
    """Compare an LLM judge with the checks, and both with the labels; exit code 1 where a verdict could not be had."""
    from wardround.agents import rows_agreement, run_agreement
    from wardround.patients import UsageError

    plan = common.judge_plan(args)
    if plan is None:
        raise UsageError("say with --judge who is compared with the checks of --run")
    if args.session is not None:
        raise UsageError("one answer is graded by the checks of its turn; a judge is compared over --rows or a --run")
    with progress("judged", quiet=args.json) as judged:
        if args.rows is not None:
            report = rows_agreement(args.rows, plan, args.judgements, progress=judged)
        else:
            report = run_agreement(args.run_folder, plan, args.judgements, progress=judged)
    if args.json:
        print_json(report)
    else:
        _tell_agreement(report)
    return 1 if report["ungraded"] else 0


def _tell_agreement(report: dict[str, Any]) -> None:
    pairs = ("judge_checks", "judge_labels", "checks_labels")
    rows = [
        (
            *(cell["kind"], cell["language"], cell["cases"], cell["judge_checks"]["n"]),
            *(cell[pair]["kappa"] for pair in pairs),
        )
        for cell in [*report["cells"], {"kind": "all", "language": "", **report["all"]}]
    ]
    columns = ("kind", "language", "cases", "judged", "κ judge–checks", "κ judge–labels", "κ checks–labels")
    print_table("Agreement beyond chance (Cohen's κ)", columns, rows)
    print(
        f"{report['judged']} of {report['cases']} judged, {report['ungraded']} without a verdict, "
        f"{report['unworded']} not put to the judge; judge and check differ on {len(report['disagree'])}"
    )

"""`wardround review`: sheets for people, their verdicts merged, and how far they agree with checks and judge."""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path
from typing import Any

from . import common
from .output import print_counts, print_json, print_table


def share(text: str) -> Fraction:
    """Read a share: a decimal number or a fraction.

    Raises:
        argparse.ArgumentTypeError: It is none above 0 and at most 1.
    """
    try:
        value = Fraction(text) if len(text) <= 12 else Fraction(0)
    except (ValueError, ZeroDivisionError):
        value = Fraction(0)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"`{text[:20]}` is no share above 0 and at most 1")
    return value


def add(commands: Any) -> None:
    """Add the command."""
    review = commands.add_parser("review", help="let people judge a set, or the answers of a run")
    ways = review.add_subparsers(dest="way", metavar="WAY", required=True)

    export = ways.add_parser("export", help="write a sheet (CSV) to be judged")
    export.add_argument("set", help="a built-in set or a JSONL file")
    export.add_argument(
        "--run", dest="run_folder", default=None, metavar="DIR", help="a run: judge its answers instead"
    )
    export.add_argument("--sample", type=share, default=Fraction(1, 4), help="share to draw (default 0.25)")
    export.add_argument("--out", required=True, help="the CSV file to write")
    common.add_seed(export)
    common.add_json(export)
    export.set_defaults(run=run_export)

    merge = ways.add_parser("import", help="merge a judged sheet into a new version of the set")
    merge.add_argument("file", help="the sheet that came back")
    merge.add_argument("--set", required=True, help="the set the sheet was made from")
    merge.add_argument("--charts", default=None, help="a built-in set or a store (default: as --set)")
    merge.add_argument("--out", required=True, help="the new version (JSONL); its changelog is beside it")
    common.add_json(merge)
    merge.set_defaults(run=run_import)

    agree = ways.add_parser("agree", help="do checks and judge agree with people on a run's answers?")
    agree.add_argument("run_folder", metavar="DIR", help="the run folder")
    agree.add_argument("--human", required=True, metavar="FILE", help="the answer sheet that came back")
    agree.add_argument(
        "--judgements", default=None, metavar="FILE", help="a judge's replies (default DIR/agreement.jsonl)"
    )
    common.add_json(agree)
    agree.set_defaults(run=run_agree)


def run_export(args: argparse.Namespace) -> int:
    """Write a sheet."""
    from wardround.agents import answer_sheet
    from wardround.patients import check_output, write_whole
    from wardround.sessions import load_sessions
    from wardround.sessions.sheet import sample_sessions, sheet_rows, write_sheet

    target = Path(args.out)
    check_output(target, b"\xef\xbb\xbf", "a review sheet")
    if args.run_folder is not None:
        body = answer_sheet(args.run_folder, args.sample, args.seed)
    else:
        drawn = sample_sessions(load_sessions(args.set), args.sample, args.seed)
        body = write_sheet(row for session in drawn for row in sheet_rows(session))
    write_whole(target, body)
    data = {"rows": _rows(body), "out": args.out}
    if args.json:
        print_json(data)
    else:
        print(f"{data['rows']} rows written to {args.out}")
    return 0


def _rows(body: bytes) -> int:
    import csv
    import io

    return sum(1 for _ in csv.reader(io.StringIO(body.decode("utf-8-sig"), newline=""))) - 1


def run_import(args: argparse.Namespace) -> int:
    """Merge a sheet; exit code 1 where a correction was refused."""
    from wardround.patients import UsageError, check_output, load_charts, write_whole
    from wardround.sessions import charts_of, load_sessions, save_sessions
    from wardround.sessions.reviewing import changelog, merge_review
    from wardround.sessions.sheet import read_sheet

    file, log = Path(args.file), Path(f"{args.out}.changes.jsonl")
    if not file.is_file():
        raise UsageError(f"no sheet `{file}`; make one with `wardround review export SET --out FILE`")
    check_output(log, b'{"format":"wardround.review/', "a changelog of a review")
    sessions = load_sessions(args.set)
    charts = args.charts or charts_of(args.set)
    if charts is None:
        raise UsageError(f"`{args.set}` is no built-in set: say with --charts which store its charts are in")
    with load_charts(charts) as store:
        review = merge_review(sessions, read_sheet(file.read_bytes(), file.name), store, file.name)
    made = save_sessions(args.out, review.sessions)
    write_whole(log, changelog(review, sessions.hash, made.hash))
    data = {**review.as_json(), "out": args.out, "changelog": str(log), "set_hash": made.hash}
    if args.json:
        print_json(data)
    else:
        _tell(data)
    return 1 if review.refused else 0


def _tell(data: dict[str, Any]) -> None:
    for what, counts in data["verdicts"].items():
        right = data["right"][what]
        print_counts(what if right is None else f"{what}: {right:.3f} right", counts)
    print(f"{len(data['changes'])} changes; {data['sessions']} sessions written to {data['out']}")
    for one in data["refused"]:
        print(f"left as it was: {one['session']}: {one['reason']}")
    print(f"changelog: {data['changelog']}; set hash {data['set_hash']}")


def run_agree(args: argparse.Namespace) -> int:
    """Print the agreement."""
    from wardround.agents import human_agreement

    data = human_agreement(args.run_folder, args.human, args.judgements)
    if args.json:
        print_json(data)
        return 0
    rows = []
    for cell in ({"kind": "all", "language": "", **data["all"]}, *data["cells"]):
        checks, judge = cell["checks_labels"], cell["judge_labels"]
        rows.append((cell["kind"], cell["language"], cell["cases"], *_cell(checks), *_cell(judge)))
    print_table(
        "Agreement with people",
        ("kind", "language", "items", "checks: same", "κ", "judge: same", "κ "),
        rows,
    )
    if data["unknown"]:
        print(f"{data['unknown']} rows of the sheet are about no item of this run")
    return 0


def _cell(found: dict[str, Any]) -> tuple[str, str]:
    kappa = found["kappa"]
    return f"{found['agree']}/{found['n']}", "" if kappa is None else f"{kappa:.2f}"

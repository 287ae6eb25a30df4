"""`wardround grade`: the text checks on labelled rows."""

from __future__ import annotations

import argparse
from typing import Any

from . import common
from .output import print_json, print_table


def add(commands: Any) -> None:
    """Add the commands of this group."""
    grade = commands.add_parser("grade", help="judge labelled rows with the checks")
    grade.add_argument("--rows", required=True, metavar="FILE", help="JSONL in the grading format")
    common.add_json(grade)
    grade.set_defaults(run=run_grade)


def run_grade(args: argparse.Namespace) -> int:
    """Grade rows; exit code 1 where a verdict is not the label."""
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

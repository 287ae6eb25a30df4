"""`wardround hospital`: charts of generated patients."""

from __future__ import annotations

import argparse
from typing import Any

from . import common
from .output import print_counts, print_json, print_table, progress

_PATIENTS = 40


def add(commands: Any) -> None:
    """Add the command."""
    hospital = commands.add_parser(
        "hospital",
        help="make charts of generated patients, with interviews, truth and planted flaws",
        description="A patient depends on seed and index alone; other seeds have no patient in common.",
    )
    hospital.add_argument(
        "--patients", type=common.positive, default=_PATIENTS, metavar="N", help=f"how many (default {_PATIENTS})"
    )
    hospital.add_argument(
        "--first", type=common.natural, default=0, metavar="INDEX", help="index of the first (default 0)"
    )
    common.add_seed(hospital)
    hospital.add_argument("--out", required=True, help="the store to write, as charts.sqlite")
    hospital.add_argument(
        "--flaws",
        choices=("clean", "flawed", "mix"),
        default="mix",
        help="plant labelled faults in no chart, in all, or in about half of them (default: mix)",
    )
    hospital.add_argument("--workers", type=common.positive, default=1, help="processes (default: 1)")
    common.add_json(hospital)
    hospital.set_defaults(run=run_hospital)


def run_hospital(args: argparse.Namespace) -> int:
    """Build the store."""
    from wardround.patients import build_hospital

    with progress("patients", quiet=args.json) as tell:
        report = build_hospital(
            args.out,
            args.seed,
            range(args.first, args.first + args.patients),
            flaws=args.flaws,
            workers=args.workers,
            progress=tell,
        )
    data = report.as_dict()
    if args.json:
        print_json(data)
        return 0
    print_table("Resources", ("type", "resources"), list(data["resources"].items()))
    print_counts("Flaws planted", data["flaws"])
    print(f"{data['patients']} patients; {sum(data['resources'].values())} resources; invalid {data['invalid']}")
    print(f"licence {data['licence']}; store hash {data['store_hash']}")
    return 0

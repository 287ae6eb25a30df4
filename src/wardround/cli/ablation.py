"""`wardround ablate`: the same sessions under paired conditions, and what each difference costs."""

from __future__ import annotations

import argparse
from typing import Any

from .output import print_json, print_table
from .playing import add_playing, bars, difference, how_of, plan_of, print_errors, print_failures

_LEGEND = (
    "second − first, over the turns played and graded under both; 95 %: by resampling sessions; p: sign flips of\n"
    'sessions; q: p adjusted for all comparisons made. NA, PE, AE: pronouns, ellipsis, "given all this"'
)


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "ablate",
        help="play the same sessions under paired conditions and compare the same turns",
        description="Plays every session under paired conditions, everything else equal; each condition is a run "
        "folder below --out. See docs/ablations.md.",
    )
    add_playing(parser)
    parser.add_argument(
        "--vary",
        default="phrasing",
        metavar="LIST",
        help="what to vary, comma-separated: phrasing, turn (one implicit turn at a time), history (self, gold), "
        "interview (on, off), language (default phrasing)",
    )
    parser.add_argument(
        "--phrasing", choices=("implicit", "explicit"), default="implicit", help="where it is not varied"
    )
    parser.add_argument("--language", choices=("en", "zh"), default="en", help="where it is not varied")
    parser.add_argument("--out", required=True, help="folder of the ablation")
    parser.set_defaults(run=run_ablate)


def run_ablate(args: argparse.Namespace) -> int:
    """Run an ablation; exit code 1 where episodes failed or items stayed without a verdict."""
    from wardround.agents import ablate

    plan = plan_of(args, phrasings=(args.phrasing,), languages=(args.language,))
    vary = [name.strip() for name in args.vary.split(",")]
    with bars(quiet=args.json) as (tell, judged):
        report = ablate(plan, args.out, vary, how_of(args, tell, judged))
    if args.json:
        print_json(report)
    else:
        _print(report)
    ungraded = any(row["ungraded"] for run in report["conditions"] for row in run["results"])
    return 1 if report["errors"] or (args.judge is not None and ungraded) else 0


def _print(report: dict[str, Any]) -> None:
    names = ("phrasing", "language", "history", "interview")
    rows = [
        (*(run[name] for name in names), row["agent"], run["sessions"], row["mrs"], row["pass_turn"]["0.60"])
        for run in report["conditions"]
        for row in run["results"]
    ]
    print_table("Conditions", (*names, "agent", "sessions", "mRS", "turn≥.60"), rows)
    for run in report["conditions"]:
        for row in run["results"]:
            print_failures(f"{run['name']}, {row['agent']}", row["failures"])
    print_errors(report["errors"])
    found = report["comparisons"]
    moved = [one for one in found if one["difference"] or one["p"] < 1]
    cells = [
        (one["vary"], one["agent"], one["label"], f"{one['second']} − {one['first']}", *difference(one))
        for one in moved
    ]
    if cells:
        columns = ("varied", "agent", "turns", "difference", "pairs", "Δ", "95 %", "p", "q")
        print_table("The same turns compared", columns, cells)
        print(_LEGEND)
    if len(found) > len(moved):
        print(f"compared without any difference: {len(found) - len(moved)} (ablation.json has all)")
    for one in report["one_language_only"]:
        print(_one_language(one))
    for one in report["skipped"]:
        print(f"{one['vary']}: {one['sessions']} sessions left out: {one['reason']}")
    print(f"all figures     {report['out']}/ablation.json")


def _one_language(one: dict[str, Any]) -> str:
    head = f"{one['agent']}: {one['turns']} turns passed in {one['passed_in']} and failed in {one['failed_in']}"
    if not one["turns"]:
        return head
    share = one["share"]
    return f"{head}: {share['too_few_calls']:.0%} too few calls, {share['refusal']:.0%} refusals"

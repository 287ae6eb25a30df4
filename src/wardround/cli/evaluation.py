"""`wardround demo`, `eval`, `rescore`: playing episodes and the tables that come of it."""

from __future__ import annotations

import argparse
from typing import Any

from . import common
from .output import print_json, print_list, print_table, progress
from .playing import add_playing, bars, difference, how_of, plan_of, print_errors, print_failures

_DEMO_AGENTS = ["oracle", "baseline", "baseline-no-memory", "stuffer", "blind", "silent"]
_LEGEND = (
    "mRS: mean reward of sessions; r_plain: plain share of rubric items; turn≥.60: turns with reward 0.60 or more;\n"
    'session≥.60: sessions all of whose turns reach 0.60; NA, PE, AE: pronouns, ellipsis, "given all this";\n'
    "failed turns: reward below 0.60, by their first fault (docs/ablations.md)"
)
_COLUMNS = ("agent", "phrasing", "language", "episodes", "mRS", "r_plain", "turn≥.60", "session≥.60", "calls/turn")


def add(commands: Any) -> None:
    """Add the commands of this group."""
    demo = commands.add_parser("demo", help="play the built-in ward: agents × phrasing → table")
    demo.add_argument("--out", default="runs/demo", help="run folder (default runs/demo)")
    demo.add_argument("--workers", type=common.positive, default=1, help="processes on this machine")
    demo.add_argument("--resume", action="store_true", help="go on with a run folder that holds records")
    common.add_seed(demo)
    common.add_limit(demo, "sessions")
    common.add_json(demo)
    demo.set_defaults(run=run_demo)

    evaluate = commands.add_parser("eval", help="play agents on a set of sessions")
    add_playing(evaluate)
    evaluate.add_argument(
        "--phrasing",
        choices=("implicit", "explicit", "both"),
        default="implicit",
        help="how the physician asks: leaning on what was said (default), or every question whole",
    )
    evaluate.add_argument("--language", choices=("en", "zh", "both"), default="en", help="default en")
    evaluate.add_argument(
        "--history",
        choices=("self", "gold"),
        default="self",
        help="gold: after each answer the dialogue goes on from gold's (default self)",
    )
    evaluate.add_argument("--out", required=True, help="run folder")
    evaluate.set_defaults(run=run_eval)

    rescore = commands.add_parser("rescore", help="replay a run's trajectories and score them anew")
    rescore.add_argument("folder", help="a run folder")
    rescore.add_argument("--sessions", default=None, help="where the run's set is now (default: where it was)")
    rescore.add_argument("--charts", default=None, help="where its charts are now (default: where they were)")
    common.add_judge(rescore)
    common.add_json(rescore)
    rescore.set_defaults(run=run_rescore)


def run_demo(args: argparse.Namespace) -> int:
    """Play the main job on the built-in ward."""
    from pathlib import Path

    from wardround.agents import EvaluationPlan, How, clear_run, evaluate, write_report

    if not args.resume:
        clear_run(Path(args.out), _DEMO_AGENTS)  # the demo is run again and again; other runs are kept
        (Path(args.out) / "report.html").unlink(missing_ok=True)
    plan = EvaluationPlan(
        sessions="ward",
        agents=_DEMO_AGENTS,
        phrasings=("explicit", "implicit"),
        seed=args.seed,
        limit=args.limit,
    )
    with progress("episodes", quiet=args.json) as tell:
        report = evaluate(plan, args.out, How(workers=args.workers, resume=args.resume, progress=tell))
    made = write_report(args.out)
    shown = _show({**report, "report": str(made.path)}, args)
    if not args.json:
        print(f"report          {made.path}")
    return shown


def run_eval(args: argparse.Namespace) -> int:
    """Evaluate agents on a set."""
    from wardround.agents import evaluate

    plan = plan_of(
        args,
        phrasings=("explicit", "implicit") if args.phrasing == "both" else (args.phrasing,),
        languages=("en", "zh") if args.language == "both" else (args.language,),
        history=args.history,
    )
    with bars(quiet=args.json) as (tell, judged):
        report = evaluate(plan, args.out, how_of(args, tell, judged))
    return max(_show(report, args), _without_verdict(report), 1 if report["errors"] else 0)


def run_rescore(args: argparse.Namespace) -> int:
    """Rescore a run; exit code 1 where a score or a trajectory changed."""
    from wardround.agents import rescore

    with progress("judged", quiet=args.json) as judged:
        report = rescore(
            args.folder,
            sessions=args.sessions,
            charts=args.charts,
            judge=common.judge_plan(args),
            progress=judged,
        )
    if args.json:
        print_json(report)
    else:
        _print_results(report)
        _print_judge(report)
        print(f"{report['episodes']} episodes replayed, {len(report['changed'])} changed")
        for change in report["changed"][:20]:
            print(f"  {change['key']}: {change['stored']:.3f} → {change['now']:.3f}")
    return max(1 if report["changed"] else 0, _without_verdict(report))


def _show(report: dict[str, Any], args: argparse.Namespace) -> int:
    if args.json:
        print_json(report)
        return 0
    _print_results(report)
    _print_judge(report)
    print(f"trajectory hash {report['trajectory_hash']}")
    print(f"trajectories    {report['out']}/trajectories.jsonl")
    return 0


def _without_verdict(report: dict[str, Any]) -> int:
    """Return 1 where a judge was wanted and some items stayed without a verdict."""
    return 1 if report["judge"] is not None and report["judge"]["ungraded"] else 0


def _print_judge(report: dict[str, Any]) -> None:
    from wardround.patients import printable

    judge = report["judge"]
    if judge is None:
        return
    who = f"judge {judge['model']}" if judge["model"] else "recorded verdicts"
    print(f"{who}: {judge['asked']} requests, {judge['verdicts']} verdicts, {judge['ungraded']} ungraded")
    for fault in judge["faults"][:5]:
        print(f"  {fault['count']} × {printable(fault['reason'])}")


def _print_results(report: dict[str, Any]) -> None:
    rows = [
        (
            row["agent"] + ("*" if row["sees_gold"] else ""),
            row["phrasing"],
            row["language"],
            row["episodes"],
            row["mrs"],
            row["r_plain"],
            row["pass_turn"]["0.60"],
            row["pass_session"]["0.60"],
            row["calls_per_turn"],
        )
        for row in report["results"]
    ]
    print_table("Rubric score by agent (* sees gold)", _COLUMNS, rows)
    print(_LEGEND)
    for row in report["results"]:
        if row["call_errors"].get("not_recorded"):
            where = f"{row['agent']}, {row['phrasing']}, {row['language']}"
            print(f"{where}: {row['call_errors']['not_recorded']} calls asked what the set has not recorded")
    for row in report["results"]:
        if row["ungraded"]:
            where = f"{row['agent']}, {row['phrasing']}, {row['language']}"
            print(f"{where}: {row['ungraded']} of {row['turns']} turns are ungraded and left out of every mean")
    for one in report.get("skipped", ()):  # a rescored run has what it has
        print(f"{one['language']}: {one['sessions']} sessions left out, which have no words in that language")
    print_errors(report["errors"])
    _print_trials(report["results"])
    _print_usage(report["results"])
    for row in report["results"]:
        print_failures(f"{row['agent']}, {row['phrasing']}, {row['language']}", row["failures"])
    _print_comparisons(report["comparisons"])
    speeds = [row["episodes_per_s"] for row in report["results"] if row["episodes_per_s"]]
    if speeds:
        print(f"{speeds[0]:.3g} episodes/s")


def _print_trials(results: list[dict[str, Any]]) -> None:
    """Print what repeated trials say of reliability: pass@k, any of k passes; pass^k, all of k do (session≥.60)."""
    most = max((len(row["pass_at_k"]) for row in results), default=0)
    if most < 2:
        return
    ks = [str(k) for k in range(1, most + 1)]
    rows = [
        (
            row["agent"],
            row["phrasing"],
            row["language"],
            *(row["pass_at_k"].get(k) for k in ks),
            *(row["pass_hat_k"].get(k) for k in ks[1:]),
        )
        for row in results
    ]
    columns = ("agent", "phrasing", "language", *(f"pass@{k}" for k in ks), *(f"pass^{k}" for k in ks[1:]))
    print_table("Sessions passed in k trials", columns, rows)


def _print_usage(results: list[dict[str, Any]]) -> None:
    """Print what agents say they used up; results.json has all of it."""
    for row in results:
        if not (usage := row.get("usage")):
            continue
        sums = [f"{name} {value:,}" for name, value in usage.items() if isinstance(value, int) and value]
        sums = [one for one in sums if not one.startswith("episodes ")]
        sums += [f"{name} {value:.4f}" for name, value in usage.items() if isinstance(value, float)]
        left_out = usage.get("dropped")
        if isinstance(left_out, dict):  # what the endpoint did not take is a setting that did not hold
            sums += [f"{name} not taken in {count} episodes" for name, count in left_out.items()]
        unknown = [f"{name} unknown in {count} episodes" for name, count in usage["unknown"].items()]
        print_list(f"{row['agent']}, {row['phrasing']}, {row['language']} used:", [*sums, *unknown])


def _print_comparisons(found: list[dict[str, Any]]) -> None:
    """Print paired differences; q is p adjusted for how many were tested (Benjamini–Hochberg)."""
    moved = [one for one in found if one["difference"] or one["p"] < 1]
    rows = [(one["label"], f"{one['second']} − {one['first']}", *difference(one)) for one in moved]
    if rows:
        print_table("The same turns compared", ("turns", "difference", "pairs", "Δ", "95 %", "p", "q"), rows)
    if len(found) > len(moved):
        print(f"compared without any difference: {len(found) - len(moved)} (results.json has all)")

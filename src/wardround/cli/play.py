"""`wardround play`: a person is the assistant in the terminal, or watches an agent."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from . import common
from .output import print_json


def add(commands: Any) -> None:
    """Add the command."""
    play = commands.add_parser("play", help="be the assistant yourself, or watch an agent step by step")
    play.add_argument("--sessions", default=None, help="a built-in set or a JSONL file (default ward)")
    play.add_argument("--charts", default=None, help="a built-in set or a store (default: as --sessions)")
    play.add_argument("--session", default=None, metavar="ID", help="which one (default: one drawn by --seed)")
    play.add_argument("--language", choices=("en", "zh"), default=None, help="of the round and the terminal (en)")
    play.add_argument(
        "--phrasing", choices=("explicit", "implicit"), default=None, help="how the physician asks (implicit)"
    )
    play.add_argument("--view", choices=("compact", "fhir"), default=None, help="form of search results (compact)")
    play.add_argument(
        "--watch", default=None, metavar="AGENT", help="watch an agent: baseline, oracle, litellm:MODEL …"
    )
    kept = play.add_mutually_exclusive_group()
    kept.add_argument("--save", type=Path, default=None, metavar="FILE", help="keep the play here, after each action")
    kept.add_argument("--resume", type=Path, default=None, metavar="FILE", help="go on with a play that was kept")
    play.add_argument("--gold", action="store_true", help="show gold after each question; the play says that it did")
    play.add_argument(
        "--data-agreement", default=None, metavar="TEXT", help="as in `eval`, for a model that is watched"
    )
    common.add_model(play)
    common.add_seed(play)
    common.add_json(play)
    play.set_defaults(run=run_play)


def run_play(args: argparse.Namespace) -> int:
    """Play one round; with --json the dialogue goes to standard error."""
    from wardround.agents.playing import PlayPlan, Terminal, play_round

    plan = PlayPlan(
        sessions=args.sessions,
        charts=args.charts,
        session=args.session,
        language=args.language,
        phrasing=args.phrasing,
        view=args.view,
        seed=args.seed,
        watch=args.watch,
        save=args.save,
        resume=args.resume,
        gold=args.gold,
        model=common.model_plan(args, [args.watch] if args.watch else []),
    )
    report = play_round(plan, Terminal(sys.stdin, sys.stderr if args.json else sys.stdout))
    if args.json:
        print_json(report)
    if report["stopped"]:
        return 130
    return 1 if report["failed"] else 0

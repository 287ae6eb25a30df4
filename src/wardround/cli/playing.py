"""What commands that play episodes share: the options, the plan they make, where it runs, and the bars."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from . import common
from .output import print_list, progress

if TYPE_CHECKING:
    from wardround.agents import EvaluationPlan, How

Progress = Callable[[int, int | None], None]


def add_playing(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that plays agents on a set: what, with whom, how scored, where."""
    parser.add_argument("--sessions", required=True, help="a built-in set or a JSONL file")
    parser.add_argument("--charts", default=None, help="a built-in set or a store (default: as --sessions)")
    parser.add_argument(
        "--agent",
        action="append",
        required=True,
        help="a built-in one (oracle, baseline, baseline-no-memory, blind, stuffer, silent, …), litellm:MODEL, or "
        "module:factory (of seed) of your own; repeatable",
    )
    parser.add_argument(
        "--trials", type=common.positive, default=1, help="episodes of each session, each with a seed of its own"
    )
    parser.add_argument("--view", choices=("compact", "fhir"), default="compact", help="form of search results")
    parser.add_argument(
        "--scoring",
        choices=("wardround", "paper"),
        default="wardround",
        help="reward of a turn: the rule of docs/checks.md (default), or the plain share of its items passed",
    )
    parser.add_argument("--plan", choices=("item", "zero", "off"), default="item", help="cost of no prepare_to_answer")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=common.positive, default=1, help="processes on this machine")
    where.add_argument("--ray", default=None, metavar="ADDRESS", help="`local`, `auto` or ray://HOST:PORT")
    parser.add_argument(
        "--in-flight",
        type=common.positive,
        default=None,
        metavar="N",
        help="episodes at a time that wait for a model: in all, or per Ray actor (default 16)",
    )
    parser.add_argument("--actors", type=common.positive, default=2, help="Ray actors (with --ray)")
    parser.add_argument("--resume", action="store_true", help="go on with a run folder that holds records")
    parser.add_argument(
        "--retry",
        action="store_true",
        help="with --resume: play again what ended in endpoint_error or environment_error",
    )
    common.add_model(parser)
    common.add_judge(parser)
    common.add_seed(parser)
    common.add_limit(parser, "sessions")
    common.add_json(parser)


def plan_of(args: argparse.Namespace, **more: Any) -> EvaluationPlan:
    """Return the plan that the options of `add_playing` make.

    Args:
        args: As parsed.
        more: Fields of the plan that the command knows itself: phrasings, languages, history …
    """
    from wardround.agents import EvaluationPlan

    return EvaluationPlan(
        sessions=args.sessions,
        charts=args.charts,
        agents=list(dict.fromkeys(args.agent)),
        trials=args.trials,
        seed=args.seed,
        limit=args.limit,
        view=args.view,
        scoring=args.scoring,
        plan=args.plan,
        judge=common.judge_plan(args),
        model=common.model_plan(args, args.agent),
        **more,
    )


def how_of(args: argparse.Namespace, tell: Progress, judged: Progress) -> How:
    """Return where the episodes run, as the options of `add_playing` say, with bars of `bars`."""
    from wardround.agents import How
    from wardround.agents.runners import IN_FLIGHT

    return How(
        workers=args.workers,
        in_flight=args.in_flight or IN_FLIGHT,
        ray=args.ray,
        actors=args.actors,
        resume=args.resume,
        retry=args.retry,
        progress=tell,
        judging=judged,
    )


@contextmanager
def bars(*, quiet: bool) -> Iterator[tuple[Progress, Progress]]:
    """Show the episodes, and once the judge is asked the requests: one bar at a time."""
    with ExitStack() as stack:
        tell = stack.enter_context(progress("episodes", quiet=quiet))
        opened: list[Progress] = []

        def judged(done: int, total: int | None) -> None:
            if not opened:
                stack.close()
                opened.append(stack.enter_context(progress("judged", quiet=quiet)))
            opened[0](done, total)

        yield tell, judged


def print_errors(errors: Sequence[Mapping[str, Any]]) -> None:
    """Print whose episodes ended in an error, the first message of each kind, and how they are played again."""
    from wardround.patients import printable

    for one in errors:
        where = f"{one['condition']}: " if "condition" in one else ""
        told = f"{where}{one['episodes']} episodes of {one['agent']} ended in {one['outcome']}"
        print(f"{told}; the first, {one['key']}: {printable(one['first'])}")
    if any(one["outcome"] == "endpoint_error" for one in errors):
        print("`wardround doctor --endpoint URL --key-env NAME` tells whether an endpoint and its key are there")
    if any(one["outcome"] in ("endpoint_error", "environment_error") for one in errors):
        print("the same command with --resume --retry plays endpoint_error and environment_error again")


def print_failures(where: str, failures: Mapping[str, int]) -> None:
    """Print why turns failed, the commonest reason first; nothing where none did.

    Args:
        where: Whose turns, and how they were played.
        failures: How often, by category.
    """
    ordered = sorted(failures.items(), key=lambda one: (-one[1], one[0]))
    if total := sum(failures.values()):
        told = [f"{name.replace('_', ' ')} {count}" for name, count in ordered if count]
        print_list(f"{where}: {total} failed turns:", told)


def chance(p: float) -> str:
    """Return p or q as tables show it."""
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def difference(one: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the cells of a paired comparison: pairs, difference, 95 % interval, p, q."""
    interval = None if one["interval"] is None else "{:+.3f} … {:+.3f}".format(*one["interval"])
    return one["pairs"], f"{one['difference']:+.3f}", interval, chance(one["p"]), chance(one["q"])

"""Options that mean the same in every command."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wardround.agents import JudgePlan


def positive(text: str) -> int:
    """Read a positive whole number.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a positive whole number")
    return value


def natural(text: str) -> int:
    """Read a whole number from 0 on, of at most nine digits.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    if not text.isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"`{text[:40]}` is not a whole number from 0 on")
    return int(text)


_SEEDS = 1 << 63
"""Seeds are stored with results, where integers have 64 bits."""


def seed(text: str) -> int:
    """Read a seed: a whole number of 64 bits with sign.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text[:40]}` is not a whole number") from None
    if not -_SEEDS <= value < _SEEDS:
        raise argparse.ArgumentTypeError(f"`{text[:40]}` is too large: at most {_SEEDS - 1}")
    return value


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add --seed."""
    parser.add_argument("--seed", type=seed, default=0, help="seed of every draw (default 0)")


def add_limit(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --limit."""
    parser.add_argument("--limit", type=positive, default=None, help=f"at most this many {what}")


def add_judge(parser: argparse.ArgumentParser) -> None:
    """Add the options of an LLM judge."""
    group = parser.add_argument_group("judge", "who decides the items that a language model judges")
    group.add_argument("--judge", default=None, metavar="WHO", help="litellm:MODEL, recorded, or recorded:FILE")
    group.add_argument("--judge-base", default=None, metavar="URL", help="an OpenAI-compatible endpoint of your own")
    group.add_argument(
        "--judge-key-env", default=None, metavar="NAME", help="environment variable that holds the judge's key"
    )
    group.add_argument("--judge-attempts", type=positive, default=4, metavar="N", help="tries a request (default 4)")
    group.add_argument("--judge-workers", type=positive, default=8, metavar="N", help="requests at a time (default 8)")
    group.add_argument(
        "--judge-deadline", type=positive, default=120, metavar="SECONDS", help="for one reply (default 120)"
    )
    group.add_argument(
        "--data-agreement",
        default=None,
        metavar="TEXT",
        help="the agreement under which credentialed data may be sent to a model; kept in the manifest",
    )


def judge_plan(args: argparse.Namespace) -> JudgePlan | None:
    """Return the judge that the options name; None without --judge.

    Raises:
        UsageError: An option of a judge was given without --judge, or --judge is none that is known.
    """
    from wardround.agents import JudgePlan
    from wardround.patients import UsageError

    if args.judge is None:
        if args.judge_base or args.judge_key_env:
            raise UsageError("say with --judge who judges; --judge-base and --judge-key-env only say where")
        return None
    return JudgePlan(
        source=args.judge,
        base=args.judge_base,
        key_env=args.judge_key_env,
        agreement=args.data_agreement,
        attempts=args.judge_attempts,
        concurrency=args.judge_workers,
        deadline=float(args.judge_deadline),
    )

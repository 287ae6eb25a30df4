"""Options that mean the same in every command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wardround.agents import JudgePlan, ModelPlan


def positive(text: str) -> int:
    """Read a positive whole number.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    value = int(text) if text.isdecimal() and len(text) <= 9 else 0  # more digits fit no clock and no memory
    if value < 1:
        raise argparse.ArgumentTypeError(f"`{text[:40]}` is not a positive whole number of at most nine digits")
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


_MODES = ("native", "json")
_LAST_STEPS = ("answer", "free")
_EFFORTS = ("none", "minimal", "low", "medium", "high")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the options of the models that play as litellm:MODEL; the agreement is the judge's option too."""
    group = parser.add_argument_group("model", "how a language model that plays (--agent litellm:MODEL) is asked")

    def add(name: str, kind: Callable[[str], Any], meta: str, told: str) -> None:
        group.add_argument(f"--model-{name}", type=kind, default=None, metavar=meta, help=told)

    add("base", str, "URL", "an OpenAI-compatible endpoint of your own")
    add("key-env", str, "NAME", "environment variable that holds the model's key")
    group.add_argument(
        "--model-mode",
        choices=_MODES,
        default=None,
        help="native: the provider's tool calls (default); json: one JSON object a reply, held to a schema",
    )
    group.add_argument(
        "--model-last-step",
        choices=_LAST_STEPS,
        default=None,
        help="answer: near a turn's end the model is held to an answer (default); free: it may go on calling",
    )
    add("temperature", _temperature, "T", "from 0 to 2 (default 0.2), or `default` for the provider's own")
    group.add_argument(
        "--model-effort",
        choices=(*_EFFORTS, "default"),
        default=None,
        help="reasoning effort (default medium); `default` leaves it to the provider",
    )
    group.add_argument("--model-no-seed", action="store_true", help="send no seed")
    add("tokens", positive, "N", "tokens one reply may have (default 4096)")
    add("context", positive, "N", "tokens of request and reply; older results are shortened to fit (default 32768)")
    add("attempts", positive, "N", "tries a request (default 5)")
    add("deadline", positive, "SECONDS", "for one reply (default 120)")
    add("episode-deadline", positive, "SECONDS", "an episode may wait for its model in all (default 1800)")
    add("at-once", positive, "N", "requests at a time to one endpoint from one process (default 32)")


def _temperature(text: str) -> float | str:
    if text == "default":
        return text
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 2:
        raise argparse.ArgumentTypeError(f"`{text[:40]}` is no number from 0 to 2, and not `default`")
    return value


_MODEL_OPTIONS = {
    "model_base": "base",
    "model_key_env": "key_env",
    "model_mode": "mode",
    "model_last_step": "last_step",
    "model_temperature": "temperature",
    "model_effort": "effort",
    "model_tokens": "max_tokens",
    "model_context": "context",
    "model_attempts": "attempts",
    "model_deadline": "deadline",
    "model_episode_deadline": "episode_deadline",
    "model_at_once": "concurrency",
}


def model_plan(args: argparse.Namespace, agents: Iterable[str]) -> ModelPlan | None:
    """Return how the models among the agents are asked; None where no agent is a model.

    Raises:
        UsageError: An option of a model was given and no agent is one, or the options do not fit together.
    """
    from wardround.agents import ModelPlan, is_model
    from wardround.patients import UsageError

    given = {field: getattr(args, name) for name, field in _MODEL_OPTIONS.items() if getattr(args, name) is not None}
    if not any(is_model(name) for name in agents):
        if given or args.model_no_seed:
            raise UsageError("options of a model (--model-…) were given, but no agent is one: --agent litellm:MODEL")
        return None
    wanted: dict[str, Any] = {field: None if value == "default" else value for field, value in given.items()}
    return ModelPlan(agreement=args.data_agreement, seeded=not args.model_no_seed, **wanted)

"""Options that mean the same in every command."""

from __future__ import annotations

import argparse


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

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


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add --seed."""
    parser.add_argument("--seed", type=int, default=0, help="seed of every draw (default 0)")


def add_limit(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --limit."""
    parser.add_argument("--limit", type=positive, default=None, help=f"at most this many {what}")

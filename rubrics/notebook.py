"""What a notebook shows of a turn's score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wardround.patients import html_view


def score_view(score: Mapping[str, Any]) -> str:
    """Return HTML of a turn's score.

    Args:
        score: A `TurnScore` as plain JSON.
    """
    valid = score["reward_valid"]
    low, high = score["bounds"]
    reward = f"{score['reward']:.3f}" if valid else f"ungraded, between {low:.3f} and {high:.3f}"
    facts = [("reward", reward), ("share of items", f"{score['r_plain']:.3f}"), ("rules", "\n".join(score["notes"]))]
    rows = [
        (
            one["item"],
            verdict_word(one),
            one["reason"],
            "\n".join([f"“{span['text']}”" for span in one["spans"]] + list(one["resources"])),
        )
        for one in score["verdicts"]
    ]
    return html_view("Score of a turn", facts, [("Rubric", ("item", "verdict", "why", "rests on"), rows)])


def verdict_word(verdict: Mapping[str, Any]) -> str:
    """Return how an item stands, in a word."""
    if verdict["ungraded"]:
        return "ungraded"
    if verdict["unreadable"]:
        return "unreadable"
    return "passed" if verdict["passed"] else "failed"

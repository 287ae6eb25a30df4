"""What an episode used of its model; plain JSON, no clock, kept in the record and no part of its hash."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wardround.rubrics import clean_text

from .client import ChatReply


@dataclass(slots=True)
class Usage:
    """Counts of one episode. A try that only found out which parameter an endpoint refuses is not counted."""

    requests: int = 0
    """Requests that got a reply."""
    retries: int = 0
    """Tries beyond the first of a request."""
    tokens_in: int | None = 0
    """None where a reply told none."""
    tokens_out: int | None = 0
    cost: float | None = 0.0
    """US dollars; None where the price of a reply is not known."""
    shortened: int = 0
    """Most tool results that were shortened in one request."""
    trimmed: int = 0
    """Requests whose history was shortened to fit."""
    skipped_calls: int = 0
    """Calls of one reply that were not made, for the turn had closed before."""
    invalid: int = 0
    """Replies that were neither calls nor an answer."""
    answer_only: int = 0
    """Requests that left the model nothing but to answer, for the turn's actions were nearly used up."""
    cut_answers: int = 0
    """Answers of such a request that were cut off inside their JSON, and count as far as they go."""
    finish: dict[str, int] = field(default_factory=dict)
    """Replies by the reason they ended for."""

    def add(self, reply: ChatReply) -> None:
        """Count a reply."""
        self.requests += 1
        self.tokens_in = _sum(self.tokens_in, reply.tokens_in)
        self.tokens_out = _sum(self.tokens_out, reply.tokens_out)
        self.cost = None if self.cost is None or reply.cost is None else self.cost + reply.cost
        reason = clean_text(reply.finish[:40]) or "none"
        self.finish[reason] = self.finish.get(reason, 0) + 1

    def as_dict(self, *, seed: int | None, dropped: tuple[str, ...]) -> dict[str, Any]:
        """Return what a record keeps.

        Args:
            seed: Sent with every request; None where none was.
            dropped: Parameters that were not sent, for the model or its endpoint does not take them.
        """
        return {
            "requests": self.requests,
            "retries": self.retries,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost_usd": None if self.cost is None else round(self.cost, 9),
            "seed": seed,
            "dropped": list(dropped),
            "trimmed": self.trimmed,
            "shortened": self.shortened,
            "skipped_calls": self.skipped_calls,
            "invalid": self.invalid,
            "answer_only": self.answer_only,
            "cut_answers": self.cut_answers,
            "finish": dict(sorted(self.finish.items())),
        }


def _sum(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more

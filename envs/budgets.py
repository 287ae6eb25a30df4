"""When a budget closes a turn, or the whole episode, by itself."""

from __future__ import annotations

from typing import Literal

from wardround.sessions import Budget

GRACE = 4
"""Actions beyond the budget after which a turn closes by itself (16 + 4 = 20 in the physassist family)."""


def closes(budget: Budget, *, actions: int, used: int) -> Literal["turn", "episode"] | None:
    """Tell what an action just taken closes.

    Args:
        budget: Of the session.
        actions: Taken in the open turn.
        used: Calls counted against the budget, in its scope.
    """
    # free actions count against the turn too: an agent that does nothing else would never end
    many = actions >= budget.n + GRACE
    over = many or (budget.scope == "episode" and used >= budget.n + GRACE)
    if budget.on_exhaust != "answer_only" and used >= budget.n and (budget.on_exhaust == "end" or over):
        return "episode"
    return "turn" if many or (over and budget.on_exhaust == "answer_only") else None


def answer_is_last(budget: Budget, *, used: int) -> bool:
    """Tell whether an answer given now ends the episode: its calls are used up, and this was the final turn."""
    return budget.on_exhaust == "final_turn" and budget.scope == "episode" and used >= budget.n

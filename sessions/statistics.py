"""Counts of a set: what it covers, turn by turn."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .dataset import SessionSet


def set_statistics(sessions: SessionSet) -> dict[str, Any]:
    """Count a set.

    Args:
        sessions: Any set.

    Returns:
        Design §10's `stats` object (`sessions, by_scenario_tier, by_task_turn, by_implicitness_turn,
        tool_by_scenario, set_hash`) and more: `by_source`, `by_topic`, `by_act` (what the CR turns ask for),
        `simulated_facts` and `facts` of the interviews.
    """
    turns = [(session, number, turn) for session in sessions for number, turn in enumerate(session.turns)]
    return {
        "sessions": len(sessions),
        "patients": len({session.chart.patient for session in sessions}),
        "by_scenario_tier": _nested((session.scenario, session.tier) for session in sessions),
        "by_task_turn": _nested((turn.task, f"T{number}") for _, number, turn in turns),
        "by_implicitness_turn": _nested((turn.implicitness or "explicit", f"T{number}") for _, number, turn in turns),
        "tool_by_scenario": _nested(
            (call.tool, session.scenario) for session, _, turn in turns if turn.gold for call in turn.gold.calls
        ),
        "by_source": _counted(turn.source for _, _, turn in turns),
        "by_topic": _counted(turn.topic or "none" for _, _, turn in turns),
        "by_act": _counted(act for session in sessions for act in session.labels.get("advice", "").split()),
        "facts": sum(len(session.interview.facts) for session in sessions),
        "simulated_facts": sum(fact.source == "simulated" for session in sessions for fact in session.interview.facts),
        "set_hash": sessions.hash,
    }


def _counted(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _nested(pairs: Any) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for outer, inner in pairs:
        counts.setdefault(outer, Counter())[inner] += 1
    return {outer: dict(sorted(counts[outer].items())) for outer in sorted(counts)}

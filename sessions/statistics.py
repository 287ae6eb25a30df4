"""Counts of a set: what it covers, turn by turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from wardround.patients import TOOLS

from .dataset import SessionSet
from .session import Session, Turn


def set_statistics(sessions: SessionSet) -> dict[str, Any]:
    """Count a set.

    Args:
        sessions: Any set.

    Returns:
        Design §10's `stats` object (`sessions, by_scenario_tier, by_task_turn, by_implicitness_turn,
        tool_by_scenario, set_hash`) and more: `patients`, `by_arc`, `by_source`, `by_topic`, `topics` and `pairs` (how
        many different ones each scenario has), `by_lab` (turns that ask for each lab), `by_act` (what the CR turns ask
        for), `by_write` (tools of the orders), `unchanged` (CR turns for which nothing is to be changed), `adaptive`
        (DG turns), `turned` (interview turns in which the patient's words change what is right), `conflicts` (sessions
        that hold one), `tools_missing` (of the 18, those that are gold nowhere), `facts` and `simulated_facts` of the
        interviews.
    """
    turns = [(session, number, turn) for session in sessions for number, turn in enumerate(session.turns)]
    return {
        "sessions": len(sessions),
        "patients": len({session.chart.patient for session in sessions}),
        "by_scenario_tier": _nested((session.scenario, session.tier) for session in sessions),
        "by_task_turn": _nested((turn.task, f"T{number}") for _, number, turn in turns),
        "by_implicitness_turn": _nested((turn.implicitness or "explicit", f"T{number}") for _, number, turn in turns),
        "tool_by_scenario": _nested((call, session.scenario) for session, _, turn in turns for call in _tools(turn)),
        "by_arc": _counted("-".join(turn.task for turn in session.turns) for session in sessions),
        "by_source": _counted(turn.source for _, _, turn in turns),
        "by_topic": _counted(turn.topic or "none" for _, _, turn in turns),
        "topics": _different((session.scenario, turn.topic or "none") for session, _, turn in turns),
        "pairs": _different((session.scenario, pair) for session in sessions for pair in _label(session, "pairs")),
        "by_lab": _counted(lab for session in sessions for lab in _label(session, "labs")),
        "by_act": _counted(act for session in sessions for act in _label(session, "advice")),
        "by_write": _counted(call for _, _, turn in turns for call in _tools(turn) if call.endswith(".create")),
        "unchanged": _share(said == "yes" for session in sessions for said in _label(session, "unchanged")),
        "adaptive": _share(
            turn.gold is not None and turn.gold.branch is not None for _, _, turn in turns if turn.task == "DG"
        ),
        "turned": _share(session.labels["turned"] == "yes" for session in sessions if "turned" in session.labels),
        "conflicts": sum(bool(session.labels.get("conflict")) for session in sessions),
        "tools_missing": _missing(call for _, _, turn in turns for call in _tools(turn)),
        "facts": sum(len(session.interview.facts) for session in sessions),
        "simulated_facts": sum(fact.source == "simulated" for session in sessions for fact in session.interview.facts),
        "set_hash": sessions.hash,
    }


def _tools(turn: Turn) -> list[str]:
    return [call.tool for call in turn.gold.calls] if turn.gold is not None else []


def _label(session: Session, name: str) -> list[str]:
    return session.labels.get(name, "").split()


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _different(pairs: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return how many different second things each first thing has."""
    found: dict[str, set[str]] = {}
    for outer, inner in pairs:
        found.setdefault(outer, set()).add(inner)
    return {outer: len(found[outer]) for outer in sorted(found)}


def _share(values: Iterable[bool]) -> dict[str, int]:
    found = list(values)
    return {"yes": sum(found), "of": len(found)}


def _missing(used: Iterable[str]) -> list[str]:
    return sorted(set(TOOLS) - set(used))


def _nested(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for outer, inner in pairs:
        counts.setdefault(outer, Counter())[inner] += 1
    return {outer: dict(sorted(counts[outer].items())) for outer in sorted(counts)}

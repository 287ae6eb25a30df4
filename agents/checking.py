"""`wardround check`: is a set of sessions sound, and can its reward be trusted?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from wardround.envs import Episode
from wardround.patients import Chart, ChartStore
from wardround.sessions import Session, SessionSet, check_session

from .registry import AgentSpec, find_agent
from .rollout import play

FULL = ("oracle",)
"""Must score exactly 1.0 in every language and phrasing."""
ZERO = ("silent", "echo", "refuser")
"""Must score exactly 0.0."""
SHOWN = ("blind", "stuffer")
"""Printed: what guessing and dumping earn."""


def languages_of(session: Session) -> list[str]:
    """Return the languages in which every turn of a session has words."""
    out = []
    if all(turn.query.en is not None for turn in session.turns):
        out.append("en")
    if all(turn.query.zh is not None for turn in session.turns):
        out.append("zh")
    return out


def check_set(
    sessions: SessionSet, store: ChartStore, *, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Check every session: schema, hashes, gates, gold replay 1.0, silence 0.0.

    Args:
        sessions: The set.
        store: Its charts.
        progress: Called with (sessions done, sessions in all).

    Returns:
        Design §10's `check` object: `sessions, passed, failures [{session, rule, message}], mrs {agent: mean}`.
    """
    agents = {name: find_agent(name, sessions) for name in (*FULL, *ZERO, *SHOWN)}
    failures: list[dict[str, str]] = []
    totals: dict[str, list[float]] = {name: [] for name in agents}
    for number, session in enumerate(sessions, start=1):
        failures.extend(_check_one(session, store, agents, totals))
        if progress is not None:
            progress(number, len(sessions))
    failed = {failure["session"] for failure in failures}
    return {
        "sessions": len(sessions),
        "passed": len(sessions) - len(failed),
        "failures": failures,
        "mrs": {name: sum(scores) / len(scores) if scores else None for name, scores in totals.items()},
        "set_hash": sessions.hash,
        "store_hash": store.hash,
    }


def _check_one(
    session: Session, store: ChartStore, agents: dict[str, AgentSpec], totals: dict[str, list[float]]
) -> Iterable[dict[str, str]]:
    if session.chart.patient not in store.patients():
        return [_failure(session, "chart", f"no chart `{session.chart.patient}` in the store")]
    chart = store.chart(session.chart.patient)
    if chart.hash != session.chart.hash:
        return [_failure(session, "chart_hash", f"chart hash is {chart.hash}, session says {session.chart.hash}")]
    out = [_failure(session, found.rule, found.message) for found in check_session(session, chart)]
    for language in languages_of(session):
        for phrasing in ("explicit", "implicit"):
            for name, spec in agents.items():
                episode = _played(session, chart, spec, language, phrasing)
                totals[name].append(episode.score)
                out.extend(_verdicts(session, episode, name, f"{language}/{phrasing}"))
    return out


def _played(session: Session, chart: Chart, spec: AgentSpec, language: Any, phrasing: str) -> Episode:
    return play(Episode(session, chart, language=language, phrasing=phrasing), spec.factory(0))


def _verdicts(session: Session, episode: Episode, name: str, where: str) -> Iterable[dict[str, str]]:
    if name in FULL:
        for number, turn in enumerate(episode.scores):
            if turn.reward != 1.0:
                reasons = "; ".join(f"{v.item}: {v.reason}" for v in turn.verdicts if not v.passed)
                yield _failure(session, "gold_replay", f"{where} turn {number} scores {turn.reward:.3f}: {reasons}")
    if name in ZERO and episode.score != 0.0:
        yield _failure(session, f"{name}_earns", f"{where}: {name} scores {episode.score:.3f}, must be 0")


def _failure(session: Session, rule: str, message: str) -> dict[str, str]:
    return {"session": session.id, "rule": rule, "message": message}

"""`wardround check`: is a set of sessions sound, and can its reward be trusted?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from wardround.envs import Episode
from wardround.patients import Chart, ChartStore
from wardround.sessions import Session, SessionSet, check_session, doubles

from .adversaries import ADVERSARIES, phrases
from .registry import AgentSpec, find_agent
from .rollout import play

FULL = ("oracle",)
"""Must score exactly 1.0 in every language and phrasing."""
ZERO = ("silent", "echo", "refuser")
"""Must score exactly 0.0."""
SHOWN = ("blind", "stuffer")
"""Printed: what guessing and dumping earn."""
GAMES = tuple(one.name for one in ADVERSARIES)
"""Printed: what hunting for loopholes earns, on at most `GAMED` sessions of the set."""
GAMED = 60
ENOUGH = 20
"""Sessions from which a mean says something of the set."""


def earns_at_most() -> dict[str, float]:
    """Return the most that agents may earn on average; `base_rate` and `fixed_order` are shown without a limit."""
    return dict(phrases()["limits"])


def advises_at_most() -> dict[str, float]:
    """Return the most that agents with one advice for everything may earn on average of CR turns."""
    return dict(phrases()["advice_limits"])


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
        Design §10's `check` object: `sessions, passed, failures [{session, rule, message}], mrs {agent: mean}`, and
        `advice {agent: mean}` of the CR turns alone. A failure of the set as a whole (`gameable`) names the
        session `*`.
    """
    agents = {name: find_agent(name, sessions) for name in (*FULL, *ZERO, *SHOWN)}
    games = {name: find_agent(name, sessions) for name in GAMES}
    gamed = set(_spread([session.id for session in sessions], GAMED))
    failures: list[dict[str, str]] = []
    totals: dict[str, list[float]] = {name: [] for name in (*agents, *games)}
    advising: dict[str, list[float]] = {name: [] for name in advises_at_most()}
    for number, session in enumerate(sessions, start=1):
        playing = agents | games if session.id in gamed else agents
        failures.extend(_check_one(session, store, playing, totals, advising))
        if progress is not None:
            progress(number, len(sessions))
    failures.extend({"session": name, "rule": "doubles", "message": message} for name, message in doubles(sessions))
    failed = {failure["session"] for failure in failures}
    means, advice = _means(totals), _means(advising)
    if len(sessions) >= ENOUGH:
        failures.extend(_too_much(means, earns_at_most(), "on average"))
        failures.extend(_too_much(advice, advises_at_most(), "on average of the CR turns"))
    return {
        "sessions": len(sessions),
        "passed": len(sessions) - len(failed),
        "failures": failures,
        "mrs": means,
        "advice": advice,
        "set_hash": sessions.hash,
        "store_hash": store.hash,
    }


def _spread(names: list[str], most: int) -> list[str]:
    """Return at most `most` of the names, evenly spread."""
    if len(names) <= most:
        return names
    return [names[number * len(names) // most] for number in range(most)]


def _means(scores: dict[str, list[float]]) -> dict[str, float | None]:
    return {name: sum(found) / len(found) if found else None for name, found in scores.items()}


def _too_much(means: dict[str, float | None], limits: dict[str, float], where: str) -> Iterable[dict[str, str]]:
    """Yield what the set as a whole gives away: a failure of no single session."""
    for name, most in limits.items():
        mean = means[name]
        if mean is not None and mean > most:
            message = f"{name} earns {mean:.3f} {where}, at most {most:.2f} is allowed"
            yield {"session": "*", "rule": "gameable", "message": message}


def _check_one(
    session: Session,
    store: ChartStore,
    agents: dict[str, AgentSpec],
    totals: dict[str, list[float]],
    advising: dict[str, list[float]],
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
                if name in advising:
                    advising[name].extend(_advice(session, episode))
                out.extend(_verdicts(session, episode, name, f"{language}/{phrasing}"))
    return out


def _played(session: Session, chart: Chart, spec: AgentSpec, language: Any, phrasing: str) -> Episode:
    return play(Episode(session, chart, language=language, phrasing=phrasing), spec.factory(0))


def _advice(session: Session, episode: Episode) -> Iterable[float]:
    """Yield what the turns that ask for advice earned."""
    for turn, score in zip(session.turns, episode.scores, strict=True):
        if turn.task == "CR":
            yield score.reward


def _verdicts(session: Session, episode: Episode, name: str, where: str) -> Iterable[dict[str, str]]:
    if name in FULL:
        for number, turn in enumerate(episode.scores):
            if (turn.reward if turn.reward_valid else turn.bounds[1]) != 1.0:  # the judge's items are taken as met
                reasons = "; ".join(f"{v.item}: {v.reason}" for v in turn.verdicts if not v.passed)
                yield _failure(session, "gold_replay", f"{where} turn {number} scores {turn.reward:.3f}: {reasons}")
    if name in ZERO and episode.score != 0.0:
        yield _failure(session, f"{name}_earns", f"{where}: {name} scores {episode.score:.3f}, must be 0")


def _failure(session: Session, rule: str, message: str) -> dict[str, str]:
    return {"session": session.id, "rule": rule, "message": message}

"""Playing a stored trajectory again, bit for bit."""

from __future__ import annotations

from typing import Any

from wardround.patients import Chart, DataError
from wardround.sessions import Session

from .episode import TRAJECTORY_FORMAT, Episode


def replay(session: Session, chart: Chart, trajectory: dict[str, Any]) -> Episode:
    """Play the actions of a trajectory again and return the episode.

    Args:
        session: The session it was played on.
        chart: The session's chart.
        trajectory: As `Episode.trajectory` gave it.

    Returns:
        A new episode with the same actions; its scores are computed anew.

    Raises:
        DataError: Not a trajectory, or one of another session.
    """
    if trajectory.get("format") != TRAJECTORY_FORMAT:
        raise DataError(f"`format` is `{trajectory.get('format')}`, expected {TRAJECTORY_FORMAT}")
    if trajectory["session"] != session.id:
        raise DataError(f"the trajectory was played on session `{trajectory['session']}`, not `{session.id}`")
    episode = Episode(
        session,
        chart,
        language=trajectory["language"],
        phrasing=trajectory["phrasing"],
        view=trajectory["view"],
        scoring=trajectory["scoring"],
        plan=trajectory["plan"],
        history=trajectory["history"],
    )
    for event in trajectory["events"]:
        _apply(episode, event)
    return episode


def _apply(episode: Episode, event: dict[str, Any]) -> None:
    kind = event["event"]
    if kind == "call":
        episode.call(event["tool"], event["arguments"], note=event.get("note", ""))
    elif kind == "mistake":
        episode.mistake(event["action"], event["text"])
    elif kind == "answer" and not event["forced"]:
        episode.answer(event["text"])

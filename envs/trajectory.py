"""What an episode leaves behind: its trajectory, enough to replay it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import prompts
from .transcript import Event, events_json

if TYPE_CHECKING:
    from .episode import Episode

ENV_ID = "wardround/PhysAssist-v0"
TRAJECTORY_FORMAT = "wardround.trajectory/1"


def trajectory_of(episode: Episode, events: Iterable[Event]) -> dict[str, Any]:
    """Return everything that happened in an episode, JSON-able: settings, events, scores, hashes.

    Args:
        episode: Open or over.
        events: What happened in it, in order.
    """
    session, settings = episode.session, episode.settings
    found = {
        "format": TRAJECTORY_FORMAT,
        "env": ENV_ID,
        "session": session.id,
        "chart": session.chart.model_dump(),
        "licence": session.licence,
        "use": session.use,
        "language": settings.language,
        "phrasing": list(settings.phrasing),
        "view": settings.view,
        "scoring": settings.scoring,
        "plan": settings.plan,
        "history": settings.history,
        "prompt": prompts.prompt_hash(episode.system_prompt),
        "events": events_json(events),
        "turns": [turn.model_dump(mode="json") for turn in episode.scores],
        "score": episode.score,
        "done": episode.done,
        "truncated": episode.truncated,
        "state_hash": episode.state_hash,
    }
    if not settings.interview:  # named only where it is off, so that all other hashes stay what they were
        found["interview"] = False
    return found

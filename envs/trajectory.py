"""What an episode leaves behind: its trajectory, enough to replay it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from wardround.patients import html_view

from . import prompts
from .transcript import Event, events_json

if TYPE_CHECKING:
    from .episode import Episode

ENV_ID = "wardround/PhysAssist-v0"
"""The Gymnasium id of the ward round; whatever can move a score raises its `-v`."""
TRAJECTORY_FORMAT = "wardround.trajectory/1"
"""Name and version of the form of a recorded episode."""


class Trajectory(dict[str, Any]):
    """A trajectory: plain JSON, which a notebook shows as the dialogue it is."""

    def _repr_html_(self) -> str:
        facts = [(name, self[name]) for name in ("licence", "language", "phrasing", "score", "done", "truncated")]
        rows = [_line(event) for event in self["events"]]
        turns = [
            (number, f"{turn['reward']:.3f}" if turn["reward_valid"] else "ungraded", ", ".join(_failed(turn)))
            for number, turn in enumerate(self["turns"])
        ]
        tables = [
            ("Dialogue", ("turn", "who", "what"), rows),
            ("Turns", ("turn", "reward", "items not passed"), turns),
        ]
        return html_view(f"Trajectory of session {self['session']}", facts, tables)


def _line(event: dict[str, Any]) -> tuple[Any, str, str]:
    kind, text = event["event"], str(event.get("text", ""))
    if kind == "query":
        return event["turn"], "physician", text
    if kind == "answer":
        return event["turn"], "answer", text
    if kind == "call":
        return event["turn"], f"call {event['tool']}", f"{event['arguments']}\n→ {text}"
    return event["turn"], kind, text


def _failed(turn: dict[str, Any]) -> list[str]:
    return [verdict["item"] for verdict in turn["verdicts"] if not verdict["passed"]]


def trajectory_of(episode: Episode, events: Iterable[Event]) -> Trajectory:
    """Return everything that happened in an episode, JSON-able: settings, events, scores, hashes.

    Args:
        episode: Open or over.
        events: What happened in it, in order.
    """
    session, settings = episode.session, episode.settings
    found = Trajectory({
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
    })  # fmt: skip
    if not settings.interview:  # named only where it is off, so that all other hashes stay what they were
        found["interview"] = False
    return found

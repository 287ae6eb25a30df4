"""A play kept as a file: the actions in order and what they were played on; playing them again gives the same hash."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from wardround.envs import TRAJECTORY_FORMAT, Episode, replay
from wardround.patients import DataError, UsageError
from wardround.sessions import Session

FORMAT = "wardround.play/1"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Call(_Strict):
    """A tool call as it was made."""

    call: str
    arguments: Any = None
    note: str = ""


class Given(_Strict):
    """An answer."""

    answer: str


class Mistake(_Strict):
    """What was neither; agents that are watched make them."""

    mistake: str
    text: str


class Saved(_Strict):
    """The schema of a saved play."""

    format: Literal["wardround.play/1"]
    player: str
    """"person", or the agent that was watched."""
    sessions: str
    """Where the set was, as it was given."""
    charts: str | None
    session: str
    set_hash: str
    chart_hash: str
    language: Literal["en", "zh"]
    phrasing: Literal["explicit", "implicit"]
    view: Literal["compact", "fhir"]
    seed: int
    """Of the agent that was watched."""
    gold_shown: bool
    """Whether the player has seen gold (or the rubric of a session for evaluation)."""
    data_agreement: str | None
    """Under which a model that was watched read the chart."""
    actions: list[Call | Given | Mistake]
    trajectory_hash: str
    """Of the episode after the last action."""


def actions_of(episode: Episode) -> list[dict[str, Any]]:
    """Return what was done in an episode, in order, as a saved play keeps it."""
    found: list[dict[str, Any]] = []
    for event in episode.trajectory["events"]:
        if event["event"] == "call":
            note = {"note": event["note"]} if event.get("note") else {}
            found.append({"call": event["tool"], "arguments": event["arguments"], **note})
        elif event["event"] == "mistake":
            found.append({"mistake": event["action"], "text": event["text"]})
        elif event["event"] == "answer" and not event["forced"]:
            found.append({"answer": event["text"]})
    return found


def save(path: Path, episode: Episode, about: Mapping[str, Any]) -> None:
    """Write a play; a file that is there is replaced as a whole.

    Args:
        path: The file.
        episode: Open or over.
        about: The fields of `Saved` that the episode does not know.

    Raises:
        OSError: The place cannot be written.
    """
    settings = episode.settings
    data = {
        "format": FORMAT,
        **about,
        "session": episode.session.id,
        "chart_hash": episode.chart.hash,
        "language": settings.language,
        "phrasing": settings.phrasing[0],
        "view": settings.view,
        "actions": actions_of(episode),
        "trajectory_hash": episode.trajectory_hash,
    }
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(orjson.dumps(data, option=orjson.OPT_INDENT_2) + b"\n")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read(path: Path) -> Saved:
    """Read a saved play.

    Raises:
        DataError: It is none; names the field.
        OSError: It cannot be read.
    """
    try:
        return Saved.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise DataError(
            f"`{path}`: `{where}`: {first['msg']}; restore the file that `wardround play --save` wrote, or play anew"
        ) from None


def check_asked(path: Path, saved: Saved, asked: Mapping[str, Any]) -> None:
    """Refuse options that say something else than the saved play; None was not asked for.

    Raises:
        UsageError: Names the option.
    """
    for name, value in asked.items():
        have = getattr(saved, name)
        if value is not None and value != have:
            told = f"`{path}` was played with {name} `{have}`, and --{name} says `{value}`"
            raise UsageError(f"{told}: leave the option out, or begin a new play")


def resume(path: Path, saved: Saved, session: Session, episode: Episode, set_hash: str) -> Episode:
    """Play the actions of a saved play again.

    Args:
        path: Where it was read, for messages.
        saved: The play.
        session: Of the set at hand, by the saved id.
        episode: A fresh one of that session, made as the play says.
        set_hash: Of the set at hand.

    Returns:
        The episode after the last action.

    Raises:
        DataError: The set, the chart or what came of the actions is not what was played.
    """
    pairs = (
        ("set_hash", saved.set_hash, set_hash, "give the --sessions that were played"),
        ("chart_hash", saved.chart_hash, episode.chart.hash, "give the --charts that were played"),
    )
    for name, want, have, remedy in pairs:
        if want != have:
            raise DataError(f"`{path}`: `{name}` is {want[:12]}…, what is at hand has {have[:12]}…: {remedy}")
    done = _play(path, saved, session, episode)
    if done.trajectory_hash != saved.trajectory_hash:
        raise DataError(
            f"`{path}`: `trajectory_hash` is {saved.trajectory_hash[:12]}…, but its actions now give "
            f"{done.trajectory_hash[:12]}…: the file was changed, or another version of wardround wrote it; use that "
            "version, or play anew"
        )
    return done


def _play(path: Path, saved: Saved, session: Session, episode: Episode) -> Episode:
    events: list[dict[str, Any]] = []
    for action in saved.actions:
        if isinstance(action, Call):
            events.append({"event": "call", "tool": action.call, "arguments": action.arguments, "note": action.note})
        elif isinstance(action, Mistake):
            events.append({"event": "mistake", "action": action.mistake, "text": action.text})
        else:
            events.append({"event": "answer", "text": action.answer, "forced": False})
    fields = ("session", "language", "phrasing", "view", "scoring", "plan", "history")
    as_before = {name: episode.trajectory[name] for name in fields}
    try:
        return replay(
            session, episode.chart, {"format": TRAJECTORY_FORMAT, "prompt": None, **as_before, "events": events}
        )
    except UsageError as error:
        raise DataError(f"`{path}`: `actions` go on after the round is over ({error}); restore the file") from None

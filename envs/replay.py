"""Playing a stored trajectory again, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wardround.patients import Chart, DataError
from wardround.rubrics import (
    Item,
    JudgeCheck,
    JudgeRequest,
    JudgeVerdict,
    Verdict,
    criterion_of,
    judge_items,
    judge_request,
    judge_requests,
    read_answer,
    speaks_to_judge,
)
from wardround.sessions import Session

from .doors import take_in
from .episode import Episode
from .trajectory import TRAJECTORY_FORMAT


def replay(
    session: Session, chart: Chart, trajectory: dict[str, Any], *, judged: Mapping[str, JudgeVerdict] | None = None
) -> Episode:
    """Play the actions of a trajectory again and return the episode.

    Args:
        session: The session it was played on.
        chart: The session's chart.
        trajectory: As `Episode.trajectory` gave it.
        judged: Recorded verdicts of an LLM judge by request key.

    Returns:
        A new episode with the same actions; its scores are computed anew.

    Raises:
        DataError: Not a trajectory, or one of another session.
    """
    episode = _begin(session, chart, trajectory, judged)
    for event in trajectory["events"]:
        _apply(episode, event)
    return episode


_TEXTS = ("session", "language", "view", "scoring", "plan", "history")
_EVENTS: dict[str, tuple[tuple[str, type], ...]] = {
    "query": (),
    "call": (("tool", str), ("arguments", object)),
    "mistake": (("action", str), ("text", str)),
    "door": (("resources", list), ("writes", list)),
    "answer": (("text", str), ("forced", bool)),
}
"""What playing an event again needs of it."""


def check_trajectory(trajectory: Mapping[str, Any]) -> None:
    """Look whether a stored trajectory holds what playing it again needs.

    Raises:
        DataError: It does not; names the field.
    """
    if trajectory.get("format") != TRAJECTORY_FORMAT:
        raise DataError(f"`format` is `{trajectory.get('format')}`, expected {TRAJECTORY_FORMAT}")
    events, phrasing = trajectory.get("events"), trajectory.get("phrasing")
    wrong = [name for name in _TEXTS if not isinstance(trajectory.get(name), str)]
    wrong += [] if isinstance(phrasing, list) and all(isinstance(one, str) for one in phrasing) else ["phrasing"]
    wrong += [] if isinstance(trajectory.get("interview", True), bool) else ["interview"]
    wrong += [] if "prompt" in trajectory else ["prompt"]
    if not isinstance(events, list):
        wrong.append("events")
    else:
        wrong += [f"events.{number}" for number, event in enumerate(events) if not _is_event(event)]
    if wrong:
        raise DataError(f"the trajectory's `{wrong[0]}` is missing or damaged: restore the file or delete the record")


def _is_event(event: Any) -> bool:
    fields = _EVENTS.get(str(event.get("event"))) if isinstance(event, dict) else None
    if fields is None or any(name not in event or not isinstance(event[name], kind) for name, kind in fields):
        return False
    writes = event.get("writes", ()) if event["event"] == "door" else ()
    texts = [*(event.get("resources", ()) if event["event"] == "door" else ()), event.get("note", "")]
    texts += [one.get(name) if isinstance(one, dict) else None for one in writes for name in ("op", "key", "body")]
    return all(isinstance(text, str) for text in texts)


def pending(
    session: Session, chart: Chart, trajectory: dict[str, Any], *, judged: Mapping[str, JudgeVerdict] | None = None
) -> list[tuple[int, str, JudgeRequest]]:
    """Return what an LLM judge must still be asked about a trajectory: (turn, item, request), in the order played.

    Args:
        session: The session it was played on.
        chart: The session's chart.
        trajectory: As `Episode.trajectory` gave it.
        judged: Verdicts at hand; what they decide is not asked again.

    Raises:
        DataError: Not a trajectory, or one of another session.
    """
    episode = _begin(session, chart, trajectory, judged)
    found: list[tuple[int, str, JudgeRequest]] = []
    for event in trajectory["events"]:
        if event["event"] == "answer" and not event["forced"]:  # a forced answer is empty: nothing to ask about
            spec = session.turns[episode.turn].spec(session.family)
            asked = judge_requests(spec, event["text"], episode.trace, judged)
            found.extend((episode.turn, item, request) for item, request in asked)
        _apply(episode, event)
    return found


def judge_words(
    session: Session, chart: Chart, trajectory: dict[str, Any]
) -> Iterator[tuple[int, Item, Verdict, JudgeRequest | None]]:
    """Put the items of a trajectory to a judge in words, beside what their own checks say of the answer alone.

    Args:
        session: The session it was played on.
        chart: The session's chart.
        trajectory: As `Episode.trajectory` gave it.

    Yields:
        Turn, item, the check's verdict before any rule over the whole turn, and the request; None where no words say
        what the check tests, or the answer speaks to the judge.

    Raises:
        DataError: Not a trajectory, or one of another session.
    """
    episode = _begin(session, chart, trajectory, None)
    for event in trajectory["events"]:
        if event["event"] == "answer" and not event["forced"]:
            spec, trace = session.turns[episode.turn].spec(session.family), episode.trace
            reading = read_answer(spec, event["text"], trace.language)
            addressed = speaks_to_judge(event["text"])
            verdicts = judge_items(spec, reading, trace, addressed=addressed)
            for item in spec.rubric:
                words = None if addressed else criterion_of(item.check)
                asked = None
                if words is not None:
                    check = JudgeCheck(criterion=words)
                    asked = judge_request(check, reading.text, trace.language, trace, spec.gold_answers)
                yield episode.turn, item, verdicts[item.id], asked
        _apply(episode, event)


def _begin(
    session: Session, chart: Chart, trajectory: dict[str, Any], judged: Mapping[str, JudgeVerdict] | None
) -> Episode:
    check_trajectory(trajectory)
    if trajectory["session"] != session.id:
        raise DataError(f"the trajectory was played on session `{trajectory['session']}`, not `{session.id}`")
    return Episode(
        session,
        chart,
        language=trajectory["language"],
        phrasing=trajectory["phrasing"],
        view=trajectory["view"],
        scoring=trajectory["scoring"],
        plan=trajectory["plan"],
        history=trajectory["history"],
        interview=trajectory.get("interview", True),
        judged=judged,
    )


def _apply(episode: Episode, event: dict[str, Any]) -> None:
    kind = event["event"]
    if kind == "call":
        episode.call(event["tool"], event["arguments"], note=event.get("note", ""))
    elif kind == "mistake":
        episode.mistake(event["action"], event["text"])
    elif kind == "door":
        take_in(episode, event["resources"], event["writes"])
    elif kind == "answer" and not event["forced"]:
        episode.answer(event["text"])

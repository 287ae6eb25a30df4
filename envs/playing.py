"""Playing one action on an episode and saying what the policy sees of it: shared by `WardEnv` and the trainer doors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from wardround.patients import ToolResult
from wardround.rubrics import TurnScore

from . import prompts
from .actions import parse_action
from .episode import Episode

Speaker = Literal["physician", "tool", "environment"]


@dataclass(frozen=True, slots=True)
class Played:
    """What one action brought."""

    text: str
    """What the policy sees."""
    speaker: Speaker
    mistake: str = ""
    """Kind of the policy's mistake; "" for none."""
    closed: TurnScore | None = None
    """Score of the turn that the action closed. For graders and rewards, never for prompts."""


def play_text(episode: Episode, action: str) -> Played:
    """Play one message of a policy, read by the action grammar.

    Args:
        episode: Not over.
        action: Whatever the policy wrote: tool calls, an answer, or a mistake.
    """
    parsed = parse_action(action, episode.session.turns[episode.turn].answer_format)
    turn = episode.turn
    if parsed.mistake is not None:
        return play_mistake(episode, action, parsed.mistake)
    if parsed.answer is not None:
        return play_answer(episode, parsed.answer)
    results: list[ToolResult] = []
    for call in parsed.calls:
        if episode.done or episode.turn != turn:  # the turn was closed under it: the rest is never run
            break
        results.append(episode.call(call.name, call.arguments, note="" if results else parsed.note))
    return _after_calls(episode, turn, results)


def play_call(episode: Episode, name: str, arguments: Mapping[str, Any] | str | None, note: str = "") -> Played:
    """Play one tool call.

    Args:
        episode: Not over.
        name: Published name or alias, as the policy wrote it.
        arguments: As the policy wrote them.
        note: Prose beside the call.
    """
    turn = episode.turn
    return _after_calls(episode, turn, [episode.call(name, arguments, note=note)])


def play_answer(episode: Episode, text: str) -> Played:
    """Play an answer to the physician; an empty one is a mistake.

    Args:
        episode: Not over.
        text: The answer.
    """
    turn = episode.turn
    if episode.answer(text) is None:
        notice = prompts.notice(episode.settings.language, "empty_answer")
        return _shown(episode, turn, Played(notice, "environment", "empty_answer"))
    return _shown(episode, turn, Played("", "physician"))


def play_mistake(episode: Episode, action: str, text: str) -> Played:
    """Play what was neither call nor answer.

    Args:
        episode: Not over.
        action: What the policy sent.
        text: What it is told.
    """
    turn = episode.turn
    episode.mistake(action, text)
    return _shown(episode, turn, Played(text, "environment", "bad_action"))


def _after_calls(episode: Episode, turn: int, results: list[ToolResult]) -> Played:
    text = "\n".join(result.text for result in results)
    mistake = next((result.error or "refused" for result in results if not result.ok), "")
    return _shown(episode, turn, Played(text, "tool", mistake))


def _shown(episode: Episode, turn: int, played: Played) -> Played:
    """Add what is said when the turn closed: the next question, or that the round is over."""
    if episode.turn == turn and not episode.done:
        return played
    language = episode.settings.language
    forced = bool(played.text)
    lead = [played.text, prompts.notice(language, "closed")] if forced else []
    closed = episode.scores[-1]
    if episode.done:
        final = prompts.notice(language, "final")
        return Played("\n".join([*lead, final]), "environment", played.mistake, closed)
    return Played("\n".join([*lead, episode.asked]), "physician", played.mistake, closed)

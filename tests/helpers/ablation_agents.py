"""Agents whose differences between paired conditions are known beforehand (`module:factory`, as users give theirs)."""

from __future__ import annotations

from typing import Any, ClassVar

from wardround.agents import Action, Answer, EndpointFault
from wardround.envs import Episode
from wardround.patients import ToolCall


class _Gold:
    """Plays gold, but on turns that `fails` names does nothing and says `words`."""

    name: ClassVar[str] = "gold"
    sees_gold: ClassVar[bool] = True
    words: ClassVar[str] = "I do not know."

    def __init__(self) -> None:
        self._turn, self._plan = -1, iter(())
        self.usage: dict[str, Any] = {"actions": 0}

    def fails(self, episode: Episode) -> bool:
        return False

    def act(self, episode: Episode) -> Action:
        if episode.turn != self._turn:
            self._turn, self._plan = episode.turn, iter(self._actions(episode))
        self.usage["actions"] += 1
        return next(self._plan)

    def _actions(self, episode: Episode) -> list[Action]:
        gold = episode.session.turns[episode.turn].gold
        assert gold is not None
        if self.fails(episode):
            return [Answer(self.words)]
        calls: list[Action] = [ToolCall(call.tool, call.arguments) for call in gold.calls]
        return [*calls, Answer(gold.answers[0].get(episode.settings.language))]


class Forgetful(_Gold):
    """Gets nothing that was left out."""

    name: ClassVar[str] = "forgetful"

    def fails(self, episode: Episode) -> bool:
        asked = episode.settings.phrasing[episode.turn]
        return asked == "implicit" and episode.session.turns[episode.turn].implicitness is not None


class Resentful(_Gold):
    """Says nothing more once its first answer went wrong; the first always does."""

    name: ClassVar[str] = "resentful"

    def fails(self, episode: Episode) -> bool:
        said = [one["content"] for one in episode.messages if one["role"] == "assistant" and "tool_calls" not in one]
        return episode.turn == 0 or said[0] == self.words


class Sinologist(_Gold):
    """Refuses in English on turn 0, does nothing in English on turn 1."""

    name: ClassVar[str] = "sinologist"

    def fails(self, episode: Episode) -> bool:
        self.words = "I can't help with that." if episode.turn == 0 else "I do not know."  # type: ignore[misc]
        return episode.settings.language == "en" and episode.turn < 2


class Broken:
    """Waits for a model that gives up on the second turn."""

    name: ClassVar[str] = "broken"
    sees_gold: ClassVar[bool] = False

    def __init__(self) -> None:
        self.usage = {"requests": 0}

    async def decide(self, view: Any) -> Action:
        self.usage["requests"] += 1
        if view.turn == 1:
            raise EndpointFault("no reply")
        return Answer("Nothing.")


def gold(seed: int) -> _Gold:
    return _Gold()


def forgetful(seed: int) -> Forgetful:
    return Forgetful()


def resentful(seed: int) -> Resentful:
    return Resentful()


def sinologist(seed: int) -> Sinologist:
    return Sinologist()


def broken(seed: int) -> Broken:
    return Broken()

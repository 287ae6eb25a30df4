"""What an agent may touch of an episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from wardround.patients import ToolResult

if TYPE_CHECKING:
    from .episode import Episode


class EpisodeView:
    """What an agent may touch: no gold, no scores, no fork (a fork could answer rubbish and read the next query)."""

    __slots__ = ("__episode",)

    def __init__(self, episode: Episode) -> None:
        self.__episode = episode

    @property
    def system_prompt(self) -> str:
        """The rules of the round."""
        return self.__episode.system_prompt

    @property
    def subject(self) -> dict[str, str | None]:
        """The ids that calls need: subject_id, hadm_id, session_id."""
        return self.__episode.subject

    @property
    def language(self) -> Literal["en", "zh"]:
        """The language of the round."""
        return self.__episode.settings.language

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The dialogue so far; the caller's own copy."""
        return self.__episode.messages

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools offered; the caller's own copy."""
        return self.__episode.tools

    @property
    def query(self) -> str:
        """The physician's open question."""
        return self.__episode.query

    @property
    def options(self) -> tuple[str, ...] | None:
        """The choices of a multiple-choice turn, None elsewhere."""
        episode = self.__episode
        return None if episode.done else episode.session.turns[episode.turn].options

    @property
    def answer_format(self) -> str:
        """Form of the open turn's answer: text, choice or json."""
        episode = self.__episode
        return "text" if episode.done else episode.session.turns[episode.turn].answer_format

    @property
    def turn(self) -> int:
        """Index of the open turn."""
        return self.__episode.turn

    @property
    def done(self) -> bool:
        """True once the episode is over."""
        return self.__episode.done

    @property
    def calls_left(self) -> int:
        """Calls left before the agent must answer."""
        return self.__episode.calls_left

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> ToolResult:
        """Call a tool; the result carries only tool, ok and text."""
        result = self.__episode.call(name, arguments)
        return ToolResult(result.tool, {}, result.ok, result.text)

    def answer(self, text: str) -> None:
        """Answer the physician; nothing about the score comes back."""
        self.__episode.answer(text)

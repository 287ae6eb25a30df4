"""When a turn must end: what an agent still lets its model do once the turn's calls are used up (docs/agents.md).

A call beyond the budget is refused, and after a few of them the turn is closed without an answer. A model that only
calls, or one that is held to a form in which it may always call, would lose its turn that way; so near the end it is
told, and held to, what still counts. The words of the answer are its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Stage = Literal["open", "closing", "answer"]
"""open: whatever it likes. closing: calls are used up, `prepare_to_answer` is free. answer: nothing but an answer."""
_CONTROL: Final = "prepare_to_answer"
"""The one tool that no budget counts."""
_BEYOND: Final = 2
"""Actions of a turn beyond its calls after which nothing but an answer is asked for. The episode closes a turn four
beyond them: that leaves two for an answer, one more where the first is empty or unreadable."""


@dataclass(slots=True)
class TurnEnd:
    """Counts one turn's actions as the episode does.

    Args:
        calls: Left when the turn opened.
    """

    calls: int = 0
    _actions: int = 0
    _told: bool = False

    def acted(self) -> None:
        """Count an action."""
        self._actions += 1

    @property
    def near(self) -> bool:
        """Whether all actions but the last ones are taken; so it ends for a model too that only prepares, for free."""
        return self._actions >= self.calls + _BEYOND

    def stage(self, calls_left: int, last: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]) -> Stage:
        """Return what the next request may ask for; each is one request nearer to an answer.

        Args:
            calls_left: Of the view.
            last: The last message of the view.
            tools: Those offered.
        """
        if self.near:
            return "answer"
        if calls_left > 0:
            return "open"
        prepared = last["role"] == "tool" and last.get("name") == _CONTROL
        if prepared or self._told or not control_of(tools):
            return "answer"
        self._told = True
        return "closing"


def control_of(tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return those of the tools that may still be called then: `prepare_to_answer`, where it is offered."""
    return [tool for tool in tools if tool["function"]["name"] == _CONTROL]


def with_notice(chat: list[dict[str, Any]], notice: str) -> list[dict[str, Any]]:
    """Return the chat with a notice at the end of its last message; as one of its own some providers refuse it."""
    *earlier, last = chat
    return [*earlier, {**last, "content": f"{last['content']}\n\n{notice}"}]

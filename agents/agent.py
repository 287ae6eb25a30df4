"""The contract of agents: one instance plays one episode, one action at a time.

An agent sees an `EpisodeView` and nothing else, unless its class says `sees_gold = True`; then the runner hands it
the `Episode` itself and every report prints the flag.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from wardround.envs import EpisodeView
from wardround.patients import ToolCall


@dataclass(frozen=True, slots=True)
class Answer:
    """The agent answers the physician and the turn closes."""

    text: str


Action = ToolCall | Answer


class Agent(Protocol):
    """Plays one episode."""

    name: ClassVar[str]
    sees_gold: ClassVar[bool]

    def act(self, view: EpisodeView) -> Action:
        """Return the next action for the turn now open.

        Args:
            view: Prompt, messages, tools and the physician's query; `view.call` and `view.answer` are for the
                runner, which executes what is returned here.
        """
        ...


AgentFactory = Callable[[int], Agent]
"""Makes the agent of one episode from that episode's seed."""

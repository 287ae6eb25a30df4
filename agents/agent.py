"""The contract of agents: one instance plays one episode, one action at a time.

An agent sees an `EpisodeView` and nothing else, unless its class says `sees_gold = True`; then the runner hands it
the `Episode` itself and every report prints the flag.

There are two shapes, told apart by the method they have: `Agent.act` returns at once, `AsyncAgent.decide` may wait for
a model while other episodes go on. After an episode a runner reads the agent's optional attribute `usage`, a dict of
plain JSON (requests, tokens, cost …), and keeps it in the record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from wardround.envs import EpisodeView
from wardround.patients import ToolCall, WardroundError


@dataclass(frozen=True, slots=True)
class Answer:
    """The agent answers the physician and the turn closes."""

    text: str


@dataclass(frozen=True, slots=True)
class Invalid:
    """What is neither a call nor an answer; the runner records it with `Episode.mistake`, and it costs one call."""

    text: str
    """What the model wrote."""
    remedy: str
    """The observation: what was wrong, and what to send instead."""


Action = ToolCall | Answer | Invalid
"""What an agent does next: call a tool, answer the open turn, or something that is neither."""


class EndpointFault(WardroundError):  # noqa: N818 - it says whose fault it was
    """An agent's model gave no usable reply after all tries, or a deadline passed: the episode is `endpoint_error`."""


class Agent(Protocol):
    """Plays one episode; never waits."""

    name: ClassVar[str]
    sees_gold: ClassVar[bool]

    def act(self, view: EpisodeView) -> Action:
        """Return the next action for the turn now open.

        Args:
            view: Prompt, messages, tools and the physician's query; `view.call` and `view.answer` are for the
                runner, which executes what is returned here.
        """
        ...


class AsyncAgent(Protocol):
    """Plays one episode and waits for something, mostly a model; runners keep many of them in flight."""

    @property
    def name(self) -> str:
        """Name of the agent; tables call it as it was asked for (`module:factory`)."""
        ...

    @property
    def sees_gold(self) -> bool:
        """Whether the runner hands over the `Episode` itself."""
        ...

    async def decide(self, view: EpisodeView) -> Action:
        """Return the next action for the turn now open.

        Args:
            view: As for `Agent.act`.

        Raises:
            EndpointFault: The model cannot be reached or gave no usable reply, or a deadline passed.
        """
        ...


AgentFactory = Callable[[int], Agent | AsyncAgent]
"""Makes the agent of one episode from that episode's seed.

Where a factory has a coroutine `close()`, runners await it before they leave the event loop: agents of one process may
share connections to a model."""

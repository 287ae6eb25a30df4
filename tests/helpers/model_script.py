"""A model by a script, for the LLM agent: what it replies, what it was sent, and a clock that never waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from wardround.agents import AsyncAgent, ModelPlan
from wardround.agents.llm import ChatReply, ChatRequest, Endpoint, LlmAgent
from wardround.agents.rollout import play_async
from wardround.envs import Episode

Step = ChatReply | Exception | Callable[[ChatRequest], ChatReply]


def said(content: Any = None, *calls: tuple[str, Any], finish: str = "stop", **more: Any) -> ChatReply:
    """Return a reply; arguments that are no text are written as JSON."""
    listed = [{"name": name, "arguments": raw if isinstance(raw, str) else json.dumps(raw)} for name, raw in calls]
    message = {"content": content, "tool_calls": listed, "refusal": None}
    return ChatReply(200, message, finish, **{"tokens_in": 100, "tokens_out": 10, **more})


def refused(status: int, error: str = "", **more: Any) -> ChatReply:
    return ChatReply(status, error=error, **more)


class Script:
    """Replies step by step; the last step is repeated."""

    def __init__(self, *steps: Step) -> None:
        self.steps = steps
        self.asked: list[ChatRequest] = []
        self.now = self.most = self.closed = 0

    async def chat(self, request: ChatRequest) -> ChatReply:
        step = self.steps[min(len(self.asked), len(self.steps) - 1)]
        self.asked.append(request)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, ChatReply) else step(request)

    async def close(self) -> None:
        self.closed += 1


class Clock:
    """Time that passes only in `sleep`."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def model_agent(client: Script, clock: Clock | None = None, *, seed: int = 7, **plan: Any) -> LlmAgent:
    """Return the agent of one episode whose model is that script."""
    clock = clock or Clock()
    return LlmAgent(Endpoint("m", ModelPlan(**plan), client, sleep=clock.sleep, clock=clock), seed)


def play_with(episode: Episode, agent: AsyncAgent) -> Episode:
    """Play to the end."""
    return asyncio.run(play_async(episode, agent))

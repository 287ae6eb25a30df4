"""Agents that wait, for tests of runners: `waiting:NAME` names a factory wherever this folder is on the path."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wardround.agents import Answer
from wardround.agents.agent import EndpointFault, Invalid
from wardround.patients import ToolCall


class Waiting:
    """Reads the patient, prepares, answers; waits before every action, and counts how many waited at once."""

    name = "waiting"
    sees_gold = False
    now = 0
    most = 0
    tells_most = True

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.acted = 0
        self.usage: dict[str, Any] = {"requests": 0, "cost": 0.1, "models": ["m"]}

    async def pause(self) -> None:
        await asyncio.sleep(0.001 * (self.seed % 4))

    async def decide(self, view: Any) -> Any:
        cls = type(self)
        cls.now += 1
        cls.most = max(cls.most, cls.now)
        try:
            await self.pause()
        finally:
            cls.now -= 1
        self.usage["requests"] += 1
        if self.tells_most:
            self.usage["most"] = cls.most
        self.acted += 1
        return self.action(view)

    def action(self, view: Any) -> Any:
        return (
            ToolCall("Patient.read", {"subject_id": view.subject["subject_id"]}),
            ToolCall("prepare_to_answer", {"answer_type": "chat"}),
            Answer(f"Nothing to report, {self.seed % 7}."),
        )[(self.acted - 1) % 3]


class Plain(Waiting):
    """The same actions without waiting."""

    decide = None  # type: ignore[assignment]

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        del self.usage

    def act(self, view: Any) -> Any:
        self.acted += 1
        return self.action(view)


class Slow(Waiting):
    """Long enough to be interrupted; notes in the file $WAITING_LOG which episodes it begins."""

    tells_most = False  # so that its records are the same whatever else is in flight

    async def pause(self) -> None:
        if not self.acted and (log := os.environ.get("WAITING_LOG")):
            with Path(log).open("a") as handle:
                handle.write(f"{self.seed}\n")
        await asyncio.sleep(0.03)


class Deadly(Waiting):
    """Takes its process with it, once: the file $WAITING_DIED says that it has."""

    def action(self, view: Any) -> Any:
        died = Path(os.environ["WAITING_DIED"])
        if self.acted == 2 and self.seed % 5 == 0 and not died.exists():
            died.touch()
            os._exit(9)
        return super().action(view)


class Held(Waiting):
    """Plays two turns and then waits until all that were announced have; the last measures."""

    measure: Callable[[], int] = staticmethod(int)
    measured = text = most_live = 0
    _wanted = 0
    _all_here: asyncio.Event

    @classmethod
    def gather(cls, count: int) -> None:
        cls._wanted, cls.most_live, cls.text = count, 0, 0
        cls._all_here = asyncio.Event()

    async def decide(self, view: Any) -> Any:
        cls = type(self)
        if self.acted == 6:
            cls.most_live += 1
            cls.text += sum(len(str(message.get("content") or "")) for message in view.messages)
            if cls.most_live == cls._wanted:
                cls.measured = cls.measure()
                cls._all_here.set()
            await cls._all_here.wait()
        self.acted += 1
        return self.action(view)


class Killer(Waiting):
    """Takes its process with it whenever it plays one certain session."""

    def action(self, view: Any) -> Any:
        if view.subject["session_id"] == "s-ward-session-a":
            os._exit(9)
        return super().action(view)


class Raising(Waiting):
    """Fails in a way of its own on the second action, by seed."""

    def action(self, view: Any) -> Any:
        if self.acted < 2:
            return super().action(view)
        kind = self.seed % 4
        if kind == 0:
            raise EndpointFault("the endpoint said 503 five times")
        if kind == 1:
            raise ValueError("a fault of my own, with a lone surrogate \ud800")
        if kind == 2:
            return "neither call nor answer"
        return Invalid('{"tool": ', "That is no JSON; send one object.")

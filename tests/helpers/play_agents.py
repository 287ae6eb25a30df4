"""Agents to watch: one that fails, one that waits."""

from __future__ import annotations

import asyncio
from typing import Any

from wardround.agents import Action, Answer
from wardround.patients import ToolCall


class Failing:
    """Raises where it should act."""

    name = "failing"
    sees_gold = False

    def act(self, view: Any) -> Action:
        """Fail."""
        raise ValueError("no")


class Waiting:
    """Looks the labs up and answers, each after a moment."""

    name = "waiting"
    sees_gold = False

    def __init__(self) -> None:
        self._looked = -1

    async def decide(self, view: Any) -> Action:
        """Wait, then act."""
        await asyncio.sleep(0)
        if self._looked < view.turn:
            self._looked = view.turn
            return ToolCall("Observation.search", {"subject_id": view.subject["subject_id"]})
        return Answer("Nothing new.")


def failing(seed: int) -> Failing:
    """Make one."""
    return Failing()


def waiting(seed: int) -> Waiting:
    """Make one."""
    return Waiting()

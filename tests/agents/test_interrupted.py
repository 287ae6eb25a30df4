"""Ctrl-C at the worst moment: a record has just finished, and the event loop is inside another episode."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

from wardround.agents.runners import run_asyncio
from wardround.agents.tasks import Task


class _Worker:
    """Its first episode ends at once; the other one is interrupted once the runner has the first one's record."""

    def __init__(self) -> None:
        self.closed = False
        self.cancelled = False

    async def run_async(self, task: Task) -> dict[str, Any]:
        if task.session == "ends":
            return {"key": task.key}
        try:
            while len(asyncio.all_tasks()) > 1:  # the runner still waits for the record
                await asyncio.sleep(0)
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)
        except (KeyboardInterrupt, asyncio.CancelledError):
            self.cancelled = True
            raise
        raise AssertionError("it was not interrupted")

    async def close(self) -> None:
        self.closed = True


def test_an_interrupt_between_two_records_is_told_as_one_and_closes_the_worker() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever we were started with
    worker: Any = _Worker()
    tasks = [Task("a", name, "en", "implicit", 0, 0) for name in ("ends", "goes on")]
    try:
        with pytest.raises(KeyboardInterrupt):
            list(run_asyncio(worker, tasks))
    finally:
        signal.signal(signal.SIGINT, before)
    assert worker.cancelled
    assert worker.closed

"""Many episodes on this machine: one after the other, in one event loop, or in processes with a loop each."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncGenerator, Generator, Iterable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

import orjson

from wardround.patients import UsageError

from .requeue import MOST_TRIES, Requeue
from .rollout import Record, Worker
from .tasks import Setting, Task

IN_FLIGHT = 16
"""Episodes at a time, for agents that wait."""
_QUEUED = 4
"""Episodes a process is sent ahead, so that it never waits for the driver."""


def run_serial(worker: Worker, tasks: Iterable[Task]) -> Generator[Record]:
    """Play tasks one after the other in this process."""
    for task in tasks:
        yield worker.run(task)


async def stream(worker: Worker, tasks: Iterable[Task], in_flight: int = IN_FLIGHT) -> AsyncGenerator[Record]:
    """Play tasks in the running event loop; records come in the order they finish.

    Args:
        worker: Used by this loop alone until the iteration ends; its connections are closed then.
        tasks: What to play.
        in_flight: Episodes at a time. One that waits blocks no other, and its place is refilled as soon as it ends.
    """
    queue = iter(tasks)
    finished: asyncio.Queue[asyncio.Task[Record]] = asyncio.Queue()
    flying: set[asyncio.Task[Record]] = set()
    try:
        while True:
            while len(flying) < max(1, in_flight) and (task := next(queue, None)) is not None:
                job = asyncio.create_task(worker.run_async(task))
                job.add_done_callback(finished.put_nowait)
                flying.add(job)
            if not flying:
                return
            job = await finished.get()
            flying.discard(job)
            yield job.result()
    finally:
        for job in flying:
            job.cancel()
        await asyncio.gather(*flying, return_exceptions=True)
        await worker.close()


def run_asyncio(worker: Worker, tasks: Iterable[Task], in_flight: int = IN_FLIGHT) -> Generator[Record]:
    """Play tasks in one event loop of this process's own, as `stream`.

    Raises:
        UsageError: This thread already runs an event loop (a notebook).
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise UsageError("an event loop runs here already (a notebook?): give workers=2, or iterate `stream` in it")
    with asyncio.Runner() as runner:
        # the loop stands still while a record is written; SIGINT comes out of `run` as KeyboardInterrupt
        records = stream(worker, tasks, in_flight)
        try:
            while (record := runner.run(_next(records))) is not None:
                yield record
        finally:
            with suppress(RuntimeError):  # SIGINT inside an episode leaves the order to stop, which ends the next run
                runner.run(asyncio.sleep(0))
            runner.run(records.aclose())


async def _next(records: AsyncGenerator[Record]) -> Record | None:
    return await anext(records, None)


def run_processes(setting: Setting, tasks: Sequence[Task], workers: int, *, in_flight: int = 0) -> Generator[Record]:
    """Play tasks in processes; records come in the order they finish.

    A process that dies (out of memory, killed) is replaced and its episodes are played again; an episode that took
    its process with it `MOST_TRIES` times is recorded as `environment_error`.

    Args:
        setting: Opened anew in every process.
        tasks: What to play.
        workers: Number of processes.
        in_flight: Episodes at a time in all, for agents that wait; each process has its share.

    Raises:
        WardroundError: A process cannot play at all (a file changed, no library for a model).
    """
    each = max(_QUEUED, -(-in_flight // workers))
    queue = Requeue(tasks)
    children = [_Child(setting) for _ in range(min(workers, len(tasks)))]
    try:
        while queue or any(child.playing for child in children):
            _fill(children, queue, each)
            for pipe in wait([child.pipe for child in children]):
                child = next(one for one in children if one.pipe is pipe)
                message = child.receive()
                if message is not None:
                    yield message
                elif not child.alive:
                    children[children.index(child)] = _Child(setting)
                    for task in child.playing.values():
                        if not queue.lost(task):
                            yield Worker(setting).unplayed(task, f"its process died {MOST_TRIES} times")
        for child in children:
            child.finish()
    finally:
        for child in children:
            child.stop()


def _fill(children: Sequence[_Child], queue: Requeue, each: int) -> None:
    """Give every process what it can take, the least busy first."""
    given = True
    while given:
        given = False
        for child in sorted(children, key=lambda one: len(one.playing)):
            task = queue.next(child.playing.values(), each)
            if task is not None:
                given = True
                child.send(task)
                break


class _Child:
    """A worker process as its driver sees it."""

    def __init__(self, setting: Setting) -> None:
        # spawn, not fork: a forked child of a process that has threads (Ray, duckdb) may deadlock
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_serve, args=(theirs, setting), daemon=True)
        self.process.start()
        theirs.close()  # else the pipe would not end with the process
        self.playing: dict[str, Task] = {}
        self.ready = False
        self.alive = True

    def send(self, task: Task) -> None:
        self.playing[task.key] = task
        with suppress(OSError):  # it has died: `receive` finds out, with every task it had
            self.pipe.send(task)

    def receive(self) -> Record | None:
        """Return a record, or None: it is ready, or has died (`alive`).

        Raises:
            WardroundError: What the process says that keeps it from playing.
            UsageError: It died before it could play.
        """
        try:
            message: Any = self.pipe.recv()
        except (EOFError, OSError):
            self.alive = False
            self.stop()
            if not self.ready:
                told = f"a worker process ended with code {self.process.exitcode} before it could play"
                raise UsageError(f"{told}: a script that starts workers needs `if __name__ == '__main__':`") from None
            return None
        if isinstance(message, Exception):
            raise message
        if message is True:
            self.ready = True
            return None
        record: Record = orjson.loads(message)
        del self.playing[record["key"]]
        return record

    def finish(self) -> None:
        """Let it close its connections and end by itself."""
        with suppress(OSError):  # it died after its last record
            self.pipe.send(None)
        self.process.join(5.0)

    def stop(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _serve(pipe: Connection, setting: Setting) -> None:
    """Play what comes through the pipe until None comes, or the driver is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; the driver decides
    try:
        worker = Worker(setting)
    except Exception as fault:  # noqa: BLE001  # told to the driver, who raises it
        pipe.send(_portable(fault))
        return
    pipe.send(True)
    asyncio.run(_serve_loop(worker, pipe))


async def _serve_loop(worker: Worker, pipe: Connection) -> None:
    loop = asyncio.get_running_loop()
    flying: set[asyncio.Task[None]] = set()

    async def one(task: Task) -> None:
        try:
            body: bytes | Exception = orjson.dumps(await worker.run_async(task))
        except (Exception, asyncio.CancelledError) as fault:  # noqa: BLE001  # as above; the driver waits for a word
            body = _portable(fault)
        pipe.send(body)

    while (task := await loop.run_in_executor(None, _next_task, pipe)) is not None:
        job = asyncio.create_task(one(task))
        flying.add(job)
        job.add_done_callback(flying.discard)
    await asyncio.gather(*flying)
    await worker.close()


def _next_task(pipe: Connection) -> Task | None:
    """Wait for the driver, in a thread of its own: the loop's episodes go on meanwhile."""
    try:
        task: Task | None = pipe.recv()
    except (EOFError, OSError):
        os._exit(1)  # the driver is gone and nothing here is worth finishing, an agent that hangs included
    return task


def _portable(fault: BaseException) -> Exception:
    """Return an exception that arrives at the driver: this library's own as they are, others as their text."""
    if isinstance(fault, Exception) and type(fault).__module__.startswith("wardround."):
        return fault
    return RuntimeError(f"{type(fault).__name__}: {fault}")

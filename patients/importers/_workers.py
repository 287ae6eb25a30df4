"""Many patients at once: rows go to worker processes, packed charts come back in the order of the patients.

A pipe to every worker carries messages of rows (JSON: `[[subject, table, rows], …]`; table "" ends the patient), the
way back one result a patient. What waits is bounded: a worker has two jobs at most, and finished charts that wait for
an earlier patient `HELD` bytes. A patient of a million rows travels in pieces and is never held whole by the reader.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
import traceback
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Self

import orjson

from wardround.patients.errors import DataError, UsageError, WardroundError

from ._making import Made, Maker
from ._tables import Row
from .report import Tally

JOB_ROWS = 2048
"""Rows of a job: patients are handed out together until they have as many."""

HELD = 64 << 20
"""Bytes of finished charts that may wait for an earlier patient before reading pauses."""

_END = ""
"""In place of a table: the patient's rows are complete."""

Dictionaries = dict[str, list[Row]]
"""Table → rows of every dictionary, for the mappers to learn."""


# ---- the worker's side ----


class PipedRows:
    """The rows that come through the pipe, patient by patient; a `Feed`."""

    def __init__(self, inbox: queue.SimpleQueue[bytes]) -> None:
        self._inbox = inbox
        self._pieces: deque[list[Any]] = deque()

    def subject(self) -> int:
        """Return the next patient, when there is one."""
        return int(self._peek()[0])

    def take(self, table: str) -> list[Row]:
        """Return the patient's rows of a table."""
        return list(self.each(table))

    def each(self, table: str) -> Iterator[Row]:
        """Yield the patient's rows of a table."""
        while self._peek()[1] == table:
            yield from map(tuple, self._pieces.popleft()[2])

    def end(self) -> None:
        """Go to the next patient."""
        table = self._peek()[1]
        assert table == _END, f"rows of `{table}` were not asked for in their turn"
        self._pieces.popleft()

    def _peek(self) -> list[Any]:
        while not self._pieces:
            self._pieces.extend(orjson.loads(self._inbox.get()))
        return self._pieces[0]


def serve(pipe: Connection, present: Collection[str], licence: str) -> None:
    """Live as a worker: learn the dictionaries, then make charts until the importing process ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the importing process is interrupted, and ends its workers
    maker = Maker(present, licence)
    try:
        dictionaries = orjson.loads(pipe.recv_bytes())
    except (EOFError, OSError):  # the importing process is gone
        os._exit(1)
    for table, rows in dictionaries:
        for mapper in maker.mappers:
            if any(spec.name == table for spec in mapper.dictionaries):
                mapper.learn(table, map(tuple, rows), Tally(table))
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    # Always reading, so that the importing process never waits to send while a result waits to be fetched.
    threading.Thread(target=_receive, args=(pipe, inbox), daemon=True).start()
    feed = PipedRows(inbox)
    while True:
        subject = feed.subject()
        try:
            made = maker.make(subject, feed)
            feed.end()
        except WardroundError as fault:
            _send(pipe, subject, fault)
            return
        except Exception as fault:  # noqa: BLE001 (raised in the importing process, whatever it is)
            error = RuntimeError(f"patient {subject}: {type(fault).__name__}: {fault}")
            error.add_note("".join(traceback.format_exception(fault)))
            _send(pipe, subject, error)
            return
        _send(pipe, subject, made)


def _send(pipe: Connection, subject: int, result: object) -> None:
    try:
        pipe.send((subject, result))
    except OSError:  # the importing process is gone, which may be seen here before the reading thread sees it
        os._exit(1)


def _receive(pipe: Connection, inbox: queue.SimpleQueue[bytes]) -> None:
    try:
        while True:
            inbox.put(pipe.recv_bytes())
    except (EOFError, OSError):  # the importing process is gone
        os._exit(1)


# ---- the importing process's side ----


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    number: int
    ready: bool = False
    """Whether it has given a result: it could start, then."""
    jobs: deque[tuple[int, int]] = field(default_factory=deque)
    """Patients without a result yet, with the number of their rows."""
    rows: int = 0
    """Rows of `jobs`."""

    @property
    def room(self) -> bool:
        return len(self.jobs) < 2 or self.rows < 2 * JOB_ROWS


class Pool:
    """Worker processes; a context manager that leaves none behind.

    Args:
        workers: How many.
        present: Tables that the folder has.
        licence: Licence tag of the charts.
        dictionaries: What the mappers of every worker learn.
    """

    def __init__(self, workers: int, present: Collection[str], licence: str, dictionaries: Dictionaries) -> None:
        self._workers: list[_Worker] = []
        self._order: deque[int] = deque()
        """Patients that have not been settled, in order."""
        self._finished: dict[int, Made | Exception] = {}
        self._held = 0
        self._failed = False
        self._current: _Worker | None = None
        self._job_rows = 0
        self._pieces: list[tuple[int, str, list[Row]]] = []
        self._buffered = 0
        try:
            self._start(workers, frozenset(present), licence, orjson.dumps(list(dictionaries.items())))
        except BaseException:
            self.close()
            raise

    def _start(self, workers: int, present: frozenset[str], licence: str, dictionaries: bytes) -> None:
        context = multiprocessing.get_context("spawn")  # not fork: DuckDB has threads
        for number in range(workers):
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs, present, licence), daemon=True)
            with _uninterrupted():
                process.start()
            theirs.close()
            self._workers.append(_Worker(process, ours, number))
        for worker in self._workers:
            self._send(worker, dictionaries)

    # ---- rows out ----

    @property
    def room(self) -> bool:
        """Whether another patient may be handed out now."""
        if self._failed or self._held > HELD:
            return False
        return self._current is not None or any(worker.room for worker in self._workers)

    def begin(self, subject: int) -> None:
        """Begin to hand out a patient; ask `room` before."""
        if self._current is None:
            free = (worker for worker in self._workers if worker.room)
            self._current = min(free, key=lambda worker: (worker.rows, len(worker.jobs), worker.number))
            self._job_rows = 0
        self._order.append(subject)
        self._current.jobs.append((subject, 0))

    def give(self, table: str, rows: list[Row]) -> None:
        """Hand out some rows of the patient."""
        worker = self._current
        assert worker is not None
        subject, count = worker.jobs[-1]
        worker.jobs[-1] = (subject, count + len(rows))
        worker.rows += len(rows)
        self._job_rows += len(rows)
        self._pieces.append((subject, table, rows))
        self._buffered += len(rows)
        if self._buffered >= JOB_ROWS:
            self._flush()
            self._collect(timeout=0)

    def end(self) -> None:
        """Say that the patient is complete."""
        assert self._current is not None
        self._pieces.append((self._current.jobs[-1][0], _END, []))
        if self._job_rows >= JOB_ROWS:
            self._flush()
            self._current = None

    def finish(self) -> None:
        """Send what is left of the job: no more patients come for now."""
        if self._current is not None:
            self._flush()
            self._current = None

    def _flush(self) -> None:
        assert self._current is not None
        message, self._pieces, self._buffered = orjson.dumps(self._pieces), [], 0
        self._send(self._current, message)

    def _send(self, worker: _Worker, message: bytes) -> None:
        try:
            worker.pipe.send_bytes(message)
        except OSError as fault:
            if not self._failed:  # a worker that gave back an error ends: the error comes in its turn
                raise self._died(worker) from fault

    # ---- charts back ----

    @property
    def busy(self) -> bool:
        """Whether some patients have not been settled."""
        return bool(self._order)

    def settled(self, *, patiently: bool) -> Iterator[tuple[int, Made]]:
        """Yield the patients that can be settled now, in order.

        Args:
            patiently: Wait until something comes from a worker.

        Raises:
            DataError: A worker died; or what a worker raised, when it is that patient's turn.
        """
        if patiently:
            self.finish()  # what is waited for may not have been sent yet
        first_is_in = bool(self._order) and self._order[0] in self._finished
        self._collect(timeout=None if patiently and not first_is_in else 0)
        while self._order and self._order[0] in self._finished:
            subject = self._order.popleft()
            found = self._finished.pop(subject)
            if isinstance(found, Exception):
                raise found
            self._held -= _size(found)
            yield subject, found

    def _collect(self, timeout: float | None) -> None:
        pipes = {worker.pipe: worker for worker in self._workers if worker.jobs}
        for pipe in wait(list(pipes), timeout):
            assert isinstance(pipe, Connection)
            self._receive(pipes[pipe])

    def _receive(self, worker: _Worker) -> None:
        try:
            subject, found = worker.pipe.recv()
        except (EOFError, OSError) as fault:
            raise self._died(worker) from fault
        expected, rows = worker.jobs.popleft()
        assert subject == expected
        worker.ready = True
        worker.rows -= rows
        self._finished[subject] = found
        if isinstance(found, Exception):
            self._failed = True
            worker.jobs.clear()
        else:
            self._held += _size(found)

    def _died(self, worker: _Worker) -> Exception:
        worker.process.join(timeout=5)
        code = worker.process.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        if not worker.ready and (code is None or code >= 0):
            return UsageError(
                f"a worker of the import could not start ({how}; it said why). A script that imports with `workers` "
                "does so below `if __name__ == '__main__':`."
            )
        patient = f"patient {worker.jobs[0][0]}" if worker.jobs else "its first patient"
        return DataError(
            f"the worker process that imported {patient} ended ({how}), as where memory runs out: import with fewer "
            "`workers`, or on a machine with more memory."
        )

    # ---- the end ----

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.pipe.close()
            worker.process.kill()  # it holds nothing but memory
        for worker in self._workers:
            worker.process.join()
            worker.process.close()
        self._workers = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _size(made: Made) -> int:
    packed = made.packed
    return 0 if packed is None else sum(map(len, (packed.index, packed.rows, packed.texts, *packed.frames)))


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Keep Ctrl-C from what is started within (it inherits that), and put it off here."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # it would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

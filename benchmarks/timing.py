"""Timing of small things on a noisy machine: alternate the thing and its floor, quote medians and their ratio."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the result: microseconds per call, medians over rounds."""

    name: str
    median_us: float
    floor_us: float | None
    ratio: float | None
    what_floor: str = ""

    def as_dict(self) -> dict[str, object]:
        """Return the row as JSON."""
        return {
            "name": self.name,
            "median_us": round(self.median_us, 3),
            "floor_us": None if self.floor_us is None else round(self.floor_us, 3),
            "ratio": None if self.ratio is None else round(self.ratio, 3),
            "floor": self.what_floor,
        }


def once_us(job: Callable[[], object]) -> float:
    """Return the time of one call in microseconds."""
    began = time.perf_counter_ns()
    job()
    return (time.perf_counter_ns() - began) / 1000


def batch_us(job: Callable[[], object], calls: int, before: Callable[[], object] | None = None) -> float:
    """Return the time per call of a batch in microseconds.

    Args:
        job: What is measured.
        calls: Calls in the batch.
        before: Called before each of them, outside the measurement.
    """
    if before is not None:
        total = 0.0
        for _ in range(calls):
            before()
            total += once_us(job)
        return total / calls
    began = time.perf_counter_ns()
    for _ in range(calls):
        job()
    return (time.perf_counter_ns() - began) / 1000 / calls


def beside(
    name: str,
    job: Callable[[], object],
    floor: Callable[[], object] | None,
    what_floor: str = "",
    *,
    rounds: int = 31,
    calls: int = 20,
    before: Callable[[], object] | None = None,
) -> Row:
    """Time a job beside its floor, A B A B …, so that both see the same machine.

    Args:
        name: Of the row.
        job: What is measured; called `calls` times a round.
        floor: What can't be undercut, or None.
        what_floor: What the floor is, in words.
        rounds: Rounds; the median over them is quoted.
        calls: Calls a round.
        before: Called before each call of the job, outside the measurement.
    """
    job()
    if floor is not None:
        floor()
    mine: list[float] = []
    floors: list[float] = []
    for _ in range(rounds):
        mine.append(batch_us(job, calls, before))
        if floor is not None:
            floors.append(batch_us(floor, calls))
    median = statistics.median(mine)
    if floor is None:
        return Row(name, median, None, None, what_floor)
    floor_median = statistics.median(floors)
    ratio = statistics.median(a / b for a, b in zip(mine, floors, strict=True))
    return Row(name, median, floor_median, ratio, what_floor)

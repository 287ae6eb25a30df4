"""Episodes per second: serial, processes, Ray, vector environments; and what Ray adds to an episode.

Rates are steady: the first half of the records, in which processes start and open charts, is left out; the time until
the first record has a row of its own.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import gymnasium as gym
import orjson

import wardround
from benchmarks.timing import Row
from wardround.agents import Answer, Record, Setting, Task, Worker, make_tasks, ray_rollout
from wardround.agents.runners import run_asyncio, run_processes, run_serial
from wardround.patients import ToolCall

IN_FLIGHT = 64
_ROUNDS = 3
_REPLY = "Nothing to report."


class Routine:
    """Reads the patient, prepares, answers: three actions a turn, next to no thought of its own."""

    name = "routine"
    sees_gold = False

    def __init__(self, seed: int) -> None:
        self._acted = 0

    def act(self, view: Any) -> Any:
        self._acted += 1
        return (
            ToolCall("Patient.read", {"subject_id": view.subject["subject_id"]}),
            ToolCall("prepare_to_answer", {"answer_type": "chat"}),
            Answer(_REPLY),
        )[(self._acted - 1) % 3]


class Waiting:
    """The same actions as an agent that waits, for no time at all."""

    name = "waiting"
    sees_gold = False

    def __init__(self, seed: int) -> None:
        self._routine = Routine(seed)

    async def decide(self, view: Any) -> Any:
        return self._routine.act(view)


def rollout_rows() -> Iterator[Row]:
    """Yield the rows of this file; Ray is started once for all of them."""
    sessions, store = wardround.load_sessions("ward"), wardround.load_charts("ward")
    setting = Setting(str(store.path), "ward", store.hash, sessions.hash)
    worker = Worker(setting, store, sessions)
    ids = [session.id for session in sessions]

    def tasks(agent: str, trials: int) -> list[Task]:
        # pass after pass over all sessions, so that what a process does once is in the half that is left out
        return sorted(make_tasks((agent,), ids, trials=trials), key=lambda task: task.trial)

    oracle, routine, waiting = tasks("oracle", 6), tasks(f"{__name__}:Routine", 6), tasks(f"{__name__}:Waiting", 6)
    with _ray():
        yield from _compared(
            "oracle",
            {
                "serial": lambda: run_serial(worker, oracle),
                "2 processes": lambda: run_processes(setting, oracle, 2),
                "Ray, 1 actor": lambda: ray_rollout.run(setting, oracle, actors=1, in_flight=4),
                "Ray, 2 actors": lambda: ray_rollout.run(setting, oracle, actors=2, in_flight=4),
            },
        )
        yield from _compared(
            "three actions a turn",
            {
                "serial": lambda: run_serial(worker, routine),
                "8 environments, SyncVectorEnv": lambda: vector_episodes("sync", 8, len(routine)),
                "2 environments, AsyncVectorEnv": lambda: vector_episodes("async", 2, len(routine)),
            },
        )
        yield from _overhead(setting, worker, waiting)


def _compared(what: str, runners: dict[str, Callable[[], Iterable[Any]]]) -> list[Row]:
    """Time runners in turns; the first is what the others are compared with."""
    rates: dict[str, list[float]] = {name: [] for name in runners}
    starts: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(_ROUNDS):
        for name, runner in runners.items():
            each, start = steady_us(runner())
            rates[name].append(each)
            starts[name].append(start)
    first = next(iter(runners))
    rows = []
    for name in runners:
        each, floor = statistics.median(rates[name]), statistics.median(rates[first])
        ratio = statistics.median(a / b for a, b in zip(rates[name], rates[first], strict=True))
        rows.append(Row(f"episode, {what}: {name} ({1e6 / each:.0f}/s)", each, floor, ratio, first))
        rows.append(
            Row(f"start-up until the first episode, {what}: {name}", statistics.median(starts[name]), None, None)
        )
    return rows


def _overhead(setting: Setting, worker: Worker, tasks: list[Task]) -> list[Row]:
    """Ray with one actor beside the same event loop in this process, 64 episodes in flight in both.

    The best of several rounds each, for other work on the machine only adds; and the driver's processor time, which
    other work hardly touches.
    """
    here, there, cpu = [], [], []
    for _ in range(_ROUNDS + 2):
        here.append(steady_us(run_asyncio(worker, tasks, IN_FLIGHT))[0])
        records = ray_rollout.run(setting, tasks, actors=1, in_flight=IN_FLIGHT)
        next(records)  # the actor is there
        began = time.process_time()
        there.append(steady_us(records)[0])
        cpu.append((time.process_time() - began) * 1e6 / (len(tasks) - 1))
    each, floor = min(there), min(here)
    name = f"{IN_FLIGHT} in flight"
    return [
        Row(f"episode that waits, Ray, 1 actor, {name}", each, floor, each / floor, f"asyncio here, {name}"),
        Row(f"what Ray adds to an episode, {name}", each - floor, 2000.0, (each - floor) / 2000, "budget of 2 ms"),
        Row(f"processor time of Ray's driver an episode, {name}", min(cpu), 2000.0, min(cpu) / 2000, "budget of 2 ms"),
    ]


def steady_us(records: Iterable[Any]) -> tuple[float, float]:
    """Return microseconds an item over the second half, and until the first."""
    began = time.perf_counter()
    stamps = [time.perf_counter() for _ in records]
    from_here = len(stamps) // 2
    each = (stamps[-1] - stamps[from_here]) / (len(stamps) - 1 - from_here)
    return each * 1e6, (stamps[0] - began) * 1e6


def vector_episodes(mode: str, count: int, episodes: int) -> Iterator[Record]:
    """Play whole episodes in a vector of environments; yields {} for each that ends."""
    extra = {"vector_kwargs": {"shared_memory": False}} if mode == "async" else {}
    envs = gym.make_vec("wardround/PhysAssist-v0", num_envs=count, vectorization_mode=mode, **extra)
    actions = [
        orjson.dumps({"tool": "Patient.read", "arguments": {}}).decode(),
        orjson.dumps({"tool": "prepare_to_answer", "arguments": {"answer_type": "chat"}}).decode(),
        _REPLY,
    ]
    try:
        envs.reset(seed=list(range(count)))
        ended = 0
        for action in cycle(actions):
            _, _, terminated, truncated, _ = envs.step((action,) * count)
            over = terminated | truncated
            for _ in range(int(over.sum())):
                ended += 1
                yield {}
                if ended == episodes:
                    return
            if over.any():
                envs.reset(options={"reset_mask": over})
    finally:
        envs.close()


@contextmanager
def _ray() -> Iterator[None]:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        yield
    finally:
        ray.shutdown()


if __name__ == "__main__":
    import benchmarks.rollouts as module  # under its own name, which the workers know it by

    for row in module.rollout_rows():
        compared = "" if row.ratio is None else f"ratio {row.ratio:7.2f}  ({row.what_floor})"
        print(f"{row.name:80s} {row.median_us:12.1f} µs  {compared}", flush=True)

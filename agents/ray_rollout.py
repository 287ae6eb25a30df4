"""Rollouts on Ray: K async actors × M episodes in flight, one Ray call per whole episode.

The driver, not Ray, requeues by episode key: when an actor dies or misses its deadline, its episodes go to another
(Ray's own retries stalled in a trial). Episodes are deterministic, so playing one twice changes nothing.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from .rollout import Record, Setting, Task, Worker

CPUS_PER_ACTOR = 0.1
MOST_TRIES = 5
"""An episode whose worker died this often is a fault of the episode, not of the cluster."""


def _actor_class() -> Any:
    import ray

    @ray.remote(num_cpus=CPUS_PER_ACTOR, max_restarts=0)
    class RolloutActor:
        """Holds one open store and plays whole episodes."""

        def __init__(self, setting: Setting) -> None:
            self._worker = Worker(setting)

        async def run(self, task: Task) -> Record:
            """Play one episode and return its record."""
            return self._worker.run(task)

        async def ready(self) -> bool:
            """Answer once the store is open, so that a bad path fails at the start."""
            return True

    return RolloutActor


class _Fleet:
    """The actors and what each is playing."""

    def __init__(self, setting: Setting, count: int, name: str) -> None:
        self._class = _actor_class()
        self._setting = setting
        self._name = name
        self._born = 0
        self.actors: list[Any] = [self._new() for _ in range(count)]
        self.load: dict[Any, int] = dict.fromkeys(self.actors, 0)

    def _new(self) -> Any:
        options = {"name": f"{self._name}-{self._born}"} if self._name else {}
        self._born += 1
        return self._class.options(**options).remote(self._setting)

    def replace(self, dead: Any) -> None:
        """Put a new actor in the place of a dead one (once, however many of its episodes report the death)."""
        import ray

        if dead not in self.load:
            return
        ray.kill(dead)
        self.actors.remove(dead)
        del self.load[dead]
        new = self._new()
        self.actors.append(new)
        self.load[new] = 0

    def least_busy(self) -> Any:
        return min(self.actors, key=lambda actor: self.load[actor])


def run(
    setting: Setting,
    tasks: Sequence[Task],
    *,
    address: str = "local",
    actors: int = 2,
    in_flight: int = 32,
    deadline_s: float = 600.0,
    name: str = "",
) -> Iterator[Record]:
    """Play tasks on Ray; records come in the order they finish.

    Args:
        setting: Opened anew in every actor: paths must be readable on every node.
        tasks: What to play.
        address: "local" starts a Ray of this process's own; "auto" or "ray://HOST:PORT" joins a cluster. A Ray that is
            already initialised is used as it is.
        actors: Number of actors.
        in_flight: Episodes in flight per actor.
        deadline_s: Seconds until an episode counts as lost and is played elsewhere.
        name: Prefix of the actors' names ("" for none), for those who watch or test them.

    Raises:
        RuntimeError: An episode lost its worker `MOST_TRIES` times.
    """
    import ray

    started = not ray.is_initialized()
    if started:
        options: dict[str, Any] = {"address": address}
        if address == "local":
            options = {"num_cpus": max(1, actors), "include_dashboard": False}
        ray.init(**options, log_to_driver=False, configure_logging=False)
    try:
        yield from _drive(_Fleet(setting, actors, name), tasks, actors * in_flight, deadline_s)
    finally:
        if started:
            ray.shutdown()


def _drive(fleet: _Fleet, tasks: Sequence[Task], most: int, deadline_s: float) -> Iterator[Record]:
    import ray
    from ray.exceptions import RayActorError, RayTaskError

    ray.get([actor.ready.remote() for actor in fleet.actors])
    queue = deque(tasks)
    tries: dict[str, int] = {}
    flying: dict[Any, tuple[Task, Any, float]] = {}
    while queue or flying:
        while queue and len(flying) < most:
            task, actor = queue.popleft(), fleet.least_busy()
            fleet.load[actor] += 1
            flying[actor.run.remote(task)] = (task, actor, time.monotonic() + deadline_s)
        ready, _ = ray.wait(list(flying), num_returns=1, timeout=1.0)
        late = [] if ready else [ref for ref, (_, _, until) in flying.items() if time.monotonic() > until]
        for ref in [*ready, *late]:
            task, actor, _ = flying.pop(ref)
            if actor in fleet.load:
                fleet.load[actor] -= 1
            try:
                if ref in late:
                    raise RayActorError(error_msg="deadline passed")
                record: Record = ray.get(ref)
            except RayTaskError:
                raise
            except RayActorError as error:
                tries[task.key] = tries.get(task.key, 0) + 1
                if tries[task.key] >= MOST_TRIES:
                    raise RuntimeError(f"episode `{task.key}` lost its worker {MOST_TRIES} times: {error}") from error
                fleet.replace(actor)
                queue.append(task)
                continue
            yield record

"""Rollouts on Ray: K async actors × M episodes in flight, one Ray call per whole episode.

The driver, not Ray, requeues by episode key: when an actor or its node dies, its episodes go to another (Ray's own
retries stalled in a trial). One that another actor has played meanwhile is recorded once: the driver has forgotten
the lost call.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import Any

import orjson

from wardround.patients import UsageError, WardroundError

from .requeue import MOST_TRIES, Requeue
from .rollout import Record, Worker
from .tasks import Setting, Task

CPUS_PER_ACTOR = 0.1
START_S = 1800.0
"""Seconds a run waits while not one of its actors is ready: a node may have to make its set first."""
_MOST_STARTS = 10
"""Actors that may die before they are ready, one after another."""


def _actor_class() -> Any:
    import ray

    @ray.remote(num_cpus=CPUS_PER_ACTOR, max_restarts=0, scheduling_strategy="SPREAD")
    class RolloutActor:
        """Holds one open store and plays whole episodes, many at a time where their agents wait."""

        def __init__(self, setting: Setting) -> None:
            self._setting = setting

        async def open(self) -> bool:
            """Open store and set: a method, so that what is wrong with them arrives as what it is."""
            self._worker = Worker(self._setting)
            return True

        async def run(self, task: Task) -> bytes:
            """Play one episode and return its record as JSON, which Ray carries faster than an object."""
            return orjson.dumps(await self._worker.run_async(task))

    return RolloutActor


class _Fleet:
    """The actors and what each is playing.

    Args:
        setting: Opened in every actor.
        count: Actors.
        most: Episodes at a time on each.
        name: Prefix of their names, "" for none.
    """

    def __init__(self, setting: Setting, count: int, most: int, name: str) -> None:
        self._class = _actor_class()
        self._setting = setting
        self._most = most
        self._name = name
        self._born = 0
        self._failed_starts = 0
        self._waiting_since = time.monotonic()
        self.starting: dict[Any, Any] = {}
        self.playing: dict[Any, dict[str, Task]] = {}
        for _ in range(count):
            self._start()

    def _start(self) -> None:
        options: dict[str, Any] = {"max_concurrency": self._most + 1}
        if self._name:
            options["name"] = f"{self._name}-{self._born}"
        self._born += 1
        actor = self._class.options(**options).remote(self._setting)
        self.starting[actor.open.remote()] = actor

    def opened(self, ref: Any) -> None:
        """Take in what an actor said to `open`.

        Raises:
            WardroundError: It cannot play at all: a file is missing there, or is another.
        """
        import ray
        from ray.exceptions import RayError, RayTaskError

        actor = self.starting.pop(ref)
        try:
            ray.get(ref)
        except RayTaskError as error:
            raise _cause(error) from error
        except RayError as error:
            self._failed_starts += 1
            if self._failed_starts > _MOST_STARTS:
                raise UsageError(f"{_MOST_STARTS} Ray actors died before they could play: {error}") from error
            self._start()
            return
        self._failed_starts = 0
        self.playing[actor] = {}

    def replace(self, dead: Any) -> None:
        """Put a new actor in the place of a dead one (once, however many of its episodes report the death)."""
        import ray

        if self.playing.pop(dead, None) is None:
            return
        ray.kill(dead)
        if not self.playing:
            self._waiting_since = time.monotonic()
        self._start()

    def next_call(self, queue: Requeue) -> tuple[Any, Task] | None:
        """Return an actor, the least busy first, and what it should play now; None where all have enough."""
        for actor, playing in sorted(self.playing.items(), key=lambda one: len(one[1])):
            task = queue.next(playing.values(), self._most)
            if task is not None:
                playing[task.key] = task
                return actor, task
        return None

    def check_start(self) -> None:
        """Refuse to wait for ever for a first actor.

        Raises:
            UsageError: None has been ready for `START_S` seconds.
        """
        if not self.playing and time.monotonic() - self._waiting_since > START_S:
            raise UsageError(
                f"no Ray actor was ready after {START_S:.0f} s: has the cluster room for {CPUS_PER_ACTOR} CPUs, and "
                "can its nodes read the store and the set? See docs/rollouts.md"
            )

    def close(self) -> None:
        """End every actor: a cluster that others use keeps nothing of this run."""
        import ray

        for actor in [*self.playing, *self.starting.values()]:
            ray.kill(actor)


def run(
    setting: Setting,
    tasks: Sequence[Task],
    *,
    address: str = "local",
    actors: int = 2,
    in_flight: int = 32,
    deadline_s: float = 7200.0,
    name: str = "",
) -> Generator[Record]:
    """Play tasks on Ray; records come in the order they finish.

    Args:
        setting: Opened anew in every actor: paths must be readable on every node.
        tasks: What to play.
        address: "local" starts a Ray of this process's own; "auto" or "ray://HOST:PORT" joins a cluster. A Ray that is
            already initialised is used as it is.
        actors: Number of actors.
        in_flight: Episodes in flight per actor.
        deadline_s: Seconds until an episode counts as lost: its actor hangs, is replaced, and the episode is played
            elsewhere. How long an agent may wait for its model is the model's `episode_deadline`, far below.
        name: Prefix of the actors' names ("" for none), for those who watch or test them.

    Raises:
        WardroundError: The actors cannot play at all.
        UsageError: No actor can start, no cluster is there, or ray is not installed.
    """
    try:
        import ray
    except ImportError as error:
        raise UsageError("Ray is not installed: pip install 'wardround[ray]'") from error

    started = not ray.is_initialized()
    if started:
        options: dict[str, Any] = {"address": address}
        if address == "local":
            options = {"num_cpus": max(1, actors), "include_dashboard": False}
        try:
            ray.init(**options, log_to_driver=False, configure_logging=False)
        except (ConnectionError, ValueError) as error:  # Ray's words speak of flags of its own commands
            raise UsageError(
                f"no Ray cluster answers at `{address}` ({str(error).splitlines()[0][:200]}): give `local`, which "
                "starts one, `auto` on a node of a cluster (`ray start --head`), or ray://HOST:PORT"
            ) from error
    try:
        fleet = _Fleet(setting, min(actors, max(1, len(tasks))), in_flight, name)
        try:
            yield from _drive(fleet, setting, tasks, deadline_s)
        finally:
            fleet.close()
    finally:
        if started:
            ray.shutdown()


def _drive(fleet: _Fleet, setting: Setting, tasks: Sequence[Task], deadline_s: float) -> Generator[Record]:
    import ray

    queue = Requeue(tasks)
    flying: dict[Any, tuple[Task, Any, float]] = {}
    while queue or flying:
        while (call := fleet.next_call(queue)) is not None:
            actor, task = call
            flying[actor.run.remote(task)] = (task, actor, time.monotonic() + deadline_s)
        refs = [*fleet.starting, *flying]
        ready, _ = ray.wait(refs, num_returns=1, timeout=1.0)
        if ready:  # all that came meanwhile, in one go: with thousands in flight a wait for each is slow
            ready, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
        fleet.check_start()
        came, now = set(ready), time.monotonic()
        late = [ref for ref, (_, _, until) in flying.items() if now > until and ref not in came]
        for ref in [*ready, *late]:
            if ref in fleet.starting:
                fleet.opened(ref)
                continue
            task, actor, _ = flying.pop(ref)
            fleet.playing.get(actor, {}).pop(task.key, None)
            record = _fetch(ref) if ref in came else None
            if record is None:
                fleet.replace(actor)
                if not queue.lost(task):
                    record = Worker(setting).unplayed(task, f"its Ray actor died or hung {MOST_TRIES} times")
            if record is not None:
                yield record


def _fetch(ref: Any) -> Record | None:
    """Return an episode's record; None where its actor or node died.

    Raises:
        WardroundError: What the actor itself raised.
    """
    import ray
    from ray.exceptions import RayError, RayTaskError

    try:
        record: Record = orjson.loads(ray.get(ref))
    except RayTaskError as error:
        raise _cause(error) from error
    except RayError:  # the actor, its node, or the object that lay there is gone
        return None
    return record


def _cause(error: Any) -> Exception:
    """Return what a method of an actor raised, as it was raised there."""
    cause = error.cause
    return cause if isinstance(cause, WardroundError) else RuntimeError(str(error))

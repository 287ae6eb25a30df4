"""What is left to play, where workers may die: nothing is lost, nothing is recorded twice.

Episodes are told apart by their key. One whose worker died is played elsewhere; one that it happened to twice is
played alone, so that it takes no other episode with it; one that it happened to `MOST_TRIES` times is given up.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from .tasks import Task

MOST_TRIES = 5
"""An episode whose worker died this often is a fault of the episode, not of the machines."""
_ALONE = 2


class Requeue:
    """A queue of tasks, with those that come back.

    Args:
        tasks: What to play, in that order.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._fresh = deque(tasks)
        self._suspect: deque[Task] = deque()
        self._losses: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._fresh or self._suspect)

    def next(self, playing: Iterable[Task], most: int) -> Task | None:
        """Return what a worker should play next, None where it should get nothing now.

        Args:
            playing: What it plays already.
            most: How many episodes it may play at once.
        """
        busy = list(playing)
        if len(busy) >= most or (self._losses and any(self.alone(task) for task in busy)):
            return None
        if self._suspect and not busy:
            return self._suspect.popleft()
        return self._fresh.popleft() if self._fresh else None

    def alone(self, task: Task) -> bool:
        """Tell whether a task is to be played alone."""
        return self._losses[task.key] >= _ALONE

    def lost(self, task: Task) -> bool:
        """Take back a task whose worker died, or give it up.

        Returns:
            Whether it will be played again.
        """
        self._losses[task.key] += 1
        if self._losses[task.key] >= MOST_TRIES:
            return False
        (self._suspect if self.alone(task) else self._fresh).append(task)
        return True

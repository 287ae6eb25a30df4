"""Remembering what calls answered: a snapshot never changes, so the same read of it is the same text.

So it is with what an episode creates: the same order, as the same write in number on the same snapshot, is the same
version. Groups of rollouts ask and order much the same; what one of them did costs the others next to nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from wardround.patients.chart import Snapshot
from wardround.patients.overlay import Write

from .spec import Handler, ToolContext, ToolResult

MOST = 1 << 24
"""Bytes of answers kept in a process, all snapshots and tools together; beyond, all are forgotten."""


class _Answer(NamedTuple):
    """What a call answered; each later call brings arguments of its own."""

    result: ToolResult
    write: Write | None
    """What it wrote."""


class _Memory:
    """Answers by snapshot; those of a snapshot go with it."""

    __slots__ = ("answers", "size")

    def __init__(self) -> None:
        self.answers: WeakKeyDictionary[Snapshot, dict[tuple[Any, ...], _Answer]] = WeakKeyDictionary()
        self.size = 0
        """Upper bound of what is kept: what went with a snapshot still counts until all is forgotten."""

    def keep(self, snapshot: Snapshot, key: tuple[Any, ...], result: ToolResult, write: Write | None = None) -> None:
        self.size += len(result.text) + 64 * len(result.resources) + 2048
        if write is not None:
            self.size += 2 * len(write.entry.body) + 1024
        if self.size > MOST:
            self.forget()
        known = snapshot.derived.get(_ANSWERS)
        if known is None:  # found by the snapshot itself: a weak reference costs each call more than the look-up
            known = snapshot.derived[_ANSWERS] = self.answers[snapshot] = {}
        known[key] = _Answer(result, write)

    def forget(self) -> None:
        """Forget all answers."""
        for known in self.answers.values():
            known.clear()
        self.size = 0


_ANSWERS = "what tools answered"
_NONE: dict[tuple[Any, ...], _Answer] = {}


_memory = _Memory()


def forget() -> None:
    """Forget what was answered, so that the next call of each kind is worked out anew (for measuring)."""
    _memory.forget()


def remembered(handler: Handler, *kinds: str) -> Handler:
    """Return a read handler that remembers its answers per snapshot, while the episode wrote nothing that it reads.

    Args:
        handler: The handler.
        kinds: Types of resources that its answers rest on, beside Encounter.
    """
    rests_on = frozenset(("Encounter", *kinds))

    def run(context: ToolContext, arguments: Any, given: dict[str, Any]) -> ToolResult:
        record = context.record
        if record.version and record.wrote_any(rests_on):
            return handler(context, arguments, given)
        key = (handler, context.view, *given.items())
        found: _Answer | None = record.snapshot.derived.get(_ANSWERS, _NONE).get(key)
        if found is None:
            result = handler(context, arguments, given)
            _memory.keep(record.snapshot, key, result)
            return result
        return found.result.answering(given)

    return run


def rewritten(handler: Handler) -> Handler:
    """Return a handler that creates, and remembers per snapshot what it made of the same arguments.

    Args:
        handler: Its answer rests on its arguments, the snapshot, the stay of the round and the number of the write.
    """

    def run(context: ToolContext, arguments: Any, given: dict[str, Any]) -> ToolResult:
        record = context.record
        key = (handler, context.view, context.encounter, record.version, *given.items())
        found: _Answer | None = record.snapshot.derived.get(_ANSWERS, _NONE).get(key)
        if found is None or found.write is None:
            result = handler(context, arguments, given)
            if result.created is not None:
                _memory.keep(record.snapshot, key, result, record.last_write)
            return result
        record.write_again(found.write)
        return found.result.answering(given)

    return run

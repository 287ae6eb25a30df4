"""Remembering what reads answered: a snapshot never changes, so the same read of it is the same text."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from wardround.patients.chart import Snapshot

from .spec import Handler, ToolContext, ToolResult

MOST = 1 << 24
"""Bytes of answers kept in a process, all snapshots and tools together; beyond, all are forgotten."""


class _Answer(NamedTuple):
    """What a read answered, without the arguments that each call brings itself."""

    tool: str
    ok: bool
    text: str
    resources: tuple[str, ...]
    total: int | None
    error: str | None


class _Memory:
    """Answers by snapshot; those of a snapshot go with it."""

    __slots__ = ("answers", "size")

    def __init__(self) -> None:
        self.answers: WeakKeyDictionary[Snapshot, dict[tuple[Any, ...], _Answer]] = WeakKeyDictionary()
        self.size = 0
        """Upper bound of what is kept: what went with a snapshot still counts until all is forgotten."""

    def keep(self, snapshot: Snapshot, key: tuple[Any, ...], result: ToolResult) -> None:
        self.size += len(result.text) + 64 * len(result.resources) + 1024
        if self.size > MOST:
            self.answers.clear()
            self.size = 0
        known = self.answers.get(snapshot)
        if known is None:
            known = self.answers[snapshot] = {}
        known[key] = _Answer(result.tool, result.ok, result.text, result.resources, result.total, result.error)


_memory = _Memory()


def remembered(handler: Handler) -> Handler:
    """Return a read handler that remembers its answers per snapshot, while the episode has written nothing."""

    def run(context: ToolContext, arguments: Any, given: dict[str, Any]) -> ToolResult:
        record = context.record
        if record.version:
            return handler(context, arguments, given)
        known = _memory.answers.get(record.snapshot)
        key = (handler, context.view, *given.items())
        found = known.get(key) if known is not None else None
        if found is None:
            result = handler(context, arguments, given)
            _memory.keep(record.snapshot, key, result)
            return result
        return ToolResult(
            found.tool, given, found.ok, found.text, "read", found.resources, None, (), found.total, found.error
        )

    return run

"""The network side: a uvicorn server that ends by signal alone, and connections that are given up where they stall."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

STALL = 30.0
"""Seconds in which a connection must get on: tell a whole request head, or take some of the reply."""

LOOK = 5.0
"""Seconds between two looks at a connection."""

TAKEN = 4096
"""Bytes of a reply that a client takes at least, to be getting on."""


class Connection(H11Protocol):
    """A connection that is closed where its other end stalls.

    uvicorn by itself waits for ever for the end of a request's head, for a body that it answered already, and for a
    client that does not read: as many such connections as it takes would shut everybody else out.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._left = 0
        self._answered: Any = None
        self._watch = self.loop.call_later(LOOK, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Watch no more."""
        self._watch.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        if self._gets_on():
            self._since = self.loop.time()
        if self.loop.time() - self._since > STALL:
            self.transport.abort()
        else:
            self._watch = self.loop.call_later(LOOK, self._look)

    def _gets_on(self) -> bool:
        """Tell whether anything happened since the last look, or is being done (that has limits of its own)."""
        left = self.transport.get_write_buffer_size()
        if left:
            taken = left <= self._left - TAKEN
            if taken or left > self._left:
                self._left = left
            return taken
        self._left = 0
        if self.cycle is None:
            return False
        fresh, self._answered = self.cycle is not self._answered, self.cycle
        return fresh or not self.cycle.response_complete


class Listener(uvicorn.Server):
    """A uvicorn server that ends with SIGINT or SIGTERM and leaves it at that (uvicorn raises them again)."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals while the server runs, if it runs in the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

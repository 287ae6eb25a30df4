"""The garbage collector while a set is made: left alone while one patient is visited."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Leave the collector alone for a while: nearly all that a visit makes goes by itself when the visit ends.

    Looking through the knowledge base and the sessions made so far again and again would cost an eighth of the time;
    the first allocations afterwards look for what is left.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

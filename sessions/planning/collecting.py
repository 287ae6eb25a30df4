"""The garbage collector while a set is made: patients come and go, and next to nothing of them is left in circles."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_VISITS: Final = 25
"""Visits after which is looked for what is left: charts, with their snapshots, that the store has forgotten."""


@contextmanager
def uncollected() -> Iterator[Callable[[], None]]:
    """Leave the collector alone, but for what is looked for every so many visits; yields what to call after each.

    Looking through the knowledge base and the sessions made so far again and again would cost an eighth of the time.
    """
    if not gc.isenabled():
        yield lambda: None
        return
    visits, freezes = 0, gc.get_freeze_count() == 0

    def visited() -> None:
        nonlocal visits
        visits += 1
        if visits == 1 or visits % _VISITS == 0:
            gc.collect()
        if visits == 1 and freezes:
            gc.freeze()  # the knowledge stays: there is no need to look through it again and again

    gc.disable()
    try:
        yield visited
    finally:
        if freezes:
            gc.unfreeze()
        gc.enable()

"""What is worked out of a turn's spec alone: once for all answers that are scored against it, not once an answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar

from .rubric import TurnSpec

_MOST: Final = 64
"""Specs kept: answers to one turn are scored together, or a few episodes side by side."""
T = TypeVar("T")


def per_spec(make: Callable[[TurnSpec], T]) -> Callable[[TurnSpec], T]:
    """Let a pure function of a spec be worked out once; specs are frozen, and told apart by identity."""
    kept: dict[int, tuple[TurnSpec, T]] = {}

    @wraps(make)
    def once(spec: TurnSpec) -> T:
        found = kept.get(id(spec))
        if found is None:
            if len(kept) >= _MOST:
                kept.clear()
            found = kept[id(spec)] = spec, make(spec)  # while it is kept, no other spec has its id
        return found[1]

    return once

"""Our own counter-based random numbers: the same on every machine, Python and numpy version.

A stream is named by a key; draws are BLAKE2b of key and counter. No draw of one stream moves another, so one more
question to the patient never changes anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")


class Stream:
    """A stream of random integers named by a key.

    Args:
        key: Strings and integers that together name the stream; order matters.

    Examples:
        >>> Stream("persona", 7).below(10) == Stream("persona", 7).below(10)
        True
    """

    __slots__ = ("_counter", "_key")

    def __init__(self, *key: str | int) -> None:
        text = "\x1f".join([f"str:{part}" if type(part) is str else f"{type(part).__name__}:{part}" for part in key])
        self._key = blake2b(text.encode(), digest_size=32).digest()
        self._counter = 0

    def bits64(self) -> int:
        """Return the next 64 random bits as an integer."""
        block = blake2b(self._counter.to_bytes(8, "big"), key=self._key, digest_size=8).digest()
        self._counter += 1
        return int.from_bytes(block, "big")

    def below(self, n: int) -> int:
        """Return an integer in [0, n), every one equally likely (rejection, no modulo bias).

        Raises:
            ValueError: `n` is not positive.
        """
        if n <= 0:
            raise ValueError(f"`n` must be positive, got {n}")
        limit = (1 << 64) - (1 << 64) % n
        while True:
            value = self.bits64()
            if value < limit:
                return value % n

    def chance(self, numerator: int, denominator: int) -> bool:
        """Return True with probability numerator/denominator."""
        return self.below(denominator) < numerator

    def choice(self, items: Sequence[T]) -> T:
        """Return one of `items`, every one equally likely."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return `items` in random order (Fisher-Yates); the argument is left alone."""
        out = list(items)
        for i in range(len(out) - 1, 0, -1):
            j = self.below(i + 1)
            out[i], out[j] = out[j], out[i]
        return out

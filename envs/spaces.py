"""A Gymnasium space of any text.

`gymnasium.spaces.Text` rejects Chinese and, in async vectors with shared memory, silently repeats its first buffer
(shared/ecosystem.md §2); this one fails loudly there instead, so use `shared_memory=False`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

_ALPHABET = "abcdefghijklmnopqrstuvwxyz ABCXYZ0123456789.,:%/血钾肌酐正常患者今天"
"""What samples are made of: text that any member of the space must survive."""


class Unicode(gym.Space[str]):
    """Strings of at most `max_length` code points, in any script.

    Args:
        max_length: Longest string in the space, in code points.
        seed: Seed of `sample`.
    """

    def __init__(self, max_length: int = 2**20, seed: int | np.random.Generator | None = None) -> None:
        if max_length < 1:
            raise ValueError(f"`max_length` must be at least 1, got {max_length}")
        self.max_length = int(max_length)
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Text has no fixed-size array form."""
        return False

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Return a short random string; masks and probabilities are not supported.

        Raises:
            ValueError: A mask or a probability was given.
        """
        if mask is not None or probability is not None:
            raise ValueError("`Unicode` takes neither mask nor probability")
        size = int(self.np_random.integers(1, min(self.max_length, 24) + 1))
        picks: NDArray[np.int64] = self.np_random.integers(0, len(_ALPHABET), size=size)
        return "".join(_ALPHABET[i] for i in picks)

    def contains(self, x: Any) -> bool:
        """Say whether `x` is a string of the space."""
        return isinstance(x, str) and len(x) <= self.max_length

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        """Strings are JSON already."""
        return list(sample_n)

    def from_jsonable(self, sample_n: list[Any]) -> list[str]:
        """Return the samples as they were."""
        return [str(sample) for sample in sample_n]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unicode) and other.max_length == self.max_length

    def __hash__(self) -> int:
        return hash((Unicode, self.max_length))

    def __repr__(self) -> str:
        return f"Unicode({self.max_length})"

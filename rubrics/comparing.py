"""Is a difference more than luck? Paired comparisons of the same turns, clustered by session, and many of them at once.

Turns and trials of one session are not independent, so every test flips or resamples whole sessions. All sums are
integers in billionths and all draws come from our own streams: the same results give the same figures everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from wardround.patients import Stream, UsageError

from .metrics import REPLICATES, UNIT, TurnResult, resampled

IDENTITY = ("agent", "session", "language", "phrasing", "trial", "turn", "condition")
"""What names a turn of a run; a comparison lets one of these differ."""
EXACT = 16
"""Sessions up to which every assignment of signs is counted; beyond, signs are drawn."""
DRAWS = 9999
_ROWS = 500
"""Assignments of signs worked on at a time: flat memory however many sessions."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The second of two settings minus the first, over the turns that both played and that were graded in both."""

    label: str
    first: str
    second: str
    sessions: int
    pairs: int
    difference: float | None
    """Mean difference; None without a pair."""
    interval: tuple[float, float] | None = None
    """95 % interval by resampling sessions; None with fewer than two sessions."""
    p: float | None = None
    """Two-sided sign-flip test over sessions; None without a pair."""
    q: float | None = None
    """Benjamini–Hochberg adjusted p among the comparisons reported together."""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return {
            "label": self.label, "first": self.first, "second": self.second, "sessions": self.sessions,
            "pairs": self.pairs, "difference": self.difference, "interval": self.interval, "p": self.p, "q": self.q,
        }  # fmt: skip


def reward(turn: TurnResult) -> int:
    """Measure a turn by its reward, in billionths."""
    return turn.billionths


def passes(tau: str) -> Callable[[TurnResult], int]:
    """Measure a turn by whether its reward is at least `tau` ("0.60")."""
    limit = int(Fraction(tau) * UNIT)
    return lambda turn: UNIT * (turn.billionths >= limit)


def compare(
    turns: Iterable[TurnResult],
    field: str,
    first: str,
    second: str,
    *,
    label: str = "",
    measure: Callable[[TurnResult], int] = reward,
    seed: int = 0,
) -> Comparison:
    """Compare two values of one field of `IDENTITY` on the very same turns.

    Args:
        turns: Results of both; turns played under one of them only, or ungraded in one, are left out.
        field: What differs: "agent", "phrasing", "language" …
        first: The value to compare with.
        second: The value compared; the difference is second − first.
        label: Named in the result.
        measure: Turn → integer in billionths.
        seed: Names the random streams.

    Raises:
        UsageError: `field` is not of `IDENTITY`, or both values are the same.
    """
    if field not in IDENTITY:
        raise UsageError(f"`{field}` does not name turns; use one of {', '.join(IDENTITY)}")
    if first == second:
        raise UsageError(f"both values of `{field}` are `{first}`; give two different ones")
    sums, sizes = _by_session(turns, field, (first, second), measure)
    names = sorted(sums)
    pairs = sum(sizes.values())
    if not pairs:
        return Comparison(label, first, second, 0, 0, None)
    values, counts = [sums[name] for name in names], [sizes[name] for name in names]
    key = (field, first, second, label, seed)
    return Comparison(
        label,
        first,
        second,
        len(names),
        pairs,
        float(Fraction(sum(values), pairs * UNIT)),
        resampled(values, counts, Stream("compare interval", *key), REPLICATES) if len(values) > 1 else None,
        sign_flip(values, Stream("compare signs", *key)),
    )


def _by_session(
    turns: Iterable[TurnResult], field: str, values: tuple[str, str], measure: Callable[[TurnResult], int]
) -> tuple[dict[str, int], dict[str, int]]:
    """Return session → sum of differences, and session → number of pairs."""
    others = [name for name in IDENTITY if name != field]
    pairs: dict[tuple[Any, ...], dict[str, TurnResult]] = {}
    for turn in turns:
        if turn.valid and str(getattr(turn, field)) in values:
            key = tuple(getattr(turn, name) for name in others)
            pairs.setdefault(key, {})[str(getattr(turn, field))] = turn
    sums: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for pair in pairs.values():
        if len(pair) == 2:
            old, new = pair[values[0]], pair[values[1]]
            name = new.session if field != "session" else "both"
            sums[name] += measure(new) - measure(old)
            sizes[name] += 1
    return dict(sums) if sums else {}, dict(sizes)


def sign_flip(sums: Sequence[int], stream: Stream) -> float:
    """Return the two-sided p of the sign-flip (paired permutation) test.

    Args:
        sums: One integer per independent unit; under the null hypothesis its sign is a coin's.
        stream: Draws the signs where there are more than `EXACT` units that are not 0.
    """
    moved = [abs(value) for value in sums if value]
    observed = abs(sum(sums))
    if not moved:
        return 1.0
    if len(moved) <= EXACT:
        ways: Counter[int] = Counter({0: 1})
        for value in moved:
            ways = _added(ways, value)
        return float(Fraction(sum(count for total, count in ways.items() if abs(total) >= observed), 1 << len(moved)))
    return (_extreme(moved, observed, stream) + 1) / (DRAWS + 1)


def _extreme(moved: Sequence[int], observed: int, stream: Stream) -> int:
    """Count the drawn assignments of signs whose sum is as far from 0; whole numbers, so exact on every machine."""
    values = np.array(moved, dtype=np.int64)
    words = -(-len(moved) // 64)
    extreme = 0
    for start in range(0, DRAWS, _ROWS):
        rows = min(_ROWS, DRAWS - start)
        raw = b"".join(stream.bits64().to_bytes(8, "big") for _ in range(rows * words))
        bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8)).reshape(rows, words * 64)[:, : len(moved)]
        totals = (bits.astype(np.int64) * 2 - 1) @ values
        extreme += int(np.count_nonzero(np.abs(totals) >= observed))
    return extreme


def _added(ways: Counter[int], value: int) -> Counter[int]:
    out: Counter[int] = Counter()
    for total, count in ways.items():
        out[total + value] += count
        out[total - value] += count
    return out


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Return adjusted p values (q): below α, all such differences together are wrong in at most a share α of cases.

    Args:
        p_values: One per hypothesis; None (not tested) stays None and does not count.

    Examples:
        >>> benjamini_hochberg([0.01, None, 0.04, 0.03])
        [0.03, None, 0.04, 0.04]
    """
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    out: list[float | None] = [None] * len(p_values)
    lowest = 1.0
    for rank in range(len(tested), 0, -1):
        p, place = tested[rank - 1]
        lowest = min(lowest, p * len(tested) / rank)
        out[place] = lowest
    return out


def comparisons(turns: Iterable[TurnResult], *, seed: int = 0) -> list[Comparison]:
    """Return the comparisons of a run, with q adjusted over all of them.

    They are: what implicit phrasing costs each agent (all turns, each subtype), and every agent against every other.
    Settings that share no graded turn are left out.
    """
    found = list(turns)
    agents = sorted({turn.agent for turn in found})
    out = []
    for agent in agents:
        mine = [turn for turn in found if turn.agent == agent]
        subtypes = sorted({turn.implicitness for turn in mine if turn.implicitness is not None})
        for subtype in (None, *subtypes):
            some = [turn for turn in mine if subtype is None or turn.implicitness == subtype]
            label = f"{agent}: {subtype or 'all turns'}"
            out.append(compare(some, "phrasing", "explicit", "implicit", label=label, seed=seed))
    for place, agent in enumerate(agents):
        for other in agents[place + 1 :]:
            out.append(compare(found, "agent", agent, other, label="all turns", seed=seed))
    met = [one for one in out if one.pairs]
    adjusted = benjamini_hochberg([one.p for one in met])
    return [
        Comparison(
            one.label, one.first, one.second, one.sessions, one.pairs, one.difference, one.interval, one.p, q
        )
        for one, q in zip(met, adjusted, strict=True)
    ]  # fmt: skip

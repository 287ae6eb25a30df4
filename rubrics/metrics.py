"""From turn results to the figures of a run: mRS, Pass@Turn, Pass@Session, pass@k, pass^k, Δ, intervals.

Rewards are counted in integer billionths, so that no figure depends on the order of addition and a reward of 3/5
passes the threshold 0.60. A figure without a case is None, never 0. Turns without a valid reward (a judge was down)
are left out of every mean and counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import comb
from typing import Any

from wardround.patients import Stream, UsageError

UNIT = 10**9
"""Rewards are counted in billionths."""
THRESHOLDS = ("0.60", "0.75")
CURVE = tuple(f"{step / 100:.2f}" for step in range(0, 101, 5))
REPLICATES = 1000

Run = tuple[str, str, str, str, int]
"""(agent, session, language, phrasing, trial): one episode."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """One turn of one episode, as far as figures need it."""

    session: str
    turn: int
    reward: float
    r_plain: float = 0.0
    agent: str = ""
    language: str = "en"
    phrasing: str = "implicit"
    trial: int = 0
    task: str = ""
    source: str = ""
    """ehr, patient, mixed or write."""
    implicitness: str | None = None
    scenario: str = ""
    tier: str = ""
    valid: bool = True
    """False where an item is ungraded: the turn has no score."""
    unreadable: int = 0
    """Items that could not be read."""
    ungraded: int = 0
    """Items that infrastructure failed to grade."""
    calls: int = 0
    failure: str | None = None
    """Why it failed: a category of whoever made the result; None where it did not, or none was looked for."""
    condition: str = ""
    """Of an ablation: how this play differs from its pair in what no other field says."""

    @property
    def run(self) -> Run:
        """The episode it belongs to."""
        return (self.agent, self.session, self.language, self.phrasing, self.trial)

    @property
    def billionths(self) -> int:
        """The reward as an integer."""
        return round(self.reward * UNIT)


def summarise(turns: Iterable[TurnResult], *, seed: int = 0, replicates: int = REPLICATES) -> dict[str, Any]:
    """Return the figures of design §10 for turns that belong together (one agent, phrasing and language).

    Args:
        turns: The results; their order does not matter.
        seed: Names the bootstrap's random stream.
        replicates: Bootstrap samples of the 95 % interval; 0 leaves it out.
    """
    found = list(turns)
    valid = [turn for turn in found if turn.valid]
    trials = max((len(runs) for runs in _by_session(found).values()), default=0)
    return {
        "turns": len(found),
        "sessions": len({turn.session for turn in found}),
        "mrs": mean_rubric_score(found),
        "mrs_interval": bootstrap(found, seed=seed, replicates=replicates) if replicates else None,
        "r_plain": _mean([round(turn.r_plain * UNIT) for turn in valid]),
        "pass_turn": {tau: pass_turn(found, tau) for tau in THRESHOLDS},
        "pass_session": {tau: pass_session(found, tau) for tau in THRESHOLDS},
        "pass_at_k": {str(k): pass_at_k(found, k) for k in range(1, trials + 1)},
        "pass_hat_k": {str(k): pass_hat_k(found, k) for k in range(1, trials + 1)},
        "ungraded": len(found) - len(valid),
        "unreadable": sum(turn.unreadable for turn in found),
        "calls_per_turn": _mean([turn.calls * UNIT for turn in found]),
    }


def mean_rubric_score(turns: Iterable[TurnResult]) -> float | None:
    """Return mRS: the mean over episodes of the mean reward of their turns."""
    return _ratio(_mean_fraction([score for scores in _session_scores(turns).values() for score in scores]))


def pass_turn(turns: Iterable[TurnResult], tau: str) -> float | None:
    """Return the share of turns with a reward of at least `tau` ("0.60")."""
    limit = _limit(tau)
    return _mean([UNIT * (turn.billionths >= limit) for turn in turns if turn.valid])


def pass_session(turns: Iterable[TurnResult], tau: str) -> float | None:
    """Return the share of episodes whose turns all have a reward of at least `tau`."""
    outcomes = [passed for runs in _passed(turns, tau).values() for passed in runs]
    return _mean([UNIT * passed for passed in outcomes])


def pass_curve(turns: Iterable[TurnResult]) -> dict[str, dict[str, float | None]]:
    """Return Pass@Turn and Pass@Session over τ = 0.00 … 1.00 in steps of 0.05."""
    found = list(turns)
    return {
        "pass_turn": {tau: pass_turn(found, tau) for tau in CURVE},
        "pass_session": {tau: pass_session(found, tau) for tau in CURVE},
    }


def pass_at_k(turns: Iterable[TurnResult], k: int, tau: str = "0.60") -> float | None:
    """Return the chance that at least one of `k` trials passes, unbiased, mean over tasks with `k` trials or more."""
    return _over_trials(turns, k, tau, lambda n, c: 1 - Fraction(comb(n - c, k), comb(n, k)))


def pass_hat_k(turns: Iterable[TurnResult], k: int, tau: str = "0.60") -> float | None:
    """Return the chance that all of `k` trials pass, unbiased, mean over tasks with `k` trials or more."""
    return _over_trials(turns, k, tau, lambda n, c: Fraction(comb(c, k), comb(n, k)))


def breakdown(turns: Iterable[TurnResult], *fields: str) -> dict[str, dict[str, Any]]:
    """Return mean reward, Pass@Turn and number of turns per value of `fields`.

    Args:
        turns: The results.
        fields: Names of `TurnResult` fields, or "interview" (does the turn ask the patient?); several make a table,
            whose keys join the values with " × ".

    Raises:
        UsageError: A field does not exist.
    """
    groups: dict[str, list[TurnResult]] = {}
    for turn in turns:
        groups.setdefault(" × ".join(_value(turn, field) for field in fields), []).append(turn)
    return {
        key: {
            "turns": len(group),
            "reward": _mean([turn.billionths for turn in group if turn.valid]),
            "pass_turn": {tau: pass_turn(group, tau) for tau in THRESHOLDS},
            "ungraded": sum(not turn.valid for turn in group),
        }
        for key, group in sorted(groups.items())
    }


def breakdowns(turns: Iterable[TurnResult]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the paper's breakdowns: implicitness × task, scenario, tier, language, EHR against interview."""
    found = list(turns)
    tables = {"implicitness_task": ("implicitness", "task"), "source": ("interview",)}
    tables |= {field: (field,) for field in ("task", "implicitness", "scenario", "tier", "language")}
    return {name: breakdown(found, *fields) for name, fields in tables.items()}


def deltas(turns: Iterable[TurnResult], subtypes: Sequence[str] = ("NA", "PE", "AE")) -> dict[str, float | None]:
    """Return the implicit penalty per subtype: mean of implicit minus explicit reward of the very same turns.

    A turn counts where both phrasings were played and graded for the same agent, session, language and trial; a
    negative figure is what the implicit wording costs. None where no turn of the subtype was played in both.
    """
    pairs: dict[tuple[str, str, str, int, int], dict[str, TurnResult]] = {}
    for turn in turns:
        if turn.valid:
            key = (turn.agent, turn.session, turn.language, turn.trial, turn.turn)
            pairs.setdefault(key, {})[turn.phrasing] = turn
    both = [pair for pair in pairs.values() if {"explicit", "implicit"} <= set(pair)]
    return {
        subtype: _mean(
            [
                pair["implicit"].billionths - pair["explicit"].billionths
                for pair in both
                if pair["implicit"].implicitness == subtype
            ]
        )
        for subtype in subtypes
    }


def bootstrap(
    turns: Iterable[TurnResult], *, seed: int = 0, replicates: int = REPLICATES
) -> tuple[float, float] | None:
    """Return the 95 % interval of mRS, resampling whole sessions (turns and trials of one are not independent).

    Args:
        turns: The results.
        seed: Names the random stream; the same seed and results give the same interval on every machine.
        replicates: Samples drawn, at least 40.

    Raises:
        UsageError: Too few replicates for a 95 % interval.
    """
    if replicates < 40:
        raise UsageError(f"`replicates` must be at least 40 for a 95 % interval, got {replicates}")
    scores = _session_scores(turns)
    sums = [sum(round(score * UNIT) for score in scores[session]) for session in sorted(scores)]
    sizes = [len(scores[session]) for session in sorted(scores)]
    return resampled(sums, sizes, Stream("bootstrap", seed), replicates) if sums else None


def resampled(sums: Sequence[int], sizes: Sequence[int], stream: Stream, replicates: int) -> tuple[float, float]:
    """Return the 95 % interval of Σ sums / Σ sizes, in billionths, resampling whole units with replacement.

    Args:
        sums: One integer per unit (session), in billionths.
        sizes: How many values each sum holds.
        stream: Draws the units.
        replicates: Samples drawn.
    """
    draws = _lanes(stream, len(sums))
    means = []
    for _ in range(replicates):
        picks = list(islice(draws, len(sums)))
        means.append(Fraction(sum(sums[pick] for pick in picks), sum(sizes[pick] for pick in picks) * UNIT))
    means.sort()
    cut = replicates // 40  # 2.5 % at each end
    return float(means[cut]), float(means[-1 - cut])


def _lanes(stream: Stream, n: int) -> Iterator[int]:
    """Yield integers in [0, n): two from each 64 random bits; a lane of 32 bits is scaled, its bias is below 2⁻³²·n."""
    while True:
        bits = stream.bits64()
        yield (bits >> 32) * n >> 32
        yield (bits & 0xFFFFFFFF) * n >> 32


def _value(turn: TurnResult, field: str) -> str:
    if field == "interview":
        return "interview" if turn.source in ("patient", "mixed") else "ehr"
    if field not in TurnResult.__dataclass_fields__:
        known = ", ".join([*TurnResult.__dataclass_fields__, "interview"])
        raise UsageError(f"`{field}` is no field of a turn result; use one of {known}")
    value = getattr(turn, field)
    return "none" if value is None else str(value)


def _by_session(turns: Iterable[TurnResult]) -> dict[tuple[str, str, str, str], dict[Run, list[TurnResult]]]:
    """Group by task (agent, session, language, phrasing), then by episode."""
    groups: dict[tuple[str, str, str, str], dict[Run, list[TurnResult]]] = {}
    for turn in turns:
        groups.setdefault(turn.run[:4], {}).setdefault(turn.run, []).append(turn)
    return groups


def _session_scores(turns: Iterable[TurnResult]) -> dict[str, list[Fraction]]:
    """Return session → score of each of its episodes that has a valid turn."""
    scores: dict[str, list[Fraction]] = {}
    for runs in _by_session(turns).values():
        for run, members in runs.items():
            valid = [turn.billionths for turn in members if turn.valid]
            if valid:
                scores.setdefault(run[1], []).append(Fraction(sum(valid), len(valid) * UNIT))
    return scores


def _passed(turns: Iterable[TurnResult], tau: str) -> Mapping[tuple[str, str, str, str], list[bool]]:
    """Return task → did each episode pass; an episode that ungraded turns leave open is left out."""
    limit = _limit(tau)
    outcomes: dict[tuple[str, str, str, str], list[bool]] = {}
    for task, runs in _by_session(turns).items():
        for members in runs.values():
            if any(turn.valid and turn.billionths < limit for turn in members):
                outcomes.setdefault(task, []).append(False)
            elif all(turn.valid for turn in members):
                outcomes.setdefault(task, []).append(True)
    return outcomes


def _over_trials(turns: Iterable[TurnResult], k: int, tau: str, chance: Callable[[int, int], Fraction]) -> float | None:
    if k < 1:
        raise UsageError(f"`k` must be at least 1, got {k}")
    chances = [chance(len(runs), sum(runs)) for runs in _passed(turns, tau).values() if len(runs) >= k]
    return _ratio(_mean_fraction(chances))


def _limit(tau: str) -> int:
    return int(Fraction(tau) * UNIT)


def _mean(billionths: Sequence[int]) -> float | None:
    """Return the mean of integers in billionths, or None."""
    return float(Fraction(sum(billionths), len(billionths) * UNIT)) if billionths else None


def _mean_fraction(values: Sequence[Fraction]) -> Fraction | None:
    return sum(values, Fraction(0)) / len(values) if values else None


def _ratio(value: Fraction | None) -> float | None:
    return None if value is None else float(value)

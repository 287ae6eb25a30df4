"""Paired conditions of an ablation: what is compared with what, on which turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from wardround.rubrics import TurnResult, benjamini_hochberg, compare

from .failures import FAILS_BELOW, counted

SUBTYPES: Final = ("NA", "PE", "AE")
_ONE: Final = "implicit at this turn only"
_LIMIT: Final = int(Fraction(FAILS_BELOW) * 10**9)

Select = Callable[[TurnResult], bool]


@dataclass(frozen=True, slots=True)
class Condition:
    """How sessions are played in one run of an ablation."""

    phrasing: str
    language: str
    history: str = "self"
    interview: bool = True

    @property
    def name(self) -> str:
        """The run's folder: phrasing, language, history and interview, dash-separated."""
        return f"{self.phrasing}-{self.language}-{self.history}-{'on' if self.interview else 'off'}"

    def value(self, vary: str) -> str:
        """Return what the condition has of the thing varied, in a word."""
        fields = self.as_dict()
        return str(fields["phrasing" if vary == "turn" else vary])

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return {
            "name": self.name, "phrasing": self.phrasing, "language": self.language, "history": self.history,
            "interview": "on" if self.interview else "off",
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pair:
    """Two conditions that differ in one thing, and the sessions that can be played in both."""

    vary: str
    first: Condition
    second: Condition
    sessions: tuple[str, ...]
    turn: int | None = None
    """The implicit turn, where one turn alone is implicit."""


def compared(
    pairs: Sequence[Pair], turns: Mapping[Condition, list[TurnResult]], agents: Sequence[str], *, seed: int = 0
) -> list[dict[str, Any]]:
    """Return the paired comparisons of every agent, with q adjusted over all of them.

    Args:
        pairs: What was varied.
        turns: What was played under every condition of the pairs.
        agents: Whom to compare with themselves.
        seed: Names the random streams of intervals and tests.

    Returns:
        `vary, agent, label` (which turns), `first, second, sessions, pairs, difference` (second − first), `interval`,
        `p, q`; comparisons without a pair of graded turns are left out.
    """
    out: list[dict[str, Any]] = []
    for agent in agents:
        pooled: list[TurnResult] = []
        for pair in pairs:
            both = _both(pair, turns, agent)
            for label, select in _groups(pair, both):
                out.append(_compare(pair.vary, agent, label, filter(select, both), _values(pair), seed))
            if pair.turn is not None:
                pooled.extend(
                    one if one.condition == pair.first.name else replace(one, condition=_ONE)
                    for one in both
                    if one.turn == pair.turn
                )
        first = next((pair.first.name for pair in pairs if pair.turn is not None), None)
        if first is not None:
            for subtype in SUBTYPES:
                some = [one for one in pooled if one.implicitness == subtype]
                values = ((first, "explicit"), (_ONE, _ONE))
                out.append(_compare("turn", agent, f"{subtype}, implicit alone", some, values, seed))
    return _adjusted([one for one in out if one["pairs"]])


def _both(pair: Pair, turns: Mapping[Condition, list[TurnResult]], agent: str) -> list[TurnResult]:
    """Return an agent's turns under both conditions, told apart by `condition` and by nothing else."""
    ids = set(pair.sessions)
    return [
        replace(turn, condition=condition.name, phrasing="", language="")
        for condition in (pair.first, pair.second)
        for turn in turns[condition]
        if turn.agent == agent and turn.session in ids
    ]


def _values(pair: Pair) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return (condition, what it is called beside the other) of both."""
    return (pair.first.name, pair.first.value(pair.vary)), (pair.second.name, pair.second.value(pair.vary))


def _groups(pair: Pair, both: Sequence[TurnResult]) -> list[tuple[str, Select]]:
    """Return which turns a pair is compared on, by name."""
    if pair.turn is not None:
        at = pair.turn
        return [(f"turn {at}", lambda one: one.turn == at), (f"after turn {at}", lambda one: one.turn > at)]
    every: list[tuple[str, Select]] = [("all turns", lambda one: True)]
    if pair.vary == "phrasing":
        by_kind = [(name, _where("implicitness", name)) for name in SUBTYPES]
        return [*every, *by_kind, ("not reworded", _where("implicitness", None))]
    if pair.vary == "history":
        later = range(1, 1 + max((one.turn for one in both), default=0))
        return [*every, *((f"turn {number}", _where("turn", number)) for number in later)]
    if pair.vary == "interview":
        asked: Select = lambda one: one.source in ("patient", "mixed")  # noqa: E731  # a name for the table below
        return [*every, ("interview turns", asked), ("other turns", lambda one: not asked(one))]
    return [*every, *((task, _where("task", task)) for task in sorted({one.task for one in both}))]


def _where(field: str, value: Any) -> Select:
    return lambda one: getattr(one, field) == value


def _compare(
    vary: str,
    agent: str,
    label: str,
    turns: Iterable[TurnResult],
    values: tuple[tuple[str, str], tuple[str, str]],
    seed: int,
) -> dict[str, Any]:
    (first, first_shown), (second, second_shown) = values
    found = compare(turns, "condition", first, second, label=f"{agent}: {vary}: {label}", seed=seed).as_dict()
    return {"vary": vary, "agent": agent, **found, "label": label, "first": first_shown, "second": second_shown}


def _adjusted(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the comparisons with q, over all that the ablation reports."""
    return [
        {**one, "q": q} for one, q in zip(found, benjamini_hochberg([one["p"] for one in found]), strict=True)
    ]  # fmt: skip


def one_language_only(
    pairs: Sequence[Pair],
    turns: Mapping[Condition, list[TurnResult]],
    agents: Sequence[str],
    gold_calls: Mapping[tuple[str, int], int],
) -> list[dict[str, Any]]:
    """Return, of the turns passed in one language only, why they failed in the other.

    Args:
        pairs: What was varied; only languages count.
        turns: What was played under every condition of the pairs.
        agents: Whom to look at.
        gold_calls: How many calls gold makes, by session and turn.

    Returns:
        `agent, passed_in, failed_in, turns, failures`, and `share` of those turns with fewer calls than gold makes
        (`too_few_calls`, whatever the category) and with a `refusal`; None where there is no such turn.
    """
    out: list[dict[str, Any]] = []
    for pair in pairs:
        if pair.vary != "language":
            continue
        ways = ((pair.second, pair.first), (pair.first, pair.second))
        for agent in agents:
            for passed, failed in ways:
                lost = _lost(agent, turns[passed], turns[failed])
                few = sum(one.calls < gold_calls.get((one.session, one.turn), 0) for one in lost)
                counts = counted(one.failure for one in lost)
                shares = {"too_few_calls": few, "refusal": counts["refusal"]}
                out.append(
                    {
                        "agent": agent,
                        "passed_in": passed.language,
                        "failed_in": failed.language,
                        "turns": len(lost),
                        "failures": counts,
                        "share": {name: count / len(lost) if lost else None for name, count in shares.items()},
                    }
                )
    return out


def _lost(agent: str, passed: Sequence[TurnResult], failed: Sequence[TurnResult]) -> list[TurnResult]:
    """Return the turns that an agent failed here and passed there."""
    won = {_key(one) for one in passed if one.agent == agent and one.valid and one.billionths >= _LIMIT}
    return [one for one in failed if one.agent == agent and one.failure and _key(one) in won]


def _key(turn: TurnResult) -> tuple[str, int, int]:
    return (turn.session, turn.turn, turn.trial)

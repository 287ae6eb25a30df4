"""The tables of a run: records in, one pass, figures out.

A run of a million episodes does not fit in memory; what its tables need of each record does (`TurnResult`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from wardround.rubrics import TurnResult, breakdowns, comparisons, deltas, pass_curve, summarise
from wardround.sessions import SessionSet

from .failures import counted, failures_of
from .results import hash_of
from .rollout import Record
from .usage import Usage


def turn_results(record: Record, sessions: SessionSet) -> list[TurnResult]:
    """Return the turns of a record as metrics want them; a turn never reached counts 0."""
    session = sessions.get(record["session"])
    turns = record["trajectory"]["turns"]
    failures = failures_of(record, session)
    out = []
    for number, turn in enumerate(session.turns):
        score = turns[number] if number < len(turns) else None
        verdicts = score["verdicts"] if score else []
        out.append(
            TurnResult(
                agent=record["agent"],
                session=record["session"],
                language=record["language"],
                phrasing=record["phrasing"],
                trial=record["trial"],
                turn=number,
                task=turn.task,
                source=turn.source,
                implicitness=turn.implicitness,
                scenario=session.scenario,
                tier=session.tier,
                reward=score["reward"] if score else 0.0,
                r_plain=score["r_plain"] if score else 0.0,
                valid=bool(score["reward_valid"]) if score else True,
                unreadable=sum(bool(verdict["unreadable"]) for verdict in verdicts),
                ungraded=sum(bool(verdict["ungraded"]) for verdict in verdicts),
                calls=_calls(record, number),
                failure=failures[number],
            )
        )
    return out


def _calls(record: Record, turn: int) -> int:
    return sum(event["event"] == "call" and event["turn"] == turn for event in record["trajectory"]["events"])


@dataclass(slots=True)
class _Group:
    """What one agent did in one phrasing and one language."""

    sees_gold: bool
    episodes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    call_errors: Counter[str] = field(default_factory=Counter)
    turns: list[TurnResult] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    def add(self, record: Record, turns: list[TurnResult]) -> None:
        self.episodes += 1
        self.outcomes[record["outcome"]] += 1
        # `not_recorded` is no mistake of the agent but a gap of the set
        self.call_errors.update(
            event["error"]
            for event in record["trajectory"]["events"]
            if event["event"] == "call" and event.get("error")
        )
        self.turns.extend(turns)
        self.usage.add(record.get("usage") or {})

    def row(self, episodes_per_s: float | None) -> dict[str, Any]:
        return {
            "episodes": self.episodes,
            "outcomes": dict(sorted(self.outcomes.items())),
            "call_errors": dict(sorted(self.call_errors.items())),
            "failures": counted(turn.failure for turn in self.turns),
            **summarise(self.turns),
            "pass_curve": pass_curve(self.turns),
            "breakdowns": breakdowns(self.turns),
            "usage": self.usage.total(),
            "episodes_per_s": episodes_per_s,
        }


def tables(records: Iterable[Record], sessions: SessionSet, *, episodes_per_s: float | None = None) -> dict[str, Any]:
    """Return the tables of a run: a row per agent × phrasing × language, Δ per subtype, paired tests, the run's hash.

    Args:
        records: Merged records, in the order of their keys; read once and not kept.
        sessions: The set they were played on.
        episodes_per_s: Measured throughput of the run, None where nothing was played.
    """
    groups: dict[tuple[str, str, str], _Group] = {}
    failed: dict[tuple[str, str], dict[str, Any]] = {}
    hashes: list[tuple[str, str]] = []
    for record in records:
        where = (record["agent"], record["phrasing"], record["language"])
        if where not in groups:
            groups[where] = _Group(record["sees_gold"])
        groups[where].add(record, turn_results(record, sessions))
        hashes.append((record["key"], record["trajectory_hash"]))
        if record["error"]:
            _count_error(failed, record)
    ordered = sorted(groups.items())
    everything = [turn for _, group in ordered for turn in group.turns]
    agents = sorted({agent for agent, _, _ in groups})
    return {
        "results": [
            {
                "agent": agent,
                "sees_gold": group.sees_gold,
                "phrasing": phrasing,
                "language": language,
                **group.row(episodes_per_s),
            }
            for (agent, phrasing, language), group in ordered
        ],
        "delta": deltas(everything),
        "delta_by_agent": {name: deltas(turn for turn in everything if turn.agent == name) for name in agents},
        "errors": [failed[where] for where in sorted(failed)],
        "comparisons": [one.as_dict() for one in comparisons(everything)],
        "trajectory_hash": hash_of(hashes),
    }


def _count_error(failed: dict[tuple[str, str], dict[str, Any]], record: Record) -> None:
    """Count who failed how often, with the first message: such episodes score what was earned before, mostly 0."""
    where = (record["agent"], record["outcome"])
    if where not in failed:
        failed[where] = {
            "agent": record["agent"],
            "outcome": record["outcome"],
            "episodes": 0,
            "first": record["error"],
            "key": record["key"],
        }
    failed[where]["episodes"] += 1

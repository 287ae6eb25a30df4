"""Ablations: the same sessions under paired conditions, everything else equal, and what each difference costs.

Every condition is a run folder of its own below the ablation's folder; one that two comparisons share is played once.
Agents' seeds, sessions and trials are the same in all, so a difference is the condition's (docs/ablations.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import orjson

import wardround
from wardround.patients import ALL_TOOLS, TOOLS, UsageError, write_whole
from wardround.rubrics import TurnResult
from wardround.sessions import Session, SessionSet, load_sessions

from .checking import languages_of
from .evaluate import EvaluationPlan, How, evaluate, open_store
from .paired import Condition, Pair, compared, one_language_only
from .results import read_records
from .tables import turn_results

VARIATIONS: Final = ("phrasing", "turn", "history", "interview", "language")
"""What `ablate` can vary, one thing at a time (docs/ablations.md)."""
FORMAT: Final = "wardround.ablation/1"


def ablate(
    plan: EvaluationPlan, out: str | Path, vary: Sequence[str] = ("phrasing",), how: How | None = None
) -> dict[str, Any]:
    """Play the same sessions under paired conditions and compare the same turns.

    Args:
        plan: What to play; its one phrasing and its one language are those of every condition that does not vary them.
        out: Folder of the ablation; each condition is a run folder below it.
        vary: What to vary, of `VARIATIONS`.
        how: Where episodes run, resume; `progress` counts the episodes of all conditions.

    Returns:
        `format, wardround, set_hash, store_hash, agents, vary, base, conditions` (each with its results by agent),
        `comparisons` (paired differences with 95 % interval, p, and q over all of them), `one_language_only`, `skipped`
        (sessions that a variation leaves out, and why); the same in ablation.json. `errors` and `out` beside.

    Raises:
        UsageError: An unknown variation, one that no session of the set can be played with, or what `evaluate` refuses.
    """
    how = how or How()
    out = Path(out)
    base = _base(plan)
    _check_vary(vary)
    sessions = plan.sessions if isinstance(plan.sessions, SessionSet) else load_sessions(plan.sessions)
    store = open_store(plan)
    chosen = [session for session in sessions if plan.only is None or session.id in plan.only][: plan.limit]
    pairs, skipped = _pairs(chosen, base, vary)
    wanted = _conditions(base, chosen, pairs)
    runs: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    turns: dict[Condition, list[TurnResult]] = {}
    tell = _Told(how, sum(len(ids) for ids in wanted.values()) * len(plan.agents) * plan.trials)
    for condition, ids in wanted.items():
        only = ids if len(ids) < len(sessions) else None
        played = _run(plan, condition, only, out, tell.how())
        errors.extend({"condition": condition.name, **one} for one in played["errors"])
        tell.done(len(ids) * len(plan.agents) * plan.trials)
        runs.append({**condition.as_dict(), "sessions": len(ids), **_figures(played)})
        turns[condition] = _turns(out / condition.name, sessions)
    report = {
        "format": FORMAT,
        "wardround": wardround.__version__,
        "set_hash": sessions.hash,
        "store_hash": store.hash,
        "licence": sessions.licence,
        "agents": list(plan.agents),
        "vary": list(vary),
        "base": base.as_dict(),
        "conditions": runs,
        "comparisons": compared(pairs, turns, plan.agents, seed=plan.seed),
        "one_language_only": one_language_only(pairs, turns, plan.agents, _gold_calls(sessions)),
        "skipped": skipped,
        "errors": errors,
    }
    write_whole(out / "ablation.json", orjson.dumps(report, option=orjson.OPT_INDENT_2) + b"\n")
    return {**report, "out": str(out)}


# -- what is played ---------------------------------------------------------------------------------------------------


def _base(plan: EvaluationPlan) -> Condition:
    if len(plan.phrasings) != 1 or len(plan.languages) != 1:
        raise UsageError(
            "an ablation starts from one phrasing and one language; name one of each and vary them with `vary`"
        )
    if plan.history != "self" or not plan.interview:
        raise UsageError("an ablation starts from history=self with the interview on; vary them with `vary`")
    return Condition(plan.phrasings[0], plan.languages[0])


def _check_vary(vary: Sequence[str]) -> None:
    for one in vary:
        if one not in VARIATIONS:
            raise UsageError(f"`{one}` cannot be varied; name some of {', '.join(VARIATIONS)}")
    if not vary or len(set(vary)) != len(vary):
        raise UsageError(f"`vary` is empty or names one twice; name some of {', '.join(VARIATIONS)}, each once")


def _pairs(chosen: Sequence[Session], base: Condition, vary: Sequence[str]) -> tuple[list[Pair], list[dict[str, Any]]]:
    """Return the pairs of conditions, and which sessions a variation leaves out."""
    pairs: list[Pair] = []
    skipped: list[dict[str, Any]] = []
    worded = (lambda session: base.language in languages_of(session)), f"the session lacks words in `{base.language}`"
    for one in vary:
        kept = chosen
        for playable, why in (_PLAYABLE[one], worded):
            left = [session for session in kept if playable(session)]
            if not left:
                raise UsageError(f"`{one}` cannot be varied on these sessions: {why}; leave it out of `vary`")
            if len(left) < len(kept):
                skipped.append({"vary": one, "sessions": len(kept) - len(left), "reason": why})
            kept = left
        pairs.extend(_pairs_of(one, base, kept))
    return pairs, skipped


def _pairs_of(vary: str, base: Condition, kept: Sequence[Session]) -> list[Pair]:
    ids = tuple(session.id for session in kept)
    if vary == "phrasing":
        return [Pair(vary, replace(base, phrasing="explicit"), replace(base, phrasing="implicit"), ids)]
    if vary == "history":
        return [Pair(vary, base, replace(base, history="gold"), ids)]
    if vary == "interview":
        return [Pair(vary, base, replace(base, interview=False), ids)]
    if vary == "language":
        return [Pair(vary, replace(base, language="en"), replace(base, language="zh"), ids)]
    explicit = replace(base, phrasing="explicit")
    found = []
    for turn in range(max(len(session.turns) for session in kept)):
        here = tuple(session.id for session in kept if _is_implicit(session, turn))
        if here:
            found.append(Pair(vary, explicit, replace(base, phrasing=f"implicit@{turn}"), here, turn))
    return found


def _is_implicit(session: Session, turn: int) -> bool:
    return turn < len(session.turns) and session.turns[turn].implicitness is not None


def _may_see_gold(session: Session) -> bool:
    return session.use != "evaluation" and all(turn.gold is not None and turn.gold.answers for turn in session.turns)


def _asks(session: Session) -> bool:
    names = session.tools if session.tools is not None else tuple(TOOLS)
    return any(name in ALL_TOOLS and ALL_TOOLS[name].effect == "ask" for name in names)


_PLAYABLE: Final[Mapping[str, tuple[Callable[[Session], bool], str]]] = {
    "phrasing": (lambda session: True, ""),
    "turn": (lambda session: any(turn.implicitness for turn in session.turns), "no turn has an implicit form"),
    "history": (_may_see_gold, "gold history is not for sessions for evaluation only, nor for turns without gold"),
    "interview": (_asks, "the session offers no tool that asks the patient"),
    "language": (lambda session: len(languages_of(session)) == 2, "the session lacks words in English or Chinese"),
}


def _conditions(base: Condition, chosen: Sequence[Session], pairs: Iterable[Pair]) -> dict[Condition, tuple[str, ...]]:
    """Return what is to be played: every condition once, on all sessions that any of its pairs needs, in set order."""
    needed: dict[Condition, set[str]] = {}
    for pair in pairs:
        for condition in (pair.first, pair.second):
            needed.setdefault(condition, set()).update(pair.sessions)
    return {
        condition: tuple(session.id for session in chosen if session.id in ids) for condition, ids in needed.items()
    }


def _run(plan: EvaluationPlan, condition: Condition, only: Sequence[str] | None, out: Path, how: How) -> dict[str, Any]:
    played = replace(
        plan,
        only=only,
        limit=None,
        phrasings=(condition.phrasing,),
        languages=(condition.language,),
        history=condition.history,
        interview=condition.interview,
    )
    return evaluate(played, out / condition.name, how)


def _gold_calls(sessions: SessionSet) -> dict[tuple[str, int], int]:
    """Return how many calls gold makes, by session and turn; turns without gold are left out."""
    return {
        (session.id, number): len(turn.gold.calls)
        for session in sessions
        for number, turn in enumerate(session.turns)
        if turn.gold is not None
    }


def _turns(folder: Path, sessions: SessionSet) -> list[TurnResult]:
    records = read_records(folder / "trajectories.jsonl")
    return [turn for record in records for turn in turn_results(record, sessions)]


class _Told:
    """Progress over all conditions, made of each run's own."""

    def __init__(self, how: How, total: int) -> None:
        self._how, self._total, self._before = how, total, 0

    def how(self) -> How:
        """Return where the next condition runs, its progress counted on from those before."""
        tell, before = self._how.progress, self._before
        if tell is None:
            return self._how
        return replace(self._how, progress=lambda done, total: tell(before + done, self._total))

    def done(self, episodes: int) -> None:
        """Count a condition's episodes as done."""
        self._before += episodes


def _figures(report: Mapping[str, Any]) -> dict[str, Any]:
    kept = (
        "agent", "sees_gold", "episodes", "outcomes", "mrs", "mrs_interval", "r_plain", "pass_turn", "pass_session",
        "ungraded", "calls_per_turn", "failures",
    )  # fmt: skip
    return {
        "results": [{name: row[name] for name in kept} for row in report["results"]],
        "trajectory_hash": report["trajectory_hash"],
    }

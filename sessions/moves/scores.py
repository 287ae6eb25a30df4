"""Clinical scores: gathered and worked out (DG), and what a total calls for (CR)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from wardround.patients import Stream
from wardround.patients.knowledge import Names
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.decisions.tables import table_of

from .move import Case, Focus, Move, MoveKind, kept
from .parts import bullets, two_sentences
from .score_gather import Gathered, computable, gathered, joint_calls, lower, single_calls
from .score_parts import (
    component_items,
    grounded_item,
    meaning_item,
    met_item,
    missing_words,
    parts_words,
    points_words,
    read_items,
    score_entity,
    shown,
    total_item,
    total_words,
)
from .step_parts import advice_words, step_advice_item, step_danger_item, step_entity, step_writes

MOST_READS: Final = 2
"""A CR turn correlates at most two findings."""


@kept
def score_move(case: Case, found: Gathered) -> Move | None:
    """Return the turn that gathers a score's components and works it out; None where one call would do."""
    calls = single_calls(case, found)
    if len(calls) < MOST_READS:
        return None
    reads = read_items(case, found)
    total = total_words(found, points_words(found))
    lines = [parts_words(case, found), total, missing_words(found)]
    return Move(
        kind="score",
        task="DG",
        source="ehr",
        topic=f"{found.use.id}:score",
        calls=calls,
        answer=bullets(line for line in lines if line is not None),
        rubric=(
            *reads,
            *component_items(case, found, 2),
            total_item(found, tuple(one.id for one in reads)),
            meaning_item(found),
            grounded_item(found),
        ),
        slots={"score": score_entity(case, found)},
        keys=keys_of(found),
        needs=frozenset({"formula"}),
        score=found.use.id,
    )


def keys_of(found: Gathered) -> frozenset[str]:
    """Return the resources that a score rests on."""
    held = [*(one.keys for one in found.readings.values()), *found.conditions.values(), *found.orders.values()]
    return frozenset(key for keys in held for key in keys)


def decide_score(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the turn that asks what a score calls for; none where more than two reads would be needed."""
    found, table = cast(Gathered, decision.extra["gathered"]), table_of(decision)
    calls = joint_calls(case, found)
    if len(calls) > MOST_READS:
        return
    reads = read_items(case, found)
    yield Move(
        kind="decide_score",
        task="CR",
        source="ehr",
        topic=f"{found.use.id}:{table.step.id}",
        calls=calls,
        answer=two_sentences(total_words(found, _inside(case, found)), advice_words(decision)),
        rubric=(
            *reads,
            *met_item(case, found),
            total_item(found, tuple(one.id for one in reads)),
            meaning_item(found),
            step_advice_item(decision, ("meaning",)),
            step_danger_item(case, decision),
            grounded_item(found),
        ),
        slots={"score": score_entity(case, found), "step": step_entity(table.step)},
        keys=keys_of(found),
        needs=frozenset({"formula"}),
        decision=decision,
        score=found.use.id,
    )


def _inside(case: Case, found: Gathered) -> Names | None:
    """Return what stands behind a total in one sentence: the values it was made of, else the points."""
    if len(shown(found)) < MOST_READS:
        return points_words(found)
    parts = parts_words(case, found)
    return Names(en=lower(parts.en), zh=parts.zh)


def _scores(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    mixed = stream.shuffled(computable(case))
    mixed.sort(key=lambda name: name not in focus.decision.subject)
    for name in mixed:
        move = score_move(case, gathered(case)[name])
        if move is not None and move.topic not in focus.busy:
            yield move


KINDS: Final[tuple[MoveKind, ...]] = (MoveKind("score", "DG", "ehr", _scores),)
"""Turns about clinical scores; those that reason come from decisions of kind score."""

__all__ = ["KINDS", "MOST_READS", "computable", "decide_score", "gathered", "keys_of", "score_move", "step_writes"]

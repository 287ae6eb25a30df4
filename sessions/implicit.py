"""Implicit wording: what a query may leave out, and which earlier query of the physician it is recovered from.

NA leaves out an entity, PE a predicate, AE the accumulated picture. An antecedent counts only where an earlier query
names it in the phrasing being played and nothing else of its kind was named, so that it is unique.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from wardround.patients import Stream

from .planner import Move, Plan
from .queries import Names, faults, fill, named, slots_of
from .scenario import Phrases, Scenario, Shape
from .session import Antecedent, Implicitness

_LABS = {"lab", "vital"}
_DRUGS = {"drug"}
_TYPES: tuple[Implicitness, ...] = ("NA", "PE", "AE")


@dataclass(frozen=True)
class Worded:
    """One query, both wordings."""

    explicit: str
    implicit: str
    type: Implicitness | None = None
    antecedents: tuple[Antecedent, ...] = ()


def word_session(
    plan: Plan, names: Names, scenario: Scenario, phrases: Phrases, stream: Stream, used: Counter[str]
) -> tuple[Worded, ...] | None:
    """Word the four queries of a plan.

    Args:
        plan: The moves.
        names: What the labs are called.
        scenario: Limits and cues.
        phrases: Surface shapes.
        stream: Picks shapes.
        used: How often each type was used so far ("NA", "PE", "AE"); read only.

    Returns:
        The wordings, None where an opening has no shape that keeps the limits.
    """
    mine: Counter[str] = Counter()
    done: list[Worded] = []
    for move in plan.moves:
        values = slots_of(move, plan, names, scenario)
        if not done:
            openings = [fill(shape, values) for shape in stream.shuffled(phrases.first[move.kind])]
            fitting = [words for words in openings if not faults(words, task=move.task, first=True)]
            if not fitting:
                return None
            done.append(Worded(fitting[0], fitting[0]))
            continue
        worded = _later(plan.moves, done, values, names, scenario, phrases, stream, used + mine)
        if worded is None:
            return None
        if worded.type is not None:
            mine[worded.type] += 1
        done.append(worded)
    return tuple(done)


def _later(
    moves: Sequence[Move],
    done: Sequence[Worded],
    values: dict[str, str],
    names: Names,
    scenario: Scenario,
    phrases: Phrases,
    stream: Stream,
    used: Counter[str],
) -> Worded | None:
    """Word a later query in the least used type that is valid here."""
    move = moves[len(done)]
    shapes = stream.shuffled(phrases.shapes[move.kind])
    topics = _topics(moves, done, names, scenario, values)
    if topics:
        values = values | {"topics": " and ".join(words for words, _ in topics)}
    for kind in sorted(_TYPES, key=lambda one: (used[one], _TYPES.index(one))):
        for shape in shapes:
            if shape.type != kind:
                continue
            antecedents = _antecedents(shape, move, moves, done, scenario, topics)
            if antecedents is None:
                continue
            explicit, implicit = fill(shape.explicit, values), fill(shape.implicit, values)
            if not faults(explicit, task=move.task, first=False) and not faults(implicit, task=move.task, first=False):
                return Worded(explicit, implicit, kind, antecedents)
    return None


def _antecedents(
    shape: Shape,
    move: Move,
    moves: Sequence[Move],
    done: Sequence[Worded],
    scenario: Scenario,
    topics: Sequence[tuple[str, Antecedent]],
) -> tuple[Antecedent, ...] | None:
    """Return what a shape leaves out with its antecedents; None where it would not be recoverable."""
    if shape.drops == "topics":
        return tuple(antecedent for _, antecedent in topics) if len(topics) >= 2 else None
    if shape.drops == "drug":
        return _entity(done, move.order.drug, move.order.name, _DRUGS)
    if shape.drops == "lab":
        return _entity(done, move.lab.lab, move.lab.name, _LABS)
    if shape.drops == "latest":
        return _predicate(done, "latest", range(len(done)), scenario)
    advised = [turn for turn in range(len(done)) if moves[turn].task == "CR"]
    return _predicate(done, "advice", advised, scenario)


def _entity(done: Sequence[Worded], concept: str, name: str, kinds: set[str]) -> tuple[Antecedent, ...] | None:
    """Return the first earlier turn that names a concept in both wordings, unless another of its kind was named."""
    found = None
    for turn, worded in enumerate(done):
        explicit, implicit = named(worded.explicit, kinds), named(worded.implicit, kinds)
        if (explicit | implicit) - {concept}:
            return None
        if found is None and concept in explicit & implicit:
            found = turn
    return None if found is None else (Antecedent(turn=found, entity=name),)


def _predicate(
    done: Sequence[Worded], predicate: str, turns: Sequence[int], scenario: Scenario
) -> tuple[Antecedent, ...] | None:
    """Return the last of the turns that asks for the same thing in both wordings."""
    for turn in reversed(turns):
        if cued(done[turn].explicit, predicate, scenario) and cued(done[turn].implicit, predicate, scenario):
            return (Antecedent(turn=turn, entity=predicate),)
    return None


def cued(query: str, key: str, scenario: Scenario) -> bool:
    """Tell whether a query holds a word for a predicate or topic that is no concept."""
    padded = f" {''.join(char if char.isalnum() else ' ' for char in query.casefold())} "
    padded = " ".join(padded.split())
    return any(f" {cue} " in f" {padded} " for cue in scenario.cues[key])


def _topics(
    moves: Sequence[Move], done: Sequence[Worded], names: Names, scenario: Scenario, values: dict[str, str]
) -> list[tuple[str, Antecedent]]:
    """Return the topics of the first two turns that both wordings of their own queries name."""
    if len(done) < 2:
        return []
    topics: list[tuple[str, Antecedent]] = []
    for turn in (0, 1):
        move, worded = moves[turn], done[turn]
        lab = move.labs[0] if move.labs else move.lab if turn == 0 else None
        if lab is not None:
            if lab.lab in named(worded.explicit, _LABS) & named(worded.implicit, _LABS):
                topics.append((f"the {names[lab.lab]}", Antecedent(turn=turn, entity=lab.name)))
            continue
        key = {"dose": "dose"}.get(move.kind, "advice" if move.task == "CR" else "adherence")
        if cued(worded.explicit, key, scenario) and cued(worded.implicit, key, scenario):
            topics.append((fill_topic(scenario.topic_words[key], values), Antecedent(turn=turn, entity=key)))
    return topics


def fill_topic(words: str, values: dict[str, str]) -> str:
    """Fill a topic's words without capitalising them."""
    return words.format_map(values)

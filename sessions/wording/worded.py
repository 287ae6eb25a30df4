"""The four queries of a session in words: both phrasings, both languages, one type and the same antecedents in each.

A session's words are chosen together: of all the ways in which its turns can lean on each other, the one that leaves
least said in full, and of these the one whose types the set lacks most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Final

from wardround.patients import DAY, Stream, knowledge
from wardround.sessions.moves.drugs import last_dose
from wardround.sessions.moves.move import Case, Move
from wardround.sessions.moves.nearness import monitored_by
from wardround.sessions.session import Implicitness

from .discourse import Discourse, kind_of, spoken
from .filling import pronouns
from .phrases import load_phrases
from .writer import Pair, Worded, Writer

TYPES: Final[tuple[Implicitness, ...]] = ("NA", "PE", "AE")
EXPLICIT: Final = "none"
"""Counted for turns that leave nothing out."""
EVEN: Final[Mapping[str, int]] = {"NA": 1, "PE": 1, "AE": 1}
"""Weights of the types where each is to have its third."""
PAPER: Final[Mapping[str, int]] = {"NA": 121, "PE": 464, "AE": 198, EXPLICIT: 189}
"""Weights of the paper's own mix."""
_ENOUGH: Final = 60
"""Turns from which on shares are taken at their word."""
_MOST_AHEAD: Final = 120
"""What a type costs at most, by how far it is ahead of the one that is furthest behind."""
_PLAIN: Final = 400
"""What words cost that leave nothing out …"""
_PLAIN_WANTED: Final = 100
"""… and what they cost while fewer turns are explicit than may be: less than a type that is far ahead."""
_PLAIN_PERCENT: Final = 16
"""Below this share of explicit turns, a type that is far ahead gives way to none."""
_NAMING: Final = 4
"""What an opening costs that names a drug beside what it asks."""
_NAMES_DRUG: Final = 3
"""One opening of so many may name the drug of later turns, where it belongs there: they then need not name it again."""


@dataclass(frozen=True)
class _Path:
    """A beginning of a session's words."""

    pairs: tuple[Pair, ...]
    discourse: Discourse
    types: Counter[str]
    shapes: frozenset[str]

    def on(self, move: Move, pair: Pair) -> _Path:
        """Return it with one more turn."""
        discourse = Discourse()
        discourse.turns = [*self.discourse.turns, spoken(move, pair.shapes, pair.added)]
        types = self.types if not self.pairs else self.types + Counter({pair.type or EXPLICIT: 1})
        return _Path((*self.pairs, pair), discourse, types, self.shapes.union(one.id for one in pair.shapes.values()))


def word_session(
    moves: Sequence[Move],
    case: Case,
    split: str,
    used: Mapping[str, int],
    stream: Stream,
    mix: Mapping[str, int] = EVEN,
) -> tuple[Worded, ...] | None:
    """Word the four queries of a session.

    Args:
        moves: In turn order.
        case: The patient; the recorded sex gives the pronouns.
        split: Decides which shapes may be used: `train`, or any other.
        used: How often each type ("NA", "PE", "AE", `EXPLICIT`) and each shape was used so far; read only.
        stream: Picks shapes.
        mix: Weight of each type; a type is wanted that is furthest behind its share. `EXPLICIT` in it wants turns that
            leave nothing out.

    Returns:
        The wordings, None where the patient's sex is unknown or a turn has no shape that keeps the limits.
    """
    sex = case.view.sex
    if pronouns(sex, "en") is None:
        return None
    types = stream.shuffled(TYPES)
    moves = [_with_input(move, moves[:turn]) for turn, move in enumerate(moves)]
    later = [Writer(move, sex, split, stream, used, first=False) for move in moves[1:]]
    open_: list[tuple[int, int, _Path]] = []
    for cost, move in _openings(moves, case, used):
        pair = Writer(move, sex, split, stream, used, first=True).opening()
        if pair is not None:
            heappush(open_, (cost, len(open_), _Path((), Discourse(), Counter(), frozenset()).on(move, pair)))
    serial = len(open_)
    while open_:
        cost, _, path = heappop(open_)
        turn = len(path.pairs)
        if turn == len(moves):
            return tuple(pair.worded() for pair in path.pairs)
        for more, pair in _next(later[turn - 1], path, types, used, mix):
            serial += 1  # of equal costs, what was found first comes first
            heappush(open_, (cost + more, serial, path.on(later[turn - 1].move, pair)))
    return None


def _next(
    writer: Writer, path: _Path, types: Sequence[Implicitness], used: Mapping[str, int], mix: Mapping[str, int]
) -> Iterator[tuple[int, Pair]]:
    """Yield the words that a turn may have after others, each with its cost."""
    late = len(path.pairs) >= 2 and writer.move.task != "IL"
    for type_ in (*types, None):
        if type_ != "AE" or late:
            for pair in writer.later(type_, path.discourse, path.shapes):
                yield price(type_, used, mix, path.types), pair


def price(
    type_: Implicitness | None, used: Mapping[str, int], mix: Mapping[str, int], more: Mapping[str, int] | None = None
) -> int:
    """Return what words of a type cost: how far it is ahead of the type that is furthest behind its share.

    Args:
        type_: None for words that leave nothing out: they are dear, unless the mix has a share for them.
        used: How often each type was used so far.
        mix: Weight of each.
        more: Used beside, in the session itself.
    """
    counts = {one: used.get(one, 0) + (0 if more is None else more.get(one, 0)) for one in (*TYPES, EXPLICIT)}
    if type_ is None and EXPLICIT not in mix:
        wanted = sum(counts.values()) >= _ENOUGH
        few = counts[EXPLICIT] * 100 < _PLAIN_PERCENT * sum(counts.values())
        return _PLAIN_WANTED if wanted and few else _PLAIN
    shares = {one: counts[one] * 1000 // mix[one] for one in mix}
    least = _ENOUGH * 1000 * len(mix) // sum(mix.values())
    ahead = (shares[type_ or EXPLICIT] - min(shares.values())) * 300 // max(least, sum(shares.values()))
    return min(_MOST_AHEAD, ahead) + (type_ is None)


def _openings(moves: Sequence[Move], case: Case, used: Mapping[str, int]) -> Iterator[tuple[int, Move]]:
    """Yield the first move as it is, and as it may name a drug of later turns too, each with what that costs."""
    yield 0, moves[0]
    if _may_name(used):
        named = _with_drug(moves[0], moves[1:], case)
        if named is not moves[0]:
            yield _NAMING, named


def _with_drug(move: Move, later: Sequence[Move], case: Case) -> Move:
    """Return an opening that may also name a drug of later turns which belongs to what it asks ("On warfarin. …").

    A drug belongs to a lab or vital sign that it is monitored by or moves, and to other openings where the session's
    advice is about it.
    """
    if "drug" in move.slots:
        return move
    decided = {one.decision.order.drug for one in later if one.decision is not None and one.decision.order is not None}
    measured = {one.id for one in move.slots.values() if one.kind in {"lab", "vital"}}
    drugs = Counter(
        drug
        for one in later
        if (drug := one.slots.get("drug")) is not None
        and drug.id in case.view.orders
        and _on_it(case, drug.id)
        and (_moved_by(drug.id) & measured if measured else drug.id in decided)
    )
    if not drugs:
        return move
    first = later[0].slots.get("drug")  # the turn that comes next has no other query to fall back on
    drug = max(drugs, key=lambda one: (drugs[one] + (one == first), one == first, one.key))
    return replace(move, slots={**move.slots, "drug": drug})


def _with_input(move: Move, earlier: Sequence[Move]) -> Move:
    """Return a turn that works out a score as it may also name the one input that was asked for before."""
    use = None if move.score is None or "lab" in move.slots else knowledge.score_uses().get(move.score)
    if use is None or move.task != "DG":
        return move
    inputs = {concept for source in use.inputs.values() for concept in source.of}
    asked = {one.key: one for other in earlier for one in other.slots.values() if one.kind == "lab"}
    named = [one for one in asked.values() if one.id in inputs]
    return replace(move, slots={**move.slots, "lab": named[0]}) if len(named) == 1 else move


def _on_it(case: Case, drug: str) -> bool:
    """Tell whether the patient is on a drug these days: a dose was given within a day."""
    dose = last_dose(case, drug)
    return dose is not None and dose.outcome == "given" and dose.at >= case.anchor - DAY


def _may_name(used: Mapping[str, int]) -> bool:
    """Tell whether an opening may name a drug beside what it asks: few of a set do."""
    named, openings = 0, 0
    for name, count in used.items():
        kind, _, place = name.partition("/first/en/")
        if place:
            openings += count
            shape = load_phrases("en")[kind].first[int(place)]
            named += count if "drug" in shape.slots and "drug" not in kind_of(kind).needs else 0
    return _NAMES_DRUG * (named + 1) <= openings + _NAMES_DRUG


def _moved_by(drug: str) -> frozenset[str]:
    """Return the labs and vital signs that a drug is monitored by or moves."""
    profile = knowledge.drug_profiles().get(drug)
    effects = () if profile is None else profile.effects
    return frozenset((*monitored_by(drug), *(effect.lab for effect in effects)))


__all__ = ["EVEN", "EXPLICIT", "PAPER", "TYPES", "Worded", "price", "word_session"]

"""What a set has used so far, and what it should therefore take next: shares are kept by choosing the least used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from wardround.sessions.moves.move import Move
from wardround.sessions.session import Implicitness
from wardround.sessions.wording.worded import EVEN, EXPLICIT, PAPER, Worded, price

from .turning import turns

Mix = Literal["even", "paper"]

LAB_PERCENT: Final = 14
"""No lab stands in more than this share of all turns: the set promises 15, and small sets get some room."""
UNCHANGED_PERCENT: Final = (30, 47)
"""How many of the CR turns are right with "no change"."""
ADAPTIVE_PERCENT: Final = 40
"""Aimed-at share of adaptive DG turns; at least a third is wanted."""
TURNED_PERCENT: Final = 58
"""Aimed-at share of interview turns that turn the right answer; at least half is wanted."""
_WRITES: Final = 2
"""How much a tool's share of the orders speaks against one more of them."""
_RARE_PERCENT: Final = 28
"""Of the orders, so many at least should be of each tool; a fifth is promised."""
_DRUG_PERCENT: Final = 45
"""Of the orders, so many may be drugs before others are tried first."""
_ROOM: Final = 40
"""Turns before a share of labs binds; a small set cannot keep it."""
_PLAIN: Final = 320
"""What speaks against a turn that could leave nothing out."""
_SCARCE: Final = 9
"""How much dearer a type is to plan than to word, where the set has more of it than of others: words can only take
what a plan allows …"""
_OFTEN: Final = 230
"""… but never as dear as none."""
WEIGHTS: Final[Mapping[Mix, Mapping[str, int]]] = {"even": EVEN, "paper": PAPER}
"""How implicit types are weighed: each its third, or as in the paper's own set."""


@dataclass
class Quota:
    """Counts of a run."""

    mix: Mix = "even"
    used: Counter[str] = field(default_factory=Counter)
    """Flat counts, as in "lab:potassium", "kind:dose", "topic:medication-safety:potassium"."""

    def note(self, scenario: str, moves: Sequence[Move], worded: Sequence[Worded]) -> None:
        """Count a session that was made."""
        used = self.used
        used["sessions"] += 1
        used["turns"] += len(moves)
        used.update(words.type or EXPLICIT for words in worded[1:])
        used.update(shape for words in worded for shape in words.shapes)
        for move in moves:
            used[f"task:{move.task}"] += 1
            used[f"kind:{move.kind}"] += 1
            used[f"topic:{scenario}:{move.topic}"] += 1
            used.update({f"lab:{lab}" for lab in move.labs})
            used.update(f"tool:{call.tool}" for call in move.calls)
            if move.task == "DG":
                used[f"adaptive:{_yes(move.branch is not None)}"] += 1
            if move.source in {"patient", "mixed"}:
                used[f"turned:{_yes(turns(move))}"] += 1
            if move.task == "CR" and move.decision is not None:
                used[f"unchanged:{_yes(move.decision.unchanged)}"] += 1
                used[f"subject:{scenario}:{move.decision.subject}"] += 1
            if move.task == "WU":
                used[f"write:{write_tool(move)}"] += 1

    # -- costs: the lower, the sooner taken --------------------------------------------------------------------------

    def cost(self, scenario: str, move: Move) -> int:
        """Return what speaks against a move, in percent points of shares."""
        used = self.used
        share = used[f"kind:{move.kind}"] * 100 // (used[f"task:{move.task}"] + 2)
        topic = min(60, 6 * used[f"topic:{scenario}:{move.topic}"])
        lab = max((self.lab_percent(one) for one in move.labs), default=0)
        cost = 2 * share + topic + 3 * lab
        if move.task == "DG":
            adaptive = self._percent("adaptive:yes", "adaptive:no")
            cost += 120 if (move.branch is not None) == (adaptive > ADAPTIVE_PERCENT) else 0
        if move.source in {"patient", "mixed"}:
            cost += 40 if not turns(move) and self.wants_turned() else 0
        if move.task == "WU":
            cost += _WRITES * used[f"write:{write_tool(move)}"] * 100 // (used["task:WU"] + 1)
        if move.task == "CR" and move.decision is not None:
            cost += self.decision_cost(scenario, move.decision.subject, move.decision.unchanged)
        return cost

    def decision_cost(self, scenario: str, subject: str, unchanged: bool) -> int:
        """Return what speaks against asking for a decision."""
        seen = min(60, 8 * self.used[f"subject:{scenario}:{subject}"])
        share = self._percent("unchanged:yes", "unchanged:no")
        low, high = UNCHANGED_PERCENT
        wrong = (unchanged and share > (low + high) // 2) or (not unchanged and share < (low + high) // 2)
        return seen + (30 if wrong else 0)

    def leaning_cost(self, types: frozenset[Implicitness]) -> int:
        """Return what speaks against a turn by the types that its words could have; none at all is dear."""
        if not types:
            return _PLAIN
        return min(min(_SCARCE * self.type_cost(one), _OFTEN) for one in types)

    def type_cost(self, type_: Implicitness) -> int:
        """Return what speaks against words of a type: how far it is ahead of others."""
        return price(type_, self.used, WEIGHTS[self.mix])

    def refuses(self, moves: tuple[Move, ...]) -> str:
        """Return why a session would break a share that is never broken; "" where it would not."""
        turns = self.used["turns"] + len(moves)
        mine = Counter(lab for move in moves for lab in set(move.labs))
        for lab, count in mine.items():
            if (self.used[f"lab:{lab}"] + count) * 100 > LAB_PERCENT * (turns + _ROOM):
                return f"{lab} would be asked for in more than {LAB_PERCENT} % of turns"
        acts = [move.decision.unchanged for move in moves if move.task == "CR" and move.decision is not None]
        same = self.used["unchanged:yes"] + sum(acts)
        decided = same + self.used["unchanged:no"] + acts.count(False)
        if any(acts) and same * 100 > UNCHANGED_PERCENT[1] * (decided + (2 if decided < _ROOM else 0)):
            return "no change would be right in more than half of the CR turns"
        return ""

    def wants_turned(self) -> bool:
        """Tell whether more interview turns should turn the right answer."""
        return self._percent("turned:yes", "turned:no") < TURNED_PERCENT

    def ordered_often(self) -> bool:
        """Tell whether more orders at the end should be no drugs."""
        return self.used["write:MedicationRequest.create"] * 100 > _DRUG_PERCENT * self.used["task:WU"]

    def lacks_write(self, moves: Sequence[Move]) -> bool:
        """Tell whether one of some orders is of a tool that the set has few of."""
        total = self.used["task:WU"]
        return any(self.used[f"write:{write_tool(one)}"] * 100 < _RARE_PERCENT * total for one in moves)

    def lab_percent(self, lab: str) -> int:
        """Return the share of turns that asked for a lab."""
        return self.used[f"lab:{lab}"] * 100 // (self.used["turns"] + _ROOM)

    def _percent(self, yes: str, no: str) -> int:
        return self.used[yes] * 100 // max(1, self.used[yes] + self.used[no])


def _yes(said: bool) -> str:
    return "yes" if said else "no"


def write_tool(move: Move) -> str:
    """Return the tool of the one write of a WU turn."""
    return next((call.tool for call in move.calls if call.tool.endswith(".create")), "none")

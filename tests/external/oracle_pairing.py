"""Comparing two sets of facts about the same patients: rows paired by identity, every difference put under a rule.

A row is a dict of strings. `key` names the fields that identify it; rows of one key are paired so that as many as
possible are equal. What is left over is explained field by field: a rule says why one value stands for the other, or
why a row has no partner. A difference that no rule explains is a fault of somebody.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

Row = dict[str, str | None]


class Rule(NamedTuple):
    """Why two values, or a row without a partner, are no fault."""

    name: str
    holds: Callable[[str, Row | None, Row | None], bool]
    """Called with the field ("" for a row without a partner), our row and theirs."""


@dataclass
class Result:
    """The comparison of one kind."""

    kind: str
    ours: int
    theirs: int
    equal: int = 0
    only_ours: int = 0
    only_theirs: int = 0
    explained: Counter[str] = field(default_factory=Counter)
    """Differences (not rows) by rule."""
    unexplained: list[tuple[str, Row | None, Row | None]] = field(default_factory=list)

    @property
    def differ(self) -> int:
        """Pairs that are not equal."""
        return self.ours - self.equal - self.only_ours


def compare(
    kind: str, key: Sequence[str], ours: Iterable[Row], theirs: Iterable[Row], rules: Sequence[Rule] = ()
) -> Result:
    """Compare two multisets of rows."""
    mine, other = list(ours), list(theirs)
    result = Result(kind, len(mine), len(other))
    groups: dict[tuple[str | None, ...], tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((mine, other)):
        for row in rows:
            groups[tuple(row[name] for name in key)][side].append(row)
    for left, right in groups.values():
        _pair(result, left, right, rules)
    return result


def _pair(result: Result, left: list[Row], right: list[Row], rules: Sequence[Rule]) -> None:
    rest = list(right)
    mine = []
    for row in left:
        if row in rest:
            rest.remove(row)
            result.equal += 1
        else:
            mine.append(row)
    mine.sort(key=_sortable)
    rest.sort(key=_sortable)
    for one in mine:
        two = min(rest, key=lambda row: sum(row[name] != value for name, value in one.items()), default=None)
        if two is None:
            result.only_ours += 1
            _explain(result, "", one, None, rules)
            continue
        rest.remove(two)
        for name in one:
            if one[name] != two[name]:
                _explain(result, name, one, two, rules)
    for two in rest:
        result.only_theirs += 1
        _explain(result, "", None, two, rules)


def _explain(result: Result, name: str, one: Row | None, two: Row | None, rules: Sequence[Rule]) -> None:
    for rule in rules:
        if rule.holds(name, one, two):
            result.explained[rule.name] += 1
            return
    result.unexplained.append((name, one, two))


def _sortable(row: Row) -> str:
    return repr(sorted((name, value or "") for name, value in row.items()))


def table(results: Iterable[Result]) -> str:
    """Return the comparison as text."""
    lines = [f"{'kind':34}{'ours':>8}{'theirs':>8}{'equal':>8}{'differ':>8}{'only ours':>11}{'only theirs':>13}"]
    for one in results:
        lines.append(
            f"{one.kind:34}{one.ours:>8}{one.theirs:>8}{one.equal:>8}{one.differ:>8}{one.only_ours:>11}{one.only_theirs:>13}"
        )
        lines.extend(f"    {count:>7}  {name}" for name, count in sorted(one.explained.items()))
        lines.extend(f"    UNEXPLAINED {case}" for case in one.unexplained[:3])
    return "\n".join(lines)

"""Two runs beside each other: which episodes pair, and the paired differences of their turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wardround.patients import UsageError
from wardround.rubrics import TurnResult, benjamini_hochberg, compare

from .source import Run

FIRST, SECOND = "run A", "run B"
_SAME = ("set_hash", "store_hash", "scoring", "plan")
"""What makes a turn of one run the same turn of the other, judged by the same rule."""


def check_pair(first: Run, second: Run) -> None:
    """Refuse two runs whose turns are not the same turns.

    Raises:
        UsageError: They were played on other sessions or charts, or scored by another rule.
    """
    other = [name for name in _SAME if first.manifest.get(name) != second.manifest.get(name)]
    if other:
        names = ", ".join(f"`{name}`" for name in other)
        raise UsageError(
            f"`{first.path}` and `{second.path}` cannot be compared: {names} of their manifests differ; "
            "give two runs of the same sessions, scored alike"
        )


_BOTH = "both"
_CROSSED = ("agent", "phrasing", "language")


def crossed(first: Run, second: Run) -> frozenset[str]:
    """Return in what each run has one value and the other another: there the values are compared with each other.

    Two runs of one agent each compare the agents, an explicit and an implicit run the wordings; where runs hold
    several, each is compared with itself.
    """
    found = set()
    for field in _CROSSED:
        values = [{row[field] for row in run.results["results"]} for run in (first, second)]
        if len(values[0]) == len(values[1]) == 1 and values[0] != values[1]:
            found.add(field)
    return frozenset(found)


def paired(turns: Sequence[Sequence[TurnResult]], *, across: frozenset[str]) -> list[dict[str, Any]]:
    """Return second minus first run: every agent's turns in all, by task, by implicitness, by language.

    Args:
        turns: Of both runs.
        across: As `crossed` found.

    Returns:
        As `comparisons` of results.json; q is adjusted over the list. Groups without a pair are left out.

    Raises:
        UsageError: The runs share no turn that was graded in both.
    """
    both = [
        replace(
            turn,
            condition=name,
            agent=_BOTH if "agent" in across else turn.agent,
            phrasing=_BOTH if "phrasing" in across else turn.phrasing,
            language=_BOTH if "language" in across else turn.language,
        )
        for name, some in zip((FIRST, SECOND), turns, strict=True)
        for turn in some
    ]
    found = []
    for label, group in _groups(both):
        one = compare(group, "condition", FIRST, SECOND, label=label).as_dict()
        if one["pairs"]:
            found.append(one)
    if not found:
        raise UsageError("the two runs share no turn that was graded in both: nothing to compare")
    adjusted = benjamini_hochberg([one["p"] for one in found])
    return [{**one, "q": q} for one, q in zip(found, adjusted, strict=True)]


def _groups(both: Sequence[TurnResult]) -> Iterable[tuple[str, list[TurnResult]]]:
    agents = sorted({turn.agent for turn in both})
    for agent in agents:
        mine = [turn for turn in both if turn.agent == agent]
        name = "the agent of each run" if agent == _BOTH else agent
        yield f"{name}: all", mine
        for field in ("phrasing", "language", "task", "implicitness"):
            values = sorted({str(getattr(turn, field)) for turn in mine if getattr(turn, field) is not None})
            for value in values if len(values) > 1 or field == "implicitness" else ():
                yield f"{name}: {field} {value}", [turn for turn in mine if str(getattr(turn, field)) == value]


def partner(record: Mapping[str, Any], *, across: frozenset[str]) -> tuple[Any, ...]:
    """Return what two episodes that are shown side by side have in common."""
    fields = ("agent", "session", "language", "phrasing", "trial")
    return tuple(record[name] for name in fields if name not in across)

"""Which cell which patient gets: every cell as often as it should be, and no patient too often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from wardround.patients import ChartStore, Stream
from wardround.sessions.moves.move import Case

from .evidence import tiers_of
from .making import Cell, Run, Visit, make_session
from .plan import may_conflict
from .scenarios import ARCS, Scenario, Tier

TRIES: Final = 6
"""Cells of one scenario tried for one session of a patient."""
RICH: Final = 3
"""Of these, rich ones that are tried before the others."""


def fill(
    run: Run,
    store: ChartStore,
    patients: Sequence[str],
    *,
    per_patient: int,
    each: int | None = None,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Make sessions until every cell has its number or no patient is left.

    The patients are gone through once for each session that one may have, so that sessions are of as many patients as
    can be.

    Args:
        run: The sessions are added to it.
        store: Charts.
        patients: Ids, in the order they are visited.
        per_patient: Most sessions of one patient.
        each: How many sessions every cell gets; None for as many as come, the emptiest cell first.
        limit: Most sessions of all.
        progress: Called with how many patients are done, of how many.
    """
    hard: Counter[Cell] = Counter()
    reasons: dict[str, str] = {}
    made: Counter[str] = Counter()
    goal = len(run.scenarios) * 3 * len(ARCS) * (each or 0)
    for turn in range(per_patient):
        for number, patient in enumerate(patients):
            if (limit is not None and len(run.sessions) >= limit) or (each and len(run.sessions) >= goal):
                break
            if made[patient] < turn:
                continue  # the patient gave nothing in the round before
            reason = _visit(run, Visit(run, store, patient), each, hard, turn)
            made[patient] += not reason
            if reason and turn == 0:
                reasons[patient] = reason
            if progress is not None:
                progress(turn * len(patients) + number + 1, per_patient * len(patients))
    run.skipped.extend({"patient": patient, "reason": reason} for patient, reason in reasons.items())


def _visit(run: Run, visit: Visit, each: int | None, hard: Counter[Cell], turn: int) -> str:
    """Make one session of a patient; return why there is none, "" where there is."""
    reasons: list[str] = []
    for cell, scenario in _wanted(run, visit, each, hard, turn):
        session, reason = make_session(run, visit, scenario, cell[1], cell[2])
        if session is not None:
            return ""
        hard[cell] += 1
        reasons.append(reason)
    return "; ".join(dict.fromkeys(reasons)) or "the record is enough for no cell that is still wanted"


def _wanted(
    run: Run, visit: Visit, each: int | None, hard: Counter[Cell], turn: int
) -> Iterator[tuple[Cell, Scenario]]:
    """Yield the cells to try for a patient: of the scenario that lacks most, hard and easy ones in turn."""
    stream = Stream("cells", run.seed, run.chunk, visit.patient, turn)
    missing = Counter(cell[0] for cell in run.all_cells() if each is None or run.cells[cell] < each)
    done = Counter(session.scenario for session in run.sessions)
    scenarios = [one for one in stream.shuffled(run.scenarios) if missing[one.id]]
    # where every cell has its number the emptiest scenario is the one that lacks most; else the least served
    scenarios.sort(key=lambda one: done[one.id] - missing[one.id])
    for scenario in scenarios:
        tiers = next(filter(None, (_tiers(scenario, case) for case in visit.cases(scenario))), ())
        cells: list[Cell] = [(scenario.id, tier, arc) for tier in tiers for arc in ARCS]
        wanted = stream.shuffled([cell for cell in cells if each is None or run.cells[cell] < each])
        wanted.sort(key=lambda cell: (run.cells[cell], hard[cell]))
        # what only few records hold is asked of those that do
        rich = [cell for cell in wanted if cell[1] == "rich"][:RICH]
        for cell in (*rich, *(cell for cell in wanted if cell not in rich))[:TRIES]:
            yield cell, scenario


def _tiers(scenario: Scenario, case: Case) -> tuple[Tier, ...]:
    """Return the tiers that a case may be of; without anything that pulls two ways none is rich."""
    found = tiers_of(scenario, case)
    return found if "rich" not in found or may_conflict(case, scenario) else found[:-1]

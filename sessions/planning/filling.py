"""Which cell which patient gets: every cell as often as it should be, and no patient too often."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Final

from wardround.patients import ChartStore, Stream
from wardround.sessions.moves.move import Case

from .evidence import tiers_of
from .making import Cell, Run, Visit, make_session
from .offering import may_be_rich
from .scenarios import ARCS, Scenario

TRIES: Final = 6
"""Cells of one scenario tried for one session of a patient."""
LAST: Final = 10
"""Cells of any scenario tried for a further session of a patient, where few are still wanted."""
HARD: Final = 5
"""Tries in vain after which the plans of a cell may be looser, where every cell must have its number."""
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
    known = _Known()
    reasons: dict[str, str] = {}
    made: Counter[str] = Counter()
    goal = len(run.scenarios) * 3 * len(ARCS) * (each or 0)
    for turn in range(per_patient):
        for number, patient in enumerate(patients):
            if (limit is not None and len(run.sessions) >= limit) or (each and len(run.sessions) >= goal):
                break
            if made[patient] < turn:
                continue  # the patient gave nothing in the round before
            reason = _visit(run, Visit(run, store, patient), each, known, turn)
            made[patient] += not reason
            if reason and turn == 0:
                reasons[patient] = reason
            if progress is not None:
                progress(turn * len(patients) + number + 1, per_patient * len(patients))
    run.skipped.extend({"patient": patient, "reason": reason} for patient, reason in reasons.items())


def _visit(run: Run, visit: Visit, each: int | None, known: _Known, turn: int) -> str:
    """Make one session of a patient; return why there is none, "" where there is."""
    reasons: list[str] = []
    most = TRIES * len(run.scenarios) if turn == 0 or each is None else LAST
    for cell, scenario in islice(_wanted(run, visit, each, known, turn), most):
        ease = known.easy(cell, each)
        session, reason = make_session(run, visit, scenario, cell[1], cell[2], ease=ease)
        if session is not None:
            return ""
        known.hard[cell] += 1
        known.failed[visit.patient].add((cell, ease))
        reasons.append(reason)
    return "; ".join(dict.fromkeys(reasons)) or "the record is enough for no cell that is still wanted"


def _wanted(run: Run, visit: Visit, each: int | None, known: _Known, turn: int) -> Iterator[tuple[Cell, Scenario]]:
    """Yield the cells to try for a patient: of the scenario that lacks most, hard and easy ones in turn."""
    stream = Stream("cells", run.seed, run.chunk, visit.patient, turn)
    open_ = [cell for cell in run.all_cells() if each is None or run.cells[cell] < each]
    missing = Counter(cell[0] for cell in open_)
    done = Counter(session.scenario for session in run.sessions)
    scenarios = [one for one in stream.shuffled(run.scenarios) if missing[one.id]]
    if each is None:
        scenarios.sort(key=lambda one: done[one.id])
    else:
        # what few patients are fit for is asked of those that are
        scenarios.sort(key=lambda one: -missing[one.id] * known.seen(one.id))
    for scenario in scenarios:
        if not set(open_) & known.cells(visit, scenario):
            continue
        wanted = stream.shuffled([cell for cell in open_ if cell in known.cells(visit, scenario)])
        wanted = [cell for cell in wanted if (cell, known.easy(cell, each)) not in known.failed[visit.patient]]
        wanted.sort(key=lambda cell: (run.cells[cell], known.hard[cell]))
        # what only few records hold is asked of those that do; in the end every cell that is left is tried
        last = each is not None and turn > 0
        rich = [cell for cell in wanted if cell[1] == "rich"][: None if last else RICH]
        for cell in (*rich, *(cell for cell in wanted if cell not in rich))[: None if last else TRIES]:
            yield cell, scenario


class _Known:
    """What a run has found out about patients and cells, so that no search is made twice in vain."""

    def __init__(self) -> None:
        self.hard: Counter[Cell] = Counter()
        """How often a cell was tried in vain."""
        self.failed: defaultdict[str, set[tuple[Cell, bool]]] = defaultdict(set)
        """Cells that a patient did not give, and whether looser plans were tried."""
        self._cells: dict[tuple[str, str], frozenset[Cell]] = {}
        self._fit: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()

    def cells(self, visit: Visit, scenario: Scenario) -> frozenset[Cell]:
        """Return the cells of a scenario that a patient may be fit for, by what the record and the patient hold."""
        key = (visit.patient, scenario.id)
        if key not in self._cells:
            cases = [case for case in visit.cases(scenario) if tiers_of(scenario, case)][:1]
            found = frozenset(cell for case in cases for cell in _fit(scenario, case))
            self._cells[key] = found
            self._seen[scenario.id] += 1
            self._fit[scenario.id] += bool(found)
        return self._cells[key]

    def easy(self, cell: Cell, each: int | None) -> bool:
        """Tell whether the plans of a cell may be looser."""
        return each is not None and self.hard[cell] >= HARD

    def seen(self, scenario: str) -> Fraction:
        """Return how many patients are looked at for one that is fit for a scenario."""
        return Fraction(self._seen[scenario] + 1, self._fit[scenario] + 1)


def _fit(scenario: Scenario, case: Case) -> Iterator[Cell]:
    for tier in tiers_of(scenario, case):
        for arc in ARCS:
            if tier != "rich" or may_be_rich(case, scenario, arc):
                yield scenario.id, tier, arc

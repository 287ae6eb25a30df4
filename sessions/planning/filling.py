"""Which cell which patient gets: every cell as often as it should be, and no patient too often."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Final

from wardround.patients import ChartStore, Stream
from wardround.sessions.moves.move import Case

from .collecting import uncollected
from .evidence import tiers_of
from .making import Cell, Run, Visit, make_session
from .offering import decisions_of, may_be_rich
from .scenarios import ARCS, Scenario

TRIES: Final = 6
"""Cells of one scenario tried for one session of a patient."""
LAST: Final = 10
"""Cells of any scenario tried for a further session of a patient, where few are still wanted."""
HARD: Final = 5
"""Tries in vain after which the plans of a cell may be looser, where every cell must have its number."""
TURNED: Final = 3
"""How much more a scenario is wanted of a patient whose words turn what would be right in it."""
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
    with uncollected() as visited:
        for number, (turn, patient) in enumerate(_order(run, store, patients, per_patient, each)):
            if (limit is not None and len(run.sessions) >= limit) or (each and len(run.sessions) >= goal):
                break
            if made[patient] < turn:
                continue  # the patient gave nothing in the round before
            reason = _visit(run, Visit(run, store, patient), each, known, turn)
            visited()
            made[patient] += not reason
            if reason and turn == 0:
                reasons[patient] = reason
            if progress is not None:
                progress(number + 1, per_patient * len(patients))
    run.skipped.extend({"patient": patient, "reason": reason} for patient, reason in reasons.items())


def _order(
    run: Run, store: ChartStore, patients: Sequence[str], per_patient: int, each: int | None
) -> Iterator[tuple[int, str]]:
    """Yield the patients in rounds, with the round's number.

    Where every cell gets its number, so that not all of them are needed, those who say what the chart does not expect
    have all their rounds first while the set wants turns in which the patient's words turn the answer.
    """
    if each is None:
        yield from ((turn, patient) for turn in range(per_patient) for patient in patients)
        return
    telling = {patient: _tells(store, patient) for patient in patients}
    rounds = {
        said: deque((turn, one) for turn in range(per_patient) for one in patients if telling[one] is said)
        for said in (True, False)
    }
    while rounds[True] or rounds[False]:
        yield rounds[bool(rounds[True]) and (run.quota.wants_turned() or not rounds[False])].popleft()


def _tells(store: ChartStore, patient: str) -> bool:
    """Tell whether a patient does not take a drug as ordered or has a complaint that one causes; True if not known."""
    told = store.interviews(patient).values()
    facts = [fact for one in told for fact in one.facts if fact.drug is not None]
    return not told or any(
        (fact.kind == "adherence" and fact.state not in {None, "taking"})
        or (fact.kind == "symptom" and fact.polarity == "present")
        for fact in facts
    )


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
    turning = each is not None and run.quota.wants_turned()
    needs = {one.id: missing[one.id] * known.seen(one.id) for one in scenarios}
    for scenario in _turning_first(scenarios, needs, visit, known) if turning else scenarios:
        fit = known.cells(visit, scenario)
        if not fit.intersection(open_):
            continue
        wanted = stream.shuffled([cell for cell in open_ if cell in fit])
        wanted = [cell for cell in wanted if (cell, known.easy(cell, each)) not in known.failed[visit.patient]]
        wanted.sort(key=lambda cell: (run.cells[cell], known.hard[cell]))
        # what only few records hold is asked of those that do; in the end every cell that is left is tried
        last = each is not None and turn > 0
        rich = [cell for cell in wanted if cell[1] == "rich"][: None if last else RICH]
        for cell in (*rich, *(cell for cell in wanted if cell not in rich))[: None if last else TRIES]:
            yield cell, scenario


def _turning_first(
    scenarios: Sequence[Scenario], needs: Mapping[str, Fraction], visit: Visit, known: _Known
) -> Iterator[Scenario]:
    """Yield scenarios by need, which is greater where the patient's words turn what would be right.

    Whether they do is only found out of those that could come next.
    """
    waiting = [(-needs[one.id] * TURNED, place, False) for place, one in enumerate(scenarios)]
    heapify(waiting)
    while waiting:
        need, place, found = heappop(waiting)
        if found or known.turned(visit, scenarios[place]):
            yield scenarios[place]
        else:
            heappush(waiting, (need / TURNED, place, True))


class _Known:
    """What a run has found out about patients and cells, so that no search is made twice in vain."""

    def __init__(self) -> None:
        self.hard: Counter[Cell] = Counter()
        """How often a cell was tried in vain."""
        self.failed: defaultdict[str, set[tuple[Cell, bool]]] = defaultdict(set)
        """Cells that a patient did not give, and whether looser plans were tried."""
        self._cells: dict[tuple[str, str], frozenset[Cell]] = {}
        self._turned: dict[tuple[str, str], bool] = {}
        self._fit: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()

    def cells(self, visit: Visit, scenario: Scenario) -> frozenset[Cell]:
        """Return the cells of a scenario that a patient may be fit for, by what the record and the patient hold."""
        key = (visit.patient, scenario.id)
        if key not in self._cells:
            case = _fit_case(visit, scenario)
            found = frozenset(() if case is None else _fit(scenario, case))
            self._cells[key] = found
            self._seen[scenario.id] += 1
            self._fit[scenario.id] += bool(found)
        return self._cells[key]

    def turned(self, visit: Visit, scenario: Scenario) -> bool:
        """Tell whether the patient's words turn some decision that a session of a scenario may be about."""
        key = (visit.patient, scenario.id)
        if key not in self._turned:
            case = _fit_case(visit, scenario)
            found = () if case is None else decisions_of(case, scenario)
            self._turned[key] = any(one.turned and one.kind in scenario.threads for one in found)
        return self._turned[key]

    def easy(self, cell: Cell, each: int | None) -> bool:
        """Tell whether the plans of a cell may be looser."""
        return each is not None and self.hard[cell] >= HARD

    def seen(self, scenario: str) -> Fraction:
        """Return how many patients are looked at for one that is fit for a scenario."""
        return Fraction(self._seen[scenario] + 1, self._fit[scenario] + 1)


def _fit_case(visit: Visit, scenario: Scenario) -> Case | None:
    """Return the first case of a patient that is enough for some tier of a scenario."""
    return next((case for case in visit.cases(scenario) if tiers_of(scenario, case)), None)


def _fit(scenario: Scenario, case: Case) -> Iterator[Cell]:
    for tier in tiers_of(scenario, case):
        for arc in ARCS:
            if tier != "rich" or may_be_rich(case, scenario, arc):
                yield scenario.id, tier, arc

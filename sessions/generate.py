"""Sessions by rule, from any store of charts (docs/sessions.md says how).

The same charts and seed give the same bytes: patients are taken in order, every draw has its own named stream, and what
was made so far only steers the mix.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from wardround.patients import ChartStore, UsageError

from .planning.assembling import Use
from .planning.case import AnchorName
from .planning.filling import fill
from .planning.making import GenerationResult, Run, statistics
from .planning.quota import Mix, Quota
from .planning.scenarios import scenarios_of

PER_PATIENT: Final = 3
"""Most sessions of one patient, unless more are asked for."""


def generate(
    store: ChartStore,
    *,
    scenario: str = "all",
    seed: int = 0,
    limit: int | None = None,
    anchor: AnchorName | None = None,
    split: str = "public",
    use: Use = "train",
    per_patient: int = PER_PATIENT,
    mix: Mix = "even",
    patients: Collection[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GenerationResult:
    """Make sessions from a store's charts.

    Args:
        store: Charts; authored interviews in it are used, others are made.
        scenario: Id of a scenario, the path of one of your own (`NAME.json`), or "all".
        seed: Names the random streams.
        limit: Most sessions to make.
        anchor: When the round takes place; by default as the scenario says for charts of this kind.
        split: Decides which wordings may be used (`train` shares at most half of its own with all others).
        use: What the sessions may be used for.
        per_patient: Most sessions of one patient.
        mix: Shares of the implicit types: each a third, or as in the paper's own set.
        patients: Ids of those to make sessions of; None for all.
        progress: Called with how many steps are done, of how many.

    Returns:
        Sessions that passed every gate, in the order they were made, and what was refused and why.

    Raises:
        UsageError: Unknown scenario, or a limit or number of sessions a patient below 1, or a patient that
            the charts do not hold.
    """
    for name, value in (("limit", limit), ("per_patient", per_patient)):
        if value is not None and value < 1:
            raise UsageError(f"`{name}` must be 1 or more, got {value}")
    run = Run(scenarios_of(scenario), seed, split, use, Quota(mix), anchor)
    known = store.patients()
    chosen = sorted(known if patients is None else set(patients))
    for patient in sorted(set(chosen) - set(known)):
        raise UsageError(f"the charts hold no patient `{patient}`")
    fill(run, store, chosen, per_patient=per_patient, limit=limit, progress=progress)
    return GenerationResult(tuple(run.sessions), statistics(run, len(chosen)))

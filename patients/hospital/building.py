"""From (seed, index) to a stored patient, and many of them into a store, in one process or several.

A patient depends on its seed, its index and the kind of flaws alone; results come back in the order of the indexes, so
the store's bytes do not depend on the number of workers.
"""

from __future__ import annotations

import gc
import multiprocessing
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wardround.patients.behind import Behind, behind
from wardround.patients.errors import DataError, UsageError
from wardround.patients.fhir import Validator
from wardround.patients.packing import PackedChart
from wardround.patients.rng import Stream
from wardround.patients.store_writer import StoreWriter

from .charting import LICENCE, chart_record
from .flaws import CLEAN, FlawRates, flawed, plant_counted
from .interviews import make_interviews
from .living import make_life
from .record import FlawKind
from .truth import make_truth
from .writing import write_record

TYPES = (
    "AllergyIntolerance", "CarePlan", "Condition", "DiagnosticReport", "DocumentReference", "Encounter",
    "FamilyMemberHistory", "Immunization", "MedicationAdministration", "MedicationRequest", "Observation", "Patient",
    "Procedure",
)  # fmt: skip
"""What the hospital charts; a chart without any of one type has none to show."""

FLAWS = ("clean", "flawed", "mix")
Progress = Callable[[int, int], None]
"""Called with how many patients are done, of how many."""

_CHUNK = 4
"""Patients that a worker makes at a time."""


@dataclass(frozen=True, slots=True)
class Built:
    """One patient, ready to be written; it pickles."""

    packed: PackedChart
    behind: Behind
    flaws: Counter[FlawKind]
    """How many were planted, by kind."""


@dataclass(slots=True)
class HospitalReport:
    """What was built."""

    patients: int = 0
    resources: dict[str, int] = field(default_factory=dict)
    flaws: Counter[FlawKind] = field(default_factory=Counter)
    store_hash: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data, with the keys that an import reports."""
        table = {"table": "patients", "read": self.patients, "kept": self.patients, "refused": []}
        return {
            "patients": self.patients, "resources": self.resources, "invalid": 0, "store_hash": self.store_hash,
            "tables": [table], "flaws": dict(sorted(self.flaws.items())), "licence": LICENCE,
        }  # fmt: skip


def rates_of(flaws: str, seed: int, index: int) -> FlawRates:
    """Return the rates of one patient: in a mix every second one, by chance, has flaws."""
    if flaws == "mix":
        return flawed() if Stream("hospital", seed, index, "flawed").chance(1, 2) else CLEAN
    return flawed() if flaws == "flawed" else CLEAN


@contextmanager
def _uncollected() -> Iterator[None]:
    """Leave the collector alone while one patient is made: nearly all of it goes by itself, in one piece, at the end.

    Looking through a growing patient again and again would cost a quarter of the time; the first allocations
    afterwards look for what is left.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Maker:
    """Makes patients in one process; what it remembers from one to the next only makes it faster.

    Args:
        seed: Of the hospital.
        flaws: Which patients have flaws.
    """

    def __init__(self, seed: int, flaws: str) -> None:
        self._seed, self._flaws = seed, flaws
        self._validator = Validator()
        self._warm = False

    def make(self, index: int) -> Built:
        """Make one patient.

        Raises:
            DataError: What was made is not valid R4: a fault of this library.
        """
        with _uncollected():
            built = self._make(index)
        if not self._warm:
            self._warm = True
            gc.collect()
            gc.freeze()  # the knowledge stays: there is no need to look through it again and again
        return built

    def _make(self, index: int) -> Built:
        life = make_life(self._seed, index)
        planted = plant_counted(write_record(life), rates_of(self._flaws, self._seed, index))
        charted = chart_record(planted.record, swift=True)
        packed = charted.packed(self._validator)
        truth = make_truth(life, planted.record, charted.provenance, planted.eligible)
        told = make_interviews(life)
        interviews = {f"{life.patient_id}-{stay.id}": told[stay.id] for stay in life.stays if stay.id in told}
        if len(interviews) < len(told):
            raise DataError(f"{life.patient_id}: an interview is of no stay: {sorted(told)}")
        flaws = Counter(flaw.kind for flaw in planted.record.flaws)
        return Built(packed, behind(life.patient_id, interviews, truth), flaws)


def build_store(
    path: str | Path, seed: int, indexes: range, *, flaws: str = "mix", workers: int = 1,
    progress: Progress | None = None, provenance: dict[str, Any] | None = None,
) -> HospitalReport:  # fmt: skip
    """Write a store of generated patients (atomically).

    Args:
        path: Where; replaced if it exists.
        seed: Of the hospital; other seeds have no patient in common.
        indexes: Which patients.
        flaws: clean, flawed, or mix (about half of the patients).
        workers: Processes. A script that asks for more than one does so below `if __name__ == "__main__":`.
        progress: Told after every patient.
        provenance: More for the store's header.

    Raises:
        UsageError: `flaws` is another word, the place is no good, or no patient was asked for.
        DataError: A worker ended.
    """
    if flaws not in FLAWS:
        raise UsageError(f"flaws `{flaws}`: one of {', '.join(FLAWS)}")
    if not len(indexes):
        raise UsageError("no patients were asked for; give at least one index")
    source = {
        "source": "wardround hospital", "seed": seed, "first": indexes.start, "patients": len(indexes), "flaws": flaws,
        "validated": "every resource, when it was packed", **(provenance or {}),
    }  # fmt: skip
    report = HospitalReport()
    # not validated again: the makers have validated, and how often they needed to depends on their number
    with StoreWriter(path, LICENCE, source, TYPES, validate=False) as writer:
        for built in _made(seed, indexes, flaws, workers):
            writer.add_packed(built.packed)
            writer.add_behind(built.behind)
            report.patients += 1
            report.flaws.update(built.flaws)
            if progress is not None:
                progress(report.patients, len(indexes))
        report.resources = dict(sorted(writer.counts.items()))
        report.store_hash = writer.close()
    return report


def _made(seed: int, indexes: range, flaws: str, workers: int) -> Iterator[Built]:
    """Yield the patients in the order of their indexes."""
    if workers <= 1:
        maker = Maker(seed, flaws)
        try:
            yield from map(maker.make, indexes)
        finally:
            gc.unfreeze()
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _start, (seed, flaws)) as pool:
        waiting: deque[Future[list[Built]]] = deque()
        chunks = iter([indexes[at : at + _CHUNK] for at in range(0, len(indexes), _CHUNK)])
        try:
            for chunk in chunks:
                waiting.append(pool.submit(_chunk, chunk))
                if len(waiting) >= 2 * workers:  # what waits for an earlier patient is bounded
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenProcessPool as fault:
            raise DataError(
                "a worker process of the hospital ended, as where memory runs out or a script that builds with "
                "`workers` does not do so below `if __name__ == '__main__':`; try fewer workers"
            ) from fault
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


_MAKER: list[Maker] = []


def _start(seed: int, flaws: str) -> None:
    _MAKER[:] = [Maker(seed, flaws)]


def _chunk(indexes: Sequence[int]) -> list[Built]:
    return [_MAKER[0].make(index) for index in indexes]

"""Patients of the built-in hospital: everything that one takes, beside packing its finished chart alone."""

from __future__ import annotations

import statistics

from benchmarks.timing import Row, once_us
from wardround.patients.fhir import Validator
from wardround.patients.hospital.building import Maker
from wardround.patients.hospital.charting import chart_record
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.writing import write_record

SEED = 3
_WARM = 20
"""Patients that are made first: the knowledge is read, and templates are there for nearly all results."""
_PATIENTS = 40


def hospital_rows() -> list[Row]:
    """Time making patients (life, notes, flaws, chart, interviews, truth; validated, packed and compressed)."""
    maker, validator = Maker(SEED, "mix"), Validator()
    for index in range(_WARM):
        maker.make(index)
        chart_record(write_record(make_life(SEED, index)), swift=True).packed(validator)
    times, floors, ratios = [], [], []
    for index in range(_WARM, _WARM + _PATIENTS):
        charted = chart_record(write_record(make_life(SEED, index)), swift=True)
        times.append(once_us(lambda index=index: maker.make(index)))  # type: ignore[misc]
        floors.append(once_us(lambda charted=charted: charted.packed(validator)))  # type: ignore[misc]
        ratios.append(times[-1] / floors[-1])
    mean, floor = statistics.mean(times), statistics.mean(floors)
    name = "hospital: one patient, everything (mean; patients are of all sizes)"
    return [Row(name, mean, floor, statistics.median(ratios), "packing the finished chart alone")]

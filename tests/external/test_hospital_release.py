"""The whole hospital: release hashes, rates of flaws over many places, ten thousand patients with flat memory.

`WARDROUND_SCALE_PATIENTS` makes the run smaller or larger; the numbers are printed (`pytest -s`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from wardround.patients import ChartStore, load_charts
from wardround.patients.hospital.building import rates_of
from wardround.patients.hospital.flaws import CLEAN, FlawRates, flawed, plant_counted
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.writing import write_record

pytestmark = pytest.mark.external

PATIENTS = int(os.environ.get("WARDROUND_SCALE_PATIENTS", "10000"))
GROWTH_MB = 120
"""What the process may hold more after all patients than after the first five hundred: bounded memories fill up."""
PER_SECOND = 4
"""Patients a second and core on an idle machine."""
HASHES: dict[str, str] = {
    "hospital-v1": "356d3c4eda6e29805f76fce013a6c221",
    "hospital-v1/public": "c04125aa3c922bd55fe7ad25c81377de",
    "hospital-v1/train": "ae620bb275a580f5315119303e8a0218",
    "hospital-v1/heldout": "88f1107b969f70f285e368b04d606ce6",
}
"""Release → content hash. A change of the generator that moves one is told in the changelog."""

RUN = """
import json, resource, sys, time
from wardround.patients import build_hospital
out, patients = sys.argv[1], int(sys.argv[2])
start, peaks = time.process_time(), []
def tell(done, total):
    if done in (min(500, total), total):
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
report = build_hospital(out, 1, range(patients), progress=tell)
print(json.dumps({"cpu": time.process_time() - start, "peaks": peaks, "hash": report.store_hash}))
"""


@pytest.fixture(scope="module")
def release() -> Iterator[ChartStore]:
    with load_charts("hospital-v1") as store:
        yield store


def test_memory_is_flat_and_patients_come_quickly(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RUN, str(tmp_path / "many.sqlite"), str(PATIENTS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told: dict[str, Any] = json.loads(done.stdout)
    first, last = told["peaks"]
    print(f"{PATIENTS} patients: {PATIENTS / told['cpu']:.1f} a second, peak {first:.0f} then {last:.0f} MiB")
    assert last - first < GROWTH_MB
    assert PATIENTS / told["cpu"] > PER_SECOND / 2  # half of it: other work may share the core


def test_the_release_is_whole_and_split(release: ChartStore) -> None:
    splits = {name: load_charts(f"hospital-v1/{name}") for name in ("public", "train", "heldout")}
    assert {name: len(store) for name, store in splits.items()} == {"public": 300, "train": 1000, "heldout": 200}
    together = [patient for store in splits.values() for patient in store.patients()]
    assert sorted(together) == list(release.patients())
    for name, store in splits.items():
        print(f"hospital-v1/{name}: {store.hash}")
        assert HASHES[f"hospital-v1/{name}"] == store.hash
        store.close()
    assert HASHES["hospital-v1"] == release.hash


def test_rates_of_flaws_are_met(release: ChartStore) -> None:
    places: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    clean = 0
    for patient in release.patients():
        truth = release.truth(patient)
        assert truth is not None
        clean += rates_of("mix", truth.seed, truth.index) == CLEAN
        places.update(truth.eligible)
        planted.update(flaw.kind for flaw in truth.flaws)
    assert 0.45 < clean / len(release) < 0.55
    _assert_met(flawed(), places, planted)


def test_high_rates_of_flaws_are_met() -> None:
    """As above, at 300 per 1000."""
    rates = FlawRates(**{field.name: 300 for field in fields(FlawRates)})
    places: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    for index in range(400):
        one = plant_counted(write_record(make_life(77, index)), rates)
        places.update(one.eligible)
        planted.update(flaw.kind for flaw in one.record.flaws)
    _assert_met(rates, places, planted)


def _assert_met(rates: FlawRates, places: Counter[str], planted: Counter[str]) -> None:
    """Within 10 % of the parameter, or within what chance allows where few were to be expected (four sigma)."""
    for field in fields(FlawRates):
        rate = getattr(rates, field.name)
        expected = places[field.name] * rate / 1000
        print(f"{field.name}: {planted[field.name]} of {places[field.name]} places, expected {expected:.0f}")
        sigma = (expected * (1 - rate / 1000)) ** 0.5
        assert abs(planted[field.name] - expected) <= max(expected / 10, 4 * sigma)

"""The hospital's charts do not depend on numpy's version, on CPU features, or on anything of the surroundings.

The second numpy version gets an environment of its own: what is installed here is copied into it but for numpy.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.external

OTHER = "2.0.2" if not np.__version__.startswith("2.0.") else "2.2.6"
PATIENTS = 12
BUILD = """
import sys
import numpy
from wardround.patients import build_hospital
report = build_hospital(sys.argv[1], 5, range(int(sys.argv[2])), workers=int(sys.argv[3]))
print(numpy.__version__, report.store_hash)
"""


def _build(python: str, out: Path, workers: int = 1, **surroundings: str) -> tuple[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [python, "-c", BUILD, str(out), str(PATIENTS), str(workers)],
        env={**environment, **surroundings}, capture_output=True, text=True, check=False, cwd=out.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    version, _, store_hash = done.stdout.strip().splitlines()[-1].partition(" ")
    return version, store_hash


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _build(sys.executable, tmp_path_factory.mktemp("here") / "charts.sqlite")[1]


def test_another_numpy_makes_the_same_charts(tmp_path: Path, here: str) -> None:
    root = Path(__file__).resolve().parents[2]
    place = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    python = str(place / "bin/python")
    for install in ([str(root), "-c", str(root / "constraints.txt")], [f"numpy=={OTHER}"]):
        done = subprocess.run(
            [python, "-m", "pip", "install", "-q", *install], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr[-2000:]
    version, store_hash = _build(python, tmp_path / "charts.sqlite")
    assert version == OTHER != np.__version__
    assert store_hash == here


@pytest.mark.parametrize(
    "surroundings",
    [
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "4242", "TZ": "Asia/Kathmandu", "LC_ALL": "C"},
        {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512_SKX"},
    ],
)
def test_surroundings_change_nothing(tmp_path: Path, here: str, surroundings: dict[str, str]) -> None:
    assert _build(sys.executable, tmp_path / "charts.sqlite", **surroundings)[1] == here


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_change_nothing(tmp_path: Path, here: str, workers: int) -> None:
    assert _build(sys.executable, tmp_path / "charts.sqlite", workers)[1] == here

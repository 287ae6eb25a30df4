"""Coherence over a whole release's worth of lives; minutes, so not part of the usual run."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from wardround.patients.hospital.living import make_life


def _module(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


incoherences = _module(Path(__file__).parent.parent / "patients" / "hospital_coherence.py").incoherences
pytestmark = pytest.mark.external


def test_1500_lives_hang_together() -> None:
    found = [f"{index}: {one}" for index in range(1500) for one in incoherences(make_life(20261130, index))]
    assert found == []

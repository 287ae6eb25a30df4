"""Laboratory values of many generated inpatients lie where those of the MIMIC-IV demo do (issue 5)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lab_plausibility", ROOT / "scripts" / "lab_plausibility.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.external
def test_inpatient_values_lie_where_the_demos_do(mimic_demo: Path) -> None:
    script = _script()
    rows = script.compare(script.lived_values(400, 1), script.demo_values(mimic_demo))
    assert len(rows) == script.COMMONEST
    assert [row.lab for row in rows if not row.fits] == []

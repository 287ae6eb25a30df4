"""Shared fixtures; keeps the checkout itself off `sys.path`, so that tests see the installed package only."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import hypothesis
import pytest
import tracing

TRACING = tracing.start()

# How long an example takes says how busy the machine is, not whether the code is right.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != CHECKOUT]


def pytest_configure(config: pytest.Config) -> None:
    """Print at the end what the tests reached, where `WARDROUND_COVERAGE` asks for it."""
    if TRACING is not None:
        config.pluginmanager.register(TRACING, "tracing")


SHARED = Path(os.environ.get("WARDROUND_SHARED", CHECKOUT.parent / "shared"))
"""Open data beside the checkout; tests that use it skip with a reason where it is absent."""


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of shared open data, or skip."""
    if not SHARED.is_dir():
        pytest.skip("no shared/ folder beside the checkout")
    return SHARED


@pytest.fixture(scope="session")
def mimic_demo(shared: Path) -> Path:
    """Return the MIMIC-IV demo as CSV, or skip."""
    folder = shared / "data" / "mimic-iv-demo"
    if not folder.is_dir():
        pytest.skip("no MIMIC-IV demo in shared/data")
    return folder

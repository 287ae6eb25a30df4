"""Coherence over a whole release's worth of lives; minutes, so not part of the usual run."""

from __future__ import annotations

import pytest
from hospital_coherence import incoherences

from wardround.patients.hospital.living import make_life

pytestmark = pytest.mark.external


def test_1500_lives_hang_together() -> None:
    found = [f"{index}: {one}" for index in range(1500) for one in incoherences(make_life(20261130, index))]
    assert found == []

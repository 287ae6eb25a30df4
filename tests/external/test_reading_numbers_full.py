"""The full count of generated number sentences (the ordinary tests judge a sample of them)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "rubrics"))
from test_reading_numbers import ACCEPTED, SUPPORTED, judge

pytestmark = pytest.mark.external
COUNT = 24_000


def test_stated_values_are_supported_and_others_are_not() -> None:
    refused, accepted = judge(5, COUNT)
    assert len(refused) <= (1 - SUPPORTED) * COUNT, refused[:20]
    assert len(accepted) <= ACCEPTED * COUNT, accepted[:20]

"""Who can get a condition, and when."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from wardround.patients.hospital.diagnosing import fits
from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.times import parse_instant


@pytest.mark.parametrize(
    ("condition", "day", "can"),
    [
        ("covid_19", "2020-02-29", False),
        ("covid_19", "2020-03-01", True),
        ("influenza", "2019-07-15", False),
        ("influenza", "2019-01-15", True),
        ("pneumonia", "2019-07-15", True),
    ],
)
def test_what_goes_round_only_at_times_comes_only_then(condition: str, day: str, can: bool) -> None:
    person = SimpleNamespace(person=SimpleNamespace(sex="female"), age=lambda at: 40)
    assert fits(cast(Any, person), condition_profiles()[condition], parse_instant(day), []) is can

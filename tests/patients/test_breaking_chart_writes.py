"""Whatever is written through the library is valid or refused as invalid: no other exception, nothing stored."""

from __future__ import annotations

from typing import Any

import pytest

from wardround.patients import ChartBuilder, InvalidResource, Overlay, parse_instant

RESULT = {"resourceType": "Observation", "status": "final", "code": {"text": "Potassium"}}


@pytest.fixture
def overlay() -> Overlay:
    made = ChartBuilder("p-1", sex="female", birth_date="1950")
    made.lab("Potassium", "4.1", "mmol/L", at="2150-03-01", id="lab-1")
    return Overlay(made.chart().at(parse_instant("2150-03-05")))


@pytest.mark.parametrize(
    "broken",
    [
        {"meta": 5},
        {"meta": ["x"]},
        {"meta": {"extension": 5}},
        {"meta": {"extension": [5]}},
        {"meta": {"tag": {"code": "x"}}, "status": "amended"},
        {"meta": {"tag": ["x"]}, "status": "amended"},
        {"valueInteger": 10**30},
        {"valueString": "\ud800"},
        {"valueQuantity": {"value": float("nan")}},
        {"status": 5},
        {"code": []},
    ],
)
def test_broken_resources_are_invalid(overlay: Overlay, broken: dict[str, Any]) -> None:
    before = overlay.state_hash
    with pytest.raises(InvalidResource):
        overlay.create(RESULT | broken)
    with pytest.raises(InvalidResource):
        overlay.replace("Observation/lab-1", RESULT | broken)
    assert overlay.state_hash == before and overlay.writes == ()

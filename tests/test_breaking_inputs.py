"""What a model may send is an observation or an answer, never an exception: inputs that once broke something."""

from __future__ import annotations

from typing import Any

import pytest

from wardround.envs import Episode
from wardround.patients import load_charts
from wardround.sessions import load_sessions


@pytest.fixture
def episode() -> Episode:
    session = load_sessions("ward").get("s-ward-session-a")
    return Episode(session, load_charts("ward").chart(session.chart.patient))


@pytest.mark.parametrize("text", ["';--", "%", "_", "*", "|", "\x00", "\u200b", "。", "-- --"])
@pytest.mark.parametrize(
    ("tool", "argument"),
    [
        ("Observation.search", "code"),
        ("MedicationRequest.search", "medication"),
        ("MedicationAdministration.search", "medication"),
        ("Condition.search", "code"),
        ("DocumentReference.search", "keyword"),
    ],
)
def test_a_filter_of_punctuation_matches_nothing(episode: Episode, tool: str, argument: str, text: str) -> None:
    result = episode.call(tool, {"subject_id": "ward-01", argument: text})
    assert not result.resources
    assert not result.ok or '"total":0' in result.text


@pytest.mark.parametrize("name", [None, 5, [], {}, 1.5, b"Patient.read"])
def test_a_name_that_is_no_text_is_an_unknown_tool(episode: Episode, name: Any) -> None:
    result = episode.call(name, {"subject_id": "ward-01"})
    assert (result.ok, result.error) == (False, "unknown_tool")
    assert episode.calls_left == 15

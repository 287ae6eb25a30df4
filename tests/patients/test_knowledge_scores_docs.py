"""docs/scores.md tells what the data file holds: every score's version, publication, unit, policy, inputs, parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from wardround.patients import knowledge

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scores.md"


def rows(heading: str) -> dict[str, list[str]]:
    """Return the cells of a section's last table by their first cell."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    return {cells[0].strip("`"): cells for cells in lines}


def test_every_score_stands_in_the_table() -> None:
    assert list(rows("Versions and sources")) == list(knowledge.scores())
    assert list(rows("Inputs and units")) == list(knowledge.scores())
    assert set(rows("Components and bands")) == {
        score.id for score in knowledge.scores().values() if score.components or score.readings
    }


@pytest.mark.parametrize("score", knowledge.scores().values(), ids=lambda score: score.id)
def test_version_publication_unit_and_policy(score: knowledge.Score) -> None:
    unit = "points" if score.unit == "{score}" else f"`{score.unit}`"
    policy = {"least": "counts its least points", "none": "no total"}[score.missing]
    cells = rows("Versions and sources")[score.id]
    assert cells[1:] == [score.name.en, score.version, score.reference, unit, str(score.places), policy]


@pytest.mark.parametrize("score", knowledge.scores().values(), ids=lambda score: score.id)
def test_inputs_with_their_units(score: knowledge.Score) -> None:
    told = rows("Inputs and units")[score.id][1]
    for entry in score.inputs:
        kind = "flag" if entry.type == "flag" else "/".join(entry.choices) or entry.unit or "number"
        assert f"`{entry.id}` ({kind}" in told, entry.id
        if entry.default is not None:
            assert f"`{entry.id}` ({kind} = {str(entry.default).lower()})" in told
        if entry.derive is not None:
            assert f"`{entry.id}` ({kind} ← {', '.join(entry.derive.of)})" in told
    assert told.count("`") == 2 * len(score.inputs)


@pytest.mark.parametrize(
    "score", [one for one in knowledge.scores().values() if one.components], ids=lambda one: one.id
)
def test_components_with_their_points(score: knowledge.Score) -> None:
    _, parts, readings = rows("Components and bands")[score.id]
    for name, part in score.by_component().items():
        assert f"`{name}` ({'/'.join(str(value) for value in part.values())})" in parts
    for reading in score.readings:
        assert all(band.name.en in readings for band in reading.bands)

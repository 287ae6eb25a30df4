"""`wardround inspect`: a store, a timeline, and what is said of wrong arguments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wardround.cli import main
from wardround.patients import ChartBuilder, StoreWriter


def _out(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(["inspect", *argv]) == 0
    return capsys.readouterr().out


def test_a_store_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    out = _out(capsys, "ward")
    assert "12 patients" in out and "licence CC0-1.0" in out
    row = next(line.split() for line in out.splitlines() if line.startswith("Condition"))
    assert row == ["Condition", "79", "12", "1998-01-01", "2024-12-03"]


def test_a_timeline_in_words_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    out = _out(capsys, "ward", "ward-01", "--type", "Observation", "--from", "2023-11-08", "--to", "2023-11-08")
    assert "2023-11-08\n" in out and "Creatinine · 1.63 · mg/dL · 0.5-1.1 · H  [known 2023-11-08 10:24]" in out
    data = json.loads(_out(capsys, "ward", "ward-01", "--json"))
    assert data["total"] == len(data["events"]) and data["licence"] == "CC0-1.0"
    assert data["events"] == sorted(data["events"], key=lambda event: (event["time"], event["type"], event["key"]))


def test_as_of_an_anchor_and_cut(capsys: pytest.CaptureFixture[str]) -> None:
    out = _out(capsys, "ward", "ward-01", "--at", "2024-05-16T10:00:00Z", "--limit", "3")
    assert "as of: 2024-05-16T10:00:00Z" in out or "as of: 2024-05-16T09:59:59Z" in out
    assert "more: --limit N" in out


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["ward", "nobody"], "`nobody` is no patient of ward"),
        (["ward", "--type", "Observation"], "name a patient"),
        (["ward", "ward-01", "--type", "Obs"], "this record has no `Obs`; it has AllergyIntolerance"),
        (["ward", "ward-01", "--encounter", "x"], "`x` is no encounter of this record"),
        (["ward", "ward-01", "--at", "yesterday"], "`yesterday` is not a date"),
    ],
)
def test_wrong_arguments(argv: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", *argv]) == 2
    assert told in capsys.readouterr().err


def test_a_hostile_record_cannot_drive_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = ChartBuilder("p1", sex="female", birth_date="1950-01-01")
    reason = "\x1b]0;owned\x07 pain\n2021-01-01\n  09:00  Flag"
    builder.encounter("e1", "IMP", "2020-01-01T08:00:00Z", reason=reason)
    with StoreWriter(tmp_path / "s.sqlite") as writer:
        writer.add("p1", builder.resources())
    out = _out(capsys, str(tmp_path / "s.sqlite"), "p1")
    assert "\x1b" not in out and "\x07" not in out and "\n2021-01-01" not in out

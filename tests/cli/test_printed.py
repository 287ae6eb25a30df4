"""What commands print for people: tables and short lines, never a dict or a list of Python."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest

from wardround.cli import main
from wardround.cli.output import WIDTH, print_counts, print_crossing, print_list

_PYTHON = re.compile(r"[\[{][\"'{]|[\[{][\]}]|'[:,]|\b(?:None|True|False)\b")
"""Where a dict, a list or a constant of Python shows through."""


def _printed(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> str:
    assert main([*argv]) == code
    out = capsys.readouterr().out
    assert not _PYTHON.search(out), out
    return out


def test_stats(capsys: pytest.CaptureFixture[str]) -> None:
    out = _printed(capsys, "stats", "ward")
    assert main(["stats", "ward", "--json"]) == 0
    data = orjson.loads(capsys.readouterr().out)
    assert max(map(len, out.splitlines())) <= WIDTH
    assert out.startswith(f"{data['sessions']} sessions of {data['patients']} patients\n")
    cells = [line.split() for line in out.splitlines()]
    for task, turns in data["by_task_turn"].items():
        assert [task, *(str(turns.get(f"T{number}", 0)) for number in range(4))] in cells
    columns = sorted({scenario for counts in data["tool_by_scenario"].values() for scenario in counts})
    for tool, scenarios in data["tool_by_scenario"].items():
        assert [tool, *(str(scenarios.get(column, 0)) for column in columns)] in cells
    for source, count in data["by_source"].items():
        assert re.search(rf"\b{source} {count}\b", out)
    assert f"set hash: {data['set_hash']}" in out


def test_generate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "made.jsonl")
    out = _printed(capsys, "generate", "--charts", "ward", "--out", path, "--limit", "4")
    assert out.startswith("4 sessions of ")
    for words in ("Gates\n", "Facts left out\n", "Mix\n", "  kind: ", "monitored drug without its lab"):
        assert words in out
    assert out.splitlines()[-1].startswith(f"written to {path}; set hash ")


def test_generate_says_why_patients_were_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "patient.json"
    source.write_bytes(orjson.dumps({"resourceType": "Patient", "id": "p1", "gender": "female"}))
    store = str(tmp_path / "one.sqlite")
    out = _printed(capsys, "import", "fhir", str(source), "--out", store)
    assert re.search(r"^Patient +1$", out, re.MULTILINE)
    assert "1 patients; 1 resources; invalid 0" in out
    out = _printed(capsys, "generate", "--charts", store, "--out", str(tmp_path / "no.jsonl"), code=1)
    assert "0 sessions of 0 patients; 1 in the store" in out
    assert re.search(r"^Patients left out\nreason +count\n.+ 1$", out, re.MULTILINE)
    assert "Mix: none" in out
    assert "written" not in out


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    out = _printed(capsys, "doctor")
    assert re.search(r"^ward: 12 patients; \d\d sessions; store hash [0-9a-f]{32}$", out, re.MULTILINE)
    assert re.search(r"^orjson +\d", out, re.MULTILINE)


def test_counts_are_grouped_and_largest_first(capsys: pytest.CaptureFixture[str]) -> None:
    print_counts("Mix", {"b:x": 1, "b:y": 3, "plain": 2, "also": 2})
    assert capsys.readouterr().out == "Mix\n  also 2, plain 2\n  b: y 3, x 1\n"
    print_counts("Mix", {})
    assert capsys.readouterr().out == "Mix: none\n"


def test_lists_break_between_items(capsys: pytest.CaptureFixture[str]) -> None:
    items = [f"item {number}" for number in range(60)]
    print_list("head:", items)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= WIDTH
    assert [word.strip() for word in " ".join(lines).removeprefix("head:").split(",")] == items


def test_a_crossing_shows_zero_for_what_did_not_occur(capsys: pytest.CaptureFixture[str]) -> None:
    print_crossing("Turns", "task", {"IL": {"T0": 2}, "DG": {"T1": 1}})
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["task", "T0", "T1"], ["IL", "2", "0"], ["DG", "0", "1"],
    ]  # fmt: skip

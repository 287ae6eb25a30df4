"""`wardround grade SESSION --turn N`: from a file or standard input, explained or as JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from wardround.cli import main


def _stdin(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))


def test_an_answer_from_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _stdin(monkeypatch, b"Potassium is 4.6 mEq/L, which is normal.\n")
    assert main(["grade", "s-ward-session-a", "--turn", "2"]) == 0
    out = capsys.readouterr().out
    assert "✓ value-potassium [value] States the latest potassium as 4.6 mEq/L." in out
    assert "rests on: “Potassium is 4.6 mEq/L”" in out and "reward 1.000" in out


def test_an_answer_from_a_file_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answer.txt"
    path.write_text("Potassium is high.", encoding="utf-8")
    assert main(["grade", "s-ward-session-a", "--turn", "2", "--answer", str(path), "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["reward"] == 0.0 and data["turn"] == 2 and data["answer"] == "Potassium is high."


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        ([], "give either a session and --turn, or --rows FILE"),
        (["s-ward-session-a"], "say which turn of `s-ward-session-a`"),
        (["s-ward-session-a", "--turn", "1", "--rows", "x"], "give either"),
        (["nobody", "--turn", "1"], "no session `nobody`"),
        (["s-ward-session-a", "--turn", "7"], "turns 1 to 4"),
        (["s-ward-session-a", "--turn", "1", "--answer", "/nonexistent/a"], "/nonexistent/a"),
    ],
)
def test_wrong_arguments(
    argv: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _stdin(monkeypatch, b"x")
    assert main(["grade", *argv]) == 2
    assert told in capsys.readouterr().err


def test_what_is_no_text_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _stdin(monkeypatch, b"caf\xe9")
    assert main(["grade", "s-ward-session-a", "--turn", "1"]) == 2
    assert "standard input is not UTF-8 (byte 3)" in capsys.readouterr().err
    _stdin(monkeypatch, b"a" * (1 << 20) + b"b")
    assert main(["grade", "s-ward-session-a", "--turn", "1"]) == 2
    assert "longer than an answer can be" in capsys.readouterr().err


def test_an_empty_answer_is_worth_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for raw in (b"", b"\n"):
        _stdin(monkeypatch, raw)
        assert main(["grade", "s-ward-session-a", "--turn", "2"]) == 1
        out = capsys.readouterr().out
        assert "answer: (empty)" in out and "reward 0.000" in out


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"call": [{}]}, "field `call` is no call"),
        ({"call": {"tool": "Flag.create"}}, "field `call` is no call"),
        ({"answer": 5}, "field `answer` is no text"),
        ({"language": "fr"}, "field `language` is 'fr'; give en or zh"),
        ({"passes": "yes"}, "field `passes` is 'yes'"),
    ],
)
def test_rows_that_are_none(
    row: dict[str, object], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.jsonl"
    whole = {
        "id": "r",
        "language": "en",
        "check": {"kind": "mention", "concept": "fever"},
        "passes": True,
        "answer": "x",
    }
    path.write_text(json.dumps(whole | row), encoding="utf-8")
    assert main(["grade", "--rows", str(path)]) == 2
    assert f"rows.jsonl:1: {told}" in capsys.readouterr().err

"""Commands lose nothing and never print a traceback: wrong places for files, other kinds of files, odd arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from wardround.cli.main import main
from wardround.patients import StoreWriter, UsageError, load_charts
from wardround.sessions import load_sessions, save_sessions


def failed(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """Run a command that must be refused; return what it says."""
    assert main(list(argv)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("wardround: ")
    return err


def test_a_set_never_replaces_the_store_it_is_made_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "charts.sqlite"
    with load_charts("ward") as ward:
        store.write_bytes(Path(ward.path).read_bytes())
    before = store.read_bytes()
    assert "is kept" in failed(capsys, "generate", "--charts", str(store), "--limit", "1", "--out", str(store))
    assert store.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["charts.sqlite"]


def test_a_set_replaces_a_set(tmp_path: Path) -> None:
    target = tmp_path / "set.jsonl"
    session = load_sessions("ward").sessions[0]
    save_sessions(target, [session])
    assert save_sessions(target, [session]).hash == load_sessions(target).hash
    target.write_bytes(b"")
    save_sessions(target, [session])
    target.write_text("notes of a person\n")
    with pytest.raises(UsageError, match="is kept"):
        save_sessions(target, [session])
    assert target.read_text() == "notes of a person\n"


def test_a_store_replaces_only_a_store(tmp_path: Path) -> None:
    text, folder = tmp_path / "thesis.txt", tmp_path / "folder"
    text.write_text("years of work\n")
    folder.mkdir()
    for place in (text, folder):
        with pytest.raises(UsageError):
            StoreWriter(place)
    assert text.read_text() == "years of work\n"
    StoreWriter(tmp_path / "charts.sqlite").close()
    StoreWriter(tmp_path / "charts.sqlite").close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["charts.sqlite", "folder", "thesis.txt"]


def test_places_that_cannot_be_written_or_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    folder = str(tmp_path)
    failed(capsys, "generate", "--charts", "ward", "--limit", "1", "--out", folder)
    failed(capsys, "generate", "--charts", "ward", "--limit", "1", "--out", str(file / "set.jsonl"))
    failed(capsys, "eval", "--sessions", "ward", "--agent", "silent", "--limit", "1", "--out", str(file))
    failed(capsys, "grade", "--rows", folder)
    assert "none.jsonl" in failed(capsys, "grade", "--rows", str(tmp_path / "none.jsonl"))
    assert file.read_text() == "x"


def test_no_rows_are_no_grade(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "rows.jsonl"
    empty.write_text("\n")
    assert "no rows" in failed(capsys, "grade", "--rows", str(empty), "--json")


def test_the_demo_keeps_the_runs_of_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    assert main(["eval", "--sessions", "ward", "--agent", "silent", "--limit", "1", "--out", run, "--json"]) == 0
    kept = (tmp_path / "run" / "trajectories.jsonl").read_bytes()
    capsys.readouterr()
    assert "is kept" in failed(capsys, "demo", "--limit", "1", "--out", run)
    assert (tmp_path / "run" / "trajectories.jsonl").read_bytes() == kept
    demo = str(tmp_path / "demo")
    for _ in range(2):
        assert main(["demo", "--limit", "1", "--out", demo, "--json"]) == 0


@pytest.mark.parametrize("seed", ["9" * 25, "-9999999999999999999999", "x", "1.5", ""])
def test_seeds_are_64_bits(seed: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["generate", "--charts", "ward", f"--seed={seed}", "--limit", "1", "--out", str(tmp_path / "s.jsonl")])
    assert stop.value.code == 2


@pytest.mark.parametrize("seed", [(1 << 63) - 1, -(1 << 63)])
def test_the_outermost_seeds_work(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "s.jsonl")
    assert main(["generate", "--charts", "ward", f"--seed={seed}", "--limit", "1", "--out", out, "--json"]) == 0
    run = str(tmp_path / "run")
    assert (
        main(["eval", "--sessions", out, "--charts", "ward", "--agent", "random", f"--seed={seed}", "--out", run]) == 0
    )


def test_ctrl_c_ends_quietly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped(path: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wardround.sessions.load_sessions", stopped)
    assert main(["stats", "ward", "--json"]) == 130
    assert "--resume" in capsys.readouterr().err

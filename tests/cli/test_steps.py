"""Progress of an import: plain lines where nobody watches, one living line on a terminal, nothing beside JSON."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from wardround.cli.output import steps

FOLDER = Path(__file__).parents[1] / "patients" / "data" / "mimic"


def test_plain_lines_say_each_step_and_each_tenth_once(capsys: pytest.CaptureFixture[str]) -> None:
    with steps("patients") as shown:
        for words in (
            "sorting labevents",
            "sorting labevents: 3 %",
            "sorting labevents: 41 %",
            "sorting labevents: 43 %",
        ):
            shown.step(words)
        for done in (1, 99, 100, 101, 200):
            shown.done(done)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["sorting labevents", "sorting labevents: 41 %", "patients: 100", "patients: 200"]


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with steps("patients", quiet=True) as shown:
        shown.step("sorting labevents")
        shown.done(100)
    assert capsys.readouterr() == ("", "")


def test_an_import_tells_its_steps_on_a_terminal_and_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "wardround", "import", "mimic", str(FOLDER), "--out", str(tmp_path / "a.sqlite")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "checking labevents\n" in done.stderr
    assert "sorting labevents\n" in done.stderr
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb") as screen:
        with os.fdopen(theirs, "wb") as terminal:
            subprocess.run([*command, "--threads", "1"], stdout=subprocess.DEVNULL, stderr=terminal, check=True)
        assert b"patients" in screen.read1(1 << 16)

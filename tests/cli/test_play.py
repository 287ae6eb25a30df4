"""`wardround play` as a command: by lines of standard input, and at a pseudo-terminal with Tab, pages and Ctrl-C."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path

import orjson
import pytest

from wardround.cli import main

SESSION = "s-ward-session-a"
PROMPT = "] > "


def _main(monkeypatch: pytest.MonkeyPatch, script: str, *argv: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(script))
    return main(["play", *argv])


def test_piped_lines_play_and_the_end_of_input_saves(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kept = tmp_path / "play.json"
    monkeypatch.setenv("COLUMNS", "40")
    assert _main(monkeypatch, "labs potassium\n", "--session", SESSION, "--save", str(kept)) == 0
    page = capsys.readouterr().out
    assert "Question 1 of 4" in page and "--resume" in page
    assert max(map(len, page.splitlines())) <= 40 + len(PROMPT)
    assert _main(monkeypatch, "quit\n", "--resume", str(kept), "--json") == 0
    printed = capsys.readouterr()
    report = orjson.loads(printed.out)
    assert report["trajectory_hash"] == orjson.loads(kept.read_bytes())["trajectory_hash"]
    assert (report["actions"], report["done"], report["saved"]) == (1, False, str(kept))
    assert "1 actions played again" in printed.err


def test_watching_without_a_terminal_plays_to_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _main(monkeypatch, "", "--watch", "oracle", "--language", "zh", "--json") == 0
    report = orjson.loads(capsys.readouterr().out)
    assert (report["score"], report["player"], report["gold_shown"]) == (1.0, "oracle", True)


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (("--session", "nobody"), "nobody"),
        (("--watch", "orakel"), "did you mean `oracle`?"),
        (("--model-base", "http://x"), "no agent is one"),
        (("--resume", "no-such-file.json"), "no-such-file.json"),
        (("--save", "no-such-folder/play.json"), "no-such-folder"),
    ],
)
def test_what_cannot_be_played_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], told: str
) -> None:
    assert _main(monkeypatch, "", *argv) == 2
    printed = capsys.readouterr()
    assert told in printed.err and not printed.out


class Screen:
    """A command at a pseudo-terminal."""

    def __init__(self, *argv: str, rows: int = 24, columns: int = 90, term: str = "xterm") -> None:
        self.text, self._seen = "", 0
        self.process, self._side = pty.fork()
        if self.process == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # what starts a suite in the background has it ignored
            # given whole: where pytest has loaded readline, that has set COLUMNS and LINES where Python does not see it
            seen = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
            argv = (sys.executable, "-m", "wardround", "play", *argv)
            os.execve(sys.executable, argv, {**seen, "TERM": term})
        fcntl.ioctl(self._side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait(self, words: str, seconds: float = 60.0) -> str:
        """Read until the words come, after all that was waited for before; return what was read."""
        end = time.monotonic() + seconds
        while (place := self.text.find(words, self._seen)) == -1:
            assert time.monotonic() < end, f"`{words}` never came:\n{self.text[self._seen :]}"
            if select.select([self._side], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self._side, 65536).decode(errors="replace")
                except OSError:  # Linux: the other side has closed
                    pytest.fail(f"`{words}` never came:\n{self.text[self._seen :]}")
        read, self._seen = self.text[self._seen : place], place + len(words)
        return read

    def type(self, keys: str) -> None:
        """Type; Ctrl-C as a person does, a moment after what was shown: readline hears it only while it waits."""
        if keys == "\x03":
            time.sleep(0.5)
        os.write(self._side, keys.encode())

    def close(self) -> int:
        """Read to the end and return the exit code."""
        try:
            while select.select([self._side], [], [], 30.0)[0] and (more := os.read(self._side, 65536)):
                self.text += more.decode(errors="replace")
        except OSError:
            pass
        end = time.monotonic() + 30.0
        while (status := os.waitpid(self.process, os.WNOHANG))[0] == 0:
            if time.monotonic() > end:
                os.kill(self.process, signal.SIGKILL)  # its own child, and it hangs
            time.sleep(0.05)
        os.close(self._side)
        return os.waitstatus_to_exitcode(status[1])


def test_at_a_terminal(tmp_path: Path) -> None:
    pytest.importorskip("readline")
    kept = tmp_path / "kept.json"
    screen = Screen("--session", SESSION, "--phrasing", "explicit", rows=14)
    try:
        screen.wait(PROMPT)
        screen.type("lab\thiv\t")
        screen.wait("HIV-1 Viral Load")  # completed from the chart
        screen.type("\n")
        screen.wait("→ Observation.search")
        screen.wait("calls left 15] > ")
        screen.type("labs creat")
        screen.wait("creat")
        screen.type("\x03")  # the half line is dropped
        screen.wait("Ctrl-C again leaves")
        screen.wait("calls left 15] > ")
        screen.type("labs\n")
        screen.wait("Enter: more")
        screen.type("q\n")
        screen.wait("calls left 14] > ")
        screen.type("0.0 log10 copies/mL, undetectable\n")
        screen.wait("[Y/n] ")
        screen.type("n\n")
        screen.wait("Not sent.")
        screen.wait(PROMPT)
        # two lines pasted at once are one answer
        screen.type("\x1b[200~HIV viral load 0.0 log10 copies/mL,\nundetectable.\x1b[201~\n")
        screen.wait("[Y/n] ")
        screen.type("\n")
        screen.wait("reward 1.00")
        screen.wait("[2/4, calls left 16] > ")
        screen.type("quit\n")
        screen.wait("n: do not save] ")
        screen.type(f"{kept}\n")
        screen.wait("trajectory hash")
    finally:
        code = screen.close()
    assert code == 0
    assert (
        orjson.loads(kept.read_bytes())["actions"][-1]["answer"] == "HIV viral load 0.0 log10 copies/mL,\nundetectable."
    )


def test_watching_at_a_dumb_and_narrow_terminal_until_ctrl_c(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    screen = Screen("--session", SESSION, "--watch", "baseline", "--save", str(kept), rows=200, columns=40, term="dumb")
    try:
        screen.wait("\n> ")
        screen.type("\n")
        assert "→ " in screen.wait("\n> ")
        screen.type("what now\n")
        screen.wait("While you watch")
        screen.wait("\n> ")
        screen.type("\x03")
        screen.wait("trajectory hash")
    finally:
        code = screen.close()
    assert code == 130
    assert "\x1b[3" not in screen.text and "\x1b[1" not in screen.text, "no colours where the terminal has none"
    assert len(orjson.loads(kept.read_bytes())["actions"]) == 1

"""A run that is killed or stopped goes on where it was: the command itself, really killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import orjson
import pytest

from wardround.agents import EvaluationPlan, How, Task, evaluate, read_records
from wardround.agents.results import RunFolder, _mend_tail
from wardround.agents.usage import Usage
from wardround.cli import main
from wardround.patients import UsageError

HELPERS = Path(__file__).resolve().parents[1] / "helpers"
LIMIT = 24
_MAIN = "import sys; from wardround.cli import main; sys.exit(main())"


def command(out: Path, log: Path, *more: str) -> subprocess.Popen[str]:
    """Start `wardround eval` with an agent that waits; it notes in `log` which episodes it begins."""
    options = ["--sessions", "ward", "--agent", "waiting:Slow", "--limit", str(LIMIT), "--in-flight", "3"]
    return subprocess.Popen(
        [sys.executable, "-c", _MAIN, "eval", *options, "--out", str(out), *more],
        env={**os.environ, "PYTHONPATH": str(HELPERS), "WAITING_LOG": str(log)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # whatever we were started with
    )


def recorded(out: Path) -> int:
    return sum(part.read_bytes().count(b"\n") for part in (out / "parts").glob("*.jsonl"))


def stop(run: subprocess.Popen[str], out: Path, how: signal.Signals) -> tuple[int, str]:
    """Send a signal once some episodes are recorded; return the exit code and what was printed."""
    end = time.monotonic() + 120
    while recorded(out) < 4:
        assert run.poll() is None, run.communicate()[0]
        assert time.monotonic() < end, "no episode was recorded in time"
        time.sleep(0.005)
    run.send_signal(how)
    printed = run.communicate(timeout=60)[0]
    return run.returncode, printed


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "run"
    plan = EvaluationPlan(sessions="ward", agents=("waiting:Slow",), limit=LIMIT)
    evaluate(plan, out, How(in_flight=LIMIT))
    return out


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("how", "options"), [(signal.SIGKILL, ()), (signal.SIGINT, ("--workers", "2"))], ids=["killed", "stopped"]
)
def test_resume_loses_and_repeats_nothing(
    how: signal.Signals, options: tuple[str, ...], whole: Path, tmp_path: Path
) -> None:
    out, log = tmp_path / "run", tmp_path / "log"
    code, printed = stop(command(out, log, *options), out, how)
    assert code == (-signal.SIGKILL if how == signal.SIGKILL else 130), printed
    assert (how == signal.SIGKILL) or "--resume" in printed
    before = {
        record["key"] for part in (out / "parts").glob("*.jsonl") for record in read_records(part, torn_tail=True)
    }
    assert 4 <= len(before) < LIMIT
    begun = Counter(log.read_text().split())

    again = command(out, log, "--resume")
    printed = again.communicate(timeout=120)[0]
    assert again.returncode == 0, printed
    assert (out / "trajectories.jsonl").read_bytes() == (whole / "trajectories.jsonl").read_bytes()
    keys = Counter(record["key"] for part in (out / "parts").glob("*.jsonl") for record in read_records(part))
    assert len(keys) == LIMIT
    assert set(keys.values()) == {1}
    # what was recorded is never begun again: only those in flight when it ended, at most 3 (or 2 × 4), are
    repeated = Counter(log.read_text().split()) - begun
    assert sum(repeated.values()) == LIMIT - len(before)


def test_retry_plays_again_what_the_endpoint_failed(tmp_path: Path) -> None:
    plan = EvaluationPlan(sessions="ward", agents=("waiting:Raising",), limit=16)
    with pytest.raises(UsageError, match="resume"):
        evaluate(plan, tmp_path / "run", How(retry=True))
    first = evaluate(plan, tmp_path / "run")
    outcomes = first["results"][0]["outcomes"]
    assert outcomes["endpoint_error"]
    assert outcomes["agent_error"]
    played: list[int] = []
    how = How(resume=True, retry=True, progress=lambda done, _: played.append(done))
    again = evaluate(plan, tmp_path / "run", how)
    assert len(played) == outcomes["endpoint_error"]
    assert again["trajectory_hash"] == first["trajectory_hash"]
    assert [error["outcome"] for error in first["errors"]] == ["agent_error", "endpoint_error"]


def test_what_was_used_is_summed_in_the_tables(tmp_path: Path) -> None:
    plan = EvaluationPlan(sessions="ward", agents=("waiting:Slow", "silent"), limit=5, trials=2)
    report = evaluate(plan, tmp_path / "run", How(in_flight=10))
    silent, slow = report["results"]
    assert silent["usage"] is None
    records = [one for one in read_records(tmp_path / "run/trajectories.jsonl") if one["agent"] == "waiting:Slow"]
    assert slow["usage"]["requests"] == sum(one["usage"]["requests"] for one in records)
    assert slow["usage"]["cost"] == 1.0  # ten times 0.1, added exactly and rounded once
    assert slow["usage"]["models"] == {"m": 10}
    assert slow["usage"]["episodes"] == 10
    assert set(slow["pass_at_k"]) == set(slow["pass_hat_k"]) == {"1", "2"}
    assert orjson.loads((tmp_path / "run/manifest.json").read_bytes())["model"] is None


def test_repeated_trials_print_reliability_and_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    options = ["eval", "--sessions", "ward", "--agent", "oracle", "--agent", "waiting:Slow", "--limit", "2"]
    assert main([*options, "--trials", "3", "--out", str(tmp_path / "run")]) == 0
    printed = capsys.readouterr().out
    for column in ("pass@1", "pass@3", "pass^2", "pass^3"):
        assert column in printed
    assert "waiting:Slow, implicit, en used: requests 72, cost 0.6000" in printed


def test_usage_sums_what_it_can_and_counts_what_it_cannot() -> None:
    usage = Usage()
    usage.add({})
    assert usage.total() is None
    usage.add({"tokens": {"in": 3, "out": None}, "cost": 0.1, "dropped": ["seed"], "seed": 7})
    usage.add({"tokens": {"in": 4, "out": 2}, "cost": None, "dropped": ["seed", "temperature"], "seed": 8})
    usage.add({"tokens": "many", "cost": float("nan")})
    assert usage.total() == {
        "tokens": {"in": 7, "out": 2},
        "cost": 0.1,
        "dropped": {"seed": 2, "temperature": 1},
        "episodes": 3,
        "unknown": {"cost": 2, "tokens": 1, "tokens.out": 1},
    }


def test_a_torn_tail_is_cut_whatever_its_length(tmp_path: Path) -> None:
    path = tmp_path / "part.jsonl"
    for whole_lines, torn in ((b"", b"x" * 200_000), (b"a\nb\n", b"y" * 70_000), (b"a\n" * 50_000, b""), (b"", b"")):
        path.write_bytes(whole_lines + torn)
        _mend_tail(path)
        assert path.read_bytes() == whole_lines


def test_merging_takes_lines_as_they_are(whole: Path, tmp_path: Path) -> None:
    records = list(read_records(whole / "trajectories.jsonl"))
    folder = RunFolder(tmp_path, {})
    for number, record in enumerate(reversed(records)):
        folder.append(f"part{number % 3}", record)
    tasks = [
        Task(*(record[name] for name in ("agent", "session", "language", "phrasing", "trial", "seed")))
        for record in records
    ]
    assert folder.merge(tasks) == LIMIT
    assert (tmp_path / "trajectories.jsonl").read_bytes() == (whole / "trajectories.jsonl").read_bytes()

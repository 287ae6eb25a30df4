"""The command line: every command, its JSON keys, its exit codes, and runs that do not depend on the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.cli import main


def _json(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    code = main([*argv, "--json"])
    out = capsys.readouterr().out
    assert out.count("\n") == 1, "one object, one line"
    return code, orjson.loads(out)


def _run(*argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "wardround", *argv],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        encoding="utf-8",
    )


def test_demo_prints_the_table_and_where_the_trajectories_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "demo")
    assert main(["demo", "--out", out, "--limit", "3"]) == 0
    text = capsys.readouterr().out
    for word in ("oracle*", "baseline-no-memory", "stuffer", "blind*", "silent", "implicit", "trajectories.jsonl"):
        assert word in text
    code, report = _json(capsys, "demo", "--out", out, "--limit", "3")
    assert code == 0
    assert {(row["agent"], row["phrasing"]) for row in report["results"]} == {
        (agent, phrasing)
        for agent in ("oracle", "baseline", "baseline-no-memory", "stuffer", "blind", "silent")
        for phrasing in ("explicit", "implicit")
    }
    assert {row["mrs"] for row in report["results"] if row["agent"] == "oracle"} == {1.0}


def test_eval_rescore_and_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "run")
    code, report = _json(
        capsys,
        "eval",
        "--sessions",
        "ward",
        "--agent",
        "oracle",
        "--phrasing",
        "both",
        "--limit",
        "2",
        "--trials",
        "2",
        "--out",
        out,
    )
    assert code == 0
    assert [row["episodes"] for row in report["results"]] == [4, 4]
    assert main(["eval", "--sessions", "ward", "--agent", "oracle", "--limit", "2", "--out", out]) == 2
    assert "--resume" in capsys.readouterr().err
    code, again = _json(capsys, "rescore", out)
    assert code == 0
    assert again["trajectory_hash"] == report["trajectory_hash"]


def test_check_stats_generate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "made.jsonl")
    code, made = _json(capsys, "generate", "--charts", "ward", "--out", path, "--seed", "3", "--limit", "4")
    assert code == 0
    assert made["sessions"] == 4
    code, report = _json(capsys, "check", path, "--charts", "ward")
    assert (code, report["passed"], report["failures"]) == (0, 4, [])
    assert {"oracle", "silent", "echo", "refuser", "blind", "stuffer"} <= set(report["mrs"])
    code, stats = _json(capsys, "stats", path)
    assert stats["sessions"] == 4
    assert {"by_scenario_tier", "by_task_turn", "by_implicitness_turn", "tool_by_scenario", "set_hash"} <= set(stats)


def test_a_set_that_fails_its_check_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from wardround import load_sessions
    from wardround.sessions import session_line

    data = orjson.loads(session_line(load_sessions("ward").sessions[0]))
    data["chart"]["hash"] = "0" * 32
    path = tmp_path / "moved.jsonl"
    path.write_bytes(orjson.dumps(data))
    code, report = _json(capsys, "check", str(path), "--charts", "ward")
    assert code == 1
    assert report["failures"][0]["rule"] == "chart_hash"


def test_inspect_and_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    code, data = _json(capsys, "inspect", "ward")
    assert code == 0
    assert data["patients"] == 12
    code, data = _json(capsys, "doctor")
    assert code == 0
    assert data["ward"]["patients"] == 12


def test_grade_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = {"kind": "value", "concept": "creatinine", "value": 1.2, "unit": "mg/dL"}
    rows = [
        {"id": "r1", "language": "en", "check": check, "answer": "Creatinine is 1.2 mg/dL.", "passes": True},
        {"id": "r2", "language": "en", "check": check, "answer": "Creatinine is 2.1 mg/dL.", "passes": True},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    code, report = _json(capsys, "grade", "--rows", str(path))
    assert (code, report["rows"], report["right"], report["wrong"]) == (1, 2, 1, ["r2"])


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["check", "nothing.jsonl"], "nothing.jsonl"),
        (["inspect", "nothing.sqlite"], "nothing.sqlite"),
        (["eval", "--sessions", "ward", "--agent", "orcale", "--out", "OUT"], "did you mean `oracle`"),
        (
            ["eval", "--sessions", "ward", "--agent", "oracle", "--language", "zh", "--limit", "0", "--out", "OUT"],
            "positive whole number",
        ),
        (["import", "mimic", "EMPTY", "--out", "OUT/x.sqlite"], "EMPTY"),
        (["no-such-command"], "no-such-command"),
    ],
)
def test_usage_errors_are_exit_code_2_with_a_message(tmp_path: Path, argv: list[str], words: str) -> None:
    (tmp_path / "empty").mkdir()
    filled = [a.replace("EMPTY", str(tmp_path / "empty")).replace("OUT", str(tmp_path)) for a in argv]
    done = _run(*filled)
    assert done.returncode == 2
    assert words.replace("EMPTY", str(tmp_path / "empty")) in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*.sqlite*"))


def test_generate_and_eval_do_not_depend_on_the_machine(tmp_path: Path) -> None:
    outputs = []
    for number, environment in enumerate(
        (
            {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"},
            {"PYTHONHASHSEED": "4242", "TZ": "Asia/Shanghai", "LC_ALL": "C.UTF-8"},
        )
    ):
        here = tmp_path / str(number)
        here.mkdir()
        done = _run(
            "generate", "--charts", "ward", "--out", str(here / "s.jsonl"), "--seed", "7", "--limit", "5", **environment
        )
        assert done.returncode == 0, done.stderr
        done = _run(
            "eval",
            "--sessions",
            str(here / "s.jsonl"),
            "--charts",
            "ward",
            "--agent",
            "oracle",
            "--agent",
            "random",
            "--phrasing",
            "both",
            "--workers",
            str(number + 1),
            "--out",
            str(here / "run"),
            **environment,
        )
        assert done.returncode == 0, done.stderr
        outputs.append(((here / "s.jsonl").read_bytes(), (here / "run/trajectories.jsonl").read_bytes()))
    assert outputs[0] == outputs[1]


def test_a_set_of_ones_own_wants_its_charts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "s.jsonl")
    assert main(["generate", "--charts", "ward", "--out", path, "--limit", "1"]) == 0
    capsys.readouterr()
    assert main(["check", path]) == 2
    assert "--charts" in capsys.readouterr().err
    assert main(["eval", "--sessions", path, "--agent", "oracle", "--out", str(tmp_path / "run")]) == 2
    assert "--charts" in capsys.readouterr().err


def test_help_names_every_command() -> None:
    done = _run("--help")
    assert done.returncode == 0
    for command in ("demo", "import", "generate", "check", "stats", "eval", "rescore", "grade", "inspect", "doctor"):
        assert command in done.stdout


def test_an_agent_that_fails_is_said_to_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from wardround.agents.scripted import Silent

    def fail(self: Silent, view: object) -> None:
        raise ValueError("boom")

    monkeypatch.setattr(Silent, "act", fail)
    argv = ["eval", "--sessions", "ward", "--agent", "silent", "--limit", "2", "--out", str(tmp_path / "run")]
    assert main(argv) == 1
    assert "2 episodes of silent ended in agent_error; the first, silent/" in (out := capsys.readouterr().out)
    assert "ValueError: boom" in out

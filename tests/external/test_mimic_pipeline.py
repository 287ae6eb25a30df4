"""The whole MIMIC-IV demo: import, generate, check, eval, twice under other settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.external


def _json(*argv: str, **environment: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "wardround", *argv, "--json"],
        capture_output=True, text=True, check=False, env={**os.environ, **environment}, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    return dict(json.loads(done.stdout))


def test_forty_sessions_and_the_same_bytes_everywhere(mimic_demo: Path, tmp_path: Path) -> None:
    seen = []
    for number, environment in enumerate(
        (
            {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"},
            {"PYTHONHASHSEED": "77", "TZ": "America/New_York", "LC_ALL": "C.UTF-8"},
        )
    ):
        here = tmp_path / str(number)
        here.mkdir()
        charts, sessions = str(here / "charts.sqlite"), str(here / "sessions.jsonl")
        report = _json("import", "mimic", str(mimic_demo), "--licence", "ODbL-1.0", "--out", charts,
                       "--threads", str(number + 1), **environment)  # fmt: skip
        assert (report["patients"], report["invalid"]) == (74, 0)
        for table in report["tables"]:
            assert table["read"] == table["kept"] + sum(refusal["count"] for refusal in table["refused"])
        made = _json("generate", "--charts", charts, "--out", sessions, "--seed", "11", **environment)
        assert made["sessions"] >= 40
        checked = _json("check", sessions, "--charts", charts, **environment)
        assert checked["passed"] == checked["sessions"] == made["sessions"]
        assert checked["mrs"]["blind"] <= 0.15
        assert checked["mrs"]["stuffer"] <= 0.10
        played = ("--sessions", sessions, "--charts", charts, "--agent", "oracle", "--agent", "random")
        where = ("--phrasing", "both", "--workers", str(number + 1), "--out", str(here / "run"))
        run = _json("eval", *played, *where, **environment)
        seen.append(
            (
                report["store_hash"],
                Path(sessions).read_bytes(),
                run["trajectory_hash"],
                (here / "run/trajectories.jsonl").read_bytes(),
            )
        )
    assert seen[0] == seen[1]

"""Runs and episodes do not mix: one process at a time writes a run's folder, copies share nothing."""

from __future__ import annotations

import copy
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from wardround.agents import EvaluationPlan, evaluate
from wardround.agents.folder_lock import LOCK
from wardround.envs import Episode
from wardround.patients import UsageError, load_charts
from wardround.sessions import load_sessions

_HOLD = """
import sys
from pathlib import Path
from wardround.agents.folder_lock import FolderLock
with FolderLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no record locks on Windows")
def test_two_runs_never_write_one_folder(tmp_path: Path) -> None:
    plan = EvaluationPlan(sessions="ward", agents=["silent"], limit=1)
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(UsageError, match="another process is writing"):
            evaluate(plan, tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == [LOCK]
        os.kill(other.pid, signal.SIGKILL)
    assert evaluate(plan, tmp_path)["results"][0]["episodes"] == 1  # a killed run keeps nobody out


def test_a_copy_of_an_episode_shares_nothing() -> None:
    session = load_sessions("ward").get("s-ward-session-a")
    episode = Episode(session, load_charts("ward").chart(session.chart.patient))
    before = episode.trajectory_hash
    for twin in (copy.copy(episode), copy.deepcopy(episode), episode.fork()):
        twin.call("Patient.read", {"subject_id": "ward-01"})
        twin.call("Flag.create", {"subject_id": "ward-01", "category": "safety", "code": "falls", "detail": "x"})
        twin.answer("Potassium 4.6 mEq/L")
        assert episode.trajectory_hash == before

"""Agents of other people that do what no agent should: their episode ends, never the run."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.agents import Answer, EvaluationPlan, How, Invalid, clear_run, evaluate
from wardround.agents.folder_lock import FolderLock
from wardround.agents.registry import AgentSpec, find_agent
from wardround.agents.rollout import Worker
from wardround.agents.tasks import make_tasks
from wardround.agents.usage import Usage
from wardround.envs import EpisodeView
from wardround.patients import DataError, UsageError, WardroundError
from wardround.sessions import SessionSet


class Odd:
    """Acts as one of the tests wants."""

    name, sees_gold = "odd", False

    def act(self, view: EpisodeView) -> Any:
        return Answer("x")


class Mute(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise RuntimeError("not even that")


def ends_it_all(view: EpisodeView) -> Answer:
    while not view.done:
        view.answer("x")
    return Answer("x")


def raising(fault: BaseException) -> Any:
    def act(*_: object) -> None:
        raise fault

    return act


async def cancels(self: Odd, view: EpisodeView) -> None:
    raise asyncio.CancelledError


def record_of(worker: Worker, **methods: Any) -> dict[str, Any]:
    """Return the record of an episode played by an agent with these methods."""
    own = Worker(worker.setting, worker.store, worker.sessions)
    own._agents["odd"] = AgentSpec("odd", False, lambda seed: type("Agent", (Odd,), methods)())
    return own.run(make_tasks(["odd"], [own.sessions.sessions[0].id])[0])


@pytest.mark.parametrize(
    ("methods", "told"),
    [
        ({"act": raising(SystemExit(0))}, "SystemExit"),
        ({"act": raising(asyncio.CancelledError())}, "CancelledError"),
        ({"decide": cancels}, "CancelledError"),
        ({"act": raising(Mute())}, "Mute"),
        ({"act": lambda self, view: Answer(None)}, "`text` is NoneType"),  # type: ignore[arg-type]
        ({"act": lambda self, view: Invalid("x", 5)}, "`remedy` is int"),  # type: ignore[arg-type]
        ({"act": lambda self, view: ends_it_all(view)}, "view.answer"),
        ({"sees_gold": None}, "sees_gold"),
    ],
)
def test_an_agents_fault_ends_its_episode_alone(worker: Worker, methods: dict[str, Any], told: str) -> None:
    record = record_of(worker, **methods)
    assert record["outcome"] == "agent_error"
    assert told in record["error"]


def test_usage_that_cannot_be_had_is_told(worker: Worker) -> None:
    record = record_of(worker, usage=property(raising(ValueError("boom"))))
    assert (record["outcome"], record["usage"]["fault"]) == ("completed", "`usage` is no plain JSON: ValueError: boom")


def test_sums_that_no_number_holds_do_not_end_a_run() -> None:
    usage = Usage()
    for _ in range(2):
        usage.add({"whole": (1 << 64) - 1, "part": 1e308, "small": 3})
    total = usage.total()
    assert total is not None
    assert (total["whole"], total["part"], total["small"]) == (float(2 * ((1 << 64) - 1)), None, 6)
    orjson.dumps(total)


def test_a_module_or_factory_that_raises_is_the_users(
    ward_sessions: SessionSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_module.py").write_text("1 / 0")
    (tmp_path / "broken_factory.py").write_text("def make(seed):\n    raise ValueError('no weights')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name, told in (
        ("broken_module:make", "ZeroDivisionError"),
        ("broken_factory:make", "no weights"),
        (":x", "module"),
    ):
        with pytest.raises(UsageError, match=told):
            find_agent(name, ward_sessions)


@pytest.mark.parametrize(
    "change",
    [
        {"agents": ("silent", "silent")},
        {"languages": ("en", "en")},
        {"limit": -45},
        {"trials": 0},
        {"only": ["s-ward-session-a", "no-such"]},
    ],
)
def test_a_plan_plays_what_it_names_and_once(change: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(WardroundError):
        evaluate(replace(EvaluationPlan("ward", agents=("silent",)), **change), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_records_are_not_resumed_without_the_manifest_that_says_whose_they_are(tmp_path: Path) -> None:
    plan, out = EvaluationPlan("ward", agents=("silent",), limit=1), tmp_path / "run"
    evaluate(plan, out)
    manifest, records = out / "manifest.json", out / "trajectories.jsonl"
    whole, line = manifest.read_bytes(), records.read_bytes()
    for body in (b"{torn", b"[]", None):
        manifest.unlink() if body is None else manifest.write_bytes(body)
        with pytest.raises(DataError, match=r"manifest\.json"):
            evaluate(plan, out, How(resume=True))
    with pytest.raises(UsageError, match="kept"):
        clear_run(out, ["silent"])
    manifest.write_bytes(whole)
    part = out / "parts" / "serial.jsonl"
    assert part.read_bytes() == line
    part.write_bytes(line.replace(b'"trial":0', b'"trial":"0"'))
    with pytest.raises(DataError, match=r"serial\.jsonl:1: `trial`"):
        evaluate(plan, out, How(resume=True))


@pytest.mark.skipif(os.name == "nt", reason="no record locks on Windows")
def test_the_files_of_a_run_in_progress_are_not_cleared(tmp_path: Path) -> None:
    evaluate(EvaluationPlan("ward", agents=("silent",), limit=1), tmp_path)
    told = "import sys, pathlib; from wardround.agents import *; clear_run(pathlib.Path(sys.argv[1]), ['silent'])"
    with FolderLock(tmp_path):
        other = subprocess.run([sys.executable, "-c", told, str(tmp_path)], capture_output=True, text=True)
    assert "another process is writing" in other.stderr
    assert (tmp_path / "trajectories.jsonl").exists()

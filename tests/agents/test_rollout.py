"""Serial, interleaved, in processes and on Ray: the same trajectories."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from wardround.agents import EvaluationPlan, How, Setting, Task, Worker, advance, evaluate, make_tasks, ray_rollout
from wardround.agents.rollout import run_processes, run_serial
from wardround.patients import DataError

AGENTS = ("oracle", "random", "stuffer")


@pytest.fixture(scope="module")
def tasks(worker: Worker) -> list[Task]:
    ids = [session.id for session in worker.sessions]
    made = make_tasks(AGENTS, ids, phrasings=("explicit", "implicit"), trials=2)
    assert len(made) >= 64
    return made[:64] if len(made) < 200 else made[:: len(made) // 64][:64]


@pytest.fixture(scope="module")
def serial(worker: Worker, tasks: list[Task]) -> dict[str, str]:
    return {record["key"]: record["trajectory_hash"] for record in run_serial(worker, tasks)}


def test_tasks_have_one_order_and_unique_keys(tasks: list[Task]) -> None:
    assert tasks == sorted(tasks)
    assert len({task.key for task in tasks}) == len(tasks) == 64


def test_64_interleaved_episodes(worker: Worker, tasks: list[Task], serial: dict[str, str]) -> None:
    playing = []
    for task in tasks:
        episode, agent = worker.episode(task), worker.agent(task)
        playing.append((task, episode, agent, episode if agent.sees_gold else episode.view()))
    while any(not episode.done for _, episode, _, _ in playing):
        for _, episode, agent, seen in playing:
            if not episode.done:
                advance(episode, agent, seen)
    assert {task.key: episode.trajectory_hash for task, episode, _, _ in playing} == serial


def test_two_processes(setting: Setting, tasks: list[Task], serial: dict[str, str]) -> None:
    assert {r["key"]: r["trajectory_hash"] for r in run_processes(setting, tasks, 2)} == serial


def test_a_changed_file_is_noticed_at_the_start(setting: Setting) -> None:
    changed = Setting(setting.charts, setting.sessions, "0" * 32, setting.set_hash)
    with pytest.raises(DataError, match="charts hash"):
        Worker(changed)


@pytest.fixture(scope="module")
def ray_local(tmp_path_factory: pytest.TempPathFactory) -> object:
    ray = pytest.importorskip("ray")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        configure_logging=False,
        _temp_dir=str(tmp_path_factory.mktemp("r")),
    )
    yield ray
    ray.shutdown()


@pytest.mark.filterwarnings("ignore")
def test_two_ray_actors(setting: Setting, tasks: list[Task], serial: dict[str, str], ray_local: object) -> None:
    got = {r["key"]: r["trajectory_hash"] for r in ray_rollout.run(setting, tasks, actors=2)}
    assert got == serial


@pytest.mark.filterwarnings("ignore")
def test_a_killed_ray_actor_changes_nothing(setting: Setting, worker: Worker, ray_local: object) -> None:
    import ray

    ids = [session.id for session in worker.sessions]
    many = make_tasks(("stuffer",), ids, phrasings=("explicit", "implicit"), trials=4)
    killed = threading.Event()
    got: dict[str, str] = {}
    for number, record in enumerate(ray_rollout.run(setting, many, actors=2, in_flight=4, name="victim")):
        assert record["key"] not in got
        got[record["key"]] = record["trajectory_hash"]
        if number == 5:
            ray.kill(ray.get_actor("victim-0"))
            killed.set()
    assert killed.is_set()
    assert got == {r["key"]: r["trajectory_hash"] for r in run_serial(worker, many)}


def test_evaluate_gives_the_same_files_whatever_the_workers(tmp_path: Path) -> None:
    plan = EvaluationPlan(sessions="ward", agents=("oracle", "silent"), phrasings=("explicit", "implicit"), limit=6)
    reports = {}
    for workers in (1, 2):
        out = tmp_path / f"w{workers}"
        reports[workers] = evaluate(plan, out, How(workers=workers))
    merged = [(tmp_path / f"w{workers}" / "trajectories.jsonl").read_bytes() for workers in (1, 2)]
    assert merged[0] == merged[1]
    assert reports[1]["trajectory_hash"] == reports[2]["trajectory_hash"]
    assert (tmp_path / "w1/manifest.json").read_bytes() == (tmp_path / "w2/manifest.json").read_bytes()


def test_progress_is_told(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    plan = EvaluationPlan(sessions="ward", agents=("silent",), limit=3)
    evaluate(plan, tmp_path / "run", How(progress=lambda done, total: seen.append((done, total))))
    assert seen == [(1, 3), (2, 3), (3, 3)]

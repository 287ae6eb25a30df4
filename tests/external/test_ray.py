"""Ray, at length: killed actors, episodes that kill, a thousand in flight, and what Ray may cost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wardround import load_charts, load_sessions
from wardround.agents import EvaluationPlan, How, Setting, Worker, evaluate, make_tasks, ray_rollout
from wardround.agents.runners import run_asyncio, run_serial

pytestmark = [pytest.mark.external, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def worker() -> Worker:
    sessions, store = load_sessions("ward"), load_charts("ward")
    return Worker(Setting(str(store.path), "ward", store.hash, sessions.hash), store, sessions)


@pytest.fixture(scope="module")
def ray_local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    died = tmp_path_factory.mktemp("died") / "once"
    helpers = str(Path(__file__).resolve().parents[1] / "helpers")
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        configure_logging=False,
        runtime_env={"env_vars": {"WAITING_DIED": str(died), "PYTHONPATH": helpers}},
    )
    yield died
    ray.shutdown()


def test_two_actors_play_as_one_process_does(worker: Worker, ray_local: Path) -> None:
    ids = [session.id for session in worker.sessions]
    tasks = make_tasks(("oracle", "random", "stuffer"), ids[:12], phrasings=("explicit", "implicit"))
    got = {r["key"]: r for r in ray_rollout.run(worker.setting, tasks, actors=2)}
    assert got == {r["key"]: r for r in run_serial(worker, tasks)}


def test_a_killed_actor_changes_nothing(worker: Worker, ray_local: Path) -> None:
    import ray

    tasks = make_tasks(("stuffer",), [session.id for session in worker.sessions], phrasings=("explicit", "implicit"))
    got: dict[str, Any] = {}
    for number, record in enumerate(ray_rollout.run(worker.setting, tasks, actors=2, in_flight=4, name="victim")):
        assert record["key"] not in got
        got[record["key"]] = record
        if number == 5:
            ray.kill(ray.get_actor("victim-0"))
    assert got == {r["key"]: r for r in run_serial(worker, tasks)}


def test_an_episode_that_kills_its_actor_is_played_again(
    worker: Worker, ray_local: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = make_tasks(("waiting:Deadly",), [session.id for session in worker.sessions])
    got = list(ray_rollout.run(worker.setting, tasks, actors=2, in_flight=8))
    assert ray_local.exists()
    assert sorted(r["key"] for r in got) == [task.key for task in tasks]
    monkeypatch.setenv("WAITING_DIED", str(ray_local))
    alone = {r["key"]: r["trajectory_hash"] for r in run_asyncio(worker, tasks)}
    assert {r["key"]: r["trajectory_hash"] for r in got} == alone


def test_an_episode_that_always_kills_is_recorded_and_the_others_are_played(
    worker: Worker, ray_local: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = make_tasks(("waiting:Killer", "silent"), [session.id for session in worker.sessions][:8])
    got = {r["key"]: r for r in ray_rollout.run(worker.setting, tasks, actors=2, in_flight=4)}
    assert set(got) == {task.key for task in tasks}
    killers = [r for r in got.values() if r["outcome"] == "environment_error"]
    assert len(killers) == 1
    assert "died or hung 5 times" in killers[0]["error"]
    assert {r["outcome"] for r in got.values() if r is not killers[0]} == {"completed", "truncated"}


def test_a_thousand_episodes_wait_at_once_in_one_actor(worker: Worker, ray_local: Path, tmp_path: Path) -> None:
    plan = EvaluationPlan(sessions="ward", agents=("waiting:Waiting",), trials=22)  # 1,034 episodes
    ray = evaluate(plan, tmp_path / "ray", How(ray="local", actors=1, in_flight=1000))
    here = evaluate(plan, tmp_path / "here", How(in_flight=1000))
    assert ray["trajectory_hash"] == here["trajectory_hash"]
    assert ray["results"][0]["outcomes"] == {"completed": 1034}

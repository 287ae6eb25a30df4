"""Serial, interleaved, in one event loop and in processes: the same trajectories, and every ending has a name."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from waiting import Waiting

from wardround.agents import EvaluationPlan, How, Setting, Task, Worker, advance, evaluate, make_tasks, rollout
from wardround.agents.llm import ModelPlan
from wardround.agents.requeue import MOST_TRIES, Requeue
from wardround.agents.runners import run_asyncio, run_processes, run_serial
from wardround.envs import Episode
from wardround.patients import BusyError, ChartStore, DataError, UsageError, load_charts
from wardround.sessions import SessionSet

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


def of(agent: str, worker: Worker, count: int) -> list[Task]:
    return make_tasks((agent,), [session.id for session in worker.sessions][:count])


def test_agents_that_wait_overlap_and_play_as_plain_ones_do(worker: Worker) -> None:
    Waiting.most = 0
    waiting = {r["session"]: r for r in run_asyncio(worker, of("waiting:Waiting", worker, 24), in_flight=8)}
    assert len(waiting) == 24
    assert Waiting.most == 8  # as many as allowed, and never more
    assert Waiting.now == 0
    plain = {r["session"]: r for r in run_serial(worker, of("waiting:Plain", worker, 24))}
    for session, one in waiting.items():
        assert one["trajectory"] == plain[session]["trajectory"]
        assert one["trajectory_hash"] == plain[session]["trajectory_hash"]  # usage is no part of it
        assert (one["outcome"], one["usage"]["cost"], plain[session]["usage"]) == ("completed", 0.1, {})
        assert one["usage"]["requests"] == one["trajectory"]["events"][-1]["turn"] * 3 + 3


def test_a_slow_episode_blocks_no_other(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on only once all others are recorded: were anything waiting for it, this would never end."""
    others_done = asyncio.Event()
    tasks = of("waiting:Waiting", worker, 12)
    slow = worker.agent(tasks[0]).seed  # type: ignore[union-attr]

    async def pause(self: Waiting) -> None:
        if self.seed == slow:
            await asyncio.wait_for(others_done.wait(), 60)

    monkeypatch.setattr(Waiting, "pause", pause)
    finished = []
    for record in run_asyncio(worker, tasks, in_flight=2):
        finished.append(record["session"])
        if len(finished) == len(tasks) - 1:
            others_done.set()
    assert finished[-1] == tasks[0].session
    assert sorted(finished) == sorted(task.session for task in tasks)


def test_every_episode_ends_in_a_named_outcome(worker: Worker) -> None:
    tasks = of("waiting:Raising", worker, 24)
    kinds = {task.session: worker.agent(task).seed % 4 for task in tasks}  # type: ignore[union-attr]
    assert set(kinds.values()) == {0, 1, 2, 3}
    for record in run_asyncio(worker, tasks):
        kind = kinds[record["session"]]
        assert record["outcome"] == ("endpoint_error", "agent_error", "agent_error", "truncated")[kind]
        assert record["trajectory"]["events"][1]["tool"] == "Patient.read"  # what was done before is kept
        assert 0.0 <= record["score"] <= 1.0
        if kind == 0:
            assert record["error"] == "the endpoint said 503 five times"
        elif kind == 1:
            assert record["error"].startswith("ValueError: a fault of my own")
            orjson.dumps(record)
        elif kind == 2:
            assert "returned str" in record["error"]
        else:
            assert record["error"] == ""
            assert any(event["event"] == "mistake" for event in record["trajectory"]["events"])


def test_an_agent_that_waits_too_long_is_an_endpoint_error(
    worker: Worker, ward: ChartStore, ward_sessions: SessionSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = Worker(replace(worker.setting, model=ModelPlan(episode_deadline=0.05)), ward, ward_sessions)

    async def pause(self: Waiting) -> None:
        await asyncio.sleep(0 if self.acted < 2 else 3600)

    monkeypatch.setattr(Waiting, "pause", pause)
    (record,) = run_asyncio(impatient, of("waiting:Waiting", worker, 1))
    assert record["outcome"] == "endpoint_error"
    assert record["error"] == "the agent waited longer than 0.05 s in this episode"
    assert sum(event["event"] == "call" for event in record["trajectory"]["events"]) == 2


def test_a_fault_of_this_library_is_not_the_agents(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("disk gone")

    monkeypatch.setattr(Episode, "answer", broken)
    for record in (worker.run(of("silent", worker, 1)[0]), *run_asyncio(worker, of("waiting:Waiting", worker, 1))):
        assert (record["outcome"], record["error"]) == ("environment_error", "RuntimeError: disk gone")


def test_a_loop_that_runs_already_is_said(worker: Worker) -> None:
    async def notebook() -> None:
        list(run_asyncio(worker, of("waiting:Waiting", worker, 1)))

    with pytest.raises(UsageError, match="notebook"):
        asyncio.run(notebook())


def test_charts_that_another_process_makes_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a node that is new, several actors open a built-in set at once; one makes it."""
    tries: list[str] = []

    def load(name: str) -> object:
        tries.append(name)
        if len(tries) < 3:
            raise BusyError("another process is writing `x`")
        return load_charts(name)

    monkeypatch.setattr(rollout, "load_charts", load)
    monkeypatch.setattr(rollout.time, "sleep", lambda _: None)
    rollout.open_charts("ward").close()
    assert tries == ["ward"] * 3
    tries.clear()
    monkeypatch.setattr(rollout, "_LONGEST_MAKING", -1.0)
    with pytest.raises(BusyError):
        rollout.open_charts("ward")


def test_processes_share_what_is_in_flight_and_outlive_one_that_dies(
    setting: Setting, worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAITING_DIED", str(tmp_path / "died"))
    tasks = of("waiting:Deadly", worker, 40)
    records = list(run_processes(setting, tasks, 2, in_flight=12))
    assert (tmp_path / "died").exists()
    assert sorted(r["key"] for r in records) == sorted(task.key for task in tasks)  # none lost, none twice
    assert {r["outcome"] for r in records} == {"completed"}
    assert {r["trajectory_hash"] for r in records} == {
        r["trajectory_hash"]
        for r in run_asyncio(worker, tasks)  # the file is there: none dies here
    }
    assert max(r["usage"]["most"] for r in records) == 6  # each process has half of them in flight


def test_what_keeps_a_process_from_playing_is_raised(setting: Setting, worker: Worker) -> None:
    changed = replace(setting, store_hash="0" * 32)
    with pytest.raises(DataError, match="charts hash"):
        list(run_processes(changed, of("silent", worker, 2), 1))


def test_what_kills_its_worker_is_played_alone_and_then_given_up() -> None:
    tasks = [Task("a", f"s{number}", "en", "implicit", 0, 0) for number in range(6)]
    killer = tasks[2]
    queue, done, deaths = Requeue(tasks), [], 0
    while queue:
        playing: list[Task] = []
        while (task := queue.next(playing, 4)) is not None:
            playing.append(task)
        if killer not in playing:
            done += playing
            continue
        deaths += 1
        if deaths > 2:
            assert playing == [killer]
        kept = [queue.lost(task) for task in playing]
        if not all(kept):
            break
    assert deaths == MOST_TRIES
    assert sorted(done) == [task for task in tasks if task != killer]


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

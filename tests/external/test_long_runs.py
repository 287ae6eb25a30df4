"""Long runs in one process: memory stays flat, a thousand live episodes are light."""

from __future__ import annotations

import gc
import resource
import sys
import tracemalloc
from pathlib import Path

import pytest
from waiting import Held

from wardround import load_charts, load_sessions
from wardround.agents import EvaluationPlan, Setting, Worker, evaluate, find_agent, make_tasks, play
from wardround.agents.runners import run_asyncio
from wardround.envs import Episode
from wardround.patients.tools import memory

pytestmark = pytest.mark.external


def peak() -> int:
    """Return the most memory this process has had, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def test_a_hundred_thousand_episodes_do_not_grow() -> None:
    """Short real ones: the gold calls of the first turn, a write on every third, then its answer."""
    sessions, store = load_sessions("ward"), load_charts("ward")
    charts = {session.id: store.chart(session.chart.patient) for session in sessions}
    flag = {"category": "safety", "code": "fall risk"}

    def rounds(numbers: range) -> int:
        for number in numbers:
            session = sessions.sessions[number % len(sessions)]
            gold = session.turns[0].gold
            assert gold is not None
            episode = Episode(session, charts[session.id])
            for call in gold.calls:
                episode.call(call.tool, call.arguments)
            if number % 3 == 0:  # in words never said before, so that nothing may keep them
                episode.call(
                    "Flag.create", {"subject_id": session.chart.patient, "detail": f"fell {number} times", **flag}
                )
                episode.call(
                    "MedicationRequest.search", {"subject_id": session.chart.patient, "medication": f"no. {number}"}
                )
            episode.answer(gold.answers[0].get("en"))
        gc.collect()
        return peak()

    warm = rounds(range(30_000))
    after = rounds(range(30_000, 100_000))
    assert after - warm < 4 * 2**20, f"{(after - warm) / 2**20:.1f} MiB more after 70,000 episodes"


def test_whole_episodes_in_ever_new_words_do_not_grow() -> None:
    """Whole episodes of a policy that says and asks something else every time fill only bounded memories."""
    sessions, store = load_sessions("ward"), load_charts("ward")
    charts = {session.id: store.chart(session.chart.patient) for session in sessions}
    policy = find_agent("random", sessions)

    def rounds(numbers: range) -> int:
        for number in numbers:
            session = sessions.sessions[number % len(sessions)]
            play(Episode(session, charts[session.id]), policy.factory(number))
        gc.collect()
        return peak()

    warm = rounds(range(2000))
    after = rounds(range(2000, 6000))
    assert after - warm < memory.MOST + 4 * 2**20, f"{(after - warm) / 2**20:.1f} MiB more after 4,000 episodes"


def test_a_live_episode_is_light() -> None:
    sessions, store = load_sessions("ward"), load_charts("ward")
    session = sessions.sessions[0]
    chart = store.chart(session.chart.patient)
    play(Episode(session, chart), find_agent("oracle", sessions).factory(0))  # fill the shared caches
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        live = []
        text = 0
        for _ in range(1000):
            episode = Episode(session, chart)
            for turn in session.turns[:2]:
                assert turn.gold is not None
                for call in turn.gold.calls:
                    episode.call(call.tool, call.arguments)
                episode.answer(turn.gold.answers[0].get("en"))
            live.append(episode)
            text += sum(len(message["content"]) for message in episode.messages)
        gc.collect()
        each = (tracemalloc.get_traced_memory()[0] - before - text) / len(live)
    finally:
        tracemalloc.stop()
    assert each < 32 * 1024, f"{each / 1024:.1f} KiB per live episode beyond its text"


def test_an_evaluation_of_ten_thousand_episodes_holds_no_records(tmp_path: Path) -> None:
    """What grows with a run is what its tables need of a turn, not the records, which are on disk."""
    small = EvaluationPlan(sessions="ward", agents=("silent",), trials=4, limit=40)
    evaluate(small, tmp_path / "small")
    warm = peak()
    large = EvaluationPlan(sessions="ward", agents=("silent",), trials=250, limit=40)
    report = evaluate(large, tmp_path / "large")
    gc.collect()
    assert report["results"][0]["episodes"] == 10_000
    written = (tmp_path / "large/trajectories.jsonl").stat().st_size
    grown = peak() - warm
    assert grown < written / 3, f"{grown / 2**20:.0f} MiB for {written / 2**20:.0f} MiB of records"


def test_a_thousand_episodes_in_flight_in_one_loop() -> None:
    """Their agents wait until all have begun and done two turns: all are live then, and light."""
    sessions, store = load_sessions("ward"), load_charts("ward")
    worker = Worker(Setting(str(store.path), "ward", store.hash, sessions.hash), store, sessions)
    tasks = make_tasks(("waiting:Held",), [session.id for session in sessions], trials=22)[:1000]
    list(run_asyncio(worker, make_tasks(("waiting:Plain",), [session.id for session in sessions])))  # fill caches
    Held.gather(len(tasks))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        Held.measure = lambda: tracemalloc.get_traced_memory()[0] - before
        outcomes = {record["outcome"] for record in run_asyncio(worker, tasks, in_flight=1000)}
    finally:
        tracemalloc.stop()
    assert outcomes == {"completed"}
    assert Held.most_live == 1000
    each = (Held.measured - Held.text) / 1000
    assert each < 32 * 1024, f"{each / 1024:.1f} KiB per episode in flight beyond its text"

"""Long runs in one process: memory stays flat, a thousand live episodes are light."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from wardround import load_charts, load_sessions
from wardround.agents import find_agent, play
from wardround.envs import Episode

pytestmark = pytest.mark.external


def test_ten_thousand_episodes_do_not_grow() -> None:
    sessions, store = load_sessions("ward"), load_charts("ward")
    charts = {session.id: store.chart(session.chart.patient) for session in sessions}
    oracle = find_agent("oracle", sessions)

    def rounds(count: int) -> int:
        for number in range(count):
            session = sessions.sessions[number % len(sessions)]
            play(Episode(session, charts[session.id]), oracle.factory(0))
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        warm = rounds(1000)
        after = rounds(9000)
    finally:
        tracemalloc.stop()
    assert after - warm < 4 * 2**20, f"{(after - warm) / 2**20:.1f} MiB more after 9,000 episodes"


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

"""MCP, by the official SDK's own client: in this process, over HTTP and over stdio."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import Listening, listening

from wardround.envs import Episode
from wardround.envs.server import LiveEpisode, serve_episodes
from wardround.envs.server.journal import Journal
from wardround.patients import ChartStore
from wardround.sessions import Session, load_sessions

mcp = pytest.importorskip("mcp", reason="needs the extra mcp")
httpx2 = pytest.importorskip("httpx2", reason="needs the extra mcp")


@pytest.fixture(scope="module")
def one() -> Session:
    return load_sessions("ward").sessions[0]


def _actions(session: Session) -> Iterator[tuple[str, dict[str, Any]]]:
    for turn in session.turns:
        for call in turn.gold.calls:
            yield call.tool.replace(".", "_"), dict(call.arguments)
        yield "prepare_to_answer", {"answer_type": "tool"}
        yield "answer", {"text": turn.gold.answers[0].en}


@pytest.fixture(scope="module")
def alone(one: Session, store: ChartStore) -> Episode:
    """The same round played without a door."""
    episode = Episode(one, store.chart(one.chart.patient))
    for tool, arguments in _actions(one):
        if tool == "answer":
            episode.answer(arguments["text"])
        else:
            episode.call(tool, arguments)
    return episode


async def _play(client: Any, session: Session, alone: Episode) -> None:
    """Play a round whole, as the reference was played."""
    listed = (await client.list_tools()).tools
    offered = {one["function"]["name"]: one["function"]["parameters"] for one in alone.tools}
    assert {one.name for one in listed} == {*offered, "answer", "round_state"}
    assert all(offered.get(one.name, one.input_schema) == one.input_schema for one in listed)
    state = (await client.call_tool("round_state", {})).structured_content
    assert state["subject"]["session_id"] == session.id and "gold" not in json.dumps(state)
    for tool, arguments in _actions(session):
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result


def _live(session: Session, store: ChartStore) -> tuple[LiveEpisode, Any]:
    """Return a fresh round and its MCP server, for a client in this process."""
    from wardround.envs.server.mcp_door import mcp_server

    async def work(job: Callable[[], Any]) -> Any:
        return job()

    live = LiveEpisode(Episode(session, store.chart(session.chart.patient)), Journal(None), "one")
    return live, mcp_server(live, "1", work)


def test_a_round_played_over_mcp_is_the_round_played_in_process(one: Session, store: ChartStore, alone: Episode):
    live, server = _live(one, store)

    async def play() -> None:
        async with mcp.Client(server) as client:
            await _play(client, one, alone)
            assert (await client.call_tool("answer", {"text": "more"})).is_error  # it is over

    asyncio.run(play())
    assert live.episode.done and live.episode.trajectory_hash == alone.trajectory_hash


def test_mistakes_are_results_and_an_answer_without_a_text_closes_nothing(one: Session, store: ChartStore):
    live, server = _live(one, store)

    async def play() -> None:
        async with mcp.Client(server) as client:
            for tool, arguments in (
                ("Observation_search", {"subject_id": "nobody"}),
                ("Observation_search", {"wrong": 10**40}),  # more than 64 bits
                ("nonsense", {}),
            ):
                assert (await client.call_tool(tool, arguments)).is_error
            for wrong in ({}, {"text": 7}, {"text": None}, {"text": "x", "more": 1}):
                result = await client.call_tool("answer", wrong)
                assert result.is_error and "text" in result.content[0].text
            long = "x" * (256 * 1024)
            for tool, arguments in (("answer", {"text": long}), ("Observation_search", {"subject_id": long})):
                assert "at most" in (await client.call_tool(tool, arguments)).content[0].text

    asyncio.run(play())
    assert live.episode.turn == 0 and len(live.episode.trajectory["events"]) == 4  # the query, and three mistakes


def test_over_http_tokens_hosts_and_limits_hold(one: Session, store: ChartStore, alone: Episode, tmp_path: Path):
    from mcp.client.streamable_http import streamable_http_client

    episode = Episode(one, store.chart(one.chart.patient))
    plan = Listening(port=0, roles=["agent", "pharmacist"], out=tmp_path)
    with listening(serve_episodes([episode], plan)) as server:
        url = f"{server.root}/sessions/{one.id}/mcp"
        bearers = {token.role: {"Authorization": f"Bearer {token.token}"} for token in server.tokens}

        async def play() -> None:
            ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            agent = {**bearers["agent"], "Accept": "application/json, text/event-stream"}
            async with httpx2.AsyncClient() as plain:
                for headers, status in (
                    ({}, 401),
                    ({"Host": "evil.example"}, 421),
                    ({**agent, "Origin": "http://evil.example"}, 403),
                ):
                    assert (await plain.post(url, json=ask, headers=headers)).status_code == status
                assert (await plain.post(url + "?" + "x" * 40_000, json=ask, headers=agent)).status_code == 414
                assert (await plain.get(url, headers=agent)).status_code == 405
            async with (
                httpx2.AsyncClient(headers=bearers["pharmacist"]) as http,
                mcp.Client(streamable_http_client(url, http_client=http)) as client,
            ):
                with pytest.raises(mcp.MCPError, match="may not see"):
                    await client.list_tools()
                refused = await client.call_tool("Observation_search", {"subject_id": one.chart.patient})
                assert refused.is_error and "may not see" in refused.content[0].text
            async with (
                httpx2.AsyncClient(headers=bearers["agent"]) as http,
                mcp.Client(streamable_http_client(url, http_client=http)) as client,
            ):
                await _play(client, one, alone)

        agent = {**bearers["agent"], "Content-Type": "application/json"}
        for length in (5 << 20, 300 * 1024):
            assert httpx.post(url, content=b" " * length, headers=agent).status_code == 413
        unknown = (b" " * (1 << 20) for _ in range(5))  # in pieces: nothing tells its length before
        assert httpx.post(url, content=unknown, headers=agent).status_code == 413
        asyncio.run(play())
        live = next(iter(server.places.rounds.values()))
        assert live.episode.trajectory_hash == alone.trajectory_hash
    events = [json.loads(line) for line in (tmp_path / "audit.ndjson").read_text().splitlines()]
    assert {"200", "401"} <= {one["outcomeDesc"] for one in events}


def test_over_stdio_the_command_serves_a_round(one: Session, alone: Episode, tmp_path: Path):
    command = ["-m", "wardround", "serve", "--sessions", "ward", "--session", one.id, "--mcp-stdio"]
    command += ["--out", str(tmp_path)]

    async def play() -> None:
        async with mcp.Client(mcp.StdioServerParameters(command=sys.executable, args=command)) as client:
            await _play(client, one, alone)

    asyncio.run(play())
    kept = json.loads((tmp_path / "trajectories" / f"{one.id}.json").read_text())
    assert kept == json.loads(json.dumps(alone.trajectory)) and kept["done"]

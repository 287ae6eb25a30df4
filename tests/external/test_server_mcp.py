"""MCP, by the official SDK's own client, over HTTP and over stdio. Needs an environment with `wardround[mcp]`.

WARDROUND_MCP_PYTHON names its interpreter:

    python3 -m venv ENV && ENV/bin/pip install -c constraints.txt -c constraints-mcp.txt -e '.[mcp]'
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.external

SCRIPT = """
import asyncio, json, sys
from contextlib import asynccontextmanager
import httpx2
from pathlib import Path
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from wardround.envs import Episode
from wardround.envs.server import Listening, serve_episodes
from wardround.patients import load_charts
from wardround.sessions import load_sessions
import threading, time

out = sys.argv[1]
session = load_sessions("ward").sessions[0]
store = load_charts("ward")

def actions():
    for turn in session.turns:
        for call in turn.gold.calls:
            yield call.tool.replace(".", "_"), dict(call.arguments)
        yield "prepare_to_answer", {"answer_type": "tool"}
        yield "answer", {"text": turn.gold.answers[0].en}

alone = Episode(session, store.chart(session.chart.patient))
for tool, arguments in actions():
    alone.answer(arguments["text"]) if tool == "answer" else alone.call(tool, arguments)

async def play(client):
    listed = (await client.list_tools()).tools
    offered = {one["function"]["name"]: one["function"]["parameters"] for one in alone.tools}
    assert {one.name for one in listed} == {*offered, "answer", "round_state"}, listed
    assert all(offered.get(one.name, one.input_schema) == one.input_schema for one in listed)
    state = (await client.call_tool("round_state", {})).structured_content
    assert state["subject"]["session_id"] == session.id and "gold" not in json.dumps(state)
    for tool, arguments in actions():
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result

async def over_http():
    episode = Episode(session, store.chart(session.chart.patient))
    plan = Listening(port=0, roles=["agent", "pharmacist"], out=Path(out) / "http")
    with serve_episodes([episode], plan) as server:
        thread = threading.Thread(target=server.run, daemon=True); thread.start()
        while not server.uvicorn.started: time.sleep(0.01)
        url = f"{server.root}/sessions/{session.id}/mcp"
        tokens = {one.role: one.token for one in server.tokens}
        async def opened(role, headers=None):
            return httpx2.AsyncClient(headers=headers or {"Authorization": f"Bearer {tokens[role]}"})
        ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        async with httpx2.AsyncClient() as plain:
            assert (await plain.post(url, json=ask)).status_code == 401
            assert (await plain.post(url, json=ask, headers={"Host": "evil.example"})).status_code == 421
        async with await opened("pharmacist") as http, Client(streamable_http_client(url, http_client=http)) as client:
            refused = await client.call_tool("Observation_search", {"subject_id": session.chart.patient})
            assert refused.is_error and "may not see" in refused.content[0].text
        async with await opened("agent") as http, Client(streamable_http_client(url, http_client=http)) as client:
            await play(client)
        live = next(iter(server.places.rounds.values()))
        assert live.episode.trajectory_hash == alone.trajectory_hash
        server.stop(); thread.join(20); assert not thread.is_alive()

async def over_stdio():
    arguments = ["-m", "wardround", "serve", "--sessions", "ward", "--session", session.id, "--mcp-stdio"]
    arguments += ["--out", out + "/stdio"]
    async with Client(StdioServerParameters(command=sys.executable, args=arguments)) as client:
        await play(client)
    kept = json.loads(open(f"{out}/stdio/trajectories/{session.id}.json").read())
    assert kept == json.loads(json.dumps(alone.trajectory)) and kept["done"]

asyncio.run(over_http()); asyncio.run(over_stdio()); print("played")
"""


def test_the_official_client_plays_a_round(tmp_path: Path) -> None:
    python = os.environ.get("WARDROUND_MCP_PYTHON")
    if python is None:
        pytest.skip("WARDROUND_MCP_PYTHON names no environment with wardround[mcp]")
    script = tmp_path / "play.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [python, str(script), str(tmp_path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout.strip()[-6:]) == (0, "played"), done.stderr[-3000:]
    assert json.loads((tmp_path / "http" / "audit.ndjson").read_text().splitlines()[-1])["outcomeDesc"] == "200"

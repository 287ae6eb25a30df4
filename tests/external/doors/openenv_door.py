"""A real OpenEnv server on loopback and its clients; run where openenv is installed."""

from __future__ import annotations

import asyncio
import threading
import time

import uvicorn
from door_actions import POLICIES, as_text, mistaken, reference
from openenv.core import GenericEnvClient

from wardround import load_sessions
from wardround.envs.adapters import Round
from wardround.envs.adapters.openenv import WardAction, WardClient, ward_app

SESSIONS = load_sessions("ward").sessions


def serially(address: str) -> None:
    """Play both policies through the typed client."""
    with WardClient(base_url=address).sync() as client:
        for session in SESSIONS[:3]:
            for policy, script in POLICIES.items():
                result = client.reset(task_id=session.id, seed=4)
                assert result.observation.prompt == Round(session.id).prompt("text")
                total = 0.0
                shown = []
                for action in script(session):
                    result = client.step(WardAction(text=as_text(action)))
                    total += result.reward or 0.0
                    shown.append(result.observation.model_dump_json())
                episode = reference(session, script(session))
                state = client.state()
                assert result.done
                assert result.metadata == {"truncated": False}
                assert (total, state.score, state.trajectory_hash) == (
                    episode.score, episode.score, episode.trajectory_hash,
                )  # fmt: skip
                assert not any(word in "".join(shown) for word in ("verdict", "rubric", episode.trajectory_hash))
                print(session.id, policy, total)
        try:
            client.reset(task_id="nobody")
        except RuntimeError as error:
            assert "no session `nobody`" in str(error)
        else:
            raise AssertionError("an unknown session was played")


async def at_once(address: str) -> None:
    """Play twelve rounds interleaved, each by a client of its own."""

    async def one(number: int) -> str:
        session = SESSIONS[number]
        async with GenericEnvClient(base_url=address) as client:
            await client.reset(task_id=session.id)
            for action in mistaken(session):
                await client.step({"text": as_text(action)})
            return str((await client.state())["trajectory_hash"])

    hashes = await asyncio.gather(*map(one, range(12)))
    assert hashes == [reference(session, mistaken(session)).trajectory_hash for session in SESSIONS[:12]]
    print("12 at once")


def main() -> None:
    """Serve and play."""
    config = uvicorn.Config(ward_app(max_concurrent_envs=16), host="127.0.0.1", port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    serially(address)
    asyncio.run(at_once(address))
    server.should_exit = True
    thread.join(20)


if __name__ == "__main__":
    main()

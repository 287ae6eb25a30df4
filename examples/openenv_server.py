"""OpenEnv: a server on this machine and a client of it; `--serve PORT` only serves, on loopback."""

from __future__ import annotations

import sys
import threading
import time

import openenv  # the extra `openenv`
import uvicorn

from wardround.envs.adapters.openenv import WardAction, WardClient, ward_app

app = ward_app(sessions="ward", max_concurrent_envs=64)


def started() -> tuple[uvicorn.Server, threading.Thread, str]:
    """Start the server in a thread, on a free port; return it, its thread and its address."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    return server, thread, f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"


def play(address: str) -> None:
    """Play one round from afar. `task_id` is the session's id: `session_id` is a name of OpenEnv's own."""
    with WardClient(base_url=address).sync() as client:
        result = client.reset(task_id="s-ward-session-a", seed=0)
        print(result.observation.text)
        print(len(result.observation.prompt[0]["content"]), "characters of rules and tools")
        while not result.done:
            client.step(WardAction(text='{"tool": "prepare_to_answer", "arguments": {"answer_type": "tool"}}'))
            result = client.step(WardAction(text="I could not find it in the chart."))
            print(f"reward {result.reward:.3f}:", result.observation.text)
        print(client.state().model_dump(exclude={"episode_id"}))


if sys.argv[1:2] == ["--serve"]:
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]))
else:
    print("openenv", openenv.__version__)
    running, beside, url = started()
    play(url)
    running.should_exit = True
    beside.join(10)

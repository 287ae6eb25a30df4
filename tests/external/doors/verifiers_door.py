"""`vf-eval` plays one session through the example project, the model being a scripted server on this machine.

Run where verifiers and the project are installed: `verifiers_door.py POLICY FOLDER`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from pathlib import Path
from typing import Any

from door_actions import POLICIES, as_text, reference

from wardround import load_sessions

PLACE = 1
SESSION = load_sessions("ward").sessions[PLACE]


def messages(policy: str) -> list[str]:
    """Return what the model says: one answer a message, or the calls of one tool that follow each other."""
    actions = POLICIES[policy](SESSION)
    return [
        "\n".join(map(as_text, group))
        for _, group in groupby(actions, key=lambda action: action[:2] if action[0] == "call" else action[1])
    ]


def written(body: dict[str, Any], text: str) -> bytes:
    """Return the reply to a request in the form it asks for: one object, or a stream of chunks."""
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    common = {"id": "c-1", "created": 0, "model": body["model"]}
    message = {"role": "assistant", "content": text}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return json.dumps({**common, "object": "chat.completion", "choices": [choice], "usage": usage}).encode()
    kind = {**common, "object": "chat.completion.chunk"}
    chunks = [
        {**kind, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**kind, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {**kind, "choices": [], "usage": usage},
    ]
    return "".join(f"data: {line}\n\n" for line in [*map(json.dumps, chunks), "[DONE]"]).encode()


def served(policy: str) -> ThreadingHTTPServer:
    """Return a server that says the next message: as many are said as the request has of the assistant's."""
    script = messages(policy)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = sum(message["role"] == "assistant" for message in body["messages"])
            seen.append(json.dumps(body["messages"], ensure_ascii=False))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if body.get("stream") else "application/json")
            self.end_headers()
            self.wfile.write(written(body, script[said]))

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


seen: list[str] = []


def main() -> None:
    """Run the evaluation and compare its trace with the episode."""
    policy, folder = sys.argv[1:3]
    server = served(policy)
    command = [
        "vf-eval", "wardround-v1", "-m", policy, "--no-push", "-o", folder, "--run.name", policy,
        "--select.include.idx", f'["{PLACE}:{PLACE + 1}"]', "--client.base-url",
        f"http://127.0.0.1:{server.server_port}/v1", "--client.api-key-var", "DOOR_NO_KEY",
    ]  # fmt: skip
    done = subprocess.run(
        command, env={**os.environ, "DOOR_NO_KEY": "none"}, capture_output=True, text=True, check=False, timeout=900
    )
    traces = sorted(Path(folder).rglob("traces.jsonl"))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert traces, done.stdout[-3000:] + done.stderr[-3000:]
    (line,) = traces[0].read_text(encoding="utf-8").splitlines()
    record = json.loads(line)
    trace = record["traces"][0] if "traces" in record else record
    episode = reference(SESSION, POLICIES[policy](SESSION))
    rewards = {name: (one["score"], one["weight"]) for name, one in trace["rewards"].items()}
    assert sum(score * weight for score, weight in rewards.values()) == episode.score, rewards
    assert [rewards[f"turn_{number}"][0] for number in (1, 2, 3, 4)] == [one.reward for one in episode.scores]
    assert trace["info"]["wardround"]["trajectory_hash"] == episode.trajectory_hash
    assert "trajectory_hash" not in "".join(seen)
    assert "verdict" not in "".join(seen)
    print(policy, "score", episode.score, "messages", len(messages(policy)))


if __name__ == "__main__":
    main()

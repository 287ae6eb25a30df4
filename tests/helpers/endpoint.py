"""A scripted OpenAI-compatible server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Endpoint:
    """Answers chat completions by a script: one step a request, the last step for all that follow."""

    def __init__(self) -> None:
        self.script: list[Callable[[BaseHTTPRequestHandler], None]] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.release = threading.Event()
        self._lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with endpoint._lock:
                    step = endpoint.script[min(len(endpoint.bodies), len(endpoint.script) - 1)]
                    endpoint.bodies.append(body)
                    endpoint.headers.append({k.lower(): v for k, v in self.headers.items()})
                step(self)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.base = f"http://127.0.0.1:{self.server.server_port}/v1"

    def close(self) -> None:
        self.release.set()
        self.server.shutdown()
        self.server.server_close()


def send(handler: BaseHTTPRequestHandler, status: int, body: str, **headers: str) -> None:
    data = body.encode()
    handler.send_response(status)
    for name, value in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


def status(code: int, body: str = "{}", **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    return lambda handler: send(handler, code, body, **headers)


def says(*texts: str) -> Callable[[BaseHTTPRequestHandler], None]:
    choices = [
        {"index": n, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        for n, text in enumerate(texts)
    ]
    reply = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}
    return lambda handler: send(handler, 200, json.dumps(reply))


def chat(
    content: Any = None, *calls: tuple[str, Any, str], finish: str = "stop", used: tuple[int, int] = (7, 3), **more: Any
) -> Callable[[BaseHTTPRequestHandler], None]:
    """Reply with a message: its content, native calls (id, name, arguments as text), and any other field."""
    listed = [{"id": id, "type": "function", "function": {"name": name, "arguments": raw}} for id, name, raw in calls]
    message = {"role": "assistant", "content": content, **({"tool_calls": listed} if listed else {}), **more}
    usage = {"prompt_tokens": used[0], "completion_tokens": used[1], "total_tokens": sum(used)}
    choices = [{"index": 0, "finish_reason": finish, "message": message}]
    reply = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": usage}
    return lambda handler: send(handler, 200, json.dumps(reply))


def error(code: int, message: str, /, **fields: Any) -> Callable[[BaseHTTPRequestHandler], None]:
    """Refuse as OpenAI does."""
    return status(code, json.dumps({"error": {"message": message, "type": "invalid_request_error", **fields}}))

"""A FHIR door in this process, and one that really listens, for the tests of the server."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from wardround.envs.server import Access, Listening, Records, Running, access_of, roles
from wardround.envs.server.door import Door
from wardround.envs.server.messages import Request

BASE = "http://127.0.0.1:1/fhir"
ALL = "system/*.cruds"


@dataclass(frozen=True)
class Answer:
    """A reply, its body read."""

    status: int
    headers: dict[str, str]
    text: bytes
    shown: list[str]

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def ids(self) -> list[str]:
        return [f"{one['resource']['resourceType']}/{one['resource']['id']}" for one in self.json.get("entry", ())]

    @property
    def code(self) -> str:
        return self.json["issue"][0]["code"]

    def link(self, relation: str) -> str | None:
        return next((one["url"] for one in self.json["link"] if one["relation"] == relation), None)


class Asking:
    """Asks a door as somebody."""

    def __init__(self, records: Records, access: Access | None = None) -> None:
        self.records = records
        self.door = Door(records)
        self.access = access or access_of("all", ALL, None)

    def as_role(self, role: str, patient: str | None = None) -> Asking:
        return self.with_scopes(roles()[role], patient, role)

    def with_scopes(self, scopes: str, patient: str | None = None, role: str = "scopes") -> Asking:
        other = Asking(self.records, access_of(role, scopes, patient))
        other.door = self.door
        return other

    def __call__(self, method: str, url: str, body: Any = None, **headers: str) -> Answer:
        path, _, query = url.removeprefix(f"{BASE}/").removeprefix(BASE).partition("?")
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        if isinstance(body, bytes | str):
            data = body.encode() if isinstance(body, str) else body
        else:
            data = b"" if body is None else json.dumps(body).encode()
        request = Request(method, path.strip("/"), query, told, data, BASE)
        reply, shown = self.door.handle(request, self.access)
        return Answer(reply.status, dict(reply.headers), reply.body, shown)

    def get(self, url: str, **headers: str) -> Answer:
        return self("GET", url, **headers)

    def post(self, url: str, body: Any, **headers: str) -> Answer:
        return self("POST", url, body, **headers)


@contextmanager
def listening(server: Running) -> Iterator[Running]:
    """Serve in a thread until the block ends."""
    with server:
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        stop = time.monotonic() + 60
        while not server.uvicorn.started:
            assert time.monotonic() < stop, "the server did not start"
            time.sleep(0.01)
        try:
            yield server
        finally:
            server.stop()
            thread.join(60)
            assert not thread.is_alive(), "the server did not end"


__all__ = ["ALL", "BASE", "Answer", "Asking", "Listening", "listening"]

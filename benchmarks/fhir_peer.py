"""Side by side with a FHIR server over HTTP, in one run: the same chart, the same questions.

The server is sekmet-fhir (SQLite behind FastAPI), for it installs from the package index; it is a stand-in for FHIR
servers, not a claim about any other. It lives in an environment of its own, whose `sekmet` command is named by the
variable WARDROUND_BENCH_SEKMET; without it these rows are left out, and that is said:

    python3 -m venv ENV && ENV/bin/pip install sekmet-fhir==0.1.1
    WARDROUND_BENCH_SEKMET=ENV/bin/sekmet python -m benchmarks.fhir_peer

Writes are validated on both sides. The server's simulators and traffic log are off and the connection is kept open:
what is left is finding resources, writing them, and HTTP. Reads are timed twice: as most calls of rollouts are, the
chart having been asked the same before by another episode, and on a record that was written to, where nothing is
remembered. Figures are the best of several rounds, taken in turns.
"""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import orjson

import wardround
from benchmarks.charts import ANCHOR, chart_of
from benchmarks.timing import Row, batch_us, once_us
from wardround.envs import WardEnv
from wardround.patients import Dialogue, Interview, Overlay, ToolCall, ToolContext, ToolResult, parse_instant, run_tool

VARIABLE = "WARDROUND_BENCH_SEKMET"
OBSERVATIONS = 3000
_BATCH = 100
_RESETS = 3
_CALL_ROUNDS = 25
_JSON = {"Content-Type": "application/fhir+json", "Accept": "application/fhir+json"}
_SETTINGS = """\
data_dir: {data}
base_url: http://127.0.0.1:{port}/fhir
validation: {{inbound: strict}}
simulator: {{enabled: false}}
log_inbound: false
"""


class Server:
    """A server with a data folder of its own.

    Args:
        command: Its `sekmet`.
        folder: Where it may write.
    """

    def __init__(self, command: str, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.data = folder / "data"
        self._command = command
        self._settings = folder / "settings.yaml"
        self._settings.write_text(_SETTINGS.format(data=self.data, port=self.port))
        self._folder = folder

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._process = subprocess.Popen(
            [self._command, "serve", "--config", str(self._settings), "--host", "127.0.0.1", "--port", str(self.port)],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + 120
        while True:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            try:
                self.ask("GET", "/fhir/Patient?_count=1")
                return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def stop(self) -> None:
        """End it."""
        self.connection.close()
        self._process.terminate()
        self._process.wait(60)

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Return the body of a reply of 200 or 201; asked again where the server had closed an idle connection."""
        try:
            self.connection.request(method, path, body, _JSON)
            reply = self.connection.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError):
            self.connection.close()
            self.connection.request(method, path, body, _JSON)
            reply = self.connection.getresponse()
        text = reply.read()
        assert reply.status in (200, 201), (method, path, reply.status, text[:400])
        return text


def fhir_peer_rows() -> list[Row]:
    """Return the rows; none where no server is named."""
    command = os.environ.get(VARIABLE)
    if not command:
        print(f"rows beside a FHIR server are left out: {VARIABLE} names none (see benchmarks/fhir_peer.py)")
        return []
    with _loaded(str(Path(command).absolute())) as server:
        return [*_calls(server), _reset(server)]


@contextmanager
def _loaded(command: str) -> Iterator[Server]:
    """Yield a server that holds the chart of the other benchmarks."""
    snapshot = chart_of(OBSERVATIONS).at(parse_instant(ANCHOR))
    entries = []
    for kind in ("Patient", "Encounter", "Observation", "MedicationRequest"):
        for resource in snapshot.resources(kind):
            entry = snapshot.read(kind, resource["id"])
            assert entry is not None
            request = orjson.dumps({"method": "PUT", "url": entry.key})
            entries.append(b'{"resource":' + entry.body + b',"request":' + request + b"}")
    with tempfile.TemporaryDirectory() as folder:
        server = Server(command, Path(folder))
        server.start()
        try:
            for start in range(0, len(entries), _BATCH):
                batch = b",".join(entries[start : start + _BATCH])
                server.ask("POST", "/fhir", b'{"resourceType":"Bundle","type":"batch","entry":[' + batch + b"]}")
            yield server
        finally:
            server.stop()


def _calls(server: Server) -> list[Row]:
    """The same questions to both, in turns."""
    snapshot = chart_of(OBSERVATIONS).at(parse_instant(ANCHOR))
    fresh, written = (
        ToolContext(Overlay(snapshot), Dialogue(Interview()), "bench", "s", encounter="stay") for _ in range(2)
    )
    order = {"subject_id": "bench", "medication": "warfarin", "dose": "5 mg", "route": "oral", "frequency": "daily"}
    assert run_tool(written, ToolCall("MedicationRequest.create", order)).ok
    resource = orjson.loads(server.ask("GET", "/fhir/MedicationRequest?patient=bench&_count=1"))["entry"][0]["resource"]
    posted = orjson.dumps({key: value for key, value in resource.items() if key not in ("id", "meta")})

    def http(path: str) -> Callable[[], bytes]:
        return lambda: server.ask("GET", path)

    reads: tuple[tuple[str, dict[str, Any], Callable[[], bytes]], ...] = (
        ("Patient.read", {"subject_id": "bench"}, http("/fhir/Patient/bench")),
        (
            "Observation.search",
            {"subject_id": "bench", "code": "creatinine"},
            http("/fhir/Observation?patient=bench&code=2160-0&_count=20"),
        ),
        ("MedicationRequest.search", {"subject_id": "bench"}, http("/fhir/MedicationRequest?patient=bench&_count=20")),
    )
    jobs: list[tuple[str, Callable[[], ToolResult], Callable[[], bytes]]] = []
    for name, arguments, asked in reads:
        call = ToolCall(name, arguments)
        jobs.append((name, partial(run_tool, fresh, call), asked))
        jobs.append((f"{name}, not remembered", partial(run_tool, written, call), asked))
    create = ToolCall("MedicationRequest.create", order)
    jobs.append(
        (
            "MedicationRequest.create",
            lambda: run_tool(written.fork(), create),
            lambda: server.ask("POST", "/fhir/MedicationRequest", posted),
        )
    )
    once = [job for job in jobs if "not remembered" not in job[0]]
    jobs.append(("all four", lambda: [job() for _, job, _ in once][-1], lambda: [ask() for _, _, ask in once][-1]))
    what = f"the same over HTTP, sekmet-fhir, {OBSERVATIONS} observations"
    rows = []
    for name, ours, theirs in jobs:
        assert ours().ok
        assert orjson.loads(theirs())
        rows.append(_best(f"tool call beside FHIR over HTTP: {name}", ours, theirs, what))
    return rows


def _best(name: str, ours: Callable[[], object], theirs: Callable[[], object], what: str) -> Row:
    """Time both in turns and keep the best round of each: on a busy machine a median of the server's is the queue's."""
    pairs = [(batch_us(ours, 20), batch_us(theirs, 4)) for _ in range(_CALL_ROUNDS)]
    mine, floor = min(one for one, _ in pairs), min(other for _, other in pairs)
    return Row(name, mine, floor, mine / floor, what)


def _reset(server: Server) -> Row:
    """A fresh episode: ours is made; the server gets a copy of its frozen data and starts again."""
    env = WardEnv("ward")
    env.reset(seed=0)
    session = wardround.load_sessions("ward").sessions[0].id
    frozen = server.data.with_name("frozen")
    server.stop()
    shutil.copytree(server.data, frozen)
    server.start()

    def again() -> None:
        server.stop()
        shutil.rmtree(server.data)
        shutil.copytree(frozen, server.data)
        server.start()

    ours = min(once_us(lambda: env.reset(options={"session": session})) for _ in range(101))
    theirs = min(once_us(again) for _ in range(_RESETS))
    what = "sekmet-fhir: copy its frozen data, start again"
    return Row("env.reset beside a FHIR server's", ours, theirs, ours / theirs, what)


if __name__ == "__main__":
    found = fhir_peer_rows()
    for row in found:
        assert row.floor_us is not None
        times = row.floor_us / row.median_us
        print(f"{row.name:60s} {row.median_us:10.1f} µs  {row.floor_us:12.1f} µs  {times:8.0f} ×  ({row.what_floor})")
    sys.exit(0 if found else 1)

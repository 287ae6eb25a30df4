"""Side by side with FHIR servers over HTTP, in one run: the same chart, the same questions.

One server is sekmet-fhir (SQLite behind FastAPI), for it installs from the package index; it is a stand-in for FHIR
servers, not a claim about any other. It lives in an environment of its own, whose `sekmet` command is named by the
variable WARDROUND_BENCH_SEKMET; without it these rows are left out, and that is said:

    python3 -m venv ENV && ENV/bin/pip install sekmet-fhir==0.1.1
    WARDROUND_BENCH_SEKMET=ENV/bin/sekmet python -m benchmarks.fhir_peer

Any other that runs already, a HAPI for one, is named by its base in WARDROUND_BENCH_FHIR (plain HTTP, no login). The
chart is put there by a batch and stays, as does the one order a round that is created; it is not started again, so it
has no row for a reset:

    WARDROUND_BENCH_FHIR=http://127.0.0.1:8080/fhir python -m benchmarks.fhir_peer

Writes are validated on both sides where the other validates at all. The server's simulators and traffic log are off and
the connection is kept open: what is left is finding resources, writing them, and HTTP. Our calls are timed twice: as
most of rollouts are, another episode having asked or ordered the same before, and with nothing remembered. Figures are
the best of several rounds, taken in turns.
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
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import orjson

import wardround
from benchmarks.charts import ANCHOR, chart_of
from benchmarks.timing import Row, batch_us, once_us
from wardround.envs import WardEnv
from wardround.patients import Dialogue, Interview, Overlay, ToolCall, ToolContext, ToolResult, parse_instant, run_tool
from wardround.patients.tools.memory import forget

VARIABLE = "WARDROUND_BENCH_SEKMET"
OTHER = "WARDROUND_BENCH_FHIR"
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
    """A server over HTTP.

    Args:
        base: Its FHIR base, `http://HOST:PORT/PATH`.

    Raises:
        SystemExit: It is no such address.
    """

    def __init__(self, base: str) -> None:
        parts = urlsplit(base)
        if parts.scheme != "http" or parts.hostname is None:
            sys.exit(f"{OTHER}: `{base}` is no base of a FHIR server; write http://HOST:PORT/PATH")
        self._host, self._port, self._path = parts.hostname, parts.port or 80, parts.path.rstrip("/")
        self.connect()

    def connect(self) -> None:
        """Make a new connection."""
        self.connection = http.client.HTTPConnection(self._host, self._port, timeout=120)

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Return the body of a reply of 200 or 201; asked again where the server had closed an idle connection.

        Args:
            method: Of HTTP.
            path: Below the base.
            body: A resource.
        """
        target = f"{self._path}{path}" or "/"
        try:
            self.connection.request(method, target, body, _JSON)
            reply = self.connection.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError):
            self.connection.close()
            self.connection.request(method, target, body, _JSON)
            reply = self.connection.getresponse()
        text = reply.read()
        assert reply.status in (200, 201), (method, path, reply.status, text[:400])
        return text


class Sekmet(Server):
    """A sekmet-fhir with a data folder of its own.

    Args:
        command: Its `sekmet`.
        folder: Where it may write.
    """

    def __init__(self, command: str, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        super().__init__(f"http://127.0.0.1:{port}/fhir")
        self.data = folder / "data"
        settings = folder / "settings.yaml"
        settings.write_text(_SETTINGS.format(data=self.data, port=port))
        self._command = [command, "serve", "--config", str(settings), "--host", "127.0.0.1", "--port", str(port)]
        self._folder = folder

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._process = subprocess.Popen(
            self._command, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 120
        while True:
            self.connect()
            try:
                self.ask("GET", "/Patient?_count=1")
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


def fhir_peer_rows() -> list[Row]:
    """Return the rows; none where no server is named."""
    rows = []
    if command := os.environ.get(VARIABLE):
        with tempfile.TemporaryDirectory() as folder:
            server = Sekmet(str(Path(command).absolute()), Path(folder))
            server.start()
            try:
                _load(server)
                rows += [*_calls(server, "sekmet-fhir"), _reset(server)]
            finally:
                server.stop()
    if base := os.environ.get(OTHER):
        other = Server(base)
        _load(other)
        software = orjson.loads(other.ask("GET", "/metadata")).get("software", {})
        rows += _calls(other, f"{software.get('name', 'a FHIR server')} {software.get('version', '')}".strip())
    if not rows:
        print(f"rows beside a FHIR server are left out: {VARIABLE} and {OTHER} name none (see benchmarks/fhir_peer.py)")
    return rows


def _load(server: Server) -> None:
    """Put the chart of the other benchmarks into a server."""
    snapshot = chart_of(OBSERVATIONS).at(parse_instant(ANCHOR))
    entries = []
    for kind in ("Patient", "Encounter", "Observation", "MedicationRequest"):
        for resource in snapshot.resources(kind):
            entry = snapshot.read(kind, resource["id"])
            assert entry is not None
            request = orjson.dumps({"method": "PUT", "url": entry.key})
            entries.append(b'{"resource":' + entry.body + b',"request":' + request + b"}")
    for start in range(0, len(entries), _BATCH):
        batch = b",".join(entries[start : start + _BATCH])
        server.ask("POST", "", b'{"resourceType":"Bundle","type":"batch","entry":[' + batch + b"]}")


def _calls(server: Server, name: str) -> list[Row]:
    """The same questions to both, in turns."""
    snapshot = chart_of(OBSERVATIONS).at(parse_instant(ANCHOR))
    context = ToolContext(Overlay(snapshot), Dialogue(Interview()), "bench", "s", encounter="stay")
    order = {"subject_id": "bench", "medication": "warfarin", "dose": "5 mg", "route": "oral", "frequency": "daily"}
    resource = orjson.loads(server.ask("GET", "/MedicationRequest?patient=bench&_count=1"))["entry"][0]["resource"]
    posted = orjson.dumps({key: value for key, value in resource.items() if key not in ("id", "meta")})
    create = ToolCall("MedicationRequest.create", order)

    def read(tool: str, path: str, **arguments: str) -> tuple[str, Callable[[], ToolResult], Callable[[], bytes]]:
        call = ToolCall(tool, {"subject_id": "bench", **arguments})
        return tool, partial(run_tool, context, call), partial(server.ask, "GET", path)

    jobs: list[tuple[str, Callable[[], ToolResult], Callable[[], bytes]]] = [
        read("Patient.read", "/Patient/bench"),
        read("Observation.search", "/Observation?patient=bench&code=2160-0&_count=20", code="creatinine"),
        read("MedicationRequest.search", "/MedicationRequest?patient=bench&_count=20"),
        (
            "MedicationRequest.create",
            lambda: run_tool(context.fork(), create),
            partial(server.ask, "POST", "/MedicationRequest", posted),
        ),
    ]
    once = tuple(jobs)
    jobs.append(("all four", lambda: [job() for _, job, _ in once][-1], lambda: [ask() for _, _, ask in once][-1]))
    what = f"the same over HTTP, {name}, {OBSERVATIONS} observations"
    rows = []
    for tool, ours, theirs in jobs:
        assert ours().ok
        assert orjson.loads(theirs())
        rows += _best(f"tool call beside FHIR over HTTP: {tool}", ours, theirs, what)
    return rows


def _best(name: str, ours: Callable[[], object], theirs: Callable[[], object], what: str) -> list[Row]:
    """Time both in turns and keep the best round of each: on a busy machine a median of the server's is the queue's.

    Ours is timed as it is and, before each call all that is remembered being forgotten, anew.
    """
    rounds = [(batch_us(ours, 20), batch_us(ours, 20, forget), batch_us(theirs, 4)) for _ in range(_CALL_ROUNDS)]
    again, anew, floor = (min(column) for column in zip(*rounds, strict=True))
    return [
        Row(name, again, floor, again / floor, what),
        Row(f"{name}, not remembered", anew, floor, anew / floor, what),
    ]


def _reset(server: Sekmet) -> Row:
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

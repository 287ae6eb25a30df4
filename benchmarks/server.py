"""The FHIR server beside the same search or read in process: over loopback, the door alone, and HTTP alone."""

from __future__ import annotations

import threading
import time

import httpx

from benchmarks.timing import Row, beside
from wardround.envs.server import ChartRecords, Listening, access_of, serve_charts
from wardround.envs.server.door import Door
from wardround.envs.server.journal import Journal
from wardround.envs.server.messages import Request
from wardround.patients import ChartStore, fhir_search, last_known, load_charts

SEARCH = "code=http://loinc.org|2160-0&_count=10"
NOTHING = "/.well-known/smart-configuration"
"""A reply that is there already: what HTTP and the queue of requests cost by themselves."""


def server_rows() -> list[Row]:
    """Ask a server of the built-in ward, by one client over one connection, nothing written to disk."""
    with load_charts("ward") as store, serve_charts(store, {}, Listening(port=0, open=True)) as server:
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.uvicorn.started:
            time.sleep(0.01)
        with httpx.Client(base_url=server.base) as client:
            rows = _asked(store, client, server.base)
        server.stop()
        thread.join(20)
    return rows


def _asked(store: ChartStore, client: httpx.Client, base: str) -> list[Row]:
    """Ask each thing over HTTP, of the door alone, and in process."""
    records = {name: store.chart(name).at(last_known(store.chart(name))) for name in store.patients()}
    one = records["ward-01"]
    door, access = Door(ChartRecords(store, {}, Journal(None))), access_of("all", "system/*.rs", None)
    rows = []
    for name, path, query, inside in (
        (
            "search of one patient",
            "Observation",
            f"patient=ward-01&{SEARCH}",
            lambda: fhir_search(one, "Observation", f"patient=ward-01&{SEARCH}", base=base).bundle(),
        ),
        ("read", "Patient/ward-01", "", lambda: one.read("Patient", "ward-01")),
        (
            "search of all 12 patients",
            "Observation",
            SEARCH,
            lambda: [fhir_search(record, "Observation", SEARCH).bundle() for record in records.values()],
        ),
    ):
        url, request = f"/{path}?{query}" if query else f"/{path}", Request("GET", path, query, base=base)
        assert client.get(url).status_code == 200 and door.handle(request, access)[0].status == 200
        for how, job, floor, what in (
            ("over HTTP", lambda url=url: client.get(url), inside, "the same in process"),
            ("by the door", lambda request=request: door.handle(request, access), inside, "the same in process"),
            ("over HTTP", lambda url=url: client.get(url), lambda: client.get(NOTHING), "a ready reply over HTTP"),
        ):
            rows.append(beside(f"serve: {name} {how}", job, floor, what, rounds=15, calls=10))
    return rows

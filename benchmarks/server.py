"""The FHIR server: a request over loopback beside the same search or read in process, so what the door itself adds."""

from __future__ import annotations

import threading
import time

import httpx

from benchmarks.timing import Row, beside
from wardround.envs.server import Listening, serve_charts
from wardround.patients import fhir_search, last_known, load_charts

SEARCH = "code=http://loinc.org|2160-0&_count=10"


def server_rows() -> list[Row]:
    """Ask a server of the built-in ward, by one client over one connection, nothing written to disk."""
    rows = []
    with load_charts("ward") as store, serve_charts(store, {}, Listening(port=0, open=True)) as server:
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.uvicorn.started:
            time.sleep(0.01)
        chart = store.chart("ward-01")
        record = chart.at(last_known(chart))
        with httpx.Client(base_url=server.base) as client:
            for name, path, inside in (
                (
                    "serve: search of one patient over HTTP",
                    f"/Observation?patient=ward-01&{SEARCH}",
                    lambda: fhir_search(record, "Observation", SEARCH, base=server.base).bundle(),
                ),
                ("serve: read over HTTP", "/Patient/ward-01", lambda: record.read("Patient", "ward-01")),
                (
                    "serve: search of all 12 patients over HTTP",
                    f"/Observation?{SEARCH}",
                    lambda: [
                        fhir_search(store.chart(one).at(last_known(store.chart(one))), "Observation", SEARCH).bundle()
                        for one in store.patients()
                    ],
                ),
            ):
                assert client.get(path).status_code == 200
                rows.append(
                    beside(name, lambda path=path: client.get(path), inside, "the same in process", rounds=15, calls=10)
                )
        server.stop()
        thread.join(20)
    return rows

"""Run every benchmark and write benchmarks/results.json: `make bench`."""

from __future__ import annotations

import gc
import statistics
import sys
import tempfile
from copy import copy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import orjson

import wardround
from benchmarks.charts import ANCHOR, builder_of, chart_of
from benchmarks.doors import door_rows
from benchmarks.fhir_peer import fhir_peer_rows
from benchmarks.hospital import hospital_rows
from benchmarks.notes import keyword_rows
from benchmarks.record import record_rows
from benchmarks.rollouts import rollout_rows
from benchmarks.server import server_rows
from benchmarks.timing import Row, beside, once_us
from wardround.envs import Episode, WardEnv
from wardround.patients import (
    ChartStore,
    Dialogue,
    Interview,
    Overlay,
    Search,
    StoreWriter,
    ToolCall,
    ToolContext,
    fhir_search,
    parse_instant,
    run_tool,
)

HERE = Path(__file__).resolve().parent
WEEK = {"subject_id": "bench", "date_from": "2150-06-01", "date_to": "2150-06-07"}


class BareEnv(gym.Env[int, int]):
    """An environment that does nothing: what Gymnasium itself costs."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Seed and return nothing."""
        super().reset(seed=seed)
        return 0, {}


def tool_call_rows() -> list[Row]:
    """Search a 3,000-observation chart, beside writing the same bytes with orjson."""
    chart = chart_of(3000)
    context = ToolContext(Overlay(chart.at(parse_instant(ANCHOR))), Dialogue(Interview()), "bench", "s")
    rows = []
    for name, arguments in (
        ("tool call: Observation.search by name", {"subject_id": "bench", "code": "creatinine"}),
        (
            "tool call: Observation.search, a week",
            {"subject_id": "bench", "date_from": "2150-06-01", "date_to": "2150-06-07"},
        ),
        ("tool call: MedicationRequest.search", {"subject_id": "bench"}),
        ("tool call: Patient.read", {"subject_id": "bench"}),
    ):
        call = ToolCall(name.split(": ")[1].split(" ")[0].rstrip(","), arguments)
        result = run_tool(context, call)
        assert result.ok, result.text
        data = orjson.loads(result.text)
        rows.append(
            beside(
                name,
                lambda call=call: run_tool(context, call),
                lambda data=data: orjson.dumps(data),  # type: ignore[misc]
                "orjson writing the same object",
            )
        )
    return rows


def fhir_search_rows() -> list[Row]:
    """Search a 3,000-observation chart as FHIR has it, Bundle of 10 included, beside orjson writing that Bundle."""
    snapshot = chart_of(3000).at(parse_instant(ANCHOR))
    overlay = Overlay(snapshot)
    overlay.update(snapshot.search(Search("Observation")).entries(0, 1)[0].key, {"status": "amended"})
    rows = []
    for name, record, query in (
        ("FHIR search: code and date, Bundle of 10", snapshot, "code=2160-0&date=ge2150-06-01&_count=10"),
        ("FHIR search: chain and sort, Bundle of 10", snapshot, "patient.gender=male&_sort=-date&_count=10"),
        ("FHIR search: over an overlay, Bundle of 10", overlay, "code=2160-0&date=ge2150-06-01&_count=10"),
    ):
        bundle = orjson.loads(fhir_search(record, "Observation", query).bundle())
        assert len(bundle["entry"]) == 10
        rows.append(
            beside(
                name,
                lambda record=record, query=query: fhir_search(record, "Observation", query).bundle(),  # type: ignore[misc]
                lambda bundle=bundle: orjson.dumps(bundle),  # type: ignore[misc]
                "orjson writing the same Bundle",
            )
        )
    return rows


def _first() -> tuple[Any, Any]:
    sessions, store = wardround.load_sessions("ward"), wardround.load_charts("ward")
    session = sessions.sessions[0]
    return session, store.chart(session.chart.patient)


def episode_rows() -> list[Row]:
    """env.step over Episode.call; reset warm and cold; fork; scoring a turn."""
    session, chart = _first()
    episode = Episode(session, chart)
    gold = session.turns[0].gold.calls[0]
    action = orjson.dumps({"tool": gold.tool, "arguments": gold.arguments}).decode()
    env = WardEnv("ward", session=session.id)
    env.reset()
    state = env.episode

    def step() -> None:
        env._episode = state.fork()
        env.step(action)

    def call() -> None:
        state.fork().call(gold.tool, gold.arguments)

    bare, bare_words, blank = BareEnv(), "reset of an environment that does nothing", SimpleNamespace(x=1)
    played = Episode(session, chart)
    for gold_call in session.turns[0].gold.calls:
        played.call(gold_call.tool, gold_call.arguments)
    played.call("prepare_to_answer", {"answer_type": "chat"})
    answer = session.turns[0].gold.answers[0].get("en")
    return [
        beside("env.step with a tool call", step, call, "Episode.call (both with a fork)"),
        beside("env.reset, warm", lambda: env.reset(options={"session": session.id}), bare.reset, bare_words),
        beside("Episode, warm", lambda: Episode(session, chart), bare.reset, bare_words),
        beside("Episode.fork", episode.fork, lambda: copy(blank), "copying an object with one attribute"),
        beside("answer a turn (scores it)", lambda: played.fork().answer(answer), lambda: played.fork(), "fork alone"),
    ]


def cold_rows() -> list[Row]:
    """Open a store and a chart of 3,000 observations that nothing has touched, snapshot included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.sqlite"
        with StoreWriter(path, licence="CC0-1.0") as writer:
            writer.add_packed(builder_of(3000).packed())
        times, floors = [], []
        for _ in range(15):
            gc.collect()
            times.append(once_us(lambda: _open(path, "bench")))
            floors.append(once_us(lambda: path.read_bytes()))
        median, floor = statistics.median(times), statistics.median(floors)
        return [
            Row(
                "chart of 3,000 observations, cold: open store, chart, snapshot, first search",
                median,
                floor,
                median / floor,
                "reading the file",
            )
        ]


def _open(path: Path, patient: str) -> None:
    with ChartStore.open(path) as store:
        context = ToolContext(
            Overlay(store.chart(patient).at(parse_instant(ANCHOR))), Dialogue(Interview()), patient, "s"
        )
        run_tool(context, ToolCall("Observation.search", {"subject_id": patient, "code": "creatinine"}))


def main() -> int:
    """Run everything, print the table, write results.json."""
    rows = [
        *tool_call_rows(),
        *fhir_search_rows(),
        *record_rows(),
        *episode_rows(),
        *cold_rows(),
        *door_rows(),
        *keyword_rows(),
        *hospital_rows(),
        *rollout_rows(),
        *server_rows(),
        *fhir_peer_rows(),
    ]
    for row in rows:
        floor = (
            "" if row.floor_us is None else f"floor {row.floor_us:10.1f} µs  ratio {row.ratio:8.2f}  ({row.what_floor})"
        )
        print(f"{row.name:80s} {row.median_us:10.1f} µs  {floor}")
    body = orjson.dumps([row.as_dict() for row in rows], option=orjson.OPT_INDENT_2)
    (HERE / "results.json").write_bytes(body + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

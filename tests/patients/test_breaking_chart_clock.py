"""No leak of the future from any MIMIC-IV table, held without the open data: two futures of one invented patient.

`data/two_futures.json` has rows of every table that is imported. Whatever an agent, a FHIR search or `inspect --at` can
see at its instant must be the same in both futures; and what is known then must be there, so that no test passes empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import orjson
import pytest

from wardround.patients import (
    ALL_TOOLS,
    Chart,
    ChartStore,
    Dialogue,
    Interview,
    Overlay,
    Search,
    SearchError,
    ToolCall,
    ToolContext,
    fhir_search,
    make_interview,
    parse_instant,
    run_tool,
    timeline,
)
from wardround.patients.importers import import_mimic

DATA: dict[str, Any] = orjson.loads((Path(__file__).parent / "data" / "two_futures.json").read_bytes())
NOW = parse_instant(DATA["now"])
WORDS = (
    "creatinine", "potassium", "heart rate", "weight", "warfarin", "heparin", "aspirin", "morphine", "Secretword0",
    "Secretword1", "CT", "cardiology", "renal", "I10", "I48", "hypertension", "AF", "staph", "genta", "zzz", "foley",
    "norepinephrine", "note-1-DS-1-chief-complaint", "rad-1-AR-2", "2150-03-05", "2150-06",
)  # fmt: skip
STAYS = ("10", "11", "icu-5", "icu-6", "ed-7", "ed-8", "ed-9", "nowhere")


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Chart]]:
    """The chart of the patient in each future."""
    stores = []
    for future in (0, 1):
        folder = tmp_path_factory.mktemp(f"future{future}")
        for name, rows in DATA["tables"].items():
            chosen = [row if isinstance(row, str) else row[future] for row in rows]
            text = "\n".join(row for row in chosen if row is not None) + "\n"
            (folder / f"{name}.csv").write_text(text, encoding="utf-8")
        report = import_mimic(folder, folder / "out.sqlite", threads=1)
        assert report.invalid == 0 and not any(table.refused for table in report.tables)
        assert report.missing_tables == ()
        stores.append(ChartStore.open(folder / "out.sqlite"))
    yield [store.chart("1") for store in stores]
    for store in stores:
        store.close()


@pytest.fixture(scope="module")
def overlays(charts: list[Chart]) -> list[Overlay]:
    return [Overlay(chart.at(NOW)) for chart in charts]


@pytest.fixture(scope="module")
def kinds(charts: list[Chart]) -> list[str]:
    return sorted({kind for chart in charts for kind in chart.index.spans})


def test_the_futures_differ(charts: list[Chart]) -> None:
    assert charts[0].hash != charts[1].hash
    later = parse_instant("2300")
    for kind in ("Observation", "MedicationRequest", "Condition", "DocumentReference", "Encounter", "Procedure"):
        bodies = [{entry.body for entry in chart.at(later).search(Search(kind)).entries()} for chart in charts]
        assert bodies[0] != bodies[1], kind


def test_resources_rows_names_and_timelines(overlays: list[Overlay], kinds: list[str]) -> None:
    counts = {}
    for kind in kinds:
        hits = [overlay.search(Search(kind)) for overlay in overlays]
        bodies = [[(entry.key, entry.body, entry.row) for entry in found.entries()] for found in hits]
        assert bodies[0] == bodies[1], kind
        assert overlays[0].concepts(kind) == overlays[1].concepts(kind)
        counts[kind] = hits[0].total
    assert counts["Encounter"] == 4 and counts["Observation"] >= 20
    seen = ("Condition", "DiagnosticReport", "MedicationAdministration", "MedicationRequest", "MedicationStatement")
    assert all(counts[kind] for kind in (*seen, "MedicationDispense", "Procedure", "ServiceRequest"))
    told = [timeline(overlay.snapshot) for overlay in overlays]
    assert told[0] == told[1] and len(told[0]) > 30


def test_fhir_searches(overlays: list[Overlay], kinds: list[str]) -> None:
    everything = "_include=*&_revinclude=*&_include:iterate=*&_revinclude:iterate=*"
    queries: list[tuple[str | None, str]] = [("Patient/1/*", ""), (None, f"_type={','.join(kinds)}")]
    for kind in kinds:
        queries += [(kind, everything), (kind, "_sort=-_lastUpdated"), (kind, "_summary=count")]
        for other in ("Encounter", "Observation", "MedicationAdministration", "MedicationRequest", "Condition"):
            queries += [(kind, f"_has:{other}:{name}:_lastUpdated=gt1900") for name in ("subject", "encounter")]
            queries += [(kind, f"_has:{other}:{name}:status=finished,final,stopped") for name in ("patient", "part-of")]
        queries += [(kind, f"{name}:missing={value}") for name in ("encounter", "date") for value in ("true", "false")]
        queries += [(kind, f"{name}=gt2150-03-05T12:00:00Z") for name in ("date", "encounter.date", "period")]
        queries += [(kind, "patient.death-date:missing=false"), (kind, "_id=lab-2,icu-6,11,1-AR-2,eddx-9-1-R55")]
    found = 0
    for kind, query in queries:
        seen = [_bundle(overlay, kind, query) for overlay in overlays]
        assert seen[0] == seen[1], (kind, query)
        found += b'"mode":"match"' in seen[0]
    assert found > 50


def _bundle(overlay: Overlay, kind: str | None, query: str) -> bytes:
    try:
        return fhir_search(overlay, kind, query).bundle()
    except SearchError as fault:
        return orjson.dumps(fault.outcome())


@pytest.mark.parametrize("view", ["compact", "fhir"])
def test_tools(overlays: list[Overlay], view: Literal["compact", "fhir"]) -> None:
    contexts = [
        ToolContext(overlay, Dialogue(Interview()), "1", "s", view=view, encounter="10") for overlay in overlays
    ]
    found = 0
    for name, arguments in _calls():
        seen = [run_tool(one, ToolCall(name, {"subject_id": "1", **arguments}), list(ALL_TOOLS)) for one in contexts]
        told = [(one.text, one.resources, one.total, one.error) for one in seen]
        assert told[0] == told[1], (name, arguments)
        found += bool(seen[0].total)
    assert found >= 30


def _calls() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, spec in ALL_TOOLS.items():
        if spec.effect != "read" or name.startswith("files."):
            continue
        yield name, {}
        for field, schema in spec.schema["properties"].items():
            if field in ("subject_id", "_count"):
                continue
            for value in STAYS if field == "hadm_id" else schema.get("enum", WORDS):
                yield name, {field: value}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_interviews(overlays: list[Overlay], seed: int) -> None:
    made = [make_interview(overlay.snapshot, seed) for overlay in overlays]
    assert made[0] == made[1]

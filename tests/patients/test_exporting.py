"""NDJSON export: what comes out goes in again as the same store."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from wardround.patients import (
    NEVER,
    ChartBuilder,
    ChartStore,
    DataError,
    StoreWriter,
    UsageError,
    export_ndjson,
    import_fhir,
    load_charts,
    parse_instant,
)
from wardround.patients.resource import known_later, known_value


def write(path: Path, *charts: ChartBuilder) -> ChartStore:
    with StoreWriter(path, "CC0-1.0") as writer:
        for chart in charts:
            writer.add(chart.patient_id, chart.resources())
    return ChartStore.open(path)


def round_trip(store: ChartStore, folder: Path) -> str:
    export_ndjson(store, folder / "out")
    report = import_fhir(folder / "out", folder / "again.sqlite", licence=store.licence)
    assert report.invalid == 0 and report.refused == 0
    return report.store_hash


def chart(patient: str = "p1") -> ChartBuilder:
    build = ChartBuilder(patient, sex="female", birth_date="2100")
    build.encounter(f"{patient}-e1", "IMP", "2180-05-01 07:00", "2180-05-09 08:00", disposition="home")
    build.lab("Sodium", "130.10", "mmol/L", at="2180-05-02 06:00")
    return build


def test_the_built_in_ward_comes_back_with_the_same_hash(tmp_path: Path) -> None:
    with load_charts("ward") as store:
        report = export_ndjson(store, tmp_path / "out")
        assert report.patients == len(store) and report.resources == store.header["resources"]
        again = import_fhir(tmp_path / "out", tmp_path / "again.sqlite", licence=store.licence)
        assert again.store_hash == store.hash and again.refused == 0
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == [
        f"{kind}.ndjson" for kind in sorted(report.resources)
    ]


def test_marks_of_what_became_known_later_come_back(tmp_path: Path) -> None:
    build = chart()
    resources = list(build.resources())
    for resource, _ in resources:
        if resource["resourceType"] == "Patient":
            known_value(resource, "maritalStatus", {"text": "single"}, parse_instant("2180-05-01"))
            known_value(resource, "maritalStatus", {"text": "widowed"}, parse_instant("2180-05-04"))
        if resource["resourceType"] == "Observation":
            resource["note"] = [{"text": "added on the ward round"}]
            known_later(resource, "note", parse_instant("2180-05-03"))
    with StoreWriter(tmp_path / "a.sqlite", "CC0-1.0") as writer:
        writer.add("p1", resources)
    with ChartStore.open(tmp_path / "a.sqlite") as store:
        assert round_trip(store, tmp_path) == store.hash
    with ChartStore.open(tmp_path / "again.sqlite") as store:
        shown = [
            next(store.chart("p1").at(parse_instant(at)).resources("Patient")).get("maritalStatus")
            for at in ("2180-04-30", "2180-05-02", "2180-05-05")
        ]
    assert shown == [None, {"text": "single"}, {"text": "widowed"}]


def test_what_is_never_visible_stays_so(tmp_path: Path) -> None:
    resources = [
        (resource, NEVER if resource["resourceType"] == "Observation" else known)
        for resource, known in chart().resources()
    ]
    with StoreWriter(tmp_path / "a.sqlite", "CC0-1.0") as writer:
        writer.add("p1", resources)
    with ChartStore.open(tmp_path / "a.sqlite") as store:
        assert round_trip(store, tmp_path) == store.hash
    with ChartStore.open(tmp_path / "again.sqlite") as store:
        snapshot = store.chart("p1").at(parse_instant("2300"))
        assert snapshot.count("Observation") == 0 and len(store.chart("p1")) == 3


def test_decimals_keep_their_digits_and_lines_are_in_order(tmp_path: Path) -> None:
    with write(tmp_path / "a.sqlite", chart("p2"), chart("p1")) as store, pytest.raises(DataError, match="two charts"):
        export_ndjson(store, tmp_path / "none")
    assert not (tmp_path / "none").exists() and not [one for one in tmp_path.iterdir() if one.suffix == ".part"]
    with write(tmp_path / "b.sqlite", chart("p1")) as store:
        export_ndjson(store, tmp_path / "out")
    assert b'"value":130.10' in (tmp_path / "out" / "Observation.ndjson").read_bytes()
    lines = (tmp_path / "out" / "Patient.ndjson").read_bytes().splitlines()
    assert [orjson.loads(line)["id"] for line in lines] == ["p1"]


def test_a_folder_that_holds_something_is_kept(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("x")
    with write(tmp_path / "a.sqlite", chart()) as store:
        with pytest.raises(UsageError, match="not an empty folder"):
            export_ndjson(store, tmp_path / "out")
        with pytest.raises(UsageError, match="not a folder"):
            export_ndjson(store, tmp_path / "no" / "out")
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["mine.txt"]

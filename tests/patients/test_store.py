"""Stores: written whole or not at all, hashed, opened anywhere, damaged ones refused."""

from __future__ import annotations

import os
import pickle
import shutil
import sqlite3
from pathlib import Path

import pytest

from wardround.patients import (
    ChartBuilder,
    ChartStore,
    DataError,
    Fact,
    Interview,
    Search,
    StoreWriter,
    UsageError,
    parse_instant,
)
from wardround.patients.packing import FRAME_BYTES

NOW = parse_instant("2180-06-01")


def builder(patient: str = "p1", labs: int = 3) -> ChartBuilder:
    build = ChartBuilder(patient, sex="female", birth_date="2100")
    build.encounter("e1", "IMP", "2180-05-01 07:00", "2180-05-09 08:00", disposition="home")
    for number in range(labs):
        build.lab("Sodium", f"{130 + number % 20}.{number % 10}0", "mmol/L", at=f"2180-05-0{number % 8 + 1} 06:00")
    return build


def write(path: Path, *charts: ChartBuilder, interview: Interview | None = None) -> str:
    with StoreWriter(path, "CC0-1.0", {"source": "test"}) as writer:
        for chart in charts:
            writer.add(chart.patient_id, chart.resources(), interview)
    return ChartStore.open(path).hash


@pytest.fixture
def path(tmp_path: Path) -> Path:
    where = tmp_path / "charts ['*?].sqlite"
    write(where, builder(), builder("p2", 1200))
    return where


def test_what_was_written_is_read(path: Path) -> None:
    with ChartStore.open(path) as store:
        assert store.patients() == ("p1", "p2") and len(store) == 2 and "p1" in store
        assert store.header["fhirVersion"] == "4.0.1"
        assert store.header["resources"] == {"Encounter": 2, "Observation": 1203, "Patient": 2}
        assert store.header["imported"] == ["Encounter", "Observation", "Patient"]
        assert store.header["provenance"] == {"source": "test"}
        for build in (builder(), builder("p2", 1200)):
            chart, memory = store.chart(build.patient_id), build.chart()
            assert chart.hash == memory.hash and len(chart) == len(memory)
            for kind in ("Patient", "Encounter", "Observation"):
                mine, theirs = (one.at(NOW).search(Search(kind)).entries() for one in (chart, memory))
                assert [(one.key, one.body, one.row) for one in mine] == [
                    (one.key, one.body, one.row) for one in theirs
                ]
        snapshot = store.chart("p1").at(NOW)
        assert snapshot.imported("Encounter") and not snapshot.imported("CarePlan")
        assert memory.at(NOW).imported("CarePlan")


def test_hashes_do_not_depend_on_order(tmp_path: Path, path: Path) -> None:
    again = tmp_path / "again.sqlite"
    first = write(path, builder(), builder("p2", 1200))
    assert write(again, builder("p2", 1200), builder()) == first
    shuffled = builder()
    with StoreWriter(again) as writer:
        writer.add("p1", list(reversed(shuffled.resources())))
    assert ChartStore.open(again).chart("p1").hash == builder().chart().hash


def test_the_hash_covers_when_things_were_known() -> None:
    late = ChartBuilder("p1", sex="female", birth_date="2100")
    late.lab("Sodium", "1", at="2180-05-01 06:00")
    later = ChartBuilder("p1", sex="female", birth_date="2100")
    later.lab("Sodium", "1", at="2180-05-01 06:00", known_at="2180-05-01 09:00")
    assert late.chart().hash != later.chart().hash


def test_a_big_chart_opens_in_parts(path: Path) -> None:
    chart = ChartStore.open(path).chart("p2")
    parts = int(chart.index.arrays["frame"].max()) + 1
    assert parts > 3
    entries = chart.at(NOW).search(Search("Observation")).entries(0, 20)
    assert all(entry.body for entry in entries)
    assert len(chart._frames) < parts
    assert all(len(frame) <= FRAME_BYTES for frame in chart._frames.values())


def test_abort_and_exceptions_leave_nothing(tmp_path: Path) -> None:
    where = tmp_path / "x.sqlite"
    with pytest.raises(DataError, match=r"Flag/f.*status"), StoreWriter(where) as writer:
        writer.add("p", [*builder("p").resources(), ({"resourceType": "Flag", "id": "f", "status": "odd"}, 0)])
    writer = StoreWriter(where)
    writer.abort()
    writer.abort()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError, match="closed"):
        writer.add("p", [])
    with pytest.raises(UsageError, match="not a folder"):
        StoreWriter(tmp_path / "no" / "x.sqlite")


def test_an_aborted_writer_keeps_the_old_store(path: Path) -> None:
    before = path.read_bytes()
    writer = StoreWriter(path)
    writer.add("p9", builder("p9").resources())
    writer.abort()
    assert path.read_bytes() == before


def test_one_chart_per_patient_and_one_resource_per_id(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="added twice"), StoreWriter(tmp_path / "x") as writer:
        writer.add("p", builder("p").resources())
        writer.add("p", builder("p").resources())
    twice = builder("p").resources() * 2
    with pytest.raises(DataError, match="two resources are called Patient/p"), StoreWriter(tmp_path / "x") as writer:
        writer.add("p", twice)


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 3\x00" + b"\x00" * 100])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    where = tmp_path / "x.sqlite"
    where.write_bytes(content)
    with pytest.raises(DataError, match="not a charts file"):
        ChartStore.open(where)
    with pytest.raises(DataError, match="no such charts file"):
        ChartStore.open(tmp_path / "none.sqlite")
    with pytest.raises(DataError, match="no such charts file"):
        ChartStore.open(tmp_path)


def alter(path: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(path) as database:
        database.execute(statement, values)
    database.close()


def test_another_format_is_refused(path: Path) -> None:
    alter(path, "UPDATE header SET body = replace(body, 'charts/1', 'charts/9')")
    with pytest.raises(DataError, match=r"wardround\.charts/9"):
        ChartStore.open(path)


@pytest.mark.parametrize("column", ["digests", '"index"', "rows", "hash", "parts"])
def test_a_damaged_chart_is_refused_when_opened(path: Path, column: str) -> None:
    alter(path, f"UPDATE charts SET {column} = {column} || 'x' WHERE patient = 'p1'")
    store = ChartStore.open(path)
    with pytest.raises(DataError, match="damaged"):
        store.chart("p1")
    assert store.chart("p2").at(NOW).count("Observation") == 1200


def test_a_damaged_part_is_refused_when_read(path: Path) -> None:
    store = ChartStore.open(path)
    [(frame,)] = store._query("SELECT body FROM frames WHERE patient = 'p2' AND number = 0")
    store.close()
    alter(path, "UPDATE frames SET body = ? WHERE patient = 'p1' AND number = 0", frame)
    alter(path, "DELETE FROM frames WHERE patient = 'p2' AND number = 1")
    snapshot = ChartStore.open(path).chart("p1").at(NOW)
    assert snapshot.search(Search("Observation")).total == 3
    with pytest.raises(DataError, match="damaged"):
        snapshot.search(Search("Observation")).entries()[0].resource()
    with pytest.raises(DataError, match="lacks part 1"):
        [entry.body for entry in ChartStore.open(path).chart("p2").at(NOW).search(Search("Observation")).entries()]


def test_interviews_are_apart(tmp_path: Path) -> None:
    interview = Interview(facts=(Fact(id="f", kind="symptom", concept="cough", source="simulated"),))
    with_one, without = tmp_path / "a", tmp_path / "b"
    assert write(with_one, builder(), interview=interview) == write(without, builder())
    store = ChartStore.open(with_one)
    assert store.interview("p1") == interview
    assert ChartStore.open(without).interview("p1") is None
    assert store.header["interviews_hash"] != ChartStore.open(without).header["interviews_hash"]
    alter(with_one, "UPDATE interviews SET body = replace(body, 'cough', 'fever')")
    with pytest.raises(DataError, match="interview of p1 is damaged"):
        ChartStore.open(with_one).interview("p1")


def test_a_chart_may_have_its_own_licence(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "x", "CC0-1.0") as writer:
        writer.add("p1", builder().resources(), licence="credentialed")
        writer.add("p2", builder("p2").resources())
    store = ChartStore.open(tmp_path / "x")
    assert [store.chart(patient).licence for patient in store.patients()] == ["credentialed", "CC0-1.0"]


def test_an_unknown_patient_is_named_with_those_there(path: Path) -> None:
    with pytest.raises(UsageError, match=r"`p7`.*p1, p2"):
        ChartStore.open(path).chart("p7")


def test_pickles_by_path_and_checks_the_hash(path: Path, tmp_path: Path) -> None:
    store = ChartStore.open(path)
    assert pickle.loads(pickle.dumps(store)).patients() == store.patients()
    chart = store.chart("p2")
    text = pickle.dumps(chart)
    assert len(text) < 1000
    assert pickle.loads(text).hash == chart.hash
    snapshot = pickle.loads(pickle.dumps(chart.at(NOW)))
    assert snapshot.count("Observation") == 1200 and snapshot.anchor == NOW
    shutil.move(path, tmp_path / "elsewhere")
    write(path, builder("p3"))
    from wardround.patients import store as module

    module._SHARED.clear()
    with pytest.raises(DataError, match="holds other charts"):
        pickle.loads(text)


def test_memory_charts_pickle_whole() -> None:
    chart = builder().chart()
    again = pickle.loads(pickle.dumps(chart.at(NOW)))
    assert again.chart.hash == chart.hash and again.count("Observation") == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_opens_the_file_anew(path: Path) -> None:
    store = ChartStore.open(path)
    store.chart("p1")
    read, wrote = os.pipe()
    child = os.fork()
    if child == 0:
        entries = store.chart("p2").at(NOW).search(Search("Observation")).entries()
        fresh = store._process == os.getpid()
        os.write(wrote, b"%d %d" % (len([entry.body for entry in entries]), fresh))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 20) == b"1200 1"
    os.close(read)
    os.close(wrote)
    assert store.chart("p2").at(NOW).count("Observation") == 1200


def test_open_charts_are_bounded(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "x") as writer:
        for number in range(70):
            writer.add(f"p{number}", ChartBuilder(f"p{number}").resources())
    store = ChartStore.open(tmp_path / "x")
    first = store.chart("p0")
    assert store.chart("p0") is first
    for patient in store.patients():
        store.chart(patient)
    assert len(store._charts) == 64


def test_the_file_cannot_be_written_through_the_store(path: Path) -> None:
    store = ChartStore.open(path)
    with pytest.raises(DataError, match="readonly"):
        store._query("DELETE FROM charts")

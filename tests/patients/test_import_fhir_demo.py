"""The open FHIR data beside the checkout imports whole: counts, nothing invalid stored, and back again."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from wardround.patients import ChartStore, Search, export_ndjson, import_fhir, parse_instant
from wardround.patients.importers import ImportReport


def folder(shared: Path, name: str) -> Path:
    found = shared / "data" / name
    if not found.is_dir():
        pytest.skip(f"no {name} in shared/data")
    return found


def checked(source: Path, out: Path) -> ImportReport:
    report = import_fhir(source, out, licence="test")
    for table in report.tables:
        assert table.read == table.kept + sum(one.count for one in table.refused)
    return report


def back_again(out: Path, tmp_path: Path) -> bool:
    with ChartStore.open(out) as store:
        export_ndjson(store, tmp_path / "ndjson")
        again = import_fhir(tmp_path / "ndjson", tmp_path / "again.sqlite", licence="test")
        mixed = shuffled(lines_of(tmp_path / "ndjson"), tmp_path / "mixed", 5)
        other = import_fhir(mixed, tmp_path / "other.sqlite", licence="test")
        assert again.refused == other.refused == again.invalid == other.invalid == 0
        return again.store_hash == other.store_hash == store.hash


def shuffled(lines: list[bytes], folder: Path, seed: int) -> Path:
    """Write lines in another order, over files that are plain or gz and named for nothing."""
    mixed = list(lines)
    random.Random(seed).shuffle(mixed)
    folder.mkdir()
    for number in range(7):
        text = b"\n".join(mixed[number::7])
        if number % 2:
            (folder / f"part{number}.ndjson.gz").write_bytes(gzip.compress(text, compresslevel=1))
        else:
            (folder / f"part{number}.jsonl").write_bytes(text)
    return folder


def lines_of(folder: Path) -> list[bytes]:
    found: list[bytes] = []
    for path in sorted(folder.iterdir()):
        if ".ndjson" in path.name:
            raw = path.read_bytes()
            found += (gzip.decompress(raw) if path.suffix == ".gz" else raw).splitlines()
    return found


def test_synthea_bundles(shared: Path, tmp_path: Path) -> None:
    report = checked(folder(shared, "synthea"), tmp_path / "a.sqlite")
    assert report.patients == 30 and report.invalid == 0
    wanted = {
        "Observation": 3225,
        "Encounter": 487,
        "Condition": 167,
        "MedicationRequest": 122,
        "DiagnosticReport": 213,
        "Claim": 609,
        "ExplanationOfBenefit": 487,
        "Goal": 33,
        "ImagingStudy": 9,
    }
    assert {kind: report.resources[kind] for kind in wanted} == wanted
    assert {one.reason for table in report.tables for one in table.refused} == {"a copy of a resource that is kept"}


def test_synthea_notes(shared: Path, tmp_path: Path) -> None:
    report = checked(folder(shared, "synthea-notes"), tmp_path / "a.sqlite")
    assert report.patients == 13 and report.invalid == 0 and report.resources["DocumentReference"] == 1215
    # every one of the 10,037 conditional references leads somewhere
    assert not [note for table in report.tables for note in table.notes if "reference" in note]
    with ChartStore.open(tmp_path / "a.sqlite") as store:
        found = [store.chart(one).at(parse_instant("2200")) for one in store.patients()]
        assert all(one.search(Search("DocumentReference", keyword="chief complaint")).total for one in found)


def test_us_core_is_mended_and_kept_whole(shared: Path, tmp_path: Path) -> None:
    report = checked(folder(shared, "us-core"), tmp_path / "a.sqlite")
    assert report.patients == 3 and report.resources["Observation"] == 39
    # its forms are not quite R4 in four types: mended and counted, nothing is refused
    assert report.invalid == report.refused == 0
    mended = {table.table for table in report.tables for note in table.notes if "array" in note or "not allow" in note}
    assert mended == {"DiagnosticReport", "DocumentReference", "Encounter", "Organization"}
    assert back_again(tmp_path / "a.sqlite", tmp_path)


@pytest.mark.external
@pytest.mark.parametrize("name", ["synthea", "synthea-notes"])
def test_every_source_comes_back_in_any_order_and_over_any_files(shared: Path, tmp_path: Path, name: str) -> None:
    report = checked(folder(shared, name), tmp_path / "a.sqlite")
    if lines := lines_of(folder(shared, name)):  # bundles are no lines: their urn:uuid names hold inside them only
        mixed = shuffled(lines, tmp_path / "source", 7)
        assert checked(mixed, tmp_path / "b.sqlite").store_hash == report.store_hash
    assert back_again(tmp_path / "a.sqlite", tmp_path)


@pytest.fixture(scope="module")
def mimic_on_fhir(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ImportReport, Path]]:
    out = tmp_path_factory.mktemp("mimic-fhir") / "charts.sqlite"
    yield checked(folder(shared, "mimic-iv-fhir-demo"), out), out


@pytest.mark.external
def test_mimic_on_fhir(mimic_on_fhir: tuple[ImportReport, Path], shared: Path, tmp_path: Path) -> None:
    report, out = mimic_on_fhir
    assert report.patients == 74 and report.invalid == 0 and sum(table.read for table in report.tables) == 116_947
    wanted = {"Condition": 4050, "Encounter": 494, "MedicationRequest": 13396, "MedicationAdministration": 42978}
    assert {kind: report.resources[kind] for kind in wanted} == wanted
    with ChartStore.open(out) as store:
        snapshot = store.chart("10007795").at(parse_instant("2300"))
        assert snapshot.read("Encounter", "28477357") is not None
        assert all("medicationReference" not in one for one in snapshot.resources("MedicationRequest"))
        names = {one["medicationCodeableConcept"].get("text") for one in snapshot.resources("MedicationRequest")}
        assert None not in names and len(names) > 20
    assert {one.reason for table in report.tables for one in table.refused} == {"no chart refers to it"}
    mixed = shuffled(lines_of(folder(shared, "mimic-iv-fhir-demo")), tmp_path / "source", 3)
    assert checked(mixed, tmp_path / "mixed.sqlite").store_hash == report.store_hash
    assert back_again(out, tmp_path)

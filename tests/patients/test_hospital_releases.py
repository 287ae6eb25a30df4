"""Releases and the building of stores: the same bytes whatever the workers, splits apart, built once into the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wardround.patients import (
    ChartStore,
    UsageError,
    build_hospital,
    interview_problems,
    is_hospital_stay,
    load_charts,
    release_names,
    validate,
)
from wardround.patients.caching import CACHE_VARIABLE
from wardround.patients.hospital import releases
from wardround.patients.hospital.building import TYPES, rates_of
from wardround.patients.hospital.flaws import CLEAN, flawed
from wardround.patients.hospital.releases import split_of

SEED, PATIENTS = 31, 6
MINI = "61a61b7defb7a76497668bfa2799f50b"
"""Content hash of `hospital-mini`: what moves it moves every session made of it, and is told in the changelog."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChartStore]:
    path = tmp_path_factory.mktemp("hospital") / "charts.sqlite"
    build_hospital(path, SEED, range(PATIENTS))
    with ChartStore.open(path) as store:
        yield store


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two releases of few patients, and an empty cache."""
    few = {
        "hospital-v1": {"seed": 5, "flaws": "mix", "splits": {"public": [0, 2], "train": [2, 5], "heldout": [5, 6]}},
        "hospital-mini": {"seed": 6, "flaws": "clean", "splits": {"": [0, 2]}},
    }
    monkeypatch.setattr(releases, "_releases", lambda: few)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


def test_the_names_of_the_releases_and_their_sizes() -> None:
    assert release_names() == (
        "hospital-v1", "hospital-v1/public", "hospital-v1/train", "hospital-v1/heldout", "hospital-mini",
    )  # fmt: skip
    sizes = {
        name: {split: end - first for split, (first, end) in release["splits"].items()}
        for name, release in releases._releases().items()
    }
    assert sizes == {"hospital-v1": {"public": 300, "train": 1000, "heldout": 200}, "hospital-mini": {"": 40}}


def test_the_small_release_is_the_one_that_was_published() -> None:
    with load_charts("hospital-mini") as mini:
        assert mini.hash == MINI


def test_a_mix_has_flaws_in_about_half_of_the_patients() -> None:
    kinds = [rates_of("mix", 1, index) for index in range(400)]
    assert set(kinds) == {CLEAN, flawed()}
    assert 160 < kinds.count(CLEAN) < 240
    assert {rates_of("clean", 1, index) for index in range(9)} == {CLEAN}


def test_every_resource_of_a_built_store_is_valid_and_refers_to_what_is_there(built: ChartStore) -> None:
    for patient in built.patients():
        snapshot = built.chart(patient).at(2**61)
        found = {kind: list(snapshot.resources(kind)) for kind in snapshot.chart.index.spans}
        there = {f"{kind}/{one['id']}" for kind, group in found.items() for one in group}
        for group in found.values():
            for one in group[:: max(len(group) // 40, 1)]:
                assert validate(one) == []
        text = str(found)
        references = {part.partition("'")[0] for part in text.split("'reference': '")[1:]}
        assert references <= there
        assert any(is_hospital_stay(one) for one in found["Encounter"])
    assert built.header["imported"] == sorted(TYPES)
    assert built.header["provenance"]["seed"] == SEED


def test_every_encounter_that_talks_has_an_interview_and_every_patient_a_truth(built: ChartStore) -> None:
    for patient in built.patients():
        truth = built.truth(patient)
        assert truth is not None
        assert truth.diagnoses
        stays = {one["id"] for one in built.chart(patient).at(2**61).resources("Encounter")}
        interviews = built.interviews(patient)
        assert interviews
        assert stays.issuperset(interviews)
        for told in interviews.values():
            assert interview_problems(told) == []
        keys = set(truth.provenance.keys())
        snapshot = built.chart(patient).at(2**61)
        assert keys == {
            f"{kind}/{one['id']}" for kind in snapshot.chart.index.spans for one in snapshot.resources(kind)
        }


def test_the_bytes_do_not_depend_on_the_workers(tmp_path: Path, built: ChartStore) -> None:
    seen: list[tuple[int, int]] = []
    report = build_hospital(
        tmp_path / "two.sqlite",
        SEED,
        range(PATIENTS),
        workers=2,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert (tmp_path / "two.sqlite").read_bytes() == built.path.read_bytes()
    assert report.store_hash == built.hash
    assert seen == [(done, PATIENTS) for done in range(1, PATIENTS + 1)]
    assert report.as_dict()["tables"] == [{"table": "patients", "read": 6, "kept": 6, "refused": []}]
    assert sum(report.resources.values()) == sum(len(built.chart(one)) for one in built.patients())


def test_a_patient_depends_on_seed_and_index_alone(tmp_path: Path, built: ChartStore) -> None:
    build_hospital(tmp_path / "tail.sqlite", SEED, range(4, PATIENTS))
    with ChartStore.open(tmp_path / "tail.sqlite") as tail:
        assert tail.patients() == built.patients()[4:]
        for patient in tail.patients():
            assert tail.stored(patient) == built.stored(patient)
    build_hospital(tmp_path / "other.sqlite", SEED + 1, range(2))
    with ChartStore.open(tmp_path / "other.sqlite") as other:
        assert set(other.patients()).isdisjoint(built.patients())


_HASH = """
import sys
from wardround.patients import build_hospital
print(build_hospital(sys.argv[1], 31, range(2)).store_hash)
"""


@pytest.mark.parametrize("where", [{"PYTHONHASHSEED": "7", "TZ": "Asia/Shanghai", "LC_ALL": "C", "LANG": "C"}])
def test_the_hash_depends_on_no_environment(where: dict[str, str], tmp_path: Path, built: ChartStore) -> None:
    command = [sys.executable, "-c", _HASH, str(tmp_path / "there.sqlite")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | where)
    with ChartStore.open(tmp_path / "there.sqlite") as there:
        assert there.hash == done.stdout.strip()
        assert [there.stored(one) for one in there.patients()] == [built.stored(one) for one in there.patients()]


def test_wrong_wishes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one of clean, flawed, mix"):
        build_hospital(tmp_path / "x.sqlite", 1, range(1), flaws="some")
    with pytest.raises(UsageError, match="no patients"):
        build_hospital(tmp_path / "x.sqlite", 1, range(0))
    with pytest.raises(UsageError, match="hospital-v1/public"):
        load_charts("hospital-v2")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small")
def test_splits_are_built_on_first_use_and_joined(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with load_charts("hospital-v1/train") as train:
        assert len(train) == 3
        assert train.header["provenance"]["split"] == "train"
        assert "hospital-v1/train: 3/3 patients" in capsys.readouterr().err
        with load_charts("hospital-v1/train") as again:
            assert again.hash == train.hash
        assert capsys.readouterr().err == ""
        with load_charts("hospital-v1") as whole:
            assert len(whole) == 6
            assert whole.patients()[2:5] == train.patients()
            assert whole.stored(train.patients()[0]) == train.stored(train.patients()[0])
            assert {split_of("hospital-v1", one) for one in train.patients()} == {"train"}
            assert {split_of("hospital-v1", one) for one in whole.patients()} == {"public", "train", "heldout"}
        told = capsys.readouterr().err
        assert "hospital-v1/public" in told and "hospital-v1/train" not in told
    assert len(list((tmp_path / "cache").iterdir())) == 4


@pytest.mark.usefixtures("small")
def test_mini_opens_and_other_patients_are_of_no_split() -> None:
    with load_charts("hospital-mini") as mini:
        assert len(mini) == 2
        assert all(truth is not None and not truth.flaws for truth in map(mini.truth, mini.patients()))
    with pytest.raises(UsageError, match="is no patient of `hospital-mini`"):
        split_of("hospital-mini", "h000000-00009")
    with pytest.raises(UsageError, match="no release `hospital-v9`"):
        split_of("hospital-v9", "h000000-00009")

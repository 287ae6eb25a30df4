"""The standard sets: every cell, quotas, time, check whole; and the same command on the MIMIC demo."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from wardround.agents import check_set
from wardround.patients import ChartStore, load_charts
from wardround.patients.importers.mimic import import_mimic
from wardround.sessions import (
    SessionSet,
    charts_of,
    check_session,
    doubles,
    generate,
    load_sessions,
    set_statistics,
)
from wardround.sessions.planning.scenarios import ARCS
from wardround.sessions.planning.standard import build_set, named_sets

pytestmark = pytest.mark.external

V1, TRAIN, MINI = "physassist-hospital-v1", "physassist-hospital-train-v1", "physassist-hospital-mini"
SECONDS = 60
"""For the public set from ready charts, on one core of an idle machine."""


@pytest.fixture(scope="module")
def public() -> SessionSet:
    return load_sessions(V1)


@pytest.fixture(scope="module")
def train() -> SessionSet:
    return load_sessions(TRAIN, workers=2)


def test_every_cell_once_and_two_sessions_a_patient_at_most(public: SessionSet) -> None:
    cells = Counter((one.scenario, one.tier, one.labels["arc"]) for one in public)
    assert len(cells) == 12 * len(ARCS) and set(cells.values()) == {1}
    assert max(Counter(one.chart.patient for one in public).values()) <= 2


def test_quotas(public: SessionSet) -> None:
    counts = set_statistics(public)
    tasks, turns = counts["by_task_turn"], 4 * counts["sessions"]
    assert tasks["IL"]["T0"] == 324
    assert {tasks[task][turn] for task in ("IL", "DG", "CR") for turn in ("T1", "T2")} == {108}
    assert {tasks[task]["T3"] for task in ("DG", "CR", "WU")} == {108}
    kinds = {name: sum(found.get(turn, 0) for turn in ("T1", "T2", "T3")) for name, found in
             counts["by_implicitness_turn"].items()}  # fmt: skip
    third = sum(kinds[name] for name in ("NA", "PE", "AE")) / 3
    assert all(0.9 * third <= kinds[name] <= 1.1 * third for name in ("NA", "PE", "AE"))
    assert kinds.get("explicit", 0) <= 0.2 * 972
    assert min(counts["topics"].values()) >= 15 and min(counts["pairs"].values()) >= 8
    assert min(counts["by_write"].values()) >= 0.2 * 108 and len(counts["by_write"]) == 3
    assert 0.3 <= counts["unchanged"]["yes"] / counts["unchanged"]["of"] <= 0.5
    assert counts["adaptive"]["yes"] * 3 >= counts["adaptive"]["of"]
    assert counts["turned"]["yes"] * 2 >= counts["turned"]["of"]
    assert counts["conflicts"] >= 108 and counts["tools_missing"] == []
    assert max(counts["by_lab"].values()) <= 0.15 * turns


@pytest.mark.parametrize("name", [V1, MINI])
def test_a_set_passes_whole(name: str) -> None:
    sessions = load_sessions(name)
    with load_charts(charts_of(name)) as store:
        report = check_set(sessions, store)
    assert report["failures"] == []
    assert report["mrs"]["oracle"] == 1.0 and report["mrs"]["silent"] == 0.0


def test_the_public_set_is_made_quickly_and_the_same_again(public: SessionSet) -> None:
    with load_charts(charts_of(V1)) as store:
        start = time.process_time()
        made = build_set(store, named_sets()[V1])
        spent = time.process_time() - start
    print(f"{len(made)} sessions in {spent:.1f} s")
    assert SessionSet(made).hash == public.hash
    assert spent <= SECONDS


@pytest.mark.parametrize("name", [V1, TRAIN, MINI])
def test_the_hash_of_a_set_is_pinned(name: str) -> None:
    pinned = named_sets()[name].hash
    assert pinned is not None, "write the set's hash into sessions/planning/data/sets.json"
    assert load_sessions(name).hash == pinned


def test_every_session_of_the_train_set_passes_the_gates_and_none_is_asked_twice(train: SessionSet) -> None:
    with load_charts(charts_of(TRAIN)) as store:
        failures = [fault for one in train for fault in check_session(one, store.chart(one.chart.patient))]
    assert failures == []
    assert doubles(train) == []


def test_the_train_set_is_large_and_shares_at_most_half_of_its_wording(public: SessionSet, train: SessionSet) -> None:
    assert len(train) >= 3000
    assert max(Counter(one.chart.patient for one in train).values()) <= 5
    assert train.trainable and not public.trainable
    mine, other = ({shape for one in found for shape in one.labels["shapes"].split()} for found in (train, public))
    assert len(mine & other) * 2 <= len(mine | other)


def test_the_same_command_makes_sessions_from_the_mimic_demo(mimic_demo: Path, tmp_path: Path) -> None:
    import_mimic(mimic_demo, tmp_path / "mimic.sqlite")
    with ChartStore.open(tmp_path / "mimic.sqlite") as store:
        made = SessionSet(generate(store, seed=1).sessions)
        assert {one.licence for one in made} == {"credentialed"}
        assert len(made) >= 80
        assert check_set(made, store)["failures"] == []

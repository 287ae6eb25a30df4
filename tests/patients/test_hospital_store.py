"""What is behind a chart in the store: interviews by encounter and truth, hashed, and seen by no tool."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hospital_fixture as fixture
import pytest

from wardround.patients import (
    ChartStore,
    DataError,
    Fact,
    Interview,
    StoreWriter,
    Truth,
    export_ndjson,
    import_fhir,
    load_charts,
)
from wardround.patients.behind import behind as kept
from wardround.patients.hospital.charting import chart_record
from wardround.patients.hospital.flaws import FlawRates, plant_counted
from wardround.patients.hospital.truth import make_truth

PATIENT = fixture.PATIENT
RATES = FlawRates(unit_slip=1000, missing=1000)


def told(state: str) -> Interview:
    return Interview(facts=(Fact(id="a", kind="adherence", concept="x", drug="x", state=state, source="simulated"),))


INTERVIEWS = {f"{PATIENT}-e1": told("taking"), f"{PATIENT}-e2": told("stopped"), f"{PATIENT}-e5": told("unsure")}


def truth() -> Truth:
    planted = plant_counted(fixture.make_record(), RATES)
    charted = chart_record(planted.record)
    return make_truth(fixture.make_life(), planted.record, charted.provenance, planted.eligible)


def write(path: Path, *, behind: bool = True) -> str:
    charted = chart_record(plant_counted(fixture.make_record(), RATES).record)
    more: dict[str, Any] = {"interviews": INTERVIEWS, "truth": truth()} if behind else {}
    with StoreWriter(path) as writer:
        writer.add(PATIENT, charted.builder.resources(), **more)
        return writer.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChartStore]:
    write(tmp_path / "charts.sqlite")
    with ChartStore.open(tmp_path / "charts.sqlite") as opened:
        yield opened


def test_interviews_come_back_by_encounter_and_the_last_without_one(store: ChartStore) -> None:
    assert store.interviews(PATIENT) == INTERVIEWS
    assert list(store.interviews(PATIENT)) == list(INTERVIEWS)
    assert store.interview(PATIENT, f"{PATIENT}-e2") == told("stopped")
    assert store.interview(PATIENT, f"{PATIENT}-e3") is None
    assert store.interview(PATIENT) == told("unsure")


def test_one_interview_of_several_encounters_is_stored_once(tmp_path: Path) -> None:
    first, other = told("stopped"), told("unsure")
    shared = {f"{PATIENT}-e1": first, f"{PATIENT}-e2": told("stopped"), f"{PATIENT}-e3": other}
    rows = kept(PATIENT, shared, None).visits
    assert [encounter for encounter, _, _ in rows] == list(shared)
    assert len(rows[1][2]) < 60 < len(rows[0][2])
    path = tmp_path / "shared.sqlite"
    charted = chart_record(plant_counted(fixture.make_record(), RATES).record)
    with StoreWriter(path) as writer:
        writer.add(PATIENT, charted.builder.resources(), interviews=dict(list(shared.items())[:2]))
        writer.close()
    with ChartStore.open(path) as opened:
        assert opened.interviews(PATIENT) == {f"{PATIENT}-e1": first, f"{PATIENT}-e2": first}
        assert opened.interview(PATIENT, f"{PATIENT}-e2") == first
        assert opened.interview(PATIENT) == first


def test_the_truth_comes_back_whole(store: ChartStore) -> None:
    found = store.truth(PATIENT)
    assert found == truth()
    assert found is not None
    assert [one.fact for one in found.diagnoses] == ["d1", "d2"]
    assert found.diagnoses[1].first_known == fixture.when("06-02 07:40")
    assert [one.owners for one in found.findings if one.fact == "s2"] == [(("d2", "highly_suggestive"),)]
    assert [(one.state, one.charted) for one in found.medications] == [("stopped", False)]
    assert [(one.fact, one.charted, one.truth) for one in found.said] == [("ad1", "taking", "stopped")]
    assert {one.kind for one in found.flaws} == {"missing", "unit_slip"}
    assert found.eligible["unit_slip"] == sum(one.kind == "unit_slip" for one in found.flaws)


def test_truth_is_of_the_life_not_of_what_was_charted(store: ChartStore) -> None:
    found = store.truth(PATIENT)
    assert found is not None
    gone = next(one for one in found.flaws if one.detail == "result")
    assert store.chart(PATIENT).at(2**61).read(*gone.places[0].split("/")) is None
    assert gone.right
    assert found.provenance.traces("l1"), "a note or a value rests on it"


def test_what_is_behind_changes_no_chart_and_no_search(tmp_path: Path, store: ChartStore) -> None:
    assert write(tmp_path / "plain.sqlite", behind=False) == store.hash
    with ChartStore.open(tmp_path / "plain.sqlite") as plain:
        assert "truths_hash" not in plain.header
        assert plain.truth(PATIENT) is None
        assert plain.interviews(PATIENT) == {}
        assert plain.interview(PATIENT) is None
        assert plain.stored(PATIENT)[0] == store.stored(PATIENT)[0]
    assert store.header["truths"] == 1
    assert store.header["visits"] == 3
    snapshot = store.chart(PATIENT).at(2**61)
    text = str([list(snapshot.resources(kind)) for kind in snapshot.chart.index.spans])
    assert "unit_slip" not in text
    assert "it made me tired" not in text


def test_a_store_without_the_tables_opens(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    write(path, behind=False)
    database = sqlite3.connect(path)
    database.executescript("DROP TABLE visits; DROP TABLE truths;")
    database.close()
    with ChartStore.open(path) as old:
        assert old.truth(PATIENT) is None
        assert old.interview(PATIENT) is None
        assert old.stored(PATIENT)[1].visits == ()


@pytest.mark.parametrize("table", ["visits", "truths"])
def test_damage_is_noticed(tmp_path: Path, table: str) -> None:
    path = tmp_path / "charts.sqlite"
    write(path)
    database = sqlite3.connect(path)
    database.execute(f"UPDATE {table} SET body = x'00'")
    database.commit()
    database.close()
    with ChartStore.open(path) as damaged, pytest.raises(DataError, match="is damaged"):
        damaged.truth(PATIENT) if table == "truths" else damaged.interviews(PATIENT)


def test_a_chart_is_copied_with_all_that_is_behind_it(tmp_path: Path, store: ChartStore) -> None:
    packed, behind = store.stored(PATIENT)
    with StoreWriter(tmp_path / "copy.sqlite") as writer:
        writer.add_packed(packed)
        writer.add_behind(behind)
        writer.close()
    with ChartStore.open(tmp_path / "copy.sqlite") as copy:
        assert copy.hash == store.hash
        assert copy.header["truths_hash"] == store.header["truths_hash"]
        assert copy.interviews(PATIENT) == INTERVIEWS
        assert copy.truth(PATIENT) == store.truth(PATIENT)
        snapshots = [one.chart(PATIENT).at(fixture.when("06-04 12:00")) for one in (copy, store)]
        mine, other = (list(one.resources("Observation")) for one in snapshots)
        assert mine == other


def test_the_ward_has_interviews_as_before_and_no_truth() -> None:
    with load_charts("ward") as ward:
        assert ward.interview("ward-01") is not None
        assert ward.interviews("ward-01") == {}
        assert ward.truth("ward-01") is None


def test_export_says_what_stays_behind_and_comes_back_as_the_same_charts(tmp_path: Path, store: ChartStore) -> None:
    report = export_ndjson(store, tmp_path / "out")
    assert (report.interviews_left_out, report.truths_left_out) == (3, 1)
    back = import_fhir(tmp_path / "out", tmp_path / "back.sqlite", licence="CC0-1.0")
    assert back.invalid == 0
    assert back.store_hash == store.hash

"""The timeline and the overview: what they show, in which order, and that they hold the clock."""

from __future__ import annotations

from pathlib import Path

from wardround.patients import (
    NEVER,
    ChartBuilder,
    ChartStore,
    StoreWriter,
    load_charts,
    never_visible,
    overview,
    parse_instant,
    printable,
    timeline,
)


def test_a_timeline_holds_every_known_resource_once_in_order_of_time() -> None:
    with load_charts("ward") as store:
        for patient in store.patients():
            chart = store.chart(patient)
            events = timeline(chart.at(NEVER - 1))
            assert len({event.key for event in events}) == len(events) == len(chart) - chart.index.counts["Patient"]
            dated = [event.time for event in events if event.time is not None]
            assert dated == sorted(dated)


def test_a_timeline_at_an_anchor_shows_nothing_later() -> None:
    with load_charts("ward") as store:
        chart = store.chart("ward-01")
        now = parse_instant("2024-05-16T10:00:00Z")
        events = timeline(chart.at(now))
        assert events and all(event.known is not None and event.known <= now for event in events)
        assert len(events) < len(timeline(chart.at(NEVER - 1)))
        metformin = next(
            event
            for event in events
            if event.type == "MedicationRequest" and event.columns["medication"] == "Metformin"
        )
        assert metformin.columns["status"] == "active" and metformin.columns["end"] is None
        assert "active" in metformin.text


def test_filters() -> None:
    with load_charts("ward") as store:
        snapshot = store.chart("ward-01").at(NEVER - 1)
        start, end = parse_instant("2024-05-13"), parse_instant("2024-05-14")
        labs = timeline(snapshot, types=("Observation",), start=start, end=end)
        assert labs and {event.type for event in labs} == {"Observation"}
        assert all(event.time is not None and start <= event.time < end for event in labs)
        stay = next(iter(timeline(snapshot, types=("Encounter",)))).columns["id"]
        mine = timeline(snapshot, encounter=stay)
        assert mine and all(event.columns.get("encounter") == stay for event in mine if event.type != "Encounter")


def test_an_overview_counts_what_the_store_counts() -> None:
    with load_charts("ward") as store:
        types = {one.type: one for one in overview(store)}
        assert {kind: one.resources for kind, one in types.items()} == store.header["resources"]
        assert types["Patient"].patients == len(store.patients()) and types["Patient"].first is None
        labs = types["Observation"]
        assert labs.first is not None and labs.last is not None and labs.first < labs.last


def test_what_nothing_dates_is_counted_not_shown(tmp_path: Path) -> None:
    builder = ChartBuilder("p1", sex="female", birth_date="1950-01-01")
    builder.encounter("e1", "IMP", "2020-01-01T08:00:00Z")
    flag = {
        "resourceType": "Flag", "id": "f1", "status": "active", "code": {"text": "Falls"},
        "subject": {"reference": "Patient/p1"},
    }  # fmt: skip
    with StoreWriter(tmp_path / "s.sqlite") as writer:
        writer.add("p1", [*builder.resources(), (flag, NEVER)])
    with ChartStore.open(tmp_path / "s.sqlite") as store:
        snapshot = store.chart("p1").at(NEVER - 1)
        assert never_visible(snapshot) == 1
        assert [event.key for event in timeline(snapshot)] == ["Encounter/e1"]


def test_control_characters_of_a_record_never_reach_a_terminal() -> None:
    assert printable("a\x1b[31mred\x07\n\tb\u202ec") == "a [31mred b c"

"""Observations read once are the ones of the record, at every instant."""

from __future__ import annotations

from wardround.patients import load_charts, measurements
from wardround.sessions.observed import observed
from wardround.sessions.planning.case import rounds


def test_what_is_observed_is_what_the_record_holds_then() -> None:
    with load_charts("ward") as store:
        patient = sorted(store.patients())[0]
        counts = set()
        both = (*rounds(store, patient, "mid-stay"), *rounds(store, patient, "discharge"))
        for _, instant in both:
            snapshot = store.chart(patient).at(instant)
            found, resources = observed(snapshot), list(snapshot.resources("Observation"))
            assert [one.key for one in found] == [f"Observation/{one['id']}" for one in resources]
            assert [one.measurements for one in found] == [measurements(one) for one in resources]
            signs = ["vital-signs" in str(one.get("category")) for one in resources]
            assert [one.sign for one in found] == signs
            counts.add(len(found))
        assert len(counts) > 1  # what was not known yet in the middle of the stay is not there

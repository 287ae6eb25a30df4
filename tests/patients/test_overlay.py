"""Overlays: an episode's writes are seen by itself at once, by nobody else, and in their place."""

from __future__ import annotations

import pickle
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wardround.patients import (
    ChartBuilder,
    DataError,
    InvalidResource,
    Overlay,
    Search,
    UsageError,
    parse_instant,
    validate,
)
from wardround.patients.chart import memory_chart
from wardround.patients.packing import pack
from wardround.patients.resource import decimal, known_at
from wardround.patients.workspace import FileRefused

NOW = parse_instant("2180-05-03T12:00:00Z")
SUBJECT = {"reference": "Patient/p"}


@pytest.fixture
def overlay() -> Overlay:
    build = ChartBuilder("p")
    build.encounter("e1", "IMP", "2180-05-01 07:00")
    for day in (1, 2, 3):
        build.medication("Warfarin", dose="5 mg", start=f"2180-05-0{day} 08:00", encounter="e1", id=f"w{day}")
    build.lab("Sodium", "140", "mmol/L", at="2180-05-03 08:00", id="na")
    return Overlay(build.chart().at(NOW))


def order(name: str = "Metformin", **more: Any) -> dict[str, Any]:
    return {
        "resourceType": "MedicationRequest", "status": "active", "intent": "order", "subject": SUBJECT,
        "medicationCodeableConcept": {"text": name}, "authoredOn": "2180-05-03T12:00:00Z", **more,
    }  # fmt: skip


OTHERS: list[dict[str, Any]] = [
    {"resourceType": "ServiceRequest", "status": "active", "intent": "plan", "subject": SUBJECT, "code": {"text": "x"}},
    {"resourceType": "Flag", "status": "active", "code": {"text": "falls"}, "subject": SUBJECT},
    {"resourceType": "Observation", "status": "final", "code": {"text": "Pain"}, "subject": SUBJECT, "valueInteger": 3},
    {"resourceType": "DiagnosticReport", "status": "final", "code": {"text": "ECG"}, "subject": SUBJECT},
    {"resourceType": "Communication", "status": "completed", "subject": SUBJECT, "payload": [{"contentString": "hi"}]},
    {
        "resourceType": "Appointment", "status": "booked", "start": "2180-06-01T08:00:00Z",
        "end": "2180-06-01T08:30:00Z", "participant": [{"actor": SUBJECT, "status": "accepted"}],
    },
    {"resourceType": "CarePlan", "status": "active", "intent": "plan", "subject": SUBJECT, "title": "go"},
    {
        "resourceType": "DocumentReference", "status": "current", "subject": SUBJECT,
        "content": [{"attachment": {"contentType": "text/plain", "data": "aGVsbG8="}}],
    },
]  # fmt: skip


def test_a_write_is_stamped_and_seen_at_once(overlay: Overlay) -> None:
    entry = overlay.create(order())
    resource = entry.resource()
    assert entry.key == "MedicationRequest/new-1" and validate(entry.body) == []
    assert resource["meta"]["versionId"] == "1" and resource["meta"]["lastUpdated"] == "2180-05-03T12:00:00Z"
    assert known_at(resource) == NOW
    assert overlay.read("MedicationRequest", "new-1") is entry
    assert [found.id for found in overlay.search(Search("MedicationRequest")).entries()] == ["new-1", "w3", "w2", "w1"]
    assert overlay.search(Search("MedicationRequest", text="metformin")).total == 1
    assert overlay.names("MedicationRequest") == ("Metformin", "Warfarin")
    assert overlay.count("MedicationRequest") == 4
    assert next(iter(overlay.resources("MedicationRequest")))["id"] == "new-1"
    assert overlay.snapshot.search(Search("MedicationRequest")).total == 3


@pytest.mark.parametrize("resource", OTHERS, ids=lambda one: one["resourceType"])
def test_any_type_can_be_written(overlay: Overlay, resource: dict[str, Any]) -> None:
    kind = resource["resourceType"]
    before = dict(resource)
    entry = overlay.create(resource)
    assert resource == before
    assert overlay.imported(kind)
    assert entry in overlay.search(Search(kind)).entries()
    assert orjson.loads(entry.row)[0] == "new-1"


def test_an_invalid_write_leaves_nothing(overlay: Overlay) -> None:
    before = overlay.state_hash
    with pytest.raises(InvalidResource) as caught:
        overlay.create({"resourceType": "Flag", "status": "odd", "code": {"text": "x"}, "subject": SUBJECT})
    assert any("status" in problem for problem in caught.value.problems)
    assert overlay.writes == () and overlay.state_hash == before
    assert overlay.create(order()).id == "new-1"


def test_order_among_chart_and_writes(overlay: Overlay) -> None:
    def dated(day: int) -> dict[str, Any]:
        return order(dispenseRequest={"validityPeriod": {"start": f"2180-05-0{day}T08:00:00Z"}})

    for day in (2, 2, 9, 1):
        overlay.create(dated(day))
    hits = overlay.search(Search("MedicationRequest"))
    wanted = ["new-3", "w3", "new-2", "new-1", "w2", "new-4", "w1"]
    assert [entry.id for entry in hits.entries()] == wanted
    for offset in range(8):
        for count in (1, 2, 3, 10):
            assert [entry.id for entry in hits.entries(offset, count)] == wanted[offset : offset + count]
    assert hits.total == 7


def test_filters_hold_for_writes(overlay: Overlay) -> None:
    overlay.create(order(encounter={"reference": "Encounter/e1"}))
    overlay.create({**OTHERS[1], "category": [{"coding": [{"code": "safety"}]}]})
    assert overlay.search(Search("MedicationRequest", encounter="e1")).total == 4
    assert overlay.search(Search("MedicationRequest", encounter="e2")).total == 0
    assert overlay.search(Search("MedicationRequest", status="stopped")).total == 0
    assert overlay.search(Search("MedicationRequest", date_from=NOW)).total == 1
    assert overlay.search(Search("MedicationRequest", date_to=NOW)).total == 3
    assert overlay.search(Search("Flag", category="safety")).total == 1
    assert overlay.search(Search("Flag", category="allergy")).total == 0
    overlay.create(OTHERS[7])
    assert overlay.search(Search("DocumentReference", keyword="HELLO")).total == 1


def test_forks_go_their_own_way(overlay: Overlay) -> None:
    overlay.create(order())
    fork = overlay.fork()
    assert fork.state_hash == overlay.state_hash
    fork.create(order("Digoxin"))
    assert len(overlay.writes) == 1 and len(fork.writes) == 2
    assert fork.state_hash != overlay.state_hash
    overlay.create(order("Digoxin"))
    assert fork.state_hash == overlay.state_hash


def test_the_state_hash_tells_anchors_and_charts_apart(overlay: Overlay) -> None:
    other = Overlay(overlay.snapshot.chart.at(NOW + 1))
    assert other.state_hash != overlay.state_hash
    assert Overlay(overlay.snapshot).state_hash == overlay.state_hash


def test_pickles_with_its_writes(overlay: Overlay) -> None:
    overlay.create(order(dispenseRequest={"validityPeriod": {"start": "2180-05-02T08:00:00Z"}}))
    again = pickle.loads(pickle.dumps(overlay))
    assert again.state_hash == overlay.state_hash
    query = Search("MedicationRequest")
    assert [one.row for one in again.search(query).entries()] == [one.row for one in overlay.search(query).entries()]


def test_a_dose_keeps_its_digits(overlay: Overlay) -> None:
    dose = {"doseAndRate": [{"doseQuantity": {"value": decimal("0.50"), "unit": "mg"}}]}
    entry = overlay.create(order(dosageInstruction=[dose]))
    assert b'"value":0.50' in entry.body and b'"0.50 mg"' in entry.row


def test_reads_what_the_chart_has(overlay: Overlay) -> None:
    entry = overlay.read("Observation", "na")
    assert entry is not None and overlay.read("Observation", "nope") is None
    assert overlay.read("Flag", "na") is None


# -- versions ----------------------------------------------------------------------------------------------------------


def ids(overlay: Overlay, **query: Any) -> list[str]:
    return [entry.id for entry in overlay.search(Search("MedicationRequest", **query)).entries()]


def test_a_change_of_the_chart_is_the_next_version_in_its_place(overlay: Overlay) -> None:
    statuses = {entry.id: entry.resource()["status"] for entry in overlay.search(Search("MedicationRequest")).entries()}
    changed = overlay.update("MedicationRequest/w2", {"status": "on-hold"})
    resource = changed.resource()
    assert (resource["meta"]["versionId"], resource["status"]) == ("2", "on-hold")
    assert resource["meta"]["lastUpdated"] == "2180-05-03T12:00:00Z" and known_at(resource) == NOW
    assert validate(changed.body) == []
    assert overlay.read("MedicationRequest", "w2") is changed
    assert ids(overlay) == ["w3", "w2", "w1"]
    assert ids(overlay, status="on-hold") == ["w2"]
    assert "w2" not in ids(overlay, status=statuses["w2"])
    assert (overlay.count("MedicationRequest"), overlay.names("MedicationRequest")) == (3, ("Warfarin",))
    assert [one["status"] for one in overlay.resources("MedicationRequest")].count("on-hold") == 1
    assert overlay.wrote("MedicationRequest/w2") and overlay.replaced == {"MedicationRequest/w2"}
    assert overlay.snapshot.read("MedicationRequest", "w2").resource()["status"] == statuses["w2"]  # type: ignore[union-attr]
    old, new = overlay.versions("MedicationRequest/w2")
    assert old.resource()["status"] == statuses["w2"] and new is changed


def test_a_changed_status_is_no_longer_derived(overlay: Overlay) -> None:
    tags = overlay.snapshot.read("MedicationRequest", "w1").resource()["meta"].get("tag", [])  # type: ignore[union-attr]
    assert [tag["code"] for tag in tags] == ["derived-status"]
    assert (
        "tag"
        not in overlay.update("MedicationRequest/w1", {"note": [{"text": "x"}], "status": "stopped"}).resource()["meta"]
    )
    kept = overlay.update("MedicationRequest/w2", {"note": [{"text": "x"}]}).resource()
    assert kept["meta"]["tag"] == tags


def test_own_resources_are_versioned_too(overlay: Overlay) -> None:
    overlay.create(order())
    overlay.create(order("Digoxin"))
    overlay.update("MedicationRequest/new-1", {"status": "cancelled", "intent": "order"})
    entry = overlay.update("MedicationRequest/new-1", {"status": "draft", "authoredOn": None})
    resource = entry.resource()
    assert (resource["meta"]["versionId"], resource["status"], "authoredOn" in resource) == ("3", "draft", False)
    assert [mark["valuePositiveInt"] for mark in resource["meta"]["extension"] if "valuePositiveInt" in mark] == [4]
    assert ids(overlay) == ["new-2", "new-1", "w3", "w2", "w1"]
    assert [one.resource()["status"] for one in overlay.versions("MedicationRequest/new-1")] == [
        "active",
        "cancelled",
        "draft",
    ]
    assert (len(overlay.writes), overlay.version, overlay.count("MedicationRequest")) == (4, 4, 5)
    assert [write.entry.id for write in overlay.own("MedicationRequest")] == ["new-1", "new-2"]
    assert overlay.hidden("MedicationRequest") == () and overlay.replaced == frozenset()


def test_pages_of_hits_with_versions_among_them(overlay: Overlay) -> None:
    overlay.update("MedicationRequest/w2", {"status": "on-hold"})
    overlay.create(order(dispenseRequest={"validityPeriod": {"start": "2180-05-02T08:00:00Z"}}))
    overlay.update("MedicationRequest/w3", {"dispenseRequest": {"validityPeriod": {"start": "2180-04-01T08:00:00Z"}}})
    wanted = ["new-2", "w2", "w1", "w3"]
    hits = overlay.search(Search("MedicationRequest"))
    assert [entry.id for entry in hits.entries()] == wanted
    for offset in range(5):
        for count in (0, 1, 2, 9):
            assert [entry.id for entry in hits.entries(offset, count)] == wanted[offset : offset + count]
    assert hits.total == 4 == len(overlay.resources("MedicationRequest"))


def test_a_replaced_name_is_gone(overlay: Overlay) -> None:
    for day in (1, 2, 3):
        assert overlay.names("MedicationRequest") == (("Apixaban", "Warfarin") if day > 1 else ("Warfarin",))
        overlay.replace(f"MedicationRequest/w{day}", order("Apixaban"))
    assert overlay.names("MedicationRequest") == ("Apixaban",)
    assert ids(overlay, text="warfarin") == [] and len(ids(overlay, text="apixaban")) == 3


def test_what_cannot_be_changed(overlay: Overlay) -> None:
    before = overlay.state_hash
    with pytest.raises(UsageError, match="no `MedicationRequest/nope`"):
        overlay.update("MedicationRequest/nope", {"status": "stopped"})
    with pytest.raises(UsageError, match="`id`, `meta`"):
        overlay.update("MedicationRequest/w1", {"id": "x", "meta": {}})
    with pytest.raises(UsageError, match="cannot be a version"):
        overlay.replace("MedicationRequest/w1", OTHERS[1])
    with pytest.raises(InvalidResource):
        overlay.update("MedicationRequest/w1", {"status": "halted"})
    assert overlay.state_hash == before and overlay.versions("MedicationRequest/w1") != () == overlay.writes
    assert overlay.versions("MedicationRequest/nope") == ()


def test_an_id_of_the_chart_is_never_given_twice() -> None:
    build = ChartBuilder("p")
    build.medication("Warfarin", dose="5 mg", start="2180-05-01 08:00", id="new-1")
    overlay = Overlay(build.chart().at(NOW))
    assert overlay.create(order()).id == "new-1-1"
    assert overlay.count("MedicationRequest") == 2


def test_forks_and_pickles_with_versions_and_files(overlay: Overlay) -> None:
    overlay.create(order())
    overlay.update("MedicationRequest/w2", {"status": "on-hold"})
    overlay.workspace = overlay.workspace.write("plan.md", "hold")
    fork = overlay.fork()
    again = pickle.loads(pickle.dumps(overlay))
    for other in (fork, again):
        assert other.state_hash == overlay.state_hash and ids(other) == ids(overlay)
        assert (other.log, other.replaced, other.workspace) == (overlay.log, overlay.replaced, overlay.workspace)
    fork.update("MedicationRequest/w2", {"status": "stopped"})
    again.workspace = again.workspace.write("plan.md", "stop")
    assert len({overlay.state_hash, fork.state_hash, again.state_hash}) == 3
    assert ids(overlay, status="on-hold") == ["w2"] and ids(fork, status="on-hold") == []
    again.workspace = again.workspace.write("plan.md", "hold")
    assert again.state_hash == overlay.state_hash


# -- the write log -----------------------------------------------------------------------------------------------------


def _random_step(overlay: Overlay, number: int, pick: int) -> None:
    """Take one step of a random walk; some are mistakes, which leave nothing."""
    keys = ["MedicationRequest/w1", "MedicationRequest/w2", "MedicationRequest/new-1", "Flag/new-2", "Observation/na"]
    statuses = ["stopped", "on-hold", "odd", "active", "final", "corrected", "inactive"]
    before = overlay.state_hash
    try:
        if number == 0:
            overlay.create(order(dosageInstruction=[{"doseAndRate": [{"doseQuantity": {"value": decimal("1e3")}}]}]))
        elif number == 1:
            overlay.create(OTHERS[pick % len(OTHERS)])
        elif number == 2:
            overlay.update(keys[pick % len(keys)], {"status": statuses[pick // 5 % len(statuses)]})
        elif number == 3:
            overlay.replace(keys[0], order(f"Drug {pick}"))
        elif number == 4:
            overlay.workspace = overlay.workspace.write(("a.md", "b/c.md", "../x", "B/c.md")[pick % 4], f"text {pick}")
        else:
            overlay.workspace = overlay.workspace.delete("a.md")
    except (UsageError, InvalidResource, FileRefused):
        assert overlay.state_hash == before


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 40)), max_size=12))
def test_the_log_replays_to_the_same_state(overlay: Overlay, steps: list[tuple[int, int]]) -> None:
    record = overlay.fork()
    for number, pick in steps:
        if number == 6:
            twin, record = record, record.fork()  # go on in a fork; the other branch goes elsewhere
            _random_step(twin, 0, pick)
        else:
            _random_step(record, number, pick)
    log = orjson.loads(orjson.dumps(record.log))
    again = Overlay.replay(record.snapshot, log)
    assert again.state_hash == record.state_hash and again.log == record.log
    assert ids(again) == ids(record) and again.workspace == record.workspace
    assert pickle.loads(pickle.dumps(again)).state_hash == record.state_hash
    assert overlay.writes == () and overlay.log == []


def test_a_log_of_another_record_is_refused(overlay: Overlay) -> None:
    overlay.create(order())
    overlay.update("MedicationRequest/w1", {"status": "stopped"})
    overlay.workspace = overlay.workspace.write("a", "x")
    log = overlay.log
    first, second, file = log
    later = Overlay(overlay.snapshot.chart.at(NOW + 1))
    for record, steps, said in (
        (later, log, "step 1"),
        (overlay, [second, first], "step 1"),
        (overlay, [first, first], "step 2"),
        (
            overlay,
            [{**first, "body": first["body"].replace("Metformin", "").replace('"text":""', '"text":1')}],
            "step 1",
        ),
        (overlay, [first, {**second, "key": "MedicationRequest/w9"}], "step 2"),
        (overlay, [{**first, "op": "delete"}], "step 1"),
        (overlay, [{"op": "create"}], "step 1"),
        (overlay, [{**first, "body": "{"}], "step 1"),
        (overlay, [first, second, {**file, "path": "../a"}], "step 3"),
        (overlay, ["x"], "step 1"),
    ):
        with pytest.raises(DataError, match=said):
            Overlay.replay(record.snapshot, steps)  # type: ignore[arg-type]


# -- searches against a chart of what there is now ---------------------------------------------------------------------

_NAMES = ("Warfarin", "Apixaban", "Metformin XR")
_STATUSES = ("active", "on-hold", "draft")  # what ends an order has a time by the clock, which packing asks for
_DAYS = ("2180-05-01", "2180-05-02T08:00:00Z", "2180-05-03T12:00:00Z")
_FIELDS = st.fixed_dictionaries(
    {
        "medicationCodeableConcept": st.sampled_from(_NAMES).map(lambda name: {"text": name}),
        "status": st.sampled_from(_STATUSES),
        "authoredOn": st.sampled_from(_DAYS),
        "dispenseRequest": st.none(),
        "encounter": st.sampled_from([{"reference": "Encounter/e1"}, None]),
        "category": st.sampled_from([[{"text": "inpatient"}], None]),
    }
)
_QUERIES = st.builds(
    Search,
    st.just("MedicationRequest"),
    encounter=st.sampled_from([None, "e1", "e9"]),
    category=st.sampled_from([None, "inpatient"]),
    status=st.sampled_from([None, *_STATUSES]),
    text=st.sampled_from([None, "warfarin", "XR", "nothing"]),
    date_from=st.sampled_from([None, parse_instant("2180-05-02"), NOW]),
    date_to=st.sampled_from([None, parse_instant("2180-05-02"), NOW]),
)
_OPS = st.lists(st.tuples(st.sampled_from(["create", "w1", "w2", "w3", "new-1", "new-2"]), _FIELDS), max_size=6)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ops=_OPS, queries=st.lists(_QUERIES, min_size=1, max_size=4))
def test_searches_as_on_a_chart_of_what_there_is_now(
    overlay: Overlay, ops: list[tuple[str, dict[str, Any]]], queries: list[Search]
) -> None:
    record = overlay.fork()
    for target, fields in ops:
        if target == "create":
            record.create({key: value for key, value in {**order(), **fields}.items() if value is not None})
        elif record.read("MedicationRequest", target) is not None:
            record.update(f"MedicationRequest/{target}", fields)
    now = {entry.id: entry for entry in overlay.snapshot.search(Search("MedicationRequest")).entries()}
    now |= {entry.id: entry for entry in record.writes}  # the last version of each wins
    resources = [(entry.resource(), NOW) for entry in now.values()]
    packed = memory_chart(pack("p", resources, "CC0-1.0")).at(NOW)
    for query in [Search("MedicationRequest"), *queries]:
        hits = record.search(query)
        assert {entry.id for entry in hits.entries()} == {entry.id for entry in packed.search(query).entries()}
        assert hits.total == len(hits.entries())
        dates = [entry.first for entry in hits.entries()]
        assert dates == sorted(dates, reverse=True)
        assert hits.page(0, 50) == ([one.key for one in hits.entries()], [one.row for one in hits.entries()])
    assert record.names("MedicationRequest") == packed.names("MedicationRequest")
    assert [one[0] for one in record.concepts("MedicationRequest")] == [
        one[0] for one in packed.concepts("MedicationRequest")
    ]
    assert record.count("MedicationRequest") == packed.count("MedicationRequest") == len(now)

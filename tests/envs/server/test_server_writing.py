"""Patches, transactions and batches of the FHIR door, and the journal that makes its records again."""

from __future__ import annotations

import pytest
from served import Asking

ORDER = {
    "resourceType": "MedicationRequest",
    "status": "active",
    "intent": "order",
    "medicationCodeableConcept": {"text": "aspirin"},
    "subject": {"reference": "Patient/ward-01"},
}
NOTE = {"op": "add", "path": "/note", "value": [{"text": "a"}]}


@pytest.mark.parametrize(
    ("operations", "status"),
    [
        ([{"op": "replace", "path": "/status", "value": "stopped"}], 200),
        ([NOTE, {"op": "add", "path": "/note/-", "value": {"text": "b"}}], 200),
        ([NOTE, {"op": "copy", "from": "/note/0", "path": "/note/0"}], 200),
        ([{"op": "test", "path": "/status", "value": "active"}, {"op": "remove", "path": "/status"}], 422),
        ([{"op": "test", "path": "/status", "value": "stopped"}], 422),
        ([{"op": "remove", "path": ""}], 422),
        ([{"op": "replace", "path": "/note/0", "value": 1}], 422),
        ([{"op": "move", "from": "", "path": "/status/x"}], 422),
        ([{"op": "copy", "from": "", "path": "/extension"}] * 100, 413),
        ([NOTE, *([{"op": "copy", "from": "/note", "path": "/note/0"}] * 50)], 413),
        ([{"op": "replace", "path": "/id", "value": "x"}], 422),
        ([{"op": "replace", "path": "/note/99999999999", "value": "x"}], 422),
        ([{"op": "replace", "path": "status", "value": "x"}], 400),
        ([{"op": "wish", "path": "/status"}], 400),
        ([{"op": "add", "path": "/status"}], 400),
        ([7], 400),
        ([{"op": "test", "path": "/status", "value": "active"}] * 201, 413),
    ],
)  # fmt: skip
def test_json_patch(ask, operations, status):
    ask.post("MedicationRequest", ORDER)
    answer = ask("PATCH", "MedicationRequest/new-1", operations, content_type="application/json-patch+json")
    assert answer.status == status
    assert ask.get("MedicationRequest/new-1").headers["ETag"] == ('W/"2"' if status == 200 else 'W/"1"')


def test_a_transaction_is_done_wholly_or_not_at_all(ask):
    bundle = {
        "resourceType": "Bundle",
        "type": "transaction",
        "entry": [
            {
                "fullUrl": "urn:uuid:2",
                "resource": {**ORDER, "subject": {"reference": "urn:uuid:1"}},
                "request": {"method": "POST", "url": "MedicationRequest"},
            },
            {
                "fullUrl": "urn:uuid:1",
                "resource": {"resourceType": "Patient", "identifier": [{"system": "urn:mrn", "value": "8"}]},
                "request": {"method": "POST", "url": "Patient", "ifNoneExist": "identifier=urn:mrn|8"},
            },
            {
                "resource": {**ORDER, "subject": {"reference": "Patient?identifier=urn:mrn|8"}},
                "request": {"method": "POST", "url": "MedicationRequest"},
            },
            {"request": {"method": "GET", "url": "MedicationRequest?patient.identifier=urn:mrn|8"}},
        ],
    }
    answer = ask.post("", bundle)
    assert answer.status == 200
    entries = answer.json["entry"]
    assert [one["response"]["status"] for one in entries] == ["201 Created"] * 3 + ["200 OK"]
    patient = entries[1]["resource"]["id"]
    assert entries[0]["resource"]["subject"] == entries[2]["resource"]["subject"] == {"reference": f"Patient/{patient}"}
    assert entries[3]["resource"]["total"] == 2
    before = ask.records.pool(None, lambda: None).version
    bundle["entry"][2]["resource"] = {**ORDER, "status": "nonsense"}
    failed = ask.post("", bundle)
    assert (failed.status, "entry[2]" in failed.json["issue"][0]["diagnostics"]) == (422, True)
    assert ask.records.pool(None, lambda: None).version == before
    assert ask.get("Patient?identifier=urn:mrn|8").json["total"] == 1


def test_a_transaction_changes_each_resource_once(ask):
    made = ask.post("MedicationRequest", ORDER).json
    key = f"MedicationRequest/{made['id']}"
    put = {"resource": made, "request": {"method": "PUT", "url": key}}
    where = {"resource": made, "request": {"method": "PUT", "url": f"MedicationRequest?_id={made['id']}"}}
    patch = {"resource": {"resourceType": "MedicationRequest", "status": "stopped"}}
    patch["request"] = {"method": "PATCH", "url": key.replace("-", "%2D")}
    for first, second in ((put, put), (put, where), (where, patch)):
        answer = ask.post("", {"resourceType": "Bundle", "type": "transaction", "entry": [first, second]})
        assert (answer.status, answer.code) == (400, "duplicate")
        assert ask.get(key).headers["ETag"] == 'W/"1"'
    assert ask.post("", {"resourceType": "Bundle", "type": "transaction", "entry": [patch]}).status == 200
    post = {"method": "POST", "url": "MedicationRequest", "ifNoneExist": "identifier=urn:x|1"}
    other, named = {"resource": ORDER, "request": post}, {**ORDER, "identifier": [{"system": "urn:x", "value": "1"}]}
    stale = {**put, "request": {**put["request"], "ifMatch": 'W/"1"'}}
    twice = [{"fullUrl": f"urn:uuid:{number}", "resource": named, "request": post} for number in range(2)]
    for entries, status in (([other, stale], 412), (twice, 412), ([other, other], 200)):
        before = ask.records.pool(None, lambda: None).version
        assert ask.post("", {"resourceType": "Bundle", "type": "transaction", "entry": entries}).status == status
        assert ask.records.pool(None, lambda: None).version == before + (0 if status == 412 else 2)


def test_a_batch_does_what_it_can(ask):
    entries = [
        {"request": {"method": "GET", "url": "Patient/ward-01"}},
        {"request": {"method": "GET", "url": "Patient/nobody"}},
        {"request": {"method": "GET", "url": "Patient?gender:x=y"}},
        {"request": {"method": "DELETE", "url": "Patient/ward-01"}},
        {"request": {"method": "POST", "url": ""}, "resource": {"resourceType": "Bundle", "type": "batch"}},
        {"request": {"method": "POST", "url": "MedicationRequest"}, "resource": ORDER},
        {"request": {"method": "WISH", "url": "x"}},
        {},
    ]
    answer = ask.post("", {"resourceType": "Bundle", "type": "batch", "entry": entries})
    told = [one["response"]["status"][:3] for one in answer.json["entry"]]
    assert told == ["200", "404", "400", "405", "400", "201", "400", "400"]
    assert ask.post("", {"resourceType": "Bundle", "type": "batch", "entry": [{}] * 201}).status == 413
    assert ask.post("", {"resourceType": "Bundle", "type": "document"}).status == 400
    assert ask.post("", {"resourceType": "Bundle", "type": "batch", "entry": 7}).status == 400
    assert ask.post("", {"resourceType": "Bundle", "type": "batch"}).json == {
        "resourceType": "Bundle",
        "type": "batch-response",
    }


def test_patches_by_condition_and_of_the_wrong_kind(ask):
    made = ask.post("MedicationRequest", {**ORDER, "identifier": [{"system": "urn:x", "value": "1"}]}).json
    where = "MedicationRequest?identifier=urn:x|1"
    patched = ask("PATCH", where, {"status": "stopped"}, content_type="application/json")
    assert (patched.status, patched.json["id"], patched.json["status"]) == (200, made["id"], "stopped")
    assert ask("PATCH", "MedicationRequest?identifier=urn:x|2", {"status": "stopped"}).status == 404
    assert ask("PATCH", "MedicationRequest?status=stopped,active", {"status": "stopped"}).status == 412
    assert ask("PATCH", where, "<x/>", content_type="application/xml").status == 415
    assert ask("PATCH", where, {}, content_type="application/json-patch+json").status == 400
    assert ask("PATCH", where, [], content_type="application/merge-patch+json").status == 400
    created = ask(
        "PUT", "MedicationRequest?identifier=urn:x|3", {**ORDER, "identifier": [{"system": "urn:x", "value": "3"}]}
    )
    assert created.status == 201
    assert ask("PUT", "MedicationRequest?status=stopped,active", ORDER).status == 412
    assert ask("PUT", where, {**ORDER, "id": "other"}).status == 400
    assert ask("PUT", "MedicationRequest", ORDER).status == 405


def test_a_transaction_says_what_is_wrong_with_it(ask):
    post = {"method": "POST", "url": "MedicationRequest"}
    twice = [{"fullUrl": "urn:uuid:1", "resource": ORDER, "request": post}] * 2
    other = [{"resource": ORDER, "request": {"method": "POST", "url": "Flag"}}]
    nobody = [{"resource": {**ORDER, "subject": {"reference": "Patient?identifier=nobody"}}, "request": post}]
    missing = [{"request": {"method": "GET", "url": "Patient/nobody"}}]
    bad = [{"request": {"method": "GET", "url": "Patient?_count=x"}}]
    for entries, status in ((twice, 400), (other, 400), (nobody, 412), (missing, 400), (bad, 400)):
        answer = ask.post("", {"resourceType": "Bundle", "type": "transaction", "entry": entries})
        assert (answer.status, answer.json["resourceType"]) == (status, "OperationOutcome"), entries
    assert ask.records.pool(None, lambda: None).version == 0


def test_the_journal_makes_the_records_again_or_says_why_not(store, tmp_path):
    from wardround.envs.server import ChartRecords
    from wardround.envs.server.journal import Journal
    from wardround.patients import DataError

    path = tmp_path / "journal.ndjson"
    first = Journal(path)
    ask = Asking(ChartRecords(store, {}, first))
    patient = ask.post("Patient", {"resourceType": "Patient"}).json["id"]
    ask.post("MedicationRequest", {**ORDER, "subject": {"reference": f"Patient/{patient}"}})
    ask("PATCH", "MedicationRequest/new-2", {"status": "stopped"})
    shown = [
        ask.get(path).text for path in ("MedicationRequest/new-2/_history", f"Patient/{patient}/$everything", "Patient")
    ]
    first.close()
    again = Journal(path)
    found = Asking(ChartRecords(store, {}, again))
    again.close()
    assert [
        found.get(path).text
        for path in ("MedicationRequest/new-2/_history", f"Patient/{patient}/$everything", "Patient")
    ] == shown
    lines = path.read_text().splitlines()
    for damaged in (
        [lines[0], "nonsense"],
        [lines[0], "7"],
        [lines[0], lines[3]],  # a change of what was never made
        [lines[0], lines[2]],  # a resource of a patient who was never made
        [lines[0].replace(store.hash, "x"), *lines[1:]],
        [lines[0], '{"patient":"ward-01","op":"create","key":"Flag/x","body":"{}"}'],
    ):
        path.write_text("".join(f"{line}\n" for line in damaged))
        with pytest.raises(DataError, match="use another --out"):
            journal = Journal(path)
            try:
                ChartRecords(store, {}, journal)
            finally:
                journal.close()


def test_a_line_that_was_not_written_whole_is_taken_back(tmp_path, monkeypatch):
    import os

    from wardround.envs.server.journal import Lines

    lines = Lines(tmp_path / "log", sync=True)
    lines.write([{"a": 1}])
    whole = os.write

    def full(file: int, text: bytes) -> int:
        whole(file, text[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("wardround.envs.server.journal.os.write", full)
    with pytest.raises(OSError, match="No space"):
        lines.write([{"b": 2}])
    monkeypatch.undo()
    lines.write([{"c": 3}])
    lines.close()
    assert (tmp_path / "log").read_text() == '{"a":1}\n{"c":3}\n'

"""The interactions of the FHIR door, one by one, in process (docs/serve.md)."""

from __future__ import annotations

import json
from email.utils import parsedate_to_datetime

import pytest
from served import BASE, Asking

from wardround.envs.server.capability import capability
from wardround.patients import fhir_search, load_charts, parameters, searchable, validate

SUBJECT = {"reference": "Patient/ward-01"}
ORDER = {
    "resourceType": "MedicationRequest",
    "status": "active",
    "intent": "order",
    "medicationCodeableConcept": {"text": "aspirin"},
    "subject": SUBJECT,
}
NUMBER = (
    '{"resourceType":"Observation","status":"final","code":{"text":"K"},"subject":{"reference":"Patient/ward-01"},'
    '"valueQuantity":{"value":0.30}}'
)
NOTE = {"op": "add", "path": "/note", "value": [{"text": "a"}]}


def test_a_read_gives_the_bytes_of_the_chart_and_its_version(ask, store):
    answer = ask.get("Patient/ward-01")
    assert answer.status == 200
    assert answer.text == store.chart("ward-01").at(1 << 61).read("Patient", "ward-01").body
    assert answer.headers["ETag"] == 'W/"1"'
    assert ask.get("Patient/ward-01", if_none_match='W/"1"').status == 304
    assert ask.get("Patient/ward-01", if_none_match='W/"2"').status == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("Patient/nobody", 404),
        ("Patient/..", 404),
        ("Patient/%2e%2e", 404),
        ("Patient/" + "a" * 65, 404),
        ("Nonsense/1", 404),
        ("Patient/ward-01/_history/7", 404),
        ("Patient/ward-01/Nonsense", 404),
        ("Patient/ward-01/_search", 404),
        ("Patient/_history", 404),
        ("Patient/$nothing", 404),
        ("Patient/ward-01/_history/1/2", 404),
        ("Patient/nobody/$everything", 404),
        ("Patient?_count=abc", 400),
        ("Patient?birthdate=2024-13", 400),
        ("Patient?gender:wrong=male", 400),
        ("Patient?_page=rubbish", 400),
        ("Patient?_page=AAAAAAAAAAAQvnF8JosueC4X4Xmo", 410),
    ],
)
def test_what_is_not_there_is_an_operation_outcome(ask, path, status):
    answer = ask.get(path)
    assert (answer.status, answer.json["resourceType"]) == (status, "OperationOutcome")
    assert answer.json["issue"][0]["severity"] == "error" and answer.json["issue"][0]["diagnostics"]


def test_strict_handling_refuses_what_lenient_handling_tells(ask):
    lenient = ask.get("Patient?nonsense=1")
    assert lenient.status == 200
    assert lenient.json["entry"][-1]["search"]["mode"] == "outcome"
    assert "nonsense" not in lenient.link("self")
    assert ask.get("Patient?nonsense=1", prefer="handling=strict").status == 400


def test_a_search_over_charts_counts_all_and_names_one(ask, store):
    counts = [store.chart(name).at(1 << 61).count("Observation") for name in store.patients()]
    assert ask.get("Observation?_summary=count").json["total"] == sum(counts)
    assert "entry" not in ask.get("Observation?_summary=count").json
    for query in (
        "patient=ward-02",
        "subject=Patient/ward-02",
        f"patient={BASE}/Patient/ward-02",
        "subject:Patient=ward-02",
    ):
        assert ask.get(f"Observation?{query}&_count=0").json["total"] == counts[1]
    assert ask.get("Observation?patient=nobody").json["total"] == 0
    assert ask.get("Patient?_id=ward-01,ward-03").ids == ["Patient/ward-01", "Patient/ward-03"]
    assert ask.get("Patient/ward-02/Observation?_count=0").json["total"] == counts[1]


def test_pages_neither_repeat_nor_skip_whatever_is_written_between(ask):
    whole = ask.get("Condition?_count=1000").ids
    url, found = "Condition?_count=7", []
    while url is not None:
        answer = ask.get(url)
        assert answer.status == 200 and answer.json["total"] == len(whole)
        found += answer.ids
        url = answer.link("next")
        condition = {
            "resourceType": "Condition",
            "clinicalStatus": {
                "coding": [{"system": "http://terminology.hl7.org/CodeSystem/condition-clinical", "code": "active"}]
            },
            "code": {"text": "written between"},
            "subject": SUBJECT,
        }
        assert ask.post("Condition", condition).status == 201
    assert found == whole
    assert len(ask.get("Condition?_count=1000").ids) > len(whole)


def test_a_search_by_post_is_the_search_by_get(ask):
    form = "code=http%3A%2F%2Floinc.org%7C2160-0&_count=3"
    got = ask.get(f"Observation?{form}")
    posted = ask.post("Observation/_search", form, content_type="application/x-www-form-urlencoded; charset=utf-8")
    assert posted.text == got.text
    merged = ask.post(
        "Observation/_search?_count=3", form.partition("&")[0], content_type="application/x-www-form-urlencoded"
    )
    assert merged.ids == got.ids
    assert ask.post("Observation/_search", "{}", content_type="application/json").status == 415
    assert ask.post("Observation/_search", "ä", content_type="application/x-www-form-urlencoded").status == 400
    system = ask.get("?_type=Condition,Procedure&_count=0")
    assert (
        system.json["total"]
        == ask.get("Condition?_count=0").json["total"] + ask.get("Procedure?_count=0").json["total"]
    )


def test_everything_is_the_whole_record_as_of_the_anchor(ask, store):
    snapshot = store.chart("ward-01").at(1 << 61)
    wanted = {f"{kind}/{one['id']}" for kind in searchable() for one in snapshot.resources(kind)}
    answer = ask.get("Patient/ward-01/$everything?_count=1000")
    assert set(answer.ids) == wanted and len(answer.ids) == len(wanted) == answer.json["total"]
    url, paged = "Patient/ward-01/$everything?_count=50", []
    while url is not None:
        page = ask.get(url)
        paged += page.ids
        url = page.link("next")
    assert paged == answer.ids
    some = ask.get("Patient/ward-01/$everything?_type=Patient,Condition")
    assert {key.partition("/")[0] for key in some.ids} == {"Patient", "Condition"}
    early = ask.get("Patient/ward-01/$everything?end=2024-05-14&_type=Observation&_count=1000")
    labs = fhir_search(snapshot, "Observation", "date=lt2024-05-15&_count=1000")
    assert set(early.ids) == {entry.key for entry in labs.matches}
    assert 0 < len(early.ids) < snapshot.count("Observation")
    assert ask.get("Patient/ward-01/$everything?start=tomorrow").status == 400


def test_a_create_is_stored_stamped_and_searchable(ask):
    answer = ask.post("MedicationRequest", {**ORDER, "id": "mine"})
    assert answer.status == 201
    assert answer.headers["Location"] == f"{BASE}/MedicationRequest/new-1/_history/1"
    assert parsedate_to_datetime(answer.headers["Last-Modified"]).year == 2024  # the record's clock, not the machine's
    assert answer.json["id"] == "new-1" and validate(answer.text) == []
    assert "MedicationRequest/new-1" in ask.get("MedicationRequest?patient=ward-01&_count=1000").ids
    assert ask.get("MedicationRequest?patient=ward-02&_id=new-1").json["total"] == 0


def test_numbers_keep_their_digits(ask):
    assert b'"value":0.30}' in ask.post("Observation", NUMBER).text
    patch = '[{"op":"replace","path":"/status","value":"amended"}]'
    assert b'"value":0.30}' in ask("PATCH", "Observation/new-1", patch, content_type="application/json-patch+json").text
    entry = f'{{"resource":{NUMBER},"request":{{"method":"POST","url":"Observation"}}}}'
    bundle = f'{{"resourceType":"Bundle","type":"transaction","entry":[{entry}]}}'
    assert ask.post("", bundle).status == 200
    assert b'"value":0.30}' in ask.get("Observation/new-2").text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"nonsense", 400),
        (b"[]", 400),
        (b"\xff\xfe", 400),
        (b'{"resourceType":"Patient"}', 400),
        (b'{"resourceType":"MedicationRequest","resourceType":"MedicationRequest"}', 400),
        (b'{"resourceType":"MedicationRequest","a":' + b'{"a":' * 70 + b"1" + b"}" * 71, 400),
        (b'{"resourceType":"MedicationRequest","subject":{"reference":"Patient/ward-01"}}', 422),
        (json.dumps({**ORDER, "status": "nonsense"}).encode(), 422),
        (json.dumps({**ORDER, "subject": {"reference": "Patient/nobody"}}).encode(), 422),
        (json.dumps({**ORDER, "subject": {"display": "somebody"}}).encode(), 422),
        (json.dumps({**ORDER, "meta": 7}).encode(), 422),
        (json.dumps({**ORDER, "note": [{"text": "\ud800"}]}).encode(), 400),
        (b'{"resourceType":"MedicationRequest","x":' + b"9" * 5000 + b"}", 400),
    ],
)
def test_what_cannot_be_stored_is_refused_and_stores_nothing(ask, body, status):
    answer = ask.post("MedicationRequest", body)
    assert (answer.status, answer.json["resourceType"]) == (status, "OperationOutcome")
    assert ask.records.pool(None, lambda: None).version == 0


def test_headers_ask_for_json_in_many_ways(ask):
    for accept in (
        "",
        "*/*",
        "application/fhir+json",
        "application/json;q=0.9, text/html",
        "application/fhir+xml;q=1.0, application/fhir+json;q=1.0",
    ):
        assert ask.get("Patient/ward-01", accept=accept).status == 200
    for accept in ("application/fhir+xml", "text/html, application/json;q=0"):
        assert ask.get("Patient/ward-01", accept=accept).status == 406
    assert ask.get("Patient/ward-01?_format=json", accept="text/html").status == 200
    assert ask.get("Patient/ward-01?_format=application/fhir+json").status == 200
    assert ask.get("Patient/ward-01?_format=xml").status == 406
    for kind in ("application/fhir+json", "application/json; charset=UTF-8", ""):
        assert ask.post("MedicationRequest", ORDER, content_type=kind).status == 201
    assert ask.post("MedicationRequest", ORDER, content_type="text/plain").status == 415


def test_prefer_says_what_comes_back(ask):
    assert ask.post("MedicationRequest", ORDER, prefer="return=minimal").text == b""
    told = ask.post("MedicationRequest", ORDER, prefer="return=OperationOutcome")
    assert (told.status, told.json["resourceType"]) == (201, "OperationOutcome")
    assert ask.post("MedicationRequest", ORDER, prefer="return=presentation").json["id"] == "new-3"  # a client's slip


def test_conditional_create(ask):
    patient = {"resourceType": "Patient", "identifier": [{"system": "urn:mrn", "value": "7"}]}
    first = ask.post("Patient", patient, if_none_exist="identifier=urn:mrn|7")
    assert (first.status, first.json["id"]) == (201, "new-1")
    for header in ("identifier=urn:mrn|7", "Patient?identifier=urn%3Amrn%7C7", f"{BASE}/Patient?identifier=urn:mrn|7"):
        again = ask.post("Patient", patient, if_none_exist=header)
        assert (again.status, again.json["id"]) == (200, "new-1")
    assert ask.post("Patient?identifier=urn:mrn|7", patient).status == 200
    assert ask.post("Patient", patient).status == 201
    assert ask.post("Patient", patient, if_none_exist="identifier=urn:mrn|7").status == 412
    assert ask.post("Patient", patient, if_none_exist="nonsense=7").status == 400
    assert ask.post("Patient", patient, if_none_exist="_format=json").status == 400
    assert ask.post("Patient", patient, if_none_exist="Condition?identifier=7").status == 400
    assert ask.get("Patient?identifier=urn:mrn|7").json["total"] == 2
    note = {**ORDER, "subject": {"reference": f"{BASE}/Patient/new-1"}}
    assert ask.post("MedicationRequest", note).json["subject"] == {"reference": "Patient/new-1"}
    assert ask.get("Patient/new-1/$everything").json["total"] == 2


def test_update_is_a_new_version_under_a_condition(ask):
    made = ask.post("MedicationRequest", ORDER).json
    stopped = {**made, "status": "stopped"}
    assert ask("PUT", "MedicationRequest/new-1", stopped, if_match='W/"2"').status == 412
    changed = ask("PUT", "MedicationRequest/new-1", stopped, if_match='"1"')
    assert (changed.status, changed.headers["ETag"]) == (200, 'W/"2"')
    assert ask.get("MedicationRequest/new-1").json["status"] == "stopped"
    assert ask.get("MedicationRequest/new-1/_history/1").json["status"] == "active"
    listed = ask.get("MedicationRequest/new-1/_history").json
    assert [one["resource"]["meta"]["versionId"] for one in listed["entry"]] == ["2", "1"]
    assert [one["request"]["method"] for one in listed["entry"]] == ["PUT", "POST"]
    assert ask("PUT", "MedicationRequest/new-1", {**stopped, "id": "other"}).status == 400
    assert ask("PUT", "MedicationRequest/new-9", {**stopped, "id": "new-9"}).status == 405
    assert ask("PUT", "MedicationRequest/new-1", {**stopped, "subject": {"reference": "Patient/ward-02"}}).status == 422
    assert ask("DELETE", "MedicationRequest/new-1").status == 405
    by_query = ask("PUT", "MedicationRequest?_id=new-1", {key: value for key, value in stopped.items() if key != "id"})
    assert (by_query.status, by_query.headers["ETag"]) == (200, 'W/"3"')


def test_the_charts_own_resources_get_versions_and_the_chart_stays(ask, store):
    chart = store.chart("ward-01")
    before = chart.hash
    found = next(iter(chart.at(1 << 61).resources("Condition")))
    key = f"Condition/{found['id']}"
    patch = {"note": [{"text": "seen today"}]}
    assert ask("PATCH", key, patch, content_type="application/merge-patch+json").status == 200
    assert ask.get(f"{key}/_history").json["total"] == 2
    assert "note" not in ask.get(f"{key}/_history/1").json
    assert store.chart("ward-01").hash == before
    assert (
        ask.get("Condition?_count=0").json["total"] == ask.get("Condition?_count=0&status:missing=true").json["total"]
    )


def test_validate_tells_and_stores_nothing(ask):
    assert ask.post("MedicationRequest/$validate", ORDER).json["issue"][0]["severity"] == "information"
    wrong = ask.post("MedicationRequest/$validate", {**ORDER, "status": "nonsense"})
    assert (wrong.status, wrong.json["issue"][0]["severity"]) == (200, "error")
    parameters = {"resourceType": "Parameters", "parameter": [{"name": "resource", "resource": ORDER}]}
    assert ask.post("MedicationRequest/$validate", parameters).json["issue"][0]["severity"] == "information"
    assert ask.post("Patient/$validate", ORDER).json["issue"][0]["severity"] == "error"
    assert ask.records.pool(None, lambda: None).version == 0


def test_the_capability_statement_is_true(ask):
    told = json.loads(capability(BASE, "1", "2024-01-01T00:00:00Z"))
    assert told["fhirVersion"] == "4.0.1"
    listed = {one["type"]: one for one in told["rest"][0]["resource"]}
    assert tuple(listed) == searchable()
    for kind, one in listed.items():
        assert {each["name"]: each["type"] for each in one["searchParam"]} == {
            name: each.type for name, each in parameters(kind).items()
        }
        for include in one.get("searchInclude", ()):
            assert ask.get(f"{kind}?_include={include}&_count=1", prefer="handling=strict").status == 200
    for include in listed["Patient"]["searchRevInclude"]:
        assert ask.get(f"Patient?_revinclude={include}&_count=1", prefer="handling=strict").status == 200


def test_what_the_capability_statement_does_not_say_is_not_there(ask):
    rest = json.loads(capability(BASE, "1", "2024-01-01T00:00:00Z"))["rest"][0]
    said = {"read", "vread", "update", "patch", "history-instance", "create", "search-type"}
    for one in rest["resource"]:
        assert {each["code"] for each in one["interaction"]} == said
        assert (one["updateCreate"], one["conditionalDelete"]) == (False, "not-supported")
        kind = one["type"]
        for method, path, status in (
            ("DELETE", f"{kind}/x", 405),
            ("DELETE", f"{kind}?_id=x", 405),
            ("PUT", kind, 405),
            ("PATCH", kind, 405),
            ("PUT", f"{kind}/nobody", 405),
            ("GET", f"{kind}/_history", 404),
            ("GET", f"{kind}/$meta", 404),
        ):
            body = {"resourceType": kind, "id": "nobody"} if method == "PUT" else None
            answer = ask(method, path, body)
            assert (answer.status, answer.json["resourceType"]) == (status, "OperationOutcome"), (method, path)
            assert status == 404 or "DELETE" not in answer.headers["Allow"]
    assert {one["code"] for one in rest["interaction"]} == {"transaction", "batch", "search-system"}
    assert ask.get("_history").status == 404 and ask("DELETE", "").status == 405
    operations = {(one.get("type", ""), each["name"]) for one in [rest, *rest["resource"]] for each in one["operation"]}
    assert {name for _, name in operations} == {"export", "validate", "everything"}
    assert ask.get("Patient/$export", prefer="respond-async").status == 202


def test_what_the_door_itself_writes_is_valid_r4(ask):
    from fhir.resources.R4B.bundle import Bundle
    from fhir.resources.R4B.capabilitystatement import CapabilityStatement
    from fhir.resources.R4B.operationoutcome import OperationOutcome

    CapabilityStatement.model_validate_json(capability(BASE, "1", "2024-01-01T00:00:00Z"))
    ask.post("MedicationRequest", ORDER)
    entries = [
        {"resource": ORDER, "request": {"method": "POST", "url": "MedicationRequest"}},
        {"request": {"method": "GET", "url": "Patient?_count=1"}},
        {"request": {"method": "GET", "url": "Patient/nobody"}},
    ]
    batch = {"resourceType": "Bundle", "type": "batch", "entry": entries}
    for answer in (
        ask.get("Observation?_count=2&nonsense=1&_include=Observation:subject"),
        ask.get("Patient/ward-01/$everything?_count=5"),
        ask.get("MedicationRequest/new-1/_history"),
        ask.post("", batch),
    ):
        assert answer.status == 200
        Bundle.model_validate_json(answer.text)
    for answer in (ask.get("Nonsense"), ask.post("MedicationRequest", {"resourceType": "MedicationRequest"})):
        OperationOutcome.model_validate_json(answer.text)


def test_the_clock_holds(store):
    from wardround.envs.server import ChartRecords
    from wardround.envs.server.journal import Journal
    from wardround.patients import parse_instant

    anchor = parse_instant("2024-05-16T10:00:00Z")
    ask = Asking(ChartRecords(store, {"ward-01": anchor}, Journal(None)))
    snapshot = load_charts("ward").chart("ward-01").at(anchor)
    assert ask.get("Patient/ward-01/Observation?_count=0").json["total"] == snapshot.count("Observation")
    assert snapshot.count("Observation") < store.chart("ward-01").at(1 << 61).count("Observation")
    assert ask.post("MedicationRequest", ORDER).json["meta"]["lastUpdated"] == "2024-05-16T10:00:00Z"

"""Who may do what: the table of docs/serve.md, written out by hand here, over every role, type and operation."""

from __future__ import annotations

import json

import pytest
from bodies import BODIES
from served import ALL, Asking

from wardround.envs.server import access_of, parse_scopes, roles
from wardround.patients import UsageError, searchable, validate

_DOCTOR = {"draft order", "draft request", "problem", "allergy", "procedure", "note", "plan", "flag", "message",
           "appointment"}  # fmt: skip
_CODED = {"Encounter", "Condition", "Procedure", "Coverage", "Claim", "ChargeItem"}
EVERYTHING = set(searchable())
SEE = {
    "agent": EVERYTHING,
    "auditor": EVERYTHING,
    "billing": _CODED,
    "care-manager": {"Patient", "Encounter", "CarePlan", "CareTeam", "Goal", "Communication", "Task"},
    "coder": _CODED | {"DocumentReference"},
    "lab": {"ServiceRequest", "Specimen", "Observation", "DiagnosticReport"},
    "nurse": EVERYTHING,
    "patient": {
        "Patient", "Encounter", "Condition", "AllergyIntolerance", "Procedure", "Immunization", "MedicationRequest",
        "MedicationAdministration", "MedicationDispense", "MedicationStatement", "Medication", "CarePlan", "CareTeam",
        "Goal", "ServiceRequest", "Coverage", "Specimen", "Location", "Organization", "Practitioner",
        "PractitionerRole", "Observation", "DiagnosticReport", "DocumentReference", "Appointment", "Communication",
        "QuestionnaireResponse",
    },
    "pharmacist": {
        "Patient", "Encounter", "Condition", "AllergyIntolerance", "Observation", "MedicationAdministration",
        "Medication", "MedicationRequest", "MedicationDispense",
    },
    "physician": EVERYTHING,
    "researcher": {
        "Encounter", "Condition", "Observation", "MedicationRequest", "MedicationAdministration", "Procedure",
    },
    "resident": EVERYTHING,
    "scheduler": {"Patient", "Appointment", "Coverage"},
}  # fmt: skip
CREATE = {
    "agent": _DOCTOR | {"order", "request", "vital sign", "lab", "report"},
    "auditor": set(),
    "billing": {"claim", "charge"},
    "care-manager": {"message", "task"},
    "coder": {"claim", "charge"},
    "lab": {"specimen", "lab", "report"},
    "nurse": {"administration", "vital sign", "message", "flag"},
    "patient": {"appointment", "message", "answers"},
    "pharmacist": {"dispense", "issue", "message"},
    "physician": _DOCTOR | {"order", "request"},
    "researcher": set(),
    "resident": _DOCTOR,
    "scheduler": {"appointment", "coverage"},
}
UPDATE = {
    "agent": _DOCTOR | {"order", "request"},
    "auditor": set(),
    "billing": {"claim", "charge"},
    "care-manager": {"plan"},
    "coder": {"claim", "charge"},
    "lab": {"specimen", "lab", "report"},
    "nurse": {"plan"},
    "patient": set(),
    "pharmacist": {"order", "draft order", "dispense"},
    "physician": _DOCTOR | {"order", "request"},
    "researcher": set(),
    "resident": _DOCTOR,
    "scheduler": {"appointment", "coverage", "person"},
}
LABS_ONLY = {"pharmacist", "lab"}


def test_the_bodies_are_valid_and_the_tables_whole():
    assert {name: validate(body) for name, body in BODIES.items() if validate(body)} == {}
    assert set(SEE) == set(CREATE) == set(UPDATE) == set(roles())


@pytest.mark.parametrize("role", sorted(SEE))
def test_each_role_sees_and_writes_what_the_table_says(ask: Asking, role: str):
    made = {name: ask.post(body["resourceType"], body).json["id"] for name, body in BODIES.items()}
    asked = ask.as_role(role, "ward-01")
    for kind in searchable():
        seen = kind in SEE[role]
        assert asked.get(f"{kind}?_count=0").status == (200 if seen else 403), kind
        assert asked.post(f"{kind}/_search", b"").status == (200 if seen else 403), kind
    for name, body in BODIES.items():
        kind, identity = body["resourceType"], made[name]
        seen = kind in SEE[role] and not (name == "vital sign" and role in LABS_ONLY)
        hidden = 404 if kind in SEE[role] else 403
        if role == "patient" and name == "person":
            seen, hidden = False, 404  # somebody else
        for path in (f"{kind}/{identity}", f"{kind}/{identity}/_history", f"{kind}/{identity}/_history/1"):
            assert asked.get(path).status == (200 if seen else hidden), (name, path)
        patch = json.dumps({"language": "en"})
        changed = asked("PATCH", f"{kind}/{identity}", patch, content_type="application/merge-patch+json")
        assert (changed.status == 200) == (name in UPDATE[role]), (name, changed)
        assert changed.status in (200, 403, 404)
        assert asked("DELETE", f"{kind}/{identity}").status == 405
        before = ask.records.pool(None, lambda: None).version
        created = asked.post(kind, body)
        assert created.status == (201 if name in CREATE[role] else 403), (name, created)
        assert ask.records.pool(None, lambda: None).version == before + (name in CREATE[role])


def test_a_scope_binds_every_way_to_a_resource(ask: Asking):
    vital = ask.post("Observation", BODIES["vital sign"]).json["id"]
    asked = ask.as_role("pharmacist")
    labs = ask.get("Observation?category=laboratory&_count=0").json["total"]
    assert 0 < labs < ask.get("Observation?_count=0").json["total"]
    assert asked.get("Observation?_count=0").json["total"] == labs
    assert asked.get("Observation?category=vital-signs").json["total"] == 0
    assert asked.get(f"Observation?_id={vital}").json["total"] == 0
    assert asked.get("Observation?category:not=laboratory").json["total"] == 0
    assert ask.get("Patient?_has:DocumentReference:patient:status=current&_count=0").json["total"] > 0
    assert asked.get("Patient?_has:DocumentReference:patient:status=current&_count=0").json["total"] == 0
    assert asked.get("Patient?_has:Observation:patient:category=vital-signs&_count=0").json["total"] == 0
    assert ask.get("Encounter?_has:Procedure:encounter:status=completed&_count=0").json["total"] > 0
    assert asked.get("Encounter?_has:Procedure:encounter:status=completed&_count=0").json["total"] == 0
    for query in (
        "Patient?_revinclude=DocumentReference:patient&_revinclude=Observation:patient&_revinclude=Procedure:patient",
        "Patient?_revinclude=Encounter:patient&_revinclude:iterate=DocumentReference:encounter",
        "Encounter?_include=*&_include:iterate=*",
        "Patient/ward-01/$everything?_count=1000",
        "Patient/ward-01/*?_count=1000",
        "?_count=1000&_lastUpdated:missing=true",
        "?_type=DocumentReference,Procedure,Condition&_count=1000",
    ):
        found = asked.get(query)
        kinds = {key.partition("/")[0] for key in found.ids}
        assert found.status == 200 and found.ids, query
        assert kinds <= SEE["pharmacist"], query
        assert {f"Observation/{vital}"}.isdisjoint(found.ids), query
    forward = "Observation?patient=ward-01&_include=Observation:subject&_count=1"
    assert "Patient/ward-01" in ask.get(forward).ids
    assert ask.as_role("researcher").get(forward).ids == ask.get(forward).ids[:1]
    result = {"result": [{"reference": f"Observation/{vital}"}]}
    report = ask.post("DiagnosticReport", {**BODIES["report"], **result}).json["id"]
    forward = f"DiagnosticReport?_id={report}&_include=DiagnosticReport:result"
    assert ask.get(forward).ids == [f"DiagnosticReport/{report}", f"Observation/{vital}"]
    assert ask.as_role("lab").get(forward).ids == [f"DiagnosticReport/{report}"]
    assert asked.get("?_type=DocumentReference").status == 403
    assert asked.get("Patient/ward-01/DocumentReference").status == 403
    # a page of somebody who sees more is no page of this one
    page = ask.get("Observation?_count=5").link("next")
    assert ask.get(page).status == 200 and asked.get(page).status == 410
    mine = asked.get("Observation?_count=5").link("next")
    assert asked.get(mine).status == 200 and ask.get(mine).status == 410
    # what may not be searched may not be asked for by a condition either
    assert asked.post("DetectedIssue", BODIES["issue"], if_none_exist="patient=ward-01").status == 403


def test_a_patient_sees_one_record_and_results_once_released(ask: Asking):
    asked = ask.as_role("patient", "ward-01")
    assert asked.get("Patient").ids == ["Patient/ward-01"]
    for path in ("Patient/ward-02", "Patient/ward-02/$everything", "Patient/ward-02/_history"):
        assert asked.get(path).status == 404
    for query in (
        "Observation?patient=ward-02", "Patient/ward-02/Condition", "Observation?subject:Patient._id=ward-02",
        "Patient?_has:Observation:patient:_id=x", "Condition?patient=ward-02,ward-03",
    ):  # fmt: skip
        assert asked.get(query).json["total"] == 0, query
    elsewhere = {
        **BODIES["appointment"],
        "participant": [{"actor": {"reference": "Patient/ward-02"}, "status": "accepted"}],
    }
    assert asked.post("Appointment", elsewhere).status == 403
    made = ask.post("Observation", {**BODIES["lab"], "status": "preliminary"}).json
    assert asked.get(f"Observation/{made['id']}").status == 404
    assert ask("PUT", f"Observation/{made['id']}", {**made, "status": "final"}).status == 200
    assert asked.get(f"Observation/{made['id']}").json["status"] == "final"
    assert [one["resource"]["status"] for one in asked.get(f"Observation/{made['id']}/_history").json["entry"]] == [
        "final"
    ]
    assert asked.get(f"Observation/{made['id']}/_history/1").status == 404


def test_drafts_are_signed_by_somebody_else(ask: Asking):
    resident, physician = ask.as_role("resident"), ask.as_role("physician")
    draft = resident.post("MedicationRequest", BODIES["draft order"]).json
    key, active = f"MedicationRequest/{draft['id']}", {**draft, "status": "active"}
    assert resident("PUT", key, active).status == 403
    assert ask.get(key).json["status"] == "draft" and ask.get(f"{key}/_history").json["total"] == 1
    assert physician("PUT", key, active).status == 200
    assert resident("PUT", key, draft).status == 403  # it is an order now


def test_a_bundle_gives_no_more_than_its_requests(ask: Asking):
    nurse = ask.as_role("nurse")
    entries = [
        {"resource": BODIES[name], "request": {"method": "POST", "url": BODIES[name]["resourceType"]}}
        for name in ("vital sign", "order")
    ]
    whole = nurse.post("", {"resourceType": "Bundle", "type": "transaction", "entry": entries})
    assert whole.status == 403 and ask.records.pool(None, lambda: None).version == 0
    each = nurse.post("", {"resourceType": "Bundle", "type": "batch", "entry": entries}).json["entry"]
    assert [one["response"]["status"][:3] for one in each] == ["201", "403"]
    hidden = ask.as_role("pharmacist").post(
        "", {"resourceType": "Bundle", "type": "batch", "entry": [{"request": {"method": "GET", "url": "Procedure"}}]}
    )
    assert hidden.json["entry"][0]["response"]["status"] == "403"
    # nor does a reference by condition tell what its sender may not search
    entries[0]["resource"] = {
        **BODIES["issue"],
        "evidence": [{"detail": [{"reference": "Procedure?status=completed"}]}],
    }
    entries[0]["request"]["url"] = "DetectedIssue"
    assert ask.as_role("pharmacist").post(
        "", {"resourceType": "Bundle", "type": "transaction", "entry": entries[:1]}
    ).status == 403  # fmt: skip


def test_scopes_of_both_versions_add_up(ask: Asking):
    v1 = ask.with_scopes("openid patient/*.read user/Observation.write launch/patient", "ward-01")
    assert v1.get("Condition?_count=0").json["total"] == ask.get("Patient/ward-01/Condition?_count=0").json["total"]
    assert v1.post("Observation", BODIES["lab"]).status == 201
    assert v1.post("Condition", BODIES["problem"]).status == 403
    both = ask.with_scopes("user/Observation.s?status=amended user/Observation.s?status=final user/Observation.r")
    assert (
        both.get("Observation?_count=0").json["total"]
        == ask.get("Observation?status=final,amended&_count=0").json["total"]
    )
    assert access_of("x", ALL, None).visibility("s", "anybody").total


@pytest.mark.parametrize(
    "scopes",
    ["user/Observation", "Observation.read", "user/Observation.sr", "user/*.rs?status=final", "user/Observation.",
     "user/Observation.rs?nonsense=1", "user/Observation.rs?date=never", "robot/*.rs", "user/../x.rs"],
)  # fmt: skip
def test_what_is_no_scope_is_refused(scopes: str):
    with pytest.raises(UsageError, match="scope"):
        parse_scopes(scopes)


def test_a_patients_role_needs_a_patient():
    with pytest.raises(UsageError, match="--role patient=ID"):
        access_of("patient", roles()["patient"], None)

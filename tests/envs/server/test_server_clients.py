"""Other people's clients talk to a server that really listens: fhirpy and fhirclient (Python)."""

from __future__ import annotations

from typing import Any

import pytest
from fhirclient import client as smart
from fhirclient.models.bundle import Bundle
from fhirclient.models.condition import Condition
from fhirclient.models.fhirreference import FHIRReference
from fhirclient.models.medicationrequest import MedicationRequest
from fhirclient.models.observation import Observation
from fhirclient.models.patient import Patient
from fhirpy import SyncFHIRClient
from fhirpy.base.exceptions import MultipleResourcesFound, OperationOutcome, ResourceNotFound

from wardround.envs.server import Running
from wardround.patients import ChartStore, fhir_search

LATEST = 1 << 61


@pytest.fixture
def fhirpy(running: Running, tokens: dict[str, str]) -> SyncFHIRClient:
    return SyncFHIRClient(running.base, authorization=f"Bearer {tokens['scopes']}")


@pytest.fixture
def server(running: Running, tokens: dict[str, str]) -> Any:
    client = smart.FHIRClient(settings={"app_id": "test", "api_base": running.base})
    client.server.session.headers["Authorization"] = f"Bearer {tokens['scopes']}"
    assert client.server.capabilityStatement.fhirVersion == "4.0.1"  # read and parsed by its R4 models
    client.prepare()
    return client.server


def test_fhirpy_searches_pages_and_counts(fhirpy: SyncFHIRClient, store: ChartStore):
    count = store.chart("ward-02").at(LATEST).count("Observation")
    labs = fhirpy.resources("Observation").search(patient="ward-02")
    assert labs.count() == count > 20
    assert len({one["id"] for one in labs.limit(20).fetch_all()}) == count
    assert len(labs.limit(5).fetch()) == 5
    first = fhirpy.resources("Patient").sort("_id").first()
    assert first["id"] == "ward-01"
    elements = fhirpy.resources("Patient").elements("gender").fetch()
    assert {"gender"} <= set(elements[0]) and "birthDate" not in elements[0]
    wanted = fhir_search(store.chart("ward-01").at(LATEST), "Observation", "code=http://loinc.org|2160-0")
    coded = fhirpy.resources("Observation").search(patient="ward-01", code="http://loinc.org|2160-0").fetch_all()
    assert [one["id"] for one in coded] == [entry.id for entry in wanted.matches] and coded
    with pytest.raises(MultipleResourcesFound):
        fhirpy.resources("Patient").get()
    with pytest.raises(ResourceNotFound):
        fhirpy.resources("Patient").search(_id="nobody").get()
    with pytest.raises(OperationOutcome):
        fhirpy.resources("Patient").search(birthdate="never").fetch()


def test_fhirpy_reads_writes_patches_and_asks_for_everything(fhirpy: SyncFHIRClient):
    patient = fhirpy.reference("Patient", "ward-03").to_resource()
    assert patient["id"] == "ward-03"
    order = fhirpy.resource(
        "MedicationRequest",
        status="active",
        intent="order",
        medicationCodeableConcept={"text": "metoprolol"},
        subject=patient.to_reference(),
    )
    assert order.is_valid()
    order.save()
    assert order["meta"]["versionId"] == "1"
    order["status"] = "on-hold"
    order.save(fields=["status"])  # a merge patch
    order.refresh()
    assert (order["status"], order["meta"]["versionId"]) == ("on-hold", "2")
    order["status"] = "stopped"
    order.update()
    assert fhirpy.resources("MedicationRequest").search(_id=order["id"]).get()["status"] == "stopped"
    assert not fhirpy.resource("MedicationRequest", status="wrong").is_valid()
    with pytest.raises(OperationOutcome):
        fhirpy.resource("MedicationRequest", status="wrong").save()
    everything = patient.execute("$everything", "GET", params={"_count": 1000})
    assert everything["type"] == "searchset" and everything["total"] == len(everything["entry"]) > 50
    assert order["id"] in {one["resource"]["id"] for one in everything["entry"]}


def test_fhirpy_creates_where_nothing_is_found(fhirpy: SyncFHIRClient):
    person = {"identifier": [{"system": "urn:clinic", "value": "77"}], "gender": "female"}
    search = fhirpy.resources("Patient").search(identifier="urn:clinic|77")
    made, created = search.get_or_create(fhirpy.resource("Patient", **person))
    again, twice = search.get_or_create(fhirpy.resource("Patient", **person))
    assert (created, twice, made["id"]) == (True, False, again["id"])
    updated, _ = search.update(fhirpy.resource("Patient", **{**person, "gender": "other"}))
    assert (updated["id"], updated["gender"]) == (made["id"], "other")


def test_fhirclient_reads_searches_and_follows_pages_with_its_own_models(server: Any, store: ChartStore):
    patient = Patient.read("ward-01", server)
    assert patient.id == "ward-01" and patient.birthDate.isostring
    problems = list(Condition.where(struct={"patient": "ward-01"}).perform_resources_iter(server))
    assert len(problems) == store.chart("ward-01").at(LATEST).count("Condition")
    count = store.chart("ward-04").at(LATEST).count("Observation")
    paged = Observation.where(struct={"patient": "ward-04", "_count": "25"}).perform_resources_iter(server)
    found = [one.id for one in paged]
    assert len(set(found)) == len(found) == count > 25
    struct = {"subject:Patient._id": "ward-04", "_count": "1"}
    chained = next(iter(Observation.where(struct=struct).perform_iter(server)))
    assert chained.total == count


def test_fhirclient_creates_and_updates(server: Any):
    order = MedicationRequest({
        "status": "active", "intent": "order", "medicationCodeableConcept": {"text": "aspirin"},
        "subject": {"reference": "Patient/ward-05"},
    })  # fmt: skip
    made = order.create(server)
    assert made["resourceType"] == "MedicationRequest"
    stored = MedicationRequest.read(made["id"], server)
    stored.status = "stopped"
    stored.encounter = FHIRReference({"display": "this stay"})
    assert stored.update(server)["meta"]["versionId"] == "2"


def test_fhirclient_reads_every_resource_of_the_ward_with_its_models(server: Any, store: ChartStore):
    page: Any = Bundle.read_from("Patient/ward-06/$everything?_count=1000", server)
    assert page.total == len(page.entry) > 50

"""Damaged resources of every type: each is mended or refused with its reason; nothing ever raises."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.patients.fhir import check
from wardround.patients.importers.fhir_version import other_version

Import = Callable[..., Any]

BASE = "http://mimic.mit.edu/fhir/mimic"
PATIENT = {"resourceType": "Patient", "id": "p"}
SUBJECT = {"reference": "Patient/p"}
STRANGE: list[Any] = [
    None, "", [], {}, "x", 5, True, [{}], ["x"], [None], [[]], {"coding": "x"}, {"coding": ["x"]}, {"reference": 5},
    {"reference": "Patient/p"}, "2020-13-45", "2180-05-05T00:00:00+05:00", {"start": 5}, {"url": [1], "extension": 5},
]  # fmt: skip


def mimic(kind: str, profile: str, **more: Any) -> dict[str, Any]:
    return {
        "resourceType": kind,
        "id": profile,
        "meta": {"profile": [f"{BASE}/StructureDefinition/{profile}"]},
        "subject": SUBJECT,
        **more,
    }


def code(system: str, value: str) -> dict[str, Any]:
    return {"coding": [{"system": f"{BASE}/CodeSystem/{system}", "code": value}]}


def own(resource: dict[str, Any]) -> dict[str, Any]:
    """A resource as an export of this library writes it."""
    site = "https://wardround.dev/fhir/StructureDefinition"
    later = [{"url": "path", "valueString": "note"}, {"url": "known", "valueInstant": "2180-05-03T00:00:00Z"}]
    marks = [
        {"url": f"{site}/known-at", "valueInstant": "2180-05-01T00:00:00Z"},
        {"url": f"{site}/known-later", "extension": later},
    ]
    return resource | {"id": f"own-{resource['id']}", "meta": {"extension": marks}}


EXAMPLES: list[dict[str, Any]] = [
    *orjson.loads((Path(__file__).parent / "clock_examples.json").read_bytes()),
    mimic("Condition", "mimic-condition", code=code("mimic-diagnosis-icd9", "5715")),
    mimic(
        "Procedure",
        "mimic-procedure",
        status="completed",
        code=code("mimic-procedure-icd9", "5491"),
        performedDateTime="2180-06-27T00:00:00-04:00",
    ),
    mimic(
        "MedicationAdministration",
        "mimic-medication-administration",
        status="completed",
        effectiveDateTime="2180-06-27T10:00:00-04:00",
        medicationCodeableConcept=code("mimic-medication-name", "Heparin"),
        dosage={"text": "1", "method": code("mimic-medication-method", "Not Given")},
    ),
    mimic(
        "Observation",
        "mimic-observation-micro-susc",
        status="final",
        code=code("mimic-microbiology-antibiotic", "90011"),
        effectiveDateTime="2180-06-27T10:00:00-04:00",
        valueCodeableConcept=code("x", "IND"),
    ),
    {
        "resourceType": "Encounter",
        "id": "stay",
        "status": "finished",
        "class": {"code": "IMP"},
        "subject": SUBJECT,
        "identifier": [{"system": f"{BASE}/identifier/encounter-hosp", "value": "20000001"}],
        "period": {"start": "2180-05-01T12:00:00Z", "end": "2180-05-05T12:00:00Z"},
    },
    {
        "resourceType": "Medication",
        "id": "drug",
        "code": {"text": "Heparin"},
        "identifier": [{"system": "x", "value": "y"}],
        "ingredient": [{"itemCodeableConcept": {"text": "water"}}],
    },
    {
        "resourceType": "MedicationRequest",
        "id": "order",
        "status": "active",
        "intent": "order",
        "subject": SUBJECT,
        "authoredOn": "2180-05-01",
        "medicationReference": {"reference": "Medication/drug"},
    },
    {
        "resourceType": "DocumentReference",
        "id": "note",
        "status": "superseded",
        "subject": SUBJECT,
        "date": "2180-05-01T12:00:00Z",
        "relatesTo": [{"code": "replaces", "target": {"reference": "DocumentReference/none"}}],
        "content": [{"attachment": {"contentType": "text/plain", "data": "eA=="}}],
    },
    {
        "resourceType": "AllergyIntolerance",
        "id": "allergy",
        "patient": SUBJECT,
        "recordedDate": "2180-05-01",
        "verificationStatus": {"coding": [{"code": "x"}]},
    },
    own({"resourceType": "Flag", "id": "f", "status": "active", "code": {"text": "x"}, "subject": SUBJECT}),
]


def places(node: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        yield (*before, key)
        if isinstance(value, dict | list):
            yield from places(value, (*before, key))


def damaged(draw: random.Random, number: int) -> dict[str, Any]:
    resource = copy.deepcopy(draw.choice(EXAMPLES))
    if resource["resourceType"] != "Medication":
        resource["id"] = f"{resource['id']}-{number}"
    for _ in range(draw.choice((1, 1, 2))):
        *parents, last = draw.choice([place for place in places(resource) if place != ("resourceType",)])
        node: Any = resource
        for key in parents:
            node = node[key]
        node[last] = copy.deepcopy(draw.choice(STRANGE))
    return resource


@pytest.mark.parametrize("seed", range(8))
def test_damaged_resources_are_mended_or_refused(invented_fhir: Import, seed: int) -> None:
    draw = random.Random(seed)
    resources = [damaged(draw, number) for number in range(60)]
    resources = [one for one in resources if other_version(one) is None]  # one of these would stop the import
    result = invented_fhir(PATIENT, *resources)
    read = {table.table: table.read for table in result.report.tables}
    assert sum(read.values()) == len(resources) + 1
    assert sum(result.report.resources.values()) > 3 and result.report.refused > 5
    for kind in result.report.resources:
        for resource in result.all(kind, "2400-01-01").values():
            assert check(resource) == []

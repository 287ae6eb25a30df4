"""What may not be seen is as if it were not stored: against a chart that lacks it, over random scopes and queries."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients import ChartStore, SearchError, Snapshot, Visibility, fhir_search, last_known, searchable
from wardround.patients.chart import memory_chart
from wardround.patients.packing import pack

KINDS = (
    "Patient",
    "Encounter",
    "Condition",
    "Observation",
    "MedicationRequest",
    "Procedure",
    "DocumentReference",
    "CarePlan",
)
FILTERS = {
    "Observation": (
        "category=laboratory",
        "category:not=laboratory",
        "code=2160-0",
        "date=lt2024-05-16",
        "encounter.class=AMB",
    ),
    "Condition": ("clinical-status=active", "code:missing=true"),
    "Encounter": ("class=IMP", "class:not=IMP"),
    "MedicationRequest": ("status=active", "status=draft"),
    "Patient": ("gender=nobody",),
    "DocumentReference": ("status=current",),
}
QUERIES = (
    ("Patient", "_revinclude=*:patient"),
    ("Patient", "_revinclude=Observation:patient&_revinclude=Condition:patient&_revinclude:iterate=Encounter:patient"),
    ("Patient", "_has:Observation:patient:category=vital-signs"),
    ("Patient", "_has:Condition:patient:clinical-status=active&_has:Encounter:patient:class=IMP"),
    ("Encounter", "_include=*&_revinclude=Condition:encounter&_revinclude=Observation:encounter"),
    ("Encounter", "_has:Observation:encounter:code=2160-0"),
    ("Encounter", "_has:MedicationRequest:encounter:_has:Nothing:x:y=1"),
    ("Observation", "encounter.class=IMP&_include=Observation:encounter&_include=Observation:subject"),
    ("Observation", "subject:Patient.gender=male,female&_sort=-date,code"),
    ("Observation", "encounter.reason-code:missing=true"),
    ("Observation", "category:not=vital-signs"),
    ("Observation", "code:missing=false&_include:iterate=*"),
    ("Condition", "encounter.class:not=AMB&_include=Condition:encounter&_include:iterate=Encounter:patient"),
    ("Condition", "patient._has:Observation:patient:code=2160-0"),
    ("MedicationRequest", "encounter._id:missing=false&_sort=authoredon"),
    ("Procedure", "encounter.diagnosis.code:missing=false"),
    ("DocumentReference", "_include=*&_sort=_id"),
    ("CarePlan", "subject:Patient._id:missing=false&_include=CarePlan:encounter"),
)  # fmt: skip
SCOPES = st.dictionaries(
    st.sampled_from(KINDS), st.sampled_from(range(7)), max_size=len(KINDS)
).map(lambda chosen: {kind: _filters(kind, number) for kind, number in chosen.items()})  # fmt: skip


def _filters(kind: str, number: int) -> list[str]:
    """Return the filters of a type: all of it, one filter, or two that add up."""
    known = FILTERS.get(kind, ())
    if number == 0 or not known:
        return [""]
    first = known[number % len(known)]
    return [first] if number < 5 else [first, known[(number + 1) % len(known)]]


@pytest.fixture(scope="module")
def record(store: ChartStore) -> Snapshot:
    chart = store.chart("ward-03")
    return chart.at(last_known(chart))


def _without(record: Snapshot, allowed: dict[str, list[str]]) -> Snapshot:
    """Return a record that holds only what is allowed, found by plain searches."""
    kept = []
    for kind, filters in allowed.items():
        ids = {entry.id for one in filters for entry in fhir_search(record, kind, f"{one}&_count=1000").matches}
        kept += [(resource, record.anchor) for resource in record.resources(kind) if resource["id"] in ids]
    return memory_chart(pack(record.patient_id, kept, "CC0-1.0")).at(record.anchor)


@settings(max_examples=25, deadline=None)
@given(allowed=SCOPES)
def test_what_is_hidden_is_as_if_it_were_not_stored(record: Snapshot, allowed: dict[str, list[str]]):
    seen, lesser = Visibility(allowed), _without(record, allowed)
    for kind, query in QUERIES:
        assert _found(record, kind, query, seen) == _found(lesser, kind, query, None), (kind, query)
    whole = fhir_search(record, f"Patient/{record.patient_id}/$everything", "_count=1000", visible=lambda _: seen)
    assert {entry.key for entry in whole.matches} == {
        f"{one}/{resource['id']}" for one in searchable() for resource in lesser.resources(one)
    }


def _found(record: Snapshot, kind: str, query: str, seen: Visibility | None) -> object:
    """Return total, matches and what came along, or what was refused."""
    try:
        result = fhir_search(record, kind, f"{query}&_count=1000", visible=lambda _: seen)
    except SearchError as fault:
        return fault.outcome()
    return result.total, {entry.key for entry in result.matches}, {entry.key for entry in result.included}

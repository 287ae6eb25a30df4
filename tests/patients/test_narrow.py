"""The narrow schemas: what one accepts has no problem for schema and walk, however it was bent."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import orjson
import pytest

from wardround.patients import Stream, load_charts
from wardround.patients.fhir import _examine, _narrow, check, types
from wardround.patients.times import NEVER

_VALUES: tuple[Any, ...] = (
    None, {}, [], "", 0, False, True, 1.5, -3, " ", "x", "a b", " a", "2180-02-30", "2180-02-29", "2179-02-29",
    "2180-13", "2180-05-06T22:23:60Z", "2180-05-06T22:23:00", "2180-05-06T24:00:00Z", "2180-05-06T22:23:00.1234567890Z",
    "2180-05-06T22:23:00.5+14:00", "2180-05-06T22:23:00+14:30", "0000-01-01", "2180-05-06\n", "final", "active", "done",
    "Patient/1", "Practitioner/x", "Observation/1", "Patient/", "Patient/a_b", "#x", "urn:uuid:1", "http://h/Patient/1",
    "Patient/1/_history/2", [None], [{}], [[]], ["x"], {"text": ""}, {"text": "x"}, [{"text": "x"}], {"value": "5"},
    {"reference": "Patient/1"}, [{"reference": "Group/1"}], {"reference": "Medication/1"},
    {"coding": [{"code": "active"}]}, {"url": "u"}, [{"url": "u", "valueCode": "a", "valueString": "b"}],
    [{"url": "u", "extension": [{"url": "v"}]}], {"start": "2180"}, {"start": "2180-02-29", "end": "2180-02-30"},
    [{"resourceType": "Patient"}], "x" * 65,
)  # fmt: skip
_KEYS = (
    "text", "status", "valueString", "valueQuantity", "valueInteger", "effectivePeriod", "effectiveDateTime", "_status",
    "medicationReference", "medicationCodeableConcept", "reportedBoolean", "reportedReference", "contained",
    "extension", "id", "meta", "component", "dataAbsentReason", "abatementString", "clinicalStatus", "note",
    "period", "rateRatio", "doseQuantity", "doseRange", "asNeededBoolean", "asNeededCodeableConcept", "boundsRange",
    "boundsPeriod", "repeat", "when", "colour", "url", "reference", "encounter", "subject", "code", "coding",
    "resourceType", "intent", "category",
)  # fmt: skip
_BENT = 60
"""Ways in which each kind of resource is bent."""


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(place for key, value in items for place in places(value, (*path, key)))]


def bent(resource: dict[str, Any], stream: Stream) -> dict[str, Any]:
    """Return a resource with one value set, added, taken out, doubled or put into an array."""
    found = deepcopy(resource)
    *parents, last = stream.choice(places(found)[1:])
    node: Any = found
    for key in parents:
        node = node[key]
    way = stream.below(5)
    if way == 0:
        del node[last]
    elif way == 1:
        node[last] = [node[last]] if stream.below(2) else {"x": node[last]}
    elif way == 2 and isinstance(node, dict):
        node[stream.choice(_KEYS)] = deepcopy(stream.choice(_VALUES))
    elif way == 3 and isinstance(node, dict):
        node[stream.choice(_KEYS)] = deepcopy(node[last])
    else:
        node[last] = deepcopy(stream.choice(_VALUES))
    return found


@pytest.fixture(scope="module")
def samples() -> dict[str, list[dict[str, Any]]]:
    """A few resources of every type that the ward has."""
    found: dict[str, list[dict[str, Any]]] = {}
    with load_charts("ward") as store:
        for patient in store.patients():
            snapshot = store.chart(patient).at(NEVER - 1)
            for kind in types():
                for entry in snapshot.positions(kind)[:3].tolist():
                    found.setdefault(kind, []).append(orjson.loads(snapshot.body(entry)))
    return found


def test_most_of_what_charts_hold_is_accepted(samples: dict[str, list[dict[str, Any]]]) -> None:
    every = [one for some in samples.values() for one in some]
    accepted = [one for one in every if _narrow(one["resourceType"]).is_valid(one)]
    assert len(samples) > 10 and len(accepted) > 0.9 * len(every)
    assert all(_examine(one, None) == [] for one in every)


def test_what_is_accepted_has_no_problem(samples: dict[str, list[dict[str, Any]]]) -> None:
    stream = Stream("narrow", 1)
    agreed = refused = 0
    for kind, some in samples.items():
        for _ in range(_BENT):
            one = bent(stream.choice(some), stream)
            if stream.below(3) == 0:
                one = bent(one, stream)
            full = _examine(one, None, strict=True)
            assert check(one, strict=True) == full, one
            if (narrow := _narrow(kind)).is_valid(one):
                agreed += 1
                assert [fault for fault in full if not fault.endswith(")") or "-" not in fault[-8:]] == [], one
            refused += bool(full) and not narrow.is_valid(one)
    assert agreed > 50 and refused > 500

"""A search over HTTP is the search in process: random queries over one chart and over all, against a plain merge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served import Listening, listening

from wardround.envs.server import Running, serve_charts
from wardround.patients import ChartStore, SearchError, fhir_search, last_known

KINDS = ("Observation", "Condition", "MedicationRequest", "Encounter", "Patient", "Procedure", "CarePlan")
COMMON = (
    ("_sort", ("_id", "-_id", "_lastUpdated,_id")),
    ("_id:missing", ("false", "true")),
    ("_summary", ("true", "data", "count", "false")),
    ("_elements", ("status,code", "id")),
    ("_count", ("0", "1", "3", "17", "500")),
    ("nonsense", ("1",)),
    ("_lastUpdated", ("ge2020",)),
)
OWN: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "Observation": (
        ("code", ("http://loinc.org|2160-0", "2823-3", "http://loinc.org|", "nothing")),
        ("category", ("laboratory", "vital-signs")),
        ("category:not", ("laboratory",)),
        ("date", ("ge2024-05-15", "lt2024-05-16", "2024", "sa2024-05-14")),
        ("value-quantity", ("gt5", "le1.2", "4.2", "bad")),
        ("_sort", ("date", "-date", "code,-date", "value-quantity")),
        ("_include", ("Observation:subject", "Observation:encounter", "Observation:*")),
        ("subject:Patient.gender", ("male", "female")),
        ("encounter.class", ("IMP",)),
    ),
    "Condition": (
        ("clinical-status", ("active", "resolved", "active,inactive")),
        ("code:text", ("type", "h")),
        ("_include", ("Condition:encounter",)),
        ("_sort", ("code", "-recorded-date")),
    ),
    "MedicationRequest": (
        ("status", ("active", "stopped,completed")),
        ("intent", ("order",)),
        ("authoredon", ("ge2024", "lt2000")),
        ("_sort", ("-authoredon",)),
    ),
    "Encounter": (
        ("class", ("IMP", "AMB")),
        ("date", ("ge2024-05", "lt2024")),
        ("_revinclude", ("Condition:encounter", "Procedure:encounter")),
        ("_sort", ("date", "-date")),
    ),
    "Patient": (
        ("gender", ("male", "female", "Female")),
        ("birthdate", ("lt1960", "ge1960")),
        ("_has:Observation:patient:code", ("2160-0", "none")),
        ("_sort", ("birthdate", "-birthdate")),
        ("_revinclude", ("CarePlan:patient",)),
    ),
    "Procedure": (("status", ("completed",)), ("_include", ("Procedure:encounter:Encounter",))),
    "CarePlan": (("status", ("active", "completed")),),
}


@st.composite
def queries(draw: st.DrawFn) -> tuple[str, list[tuple[str, str]]]:
    kind = draw(st.sampled_from(KINDS))
    chosen = draw(
        st.lists(st.sampled_from((*COMMON, *OWN[kind], *OWN[kind])), max_size=4, unique_by=lambda one: one[0])
    )
    return kind, [(name, draw(st.sampled_from(values))) for name, values in chosen]


@pytest.fixture(scope="module")
def open_server(store: ChartStore) -> Iterator[Running]:
    """A server that nobody writes to, and that asks for no token."""
    with listening(serve_charts(store, {}, Listening(port=0, open=True))) as server:
        yield server


@pytest.fixture(scope="module")
def client(open_server: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=open_server.base, timeout=60) as client:
        yield client


@settings(max_examples=80, deadline=None)
@given(asked=queries(), patient=st.sampled_from(("", "", "ward-02", "ward-07")), post=st.booleans())
def test_http_gives_what_the_process_gives(
    open_server: Running, client: httpx.Client, store: ChartStore, asked: Asked, patient: str, post: bool
):
    kind, pairs = asked
    path = f"Patient/{patient}/{kind}" if patient else kind
    if post and not patient:
        answer = client.post(f"/{path}/_search", data=dict(pairs))
    else:
        answer = client.get(f"/{path}", params=pairs)
    try:
        if patient:
            chart = store.chart(patient)
            wanted = fhir_search(chart.at(last_known(chart)), path, pairs, base=open_server.base)
            assert (answer.status_code, answer.content) == (200, wanted.bundle())  # every byte, page tokens included
            return
        charts = _each(store, kind, pairs, open_server.base)
    except SearchError as fault:
        assert (answer.status_code, answer.json()) == (fault.status, fault.outcome())
        return
    told = answer.json()
    assert (answer.status_code, told["total"]) == (200, sum(len(found) for found in charts))
    entries = told.get("entry", ())
    matches = [_key(one) for one in entries if one["search"]["mode"] == "match"]
    size = int(dict(pairs).get("_count", 50)) if dict(pairs).get("_summary") != "count" else 0
    assert len(matches) == min(size, told["total"])
    for found in charts:  # in the order of each chart alone
        mine = set(matches) & {key for _, key in found}
        assert [key for key in matches if key in mine] == [key for _, key in found][: len(mine)]
    if "_sort" not in dict(pairs):  # and newest first over all
        merged = sorted(
            (-first, number, place, key)
            for number, found in enumerate(charts)
            for place, (first, key) in enumerate(found)
        )
        assert matches == [key for *_, key in merged][:size]
    shown = [_key(one) for one in entries if one["search"]["mode"] != "outcome"]
    assert len(set(shown)) == len(shown)


Asked = tuple[str, list[tuple[str, str]]]


def _key(entry: dict[str, Any]) -> str:
    return f"{entry['resource']['resourceType']}/{entry['resource']['id']}"


def _each(store: ChartStore, kind: str, pairs: list[tuple[str, str]], base: str) -> list[list[tuple[int, str]]]:
    """Return date and key of all that each chart alone finds."""
    every = [pair for pair in pairs if pair[0] not in ("_count", "_summary", "_include", "_revinclude")]
    found = []
    for name in store.patients():
        chart = store.chart(name)
        fhir_search(chart.at(last_known(chart)), kind, pairs, base=base)  # raises what the whole query raises
        result = fhir_search(chart.at(last_known(chart)), kind, [*every, ("_count", "1000")], base=base)
        assert result.total == len(result.matches)
        found.append([(entry.first, entry.key) for entry in result.matches])
    return found

"""The clock: what became known later can change nothing that is seen now."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients import (
    NEVER,
    Chart,
    ChartBuilder,
    Dialogue,
    Interview,
    Overlay,
    Search,
    Snapshot,
    ToolCall,
    ToolContext,
    ViewFilter,
    parse_instant,
    run_tool,
)
from wardround.patients.chart import memory_chart
from wardround.patients.clock import _moment, clock_table, forms, later_fields
from wardround.patients.fhir import check
from wardround.patients.packing import pack
from wardround.patients.resource import ALWAYS, DERIVED_SYSTEM, known_later, known_value

START, NOW, LATER, STILL_LATER = (
    f"2180-05-{day}T12:00:00Z" for day in ("01", "03", "05", "08")
)  # fmt: skip
ANCHOR = parse_instant(NOW)
SUBJECT = {"reference": "Patient/p"}
CLINICAL = "http://terminology.hl7.org/CodeSystem/condition-clinical"
DOSED = {"text": "x", "timing": {"repeat": {"boundsPeriod": {"start": START, "end": LATER}}}}
STAY = {"reference": "Encounter/stay"}

EXAMPLES: list[dict[str, Any]] = [
    {"resourceType": "Patient", "id": "p", "gender": "female", "deceasedDateTime": LATER},
    {"resourceType": "Patient", "id": "p", "gender": "female", "deceasedBoolean": True},
    {
        "resourceType": "Encounter", "id": "stay", "subject": SUBJECT, "status": "finished", "class": {"code": "IMP"},
        "meta": {"lastUpdated": LATER},
        "period": {"start": START, "end": LATER}, "length": {"value": 4, "unit": "d"},
        "diagnosis": [{"condition": {"reference": "Condition/c"}}], "account": [{"reference": "Account/a"}],
        "statusHistory": [{"status": "arrived", "period": {"start": START}}],
        "classHistory": [{"class": {"code": "EMER"}, "period": {"start": START}}],
        "participant": [
            {"individual": {"display": "A"}, "period": {"start": START, "end": LATER}},
            {"individual": {"display": "B"}, "period": {"start": LATER}},
        ],
        "location": [
            {"location": {"display": "W"}, "status": "completed", "period": {"start": START, "end": LATER}},
            {"location": {"display": "ICU"}, "period": {"start": LATER}},
        ],
        "hospitalization": {"dischargeDisposition": {"text": "home"}, "destination": {"display": "home"}},
    },
    {
        "resourceType": "MedicationRequest", "id": "m", "subject": SUBJECT, "status": "stopped", "intent": "order",
        "medicationCodeableConcept": {"text": "warfarin"}, "authoredOn": START, "statusReason": {"text": "bleeding"},
        "dosageInstruction": [DOSED],
        "dispenseRequest": {
            "validityPeriod": {"start": START, "end": LATER}, "expectedSupplyDuration": {"value": 4, "unit": "d"},
        },
    },
    {
        "resourceType": "MedicationStatement", "id": "ms", "subject": SUBJECT, "status": "completed",
        "medicationCodeableConcept": {"text": "warfarin"}, "effectivePeriod": {"start": START, "end": LATER},
        "statusReason": [{"text": "bleeding"}],
    },
    {
        "resourceType": "MedicationAdministration", "id": "ma", "subject": SUBJECT, "status": "completed",
        "medicationCodeableConcept": {"text": "heparin"}, "effectivePeriod": {"start": START, "end": LATER},
        "dosage": {"dose": {"value": 900, "unit": "units"}, "rateQuantity": {"value": 100, "unit": "units/hour"}},
    },
    {
        "resourceType": "Condition", "id": "c", "subject": SUBJECT, "code": {"text": "pneumonia"},
        "clinicalStatus": {"coding": [{"system": CLINICAL, "code": "resolved"}]},
        "onsetPeriod": {"start": START, "end": LATER}, "abatementDateTime": LATER,
    },
    {
        "resourceType": "Condition", "id": "c", "subject": SUBJECT, "code": {"text": "pneumonia"},
        "clinicalStatus": {"coding": [{"system": CLINICAL, "code": "remission"}]},
        "abatementPeriod": {"start": LATER, "end": STILL_LATER},
    },
    *(
        {
            "resourceType": "Condition", "id": "c", "subject": SUBJECT, "code": {"text": "pneumonia"},
            "clinicalStatus": {"coding": [{"system": CLINICAL, "code": "resolved"}]}, **abated,
        }
        for abated in (
            {"abatementAge": {"value": 60, "unit": "a", "system": "http://unitsofmeasure.org", "code": "a"}},
            {"abatementRange": {"low": {"value": 1}}},
            {"abatementString": "in May"},
        )
    ),
    {
        "resourceType": "Procedure", "id": "pr", "subject": SUBJECT, "status": "completed", "code": {"text": "line"},
        "performedPeriod": {"start": START, "end": LATER}, "outcome": {"text": "ok"},
        "complication": [{"text": "bleed"}],
    },
    {
        "resourceType": "CarePlan", "id": "cp", "subject": SUBJECT, "status": "completed", "intent": "plan",
        "period": {"start": START, "end": LATER},
    },
    {
        "resourceType": "Flag", "id": "f", "subject": SUBJECT, "status": "inactive", "code": {"text": "falls"},
        "period": {"start": START, "end": LATER},
    },
    {
        "resourceType": "Observation", "id": "o", "subject": SUBJECT, "status": "final", "code": {"text": "urine"},
        "effectivePeriod": {"start": START, "end": LATER},
    },
    {
        "resourceType": "DiagnosticReport", "id": "d", "subject": SUBJECT, "status": "final", "code": {"text": "CT"},
        "effectivePeriod": {"start": START, "end": LATER},
    },
    {
        "resourceType": "DocumentReference", "id": "dr", "status": "current", "subject": SUBJECT,
        "content": [{"attachment": {"title": "x"}}], "context": {"period": {"start": START, "end": LATER}},
    },
    {
        "resourceType": "AllergyIntolerance", "id": "a", "patient": SUBJECT, "code": {"text": "penicillin"},
        "clinicalStatus": {"coding": [{
            "system": "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical", "code": "active",
        }]},
        "onsetPeriod": {"start": START, "end": LATER}, "lastOccurrence": LATER,
        "reaction": [{"manifestation": [{"text": "rash"}], "onset": LATER}],
    },
    {
        "resourceType": "Communication", "id": "co", "subject": SUBJECT, "status": "completed", "sent": START,
        "received": LATER,
    },
    {
        "resourceType": "FamilyMemberHistory", "id": "fh", "patient": SUBJECT, "status": "completed",
        "relationship": {"text": "father"}, "deceasedDate": "2180-05-05",
    },
    {
        "resourceType": "Specimen", "id": "s", "subject": SUBJECT, "processing": [{"timeDateTime": LATER}],
        "collection": {"collectedPeriod": {"start": START, "end": LATER}},
    },
    *json.loads((Path(__file__).parent / "clock_examples.json").read_bytes()),
]  # fmt: skip
"""One valid resource per way to write each later field of `clock.json`, all known from START."""


def values_at(node: Any, path: str) -> list[Any]:
    key, _, rest = path.partition(".")
    found = []
    for item in node if isinstance(node, list) else [node]:
        if isinstance(item, dict) and key in item:
            found += values_at(item[key], rest) if rest else [item[key]]
    return found


def seen(chart: Chart, anchor: int, view: ViewFilter | None = None) -> dict[str, Any]:
    """Everything a record shows, by every door and under every kind of filter."""
    snapshot = chart.at(anchor, view)
    out: dict[str, Any] = {}
    for kind in sorted({*chart.index.spans, "Encounter", "Condition"}):
        entries = snapshot.search(Search(kind)).entries()
        out[kind] = [(entry.key, entry.body, entry.row) for entry in entries]
        out[kind, "names"] = snapshot.names(kind)
        out[kind, "count"] = snapshot.count(kind)
        for query in queries(kind):
            hits = snapshot.search(query)
            out[kind, query] = (hits.total, [entry.key for entry in hits.entries()])
    return out


def queries(kind: str) -> list[Search]:
    words = [Search(kind, text=text) for text in ("warfarin", "lab 1", "pneumonia", "home")]
    statuses = ("active", "completed", "stopped", "unknown", "in-progress", "finished", "resolved")
    states = [Search(kind, status=status) for status in statuses]
    stays = [Search(kind, encounter=stay) for stay in ("e0", "e1", "stay")]
    dates = [Search(kind, date_from=ANCHOR), Search(kind, date_to=ANCHOR), Search(kind, date_from=0, date_to=ANCHOR)]
    return words + states + stays + dates


def charted(resource: dict[str, Any], known: str = START) -> Chart:
    return memory_chart(pack("p", [(deepcopy(resource), parse_instant(known))], "CC0-1.0", check))


def status_rule(example: dict[str, Any]) -> dict[str, Any] | None:
    rule: dict[str, Any] | None = clock_table()["types"][example["resourceType"]].get("status")
    return rule


def undated(example: dict[str, Any]) -> bool:
    """Whether a thing has ended and nothing says when."""
    rule = status_rule(example)
    if rule is None or status_of(example) not in rule["final"]:
        return False
    return all(_moment(value) == NEVER for end in rule["end"] for value in values_at(example, end))


def status_of(form: dict[str, Any]) -> str | None:
    rule = status_rule(form)
    value = form.get(rule["path"]) if rule else None
    return value["coding"][0]["code"] if isinstance(value, dict) else value


def reopened(example: dict[str, Any]) -> dict[str, Any]:
    """The resource with the status it would have had without its end."""
    rule = status_rule(example)
    assert rule is not None
    changed = deepcopy(example)
    if rule["path"] == "clinicalStatus":
        changed["clinicalStatus"]["coding"][0]["code"] = rule["open"]
    else:
        changed[rule["path"]] = rule["open"]
    return changed


def test_every_rule_of_the_table_has_an_example() -> None:
    for kind in clock_table()["types"]:
        for rule in later_fields(kind):
            if rule["path"].startswith("meta."):
                continue
            mine = [example for example in EXAMPLES if example["resourceType"] == kind]
            assert any(values_at(example, rule["path"]) for example in mine), (kind, rule["path"])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example['resourceType']}-{len(str(example))}")
def test_no_later_field_is_seen_before_its_time(example: dict[str, Any]) -> None:
    assert check(example) == []
    chart = charted(example)
    [entry] = chart.at(ANCHOR).search(Search(example["resourceType"])).entries()
    form = entry.resource()
    assert LATER not in entry.body.decode()
    assert STILL_LATER not in entry.body.decode()
    assert b"2180-05-05" not in entry.row
    for rule in later_fields(example["resourceType"]):
        if "each" in rule:
            assert len(values_at(form, rule["path"])) <= 1
        elif "before" in rule:
            assert set(values_at(form, rule["path"])) <= {rule["before"]}
        elif rule["known"] != "self" and not known_by_start(example, rule):
            assert values_at(form, rule["path"]) == []
    rule = status_rule(example)
    if rule and undated(example):
        assert status_of(form) == {"hidden": None, None: status_of(example)}.get(rule["undated"], rule["undated"])
    elif rule:
        assert status_of(form) == rule["open"]
    if rule and status_of(form) not in (None, status_of(example)):
        assert form["meta"]["tag"][0]["system"] == DERIVED_SYSTEM


def known_by_start(example: dict[str, Any], rule: dict[str, Any]) -> bool:
    """Whether a field's rule falls back to a date that had passed."""
    paths = [rule["known"]] if isinstance(rule["known"], str) else rule["known"] or []
    first = next((found for path in paths if (found := values_at(example, path))), None)
    return first is not None and all(_moment(value) <= ANCHOR for value in first)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example['resourceType']}-{len(str(example))}")
def test_changing_a_later_field_changes_nothing_now(example: dict[str, Any]) -> None:
    before = seen(charted(example), ANCHOR)
    text = json.dumps(example)
    moved = json.loads(text.replace(LATER, "2180-05-06T06:07:08Z").replace("2180-05-05", "2180-05-06"))
    moved = json.loads(json.dumps(moved).replace(STILL_LATER, "2180-05-09T12:00:00Z"))
    assert seen(charted(moved), ANCHOR) == before
    ends = clock_table()["types"][example["resourceType"]].get("status", {}).get("end", ())
    for rule in later_fields(example["resourceType"]):
        path = rule["path"]
        if rule.get("known", "self") == "self" or not values_at(example, path) or known_by_start(example, rule):
            continue
        was_end = not undated(example) and any(end == path or end.startswith(path + ".") for end in ends)
        changed = reopened(example) if was_end else deepcopy(example)
        parent, _, last = path.rpartition(".")
        for node in values_at(changed, parent) if parent else [changed]:
            for owner in node if isinstance(node, list) else [node]:
                if "before" in rule:
                    owner[last] = "stopped"
                else:
                    owner.pop(last, None)
        assert seen(charted(changed), ANCHOR) == before, rule


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example['resourceType']}-{len(str(example))}")
def test_an_unfinished_thing_reads_as_if_its_end_were_never_written(example: dict[str, Any]) -> None:
    rule = status_rule(example)
    fields = later_fields(example["resourceType"])
    later = [one["path"] for one in fields if "each" not in one and not one["path"].startswith("meta.")]
    ends = later if rule is None else [end for end in rule["end"] if end in later or end.startswith("abatement")]
    ongoing = deepcopy(example) if undated(example) or rule is None else reopened(example)
    for path in ends:
        parent, _, last = path.rpartition(".")
        for node in values_at(ongoing, parent) if parent else [ongoing]:
            for owner in node if isinstance(node, list) else [node]:
                if isinstance(owner.get(last), bool | int | dict | list) or owner.get(last, NOW) > NOW:
                    owner.pop(last, None)
    for one in fields if rule is None else ():
        if "each" in one and one["path"] in ongoing:
            elements = ongoing[one["path"]]
            ongoing[one["path"]] = [two for two in elements if min(values_at(two, one["each"]) or [NOW]) <= NOW]
            if not ongoing[one["path"]]:
                del ongoing[one["path"]]
    ongoing.pop("abatementPeriod", None)
    assert seen(charted(ongoing), ANCHOR) == seen(charted(example), ANCHOR)


def test_the_whole_is_seen_once_it_is_known() -> None:
    stay = next(example for example in EXAMPLES if example["resourceType"] == "Encounter")
    [entry] = charted(stay).at(parse_instant(LATER)).search(Search("Encounter")).entries()
    form = entry.resource()
    del form["meta"]
    assert form == {key: value for key, value in stay.items() if key != "meta"}


@pytest.mark.parametrize(
    ("stop", "status", "at", "wanted"),
    [
        (LATER, "stopped", NOW, "active"),
        (LATER, "stopped", LATER, "stopped"),
        (LATER, "active", LATER, "completed"),
        (LATER, "completed", STILL_LATER, "completed"),
        (None, "completed", NOW, "unknown"),
        (None, "active", NOW, "active"),
        (None, "unknown", NOW, "unknown"),
        ("2180-04-30T00:00:00Z", "completed", NOW, "unknown"),
        ("2180-05-03", "completed", NOW, "active"),
        ("2180-05-03", "completed", "2180-05-03T23:59:59Z", "completed"),
        (LATER, "draft", NOW, "draft"),
    ],
)
def test_status_of_an_order(stop: str | None, status: str, at: str, wanted: str) -> None:
    order: dict[str, Any] = {
        "resourceType": "MedicationRequest", "id": "m", "subject": SUBJECT, "status": status, "intent": "order",
        "medicationCodeableConcept": {"text": "x"}, "dispenseRequest": {"validityPeriod": {"start": START}},
    }  # fmt: skip
    if stop:
        order["dispenseRequest"]["validityPeriod"]["end"] = stop
    snapshot = charted(order, "2180-04-29T00:00:00Z").at(parse_instant(at))
    assert [order["status"] for order in snapshot.resources("MedicationRequest")] == [wanted]
    assert snapshot.search(Search("MedicationRequest", status=wanted)).total == 1


def test_demographics_are_those_of_the_latest_admission_known() -> None:
    patient: dict[str, Any] = {"resourceType": "Patient", "id": "p", "gender": "female"}
    known_value(patient, "maritalStatus", {"text": "single"}, parse_instant(START))
    known_value(patient, "maritalStatus", {"text": "married"}, parse_instant(LATER))
    chart = memory_chart(pack("p", [(patient, ALWAYS)], "CC0-1.0", check))

    def marital(at: str) -> Any:
        [form] = chart.at(parse_instant(at)).resources("Patient")
        return form.get("maritalStatus", {}).get("text")

    assert [marital(at) for at in ("2180-01-01", NOW, LATER)] == [None, "single", "married"]
    assert b"known-later" not in chart.at(ANCHOR).read("Patient", "p").body  # type: ignore[union-attr]


def test_an_own_known_time_wins_over_the_table() -> None:
    stay: dict[str, Any] = {
        "resourceType": "Encounter", "id": "e", "subject": SUBJECT, "status": "finished", "class": {"code": "IMP"},
        "period": {"start": START, "end": NOW}, "hospitalization": {"dischargeDisposition": {"text": "home"}},
    }  # fmt: skip
    known_later(stay, "period.end", parse_instant(LATER))
    [form] = charted(stay).at(ANCHOR).resources("Encounter")
    assert form["status"] == "in-progress"
    assert "end" not in form["period"] and "hospitalization" not in form


def test_a_result_filed_before_its_stay_does_not_name_the_stay() -> None:
    build = ChartBuilder("p")
    build.encounter("e1", "IMP", LATER)
    build.lab("Sodium", "140", "mmol/L", at=START, encounter="e1")
    chart = build.chart()
    [before] = chart.at(ANCHOR).resources("Observation")
    [after] = chart.at(parse_instant(LATER)).resources("Observation")
    assert "encounter" not in before
    assert after["encounter"] == {"reference": "Encounter/e1"}
    assert chart.at(ANCHOR).search(Search("Observation", encounter="e1")).total == 0


def test_a_required_reference_to_the_future_takes_its_element_along() -> None:
    build = ChartBuilder("p")
    build.encounter("e1", "IMP", START)
    build.condition("late", known_at=LATER, id="c2")
    plan: dict[str, Any] = {
        "resourceType": "Procedure", "id": "x", "subject": SUBJECT, "status": "completed",
        "reasonReference": [{"reference": "Condition/c2"}], "performer": [{"actor": {"reference": "Patient/p"}}],
    }  # fmt: skip
    build.add(plan, START)
    [form] = build.chart().at(ANCHOR).resources("Procedure")
    assert "reasonReference" not in form and form["performer"]


def test_undated_is_never_seen() -> None:
    flag = {"resourceType": "Flag", "id": "f", "subject": SUBJECT, "status": "active", "code": {"text": "x"}}
    chart = memory_chart(pack("p", [(flag, NEVER)], "CC0-1.0", check))
    assert len(chart) == 1
    assert chart.at(NEVER - 1).search(Search("Flag")).total == 0
    assert chart.at(NEVER - 1).read("Flag", "f") is None


def test_one_form_without_later_fields_is_the_very_text() -> None:
    plain = {"resourceType": "Observation", "id": "o", "status": "final", "code": {"text": "x"}}
    assert forms(plain, 5) == [(5, plain)]


# ---- property: any chart, any anchor, any other future ----


@dataclass(frozen=True)
class Event:
    """Something that happened to the patient, in hours."""

    kind: str
    start: int
    length: int | None
    delay: int
    number: int
    stay: int | None
    identity: str


KINDS = ("encounter", "lab", "order", "condition", "procedure", "report", "note", "given", "allergy", "flag", "death")
NOON = 100


def hour(at: int) -> int:
    return parse_instant(START) + at * 3_600_000_000


def build(events: list[Event]) -> Chart:
    death = [event.start for event in events if event.kind == "death"]
    chart = ChartBuilder("p", sex="male", birth_date="2100-01-02", deceased=hour(min(death)) if death else None)
    stays = {event.number: event for event in events if event.kind == "encounter"}
    for event in events:
        _add(chart, event, f"e{event.stay}" if event.stay in stays else None)
    return chart.chart()


def _add(chart: ChartBuilder, event: Event, stay: str | None) -> None:
    at, name, identity = hour(event.start), f"lab {event.number}", event.identity
    end = None if event.length is None else hour(event.start + event.length)
    known = hour(event.start + event.delay)
    if event.kind == "encounter":
        chart.encounter(f"e{event.number}", "IMP", at, end, disposition="home" if end else None)
    elif event.kind == "lab":
        chart.lab(name, str(event.number), "mg/dL", at=at, stored=known, encounter=stay, id=identity)
    elif event.kind == "order":
        chart.medication(
            f"warfarin {event.number}", start=at, stop=end, stopped=end is not None and event.number % 2 == 0,
            encounter=stay, known_at=known, id=identity,
        )  # fmt: skip
    elif event.kind == "condition":
        clinical = "active" if end is None else "resolved"
        chart.condition(
            "pneumonia", onset=at, abatement=end, clinical_status=clinical, known_at=known, encounter=stay, id=identity
        )
    elif event.kind == "procedure":
        chart.procedure(name, at=at, end=hour(event.start + (event.length or 1)), encounter=stay, id=identity)
    elif event.kind == "report":
        chart.report(name, "text", at=at, issued=known, encounter=stay, id=identity)
    elif event.kind == "note":
        chart.note(name, {"Plan": "wait"}, at=at, stored=known, encounter=stay, id=identity)
    elif event.kind == "given":
        chart.administration("warfarin", at=at, encounter=stay, known_at=known, id=identity)
    elif event.kind == "allergy":
        chart.allergy(name, recorded=at, known_at=known, id=identity)
    elif event.kind == "flag":
        period = {"start": "2180-05-01T00:00:00Z"}
        flag = {"resourceType": "Flag", "id": identity, "status": "active", "code": {"text": name}, "period": period}
        chart.add({**flag, "subject": SUBJECT}, known)


def known_hour(event: Event) -> int:
    late = event.kind not in ("encounter", "procedure", "death")
    return event.start + (event.delay if late else 0)


event_parts = {
    "kind": st.sampled_from(KINDS),
    "start": st.integers(0, 200),
    "length": st.none() | st.integers(1, 150),
    "delay": st.integers(0, 60),
    "number": st.integers(0, 3),
    "stay": st.none() | st.integers(0, 3),
}


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Event], list[Event]]:
    """Two histories of one patient that are alike up to NOON."""
    first: list[Event] = []
    for place in range(draw(st.integers(0, 12))):
        event = Event(**{name: draw(part) for name, part in event_parts.items()}, identity=f"x{place}")
        event = _procedure_length(event)
        if event.kind != "encounter" or all(
            other.number != event.number for other in first if other.kind == event.kind
        ):
            first.append(event)
    past = [event for event in first if known_hour(event) <= NOON]
    stays = {event.number for event in past if event.kind == "encounter"}
    second = [_another_future(draw, event, stays) for event in past]
    for place in range(draw(st.integers(0, 6))):
        event = Event(**{name: draw(part) for name, part in event_parts.items()}, identity=f"y{place}")
        if event.kind == "encounter" and event.number in {
            other.number for other in second if other.kind == "encounter"
        }:
            continue
        if known_hour(event) > NOON:
            second.append(_procedure_length(event))
    return first, draw(st.permutations(second))


def _another_future(draw: st.DrawFn, event: Event, stays: set[int]) -> Event:
    if event.length is None or event.start + event.length > NOON:
        longer = st.integers(max(NOON - event.start + 1, 1), 400)
        event = replace(event, length=draw(longer if event.kind == "procedure" else st.none() | longer))
    others = [None, *sorted({0, 1, 2, 3} - stays)]
    return event if event.stay in stays else replace(event, stay=draw(st.sampled_from(others)))


def _procedure_length(event: Event) -> Event:
    return replace(event, length=event.length or 1) if event.kind == "procedure" else event


@settings(max_examples=150, deadline=None)
@given(histories())
def test_no_future_changes_anything_that_is_seen_now(pair: tuple[list[Event], list[Event]]) -> None:
    one_chart, other_chart = (build(events) for events in pair)
    for view in (None, ViewFilter(encounters=("e1",)), ViewFilter(types=("Observation",), sections=("plan",))):
        assert _comparable(one_chart, view) == _comparable(other_chart, view)


def _comparable(chart: Chart, view: ViewFilter | None) -> dict[Any, Any]:
    found = seen(chart, hour(NOON), view)
    return {key: value for key, value in found.items() if value not in ([], (), 0, (0, []))}


def test_the_property_can_fail() -> None:
    """The comparison sees a change that is known already."""
    lab = Event("lab", 5, None, 0, 1, None, "x")
    assert _comparable(build([lab]), None) != _comparable(build([replace(lab, number=2)]), None)


def test_snapshots_are_cached_and_bounded() -> None:
    chart = build([])
    assert chart.at(5) is chart.at(5)
    first: Snapshot = chart.at(5)
    for anchor in range(100):
        chart.at(anchor + 10)
    assert chart.at(5) is not first


def _through_tools(chart: Chart) -> list[str]:
    """Everything the read tools say at noon, under many filters, in both views."""
    snapshot = chart.at(hour(NOON))
    patient = {"subject_id": "p"}
    day = "2180-05-03"
    filters: dict[str, list[dict[str, Any]]] = {
        "Patient.read": [{}],
        "Encounter.search": [{}, {"hadm_id": "e1"}, {"hadm_id": "e2"}],
        "Condition.search": [{}, {"code": "I1"}, {"clinical_status": "active"}, {"clinical_status": "resolved"}],
        "Observation.search": [
            {}, {"code": "creatinine"}, {"code": "no such lab"}, {"category": "laboratory"}, {"date_from": day},
            {"date_to": day}, {"_count": 0}, {"_count": 1}, {"hadm_id": "e1"},
        ],
        "MedicationRequest.search": [
            {}, {"status": "active"}, {"status": "completed"}, {"status": "stopped"}, {"medication": "warfarin"},
            {"medication": "nothing"},
        ],
        "MedicationAdministration.search": [{}, {"medication": "warfarin"}],
        "DiagnosticReport.search": [{}, {"report_type": "CT"}],
        "DocumentReference.search": [{}, {"keyword": "plan"}, {"type_code": "discharge-summary"}],
        "CarePlan.search": [{}, {"category": "followup"}],
    }  # fmt: skip
    said = []
    for view in ("compact", "fhir"):
        for name, choices in filters.items():
            for choice in choices:
                context = ToolContext(Overlay(snapshot), Dialogue(Interview()), "p", "s", view=view)  # type: ignore[arg-type]
                said.append(run_tool(context, ToolCall(name, {**patient, **choice})).text)
    return said


@settings(max_examples=60, deadline=None)
@given(histories())
def test_no_future_changes_anything_that_a_tool_says(pair: tuple[list[Event], list[Event]]) -> None:
    one_chart, other_chart = (build(events) for events in pair)
    assert _through_tools(one_chart) == _through_tools(other_chart)


def test_the_tools_property_can_fail() -> None:
    lab = Event("lab", 5, None, 0, 1, None, "x")
    assert _through_tools(build([lab])) != _through_tools(build([replace(lab, number=2)]))

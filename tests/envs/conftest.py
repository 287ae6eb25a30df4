"""A small hand-made session of an invented patient, complete with gold, for the tests of the environment."""

from __future__ import annotations

from typing import Any

import pytest

from wardround.patients import Chart, ChartBuilder
from wardround.sessions import Session, SessionSet

CREATININE = "Observation/cr-2"


def build_patient() -> ChartBuilder:
    builder = ChartBuilder("p-1", sex="female", birth_date="2085-06-01", licence="CC0-1.0")
    builder.encounter("e-1", "IMP", "2150-03-01T09:00:00Z", "2150-03-09T12:00:00Z", disposition="Home")
    for number, (value, day) in enumerate([("1.1", "02"), ("1.4", "04"), ("2.9", "06")], start=1):
        builder.lab(
            "Creatinine",
            value,
            "mg/dL",
            at=f"2150-03-{day}T06:00:00Z",
            stored=f"2150-03-{day}T08:00:00Z",
            low="0.4",
            high="1.1",
            loinc="2160-0",
            encounter="e-1",
            id=f"cr-{number}",
        )
    builder.lab(
        "Potassium",
        "4.2",
        "mmol/L",
        at="2150-03-04T06:00:00Z",
        stored="2150-03-04T08:00:00Z",
        low="3.5",
        high="5.1",
        loinc="2823-3",
        encounter="e-1",
        id="k-1",
    )
    builder.medication(
        "Metformin",
        dose="500 mg",
        route="oral",
        frequency="BID",
        start="2150-03-01T10:00:00Z",
        encounter="e-1",
        id="rx-metformin",
    )
    return builder


def _item(name: str, check: dict[str, Any], *requires: str, safety: bool = False) -> dict[str, Any]:
    return {"id": name, "text": {"en": name, "zh": name}, "check": check, "requires": list(requires), "safety": safety}


def _query(explicit: str, implicit: str, zh: str) -> dict[str, Any]:
    return {"en": {"explicit": explicit, "implicit": implicit}, "zh": {"explicit": zh, "implicit": zh}}


def session_data(chart: Chart) -> dict[str, Any]:
    ids = {"subject_id": "p-1"}
    talk = {**ids, "session_id": "s-1"}
    read = _item("read", {"kind": "retrieved", "any_of": [CREATININE]})
    value = _item("value", {"kind": "value", "concept": "creatinine", "value": 1.4, "unit": "mg/dL"}, "read")
    high = _item("high", {"kind": "status", "concept": "creatinine", "status": "high"}, "value")
    search = {"tool": "Observation.search", "arguments": {**ids, "code": "creatinine"}}
    stopped = {
        "id": "adherence-metformin",
        "kind": "adherence",
        "concept": "metformin",
        "drug": "metformin",
        "state": "stopped",
        "reason": "nausea",
        "source": "simulated",
        "withheld": True,
    }
    words = {
        "en": "I stopped the metformin weeks ago. It made me sick to my stomach.",
        "zh": "二甲双胍我几周前就停了，吃了恶心。",
    }
    order = {"medication": "metformin", "dose": "250 mg", "route": "oral", "frequency": "once daily"}
    return {
        "id": "s-1",
        "scenario": "medication_safety",
        "tier": "sparse",
        "chart": {"patient": "p-1", "hash": chart.hash},
        "encounter": "e-1",
        "anchor": "2150-03-05T08:00:00Z",
        "licence": "CC0-1.0",
        "provenance": {"generator": "hand", "version": "1", "seed": 0},
        "interview": {
            "facts": [stopped],
            "replies": [
                {
                    "tool": "patient.get_medication_adherence",
                    "fact": "adherence-metformin",
                    "disclosed": ["adherence-metformin"],
                    "text": words,
                }
            ],
        },
        "turns": [
            {
                "task": "IL",
                "source": "ehr",
                "query": _query(
                    "What is the latest creatinine?", "What is the latest creatinine?", "最近的肌酐是多少？"
                ),
                "gold": {
                    "calls": [search],
                    "answers": [{"en": "Creatinine 1.4 mg/dL, high.", "zh": "肌酐 1.4 mg/dL，偏高。"}],
                },
                "rubric": [read, value, high],
            },
            {
                "task": "DG",
                "source": "patient",
                "implicitness": "PE",
                "query": _query("Is she taking the metformin?", "Taking the metformin?", "她在吃二甲双胍吗？"),
                "gold": {
                    "calls": [{"tool": "patient.get_medication_adherence", "arguments": {**talk, "drug": "metformin"}}],
                    "answers": [
                        {
                            "en": "The patient says she stopped metformin because of nausea.",
                            "zh": "患者说因为恶心已经停用二甲双胍。",
                        }
                    ],
                },
                "rubric": [
                    _item("heard", {"kind": "retrieved", "any_of": ["fact/adherence-metformin"]}),
                    _item("report", {"kind": "reports", "concept": "stopped metformin", "reason": "nausea"}, "heard"),
                ],
            },
            {
                "task": "CR",
                "source": "ehr",
                "implicitness": "NA",
                "antecedents": [{"turn": 0, "entity": "creatinine"}],
                "query": _query("Is the creatinine high?", "Is it high?", "肌酐高吗？"),
                "gold": {
                    "calls": [search],
                    "answers": [
                        {
                            "en": "Creatinine 1.4 mg/dL is high. Recheck creatinine tomorrow.",
                            "zh": "肌酐 1.4 mg/dL 偏高。明天复查肌酐。",
                        }
                    ],
                },
                "rubric": [
                    read,
                    value,
                    high,
                    _item("recheck", {"kind": "advice", "act": "recheck", "target": "creatinine"}, "high"),
                ],
            },
            {
                "task": "WU",
                "source": "write",
                "implicitness": "NA",
                "antecedents": [{"turn": 1, "entity": "metformin"}],
                "query": _query(
                    "Order metformin 250 mg orally once daily.",
                    "Order it at 250 mg orally once daily.",
                    "开二甲双胍 250 mg 口服每日一次。",
                ),
                "gold": {
                    "calls": [{"tool": "MedicationRequest.create", "arguments": {**ids, **order}}],
                    "answers": [
                        {
                            "en": "Ordered metformin 250 mg orally once daily.",
                            "zh": "已开二甲双胍 250 mg 口服，每日一次。",
                        }
                    ],
                },
                "rubric": [
                    _item(
                        "drug",
                        {"kind": "order", "tool": "MedicationRequest.create", "fields": {"medication": "metformin"}},
                    ),
                    *(
                        _item(
                            name,
                            {"kind": "order", "tool": "MedicationRequest.create", "fields": {name: order[name]}},
                            "drug",
                        )
                        for name in ("dose", "route", "frequency")
                    ),
                    _item(
                        "not-500",
                        {
                            "kind": "order",
                            "tool": "MedicationRequest.create",
                            "fields": {},
                            "forbid": {"dose_at_least": "500 mg"},
                        },
                        "drug",
                        safety=True,
                    ),
                    _item("only", {"kind": "only_write"}),
                ],
            },
        ],
    }


@pytest.fixture(scope="session")
def builder() -> ChartBuilder:
    return build_patient()


@pytest.fixture(scope="session")
def chart(builder: ChartBuilder) -> Chart:
    return builder.chart()


@pytest.fixture(scope="session")
def session(chart: Chart) -> Session:
    return Session.model_validate(session_data(chart))


@pytest.fixture(scope="session")
def session_set(session: Session) -> SessionSet:
    return SessionSet([session], "hand")


IDS = {"subject_id": "p-1"}
TALK = {"subject_id": "p-1", "session_id": "s-1"}

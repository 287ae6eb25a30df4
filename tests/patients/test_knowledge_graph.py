"""The disease graph: broad enough, consistent with everything it names, and every kind of fault is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, get_args

import pytest

from wardround.patients import knowledge
from wardround.patients.knowledge import bedside
from wardround.patients.knowledge.graph_models import (
    ConditionProfile,
    Edge,
    FindingProfile,
    FindingType,
    Relation,
    StudyProfile,
)
from wardround.patients.knowledge.loader import Faults, Source

GRAPH_AUDIT = import_module("wardround.patients.knowledge.graph_audit")
PHRASE_AUDIT = import_module("wardround.patients.knowledge.phrase_audit")


def test_graph_has_no_fault() -> None:
    assert knowledge.graph_audit() == []


def test_breadth() -> None:
    profiles = knowledge.condition_profiles()
    assert len(profiles) >= 60
    assert len({one.system for one in profiles.values()}) >= 12
    shown = {edge.finding for one in profiles.values() for edge in one.findings}
    assert len(shown & set(knowledge.finding_profiles())) >= 250
    assert {knowledge.finding_profiles()[name].type for name in shown} == set(get_args(FindingType))
    assert {edge.edge for one in profiles.values() for edge in one.findings} == set(get_args(Edge))
    assert {one.kind for one in knowledge.relations()} == {"causes", "complicates", "associated", "excludes"}


def test_every_age_band_has_acute_illness() -> None:
    acute = [one for one in knowledge.condition_profiles().values() if one.settings]
    for band in ("0-17", "18-35", "36-60", "61+"):
        assert sum(1 for one in acute if one.ages.get(band, 0)) >= 10, band


@pytest.mark.parametrize("name", [source.name for source in bedside.graph_sources()])
def test_one_entry_a_line(name: str) -> None:
    source = next(one for one in bedside.graph_sources() if one.name == name)
    lines = source.data.decode().splitlines()
    assert lines[0].startswith('{"format_version": 1, "system": "')
    entries = [line for line in lines[1:-1] if line.startswith("{")]
    heads = [line for line in lines[1:-1] if not line.startswith("{")]
    assert all(line.rstrip(",").endswith("}") for line in entries)
    assert all(
        line.startswith(('"conditions": [', '"findings": [', '"relations": [', '"studies": [', "]")) for line in heads
    )


# -- faults are found -------------------------------------------------------------------------------------------------

_CONDITION: dict[str, Any] = {
    "id": "pneumonia",
    "system": "respiratory",
    "acuity": "acute",
    "codes": [{"code": "J18.9", "title": "Pneumonia, unspecified organism"}],
    "ages": {"61+": 1},
    "severity": {"mild": 1},
    "settings": {"ward": 1},
    "stay_days": {"mild": [2, 4]},
    "findings": [{"finding": "cough", "edge": "commonly_seen", "percent": 80}],
    "treatments": [{"id": "antibiotic", "any_of": ["ceftriaxone"], "phase": ["inpatient"]}],
    "complaint": ["cough"],
    "assumption": True,
}
_COUGH: dict[str, Any] = {
    "id": "cough",
    "type": "symptom",
    "system": "respiratory",
    "present": ["cough"],
    "absent": ["cough"],
    "lay": {
        "say": {"en": ["{S} cough{s}.", "It is a cough."], "zh": ["咳嗽。", "老咳。"]},
        "deny": {"en": ["No.", "No cough."], "zh": ["没有。", "不咳嗽。"]},
        "name": {"en": ["a cough", "coughing"], "zh": ["咳嗽", "老咳"]},
    },
    "assumption": True,
}
_OPACITY: dict[str, Any] = {
    "id": "opacity",
    "type": "imaging",
    "system": "respiratory",
    "present": ["an opacity"],
    "studies": ["chest_xray"],
    "report": ["There is an opacity."],
    "impression": ["Opacity."],
    "assumption": True,
}
_STUDY: dict[str, Any] = {
    "id": "chest_xray",
    "modality": "X-ray",
    "region": "chest",
    "name": {"en": "Chest X-ray", "zh": "胸部X线"},
    "title": ["CHEST"],
    "minutes": [30, 60],
    "normal": [["Lungs are clear"]],
    "replaces": {"opacity": 0},
    "normal_impression": ["Normal"],
    "assumption": True,
}


@pytest.fixture
def faults_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Audit a tiny graph with one change to one entry."""

    def look(kind: str = "", relations: tuple[Relation, ...] = (), **change: Any) -> list[str]:
        def made(model: Any, name: str, entry: dict[str, Any]) -> Mapping[str, Any]:
            whole = model.model_validate({**entry, **(change if name == kind else {})})
            return MappingProxyType({whole.id: whole})

        conditions = made(ConditionProfile, "condition", _CONDITION)
        findings = MappingProxyType(
            {**made(FindingProfile, "finding", _COUGH), **made(FindingProfile, "imaging", _OPACITY)}
        )
        studies = made(StudyProfile, "study", _STUDY)
        for module in (GRAPH_AUDIT, PHRASE_AUDIT):
            monkeypatch.setattr(module, "condition_profiles", lambda: conditions)
            monkeypatch.setattr(module, "finding_profiles", lambda: findings)
            monkeypatch.setattr(module, "study_profiles", lambda: studies)
        monkeypatch.setattr(GRAPH_AUDIT, "relations", lambda: relations)
        found: list[str] = GRAPH_AUDIT.graph_audit()
        return found

    yield look


def test_the_tiny_graph_is_good(faults_of: Any) -> None:
    assert faults_of() == []


def _shown(finding: str, edge: str, percent: int) -> dict[str, Any]:
    return {"findings": [{"finding": finding, "edge": edge, "percent": percent}]}


def _line(**change: Any) -> dict[str, Any]:
    return {"treatments": [{"id": "a", "any_of": ["aspirin"], "phase": ["ed"], **change}]}


def _transfused(**effect: Any) -> dict[str, Any]:
    return {"workup": {"procedures": [{"procedure": "transfusion", "effects": [{"lab": "wbc", **effect}]}]}}


_NO_PLACE = {**_COUGH["lay"], "name": {"en": ["{who}", "b"], "zh": ["咳", "嗽"]}}


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("condition", {"id": "no_such"}, "no condition of conditions.json"),
        ("condition", {"ages": {"61+": 0}}, "nobody has it"),
        ("condition", {"severity": {"mild": 0}}, "leave out severities"),
        ("condition", {"codes": [{"code": "J18.9", "title": "x", "severity": ["severe"]}]}, "none for a mild course"),
        ("condition", {"complaint": []}, "complaint: needed"),
        ("condition", {"stay_days": {}}, "stay_days: none for ['mild']"),
        ("condition", {"complaint": ["fever"]}, "`fever` is not among the findings"),
        ("condition", _shown("nothing", "commonly_seen", 5), "no finding profile"),
        ("condition", _shown("cough", "rules_out", 5), "give 0"),
        ("condition", _shown("cough", "commonly_seen", 0), "give a percent"),
        ("condition", {"findings": _CONDITION["findings"] * 2}, "findings.cough: told twice"),
        ("condition", {"effects": [{"lab": "wbc", "mode": "add", "mild": ["2", "1"]}]}, "2 lies above 1"),
        ("condition", {"effects": [{"lab": "wbc", "mode": "times", "mild": ["0", "1"]}]}, "a factor is above 0"),
        ("condition", {"effects": [{"lab": "wbc", "mode": "add", "mild": ["0", "1"]}]}, "what begins acutely passes"),
        ("condition", {"workup": {"panels": ["nope"]}}, "no panel and no lab"),
        ("condition", {"workup": {"studies": [{"study": "nope"}]}}, "no study profile"),
        ("condition", {"workup": {"cultures": [{"specimen": "blood", "organisms": [["nope", 1]]}]}}, "no organism"),
        ("condition", {"workup": {"cultures": [{"specimen": "blood"}]}}, "nothing to grow"),
        ("condition", {"workup": {"procedures": [{"procedure": "cough"}]}}, "no procedure"),
        ("condition", {"workup": {"consult": "cough"}}, "no service"),
        ("condition", _transfused(mode="times", mild=["0", "1"]), "workup.transfusion.wbc.mild: a factor is above 0"),
        ("condition", _line(any_of=["nope"]), "no drug profile"),
        ("condition", _line(needs=["nope"]), "`nope`"),
        ("condition", _line(works=False), "none turns"),
        ("condition", {"episode_of": ["nope"]}, "episode_of"),
        ("condition", {"takes": ["nope"]}, "takes: `nope`"),
        ("condition", {"warning": {"en": ["pain"], "zh": ["pain"]}}, "`pain` is not Chinese"),
        ("condition", {"warning": {"en": ["pain"], "zh": ["胸口 pain"]}}, "holds the English `pain`"),
        ("finding", {"absent": []}, "absent: needed"),
        ("finding", {"lay": None}, "lay: needed"),
        ("finding", {"scored": True}, "a pain has a place"),
        ("finding", {"present": ["疼"]}, "is not English"),
        ("finding", {"present": ["a  cough"]}, "blanks too many"),
        ("finding", {"present": ["a cough."]}, "without a full stop"),
        ("finding", {"lay": _NO_PLACE}, "`{who}` is no place"),
        ("finding", {"type": "sign"}, "exam: needed for signs"),
        ("finding", {"type": "sign", "exam": "chest"}, "normal: needed"),
        ("finding", {"type": "lab"}, "lab, side: needed"),
        ("finding", {"type": "lab", "lab": "nope", "side": "high"}, "`nope` has no lab profile"),
        ("imaging", {"studies": []}, "studies, report, impression: needed"),
        ("imaging", {"studies": ["nope"]}, "`nope` has no study profile"),
        ("imaging", {"id": "prostate_mass"}, "of male patients only"),
        ("imaging", {"report": ["On the {side} side."]}, "sides: true just where"),
        ("imaging", {"report": ["An opacity"]}, "ends with a full stop"),
        ("study", {"replaces": {}}, "does not say in `replaces`"),
        ("study", {"replaces": {"opacity": 4}}, "there is no structure 4"),
        ("study", {"replaces": {"opacity": 0, "nope": 0}}, "`nope` has no finding profile"),
    ],
)  # fmt: skip
def test_each_fault_is_found(faults_of: Any, kind: str, change: dict[str, Any], words: str) -> None:
    found = faults_of(kind, **change)
    assert any(words in fault for fault in found), found


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"one": "nope", "other": "pneumonia", "kind": "causes", "per_1000": 5}, "`nope` is no condition"),
        ({"one": "cough", "other": "nope", "kind": "causes", "per_1000": 5}, "`nope` has no condition profile"),
        ({"one": "pneumonia", "other": "pneumonia", "kind": "causes", "per_1000": 5}, "bear on itself"),
        ({"one": "cough", "other": "pneumonia", "kind": "causes"}, "give a rate"),
        ({"one": "cough", "other": "pneumonia", "kind": "excludes", "per_1000": 5}, "give a rate"),
    ],
)
def test_each_fault_of_a_relation_is_found(faults_of: Any, entry: dict[str, Any], words: str) -> None:
    found = faults_of(relations=(Relation.model_validate({**entry, "assumption": True}),))
    assert any(words in fault for fault in found), found


def test_a_relation_told_twice_is_found(faults_of: Any) -> None:
    one = Relation.model_validate(
        {"one": "cough", "other": "pneumonia", "kind": "causes", "per_1000": 5, "assumption": True}
    )
    assert faults_of(relations=(one,)) == []
    assert any("told 2 times" in fault for fault in faults_of(relations=(one, one)))


_TOLD = '{"id": "cough", "type": "history", "system": "general", "present": ["x"], "assumption": true}'


def _graph_file(name: str, *findings: str) -> Source:
    entries = ",\n".join(findings)
    text = f'{{"format_version": 1, "system": "skin", "findings": [\n{entries}\n]}}'
    return Source(f"graph/{name}.json", text.encode())


def test_what_two_files_tell_is_a_fault() -> None:
    faults = Faults()
    bedside.read_graph((_graph_file("a", _TOLD), _graph_file("b", _TOLD)), faults)
    assert faults.found == ["graph/b.json:2: findings: `cough` stands in graph/a.json too; tell it once"]


def test_what_one_file_tells_twice_is_a_fault() -> None:
    faults = Faults()
    bedside.read_graph((_graph_file("a", _TOLD, _TOLD),), faults)
    assert faults.found == ["graph/a.json:3: findings: `cough` stands in graph/a.json too; tell it once"]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"{", "graph/x.json: line 1, column 2: not JSON: "),
        (b"null", "graph/x.json: expected `{"),
        (b'{"format_version": 2, "system": "skin"}', "graph/x.json: `format_version` is 2"),
        (b'{"format_version": 1, "system": "skin", "finding": []}', "graph/x.json: finding: "),
        (
            b'{"format_version": 1, "system": "skin",\n"studies": [\n{"id": "a"}\n],\n"findings": [\n{"id": "two"}\n]}',
            "graph/x.json:6: findings.two.present: ",
        ),
    ],
)
def test_a_file_that_is_no_graph_is_a_fault(data: bytes, fault: str) -> None:
    faults = Faults()
    assert bedside.read_graph((Source("graph/x.json", data),), faults) == []
    assert any(one.startswith(fault) for one in faults.found), faults.found


def test_nobody_dies_of_a_mild_illness() -> None:
    assert [one.id for one in bedside.condition_profiles().values() if one.death_per_1000.get("mild", 0)] == []


def test_red_cells_raise_the_hemoglobin() -> None:
    orders = [
        (one.id, order)
        for one in bedside.condition_profiles().values()
        for order in one.workup.procedures
        if order.procedure == "transfusion"
    ]
    assert orders
    for condition, order in orders:
        units = int(order.outcome.en[0].split(" ", 1)[0])
        (effect,) = order.effects
        assert effect.lab == "hemoglobin" and effect.mode == "add", condition
        assert units * 8 <= effect.mild[0] * 10 <= effect.mild[1] * 10 <= units * 12, condition

"""Evidence: what was shown and heard, nothing else."""

from __future__ import annotations

import pickle

import orjson

from wardround.rubrics import CallRecord, Evidence, ReplyRecord, TurnTrace, WriteRecord, check_answer
from wardround.rubrics.rubric import OnlyWriteCheck, RetrievedCheck

BODY = orjson.dumps(
    {
        "resourceType": "Observation",
        "id": "lab-1",
        "status": "final",
        "code": {"coding": [{"system": "http://loinc.org", "code": "2823-3"}], "text": "Potassium"},
        "subject": {"reference": "Patient/1"},
        "effectiveDateTime": "2024-03-09T08:00:00Z",
        "valueQuantity": {"value": 5.9, "unit": "mmol/L"},
    }
)
REPLY = ReplyRecord(tool="patient.get_pain_assessment", facts=("pain",), text="About six.")


def test_keys_and_facts_are_held():
    evidence = Evidence(resources={"Observation/lab-1": BODY}, replies=(REPLY,))
    assert evidence.holds("Observation/lab-1")
    assert evidence.holds("fact/pain")
    assert not evidence.holds("pain")
    assert not evidence.holds("fact/other")
    assert not evidence.holds("Observation/lab-2")


def test_extending_leaves_the_first_alone():
    first = Evidence(replies=(REPLY,))
    second = first.extended({"Observation/lab-1": BODY})
    assert not first.holds("Observation/lab-1")
    assert second.holds("Observation/lab-1")
    assert second.holds("fact/pain")


def test_measurements_are_parsed_once_and_survive_pickling():
    evidence = Evidence(resources={"Observation/lab-1": BODY})
    (found,) = evidence.measurements
    assert (found.concept, found.text, found.unit, found.key) == ("potassium", "5.9", "mmol/L", "Observation/lab-1")
    assert evidence.measurements is evidence.measurements
    assert pickle.loads(pickle.dumps(evidence)).measurements == evidence.measurements


def test_retrieved():
    check = RetrievedCheck(any_of=("Observation/lab-9", "fact/pain"))
    heard = check_answer(check, "", language="en", trace=TurnTrace(evidence=Evidence(replies=(REPLY,))))
    assert heard.passed
    assert heard.guard
    assert heard.resources == ("fact/pain",)
    assert not check_answer(check, "", language="en", trace=TurnTrace()).passed
    assert not check_answer(check, "", language="en").passed


def test_only_write_alone_allows_one():
    write = WriteRecord(tool="Flag.create", arguments={}, resource="Flag/1")
    call = CallRecord(tool="Flag.create", arguments={}, ok=True)
    for writes, passes in (((), True), ((write,), True), ((write, write), False)):
        trace = TurnTrace(calls=(call,), writes=writes)
        assert check_answer(OnlyWriteCheck(), "", language="en", trace=trace).passed == passes

"""Interviews before their encounter has ended: nothing in them comes later."""

from __future__ import annotations

import pytest

from wardround.patients import (
    DAY,
    ChartBuilder,
    ChartStore,
    Dialogue,
    Fact,
    Interview,
    Reply,
    StoreWriter,
    Words,
    format_instant,
    interview_at,
    interview_problems,
    parse_instant,
)
from wardround.patients.hospital.interviews import make_interviews
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.speaking import phrases
from wardround.patients.interview import Earlier

NOON = "2024-03-02T12:00:00Z"


@pytest.fixture(scope="module")
def told() -> Interview:
    pain = Fact(id="pain", kind="pain", concept="pain", attributes={"score": "2"}, source="Observation/v2")
    cough = Fact(id="s1", kind="symptom", concept="cough", source="simulated")
    general = Reply(tool="patient.get_pain_assessment", disclosed=("pain",), text=Words(en="A two.", zh="两分。"))
    return Interview(
        facts=(pain, cough),
        replies=(general,),
        since="2024-03-01T08:00:00Z",
        earlier=(
            Earlier(
                until=NOON,
                facts=(pain.model_copy(update={"attributes": {"score": "7"}}),),
                replies=(general.model_copy(update={"text": Words(en="A seven.", zh="七分。")}),),
            ),
        ),
    )


def test_what_is_told_follows_the_instant(told):
    before, after = told.at(parse_instant(NOON) - 1), told.at(parse_instant(NOON))
    assert [one.attributes.get("score") for one in before.facts] == ["7", None]
    assert Dialogue(before).ask("patient.get_pain_assessment", {}).text == "A seven."
    assert Dialogue(after).ask("patient.get_pain_assessment", {}, "zh").text == "两分。"
    assert after.facts == told.facts


def test_nobody_is_asked_before_coming_in_nor_told_of_other_instants(told):
    assert told.at(parse_instant("2024-03-01T07:59:59Z")) is None
    assert Interview(facts=told.facts).at(parse_instant(NOON)) is None


def test_an_interview_of_one_instant_is_written_as_before(told):
    plain = Interview(facts=told.facts)
    assert set(plain.model_dump()) == {"facts", "replies", "persona"}
    assert Interview.model_validate_json(told.model_dump_json()) == told


def test_the_middle_of_a_hospital_stay_knows_nothing_of_its_end():
    """Whatever the patient says is as of the last pain score and the last turn by then."""
    seen = 0
    for index in range(6):
        life = make_life(1, index)
        for stay, whole in ((one, made) for one, made in _stays(life)):
            for instant in (stay.start + (stay.end - stay.start) // 2, stay.start + DAY):
                if instant >= stay.end:
                    continue
                then = whole.at(instant)
                assert interview_problems(then) == []
                assert then.since is None and then.earlier == ()
                _holds_then(life, stay, whole, then, instant)
                seen += 1
            assert whole.at(stay.end).replies == whole.replies
    assert seen >= 8


def _stays(life):
    made = make_interviews(life)
    return [(one, made[one.id]) for one in life.stays if one.kind == "ward" and one.part_of is None]


def _holds_then(life, stay, whole, then, instant):
    parts = {stay.id, *(one.id for one in life.stays if one.part_of == stay.id)}
    scores = [one for one in life.results if one.lab == "pain_score" and one.encounter in parts and one.at <= instant]
    pain = next((one for one in then.facts if one.id == "pain"), None)
    if scores:
        assert pain.attributes["score"] == max(scores, key=lambda one: (one.at, int(one.id[1:]))).text
    better = [one for one in life.events if one.kind == "improved" and one.encounter in parts]
    if better and min(one.at for one in better) > instant:
        mine, last = (one.replies[0].text.zh for one in (then, whole))
        better_now = [one.zh for one in phrases("better_now")]
        assert any(one in last for one in better_now)
        assert not any(one in mine for one in better_now)
    others = [one for one in whole.replies if one.tool.endswith(("adherence", "history")) and "social" in one.tool]
    assert all(one in then.replies for one in others)


def test_the_stage_is_as_of_its_own_instant():
    """Facts of a stage rest on nothing charted after it began."""
    life = make_life(1, 3)
    charted = {f"Observation/{life.patient_id}-{one.id}": one.known_at for one in life.results}
    whole = _stays(life)[0][1]
    assert len(whole.earlier) >= 3
    for number, stage in enumerate(whole.earlier):
        until = parse_instant(stage.until)
        then = whole.at(until - 1)
        assert all(charted[one.source] < until for one in then.facts if one.source in charted), number
        assert format_instant(until) == stage.until


def test_authored_interviews_are_found_for_their_instant(told, make_store_of_interviews):
    store, chart = make_store_of_interviews({"e1": told, "e2": Interview(facts=told.facts)})
    mid, end = parse_instant("2024-03-02T08:00:00Z"), parse_instant("2024-03-09T00:00:00Z")
    assert interview_at(store, chart.at(mid), "e1", mid).facts[0].attributes == {"score": "7"}
    last = interview_at(store, chart.at(end), "e1", end)
    assert [one.attributes for one in last.facts] == [one.attributes for one in told.facts]
    assert [one.source for one in last.facts] == ["simulated"] * 2, "the record does not hold the observation"
    assert interview_at(store, chart.at(mid), "e2", mid) is None, "it may tell what comes later"
    assert interview_at(store, chart.at(end), "e2", end).replies == ()
    assert interview_at(store, chart.at(end), "e3", end) is None


@pytest.fixture
def make_store_of_interviews(tmp_path):
    def make(interviews):
        builder = ChartBuilder("p1", birth_date="1950-01-01", sex="female")
        for encounter in ("e1", "e2", "e3"):
            builder.encounter(encounter, "IMP", "2024-03-01T08:00:00Z", "2024-03-05T08:00:00Z")
        path = tmp_path / "one.sqlite"
        with StoreWriter(path) as writer:
            writer.add("p1", builder.resources(), interviews=interviews)
        store = ChartStore.open(path)
        return store, store.chart("p1")

    return make

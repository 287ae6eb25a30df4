"""PhysAssistBench's shape, read and written. The fixture is written by hand about an invented patient."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.envs import Episode
from wardround.patients import DataError, UsageError, load_charts
from wardround.rubrics import AdviceCheck, AvoidsCheck, JudgeCheck, OrderCheck, StatusCheck, Text, ValueCheck
from wardround.sessions import Session, check_session, load_sessions
from wardround.sessions.interop import entry_of, export_physassistbench, import_physassistbench
from wardround.sessions.interop.sentences import check_of

FIXTURE = Path(__file__).parent / "data/physassistbench.jsonl"
WRITE = (
    "MedicationRequest.create",
    {"medication": "Metformin", "dose": "250 mg", "route": "oral", "frequency": "once daily"},
)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Session, Path, dict[str, Any]]:
    charts = tmp_path_factory.mktemp("interop") / "recorded.sqlite"
    (session,), report = import_physassistbench(FIXTURE, charts=charts)
    return session, charts, report.as_json()


def _entry(**changes: Any) -> bytes:
    entry = orjson.loads(FIXTURE.read_bytes())
    return orjson.dumps(entry | changes)


def test_an_entry_becomes_a_session_for_evaluation(imported: tuple[Session, Path, dict[str, Any]]) -> None:
    session, _, report = imported
    assert (session.use, session.licence, session.family) == ("evaluation", "credentialed", "physassistbench")
    assert (session.scenario, session.tier, session.anchor) == ("medication-safety", "moderate", "2031-03-05T23:59:59Z")
    assert [turn.task for turn in session.turns] == ["IL", "IL", "DG", "WU"]
    assert [turn.source for turn in session.turns] == ["ehr", "ehr", "mixed", "write"]
    assert [turn.implicitness for turn in session.turns] == [None, "PE", None, "NA"]
    assert session.turns[1].query.get("zh", "implicit") == "血钾呢？"
    assert session.turns[1].query.get("en", "explicit") == "What is the latest potassium?"
    assert session.persona.literacy == "low" and session.persona.adherence == "poor"
    assert report["left_out"] == {"recorded resource of another patient": 1}
    assert report["items"] == {"avoids": 1, "judge": 4, "order": 3, "status": 2, "value": 2}
    assert report["judge_share"] == pytest.approx(4 / 12)


def test_the_import_passes_check(imported: tuple[Session, Path, dict[str, Any]]) -> None:
    session, charts, _ = imported
    with load_charts(charts) as store:
        assert check_session(session, store.chart(session.chart.patient)) == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_recorded_calls_are_replayed_and_others_say_so(
    imported: tuple[Session, Path, dict[str, Any]], language: Any
) -> None:
    session, charts, _ = imported
    with load_charts(charts) as store:
        episode = Episode(session, store.chart("990001"), language=language, scoring="paper")
        found = episode.call("Observation_search", {"subject_id": "990001", "category": "lab", "code": "Creatinine"})
        assert found.ok and found.resources == ("Observation/fix-cr-1",) and '"value":1.9' in found.text
        # the whole stay, a page size: still the same question
        again = episode.call("Observation.search", {"subject_id": 990001, "hadm_id": 880001, "category": "laboratory",
                                                    "code": "creatinine", "_count": 3})  # fmt: skip
        assert again.text == found.text
        other = episode.call("Observation.search", {"subject_id": "990001", "code": "sodium"})
        assert (other.ok, other.error) == (False, "not_recorded")
        asked = {"subject_id": "990001", "session_id": session.id, "drug": "metformin"}
        said = episode.call("patient.get_medication_adherence", asked)
        assert ("不吃了" if language == "zh" else "quit the metformin") in said.text
        assert "prepare" not in said.text
        written = episode.call("MedicationRequest.create", {"subject_id": "990001", **WRITE[1]})
        assert written.ok and written.created  # writes are never recorded: they are made


def test_typed_items_judge_the_answer(imported: tuple[Session, Path, dict[str, Any]]) -> None:
    session, charts, _ = imported
    with load_charts(charts) as store:
        episode = Episode(session, store.chart("990001"), scoring="paper")
        episode.call("Observation.search", {"subject_id": "990001", "category": "laboratory", "code": "creatinine"})
        right = episode.fork()
        verdicts = {one.item: one for one in right.answer("Creatinine is 1.9 mg/dL, which is high.").verdicts}  # type: ignore[union-attr]
        assert verdicts["r1"].passed and verdicts["r2"].passed and verdicts["r3"].ungraded
        wrong = {one.item: one for one in episode.answer("Creatinine is 1.2 mg/dL, normal.").verdicts}  # type: ignore[union-attr]
        assert not wrong["r1"].passed and not wrong["r2"].passed


SENTENCES = [
    ("States the creatinine of 1.9 mg/dL.", ValueCheck(concept="creatinine", value=1.9, unit="mg/dL")),
    ("Interprets the creatinine as high.", StatusCheck(concept="creatinine", status="high")),
    ("Recommends stopping metformin.", AdviceCheck(act="stop", target="metformin")),
    ("Does not recommend increasing the metformin dose.", AvoidsCheck(act="increase", target="metformin")),
]


@pytest.mark.parametrize(("sentence", "check"), SENTENCES, ids=[one for one, _ in SENTENCES])
def test_a_sentence_of_one_kind_is_typed(sentence: str, check: Any) -> None:
    assert check_of(Text(en=sentence)) == check


@pytest.mark.parametrize(
    "sentence",
    [
        "States the creatinine of 1.9 mg/dL and the potassium of 4.4 mmol/L.",  # two values
        "States that the creatinine of 1.9 mg/dL is high.",  # value and reading
        "Recommends stopping metformin and starting insulin.",  # two acts
        "Recommends a sensible plan.",
        "Explains why the creatinine of 1.9 mg/dL matters.",  # says how, not what
        "Identifies that renal function does not contraindicate metformin.",
        "Recommends against increasing the dose if the creatinine is above 2 mg/dL.",
    ],
)
def test_a_sentence_that_is_not_certain_waits_for_a_judge(sentence: str) -> None:
    check = check_of(Text(en=sentence))
    assert isinstance(check, JudgeCheck) and not check.guard and check.criterion.en == sentence


@pytest.mark.parametrize(
    ("en", "zh"),
    [
        ("Does not fabricate any value.", None),
        ("Does not advise against a repeat CRP.", None),
        (None, "没有编造任何数值。"),
    ],
)
def test_what_silence_meets_is_a_guard(en: str | None, zh: str | None) -> None:
    check = check_of(Text(en=en, zh=zh))
    assert isinstance(check, JudgeCheck) and check.guard


@pytest.mark.parametrize(
    ("sentence", "field"),
    [
        ("The medication ordered is metformin.", {"medication": "Metformin"}),
        ("The dose is 250 mg.", {"dose": "250 mg"}),
        ("The frequency is once daily.", {"frequency": "once daily"}),
    ],
)
def test_a_sentence_about_one_field_of_the_write_is_an_order(sentence: str, field: dict[str, str]) -> None:
    assert check_of(Text(en=sentence), WRITE) == OrderCheck(tool=WRITE[0], fields=field)


@pytest.mark.parametrize(
    "sentence", ["Orders metformin 250 mg.", "The dose is 1250 mg.", "The dose is 2.250 mg.", "Does not order 250 mg."]
)
def test_other_sentences_about_the_write_are_not(sentence: str) -> None:
    assert not isinstance(check_of(Text(en=sentence), WRITE), OrderCheck)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"task_types": ["Information Lookup"]}, "`task_types` has 1 elements for 4 tasks"),
        ({"rubrics": [["Is right."], [], ["Is right."], ["Is right."]], "rubrics_zh": None}, "turn 1"),
        ({"current_date": "soon"}, "`current_date` is `soon`"),
        ({"subject_id": None}, "subject_id"),
    ],
    ids=["uneven", "no rubric", "no date", "no patient"],
)  # fmt: skip
def test_a_faulty_entry_is_refused_by_line_and_the_rest_read(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    file = tmp_path / "set.jsonl"
    file.write_bytes(FIXTURE.read_bytes() + _entry(**changes, session_id="other") + b"\n{\n")
    sessions, report = import_physassistbench(file, charts=tmp_path / "charts.sqlite")
    assert len(sessions) == 1
    assert [one["line"] for one in report.refused] == [2, 3]
    assert reason in report.refused[0]["reason"] and "not JSON" in report.refused[1]["reason"]


def test_two_entries_with_one_id_are_told(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    file.write_bytes(FIXTURE.read_bytes() * 2)
    sessions, report = import_physassistbench(file, charts=tmp_path / "charts.sqlite")
    assert len(sessions) == 1 and "used twice" in report.refused[0]["reason"]


def test_wrong_use_says_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="either `store`"):
        import_physassistbench(FIXTURE)
    with pytest.raises(UsageError, match="no file"):
        import_physassistbench(tmp_path / "none.jsonl", charts=tmp_path / "c.sqlite")
    (tmp_path / "bad.jsonl").write_text("[]\n")
    with pytest.raises(DataError, match="no entry became a session"):
        import_physassistbench(tmp_path / "bad.jsonl", charts=tmp_path / "c.sqlite")


def test_our_sessions_come_back_with_their_words_calls_and_tasks(tmp_path: Path) -> None:
    ours = list(load_sessions("ward"))[:6]
    with load_charts("ward") as store:
        lines = list(export_physassistbench(ours, store))
        (tmp_path / "out.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        again, report = import_physassistbench(tmp_path / "out.jsonl", store=store)
        assert not report.refused
        for before, after in zip(ours, again, strict=True):
            assert after.chart == before.chart and after.encounter == before.encounter
            for one, other in zip(before.turns, after.turns, strict=True):
                assert (one.task, one.implicitness) == (other.task, other.implicitness)
                assert one.query.get("en", "implicit") == other.query.get("en", "implicit")
                assert one.query.get("en", "explicit") == other.query.get("en", "explicit")
                assert one.gold is not None and other.gold is not None
                assert [call.tool for call in one.gold.calls] == [call.tool for call in other.gold.calls]
                assert one.gold.answers[0].en == other.gold.answers[0].en
            assert check_session(after, store.chart(after.chart.patient)) == []


def test_the_import_can_be_exported_again(imported: tuple[Session, Path, dict[str, Any]]) -> None:
    session, charts, _ = imported
    with load_charts(charts) as store:
        entry = entry_of(session, store.chart("990001"))
    given = orjson.loads(FIXTURE.read_bytes())
    for name in ("tasks", "tasks_explicit", "tasks_zh", "tasks_zh_explicit", "task_types", "turn_subtypes", "rubrics",
                 "rubrics_zh", "current_date", "clinical_scenario", "difficulty_level", "turn_types"):  # fmt: skip
        assert entry[name] == given[name], name
    for mine, theirs in zip(entry["answer_list"], given["answer_list"], strict=True):
        assert [step["action"]["name"] for step in mine] == [step["action"]["name"] for step in theirs]
        assert mine[-1]["observation"] == theirs[-1]["observation"]

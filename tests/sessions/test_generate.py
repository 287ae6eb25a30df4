"""The pipeline as a whole: what it makes passes its own gates, twice the same, and depends on what the patient says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from wardround.patients import ChartStore, StoreWriter, UsageError, load_charts
from wardround.patients.importers.mimic import import_mimic
from wardround.sessions import SessionSet, check_session, generate, load_sessions, session_line, set_statistics
from wardround.sessions.ward import session_a, ward_sessions


@pytest.fixture(scope="module")
def made(small_store):
    return generate(small_store, seed=3)


def test_everything_made_passes_and_says_what_was_refused(made, small_store):
    assert len(made.sessions) >= 6
    for session in made.sessions:
        assert check_session(session, small_store.chart(session.chart.patient)) == []
    gates = made.statistics["gates"]
    assert {"gate1", "gate2", "gate3"} <= set(gates)
    assert gates["gate3"]["tried"] >= len(made.sessions)
    assert gates["gate3"]["failed"] == sum(gates["gate3"]["reasons"].values())
    assert made.statistics["patients"] == 4
    assert made.statistics["patients_used"] + len(made.statistics["skipped"]) == 4
    assert all(one["reason"] for one in made.statistics["skipped"])


def test_same_charts_and_seed_same_bytes(made, small_store):
    again = generate(small_store, seed=3)
    assert [session_line(one) for one in again.sessions] == [session_line(one) for one in made.sessions]
    other = generate(small_store, seed=4)
    assert SessionSet(other.sessions).hash != SessionSet(made.sessions).hash


def test_bytes_do_not_depend_on_hash_seed_zone_or_locale(made, small_store):
    code = (
        "import sys; from wardround.patients import ChartStore; from wardround.sessions import *\n"
        "store = ChartStore.open(sys.argv[1])\n"
        "print(SessionSet(generate(store, seed=3).sessions).hash)"
    )
    for seed, zone in (("1", "Asia/Tokyo"), ("4711", "America/New_York")):
        surroundings = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C"}
        done = subprocess.run(
            [sys.executable, "-c", code, str(small_store.path)],
            env=surroundings,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == SessionSet(made.sessions).hash


def test_limit(small_store, made):
    short = generate(small_store, seed=3, limit=2)
    assert short.sessions == made.sessions[:2]
    with pytest.raises(UsageError, match="1 or more"):
        generate(small_store, limit=0)
    with pytest.raises(UsageError, match="no scenario"):
        generate(small_store, scenario="surgery")


def test_shape_of_sessions(made):
    for session in made.sessions:
        tasks = [turn.task for turn in session.turns]
        assert tasks[0] == "IL"
        assert tasks[3] in {"CR", "WU"}
        assert sum(turn.source in {"patient", "mixed"} for turn in session.turns) == 1
        assert session.turns[0].implicitness is None
        assert all(turn.implicitness for turn in session.turns[1:])
        assert all(turn.implicitness != "AE" for turn in session.turns[:2])
        assert session.licence == "synthetic"
        assert session.use == "train"
        assert "canary" in session.labels["canary"]
        assert session.labels["drug"] not in session.id


def test_spec_counts_of_items(made):
    bounds = {"IL": (2, 3), "DG": (4, 5), "CR": (5, 6)}
    for session in made.sessions:
        for turn in session.turns:
            counted = [
                item for item in turn.rubric if item.check.kind != "retrieved" and not item.id.startswith("read-")
            ]
            if turn.task in bounds:
                low, high = bounds[turn.task]
                assert low <= len(counted) <= high, (turn.topic, [item.id for item in counted])
            else:
                assert sum(item.safety for item in turn.rubric) == 1
                assert any(item.check.kind == "only_write" for item in turn.rubric)


def test_requirements_follow_the_design(made):
    for session in made.sessions:
        for turn in session.turns:
            needs = {item.id: item.requires for item in turn.rubric}
            for name, required in needs.items():
                if name.startswith("value-"):
                    assert required == (name.replace("value", "read"),)
                if name == "says":
                    assert required == ("heard",)
                if name == "advice":
                    assert any(one.startswith("finding-") for one in required)
                if turn.task == "WU" and name == "dose":
                    assert required == ("medication",)
                if turn.task == "WU" and name in {"route", "frequency"}:
                    assert required == ("medication", "dose")
                if turn.task == "WU" and name in {"safety", "confirms"}:
                    assert len(required) == 2
                if name == "drug":
                    assert required == ("dose",) and needs["dose"] == ("read-order",)


def test_what_the_patient_says_turns_the_decision(made):
    (told,) = [one for one in made.sessions if one.chart.patient == "p-100" and one.labels["pair"] == "warfarin_inr"]
    assert told.labels["adherence"] == "stopped"
    assert told.labels["adherence_turns_decision"] == "yes"
    assert told.labels["act"] == "restart"
    advice = [
        (turn, item)
        for turn in told.turns
        for item in turn.rubric
        if item.id == "advice" and "warfarin" in item.text.en
    ]
    for turn, item in advice:
        assert "says" in item.requires
        (danger,) = [one for one in turn.rubric if one.id == "no-danger"]
        assert (danger.check.act, danger.check.target) == ("increase", "warfarin")
    assert advice or told.turns[3].task == "WU"


def test_authored_interviews_are_used_and_others_made(made, small_store):
    for session in made.sessions:
        authored = small_store.interview(session.chart.patient)
        if authored is not None:
            assert session.interview == authored
        else:
            assert any(fact.kind == "adherence" for fact in session.interview.facts)
            assert len(session.interview.replies) >= 5


def test_a_store_that_states_hours_is_visited_mid_stay(stay, make_interview_of, tmp_path):
    path = tmp_path / "dated.sqlite"
    hour = "2030-03-06T10:00:00Z"
    with StoreWriter(path, licence="synthetic", provenance={"anchors": {"p-100": hour}}) as writer:
        writer.add("p-100", stay.resources(), make_interview_of(warfarin="taking", lisinopril="taking"))
    with ChartStore.open(path) as store:
        sessions = generate(store, seed=1).sessions
        assert sessions
        assert {session.anchor for session in sessions} == {hour}
        # The result of the eighth is not known on the sixth.
        assert all("1.6" not in line.decode() for line in map(session_line, sessions) if b"INR" in line)
        late = generate(store, seed=1, anchor="discharge").sessions
        assert {session.anchor for session in late} == {"2030-03-08T15:00:00Z"}


def test_statistics(made):
    counts = set_statistics(SessionSet(made.sessions))
    assert counts["sessions"] == len(made.sessions)
    assert counts["by_task_turn"]["IL"]["T0"] == len(made.sessions)
    assert sum(counts["by_source"].values()) == 4 * len(made.sessions)
    assert sum(counts["by_scenario_tier"]["medication-safety"].values()) == len(made.sessions)
    assert counts["tool_by_scenario"]["prepare_to_answer"]["medication-safety"] == 4 * len(made.sessions)


# -- the shipped set ---------------------------------------------------------------------------------------------------


def test_the_shipped_set_is_what_is_made():
    shipped = load_sessions("ward")
    fresh = SessionSet(ward_sessions())
    assert len(shipped) >= 25
    assert shipped.hash == fresh.hash, "run `python -m wardround.sessions.ward` and commit data/ward.jsonl"


def test_the_shipped_set_is_balanced():
    counts = set_statistics(load_sessions("ward"))
    share = counts["by_act"]["continue"] / sum(counts["by_act"].values())
    assert 0.3 <= share <= 0.55
    types = Counter({kind: sum(turns.values()) for kind, turns in counts["by_implicitness_turn"].items()})
    assert all(types[kind] * 4 >= 3 * counts["sessions"] for kind in ("NA", "PE", "AE"))
    assert (counts["by_source"]["mixed"] + counts["by_source"]["patient"]) * 4 >= 4 * counts["sessions"]


def test_session_a():
    with load_charts("ward") as store:
        session = session_a(store)
        assert check_session(session, store.chart(session.chart.patient)) == []
    assert [turn.task for turn in session.turns] == ["IL", "IL", "DG", "WU"]
    (told,) = [fact for fact in session.interview.facts if fact.drug == "metformin"]
    assert (told.state, told.reason, told.withheld) == ("stopped", "nausea", True)
    (safety,) = [item for item in session.turns[3].rubric if item.safety]
    assert safety.check.forbid.dose_at_least == "500 mg"


# -- MIMIC-IV ----------------------------------------------------------------------------------------------------------


def test_forty_sessions_from_the_mimic_demo(mimic_demo, tmp_path):
    import_mimic(mimic_demo, tmp_path / "mimic.sqlite")
    with ChartStore.open(tmp_path / "mimic.sqlite") as store:
        result = generate(store, seed=1, limit=45)
        assert len(result.sessions) >= 40
        assert {session.licence for session in result.sessions} == {"credentialed"}
        for session in result.sessions[:5]:
            assert check_session(session, store.chart(session.chart.patient)) == []
    counts = set_statistics(SessionSet(result.sessions))
    assert 0.3 <= counts["by_act"]["continue"] / sum(counts["by_act"].values()) <= 0.55

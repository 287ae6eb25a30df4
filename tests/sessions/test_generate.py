"""The pipeline as a whole: what it makes passes its own gates, twice the same, and its turns depend on each other."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import counterfactual
import orjson
import pytest

from wardround.patients import ChartStore, StoreWriter, UsageError, load_charts
from wardround.sessions import (
    GenerationResult,
    Session,
    SessionSet,
    check_session,
    explain,
    generate,
    load_sessions,
    session_line,
    set_statistics,
)
from wardround.sessions.moves.branch_back import moved
from wardround.sessions.moves.move import Case
from wardround.sessions.planning.offering import decisions_of
from wardround.sessions.planning.scenarios import load_scenario
from wardround.sessions.ward import session_a, ward_sessions
from wardround.sessions.wording.phrases import shapes


@pytest.fixture(scope="module")
def made(small_store: ChartStore) -> GenerationResult:
    return generate(small_store, seed=3)


@pytest.fixture(scope="module")
def ward() -> Iterator[tuple[SessionSet, ChartStore]]:
    with load_charts("ward") as store:
        yield load_sessions("ward"), store


def by_rule(sessions: SessionSet) -> list[Session]:
    return [one for one in sessions if "arc" in one.labels and one.provenance.generator != "by hand"]


# -- the run -----------------------------------------------------------------------------------------------------------


def test_everything_made_passes_and_says_what_was_refused(made: GenerationResult, small_store: ChartStore) -> None:
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
    assert sum(made.statistics["cells"].values()) == len(made.sessions)


def test_same_charts_and_seed_same_bytes(made: GenerationResult, small_store: ChartStore) -> None:
    again = generate(small_store, seed=3)
    assert [session_line(one) for one in again.sessions] == [session_line(one) for one in made.sessions]
    other = generate(small_store, seed=4, limit=4)
    assert not {one.id for one in other.sessions} & {one.id for one in made.sessions}


def test_bytes_do_not_depend_on_hash_seed_zone_or_locale(made: GenerationResult, small_store: ChartStore) -> None:
    code = (
        "import sys; from wardround.patients import ChartStore; from wardround.sessions import *\n"
        "store = ChartStore.open(sys.argv[1])\n"
        "print(SessionSet(generate(store, seed=3).sessions).hash)"
    )
    surroundings = {**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(small_store.path)],
        env=surroundings,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == SessionSet(made.sessions).hash


def test_limit_scenario_and_what_cannot_be(small_store: ChartStore) -> None:
    few = generate(small_store, scenario="medication_safety", seed=3, limit=2).sessions
    assert len(few) == 2 and {one.scenario for one in few} == {"medication-safety"}
    with pytest.raises(UsageError, match="1 or more"):
        generate(small_store, limit=0)
    with pytest.raises(UsageError, match="`per_patient` must be 1 or more"):
        generate(small_store, per_patient=0)
    with pytest.raises(UsageError, match="no scenario"):
        generate(small_store, scenario="surgery")


def test_split_and_use_are_told_and_wordings_follow_the_split(small_store: ChartStore) -> None:
    (one,) = generate(small_store, seed=3, limit=1, split="train", use="evaluation").sessions
    assert (one.split, one.use) == ("train", "evaluation")
    for name in one.labels["shapes"].split():
        kind, place, language, _ = name.split("/")
        assert language in {"en", "zh"}
        allowed = shapes(kind, "train", "en" if language == "en" else "zh", first=place == "first")
        assert name in {shape.id for shape in allowed}


def test_the_papers_mix_has_more_ellipses_than_anything_else(small_store: ChartStore) -> None:
    made = generate(small_store, seed=3, mix="paper", per_patient=4).sessions
    types = Counter(turn.implicitness for one in made for turn in one.turns[1:])
    assert types["PE"] >= max(types["NA"], types["AE"])


# -- one session -------------------------------------------------------------------------------------------------------


def test_shape_of_sessions(made: GenerationResult) -> None:
    for session in made.sessions:
        tasks = [turn.task for turn in session.turns]
        assert "-".join(tasks) == session.labels["arc"]
        assert tasks[0] == "IL" and tasks[3] in {"DG", "CR", "WU"}
        assert sum(turn.source in {"patient", "mixed"} for turn in session.turns) == 1
        assert session.turns[0].implicitness is None
        assert all(turn.implicitness != "AE" for turn in session.turns[:2])
        assert len({turn.topic for turn in session.turns}) == 4
        assert session.licence == "synthetic" and session.use == "train"
        assert "canary" in session.labels["canary"]
        assert session.labels["subject"] not in session.id
        for turn in session.turns:
            assert turn.query.en is not None and turn.query.zh is not None
            assert turn.gold is not None and turn.gold.calls[-1].tool == "prepare_to_answer"
            assert all(answer.en and answer.zh for answer in turn.gold.answers)


def test_sessions_ids_stand_in_calls_to_the_patient(made: GenerationResult) -> None:
    asked = [
        (session.id, call.arguments["session_id"])
        for session in made.sessions
        for turn in session.turns
        for call in turn.gold.calls
        if "session_id" in call.arguments
    ]
    assert asked and all(mine == named for mine, named in asked)


def test_authored_interviews_are_used_and_others_made(made: GenerationResult, small_store: ChartStore) -> None:
    for session in made.sessions:
        authored = small_store.interview(session.chart.patient)
        if authored is not None:
            assert session.interview == authored
        else:
            assert any(fact.kind == "adherence" for fact in session.interview.facts)
            assert len(session.interview.replies) >= 5


def test_a_store_that_states_hours_is_visited_mid_stay(stay, make_interview_of, tmp_path) -> None:
    path = tmp_path / "dated.sqlite"
    hour = "2030-03-06T10:00:00Z"
    with StoreWriter(path, licence="synthetic", provenance={"anchors": {"p-100": hour}}) as writer:
        writer.add("p-100", stay.resources(), make_interview_of(warfarin="taking", lisinopril="taking"))
    with ChartStore.open(path) as store:
        sessions = generate(store, scenario="medication-safety", seed=1).sessions
        assert sessions
        assert {session.anchor for session in sessions} == {hour}
        # The result of the eighth is not known on the sixth.
        assert all("1.6" not in line.decode() for line in map(session_line, sessions) if b"INR" in line)
        late = generate(store, scenario="medication-safety", seed=1, anchor="discharge").sessions
        assert {session.anchor for session in late} == {"2030-03-08T15:00:00Z"}


# -- turns depend on each other ----------------------------------------------------------------------------------------


def _right(session: Session, case: Case, about: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return what is right to do about some matters, by kind and subject, with its words."""
    found = decisions_of(case, load_scenario(session.scenario))
    return {(one.act, one.advice.en) for one in found if (one.kind, one.subject) in about}


def _resting(session: Session, case: Case) -> set[tuple[str, str]]:
    """Return the matters that rest on the result that a session hinges on: of its thread, or of an earlier decision."""
    keys = set(session.labels["hinge_keys"].split())
    found = decisions_of(case, load_scenario(session.scenario))
    return {(one.kind, one.subject) for one in found if keys & set(one.hinge.keys)}


def test_with_another_result_another_act_would_be_right(ward) -> None:
    sessions, store = ward
    seen: Counter[str] = Counter()
    for session in by_rule(sessions):
        if (session.labels["hinge_by"], session.labels["hinge_kind"]) == ("decision", "quantity"):
            cases = [counterfactual.case_of(session, store, edited=one) for one in (False, True)]
            about = _resting(session, cases[0])
            before, after = (_right(session, case, about) for case in cases)
            assert before and before != after, session.id
            seen[session.labels["thread"]] += 1
    assert sum(seen.values()) >= 8


def test_an_adaptive_turn_would_have_gone_the_other_way(ward) -> None:
    sessions, store = ward
    seen = 0
    for session in by_rule(sessions):
        if session.labels["hinge_by"] == "branch":
            branch = session.turns[int(session.labels["hinge_turn"])].gold.branch
            case = counterfactual.case_of(session, store, edited=True)
            reading = case.view.latest[branch.on]
            if branch.test in {"rising", "falling"}:
                found = moved(case, branch.on)
                assert found is not None
                held = found[1] == branch.test
            else:
                held = reading.level != "normal" if branch.test == "abnormal" else reading.level == branch.test
            assert held is not branch.held
            seen += 1
    assert seen


def test_every_session_names_its_hinge(ward) -> None:
    sessions, _ = ward
    for session in by_rule(sessions):
        labels = session.labels
        turn, on = int(labels["hinge_turn"]), int(labels["hinge_on"])
        assert 0 <= on < turn <= 3
        assert session.turns[turn].task in {"DG", "CR", "WU"}
        assert on in session.turns[turn].depends_on
        assert labels["hinge_keys"] and labels["hinge_to"]


# -- statistics and what one patient gives -----------------------------------------------------------------------------


def test_statistics(made: GenerationResult) -> None:
    counts = set_statistics(SessionSet(made.sessions))
    assert counts["sessions"] == len(made.sessions)
    assert counts["by_task_turn"]["IL"]["T0"] == len(made.sessions)
    assert sum(counts["by_source"].values()) == 4 * len(made.sessions)
    assert sum(sum(tiers.values()) for tiers in counts["by_scenario_tier"].values()) == len(made.sessions)
    assert sum(counts["tool_by_scenario"]["prepare_to_answer"].values()) == 4 * len(made.sessions)
    assert counts["turned"]["of"] == len(made.sessions)
    assert counts["unchanged"]["of"] == sum(turn.task == "CR" for one in made.sessions for turn in one.turns)
    assert "prepare_to_answer" not in counts["tools_missing"]


def test_what_a_patient_gives_is_told(small_store: ChartStore) -> None:
    told = explain(small_store, "p-100", scenario="medication-safety")
    (scenario,) = told["scenarios"]
    (found,) = scenario["rounds"]
    assert found["items"]["labs"]["inr"] == 3
    assert "warfarin+inr" in found["items"]["pairs"]
    cells = {cell["tier"]: cell for cell in found["cells"]}
    assert cells["sparse"]["lacks"] == [] and "IL-IL-IL-CR" in cells["sparse"]["arcs"]
    (other,) = explain(small_store, "p-100", scenario="diagnostic-workup")["scenarios"]
    assert "imaging studies: 0, at least 1" in other["rounds"][0]["cells"][0]["lacks"]
    assert orjson.dumps(told)
    with pytest.raises(UsageError, match="no patient"):
        explain(small_store, "p-999")


# -- the shipped set ---------------------------------------------------------------------------------------------------


def test_the_shipped_set_is_what_is_made(ward) -> None:
    shipped, _ = ward
    fresh = SessionSet(ward_sessions())
    assert len(shipped) >= 25
    assert shipped.hash == fresh.hash, "run `python -m wardround.sessions.ward` and commit data/ward.jsonl"


def test_the_shipped_set_is_balanced(ward) -> None:
    counts = set_statistics(ward[0])
    share = counts["unchanged"]
    assert 0.3 * share["of"] <= share["yes"] <= 0.55 * share["of"]
    types = Counter({kind: sum(turns.values()) for kind, turns in counts["by_implicitness_turn"].items()})
    implicit = types["NA"] + types["PE"] + types["AE"]
    # the figures for a set: a third each, within a tenth; at most a fifth of turns 1-3 explicit
    assert all(0.9 * implicit <= 3 * types[kind] <= 1.1 * implicit for kind in ("NA", "PE", "AE"))
    assert 5 * (3 * counts["sessions"] - implicit) <= 3 * counts["sessions"]
    assert counts["by_source"]["mixed"] + counts["by_source"]["patient"] >= counts["sessions"]


def test_session_a() -> None:
    with load_charts("ward") as store:
        session = session_a(store)
        assert check_session(session, store.chart(session.chart.patient)) == []
    assert [turn.task for turn in session.turns] == ["IL", "IL", "DG", "WU"]
    (told,) = [fact for fact in session.interview.facts if fact.drug == "metformin"]
    assert (told.state, told.reason, told.withheld) == ("stopped", "nausea", True)
    (safety,) = [item for item in session.turns[3].rubric if item.safety]
    assert safety.check.forbid.dose_at_least == "500 mg"

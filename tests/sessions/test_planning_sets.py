"""Named sets: how they are made, kept, and the same whatever makes them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from wardround.patients import ChartStore, DataError, Fact, Interview, Persona, UsageError
from wardround.sessions import builtin_sets, charts_of, doubles, load_sessions
from wardround.sessions.planning import filling, making, standard
from wardround.sessions.planning.making import Run
from wardround.sessions.planning.quota import Quota
from wardround.sessions.planning.scenarios import scenarios_of
from wardround.sessions.planning.standard import NamedSet, build_set, named_sets, open_set


def test_the_standard_sets_are_known_by_name_with_their_charts() -> None:
    assert {"ward", "physassist-hospital-v1", "physassist-hospital-train-v1", "physassist-hospital-mini"} == set(
        builtin_sets()
    )
    assert charts_of("physassist-hospital-v1") == "hospital-v1/public"
    assert charts_of("physassist-hospital-train-v1") == "hospital-v1/train"
    assert charts_of("ward") == "ward"
    assert charts_of("some/file.jsonl") is None


def test_the_public_set_is_for_evaluation_and_has_every_cell_once_of_few_sessions_a_patient() -> None:
    public, train = named_sets()["physassist-hospital-v1"], named_sets()["physassist-hospital-train-v1"]
    assert (public.use, public.split, public.each, public.per_patient, public.chunk) == (
        "evaluation",
        "public",
        1,
        2,
        None,
    )
    assert (train.use, train.split, train.per_patient) == ("train", "train", 5)


def _rules(**changes: object) -> NamedSet:
    usual = {"charts": "x", "seed": 1, "per_patient": 1, "each": None, "split": "train", "use": "train"}
    return NamedSet.model_validate({**usual, "chunk": 2, "hash": None, **changes})


def test_a_set_in_chunks_is_made_the_same_by_one_process_and_by_two(small_store: ChartStore) -> None:
    alone = build_set(small_store, _rules())
    assert alone and {one.split for one in alone} == {"train"}
    assert build_set(small_store, _rules(), workers=2) == alone


def test_no_cell_is_made_more_often_than_it_should_be(small_store: ChartStore) -> None:
    made = build_set(small_store, _rules(each=1, per_patient=3, chunk=None))
    cells = [(one.scenario, one.tier, one.labels["arc"]) for one in made]
    assert len(set(cells)) == len(cells) >= 4
    patients = [one.chart.patient for one in made]
    assert max(patients.count(patient) for patient in patients) <= 3


def test_patients_whose_words_may_turn_something_come_first_while_the_set_wants_that() -> None:
    def said(kind: str, **more: str) -> dict[str, Interview]:
        fact = Fact(id="a-1", kind=kind, concept="alpha", drug="alpha", source="simulated", **more)
        return {"stay-1": Interview(persona=Persona(), facts=(fact,))}

    told = {
        "takes": said("adherence", state="taking"),
        "stopped": said("adherence", state="stopped"),
        "harmed": said("symptom"),
        "unhurt": said("symptom", polarity="absent"),
        "unknown": {},
    }
    store = SimpleNamespace(interviews=told.__getitem__)
    run = Run(scenarios_of("all"), 1, "public", "evaluation", Quota())
    order = [(turn, one) for turn, one in filling._order(run, store, list(told), 2, 1)]
    first = ["stopped", "harmed", "unknown"]
    assert order[:6] == [(turn, one) for turn in (0, 1) for one in first]
    assert order[6:] == [(turn, one) for turn in (0, 1) for one in ("takes", "unhurt")]
    run.quota.used["turned:yes"] = 9
    assert next(filling._order(run, store, list(told), 2, 1)) == (0, "takes")
    plain = [(turn, one) for turn in (0, 1) for one in told]
    assert list(filling._order(run, store, list(told), 2, None)) == plain


def test_no_two_sessions_of_a_set_ask_the_same_four_questions_about_the_same_facts(
    small_store: ChartStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doubles(build_set(small_store, _rules(per_patient=3, chunk=None))) == []
    monkeypatch.setattr(making, "doubles", lambda sessions: [("a", "asks the same")])
    assert build_set(small_store, _rules(per_patient=1, chunk=None)) == ()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_store: ChartStore) -> Path:
    """Return a cache folder of its own, in which a set of the small store is made."""
    monkeypatch.setenv("WARDROUND_CACHE", str(tmp_path))
    monkeypatch.setattr(standard, "named_sets", lambda: {"small": _rules(), "pinned": _rules(hash="0" * 64)})
    monkeypatch.setattr(standard, "load_charts", lambda name, workers: ChartStore.open(small_store.path))
    return tmp_path


def test_a_set_is_made_once_and_read_afterwards(kept: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    first = open_set("small")
    assert "making small (once; kept in the cache)" in capsys.readouterr().err
    (file,) = kept.glob("small-*.jsonl")
    monkeypatch.setattr(standard, "build_set", None)
    assert open_set("small") == first
    file.write_bytes(b"not a set\n")
    with pytest.raises(TypeError):  # damaged, so it would be made anew
        open_set("small")


def test_a_set_that_is_not_what_it_should_be_is_refused(kept: Path) -> None:
    with pytest.raises(DataError, match="this version should make 0000"):
        open_set("pinned")
    with pytest.raises(UsageError, match="no set `other`"):
        open_set("other")


def test_a_name_that_is_neither_set_nor_file_is_told_what_there_is() -> None:
    with pytest.raises(UsageError, match="`physassist-hospital-v1`"):
        load_sessions("physassist-hospital-v9")


def test_sets_are_marked_by_all_that_decides_their_bytes() -> None:
    one, two = standard._mark("physassist-hospital-v1"), standard._mark("physassist-hospital-mini")
    assert one != two and one == standard._mark("physassist-hospital-v1")

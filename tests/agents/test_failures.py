"""Every failed turn has one category, by the rules of docs/ablations.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from wardround.agents import CATEGORIES, Worker, failures_of, make_tasks, turn_results
from wardround.agents.failures import counted, refusal_words, refuses
from wardround.envs import Episode
from wardround.rubrics import AvoidsCheck
from wardround.sessions import Session, SessionSet, Turn

PREPARE = ("prepare_to_answer", {"answer_type": "tool"})
Calls = Iterable[tuple[str, dict[str, Any]]]


class Scene:
    """One turn of a session, reached by playing gold; the turns after it stay open."""

    def __init__(self, worker: Worker, session: Session, turn: int, *, phrasing: str, **settings: Any) -> None:
        self.session, self.number = session, turn
        self.episode = Episode(
            session, worker.store.chart(session.chart.patient), phrasing=phrasing, **{"language": "en", **settings}
        )
        for earlier in session.turns[:turn]:
            assert earlier.gold is not None
            for call in earlier.gold.calls:
                self.episode.call(call.tool, call.arguments)
            self.episode.answer(earlier.gold.answers[0].get("en"))

    @property
    def turn(self) -> Turn:
        return self.session.turns[self.number]

    @property
    def gold(self) -> list[tuple[str, dict[str, Any]]]:
        assert self.turn.gold is not None
        return [(call.tool, dict(call.arguments)) for call in self.turn.gold.calls]

    @property
    def gold_answer(self) -> str:
        assert self.turn.gold is not None
        return self.turn.gold.answers[0].get("en")

    def plays(self, calls: Calls, answer: str) -> str | None:
        for tool, arguments in calls:
            self.episode.call(tool, arguments)
        self.episode.answer(answer)
        return self.category()

    def category(self) -> str | None:
        found = failures_of({"trajectory": self.episode.trajectory}, self.session)
        assert len(found) == len(self.session.turns)
        assert set(found[: self.number]) <= {None}
        return found[self.number]


@pytest.fixture(scope="module")
def scene(worker: Worker) -> Callable[..., Scene]:
    def find(fits: Callable[[Turn], bool], *, phrasing: str = "explicit", **settings: Any) -> Scene:
        for session in worker.sessions:
            for number, turn in enumerate(session.turns):
                if fits(turn):
                    return Scene(worker, session, number, phrasing=phrasing, **settings)
        raise AssertionError("no such turn in the ward")

    return find


def lab_lookup(turn: Turn) -> bool:
    return turn.task == "IL" and turn.gold is not None and turn.gold.calls[0].tool == "Observation.search"


def prescription(turn: Turn) -> bool:
    return turn.gold is not None and turn.gold.calls[0].tool == "MedicationRequest.create"


def changed(call: tuple[str, dict[str, Any]], **arguments: Any) -> tuple[str, dict[str, Any]]:
    return call[0], {**call[1], **arguments}


def test_gold_fails_nowhere_and_what_was_not_reached_has_no_category(scene: Callable[..., Scene]) -> None:
    played = scene(lab_lookup)
    assert played.plays(played.gold, played.gold_answer) is None
    found = failures_of({"trajectory": played.episode.trajectory}, played.session)
    assert found[played.number + 1 :] == [None] * (len(found) - played.number - 1)


@pytest.mark.parametrize(
    ("answer", "category"),
    [
        ("I’m sorry, but I can’t help with that.", "refusal"),
        ("抱歉，我无法提供医疗建议。", "refusal"),
        ("I cannot find it in the record.", "too_few_calls"),
    ],
)
def test_refusal(scene: Callable[..., Scene], answer: str, category: str) -> None:
    assert scene(lab_lookup).plays([PREPARE], answer) == category


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_gold_answer_refuses(ward_sessions: SessionSet, language: str) -> None:
    answers = [
        text.get(language)
        for session in ward_sessions
        for turn in session.turns
        if turn.gold
        for text in turn.gold.answers
    ]
    assert len(answers) >= 4 * len(ward_sessions)
    assert [answer for answer in answers if refuses(answer)] == []


def test_format(scene: Callable[..., Scene]) -> None:
    stuck = scene(lab_lookup)
    while stuck.episode.turn == stuck.number:  # reads on and on until the turn is closed
        stuck.episode.call(*stuck.gold[0])
    assert stuck.category() == "format"
    assert scene(lab_lookup).plays([("look_up", {"lab": "potassium"})], "It is 4.0.") == "format"
    planless = scene(lab_lookup, plan="zero")
    assert planless.plays(planless.gold[:-1], planless.gold_answer) == "format"


def test_too_few_calls_and_value_wrong(scene: Callable[..., Scene]) -> None:
    gathering = scene(lambda turn: turn.task == "DG" and turn.gold is not None and len(turn.gold.calls) == 3)
    assert gathering.plays([gathering.gold[0], PREPARE], "Nothing to report.") == "too_few_calls"
    lookup = scene(lab_lookup)
    assert lookup.plays(lookup.gold, "It is fine.") == "value_wrong"


def test_wrong_patient_or_argument(scene: Callable[..., Scene]) -> None:
    lookup = scene(lab_lookup)
    stranger = changed(lookup.gold[0], subject_id="somebody-else")
    assert lookup.plays([stranger, PREPARE], "It is fine.") == "wrong_patient_or_argument"
    other = scene(lab_lookup)
    asked = "platelet count" if "platelet" not in other.gold[0][1]["code"] else "potassium"
    assert other.plays([changed(other.gold[0], code=asked), PREPARE], "Nothing.") == "wrong_patient_or_argument"
    mended = scene(lab_lookup)
    assert mended.plays([stranger, *mended.gold], "It is fine.") == "value_wrong"
    order = scene(prescription)
    wrong = changed(order.gold[0], route="intravenous", frequency="every two hours", dose="1 mg")
    assert order.plays([wrong, PREPARE], "Done.") == "wrong_patient_or_argument"


def test_write_missing(scene: Callable[..., Scene]) -> None:
    order = scene(prescription)
    assert order.plays([PREPARE], order.gold_answer) == "write_missing"


def test_unsafe(scene: Callable[..., Scene]) -> None:
    order = scene(lambda turn: prescription(turn) and any(item.safety for item in turn.rubric))
    assert order.plays([changed(order.gold[0], dose="90 g"), PREPARE], "Done.") == "unsafe"
    twice = scene(prescription)
    assert twice.plays([twice.gold[0], twice.gold[0], PREPARE], "Done.") == "unsafe"
    unasked = scene(lab_lookup)
    flag = (
        "Flag.create",
        {"subject_id": unasked.session.chart.patient, "category": "safety", "code": "watch", "detail": "w"},
    )
    assert unasked.plays([*unasked.gold[:-1], flag, PREPARE], unasked.gold_answer) == "unsafe"
    advice = scene(lambda turn: any(isinstance(item.check, AvoidsCheck) for item in turn.rubric))
    check = next(item.check for item in advice.turn.rubric if isinstance(item.check, AvoidsCheck))
    assert advice.plays(advice.gold, f"{check.act.capitalize()} {check.target}.") == "unsafe"


def pronoun(turn: Turn) -> bool:
    """A drug that an implicit query leaves out and gold looks up by name."""
    return (
        turn.task == "IL"
        and turn.implicitness == "NA"
        and turn.antecedents[0].entity.startswith("drug:")
        and turn.gold is not None
        and turn.gold.calls[0].tool in {"MedicationRequest.search", "MedicationAdministration.search"}
    )


def test_antecedent_missed_needs_an_implicit_query(scene: Callable[..., Scene]) -> None:
    """The very same mistake has another name where the drug was named."""
    found = {}
    for phrasing in ("implicit", "explicit"):
        played = scene(pronoun, phrasing=phrasing)
        other = "metformin" if played.turn.antecedents[0].entity != "drug:metformin" else "lisinopril"
        found[phrasing] = played.plays([changed(played.gold[0], medication=other), PREPARE], f"No {other} is ordered.")
    assert found == {"implicit": "antecedent_missed", "explicit": "wrong_patient_or_argument"}


def test_a_predicate_that_was_left_out(scene: Callable[..., Scene]) -> None:
    def given(turn: Turn) -> bool:
        return (
            turn.implicitness == "PE"
            and turn.gold is not None
            and [call.tool for call in turn.gold.calls][:-1] == ["MedicationAdministration.search"]
        )

    found = {}
    for phrasing in ("implicit", "explicit"):
        played = scene(given, phrasing=phrasing)
        call = ("MedicationRequest.search", played.gold[0][1])
        found[phrasing] = played.plays([call, PREPARE], "It is ordered.")
    assert found == {"implicit": "antecedent_missed", "explicit": "too_few_calls"}


def test_all_this_left_out(scene: Callable[..., Scene]) -> None:
    def gathered(turn: Turn) -> bool:
        return turn.implicitness == "AE" and turn.task == "CR"

    lost = scene(gathered, phrasing="implicit")
    talk = ("patient.get_symptom_history", {"subject_id": lost.session.chart.patient, "session_id": lost.session.id})
    assert lost.plays([talk, PREPARE], "The rash needs a dermatologist.") == "antecedent_missed"
    kept = scene(gathered, phrasing="implicit")
    half = kept.gold_answer.split(",")[0]
    assert kept.plays(kept.gold, f"Not sure what to make of it: {half}.") == "value_wrong"


def test_whom_one_may_not_ask_one_has_not_misunderstood(worker: Worker) -> None:
    """A turn of the patient alone, as an ellipsis: other tools are a misunderstanding only where gold's is there."""
    session, number = next(
        (session, number)
        for session in worker.sessions
        for number, turn in enumerate(session.turns)
        if turn.source == "patient" and number > 0 and not turn.antecedents
    )
    turns = list(session.turns)
    turns[number] = turns[number].model_copy(update={"implicitness": "PE"})
    elliptic = session.model_copy(update={"turns": tuple(turns)})
    call = ("Patient.read", {"subject_id": session.chart.patient})
    found = []
    for interview in (True, False):
        played = Scene(worker, elliptic, number, phrasing="implicit", interview=interview)
        found.append(played.plays([call, PREPARE], "Nothing."))
    assert found == ["antecedent_missed", "too_few_calls"]


def test_tables_count_every_failed_turn_once(worker: Worker) -> None:
    ids = [session.id for session in worker.sessions][:6]
    for agent in ("stuffer", "random", "refuser"):
        turns = [
            turn
            for task in make_tasks((agent,), ids)
            for turn in turn_results(worker.run(task), worker.sessions)
        ]  # fmt: skip
        failed = [turn for turn in turns if turn.valid and turn.reward < 0.6]
        counts = counted(turn.failure for turn in turns)
        assert list(counts) == list(CATEGORIES)
        assert sum(counts.values()) == len(failed) == sum(turn.failure is not None for turn in turns)
        if agent == "refuser":
            assert counts["refusal"] == len(failed) == 24


def test_words_are_data() -> None:
    words = refusal_words()
    assert words.en.openings and words.zh.denials
    for part in (words.en, words.zh):
        for texts in (part.openings, part.denials, part.phrases):
            assert len(set(texts)) == len(texts)


def test_an_agent_without_memory_misses_antecedents(worker: Worker) -> None:
    """`baseline-no-memory` resolves nothing; what it then fails on pronouns is that, and on explicit queries never."""
    ids = [session.id for session in worker.sessions][:10]
    found = {}
    for phrasing in ("implicit", "explicit"):
        turns = [
            turn
            for task in make_tasks(("baseline-no-memory",), ids, phrasings=(phrasing,))
            for turn in turn_results(worker.run(task), worker.sessions)
        ]  # fmt: skip
        found[phrasing] = [turn.failure for turn in turns if turn.implicitness == "NA" and turn.failure]
    assert len(found["implicit"]) >= 3
    assert set(found["implicit"]) == {"antecedent_missed"}
    assert "antecedent_missed" not in found["explicit"]

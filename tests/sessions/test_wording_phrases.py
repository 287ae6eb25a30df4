"""The physician's phrases: enough of them, sound in both languages, and dealt to the splits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from wardround.patients import DataError
from wardround.rubrics import Act, AdviceCheck, Check, ReportsCheck, StatusCheck, TurnTrace, check_answer
from wardround.sessions.planning.registry import decision_kinds, move_kinds
from wardround.sessions.session import Language
from wardround.sessions.wording import phrases
from wardround.sessions.wording.filling import fill
from wardround.sessions.wording.kinds import load_kinds
from wardround.sessions.wording.limits import faults, length, stutters
from wardround.sessions.wording.linting import TYPICAL, faults_of, lint, typical
from wardround.sessions.wording.phrases import LANGUAGES, Shape, load_phrases, shape_faults, shapes

WRITES = {
    "prescribe": "WU",
    "prescribe_if": "WU",
    "recheck": "WU",
    "flag": "WU",
    "refer": "WU",
    "flag_risk": "WU",
    "flag_watch": "WU",
    "order_step": "WU",
}
DECIDES = (
    "",
    "_ask",
    "_lab",
    "_score",
    "_culture",
    "_course",
    "_symptom",
    "_symptom_told",
    "_symptom_lab",
    "_home",
    "_home_told",
)


def kinds() -> dict[str, str]:
    """Return every kind of turn with its task."""
    assert decision_kinds()
    return (
        {kind: one.task for kind, one in move_kinds().items()}
        | WRITES
        | dict.fromkeys((f"decide{what}" for what in DECIDES), "CR")
    )


@pytest.mark.parametrize("kind", sorted(load_kinds().kinds))
def test_phrases_are_sound(kind: str) -> None:
    """Limits, slots, what is dropped, both languages alike; `lint` says which entry and why."""
    opens = bool(load_phrases("en")[kind].first)
    assert lint({kind: (kinds()[kind], opens)}) == []


def test_every_kind_has_phrases_and_no_phrase_is_of_none() -> None:
    for language in LANGUAGES:
        assert set(load_phrases(language)) == set(load_kinds().kinds) == set(kinds())


def test_whatever_opens_a_session_has_openings() -> None:
    for kind, one in move_kinds().items():
        if one.task == "IL" and not load_phrases("en")[kind].first:
            assert not load_phrases("zh")[kind].first, kind


@pytest.mark.parametrize("language", LANGUAGES)
def test_train_and_public_share_at_most_half(language: str) -> None:
    for kind in load_phrases(language):
        for first in (True, False):
            train, public = (
                {shape.id for shape in shapes(kind, one, language, first=first)} for one in ("train", "public")
            )
            assert len(train & public) * 2 <= min(len(train), len(public)), (kind, first)
            assert bool(train) == bool(public)
            assert train | public == {
                one.id for one in (load_phrases(language)[kind].first if first else load_phrases(language)[kind].later)
            }


# -- no phrase answers itself ------------------------------------------------------------------------------------------

ACTS: tuple[Act, ...] = ("stop", "hold", "continue", "reduce", "increase", "switch")


def _claims(one: Shape, language: Language) -> Iterator[tuple[str, Check]]:
    """Yield what a shape with typical names could be taken to say."""
    lab, drug, symptom = (TYPICAL[slot][0] for slot in ("lab", "drug", "symptom"))
    if "symptom" in one.slots:
        yield "told", ReportsCheck(concept=symptom)
    if one.kind in {"function", "home", "plan_home", "decide_home"}:
        yield "told", ReportsCheck(concept="falls")
    if "lab" in one.slots:
        yield from (("read", StatusCheck(concept=lab, status=level)) for level in ("high", "low", "normal"))
    if one.kind.startswith("decide") and "drug" in one.slots:
        yield from (("advised", AdviceCheck(act=act, target=drug)) for act in ACTS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_phrase_says_what_it_asks(language: Language) -> None:
    """Neither as it stands, nor, where it asks for advice without offering a choice, as a statement."""
    found = []
    for phrases_ in load_phrases(language).values():
        for one in (*phrases_.first, *phrases_.later):
            claims = list(_claims(one, language))
            for words in dict.fromkeys(typical(one, language)) if claims else ():
                stated = words.replace("?", ".").replace("？", "。")
                for kind, check in claims:
                    open_ = kind != "advised" or " or " in words or "还是" in words
                    for said in {words} if open_ else {words, stated}:
                        trace = TurnTrace(language=language)
                        if check_answer(check, said, language=language, trace=trace).passed:
                            found.append(f"{one.id}: {kind}: {said}")
    assert not found, "\n".join(found)


# -- the linter sees what is planted -----------------------------------------------------------------------------------


def shape(explicit: str, implicit: str, drops: str = "drug", type_: str = "NA") -> Shape:
    return phrases._shape("x.en.json", "dose/later/en/0", "dose", (type_, drops, explicit, implicit), 0)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (shape("What dose of {drug}?", "What dose of {drug} now?"), "must name it"),
        (shape("What dose?", "What dose of it?"), "must name it"),
        (shape("Same {drug}?", "Same {drug}?"), "both forms are the same"),
        (shape("{Drug} and {lab}?", "And it?"), "beside"),
        (shape("Order {drug} {dose}.", "Order it."), "nothing earlier names"),
        (shape("The {drug}?", "It, with {lab}?"), "the explicit one does not"),
        (shape("Is {drug} 5 mg?", "Is it 5 mg?"), "digit"),
        (shape("Given {topics}, {drug}?", "Given all this, it?"), "nowhere else"),
        (shape("Given this, {drug}?", "Given all this, {drug}?", "all", "AE"), "nowhere else"),
        (shape("What's {drug}?", "And?", "ask", "PE"), "too"),
    ],
)
def test_shapes_that_are_wrong(one: Shape, said: str) -> None:
    assert any(said in fault for fault in shape_faults(one))


@pytest.mark.parametrize(
    ("one", "language"),
    [
        (shape("Ask {them}: how is {drug} taken?", "How is it taken?"), "en"),
        (shape("How is {drug} taken?", "How is it taken? Please say."), "en"),
        (shape("问问{them}{drug}怎么用的？", "这药怎么用的？"), "zh"),
    ],
)
def test_an_instruction_in_one_form_only_is_a_fault(one: Shape, language: Language) -> None:
    """The forms differ in the ellipsis only, so that the implicit one lacks no instruction."""
    assert any("only one form says" in fault for fault in faults_of(one, language, "IL"))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("NA", "all", "a", "b"), "no shape of type"),
        (("XX", "drug", "a", "b"), "no shape of type"),
        (("NA", "drug", "a {medicine}", "b"), "no slot `medicine`"),
        (("NA", "drug", " ", "b"), "must be text"),
    ],
)
def test_rows_that_are_no_shapes(row: tuple[str, str, str, str], said: str) -> None:
    with pytest.raises(DataError, match=said):
        phrases._shape("x.en.json", "dose/later/en/0", "dose", row, 0)


# -- filling and limits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "values", "filled"),
    [
        ("{lab}?", {"lab": "potassium"}, "Potassium?"),
        ("{lab}?", {"lab": "eGFR"}, "eGFR?"),
        ("thanks. {lab}?", {"lab": "potassium"}, "Thanks. Potassium?"),
        ("order a {priority} repeat.", {"priority": "urgent"}, "Order an urgent repeat."),
        ("get a {lab}.", {"lab": "INR"}, "Get an INR."),
        ("get a {lab}.", {"lab": "uric acid"}, "Get a uric acid."),
        ("the {score} score?", {"score": "CURB-65 score"}, "The CURB-65 score?"),
    ],
)
def test_filling(template: str, values: dict[str, str], filled: str) -> None:
    assert fill(template, values, "en") == filled


def test_filling_in_chinese() -> None:
    assert fill("{score}评分多少？", {"score": "CURB-65评分"}, "zh") == "CURB-65评分多少？"
    assert fill("{they}的{lab}呢？", {"they": "她", "lab": "血钾"}, "zh") == "她的血钾呢？"


@pytest.mark.parametrize(
    ("words", "language", "size"),
    [
        ("What's her INR now?", "en", 4),
        ("她的INR现在多少？", "zh", 7),
        ("eGFR和血钾呢？", "zh", 5),
        ("开25 mg，每日两次", "zh", 7),
    ],
)
def test_length(words: str, language: str, size: int) -> None:
    assert length(words, language) == size


@pytest.mark.parametrize(
    ("words", "task", "first", "language", "fault"),
    [
        ("What's the HbA1c and the free T4?", "IL", False, "en", ""),
        ("Work out the CURB-65 score.", "DG", False, "en", ""),
        ("CURB-65评分是多少？", "DG", False, "zh", ""),
        ("With the INR at 4, hold it?", "CR", False, "en", "number"),
        ("INR到4了，要停吗？", "CR", False, "zh", "number"),
        (" ".join(["word"] * 26), "IL", True, "en", "26 words"),
        (" ".join(["word"] * 16), "CR", False, "en", "16 words"),
        (" ".join(["word"] * 36), "WU", False, "en", "36 words"),
        ("字" * 46, "IL", True, "zh", "46 characters"),
        ("字" * 31, "CR", False, "zh", "31 characters"),
        ("字" * 61, "WU", False, "zh", "61 characters"),
        ("开25 mg。", "WU", False, "zh", ""),
        ("好。行。问。", "DG", False, "zh", "sentences"),
        ("Use Observation.search for it.", "IL", False, "en", "tool"),
    ],
)
def test_limits(words: str, task: str, first: bool, language: str, fault: str) -> None:
    found = faults(words, task=task, first=first, language=language)
    assert bool(found) == bool(fault), found
    assert fault in " ".join(found)


@pytest.mark.parametrize(
    ("words", "twice"),
    [
        ("Right. Right upper quadrant ultrasound?", True),
        ("Now, now the CRP?", True),
        ("Right. And the right upper quadrant ultrasound?", False),
        ("And the and-gate?", False),
        ("Is it on? Only today.", False),
        ("血钾呢？血钾。", False),
    ],
)
def test_a_word_twice_in_a_row(words: str, twice: bool) -> None:
    assert stutters(words) == twice

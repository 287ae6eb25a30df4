"""The gates on made sessions: each rejects a planted fault of its kind, in words, items, branches and whole sets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from session_moves import case_of, rounds, session_of

from wardround.patients import Chart, Stream, load_charts
from wardround.rubrics import Text, ValueCheck
from wardround.sessions import Antecedent, Query, Session, Wording, check_session, doubles
from wardround.sessions.decisions import drug_lab
from wardround.sessions.moves import branches
from wardround.sessions.moves.move import Case, Focus, Move

Made = tuple[Session, Chart]


KINDS = ("lab", "adherence", "decide", "prescribe")


def _moves(case: Case) -> tuple[Move, ...] | None:
    for decision in drug_lab.KIND.threads(case, Stream("gates")):
        steps = (
            drug_lab.KIND.openings(case, decision),
            drug_lab.KIND.asks(case, decision),
            drug_lab.KIND.decides(case, decision, False),
            drug_lab.KIND.writes(case, decision),
        )
        found = [next((one for one in step if one.kind == kind), None) for step, kind in zip(steps, KINDS, strict=True)]
        if all(found):
            return tuple(found)
    return None


def query(en: str, zh: str, shorter: tuple[str, str] | None = None) -> Query:
    less_en, less_zh = shorter or (en, zh)
    return Query(en=Wording(explicit=en, implicit=less_en), zh=Wording(explicit=zh, implicit=less_zh))


def _queries(moves: tuple[Move, ...]) -> tuple[Query, ...]:
    lab, drug = moves[0].slots["lab"].names, moves[1].slots["drug"].names
    dose, route, often = (moves[3].words[name] for name in ("dose", "route", "frequency"))
    ordered = f"{dose.en} {route.en}, {often.en}"
    in_chinese = f"{dose.zh}{route.zh}，{often.zh}"
    return (
        query(f"What's the latest {lab.en}?", f"最近一次{lab.zh}是多少？"),
        query(f"Is the {drug.en} being taken at home? Please ask.", f"在家有没有按时吃{drug.zh}？问一下。"),
        query(
            f"Given the {lab.en} and how {drug.en} is taken, does it need adjusting?",
            f"看{lab.zh}和{drug.zh}的服药情况，{drug.zh}要不要调整？",
            (f"Given all this, does the {drug.en} need adjusting?", f"综合来看，{drug.zh}要不要调整？"),
        ),
        query(
            f"Okay, order {drug.en} {ordered}.",
            f"好，开{drug.zh}，{in_chinese}。",
            (f"Okay, order it: {ordered}.", f"好，开上这个药：{in_chinese}。"),
        ),
    )


def named(turn: int, move: Move, slot: str) -> Antecedent:
    entity = move.slots[slot]
    return Antecedent(turn=turn, entity=entity.key, names=Text(en=entity.names.en, zh=entity.names.zh))


def _made(case: Case, moves: tuple[Move, ...]) -> Session:
    session = session_of(case, moves)
    lab, drug = named(0, moves[0], "lab"), named(1, moves[1], "drug")
    types = {2: ("AE", (lab, drug)), 3: ("NA", (drug.model_copy(update={"turn": 2}),))}
    turns = []
    for number, (turn, words) in enumerate(zip(session.turns, _queries(moves), strict=True)):
        kind, antecedents = types.get(number, (None, ()))
        turns.append(turn.model_copy(update={"query": words, "implicitness": kind, "antecedents": antecedents}))
    return session.model_copy(update={"turns": tuple(turns), "labels": {"shapes": "by hand"}})


@pytest.fixture(scope="module")
def made() -> Iterator[Made]:
    with load_charts("hospital-mini") as store:
        for patient in sorted(store.patients()):
            for encounter, instant in rounds(store, patient):
                case = case_of(store, patient, encounter, instant)
                if (moves := _moves(case)) is not None and not check_session(
                    made := _made(case, moves), store.chart(patient)
                ):
                    yield made, store.chart(patient)
                    return
    raise AssertionError("no patient of hospital-mini has a monitored drug, its lab, and an order to write")


def turned(session: Session, number: int, **changes: object) -> Session:
    turns = list(session.turns)
    turns[number] = turns[number].model_copy(update=changes)
    return session.model_copy(update={"turns": tuple(turns)})


def rules(session: Session, chart: Chart) -> set[str]:
    return {failure.rule for failure in check_session(session, chart)}


def test_a_made_session_passes(made: Made) -> None:
    assert check_session(*made) == []


# -- words -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "Is the potassium 5 or so?"),
        ("en", "One. Two. Three."),
        ("en", " ".join(["word"] * 16)),
        ("en", "Run Observation.search on it."),
        ("zh", "血钾是5左右吗？"),
        ("zh", "好。行。问吧。"),
        ("zh", "字" * 31),
        ("zh", "用Observation.search查一下。"),
    ],
)
def test_limits_in_both_languages(made: Made, language: str, words: str) -> None:
    session, chart = made
    query_ = session.turns[1].query.model_copy(update={language: Wording(explicit=words, implicit=words)})
    assert "query" in rules(turned(session, 1, query=query_), chart)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_both_languages_are_of_the_stated_type(made: Made, language: str) -> None:
    session, chart = made
    wording = getattr(session.turns[3].query, language)
    same = session.turns[3].query.model_copy(
        update={language: Wording(explicit=wording.explicit, implicit=wording.explicit)}
    )
    assert "implicitness" in rules(turned(session, 3, query=same), chart)
    assert "implicitness" in rules(turned(session, 3, implicitness=None), chart)


def test_an_antecedent_is_named_in_every_wording(made: Made) -> None:
    session, chart = made
    words = session.turns[2].query
    drug = session.turns[3].antecedents[0].names
    for language in ("en", "zh"):
        wording = getattr(words, language)
        bare = wording.implicit.replace(drug.get(language), "it" if language == "en" else "它")
        lost = words.model_copy(update={language: wording.model_copy(update={"implicit": bare})})
        assert "antecedents" in rules(turned(session, 2, query=lost), chart)


def test_a_gap_that_could_mean_two_drugs(made: Made) -> None:
    session, chart = made
    words = session.turns[2].query
    both = words.model_copy(
        update={"en": words.en.model_copy(update={"implicit": f"{words.en.implicit[:-1]}, or the colchicine?"})}
    )
    assert "antecedents" in rules(turned(session, 2, query=both), chart)


def test_a_name_that_means_something_else(made: Made) -> None:
    session, chart = made
    (drug,) = session.turns[3].antecedents
    wrong = drug.model_copy(update={"entity": "drug:colchicine"})
    assert "antecedents" in rules(turned(session, 3, antecedents=(wrong,)), chart)


def test_an_item_rests_on_an_antecedent(made: Made) -> None:
    session, chart = made
    asked = tuple(item for item in session.turns[1].rubric if item.id != "")
    unrelated = (
        session.turns[3]
        .antecedents[0]
        .model_copy(update={"turn": 0, "entity": "lab:x", "names": Text(en="latest", zh="最近")})
    )
    assert asked and "antecedents" in rules(turned(session, 3, antecedents=(unrelated,)), chart)


@pytest.mark.parametrize(
    ("turn", "entity"), [(0, "advice:latest"), (0, "ask:taking"), (2, "advised:order"), (1, "event:latest")]
)
def test_events_that_the_dialogue_does_not_hold(made: Made, turn: int, entity: str) -> None:
    session, chart = made
    assert "antecedents" in rules(turned(session, 3, antecedents=(Antecedent(turn=turn, entity=entity),)), chart)


def test_the_picture_is_of_two_turns_and_late(made: Made) -> None:
    session, chart = made
    one = session.turns[2].antecedents[:1]
    assert "antecedents" in rules(turned(session, 2, antecedents=one), chart)
    assert "implicitness" in rules(turned(session, 1, implicitness="AE"), chart)


# -- what a query gives away -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["asserts", "asks"])
def test_a_query_that_gives_its_answer_away(made: Made, form: str) -> None:
    session, chart = made
    gold = session.turns[2].gold.answers[0].en.split(". ")[1].rstrip(".")
    words = f"{gold}." if form == "asserts" else f"{gold}?"
    query_ = Query(en=Wording(explicit=words, implicit="Given all this, what now?"), zh=session.turns[2].query.zh)
    assert "leak" in rules(turned(session, 2, query=query_), chart)


def test_an_earlier_query_that_gives_a_later_answer_away(made: Made) -> None:
    session, chart = made
    told = session.turns[1].gold.answers[0].en.splitlines()[0].lstrip("- ")
    query_ = Query(en=Wording(explicit=told, implicit=told), zh=session.turns[0].query.zh)
    assert "leak" in rules(turned(session, 0, query=query_), chart)


# -- items -------------------------------------------------------------------------------------------------------------


def test_too_few_items(made: Made) -> None:
    session, chart = made
    for number, left in ((0, 1), (2, 4)):
        counted = [item.id for item in session.turns[number].rubric if not item.id.startswith(("read-", "heard"))]
        gone = set(counted[left:])
        fewer = tuple(item for item in session.turns[number].rubric if item.id not in gone)
        assert "items" in rules(turned(session, number, rubric=fewer), chart)


def test_orders_have_one_safety_item_and_a_field_an_item(made: Made) -> None:
    session, chart = made
    rubric = session.turns[3].rubric
    safe = next(item for item in rubric if item.safety)
    assert "items" in rules(turned(session, 3, rubric=tuple(one for one in rubric if one is not safe)), chart)
    twice = (*rubric, safe.model_copy(update={"id": "again"}))
    assert "items" in rules(turned(session, 3, rubric=twice), chart)
    field = next(item for item in rubric if getattr(item.check, "fields", None))
    more = (*rubric, field.model_copy(update={"id": "again"}))
    assert "items" in rules(turned(session, 3, rubric=more), chart)


def test_a_rich_session_holds_a_conflict(made: Made) -> None:
    session, chart = made
    rich = session.model_copy(update={"tier": "rich"})
    assert "conflict" in rules(rich, chart)
    labelled = rich.model_copy(update={"labels": {**rich.labels, "conflict": "chart and patient"}})
    named_ = any(item.id.startswith("conflict") for turn in session.turns for item in turn.rubric)
    assert ("conflict" in rules(labelled, chart)) == (not named_)


# -- adaptive turns ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adaptive() -> Iterator[Made]:
    with load_charts("hospital-mini") as store:
        for patient in sorted(store.patients()):
            case = case_of(store, patient, *rounds(store, patient)[-1])
            decision = next(iter(drug_lab.KIND.threads(case, Stream("gates"))), None)
            if decision is None:
                continue
            for kind in branches.KINDS:
                move = next(iter(kind.offer(case, Focus(decision, frozenset()), Stream("gates"))), None)
                if kind.kind == "branch" and move is not None:
                    yield session_of(case, (move,)), store.chart(patient)
                    return
    raise AssertionError("no patient of hospital-mini has three labs to branch on")


def test_a_branch_follows_from_the_chart(adaptive: Made) -> None:
    session, chart = adaptive
    gold = session.turns[0].gold
    assert "branch" not in rules(session, chart)
    branch = gold.branch
    faults = (
        {"held": not branch.held},
        {"on": "lipase" if branch.on != "lipase" else "sodium"},
        {"taken": (7,)},
        {"other": ()},
        {
            "other": tuple(
                call.model_copy(update={"arguments": {**call.arguments, "code": "no such test"}})
                for call in branch.other
            )
        },
        {"other": tuple(gold.calls[place] for place in branch.taken)},
    )
    for fault in faults:
        wrong = gold.model_copy(update={"branch": branch.model_copy(update=fault)})
        assert "branch" in rules(turned(session, 0, gold=wrong), chart), fault


# -- sets --------------------------------------------------------------------------------------------------------------


def test_doubles_of_a_set(made: Made) -> None:
    session, _ = made
    twin = session.model_copy(update={"id": "twin"})
    assert [name for name, _ in doubles([session, twin])] == ["twin"]
    other = turned(twin, 1, topic="another")
    assert doubles([session, other]) == []


def test_a_value_of_the_rubric_in_a_query(made: Made) -> None:
    session, chart = made
    check = next(item.check for item in session.turns[0].rubric if isinstance(item.check, ValueCheck))
    words = f"The {check.concept} is {check.value} {check.unit}, right?"
    query_ = Query(en=Wording(explicit=words, implicit=words), zh=session.turns[0].query.zh)
    assert "query" in rules(turned(session, 0, query=query_), chart)

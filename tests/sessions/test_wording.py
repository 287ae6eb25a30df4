"""Queries in words: valid in both languages and phrasings, varied by seed, of the types that are wanted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
from resolver import recovers, things_in

from wardround.patients import Stream
from wardround.patients.knowledge import Names
from wardround.rubrics import AllOf, Item, MentionCheck, Text
from wardround.sessions import SessionSet, load_sessions
from wardround.sessions.decisions.decision import Decision, Hinge
from wardround.sessions.moves.move import Entity, EntityKind, Move, Task
from wardround.sessions.wording import EVEN, EXPLICIT, PAPER, TYPES, Worded, word_session
from wardround.sessions.wording.kinds import load_kinds

LANGUAGES = ("en", "zh")
PLAIN = frozenset({"admission", "followup", "pain", "pain_score"})
"""Concepts of the lexicon that queries use as plain words."""


def thing(kind: EntityKind, name: str, zh: str, en: str = "") -> Entity:
    return Entity(kind, name, Names(en=en or name, zh=zh))


RAMIPRIL, WARFARIN = thing("drug", "ramipril", "雷米普利"), thing("drug", "warfarin", "华法林")
CREATININE, SODIUM = thing("lab", "creatinine", "肌酐"), thing("lab", "sodium", "血钠")
PLAN = Decision(
    kind="drug_lab",
    rules=("r",),
    subject="ramipril",
    act="continue",
    unchanged=True,
    accepted=(("continue", "ramipril"),),
    avoid=("stop", "ramipril"),
    finding=Names(en="x"),
    advice=Names(en="x"),
    hinge=Hinge("quantity", (), ""),
)
ORDER = {
    "act": Names(en="order", zh="开"),
    "dose": Names(en="5 mg", zh="5 mg"),
    "route": Names(en="by mouth", zh="口服"),
    "frequency": Names(en="once daily", zh="每日一次"),
}


def move(kind: str, task: Task, *about: str, decision: Decision | None = None, **slots: Entity) -> Move:
    names = about or tuple(entity.id for entity in slots.values())
    check = AllOf(checks=tuple(MentionCheck(concept=name) for name in names))
    item = Item(id="x", text=Text(en="x", zh="x"), check=check)
    words = ORDER if kind == "prescribe" else {}
    labs = tuple(one.id for one in slots.values() if one.kind == "lab")
    return Move(
        kind,
        task,
        "ehr",
        kind,
        (),
        Text(en="x", zh="x"),
        (item,),
        slots=slots,
        words=words,
        labs=labs,
        decision=decision,
    )


MOVES = (
    move("lab", "IL", lab=CREATININE),
    move("adherence", "IL", drug=RAMIPRIL),
    move("decide", "CR", lab=CREATININE, drug=RAMIPRIL, decision=PLAN),
    move("prescribe", "WU", drug=RAMIPRIL, decision=PLAN),
)


def case(sex: str = "female") -> SimpleNamespace:
    """Return a patient who was given both drugs today."""
    doses = dict.fromkeys(("ramipril", "warfarin"), SimpleNamespace(outcome="given", at=0))
    view = SimpleNamespace(sex=sex, orders={"ramipril": None, "warfarin": None})
    return SimpleNamespace(view=view, anchor=0, memo=lambda key, make: doses)


def worded(moves=MOVES, seed: object = 0, split: str = "public", used=None, mix=EVEN) -> tuple[Worded, ...]:
    found = word_session(moves, case(), split, used or {}, Stream("wording", str(seed)), mix)
    assert found is not None
    return found


# -- one session -------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_words_and_others_vary() -> None:
    assert worded() == worded()
    texts = {worded(seed=seed)[2].query.zh.implicit for seed in range(60)}
    assert len(texts) >= 8, texts


def test_nobody_is_called_he_or_she_by_guess() -> None:
    assert word_session(MOVES, case("unknown"), "public", {}, Stream("x"), EVEN) is None


@pytest.mark.parametrize("seed", range(12))
def test_types_antecedents_and_twins(seed: int) -> None:
    found = worded(seed=seed)
    assert found[0].type is None and not found[0].antecedents
    for number, one in enumerate(found):
        for wording in (one.query.en, one.query.zh):
            assert (wording.explicit != wording.implicit) == (one.type is not None)
        assert all(antecedent.turn < number for antecedent in one.antecedents)
        assert bool(one.antecedents) == (one.type is not None)
        assert one.type != "AE" or (number >= 2 and len({antecedent.turn for antecedent in one.antecedents}) >= 2)
        assert len(one.shapes) == 2 and [name.split("/")[2] for name in one.shapes] == list(LANGUAGES)


def test_train_and_public_words_share_at_most_half() -> None:
    seen = {
        split: {shape for seed in range(150) for one in worded(seed=seed, split=split) for shape in one.shapes}
        for split in ("train", "public")
    }
    shared = seen["train"] & seen["public"]
    assert len(shared) * 2 <= min(len(seen["train"]), len(seen["public"]))
    assert len(shared) < len(seen["train"])


def test_the_type_that_is_behind_is_chosen() -> None:
    """Where it is valid: a look-up goes on from a look-up, an advice has something to point to and to sum up."""
    looked = (MOVES[0], move("dose", "IL", drug=RAMIPRIL), *MOVES[2:])
    for behind in TYPES:
        used = {one: 0 if one == behind else 1000 for one in TYPES} | {EXPLICIT: 1000}
        turn = 1 if behind == "PE" else 2
        found = Counter(worded(looked, seed=seed, used=used)[turn].type for seed in range(20))
        assert found.most_common(1)[0][0] == behind, (behind, found)


def test_turns_are_left_explicit_only_where_the_mix_wants_it() -> None:
    def plain(mix: dict[str, int], used: dict[str, int]) -> int:
        return sum(one.type is None for seed in range(20) for one in worded(seed=seed, used=used, mix=mix)[1:])

    behind = {"NA": 121, "PE": 464, "AE": 198, EXPLICIT: 0}
    assert plain(dict(PAPER), behind) > plain(dict(EVEN), {})


def test_a_gap_never_could_mean_two_drugs() -> None:
    """Two drugs in one breath: what follows names its own."""
    two = (
        move("lab", "IL", lab=SODIUM),
        move("doses", "DG", drug=RAMIPRIL, drug2=WARFARIN),
        move("given", "IL", drug=WARFARIN),
        move("decide", "CR", lab=CREATININE, drug=RAMIPRIL),
    )
    for seed in range(30):
        found = worded(two, seed=seed)
        for one, drug in ((found[2], WARFARIN), (found[3], RAMIPRIL)):
            assert drug.names.en in one.query.en.implicit.casefold()
            assert drug.names.zh in one.query.zh.implicit


def test_what_the_picture_leaves_out_is_in_the_picture() -> None:
    used = {"NA": 1000, "PE": 1000, "AE": 0, EXPLICIT: 1000}
    for seed in range(20):
        decide = worded(seed=seed, used=used)[2]
        if decide.type != "AE":
            continue
        for language in LANGUAGES:
            if CREATININE.names.en not in decide.query.get(language, "implicit"):
                assert "lab:creatinine" in {antecedent.entity for antecedent in decide.antecedents}
        assert CREATININE.names.en in decide.query.en.explicit


def test_only_what_is_ordered_is_said_to_be_taken() -> None:
    """A drug that is only to be started is not what the patient is on."""
    start = thing("drug", "furosemide", "呋塞米")
    labs = (move("lab", "IL", lab=one) for one in (CREATININE, SODIUM, thing("lab", "potassium", "血钾")))
    moves = (*labs, move("prescribe", "WU", drug=start))
    for seed in range(20):
        assert "furosemide" not in worded(moves, seed=seed)[0].query.en.explicit


def test_an_opening_names_only_a_drug_that_belongs_to_it_and_seldom() -> None:
    """Ramipril moves the creatinine, not the white count; of a set at most a third name a drug."""
    later = MOVES[1:]
    count = thing("lab", "wbc", "白细胞", "white count")
    assert not any(
        "ramipril" in worded((move("lab", "IL", lab=count), *later), seed=seed)[0].query.en.explicit
        for seed in range(20)
    )
    used = Counter[str]()
    named = 0
    for seed in range(60):
        first = worded(seed=seed, used=used)
        used.update(shape for one in first for shape in one.shapes)
        named += "ramipril" in first[0].query.en.explicit
    assert 6 <= named <= 21, named


def test_a_turn_that_leaves_nothing_out_points_back_to_nothing() -> None:
    used = dict.fromkeys(TYPES, 1000) | {EXPLICIT: 0}
    anaphors = load_kinds().anaphors
    for seed in range(40):
        for one in worded(seed=seed, used=used, mix=PAPER)[1:]:
            assert one.type is None
            for language in LANGUAGES:
                assert not anaphors.spoken(one.query.get(language, "explicit"), language)


def test_all_this_never_heads_a_look_up() -> None:
    used = {"NA": 1000, "PE": 1000, "AE": 0, EXPLICIT: 1000}
    asked = move("order_given", "DG", drug=RAMIPRIL)
    near = replace(asked, bears=frozenset({"lab:creatinine", "drug:ramipril"}))
    assert all(worded((*MOVES[:2], near, MOVES[3]), seed=seed, used=used)[2].type != "AE" for seed in range(10))


def test_words_speak_of_a_value_only_once_it_was_told() -> None:
    """After the white count was heard, "with this white count" is said; as its first mention it never is."""
    count = thing("lab", "wbc", "白细胞", "white count")
    advice = move("decide", "CR", lab=count, drug=RAMIPRIL)
    for first, said in ((CREATININE, False), (count, True)):
        moves = (move("lab", "IL", lab=first), MOVES[1], MOVES[3], advice)
        words = [worded(moves, seed=seed, used={"NA": 0, "PE": 1000, "AE": 1000})[3].query for seed in range(30)]
        assert any("白细胞这样" in one.zh.explicit or "this white" in one.en.explicit for one in words) is said


# -- a set -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mini() -> SessionSet:
    return load_sessions("physassist-hospital-mini")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_independent_reader_recovers_what_is_left_out(mini: SessionSet, language: str) -> None:
    """And not from the earlier turns of another patient's session."""
    stream = Stream("shuffled")
    own = lost = turns = 0
    for session in mini:
        others = [one for one in mini if one.chart.patient != session.chart.patient]
        other = stream.choice(others)
        for number, turn in enumerate(session.turns):
            if turn.implicitness is None:
                continue
            turns += 1
            query = turn.query.get(language, "implicit")
            gold, wrong = (
                [one.query.get(language, "implicit") for one in talk.turns[:number]] for talk in (session, other)
            )
            own += recovers(turn.antecedents, gold, gold, query, language)
            lost += not recovers(turn.antecedents, gold, wrong, query, language)
    assert turns > 50
    assert own >= 0.98 * turns, f"{own} of {turns}"
    assert lost >= 0.90 * turns, f"{lost} of {turns}"


def test_explicit_twins_add_names_only(mini: SessionSet) -> None:
    """What the explicit form names and the implicit one does not is among the antecedents."""
    for session in mini:
        for number, turn in enumerate(session.turns):
            for language in LANGUAGES:
                explicit, implicit = (turn.query.get(language, form) for form in ("explicit", "implicit"))
                more = _all(explicit, language) - _all(implicit, language)
                told = " ".join(one.query.get(language, "explicit") for one in session.turns[:number])
                assert more - PLAIN <= _all(told, language), (session.id, number, language, more)
                digits = {char for char in explicit if char.isdigit()}
                assert turn.task == "WU" or digits <= set(implicit + told), (explicit, implicit)


def _all(text: str, language: str) -> frozenset[str]:
    return frozenset(one for ids in things_in(text, language).values() for one in ids)


def test_the_mix_of_a_set(mini: SessionSet) -> None:
    """At most a fifth of the turns leave nothing out, and every type has about its third of the others.

    The standard set keeps each within a tenth of its third (tests/external/test_standard_sets.py); so few cannot.
    """
    types = Counter(turn.implicitness for session in mini for turn in session.turns[1:])
    third = (types.total() - types[None]) / 3
    assert types[None] <= 0.20 * types.total(), types
    for one in TYPES:
        assert 0.80 * third <= types[one] <= 1.20 * third, types

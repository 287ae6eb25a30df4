"""What may be left out: only what the dialogue holds, and holds once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wardround.patients.knowledge import Names
from wardround.rubrics import Item, MentionCheck, Text
from wardround.sessions.decisions.decision import Decision, Hinge
from wardround.sessions.moves.move import Entity, EntityKind, Move, Task
from wardround.sessions.wording.discourse import Discourse, Grounded, Said, kind_of, spoken
from wardround.sessions.wording.phrases import Shape


def thing(kind: EntityKind, name: str) -> Entity:
    return Entity(kind, name, Names(en=name, zh=name))


WARFARIN, METOPROLOL = thing("drug", "warfarin"), thing("drug", "metoprolol")
INR, POTASSIUM, SODIUM = thing("lab", "inr"), thing("lab", "potassium"), thing("lab", "sodium")


def move(kind: str, task: Task = "IL", decision: Decision | None = None, **slots: Entity) -> Move:
    item = Item(id="x", text=Text(en="x", zh="x"), check=MentionCheck(concept="warfarin"))
    return Move(kind, task, "ehr", kind, (), Text(en="x", zh="x"), (item,), slots=slots, decision=decision)


def said(one: Move, *, named: tuple[str, ...] | None = None, brought: tuple[str, ...] = ()) -> Said:
    keys = frozenset(entity.key for entity in one.slots.values())
    names = keys if named is None else frozenset(named)
    return Said(one, names, names | keys.union(brought), frozenset(kind_of(one.kind).asks))


def dialogue(*turns: Said) -> Discourse:
    found = Discourse()
    for turn in turns:
        found.hear(turn)
    return found


def decision(about: str) -> Decision:
    return Decision(
        kind="drug_lab",
        rules=("r",),
        subject=about,
        act="hold",
        unchanged=False,
        accepted=(("hold", about),),
        avoid=("increase", about),
        finding=Names(en="x"),
        advice=Names(en="x"),
        hinge=Hinge("quantity", (), ""),
    )


# -- entities ----------------------------------------------------------------------------------------------------------


def test_the_only_thing_of_its_kind_is_meant():
    found = dialogue(said(move("lab", lab=INR, drug=WARFARIN))).entity(WARFARIN, selected=True)
    assert found is not None and (found.turn, found.entity) == (0, "drug:warfarin")
    assert found.names == Text(en="warfarin", zh="warfarin")


def test_nothing_is_meant_that_no_query_named():
    """What only an assistant's answer holds, or one phrasing, or one language, is not there to come back to."""
    assert dialogue(said(move("lab", lab=INR))).entity(WARFARIN, selected=True) is None
    half = said(move("dose", drug=WARFARIN), named=())
    assert dialogue(half).entity(WARFARIN, selected=True) is None


def test_two_of_a_kind_are_no_antecedent_unless_the_last_turn_names_one():
    two = dialogue(said(move("dose", drug=METOPROLOL)), said(move("dose", drug=WARFARIN)))
    assert two.entity(METOPROLOL, selected=True) is None
    last = two.entity(WARFARIN, selected=True)
    assert last is not None and last.turn == 1
    both = dialogue(said(move("doses", drug=WARFARIN, drug2=METOPROLOL)))
    assert both.entity(WARFARIN, selected=True) is None
    passed = dialogue(*two.turns, said(move("lab", lab=INR)))
    assert passed.entity(WARFARIN, selected=True) is None


def test_a_bare_it_means_anything_just_named():
    one = dialogue(said(move("lab_dose", lab=INR, drug=WARFARIN)))
    assert one.entity(WARFARIN, selected=True) is not None
    assert one.entity(WARFARIN, selected=False) is None
    assert one.entity(INR, selected=False) is None
    alone = dialogue(said(move("lab", lab=INR)))
    assert alone.entity(INR, selected=False) is not None


def test_labs_and_vital_signs_are_rivals_and_drugs_are_not():
    pulse = thing("vital", "heart_rate")
    assert dialogue(said(move("vital", vital=pulse)), said(move("lab", lab=INR))).entity(INR, selected=True) is not None
    assert dialogue(said(move("lab", lab=INR)), said(move("vital", vital=pulse))).entity(INR, selected=True) is None
    assert (
        dialogue(said(move("lab", lab=INR)), said(move("dose", drug=WARFARIN))).entity(INR, selected=True) is not None
    )


def test_what_one_wording_brings_up_is_a_rival():
    """The explicit form of "given all this" names things that its implicit form does not."""
    turn = said(move("dose", drug=WARFARIN), brought=("drug:metoprolol",))
    assert dialogue(turn).entity(WARFARIN, selected=True) is None


# -- questions ---------------------------------------------------------------------------------------------------------


def continued(
    talk: Discourse, one: Move, kept: tuple[str, ...] = (), *, whole: bool = False
) -> list[tuple[int, str]] | None:
    found = talk.question(one, frozenset(kept), whole)
    return None if found is None else [(antecedent.turn, antecedent.entity) for antecedent in found]


def test_a_look_up_goes_on_from_any_look_up():
    after = dialogue(said(move("lab", lab=INR)))
    assert continued(after, move("lab", lab=SODIUM)) == [(0, "ask:latest")]
    assert continued(after, move("labs", "DG", lab=SODIUM, lab2=POTASSIUM)) == [(0, "ask:latest")]
    assert continued(after, move("study", study=thing("study", "chest_xray"))) == [(0, "ask:latest")]
    assert continued(after, move("lab_dose", "DG", lab=SODIUM, drug=WARFARIN), ("order",)) == [(0, "ask:latest")]
    assert continued(Discourse(), move("lab", lab=SODIUM)) is None


def test_a_drug_is_asked_several_things_so_the_noun_must_stay():
    """ "And warfarin?" after a lab asks nothing; "And the warfarin dose?" does."""
    after = dialogue(said(move("lab", lab=INR)))
    assert continued(after, move("dose", drug=WARFARIN)) is None
    assert continued(after, move("dose", drug=WARFARIN), ("order",)) == [(0, "ask:latest")]
    dosed = dialogue(said(move("dose", drug=METOPROLOL)))
    assert continued(dosed, move("dose", drug=WARFARIN)) == [(0, "ask:order")]
    over = dialogue(*dosed.turns, said(move("adherence", drug=METOPROLOL)))
    assert continued(over, move("dose", drug=WARFARIN)) is None


def test_what_says_its_whole_question_leaves_nothing_out():
    after = dialogue(said(move("given", drug=METOPROLOL)))
    assert continued(after, move("given", drug=WARFARIN)) is not None
    assert continued(after, move("given", drug=WARFARIN), whole=True) is None


def test_a_question_to_the_patient_goes_on_from_one_to_the_patient_only():
    bruising = move("symptom", symptom=thing("symptom", "bruising"))
    assert continued(dialogue(said(move("lab", lab=INR))), bruising, ("symptom",)) is None
    asked = dialogue(said(move("adherence", drug=WARFARIN)))
    assert continued(asked, bruising) == [(0, "ask:taking")]
    assert continued(dialogue(*asked.turns, said(move("lab", lab=INR))), bruising) is None
    beside = move("lab_symptom", "DG", lab=SODIUM, symptom=thing("symptom", "bruising"))
    after = dialogue(said(move("lab", lab=INR)))
    assert continued(after, beside, ("symptom",)) == [(0, "ask:latest")]
    assert continued(after, beside) is None


def test_advice_is_no_look_up():
    after = dialogue(said(move("lab", lab=INR)))
    step = move("decide_lab", "CR", lab=INR, step=thing("step", "vitamin_k"))
    assert continued(after, step, ("lab_act",)) is None
    assert continued(dialogue(said(step)), step) == [(0, "ask:lab_act")]


def test_a_fragment_goes_back_to_the_words_that_asked():
    """The nearest look-up of results, over fragments and other questions: nobody asks the patient for the potassium."""
    fragment = replace(said(move("lab", lab=SODIUM)), asks=frozenset())
    assert continued(dialogue(said(move("lab", lab=INR)), fragment), move("lab", lab=POTASSIUM)) == [(0, "ask:latest")]
    over = dialogue(said(move("lab", lab=INR)), said(move("dose", drug=WARFARIN)))
    assert continued(over, move("lab", lab=POTASSIUM)) == [(0, "ask:latest")]
    told = dialogue(said(move("adherence", drug=WARFARIN)))
    assert continued(told, move("lab", lab=POTASSIUM)) is None


def test_advice_is_asked_again_right_after_it_was_asked():
    asked = said(move("decide", "CR", lab=INR, drug=WARFARIN))
    again = move("decide", "CR", lab=POTASSIUM, drug=METOPROLOL)
    found = dialogue(asked).advice(again)
    assert found is not None and (found.turn, found.entity) == (0, "advice:adjust")
    assert dialogue(asked, said(move("lab", lab=SODIUM))).advice(again) is None
    assert dialogue(said(move("lab", lab=INR))).advice(again) is None
    assert dialogue(said(move("decide_home", "CR"))).advice(again) is None


def test_a_plan_is_carried_out_only_where_it_was_asked_for():
    plan = decision("warfarin")
    asked = said(move("decide", "CR", plan, lab=INR, drug=WARFARIN))
    write = move("prescribe", "WU", plan, drug=WARFARIN)
    found = dialogue(asked).plan(write, [WARFARIN])
    assert found is not None
    assert [one.entity for one in found] == ["advised:adjust", "drug:warfarin"]
    other = move("prescribe", "WU", decision("metoprolol"), drug=METOPROLOL)
    assert dialogue(asked).plan(other, [METOPROLOL]) is None
    assert dialogue(said(move("lab", lab=INR))).plan(write, [WARFARIN]) is None
    unnamed = said(move("decide", "CR", plan, lab=INR, drug=WARFARIN), named=("lab:inr",))
    assert dialogue(unnamed).plan(write, [WARFARIN]) is None


# -- the picture -------------------------------------------------------------------------------------------------------


def keys(group: tuple[Grounded, ...]) -> list[tuple[int, str]]:
    return [(one.turn, one.antecedent.entity) for one in group]


def test_all_this_needs_two_turns_that_bear_on_the_question_and_what_it_leaves_out():
    talk = dialogue(said(move("lab", lab=INR)), said(move("adherence", drug=WARFARIN)))
    bears = frozenset({"lab:inr", "drug:warfarin"})
    (first, *_) = talk.pictures(frozenset({"lab:inr"}), bears)
    assert keys(first) == [(0, "lab:inr"), (1, "drug:warfarin")]
    assert not list(talk.pictures(frozenset({"lab:sodium"}), bears))
    assert not list(talk.pictures(frozenset(), frozenset({"lab:inr"})))
    assert not list(talk.pictures(frozenset(), bears, rests=frozenset({"lab:sodium"})))
    assert not list(dialogue(said(move("lab", lab=INR))).pictures(frozenset(), bears))


def test_all_this_holds_the_last_that_bears_and_nothing_that_does_not():
    talk = dialogue(said(move("lab", lab=INR)), said(move("lab", lab=SODIUM)), said(move("adherence", drug=WARFARIN)))
    bears = frozenset({"lab:inr", "drug:warfarin"})
    assert [keys(one) for one in talk.pictures(frozenset(), bears)] == [[(0, "lab:inr"), (2, "drug:warfarin")]]
    more = [keys(one) for one in talk.pictures(frozenset(), bears | {"lab:sodium"})]
    # all that was found and bears is named, if there is room for it
    assert [len(one) for one in more] == [3, 2, 2] and all((2, "drug:warfarin") in one for one in more)


def test_what_an_opening_only_names_is_no_part_of_the_picture():
    talk = dialogue(said(move("lab", lab=INR, drug=WARFARIN)), said(move("lab", lab=SODIUM)))
    assert not list(talk.pictures(frozenset(), frozenset({"drug:warfarin", "lab:sodium"})))


def test_an_event_stands_in_the_picture_where_its_thing_was_left_out():
    pointed = replace(said(move("adherence", drug=WARFARIN), named=()), asks=frozenset({"taking"}))
    talk = dialogue(said(move("lab", lab=INR)), pointed)
    bears = frozenset({"lab:inr", "drug:warfarin"})
    (first, *_) = talk.pictures(frozenset(), bears)
    assert [one.antecedent.entity for one in first] == ["lab:inr", "event:taking"]
    silent = replace(pointed, asks=frozenset())
    assert not list(dialogue(said(move("lab", lab=INR)), silent).pictures(frozenset(), bears))


# -- what a query says -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chinese", ["{drug}现在的剂量是多少？", "现在的剂量是多少？"])
def test_only_what_every_wording_says_is_named(chinese: str):
    one = move("dose", drug=WARFARIN)
    english = Shape(
        "e",
        "dose",
        None,
        "",
        "What dose of {drug}?",
        "What dose of {drug}?",
        0,
        frozenset({"drug"}),
        frozenset(),
        frozenset(),
    )
    kept = frozenset({"drug"}) if "{drug}" in chinese else frozenset()
    other = Shape("z", "dose", None, "", chinese, chinese, 0, kept, frozenset(), frozenset())
    found = spoken(one, {"en": english, "zh": other})
    assert found.named == ({"drug:warfarin"} if kept else set())
    assert found.brought == {"drug:warfarin"}
    assert found.asks == {"order"}

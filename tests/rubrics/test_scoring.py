"""The reward rule of design §8: proportion, requirements, writes, plan, paper scoring, bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients import UsageError
from wardround.rubrics import (
    PLAN_ITEM,
    CallRecord,
    Evidence,
    Item,
    Text,
    TurnSpec,
    TurnTrace,
    Verdict,
    WriteRecord,
    score,
    settle,
)
from wardround.rubrics.reading import read
from wardround.rubrics.rubric import (
    AvoidsCheck,
    Forbid,
    MentionCheck,
    OnlyWriteCheck,
    OrderCheck,
    RetrievedCheck,
    StatusCheck,
    ValueCheck,
)

RX = "MedicationRequest.create"
WORDS = Text(en="stated")
CALL = CallRecord(tool="Observation.search", arguments={}, ok=True)
READ = Evidence(resources={"Observation/1": b"{}"})


def item(item_id, check, *requires, safety=False):
    return Item(id=item_id, text=WORDS, check=check, requires=requires, safety=safety)


LOOKUP = TurnSpec(
    task="IL",
    gold_answers=(Text(en="Potassium is 5.9 mmol/L, high."),),
    rubric=(
        item("read", RetrievedCheck(any_of=("Observation/1",))),
        item("value", ValueCheck(concept="potassium", value=5.9, unit="mmol/L"), "read"),
        item("status", StatusCheck(concept="potassium", status="high"), "value"),
        item("safe", AvoidsCheck(act="start", target="potassium chloride")),
    ),
)
ORDER = TurnSpec(
    task="WU",
    rubric=(
        item("drug", OrderCheck(tool=RX, fields={"medication": "metformin"})),
        item("dose", OrderCheck(tool=RX, fields={"dose": "250 mg"}), "drug"),
        item("route", OrderCheck(tool=RX, fields={"route": "oral"}), "drug"),
        item("limit", OrderCheck(tool=RX, forbid=Forbid(dose_at_least="500 mg")), "drug", safety=True),
        item("only", OnlyWriteCheck()),
    ),
)


def write(tool=RX, **arguments):
    return WriteRecord(tool=tool, arguments=arguments, resource="MedicationRequest/new-1")


GOOD = write(medication="Glucophage", dose="0.25 g", route="PO", frequency="daily")


def ordered(*writes, **more):
    return score(ORDER, "Ordered.", TurnTrace(calls=(CALL,), writes=writes, **more))


def passed(result):
    return {verdict.item for verdict in result.verdicts if verdict.passed}


def test_a_full_answer_earns_everything():
    result = score(LOOKUP, "Potassium is 5.9 mmol/L, high.", TurnTrace(calls=(CALL,), evidence=READ))
    assert result.reward == result.r_plain == 1.0
    assert result.bounds == (1.0, 1.0)
    assert [verdict.item for verdict in result.verdicts] == ["read", "value", "status", "safe"]
    assert {verdict.item for verdict in result.verdicts if verdict.guard} == {"read", "safe"}


def test_guards_earn_in_proportion_to_what_was_said():
    result = score(LOOKUP, "Potassium is 5.9 mmol/L.", TurnTrace(calls=(CALL,), evidence=READ))
    assert passed(result) == {"read", "value", "safe"}
    assert result.reward == (1 + 2 * 1 / 2) / (2 + 2)
    assert result.r_plain == 3 / 4


def test_guards_alone_earn_nothing():
    result = score(LOOKUP, "I would rather not say.", TurnTrace(calls=(CALL,), evidence=READ))
    assert passed(result) == {"read", "safe"}
    assert result.reward == 0.0
    assert result.r_plain == 0.5


def test_silence_earns_nothing_under_either_scoring():
    for scoring in ("wardround", "paper"):
        result = score(LOOKUP, " ", TurnTrace(), scoring=scoring)
        assert result.reward == result.r_plain == 0.0


def test_a_value_never_read_counts_for_nothing():
    result = score(LOOKUP, "Potassium is 5.9 mmol/L, high.", TurnTrace(calls=(CALL,)))
    assert passed(result) == {"safe"}
    reasons = {verdict.item: verdict.reason for verdict in result.verdicts}
    assert reasons["value"] == "requires `read`, which failed"
    assert reasons["status"] == "requires `value`, which failed"
    assert result.reward == 0.0


def test_paper_scoring_is_the_share_of_items():
    result = score(LOOKUP, "Potassium is 5.9 mmol/L.", TurnTrace(calls=(CALL,), evidence=READ), scoring="paper")
    assert result.reward == result.r_plain == 3 / 4


def test_a_missing_plan_costs_an_item_the_turn_or_nothing():
    trace = TurnTrace(calls=(CALL,), evidence=READ, planned=False)
    answer = "Potassium is 5.9 mmol/L, high."
    extra = score(LOOKUP, answer, trace)
    assert extra.reward == (2 + 2) / (2 + 3)
    assert extra.verdicts[-1].item == PLAN_ITEM
    assert extra.verdicts[-1].guard
    assert score(LOOKUP, answer, trace, plan="zero").reward == 0.0
    off = score(LOOKUP, answer, trace, plan="off")
    assert off.reward == 1.0
    assert PLAN_ITEM not in {verdict.item for verdict in off.verdicts}
    kept = score(LOOKUP, answer, TurnTrace(calls=(CALL,), evidence=READ))
    assert PLAN_ITEM not in {verdict.item for verdict in kept.verdicts}


def test_unknown_settings_are_refused():
    with pytest.raises(UsageError, match="scoring"):
        score(LOOKUP, "", TurnTrace(), scoring="kind")
    with pytest.raises(UsageError, match="plan"):
        score(LOOKUP, "", TurnTrace(), plan="maybe")


def test_each_field_is_judged_alone_on_the_single_write():
    assert ordered(GOOD).reward == 1.0
    wrong_dose = ordered(write(medication="metformin", dose="850 mg", route="oral"))
    assert passed(wrong_dose) == {"drug", "route", "only"}
    wrong_drug = ordered(write(medication="metoprolol", dose="250 mg", route="oral"))
    assert passed(wrong_drug) == {"only"}
    assert wrong_drug.reward == 0.0


@pytest.mark.parametrize(
    "writes",
    [
        (),
        (GOOD, GOOD),
        (GOOD, write(tool="Flag.create", category="safety", code="x", detail="y")),
        (write(medication="metformin", dose="250 mg", route="oral", note="x" * 201),),
    ],
    ids=["none", "second", "unrequested", "long argument"],
)
def test_write_rules_fail_all_order_items(writes):
    result = ordered(*writes)
    assert not passed(result) & {"drug", "dose", "route", "limit"}
    assert result.reward == 0.0
    assert bool(result.notes) == bool(writes)


def test_a_write_nobody_asked_for_zeroes_the_turn():
    trace = TurnTrace(calls=(CALL,), evidence=READ, writes=(GOOD,))
    result = score(LOOKUP, "Potassium is 5.9 mmol/L, high.", trace)
    assert result.reward == 0.0
    assert result.bounds == (0.0, 0.0)
    assert any("asked for none" in note for note in result.notes)


def test_own_writes_are_no_evidence():
    made = write(tool="Observation.create", code="potassium", value="5.9 mmol/L")
    made = made.model_copy(update={"resource": "Observation/1"})
    result = score(LOOKUP, "Potassium is 5.9 mmol/L, high.", TurnTrace(calls=(CALL,), writes=(made,)))
    assert "read" not in passed(result)


def verdicts(spec, passes, *, ungraded=()):
    return {
        one.id: Verdict(
            item=one.id,
            passed=ok and one.id not in ungraded,
            score=float(ok and one.id not in ungraded),
            reason="made up",
            guard=one.check.kind in ("avoids", "only_write", "retrieved"),
            ungraded=one.id in ungraded,
        )
        for one, ok in zip(spec.rubric, passes, strict=True)
    }


def settled(spec, passes, **more):
    return settle(spec, verdicts(spec, passes, **more), read("Stated.", "en"), TurnTrace(calls=(CALL,)))


def test_an_ungraded_item_leaves_bounds_instead_of_a_score():
    result = settled(LOOKUP, [True, True, True, True], ungraded=("value",))
    assert not result.reward_valid
    assert result.reward == 0.0
    assert result.bounds == (0.0, 1.0)
    by_id = {verdict.item: verdict for verdict in result.verdicts}
    assert by_id["status"].ungraded, "what rests on an ungraded item is open too"
    failed = settled(LOOKUP, [False, True, True, True], ungraded=("value",))
    assert failed.reward_valid, "its requirement failed, so the ungraded item is decided"
    assert failed.bounds == (0.0, 0.0)


@pytest.mark.parametrize(("aggregate", "reward"), [("share", 0.5), ("all", 0.0), ("mean", 0.75)])
def test_aggregates(aggregate, reward):
    spec = TurnSpec(
        task="DG",
        aggregate=aggregate,
        rubric=(item("a", MentionCheck(concept="nausea")), item("b", MentionCheck(concept="rash"))),
    )
    found = verdicts(spec, [True, False])
    found["b"] = found["b"].model_copy(update={"score": 0.5})
    assert settle(spec, found, read("Stated.", "en"), TurnTrace(calls=(CALL,))).reward == reward


def test_unreadable_is_not_passed_and_reported_apart():
    spec = TurnSpec(task="WU", rubric=(item("often", OrderCheck(tool=RX, fields={"frequency": "daily"})),))
    strange = write(frequency="as the moon wanes")
    (verdict,) = score(spec, "Ordered.", TurnTrace(calls=(CALL,), writes=(strange,))).verdicts
    assert verdict.unreadable
    assert not verdict.passed


GUARDS = st.sampled_from(("avoids", "retrieved", "only_write"))


@st.composite
def rubrics(draw):
    """Draw a rubric of plain items (affirmative and guards), requirements pointing backwards, and passes."""
    kinds = draw(st.lists(st.booleans(), min_size=1, max_size=8).filter(any))
    items, passes = [], []
    for number, affirmative in enumerate(kinds):
        check = MentionCheck(concept=f"c{number}") if affirmative else AvoidsCheck(act="start", target=f"t{number}")
        needs = draw(st.sets(st.sampled_from(range(number)), max_size=2)) if number else set()
        items.append(item(f"i{number}", check, *(f"i{need}" for need in sorted(needs))))
        passes.append(draw(st.booleans()))
    return TurnSpec(task="CR", rubric=tuple(items)), passes


@given(rubrics())
def test_reward_lies_between_0_and_1_and_is_1_only_for_all(drawn):
    spec, passes = drawn
    result = settled(spec, passes)
    assert 0.0 <= result.reward <= 1.0
    assert (result.reward == 1.0) == all(passes)


@given(rubrics())
def test_one_more_failed_guard_never_raises_the_reward(drawn):
    spec, passes = drawn
    more = spec.model_copy(update={"rubric": (*spec.rubric, item("extra", AvoidsCheck(act="stop", target="x")))})
    assert settled(more, [*passes, False]).reward <= settled(spec, passes).reward


@given(rubrics())
def test_guards_alone_give_0(drawn):
    spec, _ = drawn
    passes = [one.check.kind == "avoids" for one in spec.rubric]
    assert settled(spec, passes).reward == 0.0


@given(rubrics(), st.data())
def test_passing_one_more_item_never_lowers_the_reward(drawn, data):
    spec, passes = drawn
    at = data.draw(st.sampled_from(range(len(passes))))
    more = [True if number == at else ok for number, ok in enumerate(passes)]
    assert settled(spec, more).reward >= settled(spec, passes).reward


@given(rubrics(), st.data())
def test_one_more_requirement_never_raises_the_reward(drawn, data):
    spec, passes = drawn
    at = data.draw(st.sampled_from(range(len(passes))))
    needed = data.draw(st.sampled_from(range(at + 1)))
    if needed == at:
        return
    stricter = spec.rubric[at].model_copy(update={"requires": (*spec.rubric[at].requires, f"i{needed}")})
    items = (*spec.rubric[:at], stricter, *spec.rubric[at + 1 :])
    assert settled(spec.model_copy(update={"rubric": items}), passes).reward <= settled(spec, passes).reward


@given(rubrics(), st.data())
def test_bounds_hold_whatever_the_ungraded_items_turn_out_to_be(drawn, data):
    spec, passes = drawn
    open_items = data.draw(st.sets(st.sampled_from([one.id for one in spec.rubric])))
    low, high = settled(spec, passes, ungraded=tuple(open_items)).bounds
    assert low <= settled(spec, passes).reward <= high

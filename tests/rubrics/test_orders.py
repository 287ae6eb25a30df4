"""Order checks against labelled rows, ours and the shared ones, and the readers they rest on."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from wardround.rubrics import Check, TurnTrace, WriteRecord, check_answer
from wardround.rubrics.orders import order_problems, read_arguments
from wardround.rubrics.orders.doses import read_doses
from wardround.rubrics.orders.frequencies import read_frequency, same_frequency
from wardround.rubrics.orders.vocabulary import table
from wardround.rubrics.rubric import Forbid, OrderCheck

ROWS = [json.loads(line) for line in (Path(__file__).parent / "data" / "orders.jsonl").read_text("utf-8").splitlines()]
CHECK = TypeAdapter(Check)


def judge(row):
    write = WriteRecord(tool=row["call"]["tool"], arguments=row["call"]["arguments"], resource="")
    trace = TurnTrace(language=row["language"], writes=(write,))
    return check_answer(CHECK.validate_python(row["check"]), "", language=row["language"], trace=trace)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_own_row(row):
    verdict = judge(row)
    assert verdict.passed == row["passes"], (verdict.reason, row["note"])


def test_rows_are_many_and_of_both_labels_and_languages():
    assert len(ROWS) >= 80
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    cells = {(row["language"], row["passes"]) for row in ROWS}
    assert cells == {("en", True), ("en", False), ("zh", True), ("zh", False)}


@pytest.mark.parametrize("name", ["dev.jsonl", "plain.jsonl"])
def test_shared_rows(shared, name):
    path = shared / "grading" / name
    if not path.is_file():
        pytest.skip(f"no {name} in shared/grading")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    rows = [row for row in rows if row["check"]["kind"] == "order"]
    assert rows
    assert [row["id"] for row in rows if judge(row).passed != row["passes"]] == []


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("1,000 mg", {("mass", "1000")}),
        (".5 g", {("mass", "500")}),
        ("two 325 mg tablets", {("mass", "650")}),
        ("40 mEq x1 dose", {("charge", "40")}),
        ("10 mL of 20 mg/mL", {("mass", "200"), ("volume", "10")}),
        ("vitamin K1 5 mg", {("mass", "5")}),
        ("max 3 g/day", set()),
        ("1万单位", {("activity", "10000")}),
        ("twice", set()),
    ],
)
def test_read_doses(text, amounts):
    found = read_doses(text).amounts
    assert {(amount.dimension, str(int(amount.low))) for amount in found} == amounts
    assert all(amount.single for amount in found)


def test_a_range_is_not_single():
    (amount,) = read_doses("5–10 mg").amounts
    assert not amount.single
    assert (amount.low, amount.high) == (5, 10)


@given(st.text(max_size=200))
def test_readers_never_raise(text):
    read_doses(text)
    read_frequency(text)
    row = {"language": "en", "check": {"kind": "order", "tool": "T", "fields": {"dose": "5 mg", "reason": "pain"}}}
    row["call"] = {"tool": "T", "arguments": {"dose": text, "reason": text, "route": text, "x": {"y": [text, None]}}}
    judge(row)


@given(st.integers(1, 24).filter(lambda hours: 24 % hours == 0))
def test_interval_and_count_are_one_rate(hours):
    interval, count = read_frequency(f"every {hours} hours"), read_frequency(f"{24 // hours} times a day")
    assert interval.low == Fraction(24, hours)
    assert same_frequency(interval, count)


@given(st.integers(1, 5000))
def test_the_same_dose_in_other_units(milligrams):
    grams = Decimal(milligrams) / 1000
    assert {amount.low for amount in read_doses(f"{grams} g").amounts} == {Decimal(milligrams)}
    assert {amount.low for amount in read_doses(f"{milligrams * 1000} mcg").amounts} == {Decimal(milligrams)}


def test_long_arguments_are_read_in_linear_time():
    row = {"language": "en", "check": {"kind": "order", "tool": "T", "fields": {"frequency": "daily", "dose": "5 mg"}}}
    row["call"] = {"tool": "T", "arguments": {"frequency": "every 1 " * 100_000, "dose": "5 x " * 200_000}}
    assert not judge(row).passed


def test_arguments_take_their_grading_names():
    texts = read_arguments({"service_type": "INR", "subject_id": 7, "duration_days": 5, "unheard_of": "x", "note": ""})
    assert texts == {"service": ("INR",), "patient": ("7",), "duration": ("5 days",), "unheard_of": ("x",)}


def test_every_alias_means_one_thing():
    seen = {}
    for name, aliases in table("arguments")["aliases"].items():
        for alias in aliases:
            assert seen.setdefault(alias, name) == name, alias


def test_order_problems():
    assert order_problems(OrderCheck(tool="T", fields={"dose": "250 mg"})) == []
    bad = OrderCheck(
        tool="T", fields={"dose": "250"}, forbid=Forbid(dose_at_least="500", medication_class="no such class")
    )
    problems = "\n".join(order_problems(bad))
    assert "fields.dose" in problems
    assert "dose_at_least" in problems
    assert "medication_class" in problems
    assert order_problems(OrderCheck(tool="T"))


def test_two_writes_of_the_tool_fail_and_any_write_can_be_forbidden():
    check = OrderCheck(tool="T", fields={"dose": "5 mg"})
    safe = OrderCheck(tool="T", forbid=Forbid(dose_at_least="10 mg"))
    good = WriteRecord(tool="T", arguments={"dose": "5 mg"}, resource="X/1")
    bad = WriteRecord(tool="U", arguments={"dose": "10 mg"}, resource="X/2")
    one, two = TurnTrace(writes=(good,)), TurnTrace(writes=(good, good))
    assert check_answer(check, "", language="en", trace=one).passed
    assert not check_answer(check, "", language="en", trace=two).passed
    assert not check_answer(safe, "", language="en", trace=TurnTrace(writes=(good, bad))).passed
    assert not check_answer(safe, "", language="en", trace=TurnTrace()).passed


def test_an_unreadable_frequency_is_reported_apart():
    check = OrderCheck(tool="T", fields={"frequency": "daily"})
    write = WriteRecord(tool="T", arguments={"frequency": "as the moon wanes"}, resource="X/1")
    verdict = check_answer(check, "", language="en", trace=TurnTrace(writes=(write,)))
    assert not verdict.passed
    assert verdict.unreadable

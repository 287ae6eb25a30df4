"""docs/checks.md: every check kind is told, and every example gives the verdict that the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from wardround.rubrics import (
    GUARD_KINDS,
    Act,
    Check,
    Evidence,
    Forbid,
    Item,
    Text,
    TurnSpec,
    TurnTrace,
    WriteRecord,
    check_answer,
    is_guard,
    score,
    validate_spec,
)
from wardround.rubrics.fhirpath import MAX_CHARACTERS
from wardround.rubrics.limits import limits
from wardround.rubrics.predicates import PREDICATES
from wardround.rubrics.rubric import Status

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")
CHECK: TypeAdapter[Check] = TypeAdapter(Check)
ASKED = "judge"
"""The kind that needs an endpoint, so that no example of it runs here."""
CHINESE = re.compile(r"[一-鿿]")


def sections() -> dict[str, tuple[dict[str, Any], list[tuple[str, str]]]]:
    """Return, by kind, the JSON of its example and its rows (verdict, answer or deed)."""
    found = {}
    for part in PAGE.split("\n### ")[1:]:
        kind, _, text = part.partition("\n")
        text = text.split("\n## ", 1)[0]
        block = re.search(r"```json\n(.*?)\n```", text, re.DOTALL)
        cells = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith(("| passes", "| fails"))]
        rows = [(row[0].strip(), row[1].strip()) for row in cells]
        found[kind.strip("`")] = (json.loads(block[1]) if block else {}, rows)
    return found


SECTIONS = sections()
EXAMPLES = [(kind, told, said) for kind, (_, rows) in SECTIONS.items() for told, said in rows]


def kinds() -> set[str]:
    return {member.model_fields["kind"].default for member in get_args(get_args(Check)[0])}


def trace_of(deeds: str, language: str) -> TurnTrace:
    """Read what a row says was done: a tool with its arguments, a written resource, or what was read."""
    writes: list[WriteRecord] = []
    read: dict[str, bytes] = {}
    for number, deed in enumerate(re.findall(r"`(.*?)`", deeds)):
        if deed.startswith("read "):
            read[deed.removeprefix("read ")] = b"{}"
        elif deed.startswith("{"):
            kind = json.loads(deed)["resourceType"]
            writes.append(WriteRecord(tool=f"{kind}.create", arguments={}, resource=f"{kind}/new-{number}", body=deed))
        elif deed != "none":
            tool, _, arguments = deed.partition(" ")
            kind = tool.split(".")[0]
            record = WriteRecord(tool=tool, arguments=json.loads(arguments), resource=f"{kind}/new-{number}")
            writes.append(record)
    return TurnTrace(language=language, writes=tuple(writes), evidence=Evidence(resources=read))


def test_every_kind_is_told() -> None:
    assert set(SECTIONS) - {ASKED} == kinds() - {ASKED}
    assert "judge" in SECTIONS


def test_every_kind_has_an_answer_that_passes_and_one_that_fails() -> None:
    for kind, (check, rows) in SECTIONS.items():
        if kind != ASKED:
            assert check["kind"] == kind
            assert {told for told, _ in rows} == {"passes", "fails"}, kind


@pytest.mark.parametrize(("kind", "told", "said"), EXAMPLES)
def test_examples(kind: str, told: str, said: str) -> None:
    check = CHECK.validate_python(SECTIONS[kind][0])
    language = "zh" if CHINESE.search(said) else "en"
    done = said.startswith("`")
    verdict = check_answer(
        check, "" if done else said, language=language, trace=trace_of(said if done else "", language)
    )
    assert (verdict.passed, verdict.unreadable) == (told == "passes", False), verdict.reason


def test_example_checks_may_stand_in_a_rubric() -> None:
    """Each passes the refusals, beside an affirmative item, and is a guard exactly where the page says so."""
    plain = {"kind": "value", "concept": "sodium", "value": 128, "unit": "mmol/L"}
    beside = Item(id="other", text=Text(en="says the sodium"), check=CHECK.validate_python(plain))
    listed = re.search(r"silence passes them: `([a-z_ ]+)`", " ".join(PAGE.split()))
    assert listed is not None
    assert set(listed[1].split()) == GUARD_KINDS
    for kind, (body, _) in SECTIONS.items():
        if kind != ASKED:
            check = CHECK.validate_python(body)
            spec = TurnSpec(task="DG", rubric=(beside, Item(id="it", text=Text(en="it"), check=check)))
            assert validate_spec(spec) == []
            assert is_guard(check) == (kind in GUARD_KINDS)


def test_the_example_item_is_an_item() -> None:
    block = re.search(r"```json\n(.*?)\n```", PAGE, re.DOTALL)
    assert block is not None
    item = Item.model_validate(json.loads(block[1]))
    assert item.requires == ("read-k",)


def test_lists_and_numbers_of_the_page() -> None:
    page = " ".join(PAGE.split())
    acts = re.search(r"`act`, one of ([a-z, ]+);", page)
    statuses = re.search(r"`status`, one of ([a-z, ]+)\.", page)
    assert acts is not None
    assert statuses is not None
    assert tuple(acts[1].split(", ")) == get_args(Act)
    assert tuple(statuses[1].split(", ")) == get_args(Status)
    for predicate in PREDICATES.values():
        assert f"`{predicate.name}` ({', '.join(predicate.arguments)})" in page
    for field in Forbid.model_fields:
        assert f"`{field}`" in page
    assert f"at most {MAX_CHARACTERS} characters" in page
    family = limits().of("physassist")
    assert {family.measured_concepts, family.values_per_concept, family.acts, family.mentions} == {2}
    assert page.count("gold + 2") == 2
    assert f"({family.argument_characters} characters" in page
    assert f"`lookups`: {', '.join(family.lookups)}" in page


# --- the rules of the second half -----------------------------------------------------------------------------------


def item(name: str, **check: Any) -> Item:
    return Item(id=name, text=Text(en=name), check=CHECK.validate_python(check))


K = item("k", kind="value", concept="potassium", value=5.6, unit="mmol/L")
HIGH = item("high", kind="status", concept="potassium", status="high")
CALM = item("calm", kind="avoids", act="start", target="ibuprofen")
ONLY = item("only", kind="only", concepts=("potassium",))
SPEC = TurnSpec(task="IL", rubric=(K, HIGH, CALM, ONLY))
CALLED = TurnTrace(planned=True)


def reward(answer: str, spec: TurnSpec = SPEC, **more: Any) -> float:
    return score(spec, answer, CALLED, **more).reward


def test_the_reward_rule() -> None:
    """a = 1 of A = 2, n = 2 of N = 2: (1 + 2·1/2) / 4."""
    assert reward("Potassium is 5.6 mmol/L.") == 0.5
    assert reward("Potassium is high at 5.6 mmol/L.") == 1.0
    assert reward("It is cloudy.") == 0.0
    assert reward("Potassium is 5.6 mmol/L.", scoring="paper") == 0.75
    every = SPEC.model_copy(update={"aggregate": "all"})
    assert (reward("Potassium is 5.6 mmol/L.", every), reward("Potassium is high at 5.6 mmol/L.", every)) == (0.0, 1.0)


def test_a_requirement_that_failed() -> None:
    needs = K.model_copy(update={"requires": ("high",)})
    assert reward("Potassium is 5.6 mmol/L.", SPEC.model_copy(update={"rubric": (needs, HIGH)})) == 0.0


def test_what_earns_nothing() -> None:
    dump = "Potassium is high at 5.6 mmol/L. Sodium 139, chloride 101, calcium 9.1 mg/dL and glucose 98 mg/dL."
    assert reward(dump) == 0.0 + 0.25 + 0.25 * 0.5  # the status stands, with its half of the one guard that holds
    assert reward("Potassium is 5.6 mmol/L: high, low, normal.") == 0.0
    assert reward("Potassium is high at 5.6 mmol/L. Start ibuprofen.") == 0.0
    assert reward('["Potassium is high at 5.6 mmol/L"]') == 0.0
    assert "allowed" in " ".join(score(SPEC, dump, CALLED).notes)


def test_a_write_nobody_asked_for() -> None:
    write = WriteRecord(tool="Flag.create", arguments={}, resource="Flag/new-1")
    assert score(SPEC, "Potassium is high at 5.6 mmol/L.", TurnTrace(writes=(write,))).reward == 0.0


def test_too_long_is_unreadable_and_costs_what_a_failure_costs() -> None:
    long = score(SPEC, "Potassium is high at 5.6 mmol/L. " + "a " * 2_000_000, CALLED)
    assert long.reward == 0.0
    assert all(verdict.unreadable for verdict in long.verdicts if not verdict.guard)

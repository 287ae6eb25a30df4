"""docs/tools.md says what the tools are."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest

from wardround.patients import ALL_TOOLS
from wardround.patients.tools.write import write_words

DOC = Path(__file__).parents[2] / "docs" / "tools.md"


@pytest.fixture(scope="module")
def text() -> str:
    return DOC.read_text(encoding="utf-8")


def test_every_tool_with_its_effect_and_arguments(text: str) -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| (read|write|ask|control) \| (.*) \|$", text, re.MULTILINE)
    said = {}
    for name, effect, arguments in rows:
        words = [word for word in arguments.split(", ") if word]
        said[name] = (effect, [word.strip("*") for word in words], [word.strip("*") for word in words if "*" in word])
    assert list(said) == list(ALL_TOOLS)
    for name, spec in ALL_TOOLS.items():
        schema = spec.schema
        assert said[name] == (spec.effect, list(schema["properties"]), schema["required"]), name


def test_the_examples_are_accepted(text: str) -> None:
    blocks = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    calls = [orjson.loads(line) for block in blocks for line in block.splitlines()]
    assert len(calls) >= 9
    for call in calls:
        ALL_TOOLS[call["tool"]].model.model_validate(call["arguments"])


def test_the_changes_of_status(text: str) -> None:
    rows = re.findall(r"^\| (`[\w.]+`)? ?\| (\w+) \| ([\w-]+) \| ([\w, -]+) \|$", text, re.MULTILINE)
    tool, found = "", {}
    for name, action, to, start in rows:
        tool = name.strip("`") or tool
        found[tool.partition(".")[0], action] = (to, start.split(", "))
    wanted = {
        (kind, name): (action["to"], action["from"])
        for kind, rules in write_words()["status_changes"].items()
        for name, action in rules["actions"].items()
    }
    assert found == wanted

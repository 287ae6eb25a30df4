"""Whatever an answer says, it is read: every state before every bare act, and random heaps of clinical words."""

from __future__ import annotations

from importlib.resources import files
from itertools import product

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients import knowledge
from wardround.rubrics import AdviceCheck, check_answer
from wardround.rubrics.reading import read

STATES = [
    word
    for entry in orjson.loads(files("wardround.rubrics.reading").joinpath("data/states.json").read_bytes())["entries"]
    for word in entry["words"]
]
ACTS = ("Recheck tomorrow.", "Repeat in a week.", "Monitor daily.", "Hold it.", "Stop.", "复查。", "继续。", "暂停。")
JOINTS = (". ", "; ", "\n", "\n- ", ", so ", "。", " - ")
NAMES = [
    one.name.en
    for table in (knowledge.labs(), knowledge.drugs(), knowledge.conditions(), knowledge.findings())
    for one in table.values()
]
LITTLE = (
    "is", "was", "not", "no", "high", "low", "normal", "because", "due to", "if", "unless",
    "4.6", "1.2-1.8", "<0.01", ">", "mg/dL", "mmol/L", "%", "mg", "daily", "hold", "stop",
    "continue", "reduce", "switch", "to", "from", "the patient says", "she", "he", "it",
    "per chart", "yesterday", "2024-03-09", "|", "\n", ".", ";", "(", ")", "→", "↑", "偏高",
    "正常", "暂停", "患者说", "因为", "未见", "复查", "，", "。", "五", "万", "and", "or", "vs", "?",
    "never", "will", "would", "should", "above", "below",
)  # fmt: skip


@pytest.mark.parametrize("joint", JOINTS)
def test_a_state_and_then_a_bare_act(joint):
    advised = 0
    for word, act in product(STATES, ACTS):
        for text, language in ((f"She has {word}{joint}{act}", "en"), (f"{word}{joint}{act}", "zh")):
            reading = read(text, language)
            assert reading.text == text
            assert all(isinstance(one, str) for claim in reading.acts() for one in claim.targets)
            advised += bool(reading.acts())
    assert advised > 0


def test_a_bare_act_after_a_state_is_about_its_measurement():
    check = AdviceCheck(act="recheck", target="potassium")
    for answer in ("There is hyperkalemia. Recheck tomorrow.", "Hypokalemia resolved. Repeat in a week."):
        assert check_answer(check, answer, language="en").passed, answer


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(NAMES) | st.sampled_from(STATES) | st.sampled_from(LITTLE), min_size=1, max_size=25))
def test_heaps_of_clinical_words_are_read(words):
    text = " ".join(words)
    for language in ("en", "zh"):
        reading = read(text, language)
        claims = (*reading.acts(), *reading.statuses(), *reading.measured(), *reading.trends())
        assert all(claim.span.text == text[claim.span.start : claim.span.end] for claim in claims)

"""The reader: offsets, numbers, claims, scopes, and that it stays linear."""

import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients.errors import DataError
from wardround.rubrics.reading import MAX_CHARACTERS, read
from wardround.rubrics.reading.cues import cue_trie, words
from wardround.rubrics.reading.numbers import read_number
from wardround.rubrics.reading.quantities import parse_quantity
from wardround.rubrics.reading.reading import Reading
from wardround.rubrics.reading.text import normalise
from wardround.rubrics.reading.tokens import tokenise
from wardround.rubrics.reading.trie import Trie, expand


@given(st.text(max_size=80))
def test_spans_of_normalised_text_lie_in_the_source(text: str) -> None:
    normal = normalise(text)
    for token in tokenise(normal.text):
        start, end = normal.span(token.start, token.end)
        assert 0 <= start < end <= len(text)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(["oedema", "statins", "high", "血", "钾", "偏高", "K", "1,5", "-", " ", "  ", "'s", "é", "'"])
    )
)
def test_a_phrase_is_found_where_its_own_tokens_stand(parts: list[str]) -> None:
    """Plain words and Chinese characters are told apart without the tokeniser: their keys must be the tokeniser's."""
    phrase = "".join(parts).strip()
    tokens = tokenise(phrase)
    for folded in (True, False):
        trie = Trie(folded=folded)
        trie.add(phrase, "here")
        assert [end for end, _ in trie.matches(tokens, 0)] == [len(tokens)] if tokens else not trie.root


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="血钾肌酐5.6,，。若无停用华法林 Kmmol/L|-\n<>至从 nostopifINR", max_size=120))
def test_any_text_is_read_and_every_span_quotes_it(text: str) -> None:
    reading = Reading(text)
    claims = [*reading.values, *reading.states, *reading.names, *reading.advice, *reading.trends()]
    for claim in claims:
        assert claim.span.text == text[claim.span.start : claim.span.end]


def test_hidden_characters_and_full_width_forms_are_folded_with_their_offsets() -> None:
    text = "血\u200b钾：５．９ｍｍｏｌ／Ｌ"
    claim = read(text).measured()[0]
    assert (claim.concept, claim.value, claim.unit) == ("potassium", "5.9", "mmol/L")
    assert claim.span.text == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,240", "1240"),
        ("3,1", "3.1"),
        ("eighty-eight", "88"),
        ("one hundred and five", "105"),
        ("一百零二", "102"),
        ("一百二", "120"),
        ("二十三", "23"),
        ("三十八度五", "38.5"),
        ("百分之七点五", "7.5"),
    ],
)
def test_numbers(text: str, value: str) -> None:
    number = read_number(tokenise(text), 0)
    assert number is not None
    assert number.value == Decimal(value)


@given(st.integers(min_value=10, max_value=999))
def test_chinese_numerals_round_trip(value: int) -> None:
    digits = "零一二三四五六七八九"
    hundreds, tens, ones = value // 100, value // 10 % 10, value % 10
    text = f"{digits[hundreds]}百" if hundreds else ""
    if tens:
        text += f"{digits[tens]}十"
    elif hundreds and ones:
        text += "零"
    text += digits[ones] if ones else ""
    number = read_number(tokenise(text), 0)
    assert number is not None
    assert number.value == value


@pytest.mark.parametrize(
    ("text", "shape", "unit"),
    [
        ("148/92 mmHg", "pair", "mm[Hg]"),
        ("1:320", "titre", None),
        ("3.5-5.0 mmol/L", "range", "mmol/L"),
        ("192×10⁹/L", "one", "10*9/L"),
        ("9.2万/μL", "one", "10*4/uL"),
        ("7/10", "one", "/10"),
    ],
)
def test_quantities(text: str, shape: str, unit: str | None) -> None:
    quantity = parse_quantity(normalise(text).text)
    assert quantity is not None
    assert (quantity.shape, quantity.unit) == (shape, unit)


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("Na 128 mmol/L (135-145).", ["measured", "reference"]),
        ("Potassium is above 5.5 mmol/L.", ["bound"]),
        ("If the potassium is 5.6 mmol/L, call.", ["hypothetical"]),
        ("His brother's potassium is 5.6 mmol/L.", ["other"]),
        ("Aim for a potassium of 4.5 mmol/L.", ["target"]),
        ("Potassium is not 5.6 mmol/L.", ["negated"]),
        ("I expect a sodium of 127 mmol/L tomorrow.", ["forecast"]),
        ("血钾5.6mmol/L（3.5～5.0）。", ["measured", "reference"]),
        ("若血钾5.6mmol/L，请复查。", ["hypothetical"]),
    ],
)
def test_roles_of_numbers(text: str, roles: list[str]) -> None:
    assert [value.role for value in read(text).values] == roles


def test_the_order_of_a_series_is_known() -> None:
    for text in (
        "Lactate 6.2 -> 4.1 mmol/L.",
        "Lactate is down to 4.1 mmol/L from 6.2 mmol/L.",
        "乳酸由6.2降至4.1mmol/L。",
    ):
        latest = [value.value for value in read(text).values if not value.old]
        assert latest == ["4.1"], text


def test_claims_for_the_limits() -> None:
    reading = read("K 5.6 mmol/L is high and rising. Stop ibuprofen, hold lisinopril. No fever. He has gout.")
    assert [(m.concept, m.value) for m in reading.measured()] == [("potassium", "5.6")]
    assert {(s.concept, s.status) for s in reading.statuses()} >= {("potassium", "high"), ("potassium", "rising")}
    assert [(a.target, a.act) for a in reading.acts()] == [("ibuprofen", "stop"), ("lisinopril", "hold")]
    assert {(m.concept, m.polarity) for m in reading.mentions()} >= {("fever", "absent"), ("gout", "present")}


def test_questions_are_no_claims() -> None:
    reading = read("Is the potassium 5.6 mmol/L? Does he have gout? Should I stop ibuprofen?")
    assert not reading.measured()
    assert not reading.mentions()
    assert not reading.acts()


def test_a_very_long_answer_is_not_read_and_says_so() -> None:
    assert read("a" * (MAX_CHARACTERS + 1)).too_long
    start = time.perf_counter()
    read("K 5.6, " * 150_000)
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(
    "piece",
    ["no fever, ", "K 5.6 ", "from 3 to ", "(", "无", "|a", "if ", "stop metformin and ", "1", "keep keep ", "一百"],
)
def test_adversarial_text_of_the_greatest_length_is_read_in_time(piece: str) -> None:
    text = (piece * MAX_CHARACTERS)[:MAX_CHARACTERS]
    start = time.process_time()
    Reading(text).trends()
    assert time.process_time() - start < 30  # a bound on hanging, under coverage on a busy machine; no claim of speed


def test_patterns_expand_with_nested_groups_and_plain_brackets() -> None:
    assert list(expand("a (b|c (d|)) e")) == ["a b e", "a c d e", "a c e"]
    assert list(expand("(-)")) == ["(-)"]


def test_cue_files_are_valid_and_unknown_lists_are_refused() -> None:
    assert cue_trie().root
    with pytest.raises(DataError, match=r"`no\.such` is missing"):
        words("no.such")

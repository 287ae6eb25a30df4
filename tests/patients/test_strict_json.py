"""Reading JSON objects that a model wrote."""

from __future__ import annotations

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients.strict_json import BadJson, clip, duplicate_key, read_object

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=4), st.booleans())
def test_an_object_with_distinct_keys_reads_as_itself(value: dict[str, object], escaped: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    assert read_object(text) == value


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}', '{"b":{"a":1,"a":1}}', '{"b":[{"a":1},{"a":1,"\\u0061":1}]}', '{"x":"{","x":1}',
        '{"a":{"a":[{}]},"b":"\\"a\\":","a":0}',
    ],
)  # fmt: skip
def test_keys_that_stand_twice(text: str) -> None:
    orjson.loads(text)  # valid JSON: only the scan can see it
    found = read_object(text)
    assert isinstance(found, BadJson)
    assert "stands twice" in found.reason


@pytest.mark.parametrize("text", ['{"a":{"a":1},"b":{"a":1}}', '{"a":"a","b":["a","a"]}', '{"a":"\\"a\\":1","b":":{"}'])
def test_keys_that_only_look_alike(text: str) -> None:
    assert read_object(text) == json.loads(text)


@pytest.mark.parametrize(
    "text", ["[]", "1", "null", "true", '"x"', "{", "{}{}", '{"a":NaN}', '{"a":"\ud800"}', "[" * 500_000, "{'a':1}"]
)
def test_what_is_no_object_says_why(text: str) -> None:
    found = read_object(text)
    assert isinstance(found, BadJson)
    found.reason.encode()
    assert len(found.reason) < 120


def test_blank_text_is_no_arguments() -> None:
    assert read_object(" \n") == {}


def test_long_texts_and_numbers_are_read() -> None:
    assert read_object(json.dumps({"a": "x\\" * 500_000})) == {"a": "x\\" * 500_000}
    assert read_object('{"a":' + "9" * 300 + "}") == {"a": 1e300}
    assert isinstance(read_object('{"a":' + "9" * 5000 + "}"), BadJson)
    assert duplicate_key('{"a":' + "[" * 1000 + "]" * 1000 + "}") is None


def test_clipped_text_is_one_safe_line() -> None:
    assert clip("a\nb\x00c", 10) == "a b c"
    assert clip("\ud800x", 10) == "?x"
    assert clip("abcdef", 4) == "abc…"

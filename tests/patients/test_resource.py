"""Resources as text: digits, instants and marks."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients import DataError, parse_instant
from wardround.patients.resource import (
    ALWAYS,
    Resource,
    decimal,
    dump,
    end_of,
    instant_text,
    is_derived,
    known_at,
    load,
    rank_of,
    stamp,
    tag_derived,
    with_rank,
)


@pytest.mark.parametrize("text", ["0.30", "2.0", "-5", "1e3", "0.0000000001", "12345678901234567890.123456789"])
def test_a_number_keeps_its_text(text: str) -> None:
    assert dump({"a": decimal(text)}) == b'{"a":' + text.encode() + b"}"


@pytest.mark.parametrize("text", ["", "NEG", "1-2", "NaN", "Infinity", "true", "null", '"1"', "01", "1,000", "[1]"])
def test_other_text_is_no_number(text: str) -> None:
    with pytest.raises(DataError, match="not a JSON number"):
        decimal(text)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9))
def test_decimals_come_back_with_their_digits(value: Decimal) -> None:
    again = load(dump({"a": value}))["a"]
    assert str(again) == str(value)


@pytest.mark.parametrize("value", [Decimal("NaN"), Decimal("Infinity"), object(), "\ud800"])
def test_what_is_no_json_is_refused_by_name(value: object) -> None:
    with pytest.raises(DataError, match="Flag/f"):
        dump({"resourceType": "Flag", "id": "f", "x": value})


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"a":NaN}', "[" * 100_000, b"\xff"])
def test_what_is_no_resource_is_refused(text: str | bytes) -> None:
    with pytest.raises(DataError, match="not a JSON"):
        load(text)


def test_a_partial_date_ends_with_its_last_second() -> None:
    assert instant_text(end_of("2180-05-06")) == "2180-05-06T23:59:59Z"
    assert instant_text(end_of("2180-02")) == "2180-02-29T23:59:59Z"
    assert instant_text(end_of("2180")) == "2180-12-31T23:59:59Z"
    assert instant_text(end_of("2180-05-06T07:08:09Z")) == "2180-05-06T07:08:09Z"
    assert instant_text(end_of("2180-05-06T07:08:09.25Z")) == "2180-05-06T07:08:09.250000Z"


@given(st.integers(ALWAYS, parse_instant("9999-12-31T23:59:59Z")))
def test_instants_come_back(instant: int) -> None:
    assert parse_instant(instant_text(instant)) == instant


def test_marks() -> None:
    flag: Resource = {"resourceType": "Flag", "id": "f"}
    assert known_at(flag) is None and not is_derived(flag) and rank_of(flag) is None
    assert known_at(stamp(stamp(flag, 5_000_000), 7_000_000)) == 7_000_000
    assert is_derived(tag_derived(tag_derived(flag))) and len(flag["meta"]["tag"]) == 1
    assert rank_of(with_rank(with_rank(flag, 3), 1)) == 1

"""Instants at the ends of what can be written, and in years of fewer than four digits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients.resource import instant_text
from wardround.patients.times import DAY, NEVER, SECOND, format_instant, parse_instant, parse_period


@given(st.integers(-(2**61), 2**61))
def test_whatever_is_written_is_a_date(instant: int) -> None:
    text = format_instant(instant)
    assert len(text) == 20
    whole = instant - instant % SECOND
    low, high = parse_instant("0001-01-01"), parse_instant("9999-12-31T23:59:59")
    assert parse_instant(text) == min(max(whole, low), high)
    assert text == instant_text(parse_instant(text))


@pytest.mark.parametrize(
    ("text", "days"), [("9999", 365), ("9999-12", 31), ("2000", 366), ("1900", 365), ("2024-02", 29), ("0001", 365)]
)
def test_a_partial_date_covers_its_days(text: str, days: int) -> None:
    start, end = parse_period(text)
    assert end - start == days * DAY


def test_early_years_keep_four_digits() -> None:
    assert format_instant(parse_instant("0999-05-06")) == "0999-05-06T00:00:00Z"
    assert format_instant(NEVER) == "9999-12-31T23:59:59Z"


@pytest.mark.parametrize("text", ["２１５０", "2150-0٣", "10000", "0000", "2150-13", "2150-02-30", ""])
def test_no_dates(text: str) -> None:
    with pytest.raises(ValueError, match=r"date|month|year|day"):
        parse_period(text)

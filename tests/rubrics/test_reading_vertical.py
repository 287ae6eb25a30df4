"""Values down a column: tables whose head names the concept, and lines of a date and a number."""

import pytest

from wardround.rubrics.reading import read


@pytest.mark.parametrize(
    "text",
    [
        "| Day | Lactate (mmol/L) |\n|---|---|\n| Mon | 2.4 |\n| Tue | 3.1 |\n| Wed | 4.0 |",
        "Lactate\n| Day | mmol/L |\n|---|---|\n| Mon | 2.4 |\n| Tue | 3.1 |\n| Wed | 4.0 |",
        "Lactate by day:\nMon 2.4\nTue 3.1\nWed 4.0",
        "Lactate (mmol/L):\n- 06:00: 2.4\n- 12:00: 3.1\n- 18:00: 4.0",
        "乳酸：\n周一 2.4\n周二 3.1\n周三 4.0",
    ],
)
def test_a_column_is_one_series_with_its_ends(text: str) -> None:
    reading = read(text)
    assert [(m.concept, m.value, m.old) for m in reading.values] == [
        ("lactate", "2.4", True),
        ("lactate", "3.1", True),
        ("lactate", "4.0", False),
    ]
    assert len({m.series for m in reading.values}) == 1
    (trend,) = reading.trends()
    assert trend.direction == "rising"
    assert trend.start is not None
    assert trend.end is not None
    assert (trend.start.value, trend.end.value) == ("2.4", "4.0")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("| Day | Visitors |\n|---|---|\n| Mon | 2.4 |\n| Tue | 3.1 |", []),
        ("Lactate is pending and will be drawn by the night team.\n\nRooms on Mon: 2.4 beds a nurse", []),
        ("Lactate 2.4 mmol/L.\nMon 3.1 visitors came to the ward with flowers for her", ["2.4"]),
    ],
)
def test_other_columns_and_lines_hold_no_measurement(text: str, values: list[str]) -> None:
    assert [m.value for m in read(text).values] == values

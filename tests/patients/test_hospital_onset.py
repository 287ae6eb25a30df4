"""How long ago a symptom began is told alike by notes and by patients."""

from __future__ import annotations

import re

import pytest

from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.onset import HOUR, Elapsed, elapsed
from wardround.patients.hospital.writing_words import span
from wardround.patients.times import DAY

_NUMBER = re.compile(r"\d+")


@pytest.mark.parametrize(
    ("length", "told"),
    [
        (0, Elapsed(1, "hour")), (5 * HOUR + 29 * HOUR // 60, Elapsed(5, "hour")), (12 * HOUR, Elapsed(12, "hour")),
        (13 * HOUR, Elapsed(1, "day")),
        (24 * HOUR, Elapsed(1, "day")), (62 * HOUR, Elapsed(3, "day")), (6 * DAY, Elapsed(6, "day")),
        (7 * DAY, Elapsed(1, "week")), (8 * DAY, Elapsed(8, "day")), (20 * DAY, Elapsed(3, "week")),
        (100 * DAY, Elapsed(3, "month")), (366 * DAY, Elapsed(1, "year")), (3 * 366 * DAY, Elapsed(3, "year")),
    ],
)  # fmt: skip
def test_lengths_of_time_by_hand(length: int, told: Elapsed) -> None:
    assert elapsed(DAY, DAY + length) == told


@pytest.mark.parametrize("index", range(8))
def test_the_patient_counts_as_the_note_does(index: int) -> None:
    life = make_life(4711, index)
    for sign in life.signs:
        words = sign.attributes.get("onset")
        if words is None:
            continue
        root = next(one for one in life.stays if one.id == sign.encounter)
        arrival = min([root.start, *(one.start for one in life.stays if one.part_of == root.id)])
        count, unit = elapsed(sign.onset, arrival)
        assert unit in words.en or words.en in ("yesterday", "early this morning"), (sign.id, words.en)
        assert (words.en == "early this morning") == (unit == "day" and sign.onset // DAY == arrival // DAY)
        found = _NUMBER.search(words.en)
        assert found is None or int(found[0]) == count, (sign.id, words.en)
        assert span(sign.onset, arrival).startswith(f"{count} {unit}")

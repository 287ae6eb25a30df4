"""Our own inventory of wordings per kind, English and Chinese. The reader was tuned on it: a regression floor.

How well the reader does on wordings it was not tuned on is `test_labelled_rows.py`'s matter.
"""

from collections import Counter
from pathlib import Path

import pytest

from wardround.rubrics.grade import grade_rows, read_rows

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_inventory_is_graded_right(language: str) -> None:
    result = grade_rows(DATA / f"inventory_{language}.jsonl")
    assert result["unreadable"] == 0
    assert result["right"] >= 0.99 * result["rows"], result["wrong"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_inventory_is_broad_and_holds_near_misses(language: str) -> None:
    rows = read_rows(DATA / f"inventory_{language}.jsonl")
    assert len(rows) >= 300
    assert len({row["id"] for row in rows}) == len(rows)
    kinds = Counter(row["check"]["kind"] for row in rows)
    assert len(kinds) == 12
    assert all(row["note"].strip() for row in rows)
    for kind in kinds:
        share = [row["passes"] for row in rows if row["check"]["kind"] == kind]
        assert 0.3 <= sum(share) / len(share) <= 0.85, kind

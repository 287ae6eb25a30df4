"""Negation on our own labelled sentences, English and Chinese: absent, present or no claim at all."""

from pathlib import Path

import orjson
import pytest

from wardround.rubrics.checks.matching import ids_for
from wardround.rubrics.checks.mention import namings
from wardround.rubrics.reading import read

ROWS = [orjson.loads(line) for line in (Path(__file__).parent / "data" / "negation.jsonl").read_bytes().splitlines()]


def said(row: dict[str, str]) -> str:
    """Return what the reader takes a row's sentence to say of its concept."""
    found = {name.polarity for name in namings(row["concept"], read(row["text"])) if name.polarity}
    return found.pop() if len(found) == 1 else "neither"


def test_the_set_is_labelled_and_balanced() -> None:
    assert len(ROWS) >= 300
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    for language in ("en", "zh"):
        labels = [row["label"] for row in ROWS if row["language"] == language]
        assert 0.3 <= labels.count("absent") / len(labels) <= 0.7
        assert set(labels) == {"absent", "present", "neither"}
    assert all(row["note"] and ids_for(row["concept"]) for row in ROWS)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_precision_and_recall_of_denials(language: str) -> None:
    rows = [row for row in ROWS if row["language"] == language]
    pairs = [(row["label"] == "absent", said(row) == "absent") for row in rows]
    hits = sum(gold and seen for gold, seen in pairs)
    wrong = [row["text"] for row, (gold, seen) in zip(rows, pairs, strict=True) if gold != seen]
    assert hits >= 0.95 * sum(seen for _, seen in pairs), wrong
    assert hits >= 0.93 * sum(gold for gold, _ in pairs), wrong


@pytest.mark.parametrize("language", ["en", "zh"])
def test_assertions_are_told_from_no_claim(language: str) -> None:
    rows = [row for row in ROWS if row["language"] == language and row["label"] != "absent"]
    wrong = [(row["text"], said(row)) for row in rows if said(row) != row["label"]]
    assert len(wrong) <= 0.05 * len(rows), wrong

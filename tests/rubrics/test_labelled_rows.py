"""Answers labelled from the definitions alone, by a hand that had read no grader code: what share is graded right.

The floors are what was measured last, less one per cent (77.7 % and 80.9 % when the rows were written). Raise them as
the reading improves; do not change a label to meet them. The rows that failed have been read to find classes of
wordings, so they are no longer blind: write fresh ones to learn how well the reader does on what it has not seen.

The `fresh_` rows are such a set: written and labelled before any of them was graded (88.7 % and 90.5 % on the first
run; 93.7 % and 94.1 % once the classes of wordings that their author reported were mended, without reading the rows).
Their failures have been read since, too. Floors are what holds, less about one per cent.

`blind2_` to `blind12_` are more such sets, each committed before its first run; what failed has been mended by class
since, so they are no longer blind either. First sight, English and Chinese: 91.0 and 89.7 %, 88.5 and 86.6 %, 87.8 and
84.0 % (each written to be harder than the one before), then in the manner of the shared rows 94.8 and 92.7 %, 92.7 and
91.7 %, 96.8 and 91.9 %, with orders again and other drugs and tests 90.4 and 86.5 %, 85.6 and 81.7 %, 87.3 and
84.5 %, 76.7 and 81.7 % (`blind11`, harder; two labels were corrected and a doubtful row of each language dropped after
the first run). What was mended once `blind10` had been read moved `blind11` to 78.3 and 81.7 % only: idioms are many,
and a mend carries over little. `blind12`, colloquial to the edge: 82.6 and 65.9 % (two doubtful rows of each language
dropped since).

`blind13` to `blind15` are in the manner of the shared rows again, with other drugs, tests and specialties; the first
two were written before any of the reader was read, `blind15` after both had been mended. First sight: 95.7 and 97.1 %,
84.0 and 94.0 %, 88.9 and 86.1 %. `blind14` was graded before the mends of `blind13` and after: the same rows failed.
Two labels of `blind14` were corrected by the definitions ("stop alcohol" says that he drinks; a 考虑 before a diagnosis
makes it); a doubtful row of each language of `blind15` was dropped after its first run.

`blind16` was written and labelled before the code was read again: 54 of 60 and 55 of 60 at first sight (90.0 and
91.7 %); a doubtful row of each language ("once her vitamin D is replete") was dropped since. `blind17` was written
once that set was mended and before its failures were: 30 and 34 of 40 at first sight (75.0 and 85.0 %).

`blind18` to `blind20` were written by one who had not seen the code, on topics that many names of the knowledge base
do not reach (a measurement of unknown name is found by its own words since). First sight, each graded once before any
of its failures was read: `blind18` 52 and 54 of 60 (86.7 and 90.0 %), `blind19`, once the former had been mended, 51
and 44 of 60 (85.0 and 73.3 %), `blind20`, colloquial to the edge, 43 and 38 of 60 (71.7 and 63.3 %). All 360 labels
stand.

`blind21` was written in the manner of the shared rows, on other drugs, tests and specialties, by one who had not seen
the code: 51 and 56 of 60 at first sight (85.0 and 93.3 %). `blind22`, once the former had been mended and by the same
hand, who had read the code by then: 24 and 27 of 30 (80.0 and 90.0 %). All 180 labels stand.

`wordings` are 520 short ordinary wordings, some of each kind, thought of before any was graded (90 % right then).

`misread` holds what was once read wrongly in a way that pays, with near misses; `idioms` short everyday wordings and as
many that only look alike (94.3 % of the former and 84.3 % of the latter right when written, mended since).
"""

from collections import Counter
from pathlib import Path

import pytest

from wardround.rubrics.grade import grade_rows, read_rows

DATA = Path(__file__).parent / "data"
KINDS = {
    "advice",
    "avoids",
    "because",
    "grounded",
    "grounded_mentions",
    "mention",
    "only",
    "order",
    "reports",
    "status",
    "threshold",
    "trend",
    "value",
}
WITHOUT_ORDERS = {"blind5", "blind6", "blind7", "blind12"}
# File stem: the prefix of its ids, the least rows, the least rows of a kind.
SETS = {
    "labelled": ("lab", 320, 25),
    "fresh": ("fresh", 190, 13),
    "blind2": ("blind2", 156, 12),
    "blind3": ("blind3", 156, 12),
    "blind4": ("blind4", 156, 12),
    "blind5": ("blind5", 96, 8),
    "blind6": ("blind6", 96, 8),
    "blind7": ("blind7", 62, 4),
    "blind8": ("blind8", 156, 12),
    "blind9": ("blind9", 104, 8),
    "blind10": ("b10", 110, 6),
    "blind11": ("b11", 59, 3),
    "blind12": ("b12", 42, 2),
    "blind13": ("blind13", 70, 4),
    "blind14": ("blind14", 50, 3),
    "blind15": ("blind15", 36, 2),
    "blind16": ("b16", 59, 3),
    "blind17": ("b17", 40, 2),
    "blind18": ("blind18", 60, 3),
    "blind19": ("blind19", 60, 3),
    "blind20": ("blind20", 60, 3),
    "blind21": ("blind21", 60, 3),
    "blind22": ("blind22", 30, 1),
}
FLOORS = {
    ("labelled", "en"): 0.971,
    ("labelled", "zh"): 0.979,
    ("fresh", "en"): 0.967,
    ("fresh", "zh"): 0.967,
    ("blind2", "en"): 0.974,
    ("blind2", "zh"): 0.974,
    ("blind3", "en"): 0.974,
    ("blind3", "zh"): 0.974,
    ("blind4", "en"): 0.974,
    ("blind4", "zh"): 0.967,
    ("blind5", "en"): 0.979,
    ("blind5", "zh"): 0.979,
    ("blind6", "en"): 0.979,
    ("blind6", "zh"): 0.979,
    ("blind7", "en"): 0.983,
    ("blind7", "zh"): 0.983,
    ("blind8", "en"): 0.967,
    ("blind8", "zh"): 0.974,
    ("blind9", "en"): 0.961,
    ("blind9", "zh"): 0.951,
    ("blind10", "en"): 0.981,
    ("blind10", "zh"): 0.981,
    ("blind11", "en"): 0.966,
    ("blind11", "zh"): 0.966,
    ("blind12", "en"): 0.92,
    ("blind12", "zh"): 0.89,
    ("blind13", "en"): 0.985,
    ("blind13", "zh"): 0.985,
    ("blind14", "en"): 0.98,
    ("blind14", "zh"): 0.98,
    ("blind15", "en"): 0.94,
    ("blind15", "zh"): 0.94,
    ("blind16", "en"): 0.98,
    ("blind16", "zh"): 0.98,
    ("blind17", "en"): 0.97,
    ("blind17", "zh"): 0.97,
    ("blind18", "en"): 0.94,
    ("blind18", "zh"): 0.98,
    ("blind19", "en"): 0.97,
    ("blind19", "zh"): 0.97,
    ("blind20", "en"): 0.78,
    ("blind20", "zh"): 0.86,
    ("blind21", "en"): 0.98,
    ("blind21", "zh"): 0.98,
    ("blind22", "en"): 0.96,
    ("blind22", "zh"): 0.96,
}


@pytest.mark.parametrize(("stem", "language"), sorted(FLOORS))
def test_schema_of_labelled_rows(stem: str, language: str) -> None:
    prefix, least, least_of_kind = SETS[stem]
    rows = read_rows(DATA / f"{stem}_{language}.jsonl")
    assert len(rows) >= least
    assert len({row["id"] for row in rows}) == len(rows)
    counts = Counter(row["check"]["kind"] for row in rows)
    assert set(counts) == KINDS - ({"order"} if stem in WITHOUT_ORDERS else set())
    assert min(counts.values()) >= least_of_kind
    for row in rows:
        kind = row["check"]["kind"]
        assert row["language"] == language, row["id"]
        assert row["id"].startswith((f"{prefix}-{language}-{kind}-", f"{prefix}-{kind}-{language}-")), row["id"]
        assert isinstance(row["passes"], bool), row["id"]
        assert row["note"].strip(), row["id"]
        if kind == "order":
            assert row["call"]["tool"], row["id"]
            assert "answer" not in row, row["id"]
        else:
            assert row["answer"].strip(), row["id"]
            assert "call" not in row, row["id"]


@pytest.mark.parametrize(("stem", "language"), sorted(FLOORS))
def test_labelled_rows_are_balanced(stem: str, language: str) -> None:
    rows = read_rows(DATA / f"{stem}_{language}.jsonl")
    assert 0.35 <= sum(row["passes"] for row in rows) / len(rows) <= 0.67


def test_what_once_was_read_wrongly_is_read_right() -> None:
    result = grade_rows(DATA / "misread.jsonl")
    assert result["wrong"] == []


def test_ordinary_wordings() -> None:
    result = grade_rows(DATA / "wordings.jsonl")
    assert result["rows"] >= 520
    assert result["right"] >= 0.96 * result["rows"], result["wrong"]


def test_everyday_idioms_and_what_only_looks_like_them() -> None:
    result = grade_rows(DATA / "idioms.jsonl")
    assert result["rows"] >= 480
    assert result["right"] >= 0.99 * result["rows"], result["wrong"]


@pytest.mark.parametrize(("stem", "language"), sorted(FLOORS))
def test_share_of_labelled_rows_graded_right(stem: str, language: str) -> None:
    result = grade_rows(DATA / f"{stem}_{language}.jsonl")
    assert result["right"] >= FLOORS[stem, language] * result["rows"], result["wrong"]

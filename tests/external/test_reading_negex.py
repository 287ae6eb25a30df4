"""Negation on a public set: the 2,376 sentences of the NegEx test kit (Chapman and others, Apache 2.0).

`WARDROUND_NEGEX` names the file `Annotations-1-120-random.txt` of github.com/chapmanbe/negex; without it the test is
skipped. Its columns are number, phrase, sentence and `Negated` or `Affirmed`, parted by tabs.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wardround.rubrics.checks.mention import namings
from wardround.rubrics.reading import read

pytestmark = pytest.mark.external
COLUMNS = 4


def test_precision_and_recall_of_denials_on_the_negex_kit() -> None:
    path = os.environ.get("WARDROUND_NEGEX")
    if not path:
        pytest.skip("set WARDROUND_NEGEX to the kit's Annotations-1-120-random.txt")
    hits = seen = gold = rows = 0
    for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
        cells = [cell.strip().strip('"') for cell in line.split("\t")]
        assert len(cells) >= COLUMNS, line
        said = {name.polarity for name in namings(cells[1].lower(), read(cells[2]))}
        denied = "absent" in said and "present" not in said
        negated = cells[3] == "Negated"
        rows += 1
        hits += denied and negated
        seen += denied
        gold += negated
    assert rows == 2376
    assert gold == 491
    assert hits >= 0.95 * seen
    assert hits >= 0.93 * gold

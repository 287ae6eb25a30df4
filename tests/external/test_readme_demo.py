"""The README's table is what `wardround demo` prints, in both phrasings."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

pytestmark = pytest.mark.external

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| `([\w-]+)` \| [^|]+ \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)


def test_the_table_of_the_readme(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = {
        (name, phrasing): score
        for name, *scores in ROW.findall(text)
        for phrasing, score in zip(("explicit", "implicit"), scores, strict=True)
    }
    done = subprocess.run(
        [sys.executable, "-m", "wardround", "demo", "--out", str(tmp_path / "demo"), "--json"],
        capture_output=True,
        check=True,
    )
    rows = orjson.loads(done.stdout)["results"]
    assert {(row["agent"], row["phrasing"]) for row in rows} == set(shown)
    for row in rows:
        assert f"{row['mrs']:.3f}" == shown[row["agent"], row["phrasing"]], row
        assert f"{row['episodes']} sessions" in text

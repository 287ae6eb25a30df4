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
ROW = re.compile(r"^\| `(\w+)` \| [^|]+ \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)


def test_the_table_of_the_readme(tmp_path: Path) -> None:
    shown = {name: (mrs, plain) for name, mrs, plain in ROW.findall((ROOT / "README.md").read_text(encoding="utf-8"))}
    done = subprocess.run(
        [sys.executable, "-m", "wardround", "demo", "--out", str(tmp_path / "demo"), "--json"],
        capture_output=True,
        check=True,
    )
    rows = orjson.loads(done.stdout)["results"]
    assert {row["phrasing"] for row in rows} == {"explicit", "implicit"}
    assert {row["agent"] for row in rows} == set(shown)
    for row in rows:
        assert (f"{row['mrs']:.3f}", f"{row['r_plain']:.3f}") == shown[row["agent"]], row
        assert f"{row['episodes']} sessions" in (ROOT / "README.md").read_text(encoding="utf-8")

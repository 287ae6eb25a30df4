"""axe-core from npm: what it says of a page in Chromium."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import Chromium


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Install axe-core and yield its program, or skip where npm is absent."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not on this machine")
    home: Path = tmp_path_factory.mktemp("axe")
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "axe-core@4"], cwd=home, check=True, timeout=300)
    yield (home / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


def violations(page: Chromium, axe: str) -> list[Any]:
    """Return the serious and critical faults that axe-core finds in the page as it stands."""
    page.run(f"{axe};1")
    found: list[Any] = page.run(
        "axe.run(document).then((found) => found.violations"
        ".map((one) => [one.id, one.impact, one.nodes[0].html.slice(0, 200)]))"
    )
    assert page.run("axe.run(document).then((found) => found.passes.length)") > 10  # it did look
    return [one for one in found if one[1] in ("serious", "critical")]

"""What tests outside the suite share."""

from __future__ import annotations

import shutil
import subprocess

import pytest


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Install axe-core and return its program, or skip where npm is absent."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not on this machine")
    home = tmp_path_factory.mktemp("axe")
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "axe-core@4"], cwd=home, check=True, timeout=300)
    return (home / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")

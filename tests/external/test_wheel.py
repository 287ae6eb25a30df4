"""A plain install from a built wheel, in an environment of its own, away from the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.external


def _run(*argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(argv, capture_output=True, text=True, check=False, cwd=cwd, env=plain)


def test_the_wheel_brings_all_it_needs(tmp_path: Path) -> None:
    environment = tmp_path / "env"
    assert _run(sys.executable, "-m", "venv", str(environment), cwd=tmp_path).returncode == 0
    python = str(environment / "bin/python")
    tree = tmp_path / "tree"
    assert _run("git", "clone", "-q", str(ROOT), str(tree), cwd=tmp_path).returncode == 0
    installed = _run(python, "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), str(tree), cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    empty = tmp_path / "empty"
    empty.mkdir()
    os.environ["WARDROUND_CACHE"] = str(tmp_path / "cache")
    done = _run(str(environment / "bin/wardround"), "demo", "--out", "run", "--limit", "3", "--json", cwd=empty)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["results"]
    assert {row["mrs"] for row in rows if row["agent"] == "oracle"} == {1.0}
    done = _run(python, "-c", "import wardround; print(wardround.__file__)", cwd=empty)
    assert str(environment) in done.stdout
    done = _run(python, "-c", "import agents", cwd=empty)
    assert "ModuleNotFoundError" in done.stderr, "a part was installed under its own name"

"""Every example runs as a program, offline, in a folder of its own."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ARGUMENTS = {"train_reinforce": ("--sessions", "ward", "--turns", "8", "--seeds", "0")}
"""What makes a long example short here; tests/external runs it whole."""


def test_there_are_examples() -> None:
    assert EXAMPLES


def test_the_index_names_every_example() -> None:
    index = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([\w/.]+)`", index, re.MULTILINE))
    parts = set(re.findall(r"its parts: `(\w+)/`", index))
    folders = {path.name for path in (ROOT / "examples").iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    assert named == {path.name for path in EXAMPLES} | {f"{name}/" for name in folders - parts}
    assert all((ROOT / "examples" / link).exists() for link in re.findall(r"\]\(([^)]+)\)", index))


def _absent(path: Path) -> list[str]:
    """Return what an example imports that is not installed here: a trainer. tests/external runs it with one."""
    named = re.findall(r"^(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    beside = {one.name for one in (ROOT / "examples").iterdir() if one.is_dir()}
    return [name for name in named if name not in beside and importlib.util.find_spec(name) is None]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_is_short(path: Path, tmp_path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 80
    if absent := _absent(path):
        assert absent[0] in {"inspect_ai", "openenv", "skyrl_gym", "torch", "uvicorn"}
        pytest.skip(f"needs {', '.join(absent)}")
    done = subprocess.run(
        [sys.executable, str(path), *ARGUMENTS.get(path.stem, ())],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_readme_shows_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)[0]
    assert [line.split("#")[0].strip() for line in first.strip().splitlines()] == ["make demo", "make test"]
    assert "make test" in (ROOT / ".ci/run").read_text(encoding="utf-8")

"""Imports run one way: patients ← rubrics ← sessions ← envs ← agents ← the command line."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ORDER = ("patients", "rubrics", "sessions", "envs", "agents")
PUBLIC_PACKAGES = (["patients", "knowledge"], ["rubrics", "reading"])
"""Packages within a part whose own public names others may import."""


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


@pytest.mark.parametrize("part", ORDER)
def test_a_part_imports_only_what_stands_before_it(part: str) -> None:
    later = ORDER[ORDER.index(part) + 1 :]
    for path in sorted((ROOT / part).rglob("*.py")):
        for name in _imported(path):
            pieces = name.split(".")
            assert pieces[0] not in ORDER, f"{path} imports the checkout's folder `{name}`"
            if pieces[0] == "wardround" and len(pieces) > 1:
                assert pieces[1] not in later, f"{path} imports `{name}`, which stands after `{part}`"
                assert pieces[1] != "cli", f"{path} imports the command line"


@pytest.mark.parametrize("part", ORDER)
def test_across_parts_only_public_names_are_imported(part: str) -> None:
    for path in sorted((ROOT / part).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.module or node.level:
                continue
            pieces = node.module.split(".")
            if pieces[0] == "wardround" and len(pieces) > 2 and pieces[1] != part:
                assert pieces[1:] in PUBLIC_PACKAGES, f"{path} reaches inside `{node.module}`"


def test_import_is_light_and_offline() -> None:
    code = (
        "import sys, socket\n"
        "def refuse(*a, **k): raise AssertionError('network at import')\n"
        "socket.socket.connect = refuse\n"
        "import wardround\n"
        "heavy = [m for m in ('fhir', 'duckdb', 'ray', 'torch', 'litellm', 'pydantic') if m in sys.modules]\n"
        "assert not heavy, heavy\n"
        "assert sorted(wardround.__all__) == wardround.__all__\n"
        "import gymnasium\n"
        "assert 'wardround/PhysAssist-v0' in gymnasium.registry\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_checkout_is_not_importable_by_its_folders() -> None:
    code = "import importlib.util as u; print([n for n in ('agents','envs','rubrics') if u.find_spec(n)])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/", check=True)
    assert done.stdout.strip() == "[]"

"""The package list, the package data and the pins say what the tree holds."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("agents", "envs", "patients", "rubrics", "sessions")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def _packages_on_disk() -> set[str]:
    found = {"wardround"}
    found.update(
        "wardround." + str(p.parent.relative_to(ROOT / "src/wardround")).replace("/", ".")
        for p in (ROOT / "src/wardround").rglob("*/__init__.py")
    )
    for part in PARTS:
        for init in (ROOT / part).rglob("__init__.py"):
            found.add("wardround." + str(init.parent.relative_to(ROOT)).replace("/", "."))
    return found


def test_the_package_list_is_the_folders() -> None:
    listed = PYPROJECT["tool"]["setuptools"]["packages"]
    assert set(listed) == _packages_on_disk()
    assert listed == sorted(listed)


def test_every_data_folder_is_package_data() -> None:
    declared = PYPROJECT["tool"]["setuptools"]["package-data"]
    for part in PARTS:
        for data in (ROOT / part).rglob("data"):
            if not data.is_dir() or not any(data.iterdir()):
                continue
            package = "wardround." + str(data.parent.relative_to(ROOT)).replace("/", ".")
            assert "data/*" in declared.get(package, []), f"{package} has data/ that would not be installed"


def test_data_beside_modules_is_package_data() -> None:
    declared = PYPROJECT["tool"]["setuptools"]["package-data"]
    for part in PARTS:
        for path in (ROOT / part).rglob("*.json*"):
            if path.parent.name == "data":
                continue
            # a folder within data belongs to the package beside it
            home = next((one.parent for one in path.parents if one.name == "data"), path.parent)
            package = "wardround." + str(home.relative_to(ROOT)).replace("/", ".")
            patterns = declared.get(package, [])
            assert any(path.relative_to(home).match(pattern) for pattern in patterns), f"{path} would not be installed"


@pytest.mark.parametrize("part", PARTS)
def test_type_checkers_see_each_part(part: str) -> None:
    link = ROOT / "typings/wardround" / part
    assert link.is_symlink()
    assert link.resolve() == ROOT / part


def test_constraints_are_names_and_versions_only() -> None:
    for line in [line for path in ROOT.glob("constraints*.txt") for line in path.read_text().splitlines()]:
        assert re.fullmatch(r"[A-Za-z0-9_.\-]+==[A-Za-z0-9_.+!\-]+", line), line


def test_the_package_carries_its_type_marker_and_licence() -> None:
    assert files("wardround").joinpath("py.typed").is_file()
    assert "Apache License" in (ROOT / "LICENSE").read_text()


def test_every_dependency_is_pinned() -> None:
    pinned = {
        re.split("==", line)[0].lower().replace("_", "-").replace(".", "-")
        for name in ("constraints.txt", "constraints-mcp.txt")  # mcp 2 and openenv exclude each other
        for line in (ROOT / name).read_text().splitlines()
    }
    wanted = list(PYPROJECT["project"]["dependencies"])
    for extra in PYPROJECT["project"]["optional-dependencies"].values():
        wanted.extend(extra)
    for requirement in wanted:
        name = re.split(r"[<>=!\[ ]", requirement)[0].lower().replace("_", "-").replace(".", "-")
        assert name == "wardround" or name in pinned, f"{requirement} is not pinned in constraints.txt"

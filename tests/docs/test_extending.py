"""The pages that change the library work: their edits are made in a tree of links, and their tests pass there.

All pages share one tree, so they also must not stand in each other's way.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import ROOT, added, blocks_of, commands_of, pages

PARTS = ("agents", "envs", "patients", "rubrics", "sessions")
PAGES = [path for path in pages() if any(block.language == "diff" for block in blocks_of(path))]


def _link(source: Path, target: Path) -> None:
    """Make a tree of links to files; compiled modules too, so that what is unchanged need not be compiled again."""
    for folder, _, names in os.walk(source):
        here = target / Path(folder).relative_to(source)
        here.mkdir(parents=True, exist_ok=True)
        for name in names:
            (here / name).symlink_to(Path(folder) / name)


def _write(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)  # the link, never what it leads to
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the library as the pages change it, and their tests."""
    root = tmp_path_factory.mktemp("tree")
    _link(ROOT / "src/wardround", root / "wardround")
    for part in PARTS:
        _link(ROOT / part, root / "wardround" / part)
    for page in PAGES:
        for block in blocks_of(page):
            where = f"{block.page}:{block.line}"
            if block.language == "diff":
                name = re.match(r"\+\+\+ (\S+)\n", block.text)
                assert name, f"{where}: say in the first line which file it changes"
                path = root / "wardround" / name[1]
                _write(path, added(path.read_text(encoding="utf-8"), block.text, where))
            elif block.title:
                inside = block.title.split("/")[0] in PARTS
                _write(root / ("wardround" if inside else "") / block.title, block.text)
    return root


def test_there_are_such_pages() -> None:
    assert {page.stem for page in PAGES} >= {"write-a-tool", "write-a-check", "write-a-condition"}


def test_what_the_pages_add_works(tree: Path) -> None:
    named = {
        word
        for page in PAGES
        for block in blocks_of(page)
        if block.language == "sh"
        for command in commands_of(block)
        for word in command.words[1:]
        if command.words[0] == "pytest"
    }
    assert named == {str(path.relative_to(tree)) for path in (tree / "tests").rglob("test_*.py")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".", "tests"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "WARDROUND_CACHE": str(tree / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    counted = sum(path.read_text(encoding="utf-8").count("def test_") for path in (tree / "tests").rglob("test_*.py"))
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed and int(passed[1]) >= counted


def test_the_checkout_itself_is_untouched(tree: Path) -> None:
    assert "AllergyIntoleranceSearch" in (tree / "wardround/patients/tools/arguments.py").read_text(encoding="utf-8")
    assert "AllergyIntoleranceSearch" not in (ROOT / "patients/tools/arguments.py").read_text(encoding="utf-8")


def test_an_edit_that_no_longer_fits_is_named() -> None:
    with pytest.raises(ValueError, match=r"page:1: these lines stand 0 times"):
        added("a\nb\n", "@@\n c\n+d\n", "page:1")
    assert added("a\nb\n", "@@\n a\n+x\n", "page:1") == "a\nx\nb\n"

"""Every block of code of the README and of docs/ runs, or says with `# needs …` what it lacks and is parsed at least.

Python blocks run in order, one namespace a page, in a folder of the page's own. Commands run in the same folder through
`wardround.cli.main`, shortened as `_shortened` says, on two sessions of the built-in ward.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from doc_blocks import ROOT, Block, Command, blocks_of, commands_of, pages

from wardround import load_charts, load_sessions
from wardround.cli import main
from wardround.cli.main import build_parser
from wardround.sessions import save_sessions

SHELL: Final = ("sh", "indented")
PROSE: Final = ("text", "html", "toml")
"""Languages of blocks that are no code of ours."""
WAITS: Final = {"serve": "answers until it is stopped", "play": "asks a person"}
"""Commands without an end; tests of their own play with them."""
EXTRAS: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
PAGES: Final = [path for path in pages() if not any(block.language == "diff" for block in blocks_of(path))]
"""A page with a diff changes the library: test_extending.py runs it whole, in a tree of its own."""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what commands may name: a store, a set, runs, an agent."""
    folder = tmp_path_factory.mktemp("shelf")
    charts = load_charts("ward")
    shutil.copy(charts.path, folder / "charts.sqlite")
    sessions = load_sessions("ward")
    save_sessions(folder / "sessions.jsonl", [sessions.sessions[0], sessions.sessions[7]])
    run = ["eval", "--agent", "baseline", "--agent", "silent", "--phrasing", "both", "--out", str(folder / "runs/mine")]
    assert main([*run, "--sessions", str(folder / "sessions.jsonl"), "--charts", str(folder / "charts.sqlite")]) == 0
    for name in ("runs/first", "runs/second", "runs/a", "runs/c"):
        shutil.copytree(folder / "runs/mine", folder / name)
    own = [b.text for path in PAGES for b in blocks_of(path) if b.title == "myagent.py"]
    (folder / "myagent.py").write_text(own[0], encoding="utf-8")
    return folder


@pytest.fixture
def place(shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in a folder of the page's own, whose modules can be imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_code_of_a_page_runs(path: Path, place: Path, shelf: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "page"}
    for block in blocks_of(path):
        if block.title:
            (place / block.title).write_text(block.text, encoding="utf-8")
        if block.language == "python":
            _python(block, namespace)
        elif block.language in SHELL:
            for command in commands_of(block):
                _shell(command, place, shelf)
        elif block.language == "json":
            _json(block)
        else:
            assert block.language in PROSE, f"{block.page}:{block.line}: say what language it is"


def _python(block: Block, namespace: dict[str, Any]) -> None:
    code = compile(block.text, f"{block.page}:{block.line}", "exec")
    if not block.title and not block.needs:
        exec(code, namespace)


def _json(block: Block) -> None:
    try:
        json.loads(block.text)
    except ValueError:  # one object a line
        for line in block.text.strip().split("\n"):
            json.loads(line)


def _shell(command: Command, place: Path, shelf: Path) -> None:
    where = f"{command.page}:{command.line}: {' '.join(command.words)}"
    program, *words = command.words
    if program == "wardround":
        _wardround(words, command, where, place, shelf)
    elif command.needs:
        return
    elif program == "pip":
        for extra in re.findall(r"\[([\w,]+)\]", " ".join(words)):
            assert set(extra.split(",")) <= set(EXTRAS), where
    elif program == "make":
        assert re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), where
    elif program == "python" and words[0] == "-m":
        assert (ROOT / (words[1].replace(".", "/") + ".py")).is_file(), where
    elif program == "python" and words[0].startswith("examples/"):  # tests/test_examples.py runs it
        assert (ROOT / words[0]).is_file(), where
    elif program == "pytest":
        assert all((ROOT / word).exists() for word in words if "/" in word), where
    else:
        pytest.fail(f"{where}: cannot be tried here; say why with `# needs …`")


def _wardround(words: list[str], command: Command, where: str, place: Path, shelf: Path) -> None:
    try:
        asked = build_parser().parse_args(words)
    except SystemExit:
        pytest.fail(f"{where}: the command line does not understand it")
    if command.needs or command.usage or words[0] in WAITS:
        return
    for word in words:
        if (shelf / word).exists() and not (place / word).exists() and word != str(getattr(asked, "out", None)):
            (place / word).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (shelf / word).is_dir() else shutil.copy)(shelf / word, place / word)
    shutil.copy(shelf / "myagent.py", place / "myagent.py")
    done = main(_shortened(words, asked))
    assert done == 0, f"{where}: exit code {done}"


def _shortened(words: list[str], asked: argparse.Namespace) -> list[str]:
    """Return a command that does the same with less: two sessions, two patients; capitals stand for real names."""
    if hasattr(asked, "limit") and asked.limit is None:
        words = [*words, "--limit", "2"]
    if hasattr(asked, "patients"):
        words = [word if before != "--patients" else "2" for before, word in zip(["", *words], words, strict=False)]
    if getattr(asked, "explain", None) == "PATIENT":  # a hospital's patient takes half a minute
        return ["generate", "--charts", "ward", "--explain", "ward-10", "--scenario", "treatment-response"]
    real = {"SESSION": "s-ward-session-a"}
    if "PATIENT" in words:
        real["PATIENT"] = load_charts(asked.charts if Path(str(asked.charts)).exists() else "ward").patients()[0]
    return [real.get(word, word) for word in words]


def test_unmarked_blocks_and_bad_options_are_seen(place: Path, shelf: Path) -> None:
    for line in ("curl http://127.0.0.1", "wardround eval --sesions ward", "pip install '.[nothing]'", "make nothing"):
        (command,) = commands_of(Block("page", 1, "sh", "", line))
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            _shell(command, place, shelf)

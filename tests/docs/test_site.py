"""The site builds strictly and without a network; its links hold; every public name is in the reference."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urldefrag

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = {
    "wardround": "wardround",
    "wardround.agents": "agents",
    "wardround.envs": "envs",
    "wardround.envs.adapters": "adapters",
    "wardround.patients": "patients",
    "wardround.patients.knowledge": "knowledge",
    "wardround.rubrics": "rubrics",
    "wardround.rubrics.reading": "reading",
    "wardround.sessions": "sessions",
}
"""Every public face and its page of the reference."""

OFFLINE: Final = """
import socket, sys
def refuse(*args, **kwargs): raise OSError("the docs are built without a network")
socket.socket.connect = socket.getaddrinfo = refuse
from mkdocs.__main__ import cli
cli(["build", "--strict", "--quiet", "--config-file", sys.argv[1], "--site-dir", sys.argv[2]])
"""

REQUESTED: Final = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "link": "href"}
"""Attributes that a browser asks for by itself."""


class _Page(HTMLParser):
    """What a page names, links to and asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.asked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.names |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if (asked := given.get(REQUESTED.get(tag, ""))) and given.get("rel") not in ("canonical", "next", "prev"):
            self.asked.append(asked)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once."""
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed here: pip install -e '.[dev]'")
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE, str(ROOT / "mkdocs.yml"), str(out)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    read = {}
    for path in sorted(site.rglob("*.html")):
        read[path] = _Page()
        read[path].feed(path.read_text(encoding="utf-8"))
    return read


def test_every_text_has_a_page(pages: dict[Path, _Page], site: Path) -> None:
    texts = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    assert {site / text.with_suffix(".html") for text in texts} <= set(pages)


def test_every_link_and_anchor_resolves(pages: dict[Path, _Page], site: Path) -> None:
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links are absolute, for it is served from anywhere
            continue
        for link in page.links:
            if re.match(r"(https?|mailto):", link):
                continue
            address, anchor = urldefrag(unquote(link))
            target = (path.parent / address).resolve() if address else path
            if target.is_dir():
                target = target / "index.html"
            if not target.is_file() or (anchor and target in pages and anchor not in pages[target].names):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken, broken[:20]


def test_no_page_asks_another_host(pages: dict[Path, _Page], site: Path) -> None:
    asked = [f"{path.name}: {one}" for path, page in pages.items() for one in page.asked if re.match(r"(\w+:)?//", one)]
    for sheet in site.rglob("*.css"):
        asked += re.findall(r"(?:url\(|@import\s)[\"']?(?:https?:)?//[^)\"']+", sheet.read_text(encoding="utf-8"))
    # the theme's program fetches these only where a page has such a diagram or the site a repository
    asked += [path.name for path in pages if re.search(r'class="mermaid"|data-md-component="source"', path.read_text())]
    assert not asked


@pytest.mark.parametrize("name", PAGES)
def test_the_reference_has_every_public_name(pages: dict[Path, _Page], site: Path, name: str) -> None:
    # what has no docstring is left out of the page, so this is also the test that all of them have one
    named = pages[site / "reference" / f"{PAGES[name]}.html"].names
    module = importlib.import_module(name)
    missing = []
    for public in set(module.__all__) - {"__version__"}:
        home = getattr(getattr(module, public), "__module__", name)  # under its own name where a module hides it
        if not {f"{name}.{public}", f"{home}.{public}"} & named:
            missing.append(public)
    assert not missing, "no docstring, or hidden by a module of the same name (name it in docs/reference)"


def test_the_checker_sees_what_is_broken() -> None:
    page = _Page()
    page.feed('<a href="x.html#y"></a><script src="https://x.org/a.js"></script><p id="z">')
    assert (page.links, page.asked, page.names) == (["x.html#y"], ["https://x.org/a.js"], {"z"})


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"])
def test_files_that_texts_beside_the_docs_name_are_there(name: str) -> None:
    path = ROOT / name
    text = path.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert re.match(r"https?:", link) or (path.parent / link).exists(), link
    for named in re.findall(r"(?<![\w/])(?:docs|examples|scripts|tests)/[\w./-]*\.(?:md|py|json)\b", text):
        assert (ROOT / named).exists() or "*" in named, named

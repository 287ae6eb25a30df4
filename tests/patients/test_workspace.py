"""Workspace files: safe paths, limits, text only, the same whatever the order of writing."""

from __future__ import annotations

import pickle
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients.workspace import (
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_PATH,
    MAX_TOTAL_BYTES,
    FileRefused,
    Workspace,
    safe_path,
)

BAD = [
    "", "/etc/passwd", "a/../b", "..", ".", "./a", "a//b", "a/", "/", "a\\b", "C:\\x", "c:/x", "a\0b", "a\nb", "a\x7fb",
    " a", "a ", "a /b", "a.", "dir./x", "nul", "NUL.txt", "com1", "x/Aux.md", 'a"b', "a|b", "a?b", "a*b", "<a>",
    "a\u200bb", "a\u202eb", "a\u2028b", "a\u00a0b", "\ud800", "x" * (MAX_PATH + 1), "/".join("abcdefghi"), "~\u0085",
]  # fmt: skip


@pytest.mark.parametrize("path", BAD, ids=ascii)
def test_unsafe_paths_are_refused(path: str) -> None:
    files = Workspace()
    for action in (lambda: files.write(path, "x"), lambda: files.read(path), lambda: files.delete(path)):
        with pytest.raises(FileRefused):
            action()
    assert len(files) == 0


@pytest.mark.parametrize(
    "path", ["a", "notes/plan v2.md", "报告/出院小结.md", "~x", "-rf", ".hidden", "a.b.c", "$HOME", "%2e%2e"]
)
def test_safe_paths_are_taken_as_they_are(path: str) -> None:
    assert Workspace().write(path, "x").read(path) == "x"


@given(st.text(max_size=30))
def test_whatever_is_taken_stays_inside(path: str) -> None:
    try:
        safe = safe_path(path)
    except FileRefused:
        return
    names = safe.split("/")
    assert safe_path(safe) == safe == unicodedata.normalize("NFC", path)
    assert all(name and name not in (".", "..") and name == name.strip() for name in names)
    assert "\\" not in safe and "\0" not in safe and not safe.startswith("/")


def test_one_form_of_unicode() -> None:
    files = Workspace().write("cafe\u0301.md", "x")
    assert files.paths() == ("caf\u00e9.md",)
    assert files.read("cafe\u0301.md") == files.read("caf\u00e9.md") == "x"
    assert len(files.write("caf\u00e9.md", "y")) == 1


def test_names_that_some_systems_take_for_one() -> None:
    files = Workspace().write("Notes/plan.md", "x")
    for clash in ("notes/plan.md", "Notes/PLAN.md", "\uff2eotes/plan.md"):
        with pytest.raises(FileRefused, match="case or form"):
            files.write(clash, "y")
    for clash in ("Notes", "Notes/plan.md/more", "notes"):
        with pytest.raises(FileRefused, match="folder"):
            files.write(clash, "y")
    assert files.write("Notes/plan2.md", "y").paths("Notes") == ("Notes/plan.md", "Notes/plan2.md")
    assert files.paths("Note") == ()


def test_limits() -> None:
    full = "x" * MAX_FILE_BYTES
    files = Workspace().write("big", full)
    with pytest.raises(FileRefused, match="at most"):
        files.write("bigger", full + "x")
    with pytest.raises(FileRefused, match="at most"):
        files.write("bigger", "血" * (MAX_FILE_BYTES // 3 + 1))
    for number in range(1, MAX_TOTAL_BYTES // MAX_FILE_BYTES):
        files = files.write(f"f{number}", full)
    assert files.size == MAX_TOTAL_BYTES
    with pytest.raises(FileRefused, match="together"):
        files.write("one-more", "x")
    assert files.write("big", "x").size == MAX_TOTAL_BYTES - MAX_FILE_BYTES + 1
    many = Workspace({f"f{number}": "" for number in range(MAX_FILES)})
    with pytest.raises(FileRefused, match="delete one first"):
        many.write("one-more", "")
    assert many.write("f0", "changed").read("f0") == "changed"


@pytest.mark.parametrize("text", ["a\0b", "\x1b[2J", "\ud800", "a\x08"], ids=ascii)
def test_only_text(text: str) -> None:
    with pytest.raises(FileRefused):
        Workspace().write("a", text)


def test_text_is_kept_to_the_letter() -> None:
    text = "  a\r\n\tb\n\n血钾 5.9 \n"
    assert Workspace().write("a", text).read("a") == text


def test_absent_files_are_named() -> None:
    with pytest.raises(FileRefused, match="no files yet"):
        Workspace().read("a")
    files = Workspace({f"f{number:02}": "" for number in range(12)})
    with pytest.raises(FileRefused, match=r"`f00`.* and 2 more"):
        files.delete("a")


@given(st.permutations(["a", "b/c", "b/d", "e"]))
def test_order_of_writing_leaves_no_trace(order: list[str]) -> None:
    files = Workspace()
    for path in order:
        files = files.write(path, path * 2)
    plain = Workspace({path: path * 2 for path in sorted(order)})
    assert (files, files.digest, hash(files), files.size) == (plain, plain.digest, hash(plain), plain.size)
    assert pickle.loads(pickle.dumps(files)) == files
    assert files.delete("a").digest != files.digest
    assert files.delete("a").write("a", "aa").digest == files.digest


def test_a_workspace_never_changes() -> None:
    files = Workspace().write("a", "x")
    before = files.digest
    files.write("b", "y")
    files.delete("a")
    assert files.paths() == ("a",) and files.digest == before and files.read("a") == "x"

"""The files of an episode: text under safe relative paths, in memory, bounded, never on a disk.

A path is as strict as the strictest file system it could ever be written to: two files never differ by case or by
Unicode form alone, and no name is special anywhere.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from hashlib import blake2b

from .errors import WardroundError

MAX_FILES = 128
MAX_FILE_BYTES = 64 * 1024
"""Of one file, as UTF-8."""
MAX_TOTAL_BYTES = 1024 * 1024
"""Of all files together."""
MAX_PATH = 160
"""Characters of a path."""
MAX_DEPTH = 8
"""Names in a path: folders and the file."""

_FORBIDDEN = frozenset('<>:"|?*')
_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_SPACE = " "


class FileRefused(WardroundError):  # noqa: N818 - it says what became of the file
    """A path or a text that the workspace does not take; nothing was changed. The message says what to do."""


class Workspace:
    """The files of an episode. Immutable: `write` and `delete` return the next workspace.

    Examples:
        >>> files = Workspace().write("notes/plan.md", "1. recheck potassium")
        >>> files.paths()
        ('notes/plan.md',)
        >>> files.read("notes/plan.md")
        '1. recheck potassium'
    """

    __slots__ = ("_digest", "_files", "size")

    def __init__(self, files: Mapping[str, str] | None = None) -> None:
        self._files: dict[str, str] = dict(files or {})
        self.size = sum(len(text.encode()) for text in self._files.values())
        """Bytes of all files together."""
        self._digest: bytes | None = None

    def __len__(self) -> int:
        return len(self._files)

    def paths(self, folder: str = "") -> tuple[str, ...]:
        """Return the paths in order, those below `folder` where one is given.

        Raises:
            FileRefused: `folder` is no safe path.
        """
        below = f"{safe_path(folder)}/" if folder else ""
        return tuple(path for path in sorted(self._files) if path.startswith(below))

    def items(self) -> Iterator[tuple[str, str]]:
        """Yield path and text of every file, in order of paths."""
        for path in sorted(self._files):
            yield path, self._files[path]

    def read(self, path: str) -> str:
        """Return the text of a file.

        Raises:
            FileRefused: The path is not safe, or there is no such file; the message names those there are.
        """
        safe = safe_path(path)
        if safe not in self._files:
            raise FileRefused(self._absent(safe))
        return self._files[safe]

    def write(self, path: str, text: str) -> Workspace:
        """Return the workspace with a file written; an older text under the path is replaced.

        Raises:
            FileRefused: The path is not safe, clashes with another, or a limit would be passed.
        """
        safe = safe_path(path)
        _check_text(safe, text)
        if safe not in self._files:
            self._check_clash(safe)
            if len(self._files) >= MAX_FILES:
                raise FileRefused(f"there are {MAX_FILES} files already, the most there may be; delete one first")
        files = {**self._files, safe: text}
        changed = Workspace(files)
        if changed.size > MAX_TOTAL_BYTES:
            raise FileRefused(f"all files together would have {changed.size} bytes; at most {MAX_TOTAL_BYTES}")
        return changed

    def delete(self, path: str) -> Workspace:
        """Return the workspace without a file.

        Raises:
            FileRefused: The path is not safe, or there is no such file.
        """
        safe = safe_path(path)
        if safe not in self._files:
            raise FileRefused(self._absent(safe))
        return Workspace({name: text for name, text in self._files.items() if name != safe})

    @property
    def digest(self) -> bytes:
        """Hash of all paths and texts, whatever the order in which they were written."""
        if self._digest is None:
            state = blake2b(digest_size=16)
            for pair in self.items():
                for part in pair:
                    body = part.encode()
                    state.update(len(body).to_bytes(8, "little") + body)
            self._digest = state.digest()
        return self._digest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Workspace) and self._files == other._files

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[type[Workspace], tuple[dict[str, str]]]:
        return Workspace, (self._files,)

    def _absent(self, path: str) -> str:
        shown = sorted(self._files)[:10]
        more = f" and {len(self._files) - len(shown)} more" if len(self._files) > len(shown) else ""
        there = (
            f"the files are: {', '.join(f'`{name}`' for name in shown)}{more}" if shown else "there are no files yet"
        )
        return f"there is no file `{path}`; {there}"

    def _check_clash(self, path: str) -> None:
        """Refuse a path that some file system could not hold beside the others."""
        mine = _folded(path)
        for other in sorted(self._files):
            theirs = _folded(other)
            if mine == theirs:
                raise FileRefused(
                    f"`{path}` differs from `{other}` by case or form alone; use that path or another name"
                )
            if mine.startswith(f"{theirs}/") or theirs.startswith(f"{mine}/"):
                raise FileRefused(f"`{path}` clashes with the file `{other}`: a name is a file or a folder, not both")


def safe_path(path: str) -> str:
    """Return a path in its normal form (NFC).

    Raises:
        FileRefused: It is empty, absolute, leaves the workspace, is too long or deep, or holds what some file system
            cannot.
    """
    text = unicodedata.normalize("NFC", path)
    if not text or len(text) > MAX_PATH:
        raise FileRefused(f"a path has 1 to {MAX_PATH} characters")
    if any(unicodedata.category(char) in _UNPRINTABLE for char in text):
        raise FileRefused("a path holds no control or invisible characters")
    shown = f"`{text}`"
    if text.startswith("/") or "\\" in text:
        raise FileRefused(f"{shown} is no path of this workspace: write it relative, with `/` between folders")
    names = text.split("/")
    if len(names) > MAX_DEPTH:
        raise FileRefused(f"{shown} is more than {MAX_DEPTH} names deep")
    for name in names:
        _check_name(name, shown)
    return text


def _check_name(name: str, shown: str) -> None:
    if not name or name in (".", ".."):
        raise FileRefused(f"{shown}: no empty name, `.` or `..` in a path")
    if _FORBIDDEN.intersection(name):
        raise FileRefused(f"{shown}: none of {' '.join(sorted(_FORBIDDEN))} in a path")
    if name.strip() != name or name.endswith("."):
        raise FileRefused(f"{shown}: a name neither begins nor ends with a space, nor ends with a dot")
    if any(char.isspace() and char != _SPACE for char in name):
        raise FileRefused(f"{shown}: no white space in a path but the plain space")
    if name.partition(".")[0].rstrip().casefold() in _RESERVED:
        raise FileRefused(f"{shown}: `{name}` is a name that some systems keep for themselves; choose another")


def _check_text(path: str, text: str) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise FileRefused(f"the text of `{path}` holds broken characters; files are UTF-8 text") from None
    if size > MAX_FILE_BYTES:
        raise FileRefused(f"the text of `{path}` has {size} bytes; a file has at most {MAX_FILE_BYTES}")
    if any(ord(char) < 32 and char not in "\t\n\r" for char in text):
        raise FileRefused(f"the text of `{path}` holds control characters; files are plain text")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", path).casefold())

"""Sets of sessions: JSONL in and out, a content hash, splits, and the canary that marks every line.

One session is one line. The set's hash covers the canonical bytes of its sessions and not their order or the spacing of
the file, so that two machines that made the same sessions print the same hash.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

import orjson
from pydantic import ValidationError

from wardround.patients import DataError, UsageError, check_output, write_whole

from .notebook import set_view
from .session import Session

CANARY: Final = "wardround-canary 6f0c2a1e-9d57-4b38-8a44-d1f3c07be952: evaluation data, keep out of training corpora"
"""Stands in the labels of every generated session, so that leaked copies can be found by searching for it."""

_MAX_FAULTS = 20
_LINE_START = b'{"format":"wardround.session/'
"""A wholly foreign file must not print a million lines."""


class SessionSet:
    """An ordered set of sessions with one content hash.

    Args:
        sessions: Sessions in the order they are to be played; ids are unique.
        name: What messages call the set: a built-in name or a path.

    Raises:
        DataError: Two sessions share an id.
    """

    __slots__ = ("_by_id", "hash", "name", "sessions")

    def __init__(self, sessions: Iterable[Session], name: str = "sessions") -> None:
        self.sessions: tuple[Session, ...] = tuple(sessions)
        self.name = name
        self._by_id: dict[str, Session] = {}
        for position, session in enumerate(self.sessions):
            if session.id in self._by_id:
                raise DataError(
                    f"{name}: session {position + 1}: id `{session.id}` is used twice; give every session its own id"
                )
            self._by_id[session.id] = session
        self.hash = _set_hash(self.sessions)

    def __len__(self) -> int:
        return len(self.sessions)

    def __iter__(self) -> Iterator[Session]:
        return iter(self.sessions)

    def __contains__(self, session_id: object) -> bool:
        return session_id in self._by_id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SessionSet) and self.sessions == other.sessions

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        return f"SessionSet({self.name!r}, sessions={len(self)}, hash={self.hash[:12]})"

    def _repr_html_(self) -> str:
        return set_view(self)

    def get(self, session_id: str) -> Session:
        """Return the session with that id.

        Raises:
            UsageError: No such session in the set.
        """
        try:
            return self._by_id[session_id]
        except KeyError:
            some = ", ".join(f"`{session.id}`" for session in self.sessions[:3])
            raise UsageError(
                f"no session `{session_id}` in `{self.name}` ({len(self)} sessions, first: {some or 'none'})"
            ) from None

    def split(self, name: str) -> SessionSet:
        """Return the sessions of one split, in order.

        Raises:
            UsageError: The set has no such split.
        """
        kept = tuple(session for session in self.sessions if session.split == name)
        if not kept:
            have = ", ".join(f"`{split}`" for split in self.splits) or "none"
            raise UsageError(f"`{self.name}` has no split `{name}`; it has: {have}")
        return SessionSet(kept, f"{self.name}:{name}")

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits, sorted."""
        return tuple(sorted({session.split for session in self.sessions}))

    @property
    def licence(self) -> str:
        """The licence tag of the set; several are joined by " + ", sorted."""
        return " + ".join(sorted({session.licence for session in self.sessions}))

    @property
    def trainable(self) -> bool:
        """True if every session may be trained on."""
        return all(session.use == "train" for session in self.sessions)


def session_line(session: Session) -> bytes:
    """Return one session as a line of JSONL, without the newline; keys in the order of the contract."""
    return orjson.dumps(session.model_dump(mode="json", by_alias=True))


def session_hash(session: Session) -> str:
    """Return the hash of one session's content: SHA-256 of its JSON with sorted keys, 64 hex digits."""
    document = session.model_dump(mode="json", by_alias=True)
    return sha256(orjson.dumps(document, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _set_hash(sessions: Iterable[Session]) -> str:
    digest = sha256(b"wardround.sessions/1\n")
    for line in sorted(session_hash(session) for session in sessions):
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def read_sessions(text: bytes, name: str) -> SessionSet:
    """Read JSONL text.

    Args:
        text: UTF-8, one session a line; empty lines and a byte order mark are allowed.
        name: What messages call the text.

    Raises:
        DataError: Every faulty line with its field and fault (the first 20 are listed, the rest counted).
    """
    sessions: list[Session] = []
    faults: list[str] = []
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            sessions.append(Session.model_validate(orjson.loads(line)))
        except orjson.JSONDecodeError as error:
            faults.append(f"{name}:{number}: not JSON ({error}); one session is one line of JSON")
        except ValidationError as error:
            faults.extend(f"{name}:{number}: {_where(fault['loc'])}: {fault['msg']}" for fault in error.errors())
    if faults:
        more = [f"… and {len(faults) - _MAX_FAULTS} more"] if len(faults) > _MAX_FAULTS else []
        raise DataError("\n".join(faults[:_MAX_FAULTS] + more))
    if not sessions:
        raise DataError(f"{name}: no sessions in it; expected one `wardround.session/1` object a line")
    return SessionSet(sessions, name)


def _where(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "line"


def builtin_sets() -> tuple[str, ...]:
    """Names of the sets that can be opened by name, sorted: files of the package, and sets made on first use."""
    from .planning.standard import named_sets  # what makes sets is not needed to read them

    return tuple(sorted((*_shipped(), *named_sets())))


def charts_of(name_or_path: str | os.PathLike[str]) -> str | None:
    """Return the name of the built-in charts that a built-in set is about; None for a path."""
    from .planning.standard import named_sets

    name = os.fspath(name_or_path)
    if name in _shipped():
        return name
    return named_sets()[name].charts if name in named_sets() else None


def _shipped() -> tuple[str, ...]:
    return tuple(sorted(entry.name.removesuffix(".jsonl") for entry in _data().iterdir() if _is_set(entry)))


def _data() -> Traversable:
    return files("wardround.sessions").joinpath("data")


def _is_set(entry: Traversable) -> bool:
    return entry.is_file() and entry.name.endswith(".jsonl")


def load_sessions(name_or_path: str | os.PathLike[str], *, workers: int = 1) -> SessionSet:
    """Open a built-in set by name ("ward", "physassist-hospital-v1") or a JSONL file by path.

    Sets of the hospital are made on first use, with their charts, and kept in the cache folder.

    Args:
        name_or_path: Of the set.
        workers: Processes that make a set. A script that asks for more than one does so below
            `if __name__ == "__main__":`.

    Raises:
        UsageError: Neither a built-in set nor a file.
        DataError: The file is not a set of sessions; says line, field and fault.
    """
    name = os.fspath(name_or_path)
    if name in _shipped():
        return read_sessions(_data().joinpath(f"{name}.jsonl").read_bytes(), name)
    if name in builtin_sets():
        from .planning.standard import open_set

        return open_set(name, workers=workers)
    path = Path(name)
    if not path.is_file():
        built_in = ", ".join(f"`{known}`" for known in builtin_sets()) or "none"
        raise UsageError(f"no session file `{name}`; give a path to a JSONL file or a built-in set ({built_in})")
    return read_sessions(path.read_bytes(), name)


def save_sessions(path: str | os.PathLike[str], sessions: Iterable[Session]) -> SessionSet:
    """Write sessions as JSONL and return them as a set; the file appears whole or not at all.

    Raises:
        DataError: Two sessions share an id.
        UsageError: A folder or a file of another kind is there.
    """
    target = Path(path)
    check_output(target, _LINE_START, "a set of sessions")
    made = SessionSet(sessions, os.fspath(path))
    write_whole(target, b"".join(session_line(session) + b"\n" for session in made))
    return made

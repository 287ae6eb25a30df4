"""Where resources wait between reading and packing: a temporary SQLite file, so that memory stays flat."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from wardround.patients.resource import Resource, load

from .fhir_read import Place

_SCHEMA = """
PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA temp_store=FILE; PRAGMA cache_size=-65536;
CREATE TABLE places (seq INTEGER PRIMARY KEY, type TEXT, id TEXT, file TEXT, line INTEGER, entry INTEGER);
CREATE TABLE resources (seq INTEGER PRIMARY KEY, type TEXT, id TEXT, updated INTEGER, version INTEGER, body BLOB);
CREATE TABLE owners (patient TEXT, seq INTEGER);
CREATE TABLE wanted (reference TEXT, seq INTEGER, place INTEGER);
CREATE TABLE renamed (old TEXT PRIMARY KEY, new TEXT) WITHOUT ROWID;
CREATE TABLE urls (url TEXT, type TEXT, id TEXT);
CREATE TABLE identifiers (type TEXT, token TEXT, id TEXT);
"""
_INDEXES = """
CREATE INDEX by_key ON resources (type, id);
CREATE INDEX by_place ON places (type, id);
CREATE INDEX by_url ON urls (url);
CREATE INDEX by_token ON identifiers (type, token);
CREATE INDEX by_owned ON owners (seq);
"""


class Stored(NamedTuple):
    """A resource that waits."""

    seq: int
    type: str
    id: str
    body: bytes


class Spill:
    """The waiting resources. `seq` numbers them in reading order; nothing that is stored later depends on it."""

    def __init__(self, path: Path) -> None:
        self._base = sqlite3.connect(path)
        self._base.executescript(_SCHEMA)
        self.find = lru_cache(maxsize=1 << 17)(self._find)
        self.exists = lru_cache(maxsize=1 << 17)(self._exists)

    def close(self) -> None:
        """Close the file (its folder goes with it)."""
        self._base.close()

    def place(self, seq: int, kind: str, identity: str | None, place: Place) -> None:
        """Remember where a resource stood."""
        self._base.execute("INSERT INTO places VALUES (?,?,?,?,?,?)", (seq, kind, identity, *place))

    def add(self, seq: int, key: tuple[str, str], age: tuple[int, int], body: bytes, owners: list[str]) -> None:
        """Store a resource: its type and id, when it was updated and its version, and whom it names as patient."""
        self._base.execute("INSERT INTO resources VALUES (?,?,?,?,?,?)", (seq, *key, *age, body))
        if owners:
            rows = [(owner, seq, place) for place, owner in enumerate(owners)]
            self._base.executemany("INSERT INTO wanted VALUES (?,?,?)", rows)

    def add_name(self, old: str, new: str) -> None:
        """Remember that `Type/old` is now called `Type/new`."""
        self._base.execute(
            "INSERT INTO renamed VALUES (?,?) ON CONFLICT DO UPDATE SET new=min(new, excluded.new)", (old, new)
        )

    def add_url(self, url: str, kind: str, identity: str) -> None:
        """Remember the fullUrl of a bundle entry."""
        self._base.execute("INSERT INTO urls VALUES (?,?,?)", (url, kind, identity))

    def add_identifiers(self, kind: str, tokens: list[str], identity: str) -> None:
        """Remember identifiers (`system|value`)."""
        self._base.executemany("INSERT INTO identifiers VALUES (?,?,?)", [(kind, token, identity) for token in tokens])

    def index(self) -> None:
        """Make look-ups possible; call once all is read."""
        self._base.executescript(_INDEXES)

    def doubles(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield (seq, body) of resources that share type and id, newest first."""
        shared = "SELECT type, id FROM resources GROUP BY type, id HAVING count(*) > 1 ORDER BY type, id"
        rows = (
            "SELECT seq, body FROM resources WHERE type=? AND id=? ORDER BY updated DESC, version DESC, body DESC, seq"
        )
        for key in self._base.execute(shared).fetchall():
            yield self._base.execute(rows, key).fetchall()

    def drop(self, seq: int) -> None:
        """Forget a resource."""
        self._base.execute("DELETE FROM resources WHERE seq=?", (seq,))

    def wanted(self) -> Iterator[tuple[int, str, list[str]]]:
        """Yield (seq, type, references to the patient) of every resource that names one, in order of seq."""
        query = (
            "SELECT r.seq, r.type, w.reference FROM wanted w JOIN resources r ON r.seq = w.seq ORDER BY r.seq, w.place"
        )
        now: tuple[int, str, list[str]] | None = None
        for seq, kind, reference in self._base.execute(query):
            if now is None or now[0] != seq:
                if now is not None:
                    yield now
                now = (seq, kind, [])
            now[2].append(reference)
        if now is not None:
            yield now

    def own(self, patient: str, seq: int) -> None:
        """Give a resource to a patient's chart."""
        self._base.execute("INSERT INTO owners VALUES (?,?)", (patient, seq))

    def owners(self, key: str) -> list[str]:
        """Return the patients in whose charts a resource (`Type/id`) stands, sorted."""
        kind, _, identity = key.partition("/")
        query = (
            "SELECT DISTINCT o.patient FROM resources r JOIN owners o ON o.seq = r.seq WHERE r.type=? AND r.id=? "
            "ORDER BY o.patient"
        )
        return [patient for (patient,) in self._base.execute(query, (kind, identity))]

    def is_owned(self, seq: int) -> bool:
        """Tell whether a resource stands in the chart of its own patient."""
        return self._base.execute("SELECT 1 FROM owners WHERE seq=? LIMIT 1", (seq,)).fetchone() is not None

    def index_owners(self) -> None:
        """Make charts readable; call once all are given."""
        self._base.executescript("CREATE INDEX by_owner ON owners (patient)")

    def ids(self, kind: str) -> list[tuple[int, str]]:
        """Return (seq, id) of all resources of a type, by id."""
        return self._base.execute("SELECT seq, id FROM resources WHERE type=? ORDER BY id", (kind,)).fetchall()

    def bodies(self, kind: str) -> Iterator[Resource]:
        """Yield all resources of a type, by id."""
        for (body,) in self._base.execute("SELECT body FROM resources WHERE type=? ORDER BY id", (kind,)):
            yield load(body)

    def chart(self, patient: str) -> list[Stored]:
        """Return what belongs to a patient, by type and id."""
        query = (
            "SELECT r.seq, r.type, r.id, r.body FROM owners o JOIN resources r ON r.seq = o.seq WHERE o.patient=? "
            "ORDER BY r.type, r.id"
        )
        return [Stored(*row) for row in self._base.execute(query, (patient,))]

    def get(self, kind: str, identity: str) -> Stored | None:
        """Return one resource."""
        query = "SELECT seq, type, id, body FROM resources WHERE type=? AND id=?"
        row = self._base.execute(query, (kind, identity)).fetchone()
        return None if row is None else Stored(*row)

    def example(self, seq: int) -> dict[str, str | int]:
        """Return where a resource stands, for a report."""
        query = "SELECT type, id, file, line, entry FROM places WHERE seq=?"
        kind, identity, file, line, entry = self._base.execute(query, (seq,)).fetchone()
        out: dict[str, str | int] = {"file": file, "line": line, "text": f"{kind}/{identity or ''}"}
        if entry:
            out["entry"] = entry
        return out

    def _find(self, table: str, first: str, second: str = "") -> tuple[str, ...]:
        """Look a name up: `renamed` (Type/id), `urls` (url) or `identifiers` (type, system|value) → distinct keys."""
        queries: dict[str, tuple[str, tuple[Any, ...]]] = {
            "renamed": ("SELECT new FROM renamed WHERE old=?", (first,)),
            "urls": ("SELECT DISTINCT type || '/' || id FROM urls WHERE url=? LIMIT 2", (first,)),
            "identifiers": (
                "SELECT DISTINCT type || '/' || id FROM identifiers WHERE type=? AND token=? LIMIT 2",
                (first, second),
            ),
        }
        query, arguments = queries[table]
        return tuple(key for (key,) in self._base.execute(query, arguments))

    def _exists(self, kind: str, identity: str) -> bool:
        """Tell whether a resource was read, even one that was refused."""
        query = "SELECT 1 FROM places WHERE type=? AND id=? LIMIT 1"
        return self._base.execute(query, (kind, identity)).fetchone() is not None

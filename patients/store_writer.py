"""Writing many charts into one SQLite file, which is then only read (`store.py`).

Tables: `header` (one JSON object), `charts` (index and compact rows), `frames` (the bodies, in parts), `texts` (the
full-text index of each chart, opened by its first keyword search) and, hashed apart and read by no tool,
`interviews` (one authored interview a patient), `visits` (one an encounter, in the order of the encounters) and
`truths` (what is behind a generated chart, compressed JSON).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import orjson

from .behind import Behind, behind
from .errors import DataError, UsageError
from .fhir import Validator
from .interview import Interview
from .outputs import check_output
from .packing import PackedChart, frame_digest, pack
from .resource import Resource
from .slotted import Sheaf
from .store import FORMAT
from .times import Instant
from .work_folder import WorkFolder

if TYPE_CHECKING:
    from wardround.patients.hospital.truth import Truth

_MAGIC = b"SQLite format 3\0"

PART = "charts.sqlite"
"""Name of the unfinished store in its work folder."""

_SCHEMA = """
CREATE TABLE header (body TEXT NOT NULL);
CREATE TABLE charts (patient TEXT PRIMARY KEY, hash TEXT NOT NULL, licence TEXT NOT NULL, counts TEXT NOT NULL,
    digests BLOB NOT NULL, parts TEXT NOT NULL, "index" BLOB NOT NULL, rows BLOB NOT NULL);
CREATE TABLE frames (patient TEXT NOT NULL, number INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (patient, number)) WITHOUT ROWID;
CREATE TABLE texts (patient TEXT PRIMARY KEY, hash TEXT NOT NULL, body BLOB NOT NULL);
CREATE TABLE interviews (patient TEXT PRIMARY KEY, hash TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE visits (patient TEXT NOT NULL, place INTEGER NOT NULL, encounter TEXT NOT NULL, hash TEXT NOT NULL,
    body BLOB NOT NULL, PRIMARY KEY (patient, place)) WITHOUT ROWID;
CREATE TABLE truths (patient TEXT PRIMARY KEY, hash TEXT NOT NULL, body BLOB NOT NULL);
"""


class StoreWriter:
    """Writes a store: in a hidden folder beside `path`, renamed by `close()`; `abort()` leaves nothing.

    As a context manager it closes on success and aborts on an exception. The folder is locked: what a killed process
    left there is removed, a living one's is respected.

    Args:
        path: Where the store is to be; replaced if it exists.
        licence: Licence tag of the data.
        provenance: What made the store, from what (JSON-able; no times, no machine paths).
        imported: Types that were imported even if no resource of them is found.
        validate: Whether resources are validated (only tests of damaged data turn it off).
        work: The folder to work in, claimed already; its owner releases it. What it holds of this writer is taken up
            where `checkpoint` left it.

    Raises:
        UsageError: The place is no good, or another process is writing there.
    """

    def __init__(
        self, path: str | Path, licence: str = "CC0-1.0", provenance: Mapping[str, Any] | None = None,
        imported: Iterable[str] = (), *, validate: bool = True, work: WorkFolder | None = None,
    ) -> None:  # fmt: skip
        self.path = Path(path).absolute()
        if not self.path.parent.is_dir():
            raise UsageError(f"{self.path.parent} is not a folder; make it first or choose another `--out`")
        check_output(self.path, _MAGIC, "a charts file")
        self.licence = licence
        self.provenance = dict(provenance or {})
        self.counts: dict[str, int] = {}
        """Resources by type so far."""
        self._imported = set(imported)
        self._hashes: list[str] = []
        self._validator = Validator() if validate else None
        self.state: dict[str, Any] | None = None
        """What the last `checkpoint` of an interrupted writer said; None where there was none."""
        self._own = WorkFolder(self.path) if work is None else None
        if self._own is not None:
            self._own.clear()
        folder = self._own if self._own is not None else work
        assert folder is not None
        self._part = folder.path / PART
        self._connection: sqlite3.Connection | None = sqlite3.connect(self._part)
        if self._own is not None:
            self._connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + _SCHEMA)
        else:
            self._take_up()

    def _take_up(self) -> None:
        """Go on where a checkpoint was made, or begin; a journal takes back what was written after it."""
        database = self._open()
        database.executescript("PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=OFF;")
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        if "checkpoint" not in names:
            if names:  # killed while it was being closed
                database.close()
                self._part.unlink()
                database = self._connection = sqlite3.connect(self._part)
                database.executescript("PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=OFF;")
            database.executescript(f"BEGIN; {_SCHEMA} CREATE TABLE checkpoint (body TEXT NOT NULL); COMMIT;")
            return
        for (body,) in database.execute("SELECT body FROM checkpoint"):
            self.state = orjson.loads(body)
        for digest, counts in database.execute("SELECT hash, counts FROM charts"):
            self._hashes.append(digest)
            for kind, count in orjson.loads(counts).items():
                self.counts[kind] = self.counts.get(kind, 0) + count

    def checkpoint(self, state: Mapping[str, Any]) -> None:
        """Make what was added so far, and `state` (JSON-able), survive the end of the process."""
        database = self._open()
        database.execute("DELETE FROM checkpoint")
        database.execute("INSERT INTO checkpoint VALUES (?)", (orjson.dumps(state).decode(),))
        database.commit()

    @property
    def validated(self) -> dict[str, int]:
        """How many forms were checked, and how many also by the R4B models."""
        return dict(self._validator.statistics) if self._validator else {}

    def add(
        self, patient_id: str, resources: Iterable[tuple[Resource, Instant]], interview: Interview | None = None,
        licence: str | None = None, sheaves: Iterable[Sheaf] = (), *,
        interviews: Mapping[str, Interview] | None = None, truth: Truth | None = None,
    ) -> str:  # fmt: skip
        """Validate, pack and write one chart.

        Args:
            patient_id: The patient.
            resources: Resources with the instant each became known (`NEVER`: not visible). They are stamped in place.
            interview: The authored interview, if any.
            licence: Licence tag of this chart where it differs.
            sheaves: Many like resources, made from templates that were checked; a sample is checked again.
            interviews: Authored interviews by Encounter id, in the order of the encounters.
            truth: What is behind the chart, for a generated one.

        Returns:
            The chart's hash.

        Raises:
            DataError: A resource is not valid R4; all problems are listed.
        """
        check, sheaves = self._validator, list(sheaves)
        if check is not None:
            check.statistics["by_template"] += sum(map(len, sheaves))
        digest = self.add_packed(pack(patient_id, resources, licence or self.licence, check, sheaves, check), interview)
        self.add_behind(behind(patient_id, interviews or {}, truth))
        return digest

    def add_packed(
        self, packed: PackedChart, interview: Interview | None = None, validated: Mapping[str, int] | None = None
    ) -> str:
        """Write a chart that is packed already (`ChartBuilder.packed()`, or packed in another process).

        Args:
            packed: The chart.
            interview: The authored interview, if any.
            validated: What was checked when it was packed (`Validator.statistics`); the header counts it.
        """
        database = self._open()
        if self._validator is not None:
            for key, count in (validated or {}).items():
                self._validator.statistics[key] += count
        counts = orjson.dumps(packed.counts).decode()
        values = (
            packed.patient_id, packed.hash, packed.licence, counts, packed.digests, packed.check, packed.index,
            packed.rows,
        )  # fmt: skip
        try:
            database.execute("INSERT INTO charts VALUES (?,?,?,?,?,?,?,?)", values)
        except sqlite3.IntegrityError as fault:
            raise DataError(f"patient {packed.patient_id} was added twice; give each patient one chart") from fault
        frames = [(packed.patient_id, number, frame) for number, frame in enumerate(packed.frames)]
        database.executemany("INSERT INTO frames VALUES (?,?,?)", frames)
        if packed.texts:
            digest = frame_digest(packed.texts).hex()
            database.execute("INSERT INTO texts VALUES (?,?,?)", (packed.patient_id, digest, packed.texts))
        if interview is not None:
            self.add_interview(packed.patient_id, interview)
        for kind, count in packed.counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + count
        self._hashes.append(packed.hash)
        return packed.hash

    def add_interview(self, patient_id: str, interview: Interview) -> None:
        """Write a patient's authored interview into its own section."""
        text = interview.model_dump_json()
        values = (patient_id, frame_digest(text.encode()).hex(), text)
        self._open().execute("INSERT INTO interviews VALUES (?,?,?)", values)

    def add_behind(self, one: Behind) -> None:
        """Write what is behind a chart: the interviews of its encounters and its truth."""
        for place, (encounter, digest, body) in enumerate(one.visits):
            values = (one.patient_id, place, encounter, digest, body)
            self._open().execute("INSERT INTO visits VALUES (?,?,?,?,?)", values)
        if one.truth:
            digest = frame_digest(one.truth).hex()
            self._open().execute("INSERT INTO truths VALUES (?,?,?)", (one.patient_id, digest, one.truth))

    def _behind_header(self, database: sqlite3.Connection) -> dict[str, Any]:
        """Return what the header says of visits and truths; nothing where there are none."""
        found: dict[str, Any] = {}
        for table, order in (("visits", "patient, place"), ("truths", "patient")):
            digests = [row[0] for row in database.execute(f"SELECT hash FROM {table} ORDER BY {order}")]  # noqa: S608
            if digests:
                found[f"{table}_hash"] = store_hash(digests)
                found[table] = len(digests)
        return found

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise UsageError(f"the writer of {self.path} is closed; make a new StoreWriter")
        return self._connection

    def close(self) -> str:
        """Write the header, rename the file into place and return the store's hash."""
        database = self._open()
        digest = store_hash(self._hashes)
        interviews = [row[0] for row in database.execute("SELECT hash FROM interviews ORDER BY patient")]
        header = {
            "format": FORMAT,
            "fhirVersion": "4.0.1",
            "licence": self.licence,
            "provenance": self.provenance,
            "hash": digest,
            "interviews_hash": store_hash(interviews),
            **self._behind_header(database),
            "patients": len(self._hashes),
            "resources": dict(sorted(self.counts.items())),
            "imported": sorted(self._imported | set(self.counts)),
            "validated": self.validated,
        }
        text = orjson.dumps(header, option=orjson.OPT_SORT_KEYS).decode()
        database.execute("INSERT INTO header VALUES (?)", (text,))
        database.execute("DROP TABLE IF EXISTS checkpoint")
        database.commit()
        database.execute("VACUUM")
        database.close()
        self._connection = None
        self._part.chmod(0o644)
        self._part.replace(self.path)
        if self._own is not None:
            self._own.release()
        return digest

    def abort(self) -> None:
        """Forget everything written; no file is left (in a folder of the caller's: what its last checkpoint kept)."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._own is not None:
            self._own.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._connection is not None:
            self.close()
        else:
            self.abort()


def store_hash(chart_hashes: Iterable[str]) -> str:
    """Return the hash of a set of charts: of their sorted hashes."""
    return blake2b("\n".join(sorted(chart_hashes)).encode(), digest_size=16).hexdigest()
